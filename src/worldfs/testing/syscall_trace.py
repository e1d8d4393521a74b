"""A program as the kernel of the system sees it: its system calls on a directory as a log, and faults put into them.

Needs strace and the right to trace. The log is made from the calls alone, so it holds what really reached the system,
whatever the program believes: it is what a `Recorder` must agree with, and what a program under eatmydata fails by.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from .crash_log import DiskOp, Snapshot, inside, snapshot
from .crashes import DiskOpLog

CALLS: Final = (
    "openat", "write", "pwrite64", "ftruncate", "fsync", "fdatasync", "mkdirat", "linkat", "unlinkat", "renameat",
    "renameat2", "rename", "link", "unlink", "mkdir",
    "fsetxattr",
)  # fmt: skip
"""What changes a disk. Others that do, and that nothing here uses, end the reading of a trace with an error."""
UNREAD: Final = (
    "open", "creat", "pwritev", "pwritev2", "writev", "truncate", "fallocate", "rmdir", "symlink", "setxattr",
    "lsetxattr", "symlinkat", "copy_file_range", "sendfile",
)  # fmt: skip
_CALL: Final = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?")
_UNFINISHED: Final = " <unfinished ...>\n"
_RESUMED: Final = re.compile(r"^\d+ +<\.\.\. \w+ resumed>(.*\n)")
_PART: Final = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?|(-?\w+)<((?:\\x[0-9a-f]{2})*)>|([^,\s][^,]*)')


class SyscallFault(NamedTuple):
    """At the nth call of a kind (from 1, counted from the start of the program)."""

    call: str
    n: int
    what: str  # signal=KILL, error=EIO, …


class TracedExit(NamedTuple):
    """How a program ended. `said`: its whole lines."""

    code: int
    said: tuple[str, ...]
    errors: str


@cache
def missing() -> str:
    """Why nothing can be traced here, in words; "" if it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.strip().splitlines()[-1:]}"


def trace(
    argv: Sequence[str], root: Path, work: Path, *, environ: Mapping[str, str] | None = None, preload: str = ""
) -> tuple[DiskOpLog, TracedExit]:
    """Run the program; what it did below `root`. Each line that it prints is an acknowledgement, but for the first.

    The program must be one process with one thread. `preload`: a library to load before the others.
    """
    start, file = snapshot(root), work / "trace"
    how = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", str(1 << 24), "-e", f"trace={','.join((*CALLS, *UNREAD))}"]
    how += ["-e", "signal=none", "-o", str(file), *(["-E", f"LD_PRELOAD={preload}"] if preload else [])]
    ended = _run(["strace", *how, *argv], environ)
    if not file.exists():
        raise OSError(ended.errors)
    with file.open(encoding="ascii") as lines:
        return DiskOpLog(start, list(_TraceReader(os.path.realpath(root), start).read(lines))), ended


def with_fault(argv: Sequence[str], fault: SyscallFault, *, environ: Mapping[str, str] | None = None) -> TracedExit:
    """Run the program and let one of its calls fail, or kill it there."""
    how = ["-f", "-o", os.devnull, "-e", f"trace={fault.call}"]  # with --seccomp-bpf strace 6.1 sends no signals
    return _run(["strace", *how, "-e", f"inject={fault.call}:{fault.what}:when={fault.n}", *argv], environ)


def calls_of(
    argv: Sequence[str], work: Path, *, environ: Mapping[str, str] | None = None
) -> dict[str, tuple[int, int]]:
    """How often each of `CALLS` is made: before the program has printed its first line, and in all."""
    file = work / "calls"
    how = ["-f", "--seccomp-bpf", "-y", "-o", str(file), "-e", f"trace={','.join(CALLS)}", "-e", "signal=none"]
    _run(["strace", *how, *argv], environ)
    before: dict[str, int] = {}
    counts = dict.fromkeys(CALLS, 0)
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            call = line.split(None, 1)[1].partition("(")[0]
            if call in counts:
                counts[call] += 1
            if not before and line.split(None, 1)[1].startswith("write(1<"):
                before = dict(counts)
    return {call: (before.get(call, 0), count) for call, count in counts.items()}


def _run(argv: Sequence[str], environ: Mapping[str, str] | None) -> TracedExit:
    done = subprocess.run(argv, capture_output=True, env=environ, check=False)
    *said, _ = done.stdout.decode().split("\n")
    return TracedExit(done.returncode, tuple(said), done.stderr.decode(errors="replace"))


def _whole(lines: Iterator[str]) -> Iterator[str]:
    """Each call in one line: one that another thread's line stands in the middle of (its exit, say) is joined again."""
    begun: dict[str, str] = {}
    for line in lines:
        pid = line.partition(" ")[0]
        if end := _RESUMED.match(line):
            yield begun.pop(pid, "") + end[1]
        elif line.endswith(_UNFINISHED):
            begun[pid] = line.removesuffix(_UNFINISHED)
        else:
            yield line


