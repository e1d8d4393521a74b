"""A real server with a real node that exports a directory, in one loop; for tests of what a client may do there."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from worldfs.access.binding import ADMIN, MOTHER, Binding
from worldfs.access.caller import Caller
from worldfs.access.tokens import TokenStore
from worldfs.client import connect
from worldfs.interfaces.acheron.server import Server
from worldfs.plugins.node_fs.node_daemon import ExportedDir, NodeDaemon, NodeDaemonConfig
from worldfs.plugins.node_fs.node_identity import NodeIdentity
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.served_world import ServedWorld

BOSS = Caller(Binding(ADMIN, MOTHER), "test")


class Served:
    def __init__(self, realm: ServedWorld, server: Server, port: int, work: Path) -> None:
        self.realm, self.server, self.work = realm, server, work
        self.url = f"ws://127.0.0.1:{port}"
        self.token = json.loads((realm.home / "auth_tokens.json").read_text())["admin_token"]

    def connect(self, **more: Any) -> Any:
        return connect(self.url, token=self.token, **more)


@asynccontextmanager
async def served(tmp_path: Path, *, ro: bool = False) -> AsyncIterator[Served]:
    """`/nodes/node-1/fs/work` is `tmp_path/work`."""
    work = tmp_path / "work"
    work.mkdir(parents=True, exist_ok=True)
    realm = ServedWorld.open(tmp_path / "home", memory_only=True)
    server = Server(realm, TokenStore.open(tmp_path / "home"))
    port = await server.start(port=0)
    invite = realm.plane.call("node_invite_create", {}, BOSS)["invite_token"]
    identity = NodeIdentity(str(tmp_path / "edge.json"), f"ws://127.0.0.1:{port}")
    identity.load()
    shown = ExportedDir("work", str(work), ro)
    plan = NodeDaemonConfig(f"ws://127.0.0.1:{port}", "edge", exports=[shown], lease_s=60.0, invite=invite)
    stop = asyncio.Event()
    life = asyncio.create_task(
        NodeDaemon(plan, identity, {"PATH": os.environ["PATH"]}, lambda text, value: None).run(stop)
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            while realm.hub is None or not realm.hub.mounted("node-1") or realm.plane.catalog("node-1") is None:
                await asyncio.sleep(0.01)
            yield Served(realm, server, port, work)
    finally:
        stop.set()
        await asyncio.gather(life, return_exceptions=True)
        identity.close()
        await server.stop()
        realm.close()
