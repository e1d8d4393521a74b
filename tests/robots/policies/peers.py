"""Peers on loopback that behave, or misbehave, as told; and how a failure must look."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from worldfs.policies.policy_client import ActionChunk, PolicyError, PolicyInfo
from worldfs.testing.waiting import PATIENCE_S, until

PICTURE = np.random.default_rng(1).integers(0, 255, (24, 32, 3), np.uint8)
POSE = np.array([0.4, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0])
SHOWN = {"rgb.front": PICTURE, "ee_pose": POSE}
WORDS = "pick the apple"


class Plain:
    """A served policy that answers what it is told, and remembers what it was shown."""

    def __init__(self, actions=None, *, fails=None, takes=None, info=None, extra=None):
        self.actions = np.arange(14, dtype=np.float32).reshape(2, 7) / 100 if actions is None else actions
        self.fails, self.takes, self.extra = fails, takes, {} if extra is None else extra
        self.said = info or PolicyInfo("plain", "1.2.3")
        self.shown = []

    def info(self):
        return self.said

    def infer(self, observation, words):
        self.shown.append((dict(observation), words))
        if self.takes is not None:  # an event that must come first
            self.takes.wait(PATIENCE_S)
        if self.fails is not None:
            raise self.fails
        return ActionChunk(np.asarray(self.actions), extra=self.extra)


@contextmanager
def raw_server(handle, most=8):
    """A TCP server that does with each connection what `handle(socket, n)` does, and then closes it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        over = threading.Event()
        threads, open_ = [], []

        def one(taken, n):
            with taken:
                taken.settimeout(PATIENCE_S)
                with suppress(OSError):
                    handle(taken, n)

        def accept():
            n = 0
            while not over.is_set() and n < most:
                try:
                    taken, _ = listening.accept()
                except TimeoutError:
                    continue
                open_.append(taken)
                threads.append(threading.Thread(target=one, args=(taken, n), daemon=True))
                threads[-1].start()
                n += 1

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield listening.getsockname()[1]
        finally:
            over.set()
            accepting.join()
            for taken in open_:
                with suppress(OSError):  # it has ended by itself
                    taken.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(PATIENCE_S)


def silent(taken, n):
    """Listens for as long as the other end does, and says nothing."""
    while taken.recv(65536):
        pass


def read_http(taken):
    """One request, head and body, as bytes."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = taken.recv(65536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += taken.recv(65536)
    return head + b"\r\n\r\n" + body


def http(body, status="200 OK", **headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def always(answer):
    """An HTTP server with one answer for every request."""

    def handle(taken, n):
        while read_http(taken):
            taken.sendall(answer)

    with raw_server(handle) as port:
        yield port


def close_once(ours, asked):
    """Close the client from another thread once it waits for an answer: `asked` says that its question has come."""

    def close():
        until(asked)
        ours.close()

    thread = threading.Thread(target=close, daemon=True)
    thread.start()
    return thread


def trouble(code, call, *words):
    """The `PolicyError` that `call` raises: of this code, with a mend, saying these words."""
    with pytest.raises(PolicyError) as caught:
        call()
    error = caught.value
    assert error.code == code, f"{error.code}: {error}"
    assert error.fix, f"without a fix: {error}"
    for word in words:
        assert word in str(error), str(error)
    return error
