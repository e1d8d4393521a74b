"""How many borders between modules a served read crosses: a request that is handed on too often cannot be followed."""

import asyncio
import base64
import json
import sys
import threading

from worldfs.access.tokens import TokenStore
from worldfs.base.model import Outcome
from worldfs.interfaces.acheron.server import Server
from worldfs.testing.bare_client import LocalServer
from worldfs.testing.waiting import PATIENCE_S, soon
from worldfs.world.served_world import ServedWorld

MOST = 16
SOURCE = "/src/worldfs/"
BESIDE = (
    "interfaces/acheron/fs_routes",
    "interfaces/acheron/plane_ticker",
)  # by changes or a timer; they answer no request
OURS = ("interfaces/acheron/", "formats/wire/", "namespace/", "tree/")  # the own way of a read, not its answer


class Borders:
    """The pairs of modules of which one called the other, in any thread, in the order of their first call."""

    def __init__(self):
        self.found = {}
        self.counting = False

    def __call__(self, frame, event, argument):
        if self.counting and event == "call" and (here := module(frame)):
            above = frame.f_back
            while above is not None and module(above) is None:
                above = above.f_back
            before = module(above) if above is not None else ""
            if (
                before
                and before != here
                and here.startswith(OURS)
                and not before.startswith("testing/")
                and not any(module(one) in BESIDE for one in stack(frame))
            ):
                self.found.setdefault((before, here), frame.f_code.co_name)

    async def crossed(self, work):
        """What is crossed meanwhile."""
        self.found, self.counting = {}, True
        try:
            await work
        finally:
            self.counting = False
        assert len(self.found) <= MOST, "\n".join(map(str, self.found))
        return self.found


def stack(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def module(frame):
    """Its path below src/worldfs; None for code of others."""
    _, found, name = frame.f_code.co_filename.rpartition(SOURCE)
    return name.removesuffix(".py") if found and not name.startswith("testing/") else None


def served(tmp_path, life):
    async def run():
        with ServedWorld.open(tmp_path, memory_only=True) as world:
            server = Server(world, TokenStore.open(tmp_path))
            await server.start(port=0)
            try:
                async with asyncio.timeout(PATIENCE_S), LocalServer(world, server).connect() as plug:
                    await life(plug, world, server, borders)
            finally:
                await server.stop()

    borders = Borders()
    threading.setprofile(borders)  # the threads of the server, and of the jobs
    sys.setprofile(borders)
    try:
        asyncio.run(run())
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def content(reply):
    return base64.b64decode(reply["payload"]["data_b64"]).decode()


async def wait_for_a_change(plug, server):
    """A read of next.json that waits; its tag."""
    tag = await plug.post("read", fid=3)
    await soon(lambda: server.waiters.waiting == 1)
    return tag


async def select_changes(plug):
    await plug.walk("/agents/self/events/control/wait.json", 2)
    selector = {"paths": ["/nodes"], "kind": "changes", "timeout_ms": 60_000, "since": "now"}
    assert (await plug.ask("write", fid=2, data=json.dumps(selector)))["ok"]
    await plug.walk("/agents/self/events/next.json", 3)


def test_a_read_of_a_bound_file_crosses_few_borders(tmp_path):
    async def life(plug, world, server, borders):
        await plug.walk("/meta/protocol.json", 2)
        await plug.ask("read", fid=2)
        assert ("namespace/verbs", "namespace/node") in await borders.crossed(plug.ask("read", fid=2))

    served(tmp_path, life)


def test_a_read_that_waits_crosses_few_borders_until_it_waits(tmp_path):
    async def life(plug, world, server, borders):
        await select_changes(plug)
        assert ("namespace/verbs", "namespace/waiters") in await borders.crossed(wait_for_a_change(plug, server))

    served(tmp_path, life)


def test_a_read_that_waited_crosses_few_borders_from_the_change_to_its_answer(tmp_path):
    async def life(plug, world, server, borders):
        await select_changes(plug)
        tag = await wait_for_a_change(plug, server)

        async def wake():
            world.feed.publish("/nodes")
            assert "/nodes" in content(await plug.reply_to(tag))

        found = await borders.crossed(wake())
        assert ("tree/change_feed", "namespace/waiters") in found, found

    served(tmp_path, life)


def test_a_read_of_a_job_crosses_few_borders_from_its_end_to_the_answer(tmp_path):
    async def life(plug, world, server, borders):
        go = threading.Event()

        def answer(run):
            go.wait(PATIENCE_S)
            return Outcome.success("the answer")

        world.services.calls.register("chat", answer)
        await plug.walk("/agents/self/chat/control/input", 2)
        assert (await plug.ask("write", fid=2, data="hello"))["ok"]
        await plug.walk("/agents/self/jobs/job-1/result.txt", 3)
        tag = await wait_for_a_change(plug, server)

        async def end():
            go.set()
            assert content(await plug.reply_to(tag)) == "the answer"

        found = await borders.crossed(end())
        assert ("world/agent_jobs/agent_runtime", "tree/change_feed") in found, found

    served(tmp_path, life)
