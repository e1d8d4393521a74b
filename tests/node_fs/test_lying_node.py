"""A node that lies: its answers are bounded by what was asked, its names are names, and no lie breaks the server."""

import asyncio
import base64
import contextlib
import json
import logging
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from worldfs.base.errors import WorldError
from worldfs.plugins.node_fs.fs_server import FRAME_MAX
from worldfs.plugins.node_fs.remote_fs import UNANSWERED
from worldfs.plugins.node_fs.tunnel_hub import TunnelHub
from worldfs.testing.export_server import TOKEN, run, websocket_server
from worldfs.testing.waiting import PATIENCE_S

ROOT, FILE, BIG = 1, 7, 8
ATTR = {"id": FILE, "k": 1, "m": 0o100644, "n": 1, "u": 0, "g": 0, "sz": 5, "at": 0, "mt": 0, "ct": 0, "gen": 1}
FOLDER = {**ATTR, "id": ROOT, "k": 2, "m": 0o40755}


def honest(frame):
    """The answers of a node with one export `work` that holds one file of five bytes."""
    asked = frame.get("payload") or {}
    match frame["type"].removeprefix("acheron.t_fs_"):
        case "hello":
            return {"protocol": "unified-v2-fs", "proto": 2, "node": {}, "caps": {}}
        case "exports":
            return {"exports": [{"name": "work", "root": ROOT, "ro": False}]}
        case "getattr":
            return {"attr": FOLDER if frame["node"] == ROOT else ATTR}
        case "lookup":
            return {"attr": ATTR}
        case "readdirp":
            return {"ents": [{"name": "five", "attr": ATTR}], "next": 1, "eof": True, "dir_gen": 1}
        case "open" | "create":
            return {"h": 3, "attr": ATTR, "caps": {}, "gen": 1}
        case "read":
            return {"data_b64": packed(b"hello"[asked["off"] :][: asked["len"]]), "eof": True}
        case "write":
            return {"n": len(base64.b64decode(asked["data_b64"]))}
    return {}


def packed(data):
    return base64.b64encode(data).decode()


class Liar:
    """A node's side of a tunnel that says what `lies` has for an operation, and the truth for the others."""

    def __init__(self, lies):
        self.lies, self.asked = lies, []

    async def run(self, wire):
        with contextlib.suppress(ConnectionClosed):
            while True:
                frame = json.loads(await wire.recv())
                op = frame["type"].removeprefix("acheron.t_fs_")
                if not frame["type"].startswith("acheron.t_"):
                    continue
                self.asked.append((op, frame))
                lie = self.lies.get(op)
                said = lie(frame) if callable(lie) else honest(frame) if lie is None else lie
                if isinstance(said, bytes):  # no frame at all
                    await wire.send(said.replace(b"TAG", str(frame["tag"]).encode()), text=True)
                    continue
                reply = {"channel": "acheron", "type": f"acheron.r_fs_{op}", "tag": frame["tag"], "ok": True}
                await wire.send(json.dumps({**reply, "payload": said}))


@contextlib.asynccontextmanager
async def lied_to(limit=PATIENCE_S, patience=PATIENCE_S, **lies):
    """The exports of such a node as the tree has them, the liar, and the hub."""

    class Keeper:
        def node_secret_valid(self, node_id, secret):
            return (node_id, secret) == ("edge", TOKEN)

    hub, liar = TunnelHub(Keeper(), limit=limit, patience=patience), Liar(lies)
    async with (
        websocket_server(hub.serve_tunnel) as url,
        connect(f"{url}/v2/node", max_size=FRAME_MAX, compression=None) as wire,
    ):
        hello = {"protocol": "unified-v2-fs", "proto": 2, "node_id": "edge", "node_secret": TOKEN}
        await wire.send(json.dumps({"channel": "acheron", "type": "acheron.t_fs_hello", "tag": 1, "payload": hello}))
        await wire.recv()
        task = asyncio.create_task(liar.run(wire))
        while hub.mounted("edge") is None:
            await asyncio.sleep(0.005)
        try:
            yield hub.mounted("edge"), liar, hub
        finally:
            task.cancel()
            await hub.close()


def asked(work):
    return asyncio.to_thread(work)


async def refused(work):
    """The error that it raises, which must be one of the house's."""
    with pytest.raises(WorldError) as caught:
        await asked(work)
    return caught.value


