"""Power-cut tests: a workload on a real file system over a disk whose every write is logged; then each disk that a
power cut may have left, mounted by the system and checked.

The parts, all of Debian's qemu-system-common, e2fsprogs and mount: qemu-storage-daemon writes the log (its block driver
`blklogwrites`) and shows the disk as a file (its FUSE export); a loop device makes a block device of it. Needs root.
What a disk may lose: see block_log.py. Everything is in memory where there is room, so that a flush costs nothing.
"""

from __future__ import annotations

import errno
import gc
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Final, NamedTuple

from worldfs.base.disk import Disk

from .block_log import BlockLog, Blocks, PowerCutDisk, replay, write_image
from .crashes import CrashCheckCounts, CrashCheckFailure, scratch_directory
from .workloads import Workload
from .workloads.crash_check import compare, record_workload, views_of

LOG: Final = 8 << 30  # bytes, nearly all of them a hole
SAID: Final = 4000  # characters of what a failed check says, less than a pipe holds
ROOT: Final = "root"  # the directory of the workload, on the disk
ELSEWHERE: Final = "another mount namespace keeps the file system, as `ip netns exec` does"
PACKAGES: Final = {
    "qemu-storage-daemon": "qemu-system-common", "losetup": "mount", "mount": "mount", "umount": "mount",
}  # fmt: skip


class FileSystem(NamedTuple):
    """`size`: bytes of a disk that is large enough. `make`: without lazy beginnings and discards; they blur the log."""

    name: str
    package: str
    size: int
    make: tuple[str, ...]
    forget: tuple[str, ...] = ()
    """What makes the system forget a disk that it has seen."""


FILE_SYSTEMS: Final = {
    one.name: one
    for one in (
        FileSystem("ext4", "e2fsprogs", 64 << 20, (
            "mkfs.ext4", "-q", "-F", "-b", "4096", "-N", "2048", "-J", "size=4",
            "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard",
        )),
        FileSystem("xfs", "xfsprogs", 320 << 20, ("mkfs.xfs", "-q", "-f", "-K")),
        FileSystem("btrfs", "btrfs-progs", 160 << 20, ("mkfs.btrfs", "-q", "-f", "-K"),
                   ("btrfs", "device", "scan", "--forget")),
    )
}  # fmt: skip


class LoggedRun(NamedTuple):
    """A workload's run on a logged disk. `begin`: the entries of the log before it; `acks`: those at each
    acknowledgement."""

    log: BlockLog
    begin: int
    acks: tuple[int, ...]

    def acked(self, after: int) -> int:
        """How many steps had been acknowledged when the log had so many entries."""
        return sum(at <= after for at in self.acks)


Live = Callable[[Path], Iterator[object]]
"""Lives in a directory. What it yields is an acknowledgement, and it does nothing until the next is asked for."""


@cache
def missing(kind: str = "ext4") -> str:
    """Why this file system cannot be tested here; "" if it can."""
    if not sys.platform.startswith("linux") or os.geteuid():
        return "a power-cut lab needs Linux and root: it makes and mounts a file system"
    system = FILE_SYSTEMS[kind]
    tools = PACKAGES | {system.make[0]: system.package}
    for tool, package in tools.items():
        if shutil.which(tool) is None:
            return f"{tool} is not installed (Debian: apt-get install {package})"
    try:
        with scratch_directory() as place, _logged(place, system):
            return ""
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or error
        return f"a power-cut lab with {kind} cannot be set up here: {str(said).strip()[-300:]}"


def cut_power(
    workload: Workload, live: Live | None = None, *, kind: str = "ext4", lots: int = 2, seed: int = 0
) -> CrashCheckCounts:
    """Live once on the logged disk, and survive a power cut after each write. `CrashCheckFailure` at the first that it
    does not.

    `live`: another way to run it. `kind`: one of `FILE_SYSTEMS`. `lots`: random disks at each cut.
    """
    with scratch_directory() as place:
        views = list(views_of(workload, place, record_workload(workload, place / "first")))
        system = FILE_SYSTEMS[kind]
        lived = live_logged(place, system, workload.prepare, live or (lambda path: workload.run(path, Disk())))
        assert len(lived.acks) == len(views) - 1, "it did not live to its end"

        def check(path: Path, acked: int) -> None:
            compare(workload.inspect(path), (views[acked], views[min(acked + 1, len(views) - 1)]))

        with closing(lived.log):
            return try_cuts(place, system, lived, check, lots=lots, seed=seed)


def live_logged(place: Path, system: FileSystem, prepare: Callable[[Path], None], live: Live) -> LoggedRun:
    """Make the file system in files below `place`, prepare the durable state, and run there."""
    with _logged(place, system) as (mounted, log):
        root = mounted / ROOT
        root.mkdir()
        prepare(root)
        _run("sync", "--file-system", str(mounted))
        begin = log.follow()
        with _letting_go():
            acks = [log.follow() for _ in live(root)]
    log.follow()  # and what the unmounting wrote
    return LoggedRun(log, begin, tuple(acks))


def try_cuts(
    place: Path,
    system: FileSystem,
    lived: LoggedRun,
    check: Callable[[Path, int], object],
    *,
    lots: int = 2,
    seed: int = 0,
) -> CrashCheckCounts:
    """Check every disk, each once: its directory, and how many steps had been acknowledged."""
    seen: set[tuple[int, int]] = set()
    tried, since = 0, time.perf_counter()
    with _sample(place, system) as mount:
        for cut in replay(lived.log, lived.begin, lots=lots, seed=seed):
            acked = lived.acked(cut.after)
            looks = (acked, hash(frozenset((number, hash(data)) for number, data in cut.blocks.items())))
            if looks not in seen:
                seen.add(looks)
                tried += 1
                _try(mount, cut, acked, check)
    return CrashCheckCounts(len(lived.log.entries) - lived.begin, tried, time.perf_counter() - since)


