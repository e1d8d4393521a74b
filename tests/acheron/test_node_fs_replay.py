"""The recorded exchanges with a node's file system, said again through a real server to a real `paos node`.

Three processes: this one speaks to /v2/fs/node/<id> of the server, which passes it on through the node's tunnel.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from worldfs.testing.waiting import PATIENCE_S, until

from .compared import Names, compare
from .recorded import Exchange, exchanges
from .stand import ROOT, Json, Served, Wire, served
from .test_replay import Reason, explained

# Numbers of a machine: ids, times, owners, what a disk has room for.
OF_THE_MACHINE = frozenset(("id", "root", "node", "dir", "dir_gen", "desc", "at", "mt", "ct", "gen", "n", "u", "g"))

DECIDED = (
    Reason("D12", "names sorted by bytes", "readdirp2", r"payload\.ents.*"),
    Reason("§7", "what the disk has room for, not zeros", "statfs", r"payload\.\w+"),
    Reason("§1.1", "our node says what it is", "hello|tunnel: subscribe", r"payload\.node\.\w+"),
)


class Node(NamedTuple):
    server: Served
    id: str
    secret: str


@contextmanager
def node(server: Served, state: Path, *exports: str) -> Iterator[subprocess.Popen[str]]:
    """`paos node`, joined by an invite."""
    with server.wire() as admin:
        admin.done("version", {"protocol": "unified-v2"})
        invite = admin.done("node_invite_create")["invite_token"]
    more = [word for export in exports for word in ("--export", export)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PAOS_INVITE": invite, "PAOS_TOKEN": ""}
    process = subprocess.Popen(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(state), "--connect", server.url,
         "node", "--name", "edge", *more],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[Node]:
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    for name, text in (("a.txt", "file A\n"), ("f.txt", "12345"), ("w.txt", "12")):
        (work / name).write_text(text)
    with served(tmp_path / "home") as server, node(server, tmp_path / "state", f"work={work}:rw", f"ro={work}:ro"):
        with server.wire() as admin:
            admin.greet()
            # Joined, tunnelled, and its services told: then its directory is to be seen through the tree.
            until(lambda: "work" in (_names(admin, "/nodes/node-1/fs") or ()), "the node did not come")
        kept = next((tmp_path / "state/.paos/nodes").glob("*.json"))
        yield Node(server, "node-1", json.loads(kept.read_text())["node_secret"])


def _names(wire: Wire, path: str) -> list[str] | None:
    return wire.names(path) if wire.walk(path)["ok"] else None


class Caller:
    """Says what a label stands for; what was answered to one is needed by the next."""

    def __init__(self, edge: Node) -> None:
        self.edge = edge
        self.wire = self.connect()
        self.tag = self.work = self.ro = self.a = self.h = self.new = 0

    def connect(self) -> Wire:
        return Wire(f"{self.edge.server.url}/v2/fs/node/{self.edge.id}", "")

    def say(self, op: str, payload: Json | None = None, **top: Any) -> Json:
        self.tag += 1
        frame = {"channel": "acheron", "type": f"acheron.t_fs_{op}", "tag": self.tag, **top, "payload": payload or {}}
        return self.wire.ask(frame)

    def hello(self, **more: Any) -> Json:
        payload = {"protocol": "unified-v2-fs", "proto": 2, "auth_token": self.edge.secret, **more}
        return self.say("hello", payload)

    def refused(self, op: str, **more: Any) -> Json:
        """A connection of its own, which is ended."""
        first, self.wire, self.tag = self.wire, self.connect(), 0
        found = self.hello(**more) if op == "hello" else self.say(op)
        assert self.wire.ended()
        self.wire.close()
        self.wire = first
        return found

    def again(self) -> Json:
        self.wire.close()
        self.wire, self.tag = self.connect(), 0
        return self.hello(subscribe_invalidations=True)

    def kept(self, name: str, found: Json, *keys: str) -> Json:
        value: Any = found["payload"]
        for key in keys:
            value = value[key]
        setattr(self, name, value)
        return found

    def exports(self) -> Json:
        found = self.say("exports")
        self.work, self.ro = (one["root"] for one in found["payload"]["exports"])
        return found

    def created(self) -> Json:
        found = self.kept("h", self.say("create", {"name": "new.txt", "mode": 0o644, "flags": 2}, node=self.work), "h")
        return self.kept("new", found, "attr", "id")

    def locked(self) -> Json:
        made = self.say("create", {"name": "locked", "flags": 2}, node=self.work)
        return self.say("lock", {"kind": "shared", "wait": False}, h=self.kept("h", made, "h")["payload"]["h"])

    def answer(self, label: str, turn: int) -> Json:
        """`turn`: how often the label was said before."""
        root, second = self.work, turn > 0
        moved = {"old_parent": root, "old_name": "new.txt", "new_parent": root, "new_name": "renamed.txt"}
        xattr = {"name": "user.x"}
        told = {
            "hello": self.hello,
            "exports": self.exports,
            "getattr root": lambda: self.say("getattr", node=root),
            "lookup": lambda: self.kept("a", self.say("lookup", {"name": "a.txt"}, node=root), "attr", "id"),
            "lookup miss": lambda: self.say("lookup", {"name": "nope"}, node=root),
            "lookup ..": lambda: self.say("lookup", {"name": ".."}, node=root),
            "lookup noname": lambda: self.say("lookup", node=root),
            "readdirp": lambda: self.say("readdirp", {"cookie": 0, "max": 1}, node=root),
            "readdirp2": lambda: self.say("readdirp", {"cookie": 1, "max": 100}, node=root),
            "open": lambda: self.kept("h", self.say("open", {"flags": 0}, node=self.a), "h"),
            "read": lambda: self.say("read", {"off": 0, "len": 100}, h=self.h),
            "read mid": lambda: self.say("read", {"off": 2, "len": 2}, h=self.h),
            "write on ro handle": lambda: self.say("write", {"off": 0, "data_b64": "eA=="}, h=self.h),
            "close": lambda: self.say("close", h=self.h),
            "close again": lambda: self.say("close", h=self.h),
            "create": self.created,
            "write": lambda: self.say("write", {"off": 0, "data_b64": "aGVsbG8="}, h=self.h),
            "lock": lambda: self.say("lock", {"kind": "exclusive", "wait": False} if second else {}, h=self.h),
            "lock bad": lambda: self.say("lock", {"kind": "sideways"}, h=self.h),
            "lock shared": self.locked,
            "unlock": lambda: self.say("lock", {"kind": "unlock", "wait": False}, h=self.h),
            "truncate": lambda: self.say("truncate", {"sz": 2}, node=self.new),
            "setxattr": lambda: self.say("setxattr", {**xattr, "value_b64": "eA==", "flags": 0}, node=self.new),
            "getxattr": lambda: self.say("getxattr", xattr, node=self.new),
            "listxattr": lambda: self.say("listxattr", node=self.new),
            "removexattr": lambda: self.say("removexattr", xattr, node=self.new),
            "symlink": lambda: self.say("symlink", {"name": "ln9" if second else "ln", "target": "a.txt"}, node=root),
            "lookup symlink": lambda: self.say("lookup", {"name": "ln9"}, node=root),
            "mkdir": lambda: self.say("mkdir", {"name": "d"}, node=root),
            "mkdir again": lambda: self.say("mkdir", {"name": "d"}, node=root),
            "rename": lambda: self.say("rename", moved),
            "unlink": lambda: self.say("unlink", {"name": "locked" if second else "renamed.txt"}, node=root),
            "unlink ln": lambda: self.say("unlink", {"name": "ln"}, node=root),
            "unlink ln9": lambda: self.say("unlink", {"name": "ln9"}, node=root),
            "rmdir": lambda: self.say("rmdir", {"name": "d"}, node=root),
            "rmdir nonempty": lambda: self.say("rmdir", {"name": "nothing"}, node=root),
            "statfs": lambda: self.say("statfs", node=root),
            "ro mkdir": lambda: self.say("mkdir", {"name": "x"}, node=self.ro),
            "bad node": lambda: self.say("getattr", node=12345),
            "tunnel: no hello": lambda: self.refused("exports"),
            "tunnel: bad auth": lambda: self.refused("hello", auth_token="wrong"),
            "tunnel: wrong proto": lambda: self.refused("hello", proto=1),
            "tunnel: subscribe": self.again,
        }
        return told[label]()


def test_a_nodes_files_answer_as_recorded_through_its_tunnel(edge: Node) -> None:
    caller, names, found = Caller(edge), Names(), []
    said: list[str] = []
    for line in exchanges("node_fs.jsonl"):
        exchange = Exchange(line.at, "client", line.label, line.answered)
        if line.label == "EVT":
            continue
        ours = caller.answer(line.label, said.count(line.label))
        said.append(line.label)
        if line.answered is None:  # the recorder lost this reply
            assert ours["ok"]
            continue
        found += [
            (exchange, one) for one in compare(line.answered, ours, names) if not _of_the_machine(line.label, one.where)
        ]
    explained(found, DECIDED)
    pushed = {push["type"]: push["payload"] for push in (*caller.wire.pushed, *_late(caller.wire))}
    for line in exchanges("node_fs.jsonl"):
        if line.label == "EVT":
            assert set(pushed[line.answered["type"]]) <= set(line.answered["payload"])
    caller.wire.close()


def _of_the_machine(label: str, where: str) -> bool:
    """A directory's size is the file system's own; a file's is looked at where one is looked up or made."""
    last = where.rpartition(".")[2]
    return (
        where == "tag"
        or last in OF_THE_MACHINE
        or (last == "sz" and label in ("getattr root", "readdirp", "readdirp2"))
    )


def _late(wire: Wire) -> list[Json]:
    found = []
    while True:
        try:
            found.append(wire.hear(0.5))
        except TimeoutError:
            return found
