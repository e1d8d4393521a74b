"""An idle kernel, as `paos up` starts it: the time it takes of a core, and what it writes. Read from /proc."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ._history import add_history
from ._stand import ROOT, environ, make_workspace, scratch

FIGURES = ("idle.cpu_percent", "idle.writes")
SECONDS = 20.0
SETTLE_S = 3.0  # after the greeting: caches, the first observation


def run() -> dict[str, float]:
    """The worse of a young workspace and one with a long past, watched at the same time."""
    with scratch() as place:
        young, old = make_workspace(place / "young"), make_workspace(place / "old")
        add_history(old)
        kernels = [_up(young), _up(old)]
        try:
            time.sleep(SETTLE_S)
            before = [_look(kernel.pid, root) for kernel, root in zip(kernels, (young, old), strict=True)]
            began = time.monotonic()
            time.sleep(SECONDS)
            after = [_look(kernel.pid, root) for kernel, root in zip(kernels, (young, old), strict=True)]
            passed = time.monotonic() - began
        finally:
            for kernel in kernels:
                kernel.send_signal(signal.SIGTERM)
            for kernel in kernels:
                kernel.wait(20)
    cpu = [100 * (late[0] - early[0]) / passed for early, late in zip(before, after, strict=True)]
    writes = [
        (late[1] - early[1]) + len(late[2].symmetric_difference(early[2]))
        for early, late in zip(before, after, strict=True)
    ]
    return {"idle.cpu_percent": max(cpu), "idle.writes": float(max(writes)), "idle.cpu_percent_young": cpu[0]}


def _up(workspace: Path) -> subprocess.Popen[bytes]:
    command = ["--workspace", str(workspace), "up", "--driver", "simulation", "--no-cameras"]
    process = subprocess.Popen(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", *command], cwd=ROOT, env=environ(), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.startswith(b"kernel running"):
        raise RuntimeError(f"paos up said {line!r} and ended with {process.wait(10)}")
    return process


def _look(pid: int, root: Path) -> tuple[float, int, frozenset[tuple[str, int]]]:
    """(CPU seconds of all threads, write system calls to files, names and times of all files)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    files = frozenset((str(path), path.lstat().st_mtime_ns) for path in root.rglob("*"))
    return cpu, int(io["syscw"]), files
