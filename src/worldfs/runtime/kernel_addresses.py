"""Where a kernel hears stops besides its socket file: at a name in no directory, made from the workspace's path.

While a kernel runs, the directory at that path may be replaced (`mv --exchange`, a link that is switched, a checkout),
or lose its socket file (`rsync --delete`): a person who stops "the robots of this path" still means what it drives.

    worldfs-stop/<path>/<its real path>/<name of the socket file>/<pid>    an abstract name (man 7 unix), Linux only
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from worldfs.storage.revision import of

_FIRST: Final = "worldfs-stop"
_LISTED: Final = "/proc/net/unix"  # num, refs, protocol, flags, type, state, inode, name; an abstract one begins with @


class KernelAddress(NamedTuple):
    address: str
    pid: int


def own_address(root: str | os.PathLike[str], name: str) -> str:
    """Of this process, beside its socket file `name`."""
    return "/".join((f"\0{_FIRST}", *_places(root), name, str(os.getpid())))


def kernel_addresses(root: str | os.PathLike[str], users: Collection[int]) -> Mapping[str, KernelAddress]:
    """By the names of their socket files: the kernels that live and were started for that path. Each belongs to one of
    `users`: any program can take a name. {} where the system does not tell."""
    if sys.platform != "linux":
        return {}
    found, places = {}, set(_places(root))
    with suppress(OSError), open(_LISTED, "rb") as lines:
        for line in lines:
            parts = line.decode("ascii", "replace").split()
            first, *more = parts[-1].split("/")
            if first != f"@{_FIRST}" or len(more) != 4 or not places.intersection(more[:2]) or not more[3].isdecimal():
                continue
            pid = int(more[3])
            if _belongs(pid, parts[6], users):
                found[more[2]] = KernelAddress(f"\0{parts[-1][1:]}", pid)
    return found


def name_in(address: object) -> str:
    """The name of the socket file of the kernel that sent from there; "": of none."""
    said = os.fsdecode(address) if isinstance(address, str | bytes) else ""
    parts = said.split("/")
    return parts[3] if parts[0] == f"\0{_FIRST}" and len(parts) == 5 else parts[-1]


def bind_address(address: str) -> socket.socket | None:
    """A socket there; None where the system has no such names."""
    if sys.platform != "linux":
        return None
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made


def _places(root: str | os.PathLike[str]) -> tuple[str, str]:
    return of(os.fsencode(os.path.abspath(root))), of(os.fsencode(os.path.realpath(root)))


def _belongs(pid: int, inode: str, users: Collection[int]) -> bool:
    """Whether that process has the socket, and is of one of these users."""
    here = f"/proc/{pid}/fd"
    try:
        if os.stat(here).st_uid not in users:
            return False
        with os.scandir(here) as entries:
            return any(_leads_to(entry.path, f"socket:[{inode}]") for entry in entries)
    except OSError:
        return False


def _leads_to(link: str, target: str) -> bool:
    try:
        return os.readlink(link) == target
    except OSError:
        return False
