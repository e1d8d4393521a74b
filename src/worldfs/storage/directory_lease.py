"""The kernel's lease of a directory whose store the caller has not opened: opening one removes files and loads more."""

from __future__ import annotations

import os

from .lease import Lease
from .root_lock import RootLock


def directory_lease(path: str | os.PathLike[str]) -> Lease:
    """The lease that the kernel of a workspace takes, or the runner of an agent; not taken, and nothing is touched."""
    return RootLock(path, "")
