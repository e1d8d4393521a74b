"""A connection that closes in the middle of an operation leaves nothing behind: no task, no wait, no unheard error."""

import asyncio
import gc
import json
import threading

import pytest
from tests.doors.acheron.test_fuzz import GREETING, Wire

from worldfs.doors.acheron.peer import Peer
from worldfs.doors.acheron.server import Server
from worldfs.doors.acheron.tokens import Tokens
from worldfs.doors.acheron.who import Who
from worldfs.testing.served import ServedRealm
from worldfs.testing.waiting import soon


def frames(*path):
    yield {"type": "acheron.t_walk", "tag": 1, "fid": 1, "newfid": 2, "path": list(path)}
    yield {"type": "acheron.t_read", "tag": 2, "fid": 2}


async def settled(server):
    await soon(lambda: not server.waiters.waiting)
    gc.collect()
    await asyncio.sleep(0)


@pytest.mark.parametrize("steps", [0, 1, 3], ids=["in the same step", "a step later", "while it waits"])
@pytest.mark.parametrize("file", ["waits", "heavy"])
def test_a_connection_that_goes_during_an_operation_leaves_no_unheard_error(tmp_path, file, steps):
    unheard = []

    async def life():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unheard.append(context))
        realm = ServedRealm(tmp_path)
        realm.tree.files |= {"/wait": b"w", "/dir/f": b"h"}
        realm.tree.closed.add("/wait")
        server = Server(realm, Tokens.open(None))
        peer = Peer(server, Wire(), Who("admin"))
        for message in GREETING:
            peer.heard(message)
        peer.heard(json.dumps({"channel": "acheron", **next(frames("dir", "f"))}).encode())
        realm.tree.heavy.add("/dir")
        realm.tree.slow = threading.Event()
        asked = [*frames("wait")] if file == "waits" else [*frames("dir", "f")][1:]
        del realm.tree.files["/dir/f"]  # the answer to the slow question will be an error
        for frame in asked:
            peer.heard(json.dumps({"channel": "acheron", **frame}).encode())
        for _ in range(steps):
            await asyncio.sleep(0)
        peer.gone()
        await asyncio.sleep(0)
        realm.tree.slow.set()
        await settled(server)
        await server.stop()
        realm.close()

    asyncio.run(life())
    gc.collect()
    assert not unheard, unheard