def test_a_read_is_bounded_by_the_size_that_is_known_and_by_what_was_asked():
    async def case():
        flood = {"data_b64": packed(b"x" * (2 << 20)), "eof": False}
        async with lied_to(read=flood) as (exports, liar, hub):
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(20):
                error = await refused(lambda: exports.read("work/five"))
                assert error.code == "runtime_unavailable"
                assert "more than the 5 bytes that were asked for" in error.found
            kept = tracemalloc.get_traced_memory()[0] - before
            tracemalloc.stop()
            reads = [frame["payload"] for op, frame in liar.asked if op == "read"]
            assert reads == [{"off": 0, "len": 5}] * 20, "one question an access, for what the file holds"
            assert sum(op == "close" for op, _ in liar.asked) == 20
            assert kept < 4 << 20, f"{kept} bytes are not given back"
            assert hub.malformed == 20

    run(case())


def test_a_file_without_an_end_is_read_as_far_as_its_size():
    async def case():
        def endless(frame):
            return {"data_b64": packed(b"x" * frame["payload"]["len"]), "eof": False}

        async with lied_to(read=endless) as (exports, liar, _):
            assert await asked(lambda: exports.read("work/five")) == b"xxxxx"
            assert await asked(lambda: exports.read("work/five", 2)) == b"xxx"
            assert sum(op == "read" for op, _ in liar.asked) == 2
        unknown = {"attr": {**ATTR, "sz": 0}}
        async with lied_to(read=endless, lookup=unknown) as (exports, _, _):
            assert len(await asked(lambda: exports.read("work/five"))) == 1 << 20

    run(case())


def test_a_silent_node_does_not_get_every_thread():
    async def case():
        silent = b'{"channel":"acheron","type":"acheron.e_fs_inval","payload":{"node":1,"what":"all"}}'
        async with lied_to(patience=0, read=silent) as (exports, liar, hub):
            with ThreadPoolExecutor(UNANSWERED) as threads:
                waiting = [threads.submit(exports.read, "work/five") for _ in range(UNANSWERED)]
                while sum(op == "read" for op, _ in liar.asked) < UNANSWERED:
                    await asyncio.sleep(0.005)
                error = await refused(lambda: exports.stat("work"))
                assert error.code == "runtime_unavailable" and "unanswered" in error.found
                liar.lies.clear()
                await hub.drop("edge")
                for one in waiting:
                    with pytest.raises(WorldError):
                        await asyncio.to_thread(one.result)

    run(case())


def test_a_listing_without_an_end_ends():
    async def case():
        def endless(frame):
            return {
                "ents": [{"name": f"f{frame['payload']['cookie']}", "attr": ATTR}],
                "next": frame["payload"]["cookie"] + 1,
                "eof": False,
            }

        async with lied_to(readdirp=endless) as (exports, liar, _):
            error = await refused(lambda: exports.list("work"))
            assert "more than" in error.found
            assert len(liar.asked) < 5_000
        same = {"ents": [{"name": "five", "attr": ATTR}], "next": 1, "eof": False}
        async with lied_to(readdirp=same) as (exports, liar, _):
            assert await asked(lambda: exports.list("work")) == ["five"]
        page = {"ents": [{"name": f"f{n}", "attr": ATTR} for n in range(2_000)], "next": 2_000, "eof": True}
        async with lied_to(readdirp=page) as (exports, _, _):
            assert await asked(lambda: exports.list("work")) == []  # as of a node that does not answer

    run(case())


BAD_NAMES = ("../../etc/passwd", "a/b", "..", ".", "", "nul\0", "x\ny", "\x1b[2J", "n" * 5_000, "é" * 200, None, 5, [])


def test_a_name_is_one_component_or_is_dropped_and_counted(caplog):
    async def case():
        ents = [{"name": name, "attr": ATTR} for name in (*BAD_NAMES, "good", "gut é")]
        async with lied_to(readdirp={"ents": ents, "next": 99, "eof": True}) as (exports, _, hub):
            for _ in range(3):
                assert await asked(lambda: exports.list("work")) == ["good", "gut é"]
            assert hub.malformed == 3
        rows = [{"name": name, "root": ROOT, "ro": True} for name in (*BAD_NAMES, "work")]
        async with lied_to(exports={"exports": rows}) as (exports, _, hub):
            assert await asked(lambda: exports.list("")) == ["work"]

    with caplog.at_level(logging.WARNING):
        run(case())
    told = [record for record in caplog.records if record.name == "worldfs.plugins.node_fs"]
    assert len(told) == 2, "once for each node of each hub"
    assert "../../etc/passwd" in told[0].getMessage() and "\n" not in told[0].getMessage()


