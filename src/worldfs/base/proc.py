"""Processes from /proc: descendants and ancestors, marked environments, and signals that reach exactly one process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

PROC: Final = "/proc"
ZOMBIE: Final = "ZX"
MARK: Final = "WORLDFS_FOREIGN"  # in the environment of a foreign program and of all that it starts
NO_PROCESS: Final = 0  # no process has this number
ROUNDS: Final = 50  # of killing what is there: a program that breeds faster is out of reach


class ProcessEntry(NamedTuple):
    """One process at one moment; `pid` and `start` together name it until the machine is started again."""

    pid: int
    parent: int
    group: int
    session: int
    start: int  # clock ticks since boot (man 5 proc, /proc/PID/stat field 22)
    state: str  # R S D T t Z …
    name: str  # at most 15 bytes

    @property
    def id(self) -> tuple[int, int]:
        return self.pid, self.start

    @property
    def dead(self) -> bool:
        """It has ended, and its parent has yet to collect the status."""
        return self.state in ZOMBIE


def visible() -> bool:
    """Whether this system has /proc in Linux's form."""
    return os.path.exists(f"{PROC}/self/stat")


def find_process(pid: int) -> ProcessEntry | None:
    """The process of that number now, zombies too; None if there is none."""
    try:
        fd = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(fd, 4096)
        finally:
            os.close(fd)
    except OSError:
        return None
    # "PID (NAME) STATE …": the name may hold blanks and parentheses, so its end is the last one.
    before, _, after = text.rpartition(b")")
    fields = after.split()
    if len(fields) < 20:
        return None
    return ProcessEntry(
        pid,
        int(fields[1]),
        int(fields[2]),
        int(fields[3]),
        int(fields[19]),
        fields[0].decode(),
        before.partition(b"(")[2].decode(errors="replace"),
    )


def all_processes() -> Iterator[ProcessEntry]:
    try:
        names = os.listdir(PROC)
    except OSError:
        return
    for name in names:
        if name[0] in "123456789" and (found := find_process(int(name))) is not None:
            yield found


def descendants(top: int, among: Iterable[ProcessEntry]) -> list[ProcessEntry]:
    """All descendants of `top`, parents before their children."""
    children: dict[int, list[ProcessEntry]] = {}
    for one in among:
        children.setdefault(one.parent, []).append(one)
    found: list[ProcessEntry] = []
    ahead = [top]
    while ahead:
        next_ones = children.pop(ahead.pop(), ())  # popped: a reused number makes no circle
        found += next_ones
        ahead += [one.pid for one in next_ones]
    return found


def ancestors(pid: int) -> list[int]:
    """`pid`, its parent, and so on up to the first process."""
    line = [pid]
    while (one := find_process(line[-1])) is not None and one.parent and one.parent not in line:
        line.append(one.parent)
    return line


def send_signal(one: ProcessEntry, number: int) -> bool:
    """Send a signal to exactly this process; False if it has gone. `PermissionError` if it belongs to another user.

    By a process descriptor where there are any: a pid may be reused between the check and the signal.
    """
    try:
        fd = os.pidfd_open(one.pid)
    except (AttributeError, OSError):
        with suppress(ProcessLookupError):
            if _same(one):
                os.kill(one.pid, number)
                return True
        return False
    try:
        if not _same(one):
            return False
        signal.pidfd_send_signal(fd, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(fd)
    return True


def _same(one: ProcessEntry) -> bool:
    now = find_process(one.pid)
    return now is not None and now.start == one.start


def marked(mark: Iterable[bytes]) -> Iterator[ProcessEntry]:
    """Every process that was started with all of these `NAME=value` in its environment, as far as /proc may be read."""
    wanted = set(mark)
    for one in all_processes():
        if not one.dead and wanted <= environment(one.pid):
            yield one


def end_family(pid: int, mark: str) -> None:
    """Kill the group of a foreign program and all that it has started, also in sessions of their own: what has its
    `mark` in its environment, and the descendants of that."""
    found = _family(pid, mark)  # first: what it leaves behind has another parent
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    _end_all(pid, mark, found)


def _end_all(pid: int, mark: str, found: list[ProcessEntry]) -> None:
    for _ in range(ROUNDS):
        for one in found:
            with suppress(PermissionError):
                send_signal(one, signal.SIGKILL)
        found = _family(pid, mark)
        if not found:
            return


def _family(pid: int, mark: str) -> list[ProcessEntry]:
    tops = {one.id: one for one in marked((f"{MARK}={mark}".encode(),))}
    if (first := find_process(pid)) is not None and not first.dead:
        tops[first.id] = first
    among = list(all_processes()) if tops else []
    below = {one.id: one for top in tops.values() for one in descendants(top.pid, among) if not one.dead}
    return [*(tops | below).values()]


def environment(pid: int) -> set[bytes]:
    try:
        with open(f"{PROC}/{pid}/environ", "rb") as file:
            return set(file.read().split(b"\0"))
    except OSError:
        return set()


def command_text(one: ProcessEntry, most: int = 120) -> str:
    """Its command line for people, cut; the bare name where it shows none."""
    try:
        with open(f"{PROC}/{one.pid}/cmdline", "rb") as file:
            line = file.read(4 * most).replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        line = ""
    line = "".join(sign if sign.isprintable() else " " for sign in line)
    return line if 0 < len(line) <= most else f"{line[: most - 1]}…" if line else f"[{one.name}]"


def boot_identity() -> dict[str, str]:
    """This boot and this space of process numbers: a pid means something only where both are the same."""
    found = {}
    with suppress(OSError), open(f"{PROC}/sys/kernel/random/boot_id") as file:
        found["boot"] = file.read().strip()
    with suppress(OSError):
        found["pids"] = os.readlink(f"{PROC}/self/ns/pid")
    return found


def end_family_after_us(mark: str) -> None:
    """The program of a foreign program's guard: once its input ends, as it does however its starter ends, it kills
    what has the mark, and the descendants of that. The starter's number may be another's by then."""
    os.read(0, 1)
    _end_all(NO_PROCESS, mark, _family(NO_PROCESS, mark))


if __name__ == "__main__":
    end_family_after_us(sys.argv[1])
