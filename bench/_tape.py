"""What a kernel's work asked of the disk, written down and done again bare: the floor that the work is compared with.

The same calls in the same order on files of the same sizes, each by one line of Python, with nothing decided between.
What only reads (stat, open for reading, leases) is left out of the floor.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from worldfs.base import syscalls
from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.disk import STAMP, Disk, How


class Step(NamedTuple):
    """One call. Paths are relative to the workspace; `count`: bytes, a mode, or flags of `open`."""

    call: str
    path: str
    other: str = ""
    count: int = 0  # type: ignore[assignment]  # not the tuple's method


class Tape(Disk):
    """A disk that writes down what is done through it while `taping`."""

    def __init__(self) -> None:
        super().__init__()
        self.taping = False
        self.steps: list[Step] = []
        self._lock = threading.Lock()

    def take(self) -> list[Step]:
        """What was written down since the last time."""
        with self._lock:
            steps, self.steps = self.steps, []
        return steps

    def _note(self, call: str, path: str, other: str = "", count: int = 0) -> None:
        if self.taping:
            with self._lock:
                self.steps.append(Step(call, path, other, count))

    def create(self, fd: int, name: str, path: str, flags: int, mode: int = 0o644) -> int:
        self._note("create", path, "", flags)
        return super().create(fd, name, path, flags, mode)

    def write(self, fd: int, data: bytes, path: str) -> None:
        self._note("write", path, "", len(data))
        super().write(fd, data, path)

    def append(self, fd: int, data: bytes, path: str) -> None:
        self._note("append", path, "", len(data))
        super().append(fd, data, path)

    def truncate(self, fd: int, size: int, path: str) -> None:
        self._note("truncate", path, "", size)
        super().truncate(fd, size, path)

    def stamp(self, fd: int, value: bytes, path: str) -> None:
        self._note("stamp", path, "", len(value))
        super().stamp(fd, value, path)

    def chmod(self, fd: int, mode: int, path: str) -> None:
        self._note("chmod", path, "", mode)
        super().chmod(fd, mode, path)

    def fsync(self, fd: int, path: str, *, data_only: bool = False) -> None:
        self._note("fdatasync" if data_only else "fsync", path)
        super().fsync(fd, path, data_only=data_only)

    def unlink(self, fd: int, name: str, path: str) -> None:
        self._note("unlink", path)
        super().unlink(fd, name, path)

    def rename(self, source: DirEntryRef, target: DirEntryRef, how: How) -> None:
        self._note(how, source.path, target.path)
        super().rename(source, target, how)

    def fsync_dir(self, fd: int, path: str) -> None:
        self._note("fsync_dir", path)
        super().fsync_dir(fd, path)

    def patch(self, fd: int, data: bytes, at: int, path: str) -> None:
        if self.taping:  # the kernel's lease is taken before; no file is patched while it works
            raise NotImplementedError(f"a floor with {path} patched in place")
        super().patch(fd, data, at, path)

    def mkdir(self, fd: int, name: str, path: str, mode: int) -> None:
        self._note("mkdir", path, "", mode)
        super().mkdir(fd, name, path, mode)


class Replay:
    """Tapes done again below `place`, each as often as `cycles` says, on files that lie ready."""

    def __init__(self, place: Path, tapes: Sequence[Sequence[Step]], cycles: int) -> None:
        self._tapes = tapes
        self._folders: dict[str, int] = {}
        self._files: dict[tuple[int, str], int] = {}  # open for writing
        self._data = b"x" * max([1, *(step.count for tape in tapes for step in tape if step.call != "create")])
        steps = [step for tape in tapes for step in tape]
        made: set[str] = set()
        ready: dict[str, None] = {}  # what must lie there beforehand, one a cycle
        standing: dict[str, None] = {}  # what lies there all the time
        for step in steps:
            if step.call == "fsync_dir":
                self._folder(place, step.path)
                continue
            if step.call == "mkdir":  # done beside this one, which lies ready for the files in it
                (place / step.path).mkdir(parents=True, exist_ok=True)
                self._folder(place, step.path.rpartition("/")[0])
                continue
            for path in filter(None, (step.path, step.other)):
                self._folder(place, path.rpartition("/")[0])
            fresh = step.path not in made and step.path not in standing
            if step.call == "create" and step.count & os.O_EXCL:
                made.add(step.path)
            elif fresh and step.call in ("over", "new", "swap", "create", "unlink"):
                ready[step.path] = None
                made.add(step.path)
            elif fresh:
                standing[step.path] = None
            if step.call == "swap" and step.other not in made:
                standing[step.other] = None
            elif step.call in ("over", "new") and step.other not in standing:
                made.add(step.other)
        self._made = made
        for path in standing:
            (place / path).write_bytes(b"x" * 400)
        for cycle in range(cycles):
            for path in ready:
                (place / f"{path}.{cycle}").write_bytes(b"x" * 400)
        os.sync()
        self._cycle = 0

    def _folder(self, place: Path, path: str) -> None:
        if path not in self._folders:
            (place / path).mkdir(parents=True, exist_ok=True)
            self._folders[path] = os.open(place / path, os.O_RDONLY | os.O_DIRECTORY)

    def seconds(self) -> list[float]:
        """One cycle: what each tape took."""
        suffix, self._cycle = f".{self._cycle}", self._cycle + 1
        took = []
        for tape in self._tapes:
            calls = [self._prepared(step, suffix) for step in tape]
            began = time.perf_counter()
            for call in calls:
                call()
            took.append(time.perf_counter() - began)
        for fd in self._files.values():
            os.close(fd)
        self._files.clear()
        return took

    def _prepared(self, step: Step, suffix: str) -> Callable[[], object]:
        """The call, with nothing left to decide."""
        if step.call == "fsync_dir":
            return partial(os.fsync, self._folders[step.path])
        (above, _, name), (other, _, target) = step.path.rpartition("/"), step.other.rpartition("/")
        name += suffix if step.path in self._made else ""
        target += suffix if step.other in self._made else ""
        folder, count = self._folders[above], step.count
        if step.call == "mkdir":
            return partial(os.mkdir, f"{name}.made{suffix}", count, dir_fd=folder)
        if step.call == "create":
            return partial(self._open, folder, name, count | os.O_CREAT)
        if step.call == "over":
            return partial(os.rename, name, target, src_dir_fd=folder, dst_dir_fd=self._folders[other])
        if step.call in ("new", "swap"):
            flag = syscalls.NOREPLACE if step.call == "new" else syscalls.EXCHANGE
            return partial(syscalls.renameat2, folder, name, self._folders[other], target, flag)
        if step.call == "unlink":
            return partial(os.unlink, name, dir_fd=folder)
        kinds: dict[str, Callable[[int], object]] = {
            "write": partial(_write, self._data[:count]),
            "append": partial(_write, self._data[:count]),
            "truncate": lambda fd: os.ftruncate(fd, count),
            "stamp": lambda fd: os.setxattr(fd, STAMP, self._data[:count]),
            "chmod": lambda fd: os.fchmod(fd, count),
            "fsync": os.fsync,
            "fdatasync": os.fdatasync,
        }
        return partial(self._on, folder, name, kinds[step.call], ends=step.call in ("fsync", "fdatasync"))

    def _open(self, folder: int, name: str, flags: int) -> None:
        self._files[folder, name] = os.open(name, flags, 0o644, dir_fd=folder)

    def _on(self, folder: int, name: str, work: Callable[[int], object], *, ends: bool) -> None:
        """On the open file; a file is closed after it was waited for, as the kernel's are."""
        if (folder, name) not in self._files:
            self._open(folder, name, os.O_WRONLY | os.O_APPEND)
        work(self._files[folder, name])
        if ends:
            os.close(self._files.pop((folder, name)))

    def close(self) -> None:
        for fd in self._folders.values():
            os.close(fd)


def _write(data: bytes, fd: int) -> None:
    os.write(fd, data)