class _TraceReader:
    """Turns calls into operations; knows how long each file is, because a call to append does not say where."""

    def __init__(self, root: str, start: Snapshot) -> None:
        self.root = root
        self.folders = {"", *start.folders}
        self.sizes = {path: [len(data)] for path, data in start.files.items()}
        self.sizes |= {path: self.sizes[first] for path, first in start.hard_links.items()}
        self.open: dict[str, int] = {}  # fd → where it writes next; -1: at the end
        self.begun = False

    def read(self, lines: Iterator[str]) -> Iterator[DiskOp]:
        main = ""
        for line in _whole(lines):
            found = _CALL.match(line)
            if found is None:
                continue
            pid, call, text, result, _ = found.groups()
            main = main or pid
            if int(result) < 0:
                continue
            parts = [_part(*part) for part in _PART.findall(text)]
            if pid != main or call in UNREAD:
                if call != "openat" and any(self._ours(part) for part in parts):
                    raise ValueError(f"a call that the reader does not know, or another process: {line[:200]}")
                continue
            if call in ("rename", "link", "unlink", "mkdir"):
                call, parts = f"{call}at", [part for name in parts for part in ("AT_FDCWD", name)]
            yield from getattr(self, f"_{call}")(parts, int(result))

    def _ours(self, part: object) -> bool:
        path = part[1] if isinstance(part, tuple) else os.fsdecode(part) if isinstance(part, bytes) else ""
        return inside(self.root, path) is not None

    # parts: of a descriptor (number, path), of a string bytes, else the unchanged text

    def _openat(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        path, flags = self._at(parts, 0), str(parts[2]).split("|")
        if path is None:
            return
        self.open[str(result)] = -1 if "O_APPEND" in flags else 0
        if "O_CREAT" in flags and path not in self.sizes:
            self.sizes[path] = [0]
            yield DiskOp("create", path)
        elif "O_TRUNC" in flags and self.sizes[path][0]:
            self.sizes[path][0] = 0
            yield DiskOp("truncate", path)

    def _write(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        fd, path, data = self._file(parts)
        if fd == "1":
            for line in data.decode().splitlines():
                if self.begun:
                    yield DiskOp("ack", line)
                self.begun = True
        elif path is not None and result:
            at = self.open[fd] if self.open[fd] >= 0 else self.sizes[path][0]
            if self.open[fd] >= 0:
                self.open[fd] += result
            yield self._written(path, data[:result], at)

    def _pwrite64(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        _, path, data = self._file(parts)
        if path is not None and result:
            yield self._written(path, data[:result], int(str(parts[3])))

    def _written(self, path: str, data: bytes, at: int) -> DiskOp:
        self.sizes[path][0] = max(self.sizes[path][0], at + len(data))
        return DiskOp("write", path, at=at, data=data)

    def _ftruncate(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        path = self._file(parts)[1]
        if path is not None:
            self.sizes[path][0] = int(str(parts[1]))
            yield DiskOp("truncate", path, at=self.sizes[path][0])

    def _fsetxattr(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        path = self._file(parts)[1]
        if path is not None:
            yield DiskOp("stamp", path, data=bytes(parts[2]) if isinstance(parts[2], bytes) else b"")

    def _fsync(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        path = self._file(parts)[1]
        if path is not None:
            yield DiskOp("sync_dir" if path in self.folders else "sync", path)

    _fdatasync = _fsync

    def _mkdirat(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        path = self._at(parts, 0)
        if path is not None:
            self.folders.add(path)
            yield DiskOp("mkdir", path)

    def _unlinkat(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        path = self._at(parts, 0)
        if path is not None:
            self.sizes.pop(path)
            yield DiskOp("unlink", path)

    def _linkat(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        path, other = self._at(parts, 0), self._at(parts, 2)
        if path is not None and other is not None:
            self.sizes[other] = self.sizes[path]
            yield DiskOp("link", path, other)

    def _renameat(self, parts: Sequence[object], result: int) -> Iterator[DiskOp]:
        path, other = self._at(parts, 0), self._at(parts, 2)
        if path is None or other is None:
            return
        if "RENAME_EXCHANGE" in map(str, parts):
            self.sizes[path], self.sizes[other] = self.sizes[other], self.sizes[path]
            yield DiskOp("swap", path, other)
            return
        if path in self.folders:
            old = f"{path}/"
            self.folders = {other + one[len(path) :] if f"{one}/".startswith(old) else one for one in self.folders}
            self.sizes = {other + k[len(path) :] if k.startswith(old) else k: v for k, v in self.sizes.items()}
        else:
            self.sizes[other] = self.sizes.pop(path)
        yield DiskOp("rename", path, other)

    _renameat2 = _renameat

    def _file(self, parts: Sequence[object]) -> tuple[str, str | None, bytes]:
        head = parts[0]
        if not isinstance(head, tuple):
            return str(head), None, b""
        data = parts[1] if len(parts) > 1 and isinstance(parts[1], bytes) else b""
        return head[0], inside(self.root, head[1]), data

    def _at(self, parts: Sequence[object], index: int) -> str | None:
        """The path of a directory's descriptor and a name."""
        above, name = parts[index], parts[index + 1]
        if not isinstance(name, bytes):
            return None
        whole = os.fsdecode(name)
        if not whole.startswith("/"):
            if not isinstance(above, tuple):
                return None
            whole = f"{above[1]}/{whole}"
        return inside(self.root, os.path.normpath(whole))


def _part(text: str, cut: str, number: str, path: str, other: str) -> object:
    if cut:
        raise ValueError("a string that strace cut off")
    if number:
        return number, os.fsdecode(bytes.fromhex(path.replace("\\x", "")))
    return other.strip() if other else bytes.fromhex(text.replace("\\x", ""))
