"""How many borders between modules a served read crosses: a request that is handed on too often cannot be followed."""

import asyncio
import json
import sys

from worldfs.access.tokens import TokenStore
from worldfs.interfaces.acheron.server import Server
from worldfs.testing.bare_client import LocalServer
from worldfs.testing.waiting import PATIENCE_S, soon
from worldfs.world.served_world import ServedWorld

MOST = 16
SOURCE = "/src/worldfs/"
OURS = ("interfaces/acheron/", "formats/wire/", "namespace/", "tree/")  # the own way of a read, not its answer


class Borders:
    """The pairs of modules of which one called the other, in this thread, in the order of their first call."""

    def __init__(self):
        self.found = {}

    def __call__(self, frame, event, argument):
        if event == "call" and (here := module(frame)):
            above = frame.f_back
            while above is not None and module(above) is None:
                above = above.f_back
            before = module(above) if above is not None else ""
            if before and before != here and here.startswith(OURS) and not before.startswith("testing/"):
                self.found.setdefault((before, here), frame.f_code.co_name)


def module(frame):
    """Its path below src/worldfs; None for code of others."""
    _, found, name = frame.f_code.co_filename.rpartition(SOURCE)
    return name.removesuffix(".py") if found and not name.startswith("testing/") else None


async def crossed(work):
    borders = Borders()
    sys.setprofile(borders)
    try:
        await work
    finally:
        sys.setprofile(None)
    return borders.found


def served(tmp_path, life):
    async def run():
        with ServedWorld.open(tmp_path, memory_only=True) as world:
            server = Server(world, TokenStore.open(tmp_path))
            await server.start(port=0)
            try:
                async with asyncio.timeout(PATIENCE_S), LocalServer(world, server).connect() as plug:
                    await life(plug, world, server)
            finally:
                await server.stop()

    asyncio.run(run())


def test_a_read_of_a_bound_file_crosses_few_borders(tmp_path):
    async def life(plug, world, server):
        await plug.walk("/meta/protocol.json", 2)
        await plug.ask("read", fid=2)
        found = await crossed(plug.ask("read", fid=2))
        assert ("namespace/verbs", "namespace/node") in found, found
        assert len(found) <= MOST, found

    served(tmp_path, life)


def test_a_read_that_waits_crosses_few_borders_until_it_waits(tmp_path):
    async def life(plug, world, server):
        await plug.walk("/agents/self/events/control/wait.json", 2)
        selector = {"paths": ["/nodes"], "kind": "changes", "timeout_ms": 60_000, "since": "now"}
        assert (await plug.ask("write", fid=2, data=json.dumps(selector)))["ok"]
        await plug.walk("/agents/self/events/next.json", 3)

        async def wait():
            await plug.post("read", fid=3)
            await soon(lambda: server.waiters.waiting == 1)

        found = await crossed(wait())
        assert ("namespace/verbs", "namespace/waiters") in found, found
        assert len(found) <= MOST, found

    served(tmp_path, life)
