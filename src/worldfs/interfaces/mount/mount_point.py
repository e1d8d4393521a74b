"""Mounting and unmounting: mount(2) as root, fusermount3 for everybody else."""

from __future__ import annotations

import array
import ctypes
import errno
import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from worldfs.base.errors import BadInput, Busy, MissingRequirement, NotFound, StorageError, from_os
from worldfs.base.messages import coded
from worldfs.supervisor.launch import START_S

DEVICE: Final = "/dev/fuse"
FUSERMOUNT: Final = "fusermount3"
KIND: Final = "fuse.worldfs"
_NO_DEVICES, _NO_SUID, _READ_ONLY, _DETACH = 4, 2, 1, 2
_ESCAPES: Final = re.compile(r"\\([0-7]{3})")


def why_not() -> str:
    """Why nothing can be mounted on this machine; "": it can."""
    if not os.path.exists(DEVICE):
        return coded("posix.no_device", device=DEVICE)
    if os.geteuid() != 0 and shutil.which(FUSERMOUNT) is None:
        return coded("posix.no_program", program=FUSERMOUNT)
    try:
        os.close(os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return f"{DEVICE}: {error.strerror}"
    return ""


def prepare(directory: Path) -> None:
    """Check that something can be mounted there, and clean up after a server that crashed.

    Raises `NotFound`, `BadInput` (no directory), `Busy` (mounted already), `MissingRequirement`.
    """
    try:
        info = os.stat(directory)
    except FileNotFoundError:
        found = coded("tree.no_such_directory")
        raise NotFound(found, path=str(directory), op="mount") from None
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise from_os(error, path=str(directory), op="mount") from None
        unmount(directory, lazy=True)
        info = os.stat(directory)
    if not os.path.isdir(directory):
        raise BadInput(coded("tree.no_directory"), path=str(directory), op="mount")
    if mounted(directory):
        fix = coded("posix.unmount_first", directory=shlex.quote(str(directory)))
        raise Busy(coded("posix.mounted"), path=str(directory), op="mount", fix=fix)
    if info.st_uid != os.geteuid() and os.geteuid() != 0:
        raise BadInput(coded("posix.not_your_directory"), path=str(directory), op="mount")
    if why := why_not():
        fix = coded("posix.install_fuse")
        raise MissingRequirement(why, path=str(directory), op="mount", fix=fix)


def mounted(directory: Path) -> bool:
    """Whether one of our trees is mounted exactly there."""
    there = os.path.realpath(directory.parent) + "/" + directory.name if directory.name else "/"
    return any(place == there for place, kind in _mounts() if kind == KIND)


def mount(directory: Path, *, uid: int, gid: int, allow_other: bool, read_only: bool) -> int:
    """Mount; returns the descriptor of /dev/fuse, non-blocking."""
    if os.geteuid() != 0:
        return _mount_by_program(directory, allow_other=allow_other, read_only=read_only)
    fd = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    options = f"fd={fd},rootmode=40000,user_id={uid},group_id={gid}" + (",allow_other" if allow_other else "")
    flags = _NO_DEVICES | _NO_SUID | (_READ_ONLY if read_only else 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"worldfs", os.fsencode(directory), KIND.encode(), flags, options.encode()) != 0:
        number = ctypes.get_errno()
        os.close(fd)
        raise from_os(OSError(number, os.strerror(number)), path=str(directory), op="mount")
    return fd


def unmount(directory: Path, *, lazy: bool = False) -> None:
    """Raises `Busy` while a process uses it, `BadInput` where nothing of ours is mounted."""
    if not mounted(directory):
        raise BadInput(coded("posix.not_mounted"), path=str(directory), op="unmount")
    if os.geteuid() != 0:
        command = [FUSERMOUNT, "-u", *(["-z"] if lazy else []), "--", str(directory)]
        done = _run(command)
        if done.returncode == 0:
            return
        raise _busy(directory, done.stderr.strip())
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(directory), _DETACH if lazy else 0) != 0:
        number = ctypes.get_errno()
        if number == errno.EBUSY:
            raise _busy(directory, os.strerror(number))
        raise from_os(OSError(number, os.strerror(number)), path=str(directory), op="unmount")


def _run(command: Sequence[str], told: int | None = None) -> subprocess.CompletedProcess[str]:
    """Runs fusermount3, which writes the device's descriptor to `told`. It waits for the directory's file system."""
    try:
        return subprocess.run(
            command,
            env=os.environ if told is None else {**os.environ, "_FUSE_COMMFD": str(told)},
            pass_fds=() if told is None else (told,),
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        why = coded("posix.program_late", program=command[0], s=START_S)
        raise StorageError(why, path=command[-1], op="mount") from None


def _busy(directory: Path, said: str) -> Busy:
    return Busy(
        said, path=str(directory), op="unmount", fix=coded("posix.leave_first", directory=shlex.quote(str(directory)))
    )


def _mount_by_program(directory: Path, *, allow_other: bool, read_only: bool) -> int:
    """fusermount3 mounts for an ordinary user, and sends the descriptor through a socket."""
    options = ["fsname=worldfs", "subtype=worldfs", "nosuid", "nodev"]
    options += ["allow_other"] if allow_other else []
    options += ["ro"] if read_only else []
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours, theirs:
        done = _run([FUSERMOUNT, "-o", ",".join(options), "--", str(directory)], theirs.fileno())
        if done.returncode != 0:
            fix = coded("posix.allow_other_conf") if allow_other else ""
            raise BadInput(done.stderr.strip(), path=str(directory), op="mount", fix=fix)
        descriptors = array.array("i")
        _, control, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(descriptors.itemsize))
        for level, kind, data in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(data[: descriptors.itemsize])
    os.set_blocking(descriptors[0], False)
    os.set_inheritable(descriptors[0], False)
    return descriptors[0]


def _mounts() -> list[tuple[str, str]]:
    """Directory and kind of every mount that this process sees."""
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
        rows = [line.split(" ") for line in file]
    return [(_ESCAPES.sub(lambda found: chr(int(found[1], 8)), row[1]), row[2]) for row in rows]
