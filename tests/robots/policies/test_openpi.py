"""openpi's WebSocket, against a server made as openpi's is, and each way of failing."""

import threading
import time
import traceback
from contextlib import contextmanager
from socket import IPPROTO_TCP, TCP_INFO

import msgpack
import numpy as np
import pytest
from websockets.sync.server import serve as ws_serve
from websockets.utils import accept_key

from worldfs.policies import policy_server
from worldfs.policies.msgpack_arrays import pack, unpack
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S, until

from .peers import PICTURE, POSE, SHOWN, WORDS, Plain, always, close_once, http, raw_server, silent, trouble

CLOSE_WAIT = 8  # of Linux, tcp_states.h
METADATA = {"name": "pi0_libero", "reset_pose": [0.0, 1.0]}


def their_array(array):
    return {b"__ndarray__": True, b"data": array.tobytes(), b"dtype": array.dtype.str, b"shape": list(array.shape)}


@contextmanager
def replica(answer, metadata=METADATA, key="", port=0):
    """websocket_policy_server of openpi: metadata first, a map a step, a traceback as text and then 1011."""

    def handle(socket):
        if key and socket.request.headers.get("Authorization") != f"Api-Key {key}":
            socket.close(1008, "no key")
            return
        socket.send(metadata if isinstance(metadata, str | bytes) else msgpack.packb(metadata))
        try:
            for message in socket:
                try:
                    said = answer(unpack(message))
                    socket.send(said if isinstance(said, bytes) else msgpack.packb(said))
                except Exception:
                    socket.send(traceback.format_exc())
                    socket.close(1011, "Internal server error. Traceback included in previous frame.")
                    raise
        except Exception:
            pass

    def health(socket, request):
        return socket.respond(200, "OK\n") if request.path == "/healthz" else None

    with ws_serve(
        handle, "127.0.0.1", port, compression=None, max_size=None, process_request=health, close_timeout=0.5
    ) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.socket.getsockname()[1]
        finally:
            server.shutdown()
            thread.join()


def at(port):
    return f"ws://127.0.0.1:{port}"


def chunk(shown, *, steps=10, dim=7):
    return {"actions": their_array(np.full((steps, dim), 0.25)), "server_timing": {"infer_ms": 12.5}, "state": [1]}


def test_metadata_comes_first_and_then_chunks(client):
    asked = []
    with replica(lambda shown: asked.append(shown) or chunk(shown)) as port:
        ours = client("openpi", at(port))
        info = ours.connect(PATIENCE_S)
        assert info.name == "pi0_libero" and info.extra["reset_pose"] == [0.0, 1.0]
        answer = ours.infer({"observation/image": PICTURE, "observation/state": POSE}, WORDS, PATIENCE_S)
        assert answer.actions.shape == (10, 7) and answer.server_ms == 12.5 and answer.extra["state"] == [1]
        ours.close()
    (shown,) = asked
    assert shown["prompt"] == WORDS
    np.testing.assert_array_equal(shown["observation/image"], PICTURE)


def test_arrays_are_written_with_the_exact_binary_keys():
    data = pack({"a": np.arange(3, dtype=np.float32), "n": np.float32(2.5)})
    plain = msgpack.unpackb(data)
    assert plain["a"] == {b"__ndarray__": True, b"data": np.arange(3, dtype=np.float32).tobytes(),
                          b"dtype": "<f4", b"shape": [3]}  # fmt: skip
    assert plain["n"] == {b"__npgeneric__": True, b"data": 2.5, b"dtype": "<f4"}
    assert b"\xc4\x0b__ndarray__" in data  # BIN of eleven bytes
    trouble("POLICY_CLIENT", lambda: pack({"a": np.array([object()])}), "object")
    trouble("POLICY_CLIENT", lambda: pack({"a": np.zeros(1, complex)}), "complex")


