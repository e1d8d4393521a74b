"""What POSIX and Linux say of twelve system calls: all rows, and what comes of them in a directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .posix_calls import answer
from .posix_contents import CONTENTS
from .posix_names import NAMES

CHECKS = [*CONTENTS, *NAMES]


def answers(directory: Path) -> Mapping[str, str]:
    """By "area: name"."""
    return {f"{one.area}: {one.name}": answer(one, directory / f"check_{number}") for number, one in enumerate(CHECKS)}
