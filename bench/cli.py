"""Cold start of reading commands: a fresh process each time, from spawn to end."""

from __future__ import annotations

import compileall
import subprocess
import sys
import time

from ._stand import ROOT, environ, make_workspace, percentile, scratch

FIGURES = ("cli.cold_ms",)
ROUNDS = 15
READS = (("status",), ("cat", "ENVIRONMENT.md"), ("ls",))


def run() -> dict[str, float]:
    """The slowest command's median."""
    # As after any first start: Python keeps compiled modules beside the source, unless the environment forbids it.
    compileall.compile_dir(ROOT / "src", quiet=1)
    with scratch() as place:
        workspace = make_workspace(place / "workspace")
        took = {words[0]: [_once(str(workspace), words) for _ in range(ROUNDS + 1)][1:] for words in READS}
    return {"cli.cold_ms": 1000 * max(percentile(values, 0.5) for values in took.values())} | {
        f"cli.{name}_ms": 1000 * percentile(values, 0.5) for name, values in took.items()
    }


def _once(workspace: str, words: tuple[str, ...]) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", "--workspace", workspace, *words],
        cwd=ROOT,
        env=environ(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began