Mount = Callable[[Blocks], AbstractContextManager[Path]]


def _try(mount: Mount, cut: PowerCutDisk, acked: int, check: Callable[[Path, int], object]) -> None:
    with mount(cut.blocks) as path:
        wrong = _in_a_copy(lambda: check(path / ROOT, acked))
    if wrong:
        words = f"after {acked} acknowledged steps the power was cut, at write {cut.after}: {cut.note}"
        raise CrashCheckFailure(f"{wrong}\n{words}")


def _in_a_copy(check: Callable[[], object]) -> str:
    """What a check says that fails, in a copy of this process: a disk whose files stay open could not be unmounted."""
    reading, writing = os.pipe()
    if not (copy := os.fork()):
        try:
            check()
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-8)}"[:SAID].encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8", errors="replace") as said:
        wrong = said.read()
    code = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    return wrong or (f"the check ended with {code}" if code else "")


@contextmanager
def _letting_go() -> Iterator[None]:
    """Close all files of a life that failed: a file system with open files cannot be unmounted."""
    try:
        yield
    except Exception as error:
        traceback.clear_frames(error.__traceback__)
        gc.collect()
        raise


# -- the disk that is logged ------------------------------------------------------------------------------------------


@contextmanager
def _logged(place: Path, system: FileSystem) -> Iterator[tuple[Path, BlockLog]]:
    """A fresh file system that is mounted, and the log of its disk. The log stays when everything else is gone."""
    raw, log, shown, mounted = (place / name for name in ("disk", "log", "shown", "mounted"))
    for path, size in ((raw, system.size), (log, LOG), (shown, 0)):
        with path.open("wb") as file:
            file.truncate(size)
    mounted.mkdir()
    with ExitStack() as stack:
        stack.enter_context(_daemon(raw, log, shown))
        device = stack.enter_context(_loop(shown))
        _run(*system.make, device)
        stack.enter_context(_mounted(device, mounted, system))
        yield mounted, BlockLog(log)


@contextmanager
def _daemon(raw: Path, log: Path, shown: Path) -> Iterator[None]:
    nodes = (
        f"driver=file,node-name=raw,filename={raw}",
        f"driver=file,node-name=log,filename={log}",
        "driver=blklogwrites,node-name=logged,file=raw,log=log,log-sector-size=512",
    )
    argv = ["qemu-storage-daemon", *(word for node in nodes for word in ("--blockdev", node))]
    argv += ["--export", f"type=fuse,id=shown,node-name=logged,mountpoint={shown},writable=on"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as daemon:
        try:
            _until(lambda: shown.stat().st_size > 0 or daemon.poll() is not None, f"{shown} shows no disk")
            if daemon.poll() is not None:
                raise OSError(f"qemu-storage-daemon: {daemon.stderr.read() if daemon.stderr else ''}")
            yield
        finally:
            daemon.terminate()
            daemon.wait(timeout=30)


@contextmanager
def _loop(path: Path) -> Iterator[str]:
    device = _run("losetup", "--find", "--show", str(path)).strip()
    try:
        yield device
    finally:
        _run("losetup", "--detach", device)
        _until(
            lambda: not _shows(device, path),
            f"{device} still shows {path}: {ELSEWHERE}",
        )


def _is_free(device: str) -> bool:
    """Whether its file system is mounted nowhere: the next mount would show what that one remembers, not the disk."""
    try:
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


def _shows(device: str, path: Path) -> bool:
    """Whether the device shows the file: another lab may have taken a device that was let go of."""
    try:
        return Path(f"/sys/block/{Path(device).name}/loop/backing_file").read_text().startswith(f"{path}\n")
    except OSError:
        return False


# -- the disks after a cut -- ---------------------------------------------------------------------------------------


@contextmanager
def _sample(place: Path, system: FileSystem) -> Iterator[Mount]:
    """A device that shows one disk after the other: its cache is dropped when it is unmounted."""
    image, found = place / "image", place / "found"
    found.mkdir()
    write_image({}, image, system.size)
    with _loop(image) as device:

        @contextmanager
        def mount(blocks: Blocks) -> Iterator[Path]:
            write_image(blocks, image, system.size)
            with _mounted(device, found, system):
                yield found

        yield mount


@contextmanager
def _mounted(device: str, path: Path, system: FileSystem) -> Iterator[None]:
    _run("mount", "-t", system.name, device, str(path))
    try:
        yield
    finally:
        gc.collect()  # a life that was broken off has open files in cycles of references
        _run("umount", str(path))
        _until(lambda: _is_free(device), f"{device} is still in use: {ELSEWHERE}")
        if system.forget:
            _run(*system.forget, device)


# -- other programs ---------------------------------------------------------------------------------------------------


def running_program(argv: Sequence[str], environ: Mapping[str, str]) -> Iterator[str]:
    """The lines that a program prints after its first, each when it has printed it; it goes on when the next is asked.

    The program reads a byte after each line that it prints.
    """
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ) as child:
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdout.readline()
            yield from _lines(child.stdin, child.stdout)
        finally:
            with suppress(OSError):
                child.stdin.close()
            child.wait(timeout=60)


def _lines(stdin: IO[str], stdout: IO[str]) -> Iterator[str]:
    while True:
        with suppress(BrokenPipeError):
            stdin.write("\n")
            stdin.flush()
        if not (line := stdout.readline()):
            return
        yield line.rstrip("\n")


def _run(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout


def _until(true: Callable[[], bool], why: str, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise OSError(f"waited {seconds} s in vain: {why}")
        time.sleep(0.01)
