"""MCP over HTTP on the served port: sessions of the SDK, for the actor of each request's token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Final, Protocol, cast

from anyio import CancelScope
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from worldfs.access.attachment import first_binding, still_admitted
from worldfs.access.binding import MOTHER, Binding
from worldfs.access.decision import Decision
from worldfs.access.principal import Principal
from worldfs.access.tokens import TokenStore

from .namespace_tree import NamespaceTree
from .protocol_server import Services, protocol_server
from .thin_start import FRAME_MOST
from .tool_service import ToolService

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from worldfs.interfaces.acheron.server_ports import RealmPort
    from worldfs.namespace.connection_tree import ConnectionTree

PATH: Final = "/mcp"
SESSIONS_MOST: Final = 256
SESSIONS_OF_TOKEN: Final = 32
REQUEST_S: Final = 30.0  # for the first request of a connection
SILENT_MOST: Final = 64  # connections without a request; one more takes the place of the oldest
GOODBYE_S: Final = 2.0
_SERVICE: Final = "worldfs.service"
_CLOSE: Final = {"Connection": "close"}  # nothing bounds the wait for a second head, so the refused have none
_LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")
_LOG: Final = logging.getLogger("worldfs.mcp")


class Host(Protocol):
    """What the application needs of the server whose port it is served on."""

    @property
    def realm(self) -> RealmPort: ...
    @property
    def tokens(self) -> TokenStore: ...
    @property
    def threads(self) -> Executor: ...
    @property
    def local(self) -> bool:
        """Whether it listens on this machine alone."""
        ...

    def principal(self, authorization: str) -> Principal | Decision: ...


class TooManySessions(Exception):
    """A token has `SESSIONS_OF_TOKEN` sessions open, and asks for one more."""


class TokenSessionManager(StreamableHTTPSessionManager):
    """The SDK's sessions, with a bound for each token beside that for all."""

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        # the SDK has no public place to refuse a session: this is called under its lock, before anything is sent
        if sum(owner == requestor for owner in self._session_owners.values()) >= SESSIONS_OF_TOKEN:
            raise TooManySessions
        return super()._admit_session(requestor)


