"""A policy from pictures, learned on this CPU: recorded with cameras, cloned, tried on worlds not tuned on.

Demonstrations of picking (two recordings at once), some CPU minutes of `examples/train_pixels.py` (torch from
`scripts/torch`), then a trial for each fresh seed through `paos bench tabletop`'s own trials, beside the policy that
`examples/train_tabletop.py` makes of one of these recordings and that is told where things are. The shares are
reported as they are. Recordings, policy and trials stay in build/pixels and the next run goes on with them; after a
change of the script or of a recording it trains again and repeats the trials.
"""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

FIGURES = (
    "learned.pixels_success", "learned.pixels_success_low", "learned.pixels_success_high",
    "learned.pixels_beside_pose",
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build/pixels"
SEEDS, FRESH = 60, 50000  # trials, and the first of their seeds
RECORDINGS = {"demos0": (100, 73), "demos1": (20000, 114)}  # → its first seed, its episodes
OPTIONS = ("--families", "pick", "--noise", "0.003", "--cameras", "front,wrist", "--picture-size", "256x192")
TRAIN_S, CAMERAS = 350, "wrist"
READER = "examples/film_demonstrations.py"  # what the first of these examples reads recordings by
EXAMPLES = {"pixels": "examples/train_pixels.py", "pose": "examples/train_tabletop.py"}


def recorded(name: str) -> Path:
    """What `paos record` writes; what is there already is gone on with."""
    seed, episodes = map(str, RECORDINGS[name])
    command = ["record", str(KEPT / name), "--episodes", episodes, "--seed", seed, *OPTIONS]
    start = "from worldfs.interfaces.cli.start import start; raise SystemExit(start())"
    subprocess.run([sys.executable, "-c", start, *command], check=True, env=_environment(), stdout=subprocess.DEVNULL)
    return KEPT / name


def trained(demos: list[Path]) -> tuple[Path, float]:
    """The policy from pictures, and the CPU seconds that its training took; 0 where an earlier run has made it."""
    parts = [ROOT / EXAMPLES["pixels"], ROOT / READER, *(path / "meta/stats.json" for path in demos)]
    said = f"{TRAIN_S} {CAMERAS}".encode()
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in parts) + said).hexdigest()[:12]
    file = KEPT / f"policy-{digest}.onnx"
    if file.exists():
        return file, 0.0
    subprocess.run([ROOT / "scripts/torch"], check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command: list[str | Path] = [sys.executable, ROOT / EXAMPLES["pixels"], *demos, "--out", KEPT / "pixels.onnx"]
    subprocess.run(
        [*command, "--seconds", str(TRAIN_S), "--cameras", CAMERAS], check=True, env=_environment(ROOT / "build/torch")
    )
    (KEPT / "pixels.onnx").rename(file)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return file, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run() -> dict[str, float]:
    """Shares 0…1 of `SEEDS` trials of picking, with Wilson's interval of 95 %; and of the policy that is told poses."""
    from worldfs.plugins.benchmark.benchmark_methods import BenchmarkMethod
    from worldfs.plugins.benchmark.benchmark_run import run_benchmark
    from worldfs.skills.success_rate import success_rate

    with ThreadPoolExecutor(len(RECORDINGS)) as pool:
        demos = list(pool.map(recorded, RECORDINGS))
    file, train_s = trained(demos)
    told = KEPT / "pose.onnx"
    subprocess.run(
        [sys.executable, ROOT / EXAMPLES["pose"], demos[1], told], check=True, env=_environment(),
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    methods = [BenchmarkMethod("pixels", str(file)), BenchmarkMethod("pose", str(told))]
    found: Any = run_benchmark(
        KEPT / "contest", methods, ("pick",), range(FRESH, FRESH + SEEDS), workers=1, stop=threading.Event(),
        on_trial=lambda line, finished, of: None,
    )["contestants"]  # fmt: skip
    shares = {name: success_rate(part["all"]["good"], part["all"]["tried"]) for name, part in found.items()}
    print(f"learned from pictures: seeds {FRESH} to {FRESH + SEEDS - 1}, trained in {train_s:.0f} CPU-s")
    print("  " + ", ".join(f"{name} {share}" for name, share in shares.items()))
    for failure in found["pixels"]["failures"]:
        print(f"  failed: {failure['family']} {failure['seed']}: {failure['why']}")
    seen = shares["pixels"]
    return dict(zip(FIGURES, (seen.rate, seen.low, seen.high, shares["pose"].rate), strict=True))


def _environment(*more: Path) -> dict[str, str]:
    path = os.pathsep.join(str(part) for part in (ROOT / "src", *more))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


if __name__ == "__main__":
    print(run())
