"""One command line from its start to its end: watched for its time, its silence, and the wish to stop."""

from __future__ import annotations

import os
import select
import tempfile
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from worldfs.ground.clock import Clock

from .child import Child, explain, spawn
from .flow import Flow
from .order import Command, signal_name
from .reaper import KILLING, Named, Swept
from .stop import Stop

TICK: Final = 1.0  # s between two looks at silence, at most
PATIENCE: Final = 1.0  # s that the warden may be late before it counts as lost


class Course(NamedTuple):
    """How it went. `cause`: "" | exit | signal | deadline | silence | cancelled | spawn | warden."""

    cause: str = ""
    code: int | None = None  # as os.waitstatus_to_exitcode: negative for a signal; None: never began, or not known
    text: str = ""  # what went wrong, for people
    others: tuple[Named, ...] = ()  # processes of it that were ended after it
    survivors: tuple[Named, ...] = ()
    tree: bool = True
    lost: bool = False  # the warden went away: what is left must be ended without it
    taken: int = 0  # bytes of its standard input that were read, where that is a text

    @property
    def outcome(self) -> str:
        return {"": "completed", "deadline": "timeout", "silence": "timeout"}.get(self.cause, "error")


class Care(Protocol):
    """What the session does around a command line, and its clock."""

    @property
    def clock(self) -> Clock: ...

    def known(self, child: Child) -> None:
        """Make durable which processes these are. What it raises keeps the command from beginning."""

    def beat(self) -> None:
        """Called at least once a second."""

    def clear(self) -> Swept:
        """End everything that is left, without the warden."""


def carry(command: Command, env: Mapping[str, str], flow: Flow, stop: Stop, care: Care, *, heeded: int = 0) -> Course:
    """Start it, watch it, end it with all that it started. A new wish of `stop` ends it, one more ends it at once.

    `heeded`: how many of its wishes ended something else; one that came while the process was made is not among them.
    """
    stdin = -1
    try:
        stdin = _input(command.stdin)
        if isinstance(command.stdin, bytes):
            os.utime(stdin, ns=(0, 0))  # so that any reading of it shows
        child = spawn(
            command.argv,
            env,
            cwd=os.path.abspath(command.cwd or "."),
            stdin=stdin,
            stdout=flow.ends[0],
            stderr=flow.ends[1],
            timeout_s=command.timeout_s,
            grace_s=command.grace_s,
        )
    except OSError as error:  # its input cannot be read, or the directory where we are is gone
        _close(stdin)
        return Course("spawn", 126, f"spawn: {error.filename or command.argv[0]}: {error.strerror}")
    except BaseException:
        _close(stdin)
        raise
    finally:
        flow.start()
    course = Course()
    try:
        care.known(child)
        child.go()
        course = _watch(child, command, env=env, flow=flow, stop=stop, care=care, wishes=heeded)
        if isinstance(command.stdin, bytes):
            course = course._replace(taken=_taken(stdin))
    finally:
        os.close(stdin)
        child.close(behind=bool(course.survivors))
    if course.lost:
        swept = care.clear()
        course = course._replace(others=swept.met, survivors=swept.survivors)
    flow.drain()
    return course


def _watch(
    child: Child, command: Command, *, env: Mapping[str, str], flow: Flow, stop: Stop, care: Care, wishes: int
) -> Course:
    poll = select.poll()
    poll.register(child.fd, select.POLLIN)
    poll.register(stop.fd, select.POLLIN)
    late = command.grace_s + KILLING + PATIENCE  # from the asking to the warden's last word
    wish = ""
    begun = care.clock.monotonic()
    given_up = None if command.timeout_s is None else begun + command.timeout_s + late
    while True:
        care.beat()
        now = care.clock.monotonic()
        rest = TICK
        if command.silence_s is not None and not wish:
            rest = command.silence_s - min(flow.silent_s(now), now - begun)
            if rest <= 0:
                wish, given_up = "silence", now + late
                child.end()
        if given_up is not None and now > given_up:
            child.kill_warden()  # somebody stopped it; what was to be ended is ended without it
            wish, given_up = wish or "deadline", None
        ready = dict(poll.poll(max(0.0, min(rest, TICK)) * 1000))
        if stop.fd in ready:
            stop.heard()
        if stop.times > wishes:
            at_once = wish or stop.times > wishes + 1
            wish, wishes, given_up = wish or "cancelled", stop.times, care.clock.monotonic() + late
            (child.kill if at_once else child.end)()
        for report in child.hear() if child.fd in ready else ():
            if "failed" in report:
                told = report["failed"]
                failure = explain(told["stage"], told["errno"], command.argv, env, command.cwd or ".")
                code = 127 if failure.word in ("not-found", "bad-interpreter", "cwd") else 126
                return Course("spawn", code, f"spawn: {failure.text}", tree=child.tree)
            if "ended" in report:
                return _judge(report["ended"], command, wish, stop)
            if "broken" in report:
                return Course("warden", None, f"the warden gave up: {report['broken']}", tree=child.tree, lost=True)
        if child.lost:
            cause = wish or "warden"
            return Course(cause, None, _text(cause, command, stop), tree=child.tree, lost=True)


def _judge(ended: dict[str, Any], command: Command, wish: str, stop: Stop) -> Course:
    """The wait status decides, except where it is our doing: who is ended at the deadline has not made it."""
    code = ended["code"]
    cause, text = "", ""
    if ended["why"]:
        cause = "deadline" if ended["why"] == "deadline" else wish
        text = _text(cause, command, stop)
    elif code > 0:
        cause, text = "exit", f"exit code {code}"
    elif code < 0:
        cause, text = "signal", f"killed by {signal_name(-code)}"
    others, survivors = (tuple(Named(*one) for one in ended[key]) for key in ("others", "survivors"))
    return Course(cause, code, text, others, survivors, ended["tree"])


def _text(cause: str, command: Command, stop: Stop) -> str:
    return {
        "deadline": f"timeout: not done after {command.timeout_s:g} s" if command.timeout_s else "",
        "silence": f"timeout: no output for {command.silence_s:g} s" if command.silence_s else "",
        "cancelled": f"cancelled: {stop.why}",
        "warden": "the warden was killed: how the command ended is not known",
    }[cause]


def _close(fd: int) -> None:
    if fd >= 0:
        os.close(fd)


def _taken(fd: int) -> int:
    """How much of its input the command has read: the position is shared with all that inherited the file, and
    opening it anew by its path in /dev/fd leaves a time of access."""
    info = os.fstat(fd)
    return os.lseek(fd, 0, os.SEEK_CUR) or (info.st_size if info.st_atime_ns else 0)


def _input(given: bytes | str | int | None) -> int:
    """A descriptor to read standard input from. Text waits in memory, not in a pipe: nobody has to feed it."""
    if given is None:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    if isinstance(given, int):
        return os.dup(given)
    if isinstance(given, str):
        return os.open(given, os.O_RDONLY | os.O_CLOEXEC)
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("stdin")
    else:
        with tempfile.TemporaryFile() as file:  # without a name from the beginning
            fd = os.dup(file.fileno())
    with open(fd, "wb", closefd=False) as file:
        file.write(given)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
