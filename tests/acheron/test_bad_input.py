"""Bad input over the socket: an error with the recorded code; the connection and the server stay up.

Where the protocol says that the connection ends (a wrong first message, a frame beyond 4 MiB), it ends, and only it.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from worldfs.formats.wire import frames
from worldfs.testing.waiting import PATIENCE_S, until

from .stand import Json, Served, Wire, served
from .test_attacks import code

INPUT = "/agents/self/chat/control/input"
MEMORY = "/agents/self/memory"
WAIT, NEXT = "/agents/self/events/control/wait.json", "/agents/self/events/next.json"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("bad") / "home") as found:
        with found.wire() as admin:
            admin.done("version", {"protocol": "unified-v2"})
            admin.done("project_create", {"name": "Demo"})
        yield found


@pytest.fixture
def wire(server: Served) -> Iterator[Wire]:
    with server.wire() as found:
        yield found.greet("alice", "proj-1")
        assert server.alive()


def still_there(wire: Wire) -> bool:
    return wire.done("ping") == {} and wire.json("/meta/protocol.json")["version"] == "acheron-1"


@pytest.mark.parametrize(
    "first",
    [
        {"channel": "control", "type": "control.connect", "id": "1", "payload": {}},
        {"channel": "control", "type": "control.ping", "id": "1", "payload": {}},
        {"channel": "control", "type": "control.version", "id": "1", "payload": {"protocol": "unified-v1"}},
        {"channel": "control", "type": "control.version", "id": "1", "payload": {}},
        {"channel": "acheron", "type": "acheron.t_attach", "tag": 1, "fid": 1},
        {"channel": "acheron", "type": "acheron.t_read", "tag": 1, "fid": 1},
        {"channel": "acheron", "type": "acheron.t_version", "tag": 1, "version": "acheron-2", "msize": 65536},
    ],
)
def test_a_wrong_first_message_is_told_and_ends_the_connection(server: Served, first: Json) -> None:
    with server.wire() as wire:
        assert code(wire.ask(first)) == "protocol_mismatch"
        assert wire.ended()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "SyntaxError"),
        ("{", "SyntaxError"),
        ("not json", "SyntaxError"),
        ("{}{}", "SyntaxError"),
        ('{"channel":"control","type":"control.ping","payload":{"a":}}', "SyntaxError"),
        ("[" * 100_000, "SyntaxError"),
        ("[]", "InvalidType"),
        ("null", "InvalidType"),
        ("5", "InvalidType"),
        ("{}", "MissingField"),
        ('{"channel":"control"}', "MissingField"),
        ('{"type":"control.ping"}', "MissingField"),
        ('{"channel":5,"type":"control.ping"}', "InvalidType"),
        ('{"channel":"control","type":"control.ping","id":7}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_stat","tag":-1}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_stat","tag":4294967296}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_stat","tag":1.5}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_stat","tag":true}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_read","fid":1,"offset":-1}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_walk","fid":1,"newfid":2,"path":"a/b"}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_walk","fid":1,"newfid":2,"path":[1]}', "InvalidType"),
        ('{"channel":"acheron","type":"control.ping"}', "UnsupportedType"),
        ('{"channel":"control","type":"acheron.t_stat"}', "UnsupportedType"),
        ('{"channel":"other","type":"other.x"}', "UnsupportedType"),
        ('{"channel":"control","type":"control.bogus"}', "UnsupportedType"),
        ('{"channel":"acheron","type":"acheron.t_bogus"}', "UnsupportedType"),
        ('{"channel":"acheron","type":"acheron.t_write","fid":1,"data_b64":"!!!"}', "InvalidBase64"),
        ('{"channel":"acheron","type":"acheron.t_write","fid":1,"data_b64":"YQ"}', "InvalidBase64"),
    ],
)
def test_a_frame_that_says_nothing_is_an_invalid_envelope_without_an_id(wire: Wire, text: str, word: str) -> None:
    wire.say(text)
    found = wire.hear()
    assert found["type"] == "control.error" and "id" not in found
    assert (found["error"]["code"], found["error"]["message"]) == ("invalid_envelope", word)
    assert still_there(wire)


def test_bytes_that_are_no_text_do_no_harm(server: Served, wire: Wire) -> None:
    with server.wire() as other:
        other.say(b"\xff\xfe\x00")
        try:
            found = other.hear(5)
            assert found["error"]["code"] == "invalid_envelope"
        except Exception as error:  # the WebSocket protocol may end it (1003, 1007)
            assert "10" in str(error)
    assert still_there(wire)


def test_control_payloads_of_the_wrong_kind_are_refused_with_the_id(wire: Wire) -> None:
    for payload in ("text", 5, [], [1], True):
        found = wire.ask({"channel": "control", "type": "control.node_get", "id": "p", "payload": payload})
        assert code(found) in ("invalid_envelope", "invalid_payload"), payload
    assert still_there(wire)


def test_a_frame_over_the_msize_is_answered_with_its_tag(wire: Wire) -> None:
    big = "A" * (2**20 + 100_000)
    found = wire.ask({"channel": "acheron", "type": "acheron.t_write", "tag": 77, "fid": 1, "data_b64": big})
    assert (found["tag"], code(found), found["error"]["message"]) == (77, "invalid", "frame exceeds msize")
    found = wire.ask({"channel": "control", "type": "control.ping", "id": "big", "payload": {"x": big}})
    assert (code(found), found["error"]["message"]) == ("invalid_envelope", "FrameTooLarge")
    assert still_there(wire)


@pytest.mark.parametrize("kib", [300, 700])
def test_frames_that_killed_the_reference_are_taken(wire: Wire, kib: int) -> None:
    text = "x" * (kib * 1024 * 3 // 4)
    found = wire.write(f"{MEMORY}/control/create.json", {"kind": "note", "name": f"big{kib}", "content": text})
    assert found["n"] > len(text)
    assert wire.json(f"{MEMORY}/status.json")["state"] == "done"
    assert len(wire.read(f"{MEMORY}/control/create.json")) == found["n"]


def test_a_frame_beyond_four_mebibytes_ends_its_connection_only(server: Served, wire: Wire) -> None:
    with server.wire() as other:
        with suppress(Exception):  # it may end while we still send
            other.say("A" * (5 * 2**20))
        assert other.ended()
    assert still_there(wire)


@pytest.mark.parametrize("msize", [0, 1, 8191])
def test_an_msize_too_small_to_be_of_use_is_refused(wire: Wire, msize: int) -> None:
    assert code(wire.acheron("t_version", msize=msize, version="acheron-1")) == "invalid"
    assert wire.acheron("t_version", msize=2**32 - 1, version="acheron-1")["payload"]["msize"] == 1_048_576
    assert still_there(wire)


def test_read_replies_fit_the_msize(wire: Wire) -> None:
    assert wire.acheron("t_version", msize=8192, version="acheron-1")["ok"]
    wire.walk("/agents/self/services/SCHEMA.json", fid=9)
    wire.say({"channel": "acheron", "type": "acheron.t_read", "tag": 5, "fid": 9, "count": 2**32 - 1})
    assert len(str(wire.socket.recv(10))) <= 8192


def test_fids_that_nobody_gave_are_unknown(wire: Wire) -> None:
    for op, more in (
        ("t_walk", {"newfid": 3, "path": []}),
        ("t_open", {}),
        ("t_read", {}),
        ("t_write", {"data": "x"}),
        ("t_stat", {}),
    ):
        for fid in (0, 999, 2**32 - 1):
            found = wire.acheron(op, fid=fid, **more)
            assert (code(found), found["error"]["message"]) == ("enoent", "unknown fid"), op
    assert wire.acheron("t_clunk", fid=999)["ok"] and wire.acheron("t_clunk", fid=999)["ok"]
    for op in ("t_attach", "t_walk", "t_stat", "t_read", "t_open"):
        assert code(wire.acheron(op)) in ("invalid", "enoent"), op
    assert still_there(wire)


def test_a_tag_that_is_in_use_is_refused_and_the_first_goes_on(wire: Wire) -> None:
    wire.write(WAIT, {"paths": [INPUT], "timeout_ms": 30_000})
    wire.walk(NEXT, fid=20)
    wire.say({"channel": "acheron", "type": "acheron.t_read", "tag": 500, "fid": 20, "offset": 0})
    assert wire.silent(0.1)
    found = wire.ask({"channel": "acheron", "type": "acheron.t_stat", "tag": 500, "fid": 1})
    assert code(found) == "invalid"
    wire.say({"channel": "acheron", "type": "acheron.t_flush", "tag": 501, "oldtag": 500})
    heard = [wire.hear(), wire.hear()]
    assert {found["tag"]: code(found) for found in heard} == {500: "eintr", 501: ""}
    assert wire.acheron("t_stat", fid=1)["ok"]


def test_two_blocked_reads_and_a_ping_share_a_connection(wire: Wire) -> None:
    wire.write(WAIT, {"paths": [INPUT], "timeout_ms": 30_000})
    for tag, fid in ((600, 30), (601, 31)):
        wire.walk(NEXT, fid=fid)
        wire.say({"channel": "acheron", "type": "acheron.t_read", "tag": tag, "fid": fid, "offset": 0})
    assert still_there(wire)  # while both wait, which they do for 30 s
    for fid in (30, 31):
        wire.acheron("t_clunk", fid=fid)
    answers = [found for found in wire.pushed if found.get("tag") in (600, 601)]
    while len(answers) < 2:
        answers += [found for found in (wire.hear(),) if found.get("tag") in (600, 601)]
    assert sorted(found["tag"] for found in answers) == [600, 601]
    assert still_there(wire)


def test_wait_ms_zero_never_waits_and_a_short_one_ends_in_time(wire: Wire) -> None:
    wire.write(WAIT, {"paths": [INPUT], "timeout_ms": 30_000})
    began = time.monotonic()
    assert wire.json(NEXT, wait_ms=0)["waiting"] is True
    assert wire.json(NEXT, wait_ms=200)["timeout"] is True
    assert time.monotonic() - began > 0.15


def test_a_payload_split_over_two_writes_is_two_actions(wire: Wire) -> None:
    whole = json.dumps({"query": "something"}).encode()
    path = f"{MEMORY}/control/search.json"
    for piece, offset in ((whole[:7], 0), (whole[7:], 7)):
        assert wire.walk(path)["ok"]
        found = wire.acheron("t_write", fid=7, offset=offset, data_b64=frames.encode_base64(piece))
        assert code(found) == "invalid"
    assert wire.write(path, whole, offset=3)["n"] == len(whole)


def test_writes_out_of_range_or_without_data_are_refused(wire: Wire) -> None:
    wire.walk(INPUT)
    assert code(wire.acheron("t_write", fid=7)) == "invalid"
    assert code(wire.acheron("t_write", fid=1, data="x")) == "eisdir"
    assert wire.acheron("t_read", fid=7, offset=2**63, count=10)["payload"] == {"data_b64": "", "n": 0, "eof": True}
    assert wire.acheron("t_read", fid=1, offset=2**64 - 1, count=2**32 - 1)["payload"]["n"] == 0
    assert still_there(wire)


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "[]",
        "x",
        "{}",
        '{"paths":[]}',
        '{"paths":["/nodes"]}',
        '{"paths":[5]}',
        '{"paths":"x"}',
        '{"paths":["/agents/self/chat/control/input"],"timeout_ms":-1}',
        '{"paths":["/agents/self/chat/control/input"],"timeout_ms":"x"}',
        '{"paths":["/agents/self/chat/control/input"],"timeout_ms":1e400}',
        '{"paths":["/agents/self/chat/control/input"],"kind":"everything"}',
        '{"paths":["/agents/self/chat/control/input"],"since":[]}',
        '{"paths":["../../etc/passwd"],"kind":"changes"}',
    ],
)
def test_a_selector_that_selects_nothing_is_refused_and_the_old_one_stays(wire: Wire, payload: str) -> None:
    wire.write(WAIT, {"paths": [INPUT], "timeout_ms": 1})
    before = wire.read(WAIT)
    if payload:
        assert wire.code(WAIT, payload) in ("invalid", "enoent")
        assert wire.read(WAIT) == before
    else:
        wire.write(WAIT, payload)
        assert wire.json(NEXT) == {"configured": False, "waiting": False, "error": "wait_not_configured"}


@pytest.mark.parametrize("name", ["ALL", "a..b", "-x", "self"])
def test_a_name_that_no_agent_may_have_is_told_what_one_looks_like(wire: Wire, name: str) -> None:
    error = wire.control("agent_ensure", {"agent_id": name})["error"]
    assert error["code"] == "invalid_payload" and repr(name) in error["message"] and "expected" in error["message"]


def test_ten_thousand_invites_are_made_and_counted(server: Served, wire: Wire) -> None:
    """Pipelined: as fast as one client can ask. None is lost, and the server answers others meanwhile."""
    count = 10_000 if os.environ.get("PAOS_LONG_TESTS") else 1_000
    before = wire.done("metrics")["invites"]["created_total"]
    for at in range(count):
        wire.say({"channel": "control", "type": "control.node_invite_create", "id": f"i{at}", "payload": {}})
        if at % 100 == 99:
            tokens = [wire.hear()["payload"]["invite_token"] for _ in range(100)]
            assert len(set(tokens)) == 100
    assert wire.done("metrics")["invites"]["created_total"] == before + count
    with server.wire() as other:
        assert still_there(other.greet())


def test_an_expired_lease_is_refreshed_and_a_made_up_one_is_not(wire: Wire) -> None:
    invite = wire.done("node_invite_create")["invite_token"]
    joined = wire.done("node_join", {"invite_token": invite, "node_name": "n", "lease_ttl_ms": 1})
    node, secret = joined["node_id"], joined["node_secret"]
    until(lambda: wire.json(f"/nodes/{node}/STATUS.json")["state"] == "degraded")
    assert code(wire.control("node_lease_refresh", {"node_id": node, "node_secret": "secret-x"})) == "node_auth_failed"
    again = wire.done("node_lease_refresh", {"node_id": node, "node_secret": secret, "lease_ttl_ms": 600_000})
    assert again["lease_token"] != joined["lease_token"]
    assert wire.json(f"/nodes/{node}/STATUS.json")["state"] == "online"
    for ttl in (-1, "x", 1e300, None, []):
        found = wire.control("node_lease_refresh", {"node_id": node, "node_secret": secret, "lease_ttl_ms": ttl})
        assert found["ok"] or code(found) == "invalid_payload", ttl


def test_a_megabyte_of_help_is_refused_or_served_whole(wire: Wire) -> None:
    invite = wire.done("node_invite_create")["invite_token"]
    joined = wire.done("node_join", {"invite_token": invite})
    node, secret = joined["node_id"], joined["node_secret"]
    text = "# Help\n" + "y" * 900_000
    service = {"service_id": "s", "kind": "s", "state": "online", "endpoints": [f"/nodes/{node}/s"], "help_md": text}
    found = wire.control("node_service_upsert", {"node_id": node, "node_secret": secret, "services": [service]})
    if found["ok"]:
        assert wire.read(f"/nodes/{node}/services/s/README.md").decode() == text
    else:
        assert code(found) == "invalid_payload"
    assert still_there(wire)


# --- clients that are slow, or gone


def test_a_client_that_vanishes_while_it_waits_leaves_nothing_behind(server: Served, wire: Wire) -> None:
    def handles() -> int:
        return len(os.listdir(f"/proc/{server.process.pid}/fd"))

    assert still_there(wire)
    before = handles()
    for _ in range(50):
        other = server.wire().greet("alice", "proj-1")
        other.write(WAIT, {"paths": [INPUT], "timeout_ms": 600_000})
        other.walk(NEXT)
        other.say({"channel": "acheron", "type": "acheron.t_read", "tag": 9, "fid": 7, "offset": 0})
        other.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        other.socket.socket.close()
        with suppress(OSError):
            other.close()
    assert still_there(wire)
    until(lambda: handles() <= before + 10)  # an agent's directory may have been opened meanwhile; not one a client


def test_a_client_that_reads_nothing_delays_nobody(server: Served, wire: Wire) -> None:
    """It asks for much and takes nothing: the server must stop reading from it, not keep the answers."""
    before = _memory_kib(server)
    raw = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])))
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    _upgrade(raw, server.admin)
    asked = [
        {"channel": "control", "type": "control.version", "id": "1", "payload": {"protocol": "unified-v2"}},
        {"channel": "acheron", "type": "acheron.t_version", "tag": 1, "version": "acheron-1"},
        {"channel": "acheron", "type": "acheron.t_attach", "tag": 1, "fid": 1},
        {"channel": "acheron", "type": "acheron.t_walk", "tag": 1, "fid": 1, "newfid": 2, "path": ["README.md"]},
    ]
    for frame in asked:
        raw.sendall(_masked(json.dumps(frame).encode()))
    read = _masked(json.dumps({"channel": "acheron", "type": "acheron.t_read", "tag": 2, "fid": 2}).encode()) * 100

    def flood() -> None:
        with suppress(OSError):  # it does not take more, as it should, until we hang up
            for _ in range(2000):
                raw.sendall(read)

    flooding = threading.Thread(target=flood)
    flooding.start()
    for _ in range(50):
        assert still_there(wire)
    assert flooding.is_alive(), "requests of others wait for a turn, not for a flood"
    assert _memory_kib(server) - before < 64 * 1024
    raw.shutdown(socket.SHUT_RDWR)
    flooding.join(PATIENCE_S)
    raw.close()
    assert not flooding.is_alive() and still_there(wire)


def _memory_kib(server: Served) -> int:
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0])


def _upgrade(raw: socket.socket, token: str) -> None:
    lines = (
        "GET / HTTP/1.1",
        "Host: 127.0.0.1",
        "upgrade: websocket",
        "CONNECTION: Upgrade",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        f"authorization: Bearer {token}",
        "",
        "",
    )
    raw.sendall("\r\n".join(lines).encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += raw.recv(1)
    assert head.startswith(b"HTTP/1.1 101"), head


def _masked(payload: bytes, opcode: int = 1, final: bool = True, mask: bool = True) -> bytes:
    head = bytes([(0x80 if final else 0) | opcode])
    size, bit = len(payload), 0x80 if mask else 0
    head += bytes([bit | size]) if size < 126 else bytes([bit | 126]) + struct.pack(">H", size)
    return head + (bytes(4) if mask else b"") + payload


def _next(raw: socket.socket) -> tuple[int, bytes]:
    """One frame of a server: its opcode and payload."""
    raw.settimeout(PATIENCE_S)
    head = _exactly(raw, 2)
    size = head[1] & 0x7F
    if size == 126:
        size = struct.unpack(">H", _exactly(raw, 2))[0]
    elif size == 127:
        size = struct.unpack(">Q", _exactly(raw, 8))[0]
    return head[0] & 0x0F, _exactly(raw, size)


def _exactly(raw: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = raw.recv(count - len(data))
        if not piece:
            return data.ljust(count, b"\0")
        data += piece
    return data


def test_headers_in_any_case_and_continuation_frames_are_taken_and_a_ping_is_answered(server: Served) -> None:
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as raw:
        _upgrade(raw, server.admin)
        text = b'{"channel":"control","type":"control.version","id":"1","payload":{"protocol":"unified-v2"}}'
        raw.sendall(_masked(text[:20], 1, final=False) + _masked(b"hi", 9) + _masked(text[20:], 0))
        seen = dict([_next(raw), _next(raw)])
        assert seen[10] == b"hi"
        assert json.loads(seen[1])["type"] == "control.version_ack"


def test_an_unmasked_frame_ends_the_connection_with_1002(server: Served, wire: Wire) -> None:
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as raw:
        _upgrade(raw, server.admin)
        raw.sendall(_masked(b'{"channel":"control","type":"control.ping"}', mask=False))
        opcode, payload = _next(raw)
        assert opcode == 8 and struct.unpack(">H", payload[:2])[0] == 1002
    assert still_there(wire)


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 70_000 + b"\r\n\r\n",
        b"\r\n\r\n",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ],
)
def test_what_is_no_upgrade_is_refused_and_let_go(server: Served, wire: Wire, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as raw:
        raw.settimeout(PATIENCE_S)
        try:
            raw.sendall(head)
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(65536):
                pass
        except ConnectionError:
            pass
    assert still_there(wire)


def test_another_path_gets_one_error_frame_and_the_end(server: Served) -> None:
    with server.wire(path="/nowhere") as wire:
        found = wire.hear()
        assert found["type"].endswith("error") or found["type"].endswith("err_fs"), found
        assert wire.ended()
