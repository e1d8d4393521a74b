"""Anything at all as a frame: an answer with a code, the connection and the server stay up."""

import asyncio
import json
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldfs.access.principal import Principal
from worldfs.access.tokens import TokenStore
from worldfs.control.control_operations import ROWS
from worldfs.interfaces.acheron.frame_types import KNOWN
from worldfs.interfaces.acheron.peer import ClientPeer
from worldfs.interfaces.acheron.server import Server
from worldfs.testing.served_tree import ServedRealm
from worldfs.testing.waiting import soon
from worldfs.tree.verb_values import Wait, Written

SLICE = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
LONG = settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))

NAMES = st.sampled_from(
    [
        "main",
        "alice",
        "mother",
        "self",
        "system",
        "proj-1",
        "node-1",
        "inv-1",
        "..",
        "",
        "a/b",
        "\0",
        "é" * 40,
        "x" * 300,
    ]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2, 2**65), st.floats(allow_nan=False), NAMES, st.text())
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))
KEYS = st.sampled_from(
    ["protocol", "role", "agent_id", "session_key", "project_id", "project_token", "limit", "heartbeat", "node_id",
     "node_secret", "node_name", "invite_token", "request_id", "lease_ttl_ms", "expires_in_ms", "fs_url", "platform",
     "labels", "services", "name", "vision", "status", "access_policy", "mounts", "desired_mounts", "mount_path",
     "export_name", "activate", "replay_limit", "operator_token"]
)  # fmt: skip
PAYLOADS = st.dictionaries(KEYS, VALUES, max_size=6) | VALUES
NUMBERS = st.integers(-1, 6) | st.sampled_from([2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**64])
FIELDS = st.fixed_dictionaries(
    {"channel": st.sampled_from(["acheron", "control", "x", 5]), "type": st.sampled_from(sorted(KNOWN)) | SCALARS},
    optional={
        "id": NAMES | SCALARS,
        "tag": NUMBERS | SCALARS,
        "oldtag": NUMBERS,
        "fid": NUMBERS | SCALARS,
        "newfid": NUMBERS,
        "count": NUMBERS,
        "offset": NUMBERS,
        "msize": NUMBERS,
        "wait_ms": NUMBERS,
        "mode": NAMES,
        "version": st.sampled_from(["acheron-1", "x", 1]),
        "path": st.lists(NAMES | st.sampled_from(["wait", "README.md", "control", "heavy", "f", ".."]), max_size=4)
        | SCALARS,
        "data": st.text() | SCALARS,
        "data_b64": st.sampled_from(["", "eA==", "*", "e"]) | SCALARS,
        "payload": PAYLOADS,
        "session_key": NAMES,
        "correlation_id": NAMES,
    },
)
WELL = st.builds(
    lambda op, fields: {**fields, "channel": "acheron", "type": f"acheron.t_{op}"},
    st.sampled_from(["attach", "walk", "open", "read", "write", "stat", "clunk", "flush"]),
    FIELDS,
)
CONTROL = st.builds(
    lambda op, payload, id: {"channel": "control", "type": f"control.{op}", "id": id, "payload": payload},
    st.sampled_from(sorted(ROWS)),
    st.dictionaries(KEYS, VALUES, max_size=6),
    NAMES,
)
TEXT = st.binary(max_size=200) | st.builds(
    lambda frame, cut: json.dumps(frame).encode()[:cut], FIELDS | WELL | CONTROL, st.integers(0, 4000)
)
GREETING = (
    b'{"channel":"control","type":"control.version","payload":{"protocol":"unified-v2"}}',
    b'{"channel":"acheron","type":"acheron.t_version","tag":0,"version":"acheron-1"}',
    b'{"channel":"acheron","type":"acheron.t_attach","tag":0,"fid":1}',
)


class Wire:
    """A line that goes nowhere."""

    def __init__(self):
        self.sent, self.congested, self.closed, self.batch = [], False, None, 0

    def send(self, message):
        self.sent.append(json.loads(message))

    def close(self, code=1000, reason=""):
        self.closed = code

    def cork(self): ...
    def uncork(self): ...
    def pause(self): ...
    def resume(self): ...


def furnish(tree):
    tree.files.update({"/wait": b"w", "/control": b"", "/heavy/f": b"h"})
    tree.closed.add("/wait")
    tree.heavy.add("/heavy")
    tree.controls["/control"] = lambda data: Written(len(data), {"job": "job-1"}, Wait(("/job",), bool, 0.01))


def survives(home, role, messages, caplog):
    async def life():
        realm = ServedRealm(home)
        furnish(realm.tree)
        server = Server(realm, TokenStore.open(None))
        wire = Wire()
        peer = ClientPeer(server, wire, Principal(role))
        for message in (*GREETING, *messages):
            peer.on_message(message)
        await soon(lambda: peer._busy is None and not peer._queue, "a request never ended")
        heard = len(wire.sent)
        if wire.closed is None:
            peer.on_message(b'{"channel":"control","type":"control.ping","id":"still there"}')
            assert any(frame.get("id") == "still there" for frame in wire.sent[heard:])
        peer.on_closed()
        await soon(lambda: not server.waiters.waiting, "a wait outlived its connection")
        await server.stop()
        realm.close()
        return wire

    caplog.clear()
    wire = asyncio.run(life())
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR], caplog.text
    for frame in wire.sent:
        if frame.get("ok") is False:
            assert set(frame["error"]) <= {"code", "message", "correlation_id"}
            assert frame["error"]["code"] != "execution_failed", frame


@SLICE
@given(messages=st.lists(TEXT | st.builds(lambda frame: json.dumps(frame).encode(), FIELDS | WELL), max_size=12))
def test_any_frame_is_survived(tmp_path_factory, caplog, messages):
    survives(tmp_path_factory.mktemp("home"), "admin", messages, caplog)


@SLICE
@given(
    role=st.sampled_from(["admin", "user", "node"]),
    messages=st.lists(st.builds(lambda frame: json.dumps(frame).encode(), CONTROL), max_size=8),
)
def test_any_payload_of_any_control_operation_is_survived(tmp_path_factory, caplog, role, messages):
    survives(tmp_path_factory.mktemp("home"), role, messages, caplog)


@pytest.mark.proof
@LONG
@given(
    role=st.sampled_from(["admin", "user", "node"]),
    messages=st.lists(
        TEXT | st.builds(lambda frame: json.dumps(frame).encode(), FIELDS | WELL | CONTROL), min_size=1, max_size=40
    ),
)
def test_any_frame_is_survived_for_long(tmp_path_factory, caplog, role, messages):
    survives(tmp_path_factory.mktemp("home"), role, messages, caplog)
