"""The recorded exchange with the reference node, asked again of ours: the replies are the same, but for decided rows.

The record holds labels and replies; what was asked follows from both.
"""

import asyncio
import json
from pathlib import Path

from websockets.asyncio.client import connect

from worldfs.exports.directory import Directory
from worldfs.exports.hub import Hub
from worldfs.exports.serving import FRAME_MAX
from worldfs.testing.exports import TOKEN, exported, listening, run
from worldfs.testing.waiting import PATIENCE_S

RECORD = Path(__file__).parents[1] / "fixtures" / "acheron" / "node_fs.jsonl"
HELLO = {"protocol": "unified-v2-fs", "proto": 2, "auth_token": TOKEN}
TIMES, SIZES = ("at", "mt", "ct", "gen"), ("n", "u", "g")

ROOM = ("blocks", "bfree", "bavail", "files", "ffree", "favail")  # the reference gives zeros, ours what there is

# Where ours differs, and the row that decided it.
DIFFERENT = {"readdirp2": "D12: names sorted by bytes"}


class Caller:
    """Sends one request after the other, and keeps pushes apart."""

    def __init__(self, wire):
        self.wire, self.tag, self.pushed = wire, 0, []

    async def ask(self, op, payload=None, **top):
        self.tag += 1
        frame = {"channel": "acheron", "type": f"acheron.t_fs_{op}", "tag": self.tag, **top, "payload": payload or {}}
        await self.wire.send(json.dumps(frame))
        while True:
            reply = json.loads(await self.wire.recv())
            if "tag" in reply:
                return reply
            self.pushed.append(reply)


def wire(url):
    return connect(url, compression=None, max_size=FRAME_MAX, proxy=None)


async def first(told, roots, caller):
    """The first connection of the record: every operation once."""

    async def ask(name, op, payload=None, **top):
        told.append((name, await caller.ask(op, payload, **top)))
        return told[-1][1].get("payload", {})

    await ask("hello", "hello", HELLO)
    root, ro = (one["root"] for one in (await ask("exports", "exports"))["exports"])
    await ask("getattr root", "getattr", node=root)
    a = (await ask("lookup", "lookup", {"name": "a.txt"}, node=root))["attr"]["id"]
    await ask("lookup miss", "lookup", {"name": "nope"}, node=root)
    await ask("lookup ..", "lookup", {"name": ".."}, node=root)
    await ask("lookup noname", "lookup", node=root)
    await ask("readdirp", "readdirp", {"cookie": 0, "max": 1}, node=root)
    await ask("readdirp2", "readdirp", {"cookie": 1, "max": 100}, node=root)
    h = (await ask("open", "open", {"flags": 0}, node=a))["h"]
    await ask("read", "read", {"off": 0, "len": 100}, h=h)
    await ask("read mid", "read", {"off": 2, "len": 2}, h=h)
    await ask("write on ro handle", "write", {"off": 0, "data_b64": "eA=="}, h=h)
    await ask("close", "close", h=h)
    await ask("close again", "close", h=h)
    made = await ask("create", "create", {"name": "new.txt", "mode": 0o644, "flags": 2}, node=root)
    new = made["attr"]["id"]
    await ask("write", "write", {"off": 0, "data_b64": "aGVsbG8="}, h=made["h"])
    await ask("lock", "lock", {}, h=made["h"])
    await ask("lock bad", "lock", {"kind": "sideways"}, h=made["h"])
    await ask("truncate", "truncate", {"sz": 2}, node=new)
    await ask("setxattr", "setxattr", {"name": "user.x", "value_b64": "eA==", "flags": 0}, node=new)
    await ask("getxattr", "getxattr", {"name": "user.x"}, node=new)
    await ask("listxattr", "listxattr", node=new)
    await ask("removexattr", "removexattr", {"name": "user.x"}, node=new)
    await ask("symlink", "symlink", {"name": "ln", "target": "a.txt"}, node=root)
    await ask("mkdir", "mkdir", {"name": "d"}, node=root)
    await ask("mkdir again", "mkdir", {"name": "d"}, node=root)
    moved = {"old_parent": root, "old_name": "new.txt", "new_parent": root, "new_name": "renamed.txt"}
    await ask("rename", "rename", moved)
    await ask("unlink", "unlink", {"name": "renamed.txt"}, node=root)
    await ask("rmdir", "rmdir", {"name": "d"}, node=root)
    await ask("unlink ln", "unlink", {"name": "ln"}, node=root)
    await ask("statfs", "statfs", node=root)
    await ask("ro mkdir", "mkdir", {"name": "x"}, node=ro)
    await ask("bad node", "getattr", node=12345)
    await ask("rmdir nonempty", "rmdir", {"name": "nothing"}, node=root)
    roots.append(root)


class Known:
    """One node, `edge`, whose secret is the token."""

    def node_secret_valid(self, node_id, secret):
        return (node_id, secret) == ("edge", TOKEN)