@pytest.mark.parametrize(
    "attr",
    [None, {}, [], {**ATTR, "sz": -5}, {**ATTR, "sz": 2**63}, {**ATTR, "sz": "5"}, {**ATTR, "sz": True},
     {**ATTR, "k": 9}, {**ATTR, "id": 1.5}, {**ATTR, "m": None}],
)  # fmt: skip
def test_attributes_of_no_file_never_reach_a_stat(attr):
    async def case():
        ents = [{"name": "odd", "attr": attr}, {"name": "five", "attr": ATTR}]
        page = {"ents": ents, "next": 2, "eof": True}
        async with lied_to(lookup={"attr": attr}, readdirp=page) as (exports, _, hub):
            assert (await refused(lambda: exports.lookup("work/five"))).code == "runtime_unavailable"
            assert await asked(lambda: exports.dir_entry("work/five")) is None
            assert await asked(lambda: exports.list("work")) == ["five"]
            assert hub.malformed == 3

    run(case())


def test_words_of_a_node_are_cut_and_hold_no_terminal_escapes():
    async def case():
        words = (
            b'{"channel":"acheron","type":"acheron.err_fs","tag":TAG,"ok":false,"error":{"errno":%s,"message":"%s"}}'
        )
        async with lied_to(lookup=words % (b"-7", b"\\u001b[2Jgone" + b"x" * 9_000)) as (exports, _, _):
            error = await refused(lambda: exports.read("work/five"))
            assert len(error.found) <= 500 and "\x1b" not in error.found

    run(case())


# No Infinity: what is no JSON has no tag, so each question would wait for its limit, and then the tunnel is given up.
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=12)
FLAT = SCALARS | st.lists(SCALARS, max_size=3)
JSON = FLAT | st.lists(st.dictionaries(st.text(max_size=6), FLAT, max_size=3), max_size=3)
KEYS = ("exports", "attr", "ents", "next", "eof", "h", "data_b64", "n", "name", "root", "sz", "id", "k")
PAYLOADS = JSON | st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6)
RAW = st.sampled_from(
    [
        b'{"channel":"acheron","type":"acheron.r_fs_X","tag":TAG,"fid":-1,"ok":true,"payload":{}}',
        b'{"channel":"acheron","type":"acheron.r_fs_X","tag":TAG,"ok":true,"payload":{"h":1e999}}',
        b'{"channel":"acheron","type":"acheron.err_fs","tag":TAG,"ok":false,"error":{"errno":[],"message":{}}}',
        b'{"channel":"acheron","type":"acheron.err_fs","tag":TAG,"ok":false}',
        b'{"channel":"control","type":"control.pong","tag":TAG}',
    ]
)  # fmt: skip
OPS = ("exports", "getattr", "lookup", "readdirp", "open", "read", "write", "create", "close", "rename")
LIES = st.dictionaries(st.sampled_from(OPS), PAYLOADS | RAW, min_size=1, max_size=4)


def survives(lies, caplog):
    async def case():
        said = {
            op: lie.replace(b"r_fs_X", b"r_fs_" + op.encode()) if isinstance(lie, bytes) else lambda _, lie=lie: lie
            for op, lie in lies.items()
        }
        async with lied_to(limit=0.5, **said) as (exports, _, hub):
            for work in (
                lambda: exports.list(""),
                lambda: exports.list("work"),
                lambda: exports.dir_entry("work/five"),
                lambda: exports.read("work/five"),
                lambda: exports.write("work/five", b"data"),
                lambda: exports.replace("work/five", b"data"),
                lambda: exports.create("work/new"),
                lambda: exports.remove("work/five"),
                lambda: exports.statfs("work"),
                exports.services,
            ):
                with contextlib.suppress(WorldError):
                    await asked(work)
            assert hub.mounted("edge") is not None, "the tunnel itself stays"

    caplog.clear()
    with caplog.at_level(logging.WARNING):
        run(case())
    assert len([record for record in caplog.records if record.name.startswith("worldfs")]) <= 1, caplog.text


SLICE = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@SLICE
@given(lies=LIES)
def test_no_answer_of_a_node_breaks_anything(caplog, lies):
    survives(lies, caplog)


@pytest.mark.proof
@settings(SLICE, max_examples=2_000)
@given(lies=LIES)
def test_no_answer_of_a_node_breaks_anything_for_long(caplog, lies):
    survives(lies, caplog)
