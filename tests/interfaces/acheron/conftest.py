"""A server for as long as a test needs it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from worldfs.access.tokens import TokenStore
from worldfs.interfaces.acheron.server import Server
from worldfs.testing.bare_client import LocalServer
from worldfs.testing.served_tree import ServedRealm
from worldfs.testing.waiting import PATIENCE_S


@pytest.fixture
def hold(tmp_path):
    """Runs a coroutine against a server on a free port."""

    def begin(life: Callable[[LocalServer], Awaitable[None]]) -> None:
        async def run() -> None:
            realm = ServedRealm(tmp_path / "home")
            server = Server(realm, TokenStore.open(realm.home))
            await server.start(port=0)
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await life(LocalServer(realm, server))
            finally:
                await server.stop()
                realm.close()

        asyncio.run(run())

    return begin
