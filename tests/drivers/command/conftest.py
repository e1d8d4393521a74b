"""A state that keeps everything in memory but its room, and a search for whatever is still alive of a test."""

from __future__ import annotations

import json
import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from worldfs.agents.room import Room
from worldfs.drivers.command import Command, Ended, Stop, child, course, leftovers, run
from worldfs.ground.durable import Disk
from worldfs.ground.errors import Busy
from worldfs.ground.model.agent import SessionRecord
from worldfs.testing.waiting import PATIENCE_S


class Book:
    """What the runner asks of an agent's state, written down."""

    def __init__(self, root: Path, name: str = "rio", disk: Disk | None = None) -> None:
        (root / name).mkdir(parents=True, exist_ok=True)
        self.room = Room(root, name, disk=disk)
        self.record: SessionRecord | None = None
        self.calls: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.started: dict[str, Any] = {}
        self.finished: dict[str, Any] = {}
        self.beats = 0
        self.fault: Exception | None = None  # raised by every call after the start

    def start(self, *, type: str = "ad-hoc", argv: Sequence[str] = (), **fields: Any) -> SessionRecord:
        if self.record is not None:
            raise Busy(f"process {os.getpid()} runs {self.record.session_id}")
        self.calls.append("start")
        self.started = {"type": type, "argv": tuple(argv), **fields}
        self.record = SessionRecord(
            self.room.name, time.strftime("%Y%m%d-%H%M%S-") + uuid.uuid4().hex[:4], type=type, **fields
        )
        return self.record

    def heartbeat(self) -> None:
        self.beats += 1
        if self.fault:
            raise self.fault

    def event(self, event: str, /, **fields: Any) -> int:
        if self.fault:
            raise self.fault
        self.events.append({"event": event, **fields})
        return len(self.events)

    def noted(self) -> dict[str, Any]:
        return {}

    def finish(
        self,
        outcome: str = "completed",
        *,
        errors: Sequence[str] = (),
        session: str = "",
        read: Any = None,
        **figures: Any,
    ) -> SessionRecord:
        assert self.record is not None and session in ("", self.record.session_id)
        self.calls.append("finish")
        self.finished = {"outcome": outcome, "errors": tuple(errors), **figures}
        ended, self.record = self.record._replace(status=outcome, errors=tuple(errors)), None
        return ended

    def told(self, event: str) -> list[dict[str, Any]]:
        return [entry for entry in self.events if entry["event"] == event]


class Stage(NamedTuple):
    """An agent, and a mark that everything started here carries in its environment or its command line."""

    book: Book
    mark: str
    tmp: Path

    def run(
        self, *argv: str, stop: Stop | None = None, out: int = -1, err: int = -1, alone: bool = False, **words: Any
    ) -> Ended:
        """A command with a short grace; standard output and error go to the log."""
        more = {key: words.pop(key) for key in ("hooks", "about", "heartbeat_s", "clock") if key in words}
        return run(self.book, self.command(*argv, **words), stop=stop, out=out, err=err, alone=alone, **more)

    def soon(self, *argv: str, bound: str = "timeout_s", ready: Callable[[Ended], object], **words: Any) -> Ended:
        """A command that is ended by a bound, after it came as far as the test needs: where it did not on so busy a
        machine, it gets a longer one."""
        for seconds in (0.3, 3.0, 30.0):
            ended = self.run(*argv, **{bound: seconds}, **words)
            if ready(ended):
                return ended
        raise AssertionError(f"it never came so far: {ended}")

    def ready(self, ended: Ended) -> bool:
        """The command has made the file that $READY names."""
        return (self.tmp / "ready").exists()

    def command(self, *argv: str, **words: Any) -> Command:
        env = {**os.environ, "TEST_MARK": self.mark, "READY": str(self.tmp / "ready"), **words.pop("env", {})}
        return Command(tuple(argv), env=env, **{"grace_s": 0.3, "timeout_s": 600.0, **words})

    def sessions(self) -> Path:
        return self.book.room.path / ".paos/sessions"

    def facts(self, ended: Ended, name: str = "exit.json") -> dict[str, Any]:
        value = json.loads((self.sessions() / ended.session.session_id / name).read_text())
        assert isinstance(value, dict)
        return value

    def alive(self) -> list[str]:
        """Everything with the mark that still runs, whoever its parent is now."""
        found = []
        for pid in filter(str.isdecimal, os.listdir("/proc")):
            try:
                state = re.sub(r"^.*\) ", "", Path(f"/proc/{pid}/stat").read_text(), flags=re.S)[0]
                text = Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if self.mark.encode() in text and state not in "ZX":
                found.append(f"{pid} {state} {text[-200:]!r}")
        return found

    def log(self, ended: Ended) -> bytes:
        return Path(ended.log).read_bytes()

    def script(self, name: str, text: str, mode: int = 0o755) -> str:
        path = self.tmp / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long the machine takes for its own part, killing and reporting, is nothing that is tested here."""
    for where in (child, course, leftovers):
        monkeypatch.setattr(where, "KILLING", PATIENCE_S)
    monkeypatch.setattr(course, "PATIENCE", PATIENCE_S)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(Book(tmp_path / "agents"), f"mark-{uuid.uuid4().hex}", tmp_path)
    yield made
    left = made.alive()
    for one in left:  # a failed test must not burden the next ones
        with suppress(ProcessLookupError):  # it has gone meanwhile
            os.kill(int(one.split()[0]), signal.SIGKILL)
    made.book.room.close()
    assert not left, left
