"""Plug-ins that lie at every port: how many of their wrong answers are believed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from worldfs.testing import lying_calls, lying_kernels

FIGURES = ("liars.believed", "liars.tried")
NTH = 60


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        kernel = lying_kernels.run(place / "kernel", lying_kernels.every(NTH))
        assert kernel.code == 0 and set(kernel.honest.values()) == {"succeeded"}, kernel.printed[-2000:]
        calls = [end for port, run in lying_calls.PORTS.items() for end in run(place / port)]
    ends = [end for end in (*kernel.ends, *calls) if end.lie.method]  # not the honest one of each
    return {"liars.believed": sum(end.believed for end in ends), "liars.tried": len(ends)}
