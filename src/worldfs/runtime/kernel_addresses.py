"""Where a kernel hears stops besides its socket file: at a name in no directory, made from the paths of the workspace
and of the home.

While a kernel runs, the directory at that path may be replaced (`mv --exchange`, a link that is switched, a checkout),
or lose its socket file (`rsync --delete`): a person who stops "the robots of this path" still means what it drives. The
home's config.json may be damaged, or name another workspace by then: a person who stops "the robots of this home" means
every kernel that was started for it.

    worldfs-stop/<path>/<its real path>/[<home>/<its real path>/]<name of the socket file>/<pid>

An abstract name (man 7 unix), Linux only. A kernel that was started for a workspace alone has no home.
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
_LENGTHS: Final = (4, 6)  # of the parts behind that, without and with a home
_LISTED: Final = "/proc/net/unix"  # num, refs, protocol, flags, type, state, inode, name; an abstract one begins with @


class KernelAddress(NamedTuple):
    address: str
    pid: int


def own_address(root: str | os.PathLike[str], name: str, home: str = "") -> str:
    """Of this process, beside its socket file `name`. `home`: whose config.json named the workspace; "": none did."""
    return "/".join((f"\0{_FIRST}", *_places(root), *(_places(home) if home else ()), name, str(os.getpid())))


def kernel_addresses(root: str | os.PathLike[str], users: Collection[int]) -> Mapping[str, KernelAddress]:
    """By the names of their socket files: the kernels that live and were started for that workspace's path. Each
    belongs to one of `users`: any program can take a name. {} where the system does not tell."""
    return _addresses(slice(0, 2), root, users)


def home_kernels(home: str | os.PathLike[str], users: Collection[int]) -> Mapping[str, KernelAddress]:
    """The same of the kernels that were started for that home, whatever its config.json says now."""
    return _addresses(slice(2, -2), home, users)


def _addresses(part: slice, path: str | os.PathLike[str], users: Collection[int]) -> Mapping[str, KernelAddress]:
    """`part`: of the name, where the path is."""
    if sys.platform != "linux":
        return {}
    found, places = {}, set(_places(path))
    with suppress(OSError), open(_LISTED, "rb") as lines:
        for line in lines:
            parts = line.decode("ascii", "replace").split()
            first, *more = parts[-1].split("/")
            if first != f"@{_FIRST}" or len(more) not in _LENGTHS or not more[-1].isdecimal():
                continue
            pid = int(more[-1])
            if places.intersection(more[part]) and _belongs(pid, parts[6], users):
                found[more[-2]] = KernelAddress(f"\0{parts[-1][1:]}", pid)
    return found


def name_in(address: object) -> str:
    """The name of the socket file of the kernel that sent from there; "": of none."""
    said = os.fsdecode(address) if isinstance(address, str | bytes) else ""
    parts = said.split("/")
    return parts[-2] if parts[0] == f"\0{_FIRST}" and len(parts) - 1 in _LENGTHS else parts[-1]


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