class HttpApplication:
    """`start`, then `connection` for each that asks for `PATH`, then `stop`; all on the loop."""

    def __init__(self, host: Host, make: Callable[[Services], Server] = protocol_server) -> None:
        self._host = host
        self._services: dict[tuple[Principal, Binding], ToolService] = {}
        self._running: dict[CancelScope, tuple[Principal, str]] = {}
        self._state = ServerState()
        self._silent: list[H11Protocol] = []  # connections that have sent no whole request head, the oldest first
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        names = [f"{name}:*" for name in _LOCAL] if host.local else []
        safe = TransportSecuritySettings(  # a page in a browser has no token, and must not learn that there is a server
            enable_dns_rebinding_protection=host.local,
            allowed_hosts=names,
            allowed_origins=[f"{scheme}://{name}" for scheme in ("http", "https") for name in names],
        )
        self._manager = TokenSessionManager(
            make(_service_of),
            security_settings=safe,
            max_request_body_size=FRAME_MOST,
            max_sessions=SESSIONS_MOST,
        )
        self._config = Config(
            self._serve, http=H11Protocol, ws="none", lifespan="off", log_config=None, access_log=False,
            proxy_headers=False, server_header=False, interface="asgi3",
        )  # fmt: skip
        self._config.load()

    async def start(self) -> None:
        """Raises what the sessions could not begin for."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = self._task = asyncio.create_task(self._run(ready))
        await asyncio.wait((ready, task), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            self._task = None
            await task

    def connection(self) -> asyncio.Protocol:
        """The protocol of one connection."""
        loop = asyncio.get_running_loop()
        made = H11Protocol(self._config, self._state, {}, loop)
        loop.call_later(REQUEST_S, _drop_silent, made)
        self._silent = [one for one in self._silent if _is_silent(one)]
        if len(self._silent) >= SILENT_MOST:
            _drop_silent(self._silent.pop(0))
        self._silent.append(made)
        protocol: asyncio.Protocol = made
        return protocol

    def drop_revoked(self) -> None:
        """End the requests of tokens that are no longer valid."""
        for scope, (principal, agent) in list(self._running.items()):
            if not self._valid(principal, agent):
                scope.cancel()
        for principal, binding in list(self._services):
            if not self._valid(principal, binding.agent):
                del self._services[principal, binding]

    async def stop(self) -> None:
        """End the sessions, then the connections."""
        self._over.set()
        if self._task is not None:
            await self._task
        for connection in list(self._state.connections):
            connection.shutdown()
        tasks = [*self._state.tasks]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GOODBYE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _valid(self, principal: Principal, agent: str) -> bool:
        return bool(still_admitted(principal, self._host.tokens, [agent] if agent else []))

    async def _run(self, ready: asyncio.Future[None]) -> None:
        async with self._manager.run():
            ready.set_result(None)
            await self._over.wait()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if request.url.path.rstrip("/") != PATH:
            # what else is served here is answered on a connection of its own
            await PlainTextResponse(f"this connection is for {PATH}\n", 421, headers=_CLOSE)(scope, receive, send)
            return
        found = self._actor(request.headers.get("authorization", ""))
        if isinstance(found, PlainTextResponse):
            await found(scope, receive, send)
            return
        principal, binding = found
        token = AccessToken(token="", client_id=f"{principal.role}/{principal.id}/{principal.agent}", scopes=[])
        scope["user"] = AuthenticatedUser(token)  # a session answers no other token
        scope[_SERVICE] = await self._service(principal, binding)
        with CancelScope() as running:
            self._running[running] = principal, binding.agent
            try:
                await self._manager.handle_request(scope, receive, send)
            except TooManySessions:
                said = f"TOO_MANY: this token has {SESSIONS_OF_TOKEN} sessions open, the most that one may have; "
                said += "end one (DELETE with its Mcp-Session-Id), or wait: an idle one ends after 30 minutes\n"
                await PlainTextResponse(said, 429)(scope, receive, send)
            finally:
                del self._running[running]

    def _actor(self, authorization: str) -> tuple[Principal, Binding] | PlainTextResponse:
        principal = self._host.principal(authorization)
        if isinstance(principal, Decision):
            hint = {"WWW-Authenticate": "Bearer", **_CLOSE}
            return PlainTextResponse("Authorization: Bearer TOKEN\n", 401, headers=hint)
        binding = first_binding(principal, self._host.tokens, self._host.realm.plane)
        if isinstance(binding, Decision):
            return PlainTextResponse(f"{binding.code}: {binding.message}\n", 403, headers=_CLOSE)
        return principal, binding

    async def _service(self, principal: Principal, binding: Binding) -> ToolService:
        found = self._services.get((principal, binding))
        if found is None:
            host = self._host
            if binding.agent not in ("", MOTHER):
                await asyncio.get_running_loop().run_in_executor(host.threads, host.realm.ensure_agent, binding.agent)
            realm = host.realm
            tree, own = (cast("ConnectionTree", realm.attach(bound)) for bound in (binding.of_model, binding))
            actor = NamespaceTree(binding.of_model, tree, realm.feed, host.threads, (binding, own))
            service = ToolService(actor, realm.clock)
            found = self._services.setdefault((principal, binding), service)
        return found


def _service_of(ctx: ServerRequestContext) -> ToolService:
    assert ctx.request is not None  # every request of this application came over HTTP
    return cast("ToolService", ctx.request.scope[_SERVICE])


def _is_silent(connection: H11Protocol) -> bool:
    """A connection that is open and has sent no whole request head."""
    transport = getattr(connection, "transport", None)  # both are None at first, whatever their types say
    return getattr(connection, "cycle", None) is None and (transport is None or not transport.is_closing())


def _drop_silent(connection: H11Protocol) -> None:
    if _is_silent(connection) and connection.transport is not None:
        connection.transport.abort()


async def open_application(host: Host) -> HttpApplication:
    application = HttpApplication(host)
    await application.start()
    return application