async def refused(told):
    """Three connections to a tunnelled node that never get in; each is closed."""
    cases = (
        ("tunnel: no hello", "exports", {}),
        ("tunnel: bad auth", "hello", {**HELLO, "auth_token": "wrong"}),
        ("tunnel: wrong proto", "hello", {**HELLO, "proto": 1}),
    )
    hub = Hub(Known())
    async with listening(lambda connection: hub.serve_client(connection, "edge")) as url:
        for name, op, payload in cases:
            async with wire(url) as connection:
                told.append((name, await Caller(connection).ask(op, payload)))
                await asyncio.wait_for(connection.wait_closed(), PATIENCE_S)


async def second(url, told, root):
    """A connection that subscribed: links, locks, and pushes."""
    async with wire(url) as connection:
        caller = Caller(connection)

        async def ask(name, op, payload=None, **top):
            told.append((name, await caller.ask(op, payload, **top)))
            return told[-1][1].get("payload", {})

        await ask("tunnel: subscribe", "hello", {**HELLO, "subscribe_invalidations": True})
        caller.tag += 1
        await ask("symlink", "symlink", {"name": "ln9", "target": "a.txt"}, node=root)
        await ask("lookup symlink", "lookup", {"name": "ln9"}, node=root)
        made = await caller.ask("create", {"name": "locked", "flags": 2}, node=root)
        caller.tag -= 1
        h = made["payload"]["h"]
        await ask("lock shared", "lock", {"kind": "shared", "wait": False}, h=h)
        caller.tag = 5
        await ask("lock", "lock", {"kind": "exclusive", "wait": False}, h=h)
        await ask("unlock", "lock", {"kind": "unlock", "wait": False}, h=h)
        await ask("unlink", "unlink", {"name": "locked"}, node=root)
        await ask("unlink ln9", "unlink", {"name": "ln9"}, node=root)
        while len({push["type"] for push in caller.pushed}) < 2:
            caller.pushed.append(json.loads(await asyncio.wait_for(connection.recv(), PATIENCE_S)))
        return caller.pushed


def normal(value, key=""):
    """Ids, times and sizes of directories are whatever they are."""
    if key == "node" and isinstance(value, dict):
        return {**value, "name": "…", "ver": "…"}
    if isinstance(value, dict):
        found = {k: normal(v, k) for k, v in value.items()}
        return {**found, "sz": "…"} if found.get("k") == 2 else found
    if isinstance(value, list):
        return [normal(one) for one in value]
    if key in ("id", "root", "node", "dir", "dir_gen", "desc", *TIMES, *SIZES, *ROOM):
        return "…"
    return value


def test_ours_answers_as_the_reference_did(work, capsys):
    (work / "sub" / "b.txt").unlink()
    (work / "f.txt").write_bytes(b"12345")
    (work / "w.txt").write_bytes(b"12")
    recorded = [json.loads(line) for line in RECORD.read_text().splitlines()]
    told, roots = [], []

    async def replay():
        async with exported(Directory("work", str(work)), Directory("ro", str(work), ro=True, index=1)) as url:
            async with wire(url) as connection:
                await first(told, roots, Caller(connection))
            await refused(told)
            return await second(url, told, roots[0])

    pushed = run(replay())
    wanted = [(one["label"], one["res"]) for one in recorded if one["label"] != "EVT"]
    assert [name for name, _ in told] == [name for name, _ in wanted]
    differences = {}
    for (name, ours), (_, theirs) in zip(told, wanted, strict=True):
        if theirs is None:  # the recorder lost this reply
            assert ours["ok"]
            continue
        a, b = ({**normal(one), "tag": "…"} for one in (ours, theirs))
        if a != b:
            differences[name] = (a, b)
    for name, (a, b) in differences.items():
        print(f"{name} ({DIFFERENT.get(name, 'NOT DECIDED')})\n  ours   {a}\n  theirs {b}")
    assert set(differences) == set(DIFFERENT)
    shapes = {push["type"]: set(push["payload"]) for push in pushed}
    for one in recorded:
        if one["label"] == "EVT":
            assert shapes[one["res"]["type"]] <= set(one["res"]["payload"])  # gen is left out of what has gone
            assert set(one["res"]) == {"channel", "type", "payload"}


def test_differences_beyond_order_and_figures_are_none(work):
    """What a row excuses is looked at more closely: shapes, not only names."""
    (work / "sub" / "b.txt").unlink()
    (work / "f.txt").write_bytes(b"12345")
    (work / "w.txt").write_bytes(b"12")
    recorded = {one["label"]: one["res"] for one in map(json.loads, RECORD.read_text().splitlines())}
    told = []

    async def replay():
        exports = Directory("work", str(work)), Directory("ro", str(work), ro=True, index=1)
        async with exported(*exports) as url, wire(url) as connection:
            await first(told, [], Caller(connection))

    run(replay())
    ours = dict(told)
    hello, theirs = (one["hello"]["payload"] for one in (ours, recorded))
    assert {**hello, "node": set(hello["node"])} == {**theirs, "node": set(theirs["node"])}
    names = [[one["name"] for one in all["readdirp2"]["payload"]["ents"]] for all in (ours, recorded)]
    assert names[0] == [names[1][0], *sorted(names[1][1:])]
    assert ours["readdirp2"]["payload"]["next"] == recorded["readdirp2"]["payload"]["next"] == 6
    assert set(ours["statfs"]["payload"]) == set(recorded["statfs"]["payload"])
    assert ours["statfs"]["payload"]["namemax"] == 255
