"""A policy learned on this CPU: recorded, cloned, and tried on worlds that nothing was tuned on.

300 demonstrations of pick and place (seeds from 0), `examples/train_tabletop.py` on them, then 50 trials of each family
on seeds from 8000, through `paos bench tabletop`'s own trials. The share is reported as it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from ._stand import scratch

FIGURES = ("learned.success",)
EPISODES, SEEDS, FRESH = 300, 50, 8000
FAMILIES = ("pick", "place")
ROOT = Path(__file__).resolve().parents[1]


def run(episodes: int = EPISODES, seeds: int = SEEDS) -> dict[str, float]:
    """`learned.success` 0…1 of both families together, and of each; `learned.record_s`, `learned.train_s`."""
    from worldfs.plugins.benchmark.benchmark_methods import BenchmarkMethod
    from worldfs.plugins.benchmark.benchmark_run import run_benchmark
    from worldfs.plugins.recording.episode import RecordingRecipe
    from worldfs.plugins.recording.recording import record
    from worldfs.skills.success_rate import success_rate

    with scratch() as place:
        began = time.perf_counter()
        tally = record(place / "demos", RecordingRecipe(), episodes, threading.Event(), lambda tally: None)
        recorded = time.perf_counter()
        subprocess.run(
            [sys.executable, ROOT / "examples/train_tabletop.py", place / "demos", place / "policy.onnx"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        trained = time.perf_counter()
        policy = BenchmarkMethod("learned", str(place / "policy.onnx"))
        contest: Any = run_benchmark(
            place / "contest", [policy], FAMILIES, range(FRESH, FRESH + seeds), workers=1, stop=threading.Event(),
            on_trial=lambda line, finished, of: None,
        )  # fmt: skip
        told = contest["contestants"]["learned"]
    shares = {
        name: success_rate(part["good"], part["tried"])
        for name, part in (*told["families"].items(), ("all", told["all"]))
    }
    print(
        f"learned: {tally.episodes} demonstrations ({tally.failed} trials failed), seeds {FRESH} to {FRESH + seeds - 1}"
    )
    print("  " + ", ".join(f"{name} {found}" for name, found in shares.items()))
    print(f"  recorded in {recorded - began:.0f} s, trained in {trained - recorded:.0f} s")
    for failure in told["failures"]:
        print(f"  failed: {failure['family']} {failure['seed']}: {failure['why']}")
    return {
        "learned.success": shares["all"].rate,
        **{f"learned.{name}_success": shares[name].rate for name in FAMILIES},
        "learned.record_s": round(recorded - began, 1),
        "learned.train_s": round(trained - recorded, 1),
    }


if __name__ == "__main__":
    print(run())
