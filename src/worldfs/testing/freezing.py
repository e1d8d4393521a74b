"""A process that is frozen (SIGSTOP), as a stalled host is."""

from __future__ import annotations

import os
import signal

from worldfs.base.proc import find_process

from .waiting import until


def freeze(pid: int) -> None:
    """Return once none of its threads runs: on a busy machine one may go on, and answer, for a while."""
    os.kill(pid, signal.SIGSTOP)
    threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    until(lambda: all(one is None or one.dead or one.state == "T" for one in map(find_process, threads)))
