"""What a killed runner left behind: its processes are ended, its files closed, and the next session is informed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from worldfs.base import proc
from worldfs.base.clock import Clock, stamp
from worldfs.base.durable import Root
from worldfs.base.errors import WorldError
from worldfs.base.json_values import as_object
from worldfs.base.model import Json
from worldfs.base.proc import ProcessEntry

from . import prctl, session_files
from .output_log import join
from .reaper import GRACE, KILLING, Interruption, ProcessLabel, ReapResult, reap
from .session_files import SessionFiles


class OrphanedSession(NamedTuple):
    """A session whose runner disappeared without recording its end."""

    session: str
    ended: tuple[ProcessLabel, ...]  # processes of it that still lived
    survivors: tuple[ProcessLabel, ...]
    log: str  # its output, "" if none


def identity(pid: int) -> Json:
    """A process, in fields that still identify it in the next session."""
    there = proc.find_process(pid)
    return {"pid": pid, "start": there.start if there else 0, **proc.boot_identity()}


def alive(process: object) -> ProcessEntry | None:
    """The process of an `identity`, if it lives, and lives in this boot and this space of process numbers."""
    if not isinstance(process, dict) or any(process.get(key) != value for key, value in proc.boot_identity().items()):
        return None
    pid = process.get("pid")
    there = proc.find_process(pid) if isinstance(pid, int) and pid > 0 else None
    return there if there is not None and not there.dead and there.start == process.get("start") else None


def may_be_alive(process: object) -> bool:
    """As `alive`; where /proc is not available, by the pid alone."""
    if proc.visible():
        return alive(process) is not None
    try:
        os.kill(int(str(as_object(process)["pid"])), 0)
    except (KeyError, ValueError, TypeError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def session_marker(state_dir: str, session: str) -> tuple[bytes, bytes]:
    """What every process of a session carries in its environment, unless it cleared that."""
    return b"PAOS_STATE_DIR=" + os.fsencode(state_dir), b"PAOS_SESSION=" + os.fsencode(session)


def session_processes(trace: SessionFiles, run: Json | None, *, adopted: bool = False) -> list[ProcessEntry]:
    """Every process of a session that can be identified without its supervisor: recorded, marked, and all
    their descendants; with `adopted`, this process's children. Never this process or its ancestors.

    A process that cleared its environment and lost its parents is not found: its group and session are numbers only,
    which another process may have by now.
    """
    known = [one for key in ("warden", "command") if (one := alive((run or {}).get(key))) is not None]
    found = {one.id: one for one in proc.marked(session_marker(os.path.realpath(trace.root.path), trace.id))}
    everyone = list(proc.all_processes())
    if adopted:
        known += proc.descendants(os.getpid(), everyone)
    for one in [*known, *found.values()]:
        found.setdefault(one.id, one)
        for child in proc.descendants(one.pid, everyone):
            found.setdefault(child.id, child)
    ours = set(proc.ancestors(os.getpid()))
    return [one for one in found.values() if one.pid not in ours and not one.dead]


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Inside, orphans below this process become its children, where the system can do that."""
    before = prctl.is_subreaper()
    prctl.become_subreaper()
    try:
        yield
    finally:
        prctl.become_subreaper(before)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # adopted ones that have ended
                pass


def _let_finish(run: Json | None) -> None:
    """A supervisor whose runner has gone ends everything by itself, and sees more of it than this process does."""
    until = time.monotonic() + GRACE + KILLING + 0.2
    while (warden := alive((run or {}).get("warden"))) is not None and time.monotonic() < until:
        proc.send_signal(warden, signal.SIGCONT)
        time.sleep(0.01)


def end_processes(find: Callable[[], list[ProcessEntry]], *, grace: float = GRACE) -> ReapResult:
    """End processes that are not children of this process."""

    def wait(seconds: float) -> Interruption:
        until = time.monotonic() + seconds
        while find():
            if time.monotonic() >= until:
                return ""
            time.sleep(0.005)  # the end of another process's child is not reported here
        return "gone"

    return reap(find, wait, grace=grace, limit=grace + KILLING, now=time.monotonic)


def kill_orphans(root: Root, clock: Clock, *, but: str = "", grace: float = GRACE) -> tuple[OrphanedSession, ...]:
    """End what killed runners left, close their traces. `but`: the session that is beginning.

    A session whose runner lives is left alone. A finding is repeated only until it has been recorded:
    a second call finds nothing.
    """
    found = []
    for id in session_files.session_ids(root):
        trace = SessionFiles(root, id)
        if id == but or trace.has(session_files.EXIT):
            continue
        if not trace.has(session_files.RUN):  # nothing ran: killed before that, or it is just beginning
            continue
        run = trace.read(session_files.RUN)
        if run is not None and may_be_alive(run.get("runner")):
            continue
        _let_finish(run)
        swept = end_processes(lambda trace=trace, run=run: session_processes(trace, run), grace=grace)  # type: ignore[misc]
        with suppress(WorldError):  # a failing disk: found again
            join(root, trace.folder)
            trace.write(
                session_files.EXIT,
                {
                    "session_id": id,
                    "found_at": stamp(clock.now()),
                    "outcome": "error",
                    "cause": "lost",
                    "ended": [one._asdict() for one in swept.reaped],
                    "survivors": [one._asdict() for one in swept.survivors],
                },
            )
        log = trace.path("output.log")
        found.append(OrphanedSession(id, swept.reaped, swept.survivors, log if os.path.exists(log) else ""))
    return tuple(found)
