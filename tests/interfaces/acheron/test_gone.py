"""A connection that closes in the middle of an operation leaves nothing behind: no task, no wait, no unheard error."""

import asyncio
import gc
import json
import threading

import pytest
from tests.interfaces.acheron.test_fuzz import GREETING, Wire

from worldfs.access.principal import Principal
from worldfs.access.tokens import TokenStore
from worldfs.interfaces.acheron.peer import ClientPeer
from worldfs.interfaces.acheron.server import Server
from worldfs.testing.served_tree import ServedRealm
from worldfs.testing.waiting import soon


def frames(*path):
    yield {"type": "acheron.t_walk", "tag": 1, "fid": 1, "newfid": 2, "path": list(path)}
    yield {"type": "acheron.t_read", "tag": 2, "fid": 2}


async def settled(server):
    await soon(lambda: not server.waiters.waiting)
    gc.collect()
    await asyncio.sleep(0)


@pytest.mark.slice(4)
@pytest.mark.parametrize("steps", [0, 1, 3], ids=["in the same step", "a step later", "while it waits"])
@pytest.mark.parametrize("file", ["waits", "heavy"])
def test_a_connection_that_goes_during_an_operation_leaves_no_unheard_error(tmp_path, file, steps):
    unheard = []

    async def life():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unheard.append(context))
        realm = ServedRealm(tmp_path)
        realm.tree.files |= {"/wait": b"w", "/dir/f": b"h"}
        realm.tree.closed.add("/wait")
        server = Server(realm, TokenStore.open(None))
        peer = ClientPeer(server, Wire(), Principal("admin"))
        for message in GREETING:
            peer.on_message(message)
        peer.on_message(json.dumps({"channel": "acheron", **next(frames("dir", "f"))}).encode())
        realm.tree.heavy.add("/dir")
        realm.tree.slow = threading.Event()
        asked = [*frames("wait")] if file == "waits" else [*frames("dir", "f")][1:]
        del realm.tree.files["/dir/f"]  # the answer to the slow question will be an error
        for frame in asked:
            peer.on_message(json.dumps({"channel": "acheron", **frame}).encode())
        for _ in range(steps):
            await asyncio.sleep(0)
        peer.on_closed()
        await asyncio.sleep(0)
        realm.tree.slow.set()
        await settled(server)
        await server.stop()
        realm.close()

    asyncio.run(life())
    gc.collect()
    assert not unheard, unheard
