"""A policy whose library needs an environment of its own: a process of another Python, connected by pipes.

Such a file holds code, so it runs there and not here, without this process's secrets in its environment. Models load
slowly: `connect` waits for that `policy_client.load_s` seconds (120), whatever the time of an answer is.
"""

from __future__ import annotations

import io
import json
import os
import selectors
import struct
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.errors import MissingRequirement
from worldfs.base.foreign_process import ForeignProcess, find_program
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list
from worldfs.base.messages import coded
from worldfs.base.model import Json, PolicySpec

from .arrays import npy_array
from .endpoint import max_answer_bytes
from .policy_client import ActionChunk, Array, PolicyError, PolicyInfo, chunk_of
from .policy_contract import parse_policy_info, rename_observations

LOAD_S = 120.0
CHILD: Final = Path(__file__).with_name("model_process.py")
NEEDS: Final = {
    "torchscript": ("torch", "a Python with torch and numpy"),
    "lerobot": (
        "lerobot",
        "a Python with lerobot (python3 -m venv /opt/lerobot; /opt/lerobot/bin/pip install lerobot)",
    ),
    "openvla": (
        "transformers",
        "a Python with torch and transformers 4 (python3 -m venv /opt/openvla; /opt/openvla/bin/pip install torch "
        "'transformers>=4.40,<5' timm pillow)",
    ),
}
PIECE = 1 << 20
SETTINGS: Final = ("unnorm_key", "device")  # of a policy_client, that the model is made with


