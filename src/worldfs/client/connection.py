"""`connect`: opens a connection to a served world."""

from __future__ import annotations

import os
from collections.abc import Generator
from types import TracebackType

from .address import PROJECT_TOKEN, find_token, home_of, parse
from .handshake import BindingRequest
from .remote_types import NEVER_RETRY, RetryPolicy
from .remote_world import TIMEOUT_S, RemoteWorld


class PendingConnection:
    """`async with connect(url) as world`, or `world = await connect(url)` and `await world.close()` later."""

    def __init__(self, world: RemoteWorld) -> None:
        self._world = world

    def __await__(self) -> Generator[object, None, RemoteWorld]:
        return self._begin().__await__()

    async def __aenter__(self) -> RemoteWorld:
        return await self._begin()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self._world.close()

    async def _begin(self) -> RemoteWorld:
        await self._world.start()
        return self._world


def connect(
    url: str,
    *,
    token: str | None = None,
    agent: str = "",
    project: str = "",
    project_token: str | None = None,
    session_key: str = "main",
    new_agent: bool = True,
    model: bool = False,
    timeout: float = TIMEOUT_S,
    retry: RetryPolicy = NEVER_RETRY,
    keepalive_s: float = 20.0,
) -> PendingConnection:
    """A connection to `url` (ws://HOST:PORT, wss://…, or HOST:PORT), after its handshake, bound.

    `token`: the Bearer of the server (None: $PAOS_TOKEN; else, of this machine's own server, the home's). `agent`,
    `project`, `project_token`: the binding to ask for (also `?agent=…&project=…` of the URL, and $PAOS_PROJECT_TOKEN);
    nothing: the server's default for this token. `new_agent`: whether an agent that is not there is made; False, it is
    refused. `model`: whatever is written is a model's, also where the token is a person's. `timeout`, seconds: for
    connecting, and for requests that do not wait.
    `retry`: what to do when the connection is lost, `NEVER_RETRY` by default. `keepalive_s`: interval of keepalive
    pings.

    Raises `BadInput` (the URL), `NotPermitted` (the token, the binding), `NotFound` (the agent), `ConnectionLost` (no
    server there), `RequestTimeout`, `MissingRequirement`.
    """
    address = parse(url)
    asked = os.environ.get(PROJECT_TOKEN, "") if project_token is None else project_token
    wish = BindingRequest(agent or address.agent, project or address.project, asked, session_key, new_agent, model)
    given = find_token(home=home_of() if address.loopback else "") if token is None else token
    return PendingConnection(RemoteWorld(address, given, wish, timeout=timeout, retry=retry, keepalive_s=keepalive_s))
