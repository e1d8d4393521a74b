"""The names of agents, and which there are below a state root. Light: `paos agents` has to be there at once."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import Final

from worldfs.ground.errors import BadInput

_SIGNS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")


def is_name(name: str) -> bool:
    """1 to 64 of a-z 0-9 _ -, beginning with a letter or digit (reference, ambiguity 13)."""
    return 0 < len(name) <= 64 and name[0] not in "_-" and set(name) <= _SIGNS


def check_name(name: str) -> str:
    """The name of an agent as it is, or `BadInput`."""
    if is_name(name):
        return name
    raise BadInput(
        f"{name[:80]!r} is no name of an agent",
        op="agent",
        expected="1 to 64 of a-z 0-9 _ -, beginning with a letter or digit",
    )


def names(root: str | os.PathLike[str]) -> list[str]:
    """The agents below a root: directories with an agent's name, sorted; none if it is not there. Follows no link."""
    found = []
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(root) as entries:
        found = [entry.name for entry in entries if is_name(entry.name) and entry.is_dir(follow_symlinks=False)]
    return sorted(found)


def present(root: str | os.PathLike[str], name: str) -> bool:
    """Is there such an agent below a root? No link is followed, and no other name is looked at."""
    if not is_name(name):
        return False
    try:
        return stat.S_ISDIR(os.lstat(os.path.join(root, name)).st_mode)
    except OSError:
        return False
