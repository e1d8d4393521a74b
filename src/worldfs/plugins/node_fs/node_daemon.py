"""The node daemon: join, keep the tunnel open, refresh the lease, publish the catalog, leave cleanly.

Two loops, each of which reconnects by itself: one holds the tunnel and serves the exports over it, one holds the
control connection. Either end may be killed at any moment; the other one reconnects with growing delays.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from websockets.exceptions import ConnectionClosed, InvalidHandshake

from worldfs.base.errors import NotPermitted
from worldfs.base.messages import coded
from worldfs.formats.wire.frames import ACHERON, BadFrame, Frame, Json, read, write

from . import reply_parsing
from .control_client import ControlClient, ControlConnectionLost, ControlError
from .directory_source import DirectorySource
from .export_source import ExportSource
from .fs_server import ANSWER, ASK, FRAME_MAX, PROTO, PROTOCOL, FsServer, WebSocketConnection
from .node_identity import NodeIdentity
from .node_joining import JoinDenied, Say, by_invite, by_request, node_platform
from .node_service import NodeService
from .service_manifest import ServiceManifest, built_in
from .service_tree import ServiceTree

LEASE_S: Final = 900.0
PAUSES: Final = (0.25, 15.0)  # s before a connection is tried again: doubled from the first to the second
GREETING: Final = 10.0
STEADY: Final = 5.0  # s after which a tunnel counts as stable
FAREWELL: Final = 3.0  # s for the closing handshake
LEAVING: Final = 10.0  # s for the end of the lease, which a busy server takes late
_LOST: Final = (OSError, ConnectionClosed, InvalidHandshake, ControlConnectionLost, TimeoutError)
_UNKNOWN: Final = ("node_auth_failed", "node_not_found", "provider_auth_failed")


class ExportedDir(NamedTuple):
    """A directory to export."""

    name: str
    path: str
    ro: bool = False


class NodeDaemonConfig(NamedTuple):
    """`url`: ws://host:port of the server. `invite` or `token` (a user's): how to join, if not joined yet."""

    url: str
    name: str
    exports: Sequence[ExportedDir]
    manifests: Sequence[ServiceManifest] = ()
    invite: str = ""
    token: str = ""
    lease_s: float = LEASE_S
    version: str = "0"


class NodeRemoved(Exception):
    """The node was deleted at the server."""


