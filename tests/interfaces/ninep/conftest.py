"""A 9P listener in a thread, over a tree in memory or over a real world."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from worldfs.access.auth import authenticate
from worldfs.access.tokens import TokenStore
from worldfs.interfaces.ninep.ninep_listener import NinePListener, parse_address
from worldfs.namespace.waiters import Waiters
from worldfs.testing.ninep_client import NinePClient
from worldfs.testing.served_tree import ServedRealm, ShapedTree


class Host:
    """What the listener needs of a server."""

    def __init__(self, realm):
        self.realm, self.tokens = realm, TokenStore.open(realm.home)
        self.waiters = Waiters(realm.feed, asyncio.get_running_loop())
        self.threads = ThreadPoolExecutor(4)

    def principal(self, authorization):
        self.tokens.refresh()
        return authenticate(authorization, self.tokens, self.realm.plane)


class Listening:
    """A listener on a UNIX socket and one on loopback, until it is left."""

    def __init__(self, realm, place):
        self.realm, self.path = realm, str(place / "9p.sock")
        self._ready, self._thread = threading.Event(), threading.Thread(target=lambda: asyncio.run(self._life()))

    def __enter__(self):
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *raised):
        self.call(self._stop.set)
        self._thread.join()

    async def _life(self):
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self.host = Host(self.realm)
        self.local = NinePListener(self.host, parse_address(self.path))
        self.tcp = NinePListener(self.host, parse_address("127.0.0.1:0"))
        await self.local.start()
        await self.tcp.start()
        self._ready.set()
        await self._stop.wait()
        await self.local.stop()
        await self.tcp.stop()
        self.host.waiters.close()
        self.host.threads.shutdown()

    @property
    def port(self):
        return "127.0.0.1", self.tcp.address.port

    def call(self, action):
        """On the loop; the value is given back."""
        done = threading.Event()
        found = []

        def run():
            found.append(action())
            done.set()

        self._loop.call_soon_threadsafe(run)
        done.wait()
        return found[0]

    def token(self, role="admin"):
        return self.host.tokens._tokens[role]

    def client(self, aname="", **more):
        return NinePClient(self.path, **more).attach(aname)


@pytest.fixture
def memory(tmp_path):
    """Over a tree in memory: files may be made, and `put` is done on the loop."""
    realm = ServedRealm(tmp_path)
    realm.tree = ShapedTree(realm.feed)
    realm.tree.files.update(
        {"/a/one": b"first", "/a/two": b"second", "/b": b"third", "/zero": b"\0" * 4096, "/null": b""}
    )
    with Listening(realm, tmp_path) as listening:
        yield listening
    realm.close()
