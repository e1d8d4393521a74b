"""One command under its supervisor, as the runner controls it: prepared, started, ended, reported on."""

from __future__ import annotations

import errno
import json
import os
import select
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from worldfs.base.errors import StorageError
from worldfs.base.json_values import as_int, as_object
from worldfs.base.messages import coded

from .launch import START_S, python_command
from .reaper import GRACE, KILLING

LINGER: Final = 0.25  # s that a command's own children have to finish by themselves after it has ended
LATE: Final = 4.0  # s that a supervisor may take to exit


class SpawnFailure(NamedTuple):
    """Why the command did not start, kept apart from a command that fails."""

    word: str  # cwd | not-found | not-executable | bad-interpreter | spawn
    text: str


class Child:
    """From `spawn` to `close`. Not for many threads; `fd` becomes readable when `read_events` has something."""

    def __init__(self, process: subprocess.Popen[bytes], orders: int, reports: int) -> None:
        self._process, self._orders, self.fd = process, orders, reports
        self._buffer = b""
        self.pid = self.start = 0  # of the command
        self.tree = False  # all descendants are in reach, not the process group alone
        self.lost = False  # the supervisor has gone without a final report

    @property
    def warden(self) -> int:
        return self._process.pid

    def go(self) -> None:
        """Let the command begin. Whatever must be durable before is durable now."""
        self._say({"do": "go"})

    def end(self) -> None:
        """TERM to all, KILL after the grace."""
        self._say({"do": "end"})

    def kill(self) -> None:
        self._say({"do": "kill"})

    def kill_supervisor(self) -> None:
        """It no longer answers (it was stopped from outside): kill it, and the command dies with it."""
        self._process.kill()

    def read_events(self) -> list[dict[str, object]]:
        """The supervisor's reports so far; blocks when `fd` is not readable. `lost` once it has gone."""
        data = os.read(self.fd, 1 << 16)
        self.lost = not data
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self, *, behind: bool = False) -> None:
        """Disconnect from the supervisor: a command that still runs is ended, and its end is not reported.

        `behind`: it has sent its final report and goes on with what it could not end in time; the caller does not wait.
        """
        for fd in (self._orders, self.fd):
            with suppress(OSError):
                os.close(fd)
        self._orders = self.fd = -1
        if behind:
            threading.Thread(target=self._process.wait, daemon=True).start()
            return
        try:
            self._process.wait(LATE)
        except subprocess.TimeoutExpired:  # it was stopped (SIGSTOP)
            self._process.kill()
            self._process.wait()

    def _say(self, order: dict[str, object]) -> None:
        data = memoryview(json.dumps(order).encode() + b"\n")
        with suppress(BrokenPipeError):  # it has gone: `read_events` will say so
            while data:
                data = data[os.write(self._orders, data) :]


def spawn(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    cwd: str = ".",
    stdin: int,
    stdout: int,
    stderr: int,
    timeout_s: float | None = None,
    grace_s: float = GRACE,
    linger_s: float = LINGER,
) -> Child:
    """The command's process, waiting for `go`; the runner's descriptors are not inherited. A session without terminal.

    The environment and the arguments of the command go through a pipe, so that no other user sees more of them than the
    itself shows. Raises `StorageError` when not even a process can be made.
    """
    orders_out, orders_in = os.pipe()
    reports_out, reports_in = os.pipe()
    try:
        process = subprocess.Popen(
            python_command("worldfs.supervisor.supervisor", "main", str(orders_out), str(reports_in)),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(orders_out, reports_in),
            start_new_session=True,  # Ctrl-C in the terminal is for the runner alone
            env=_warden_env(env),
        )
    except OSError as error:
        os.close(orders_in)
        os.close(reports_out)
        raise StorageError(coded("command.no_new_process", why=error.strerror), op="spawn", code="SPAWN") from error
    finally:
        os.close(orders_out)
        os.close(reports_in)
    child = Child(process, orders_in, reports_out)
    child._say(
        {
            "argv": list(argv),
            "env": dict(env),
            "cwd": cwd,
            "timeout": timeout_s,
            "grace": grace_s,
            "limit": grace_s + KILLING,
            "linger": linger_s,
        }
    )
    events: list[dict[str, object]] = []
    while not events and not child.lost and select.select([child.fd], [], [], START_S)[0]:
        events = child.read_events()
    if child.lost or not events or "forked" not in events[0]:
        if not events:
            child.kill_supervisor()  # it may be stopped, or wait for a disk that does not answer
        child.close()
        what = events[0].get("broken", "") if events else f"status {process.returncode}"
        raise StorageError(coded("command.no_supervisor", what=what), op="spawn", code="SPAWN")
    forked = as_object(events[0]["forked"])
    child.pid, child.start, child.tree = as_int(forked["pid"]), as_int(forked["start"]), forked["tree"] is True
    return child


def _warden_env(env: Mapping[str, str]) -> dict[str, str]:
    """The runner's own, for the interpreter's libraries, and the session's marker, to find the supervisor by."""
    return {**os.environ, **{key: value for key, value in env.items() if key.startswith("PAOS_")}}


def explain(stage: str, number: int, argv: Sequence[str], env: Mapping[str, str], cwd: str) -> SpawnFailure:
    """What kept a command from starting, and what to correct."""
    name, reason = argv[0], os.strerror(number)
    if stage == "cwd":
        what = coded("tree.no_such_directory") if number in (errno.ENOENT, errno.ENOTDIR) else reason
        return SpawnFailure("cwd", coded("command.start_in", place=cwd, why=what))
    if stage != "exec":
        return SpawnFailure("spawn", coded("command.cannot_start", name=name, why=reason))
    place = _find(name, env, cwd)
    if number in (errno.ENOENT, errno.ENOTDIR):
        if place:  # the file exists, so the interpreter named in its first line does not
            return SpawnFailure("bad-interpreter", coded("command.no_interpreter", name=name, line=_first_line(place)))
        where = "command.no_such_file" if "/" in name else "command.not_on_path"
        return SpawnFailure("not-found", coded(where, name=name))
    if number == errno.EACCES:
        what = "command.names_directory" if place and os.path.isdir(place) else "command.not_executable"
        return SpawnFailure("not-executable", coded(what, name=name))
    if number == errno.ENOEXEC:
        return SpawnFailure("not-executable", coded("command.not_a_program", name=name))
    return SpawnFailure("spawn", coded("command.cannot_start", name=name, why=reason))


def _find(name: str, env: Mapping[str, str], cwd: str) -> str:
    folders = [""] if "/" in name else env.get("PATH", os.defpath).split(os.pathsep)
    for folder in folders:
        place = os.path.join(cwd, folder, name)
        if os.path.exists(place):
            return place
    return ""


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            line = file.readline(128).decode(errors="replace").strip()
    except OSError:
        return coded("command.unreadable")
    return line if line.startswith("#!") else coded("command.no_loader")