@pytest.mark.parametrize(
    "value",
    [
        {b"__ndarray__": True, b"data": b"1234", b"dtype": "|O", b"shape": [1]},
        {b"__ndarray__": True, b"data": b"1234", b"dtype": "<f4", b"shape": [2]},
        {b"__ndarray__": True, b"data": b"1234", b"dtype": "<f4", b"shape": [-1]},
        {b"__ndarray__": True, b"data": b"1234", b"dtype": "<f4", b"shape": 1},
        {b"__ndarray__": True, b"data": 4, b"dtype": "<f4", b"shape": [1]},
        {b"__ndarray__": True},
        {b"__npgeneric__": True, b"data": b"x", b"dtype": "|O"},
    ],
)
def test_an_array_that_does_not_fit_is_refused(value):
    trouble("POLICY_PROTOCOL", lambda: unpack(msgpack.packb({"actions": value})))


def test_a_text_frame_is_a_traceback_and_the_next_question_finds_a_new_connection(client):
    def answer(shown):
        if shown["prompt"] == "bad":
            raise KeyError("observation/wrist_image")
        return chunk(shown)

    with replica(answer) as port:
        ours = client("openpi", at(port))
        ours.connect(PATIENCE_S)
        trouble("POLICY_CLIENT", lambda: ours.infer(SHOWN, "bad", PATIENCE_S), "KeyError: 'observation/wrist_image'")
        assert ours.infer(SHOWN, "good", PATIENCE_S).actions.shape == (10, 7)
        ours.close()


def test_the_api_key_is_brought_as_openpi_wants_it(client, monkeypatch):
    monkeypatch.setenv("PI_KEY", "k-123")
    with replica(chunk, key="k-123") as port:
        assert client("openpi", at(port), token_env="PI_KEY").connect(PATIENCE_S).name == "pi0_libero"
        trouble("POLICY_CONNECTION", lambda: client("openpi", at(port)).connect(PATIENCE_S), "no key")


@pytest.mark.parametrize("greets", [False, True])
def test_a_goodbye_that_comes_with_the_answer_keeps_its_reason(client, greets):
    """One segment: the 101, perhaps the metadata, and the close."""

    def handle(socket, _):
        head = socket.recv(4_096)
        key = next(
            line.split(b": ")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")
        )
        packed = msgpack.packb(METADATA)
        metadata = b"\x82" + bytes((len(packed),)) + packed if greets else b""
        reason = (1008).to_bytes(2, "big") + b"no key"
        answer = (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept_key(key.decode())}\r\n\r\n"
        )
        socket.sendall(answer.encode() + metadata + b"\x88" + bytes((len(reason),)) + reason)

    with raw_server(handle) as port:
        policy = client("openpi", at(port))
        if greets:
            assert policy.connect(PATIENCE_S).name == "pi0_libero"
        trouble(
            "POLICY_CONNECTION",
            lambda: policy.infer(SHOWN, WORDS, PATIENCE_S) if greets else policy.connect(PATIENCE_S),
            "1008: no key",
        )


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (lambda shown: b"\xc1", "POLICY_PROTOCOL", "no msgpack"),
        (lambda shown: [1], "POLICY_PROTOCOL", "list"),
        (lambda shown: {"action": 1}, "POLICY_PROTOCOL", "an answer with action"),
        (lambda shown: {"actions": 5}, "POLICY_PROTOCOL", "int"),
        (lambda shown: {"actions": their_array(np.zeros((1, 2, 3)))}, "POLICY_PROTOCOL", "shape (1, 2, 3)"),
        (lambda shown: {"actions": their_array(np.array([[np.nan]]))}, "POLICY_PROTOCOL", "NaN"),
        (lambda shown: {"actions": their_array(np.zeros((1000, 7)))}, "POLICY_PROTOCOL", "PayloadTooBig"),
    ],
)
def test_an_answer_that_is_none_is_named(client, answer, code, words):
    with replica(answer) as port:
        ours = client("openpi", at(port), max_bytes=20_000)
        trouble(code, lambda: ours.infer(SHOWN, WORDS, PATIENCE_S), words)
        ours.close()


def test_a_late_answer_is_a_timeout_and_is_never_taken_for_the_next(client):
    given_up = threading.Event()

    def answer(shown):
        if shown["prompt"] == "slow":
            given_up.wait(PATIENCE_S)
            return chunk(shown, dim=3)
        return chunk(shown)

    with replica(answer) as port:
        ours = client("openpi", at(port))
        ours.connect(PATIENCE_S)
        trouble("POLICY_TIMEOUT", lambda: ours.infer(SHOWN, "slow", 0.15), "within 0.15 s")
        given_up.set()
        assert ours.infer(SHOWN, "fast", PATIENCE_S).actions.shape == (10, 7)
        ours.close()


