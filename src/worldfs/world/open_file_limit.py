"""The limit of open files: raised where the system allows it, and checked before a fleet begins."""

from __future__ import annotations

import resource
from typing import Final

from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded

OF_PROCESS: Final = 128  # libraries, the shared workspace, agents, some connections
OF_ROBOT: Final = 8  # its directory, its locks, and what is opened for a moment
AT_LEAST: Final = 4_096  # asked for where the system allows it


def provide_open_files(robots: int) -> None:
    """Raise the process's limit to what so many robots with directories of their own need, and more where allowed.

    Raises `MissingRequirement` with the number that is needed where the system allows less.
    """
    needed = OF_PROCESS + OF_ROBOT * robots
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else max(soft, needed, AT_LEAST)
    if needed > most:
        raise MissingRequirement(
            coded("fleet.few_open_files", most=most, robots=robots), op="up",
            expected=coded("fleet.open_files", n=needed), fix=coded("fleet.raise_open_files", n=needed),
        )  # fmt: skip
    wanted = min(most, max(soft, 2 * needed, AT_LEAST))
    if soft != resource.RLIM_INFINITY and wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
