"""The peers' own environment, `bench/.peers`: made on demand from the lock files in bench/peers, kept till they change.

.peers/python/   a virtual environment with what requirements.lock names
.peers/node/     node_modules with what package-lock.json names
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from ._stand import environ

PROGRAMS = Path(__file__).resolve().parent / "peers"
PLACE = Path(__file__).resolve().parent / ".peers"
PATIENCE_S = 600.0


class Absent(Exception):
    """Why a peer cannot be run here."""


class Answer(NamedTuple):
    took: list[float]  # microseconds of each acknowledged operation
    refused: int  # operations that raised


def python() -> Path:
    """The interpreter that has LangGraph and the Agents SDK; raises `Absent`."""
    place = PLACE / "python"
    found = place / "bin" / "python"
    if not _fresh(place, "requirements.lock"):
        shutil.rmtree(place, ignore_errors=True)
        print("peers: installing requirements.lock into bench/.peers (once)", flush=True)
        _run([sys.executable, "-m", "venv", str(place)])
        pip = [str(found), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--require-hashes"]
        _run([*pip, "--only-binary", ":all:", "-r", str(PROGRAMS / "requirements.lock")])
        _stamp(place, "requirements.lock")
    return found


def node() -> Path:
    """The directory that has the memory server's node_modules; raises `Absent`."""
    place = PLACE / "node"
    if shutil.which("node") is None:
        raise Absent("no node on this machine")
    if not _fresh(place, "package-lock.json"):
        if shutil.which("npm") is None:
            raise Absent("no npm on this machine")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        print("peers: installing package-lock.json into bench/.peers (once)", flush=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(PROGRAMS / name, place / name)
        _run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], place)
        _stamp(place, "package-lock.json")
    return place


def _digest(lock: str) -> str:
    return hashlib.sha256((PROGRAMS / lock).read_bytes() + sys.version.encode()).hexdigest()


def _fresh(place: Path, lock: str) -> bool:
    stamp = place / ".stamp"
    return stamp.exists() and stamp.read_text() == _digest(lock)


def _stamp(place: Path, lock: str) -> None:
    (place / ".stamp").write_text(_digest(lock))


def _run(command: Sequence[str], place: Path | None = None) -> None:
    try:
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Absent(f"{Path(command[0]).name}: {error}") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Absent(f"{Path(command[0]).name} ended with {done.returncode}: {said[-1][:200] if said else 'silent'}")


class Program:
    """A store's program (bench/peers/turns.py) in a process of its own. Raises `Absent` if it does not get ready."""

    def __init__(self, command: Sequence[str]) -> None:
        self._noise = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed with the process
        self._process = subprocess.Popen(
            command, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._noise, text=True
        )
        if self._hear() != "ready":
            why = self._last_words()
            self.close()
            raise Absent(why)

    def put(self, count: int) -> Answer:
        self.tell(count)
        return self.answer()

    def tell(self, count: int) -> None:
        self._say(f"put {count}")

    def answer(self) -> Answer:
        said = self._told()
        return Answer(said["us"], said["refused"])

    def count(self) -> int:
        self._say("count")
        return int(self._told()["count"])

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._noise.close()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def _told(self) -> dict[str, Any]:
        line = self._hear()
        if not line:
            raise RuntimeError(f"a store's program went away: {self._last_words()}")
        said: dict[str, Any] = json.loads(line)
        return said

    def _last_words(self) -> str:
        self._noise.seek(0)
        lines = self._noise.read().strip().splitlines()
        return lines[-1][:200] if lines else "it said nothing"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def started(command: Sequence[str], count: int, stack: ExitStack) -> list[Program]:
    """`count` processes of one program, closed with `stack`."""
    return [stack.enter_context(Program(command)) for _ in range(count)]
