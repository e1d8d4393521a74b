"""One command line from start to end, under its deadline, its limit of silence, and stop requests."""

from __future__ import annotations

import os
import select
import tempfile
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from worldfs.base.clock import Clock
from worldfs.base.json_values import as_int, as_list, as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .child import Child, explain, spawn
from .command_request import CommandRequest, signal_name
from .output_streams import OutputStreams
from .reaper import KILLING, ProcessLabel, ReapResult
from .stop_request import StopRequest

TICK: Final = 1.0  # s between two checks for silence, at most
PATIENCE: Final = 1.0  # s that the supervisor may be late before it counts as lost


class CommandResult(NamedTuple):
    """How the command ended. `cause`: "" | exit | signal | deadline | silence | cancelled | spawn | warden."""

    cause: str = ""
    code: int | None = None  # as os.waitstatus_to_exitcode: negative for a signal; None: never began, or not known
    text: str = ""  # what went wrong, for people
    others: tuple[ProcessLabel, ...] = ()  # processes of it that were ended after it
    survivors: tuple[ProcessLabel, ...] = ()
    tree: bool = True
    lost: bool = False  # the supervisor has gone: the runner must end the remaining processes without it
    taken: int = 0  # bytes of its standard input that were read, where that is a text

    @property
    def outcome(self) -> str:
        return {"": "completed", "deadline": "timeout", "silence": "timeout"}.get(self.cause, "error")


class CommandHooks(Protocol):
    """The session's actions around a command line, and its clock."""

    @property
    def clock(self) -> Clock: ...

    def on_started(self, child: Child) -> None:
        """Record durably which processes these are. An exception here keeps the command from starting."""

    def heartbeat(self) -> None:
        """Called at least once a second."""

    def clear(self) -> ReapResult:
        """End all remaining processes without the supervisor."""


def run_command(
    command: CommandRequest,
    env: Mapping[str, str],
    flow: OutputStreams,
    stop: StopRequest,
    hooks: CommandHooks,
    *,
    handled_stops: int = 0,
) -> CommandResult:
    """Start it, watch it, end it with all that it started. A new stop request ends it, one more kills it at once.

    `handled_stops`: requests that ended an earlier command; one that came while the process was made is not among them.
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
    except OSError as error:  # its input cannot be read, or the working directory was removed
        _close(stdin)
        why = f"{error.filename or command.argv[0]}: {error.strerror}"
        return CommandResult("spawn", 126, coded("command.spawn", why=why))
    except BaseException:
        _close(stdin)
        raise
    finally:
        flow.start()
    result = CommandResult()
    try:
        hooks.on_started(child)
        child.go()
        result = _watch(child, command, env=env, flow=flow, stop=stop, hooks=hooks, handled_stops=handled_stops)
        if isinstance(command.stdin, bytes):
            result = result._replace(taken=_taken(stdin))
    finally:
        os.close(stdin)
        child.close(behind=bool(result.survivors))
    if result.lost:
        swept = hooks.clear()
        result = result._replace(others=swept.reaped, survivors=swept.survivors)
    flow.drain()
    return result


def _watch(
    child: Child,
    command: CommandRequest,
    *,
    env: Mapping[str, str],
    flow: OutputStreams,
    stop: StopRequest,
    hooks: CommandHooks,
    handled_stops: int,
) -> CommandResult:
    poll = select.poll()
    poll.register(child.fd, select.POLLIN)
    poll.register(stop.fd, select.POLLIN)
    late = command.grace_s + KILLING + PATIENCE  # from the request to the supervisor's final report
    end_reason = ""
    begun = hooks.clock.monotonic()
    given_up = None if command.timeout_s is None else begun + command.timeout_s + late
    while True:
        hooks.heartbeat()
        now = hooks.clock.monotonic()
        rest = TICK
        if command.silence_s is not None and not end_reason:
            rest = command.silence_s - min(flow.silent_s(now), now - begun)
            if rest <= 0:
                end_reason, given_up = "silence", now + late
                child.end()
        if given_up is not None and now > given_up:
            child.kill_supervisor()  # the supervisor was stopped; end its processes without it
            end_reason, given_up = end_reason or "deadline", None
        ready = dict(poll.poll(max(0.0, min(rest, TICK)) * 1000))
        if stop.fd in ready:
            stop.acknowledge()
        if stop.times > handled_stops:
            at_once = end_reason or stop.times > handled_stops + 1
            end_reason, handled_stops, given_up = end_reason or "cancelled", stop.times, hooks.clock.monotonic() + late
            (child.kill if at_once else child.end)()
        for report in child.read_events() if child.fd in ready else ():
            if "failed" in report:
                failed = as_object(report["failed"])
                stage, number = as_text(failed["stage"]), as_int(failed["errno"])
                failure = explain(stage, number, command.argv, env, command.cwd or ".")
                code = 127 if failure.word in ("not-found", "bad-interpreter", "cwd") else 126
                return CommandResult("spawn", code, coded("command.spawn", why=failure.text), tree=child.tree)
            if "ended" in report:
                return _judge(as_object(report["ended"]), command, end_reason, stop)
            if "broken" in report:
                why = coded("command.supervisor_failed", why=str(report["broken"]))
                return CommandResult("warden", None, why, tree=child.tree, lost=True)
        if child.lost:
            cause = end_reason or "warden"
            return CommandResult(cause, None, _text(cause, command, stop), tree=child.tree, lost=True)


def _judge(ended: Json, command: CommandRequest, end_reason: str, stop: StopRequest) -> CommandResult:
    """The wait status decides, except where the runner ended it: then the cause is the runner's reason."""
    code = as_int(ended["code"])
    cause, text = "", ""
    if ended["why"]:
        cause = "deadline" if ended["why"] == "deadline" else end_reason
        text = _text(cause, command, stop)
    elif code > 0:
        cause, text = "exit", coded("command.exit_code", code=code)
    elif code < 0:
        cause, text = "signal", coded("command.killed_by", signal=signal_name(-code))
    others, survivors = _labels(ended["others"]), _labels(ended["survivors"])
    return CommandResult(cause, code, text, others, survivors, ended["tree"] is True)


def _labels(found: object) -> tuple[ProcessLabel, ...]:
    """Processes as the supervisor reports them: pairs of a number and words."""
    return tuple(ProcessLabel(as_int(pid), as_text(words)) for pid, words in map(as_list, as_list(found)))


def _text(cause: str, command: CommandRequest, stop: StopRequest) -> str:
    match cause:
        case "deadline":
            return coded("command.not_done", s=command.timeout_s) if command.timeout_s else ""
        case "silence":
            return coded("command.no_output", s=command.silence_s) if command.silence_s else ""
        case "cancelled":
            return coded("command.was_cancelled", why=stop.why)
        case _:
            return coded("command.supervisor_killed")


def _close(fd: int) -> None:
    if fd >= 0:
        os.close(fd)


def _taken(fd: int) -> int:
    """How much of its input the command has read: the position is shared with all that inherited the file, and
    opening it anew by its path in /dev/fd leaves a time of access."""
    info = os.fstat(fd)
    return os.lseek(fd, 0, os.SEEK_CUR) or (info.st_size if info.st_atime_ns else 0)


def _input(given: bytes | str | int | None) -> int:
    """A descriptor to read standard input from. Text waits in memory, not in a pipe: no thread has to feed it."""
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
