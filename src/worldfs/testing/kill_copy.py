"""A copy of a home that is in use, as a SIGKILL at this moment would leave it."""

import shutil
from contextlib import suppress
from pathlib import Path


def copy_as_killed(home: Path, to: Path) -> Path:
    """Copy `home` to `to`, until a copy was made during which no file moved or grew: a plain copy of a tree in use
    misses a file that is renamed from a folder that it comes to later into one that it has passed.
    """
    while True:
        before = _sizes(home)
        with suppress(shutil.Error):
            shutil.copytree(home, to, ignore=shutil.ignore_patterns("*.lock", "drafts", "sockets"))
            if _sizes(home) == before:
                return to
        shutil.rmtree(to)


def _sizes(home: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in home.rglob("*"):
        with suppress(FileNotFoundError):
            found[str(path)] = path.stat().st_size
    return found
