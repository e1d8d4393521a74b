"""The scene of a workspace on disk, for a robot that sees nothing itself."""

from __future__ import annotations

from pathlib import Path

from worldfs.base.dir_reader import DirReader
from worldfs.base.errors import WorldError
from worldfs.base.model import Scene
from worldfs.formats import environment


def read_environment(home: Path | None) -> Scene | None:
    """ENVIRONMENT.md of a workspace; None where there is none that can be read."""
    if home is None:
        return None
    walk = DirReader(home)
    try:
        return environment.read(walk.read("ENVIRONMENT.md") or b"").scene
    except WorldError:
        return None  # the preflight has reported it
    finally:
        walk.close()