class ProcessPolicy:
    """`policy_client`: checkpoint, `python` (the other environment's; default: this one's), `load_s`."""

    def __init__(self, spec: PolicySpec, path: str, kind: str, clock: Clock) -> None:
        self.spec, self._path, self._kind, self._clock = spec, path, kind, clock
        self._most = max_answer_bytes(spec)
        self._process: ForeignProcess | None = None
        self._info: PolicyInfo | None = None
        self._lock = threading.Lock()  # of the process, which another thread may end
        self._moving = threading.RLock()  # of its pipes: none is closed while another thread waits at it
        self._bell: tuple[int, int] | None = None  # a pipe that becomes readable when what waits should give up

    def connect(self, timeout_s: float) -> PolicyInfo:
        if self._info is None:
            given = self.spec.extra.get("load_s")
            load_s = float(given) if isinstance(given, int | float) and 0 < given <= 3600 else LOAD_S
            self._start()
            try:
                head, _ = self._answer(
                    self._clock.monotonic() + max(timeout_s, load_s), f"not loaded within {load_s:g} s"
                )
            except PolicyError:
                self.close()
                raise
            self._info = parse_policy_info(head.get("info"))
        return rename_observations(self._info, self.spec)

    def reset(self) -> None:
        if self._info is not None:
            self._ask({"op": "reset"}, {}, 10.0)

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        self.connect(timeout_s)
        head, arrays = self._ask({"op": "infer", "words": words}, observation, timeout_s)
        if "actions" not in arrays:
            raise self._trouble(coded("session.without_actions"), "POLICY_PROTOCOL")
        dim = self._info.action_dim if self._info is not None else 0
        chunk = chunk_of(arrays["actions"], dim=dim, where=f"{self._path}: actions")
        ms = head.get("ms")
        return ActionChunk(chunk.actions, float(ms) if isinstance(ms, int | float) else float("nan"))

    def close(self) -> None:
        """From any thread: the process ends, and with it what waits for it."""
        with self._lock:
            process, self._process, self._info = self._process, None, None
            bell, self._bell = self._bell, None
        if process is not None:
            process.end()
        if bell is not None:
            os.close(bell[1])
        with self._moving:
            if bell is not None:
                os.close(bell[0])
            for pipe in () if process is None else (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    # -- the process -----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self.close()
        python = str(self.spec.extra.get("python") or sys.executable)
        found = find_program(python)
        if found is None:
            raise MissingRequirement(
                coded("session.no_python", python=python), path="policy_client.python", op="open a policy",
                expected=NEEDS[self._kind][1], fix=coded("session.correct_python"),
            )  # fmt: skip
        settings = {name: self.spec.extra[name] for name in SETTINGS if name in self.spec.extra}
        with self._lock:
            self._bell = os.pipe()
            command = [found, str(CHILD), self._kind, self._path, json.dumps(settings)]
            self._process = ForeignProcess(command, {"HF_HUB_OFFLINE": "1"}, talks=True)

    def _ask(self, head: Json, arrays: Mapping[str, Array], timeout_s: float) -> tuple[Json, dict[str, Array]]:
        blobs = {name: _npy(array) for name, array in arrays.items()}
        header = json.dumps({**head, "arrays": [[name, len(blob)] for name, blob in blobs.items()]}).encode()
        deadline = self._clock.monotonic() + timeout_s
        self._move(b"".join((struct.pack(">I", len(header)), header, *blobs.values())), 0, deadline, "no answer")
        return self._answer(deadline, f"no answer within {timeout_s:.3g} s")

    def _answer(self, deadline: float, late: str) -> tuple[Json, dict[str, Array]]:
        (size,) = struct.unpack(">I", self._move(b"", 4, deadline, late))
        head = self._json(self._move(b"", self._allowed(size), deadline, late))
        arrays, left = {}, self._most
        for name, length in map(as_list, as_list(head.get("arrays"))):
            left -= self._allowed(length)
            data = self._move(b"", self._allowed(length if left >= 0 else left), deadline, late)
            try:
                arrays[str(name)] = npy_array(data)
            except ValueError as error:
                raise self._trouble(coded("session.odd_array", why=str(error)), "POLICY_PROTOCOL") from None
        if head.get("ok") is True:
            return head, arrays
        missing = head.get("missing")
        if missing:
            self.close()
            raise MissingRequirement(
                coded(
                    "session.not_in_python",
                    missing=str(missing),
                    python=self.spec.extra.get("python") or sys.executable,
                ),
                path=self._path,
                op="open a policy",
                expected=NEEDS[self._kind][1],
                fix=coded("session.name_python"),
            )
        raise self._trouble(str(head.get("error", coded("session.no_reason")))[:400], "POLICY_CLIENT")

    def _move(self, data: bytes, count: int, deadline: float, late: str) -> bytes:
        """Send `data`, then receive `count` bytes, until the deadline. A process that is late has no second chance."""
        with self._moving:
            with self._lock:
                process, bell = self._process, self._bell
            if process is None or process.stdin is None or process.stdout is None or bell is None:
                raise self._trouble(coded("session.was_closed"), "POLICY_CONNECTION")
            try:
                if data:
                    self._send(process.stdin.fileno(), bell[0], data, deadline)
                return self._receive(process.stdout.fileno(), bell[0], count, deadline)
            except TimeoutError:
                found, code = late, "POLICY_TIMEOUT"
            except (OSError, ValueError):  # it ended, or another thread closed it
                words = process.last_line()
                found, code = f"its process ended{': ' + words if words else ''}", "POLICY_CONNECTION"
            self.close()
            raise self._trouble(found, code)

    def _send(self, pipe: int, bell: int, data: bytes, deadline: float) -> None:
        os.set_blocking(pipe, False)
        view = memoryview(data)
        while view:
            self._wait(pipe, selectors.EVENT_WRITE, bell, deadline)
            view = view[os.write(pipe, view[:PIECE]) :]

    def _receive(self, pipe: int, bell: int, count: int, deadline: float) -> bytes:
        got = bytearray()
        while len(got) < count:
            self._wait(pipe, selectors.EVENT_READ, bell, deadline)
            part = os.read(pipe, min(PIECE, count - len(got)))
            if not part:
                raise BrokenPipeError
            got += part
        return bytes(got)

    def _wait(self, pipe: int, what: int, bell: int, deadline: float) -> None:
        """`TimeoutError` at the deadline, `BrokenPipeError` when the bell rings."""
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, what)
            selector.register(bell, selectors.EVENT_READ)
            ready = [key.fd for key, _ in selector.select(max(0.0, deadline - self._clock.monotonic()))]
        if bell in ready:
            raise BrokenPipeError
        if not ready:
            raise TimeoutError

    def _allowed(self, size: object) -> int:
        if type(size) is not int or not 0 <= size <= self._most:
            self.close()
            raise self._trouble(coded("session.answer_bytes", n=size), "POLICY_PROTOCOL")
        return size

    def _json(self, data: bytes) -> Json:
        try:
            head = parse_json(data)
        except ValueError:
            head = None
        if not isinstance(head, dict):
            self.close()
            raise self._trouble(coded("session.no_message"), "POLICY_PROTOCOL")
        return head

    def _trouble(self, found: str, code: str) -> PolicyError:
        fixes = {
            "POLICY_TIMEOUT": "session.more_load_time",
            "POLICY_CONNECTION": "session.own_environment",
            "POLICY_CLIENT": "session.see_observations",
        }
        return PolicyError(
            found, path=self._path, expected="actions", code=code, fix=coded(fixes[code]) if code in fixes else ""
        )


def _npy(array: Array) -> bytes:
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(array), allow_pickle=False)
    return out.getvalue()