class NodeDaemon:
    """`run` it until `stop` is set. `report` receives events, as a message and as a value."""

    def __init__(self, config: NodeDaemonConfig, identity: NodeIdentity, environ: dict[str, str], report: Say) -> None:
        self._config, self._identity, self._report = config, identity, report
        self._services = [
            NodeService(manifest, environ, identity.services.get(manifest.id)) for manifest in config.manifests
        ]
        self._catalog_changed = asyncio.Event()  # the catalog must be sent again
        self._open = asyncio.Event()  # the tunnel is open

    async def run(self, stop: asyncio.Event) -> None:
        """Raises `NotPermitted` when the server refuses this machine."""
        life = asyncio.create_task(self._live())
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((life, stopped), return_when=asyncio.FIRST_COMPLETED)
            if life.done():
                return life.result()
        finally:
            stopped.cancel()
            life.cancel()
            with suppress(asyncio.CancelledError):
                await life
            for service in self._services:
                await asyncio.to_thread(service.stop)

    async def _live(self) -> None:
        while True:
            if not self._identity.secret:
                await self._join()
            server = FsServer(
                self._sources(), self._identity.secret, name=self._config.name, version=self._config.version
            )
            loops = [asyncio.create_task(self._hold_tunnel(server)), asyncio.create_task(self._hold_lease())]
            try:
                await asyncio.gather(*loops)
            except NodeRemoved:
                expelled = True
            else:
                expelled = False
            finally:
                for task in loops:
                    if not task.cancelling():
                        task.cancel()
                await asyncio.gather(*loops, return_exceptions=True)
                await self._leave()
                await asyncio.to_thread(server.close)
            if expelled:
                await self._expelled()

    # -- joining ---------------------------------------------------------------------------------------------------

    async def _join(self) -> None:
        plan = self._config
        bearer = plan.invite or plan.token
        if not bearer:
            raise NotPermitted(
                coded("node.not_joined"),
                path=plan.url,
                op="join",
                expected=coded("node.an_invite"),
                fix=coded("node.get_invite"),
            )
        lease_ms = round(plan.lease_s * 1000)
        for pause in _pauses():
            try:
                control = await ControlClient.connect(plan.url, bearer)
                try:
                    if plan.invite:
                        await by_invite(control, self._identity, plan.invite, plan.name, lease_ms)
                    else:
                        await by_request(control, self._identity, plan.name, lease_ms, self._report)
                finally:
                    await control.close()
            except _LOST as error:
                self._report(f"{plan.url}: {error}", {"event": "lost", "what": "join", "error": str(error)})
                await asyncio.sleep(pause)
            except (ControlError, JoinDenied) as error:
                raise NotPermitted(str(error), path=plan.url, op="join", fix=coded("node.new_invite")) from None
            else:
                break
        node = self._identity.node
        self._report(coded("node.joined", node=node), {"event": "joined", "node_id": node, "node_name": plan.name})

    async def _expelled(self) -> None:
        """Only an unused invite lets the node join again; until then the old secret is kept."""
        node = self._identity.node
        self._report(coded("node.expelled", node=node), {"event": "expelled", "node_id": node})
        if not self._config.invite:
            raise NotPermitted(
                coded("node.expelled", node=node),
                path=self._identity.path,
                op="join",
                fix=coded("node.remove_state"),
            )
        await self._join()

    # -- serving ---------------------------------------------------------------------------------------------------

    def _sources(self) -> list[ExportSource]:
        sources: list[ExportSource] = [
            DirectorySource(one.name, one.path, ro=one.ro, index=index)
            for index, one in enumerate(self._config.exports)
        ]
        for service in self._services:
            tree = ServiceTree(service, len(sources))
            tree.also = self._service_changed(service)
            sources.append(tree)
        return sources

    def _service_changed(self, service: NodeService) -> Callable[[], None]:
        """Save a service's state, and publish it to the server. Called in any thread."""
        loop = asyncio.get_running_loop()
        identity = self._identity

        def told() -> None:
            if identity.keep(service.id, service.kept()):
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(self._catalog_changed.set)

        return told

    async def _hold_tunnel(self, server: FsServer) -> None:
        from websockets.asyncio.client import connect

        pauses, loop = _pauses(), asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                async with connect(
                    f"{self._config.url}/v2/node",
                    compression=None,
                    max_size=FRAME_MAX,
                    proxy=None,
                    close_timeout=FAREWELL,
                ) as wire:
                    async with asyncio.timeout(GREETING):
                        await self._greet(wire)
                    self._open.set()
                    self._report(coded("node.tunnel_open"), {"event": "tunnel", "state": "open"})
                    await server.serve(wire)
            except _LOST as error:
                self._report(
                    coded("node.no_tunnel", why=str(error)), {"event": "lost", "what": "tunnel", "error": str(error)}
                )
            else:
                self._report(coded("node.tunnel_closed"), {"event": "tunnel", "state": "closed"})
            self._open.clear()
            if loop.time() - began > STEADY:  # a tunnel that another process takes over at once is not reopened at once
                pauses = _pauses()
            await asyncio.sleep(next(pauses))

    async def _greet(self, wire: WebSocketConnection) -> None:
        identity = self._identity
        payload = {
            "protocol": PROTOCOL,
            "proto": PROTO,
            "node_id": identity.node,
            "node_secret": identity.secret,
        }
        hello = {"channel": ACHERON, "type": ASK + "hello", "tag": 1, "payload": payload}
        await wire.send(write(hello), text=True)
        try:
            reply: Frame = read(await wire.recv())
        except BadFrame as error:
            raise ControlConnectionLost(str(error)) from None
        if reply.type != ANSWER + "hello":
            refused = reply_parsing.error(reply)
            raise NodeRemoved if refused.message == "NodeAuthFailed" else ControlConnectionLost(refused.message)

    # -- the lease and the catalog ---------------------------------------------------------------------------------

    async def _hold_lease(self) -> None:
        pauses = _pauses()
        while True:
            with suppress(TimeoutError):  # a server without tunnels still takes a lease
                async with asyncio.timeout(GREETING):
                    await self._open.wait()
            try:
                control = await ControlClient.connect(self._config.url, self._identity.secret)
                try:
                    self._catalog_changed.set()
                    while True:
                        await self._refresh_whole(control, self._config.lease_s)
                        pauses = _pauses()
                        await self._between(control)
                finally:
                    await control.close()
            except ControlError as error:
                if error.code in _UNKNOWN:
                    raise NodeRemoved from None
                self._report(coded("node.refused", why=str(error)), {"event": "refused", "error": str(error)})
            except _LOST as error:
                self._report(
                    coded("node.no_lease", why=str(error)), {"event": "lost", "what": "lease", "error": str(error)}
                )
            await asyncio.sleep(next(pauses))

    async def _refresh_whole(self, control: ControlClient, seconds: float) -> None:
        """As `_refresh`, to its end also where this is cancelled: the server must not take it after the farewell."""
        call = asyncio.create_task(self._refresh(control, seconds))
        try:
            await asyncio.shield(call)
        except asyncio.CancelledError:
            with suppress(ControlError, *_LOST):
                async with asyncio.timeout(LEAVING):
                    await call
            raise

    async def _refresh(self, control: ControlClient, seconds: float) -> None:
        identity, url = self._identity, self._config.url
        envelope = await control.call(
            "node_lease_refresh",
            {
                "node_id": identity.node,
                "node_secret": identity.secret,
                "lease_ttl_ms": max(1, round(seconds * 1000)),
                "fs_url": f"{url}/v2/fs/node/{identity.node}",
            },
        )
        keys = ("lease_token", "lease_expires_at_ms", "fs_url", "node_name")
        said = {key: envelope[key] for key in keys if key in envelope}
        await asyncio.to_thread(lambda: identity.save(**said))

    async def _between(self, control: ControlClient) -> None:
        """Until a third of the lease has passed: send a changed catalog, and notice the end of the connection."""
        until = asyncio.get_running_loop().time() + self._config.lease_s / 3
        ended = asyncio.create_task(control.ended())
        try:
            while True:
                if self._catalog_changed.is_set():
                    self._catalog_changed.clear()
                    await control.call("node_service_upsert", self._catalog())
                news = asyncio.create_task(self._catalog_changed.wait())
                left = until - asyncio.get_running_loop().time()
                try:
                    await asyncio.wait((ended, news), timeout=max(0, left), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    news.cancel()
                if ended.done():
                    raise ControlConnectionLost("the server closed the connection")
                if not self._catalog_changed.is_set():
                    return
        finally:
            ended.cancel()

    def _catalog(self) -> Json:
        node = self._identity.node
        services = [built_in(node, [one.name for one in self._config.exports])] if self._config.exports else []
        services += [
            service.manifest.service(node, "online" if service.enabled else "disabled") for service in self._services
        ]
        return {
            "node_id": node,
            "node_secret": self._identity.secret,
            "platform": node_platform(),
            "services": services,
        }

    async def _leave(self) -> None:
        """End the lease now, so that the server does not wait for this node. Best effort."""
        task = asyncio.current_task()
        if task is None or not task.cancelling() or not self._open.is_set():
            return
        with suppress(ControlError, *_LOST):
            async with asyncio.timeout(LEAVING):
                control = await ControlClient.connect(self._config.url, self._identity.secret)
                await self._refresh(control, 0.001)
                await control.close()


def _pauses() -> Iterator[float]:
    """Seconds to wait before each new try; with jitter, so that many nodes do not reconnect at once."""
    pause, longest = PAUSES
    while True:
        yield pause * (0.5 + random.random() / 2)  # noqa: S311 - spreads load, keeps no secret
        pause = min(2 * pause, longest)
