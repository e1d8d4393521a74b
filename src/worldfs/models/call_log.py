"""Every call of a home's language models: one line each in HOME/.paos/model_calls.jsonl, and their sums.

The evidence of a job and the events of a command name their own calls; this file has those of all of them. It holds
neither prompts nor answers, and is read by its owner alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.chat_model import ModelCall
from worldfs.base.clock import Clock, stamp
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_float, as_int, as_object, as_text
from worldfs.base.model import Json

FOLDER: Final = ".paos"
FILE: Final = "model_calls.jsonl"
OLDER: Final = "model_calls.1.jsonl"  # the file before, once `MOST` was reached; the one before that is dropped
MOST: Final = 8 << 20  # bytes, some 30,000 calls
_TRIES: Final = 100  # each takes the file's lock: others may have put the file away before we have it
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class ModelCallLog:
    """The calls of one configured model; `use` is its name in `models` of config.json."""

    def __init__(self, home: Path, use: str, clock: Clock, most: int = MOST) -> None:
        self._folder, self._use, self._clock, self._most = home / FOLDER, use, clock, most

    def add(self, call: ModelCall) -> None:
        """A figure that cannot be written keeps no model from answering: it is lost."""
        line = json.dumps({"at": stamp(self._clock.now()), "use": self._use, **call.as_json()}, ensure_ascii=False)
        with suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            for _ in range(_TRIES):
                if self._appended(f"{line}\n".encode()):
                    break

    def _appended(self, line: bytes) -> bool:
        """False: another file stands at the path now."""
        path = self._folder / FILE
        fd = os.open(path, _FLAGS, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                return True
            try:
                there = os.stat(path, follow_symlinks=False)
            except FileNotFoundError:
                return False
            if there.st_ino != found.st_ino:
                return False
            if found.st_size >= self._most:
                os.replace(path, self._folder / OLDER)
                return False
            torn = found.st_size and os.pread(fd, 1, found.st_size - 1) != b"\n"  # a write that was cut off
            os.write(fd, b"\n" * bool(torn) + line)
            return True
        finally:
            os.close(fd)


class ModelUse(NamedTuple):
    """What the calls of one model came to, for one use."""

    use: str
    model: str
    calls: int = 0
    failed: int = 0  # of these, without an answer
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0  # of the calls whose price is known
    unpriced: int = 0  # the calls whose price is not
    latency_s: float = 0.0  # all together
    last_at: str = ""

    def plus(self, call: Json) -> ModelUse:
        price = call.get("cost_usd")
        return self._replace(
            calls=self.calls + 1,
            failed=self.failed + bool(call.get("error")),
            input_tokens=self.input_tokens + as_int(call.get("input_tokens")),
            output_tokens=self.output_tokens + as_int(call.get("output_tokens")),
            cost_usd=self.cost_usd + as_float(price),
            unpriced=self.unpriced + (price is None),
            latency_s=self.latency_s + as_float(call.get("latency_s")),
            last_at=as_text(call.get("at")),
        )


def model_uses(home: Path) -> list[ModelUse]:
    """By use and model, in the order of their first calls. Lines that cannot be read are left out."""
    found: dict[tuple[str, str], ModelUse] = {}
    for call in _calls(home / FOLDER):
        key = as_text(call.get("use")), as_text(call.get("model"))
        found[key] = found.get(key, ModelUse(*key)).plus(call)
    return list(found.values())


def _calls(folder: Path) -> Iterator[Json]:
    for name in (OLDER, FILE):
        try:
            fd = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        with open(fd, "rb") as file:
            for line in file:
                with suppress(ValueError):
                    if call := as_object(parse_json(line)):
                        yield call