def has_ended(ours):
    """Whether the system knows that the server has closed the connection."""
    return ours._socket._line._socket.getsockopt(IPPROTO_TCP, TCP_INFO, 1)[0] == CLOSE_WAIT


def test_a_server_that_was_started_anew_is_found_again(client):
    port = free_port()
    with replica(chunk, port=port):
        ours = client("openpi", at(port))
        ours.connect(PATIENCE_S)
        ours.infer(SHOWN, WORDS, PATIENCE_S)
    until(lambda: has_ended(ours))  # its goodbye and the end of the connection have both come before the next question
    trouble("POLICY_CONNECTION", lambda: ours.connect(PATIENCE_S), f"paos policy serve --port {port}")
    with replica(chunk, port=port, metadata={"name": "second"}):
        assert ours.infer(SHOWN, WORDS, PATIENCE_S).actions.shape == (10, 7)
        assert ours.connect(PATIENCE_S).name == "second"
        ours.close()


def test_what_is_no_websocket_is_said(client):
    with always(http(b"hello")) as port:
        trouble("POLICY_PROTOCOL", lambda: client("openpi", at(port)).connect(PATIENCE_S), "no WebSocket")
    with always(http(b"", "401 No")) as port:
        trouble("POLICY_CONNECTION", lambda: client("openpi", at(port)).connect(PATIENCE_S), "token_file")
    with raw_server(lambda taken, n: taken.recv(10)) as port:
        trouble("POLICY_CONNECTION", lambda: client("openpi", at(port)).connect(PATIENCE_S), "dropped")
    with raw_server(silent) as port:
        trouble("POLICY_CONNECTION", lambda: client("openpi", at(port)).connect(0.2), "no connection in time")


def test_closing_from_another_thread_ends_what_waits(client):
    asked, over = threading.Event(), threading.Event()
    with replica(lambda shown: asked.set() or (over.wait(100) and chunk(shown))) as port:
        ours = client("openpi", at(port))
        ours.connect(PATIENCE_S)
        close_once(ours, asked.is_set)
        try:  # it answers only after this: who is not closed waits for 60 s, and says so
            trouble("POLICY_CONNECTION", lambda: ours.infer(SHOWN, WORDS, 60))
        finally:
            over.set()


def test_pings_that_came_meanwhile_are_answered(serve, client, monkeypatch):
    pinged = threading.Event()

    class Patient(policy_server.WebSocket):
        """It says that it pings, and waits for the answer as long as it takes."""

        def alive(self, deadline):
            pinged.set()
            return super().alive(time.monotonic() + PATIENCE_S)

    monkeypatch.setattr(policy_server, "PING_S", 0.3)
    monkeypatch.setattr(policy_server, "WebSocket", Patient)
    server = serve(Plain())
    ours = client("openpi", at(server.port))
    ours.connect(PATIENCE_S)
    assert pinged.wait(PATIENCE_S)
    socket = ours._socket
    assert ours.infer(SHOWN, WORDS, PATIENCE_S).actions.shape == (2, 7)
    assert ours._socket is socket


def test_our_own_server_speaks_it(serve, client):
    policy = Plain(extra={"representation": "ee_delta"})
    server = serve(policy)
    ours = client("openpi", at(server.port))
    assert ours.connect(PATIENCE_S).version == "1.2.3"
    answer = ours.infer(SHOWN, WORDS, PATIENCE_S)
    np.testing.assert_array_equal(answer.actions, policy.actions)
    assert answer.extra["representation"] == "ee_delta" and answer.server_ms >= 0
    np.testing.assert_array_equal(policy.shown[0][0]["rgb.front"], PICTURE)


def test_our_own_server_sends_a_traceback_as_text(serve, client):
    ours = client("openpi", at(serve(Plain(fails=KeyError("state"))).port))
    trouble("POLICY_CLIENT", lambda: ours.infer(SHOWN, WORDS, PATIENCE_S), "KeyError: 'state'")
