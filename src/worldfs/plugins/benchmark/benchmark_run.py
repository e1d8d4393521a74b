"""A benchmark run: every method in every family with every seed, once; finished trials are not repeated."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from worldfs.base.durable import Root
from worldfs.base.json_text import parse_json
from worldfs.base.logfile import LogFile
from worldfs.base.model import Json
from worldfs.base.model.profile import TRUTH

from . import score
from .benchmark_methods import BenchmarkMethod
from .honest_world import Span, drawn
from .trial import Trial, TrialResult, run

TRIALS: Final = "trials.jsonl"
WORKERS: Final = 2  # at most: each is a simulation

ProgressCallback = Callable[[Json, int, int], None]  # a finished trial, how many are, of how many


class TrialLog:
    """DIR/trials.jsonl: a line for each finished trial, durable before it is reported."""

    def __init__(self, directory: Path) -> None:
        Root.build(directory)
        self._root = Root(directory)
        self._file = LogFile(self._root, TRIALS)
        self.lines: list[Json] = []
        self._file.refresh()
        data, whole = self._file.read(0, self._file.size), 0
        for line in data.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            try:
                known = parse_json(line)
            except ValueError:
                continue  # a damaged line is run again
            if isinstance(known, dict) and known.keys() >= set(
                TrialResult._fields
            ):  # else of an older judge: judged anew
                self.lines.append(known)
        if whole < len(data):
            self._file.cut(whole)  # what a kill left of a line

    def add(self, line: Json) -> None:
        self._file.append(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self.lines.append(line)

    def put(self, name: str, text: str) -> None:
        self._root.replace(name, text.encode())

    def close(self) -> None:
        self._file.close()
        self._root.close()


def run_benchmark(
    directory: Path,
    methods: Sequence[BenchmarkMethod],
    families: Sequence[str],
    seeds: Sequence[int],
    *,
    workers: int,
    stop: threading.Event,
    on_trial: ProgressCallback,
    perception: str = TRUTH,
    ranges: Mapping[str, Span] | None = None,
) -> Json:
    """Runs the unfinished trials, then writes results.md and results.json to `directory`; returns the latter.

    `ranges`: every trial is done once more in a world drawn from them by its seed. Seed by seed, so that an interrupted
    run has compared all methods on the same scenarios as far as it came.
    """  # fmt: skip
    book = TrialLog(directory)
    try:
        marks = {one.name: one.mark + (f", by {perception}" if perception != TRUTH else "") for one in methods}
        every = [
            Trial(one, family, seed, perception, world)
            for seed in seeds for family in families for one in methods
            for world in (None, *([drawn(seed, ranges)] if ranges else []))
        ]  # fmt: skip
        known = {_key(line) for line in book.lines}
        wanted = {_key(_named(trial, marks)) for trial in every}
        left = [trial for trial in every if _key(_named(trial, marks)) not in known]
        finished = len(every) - len(left)
        for trial, done in _played(left, min(workers, WORKERS), stop):
            line = {**_named(trial, marks), **done.as_json()}
            book.add(line)
            finished += 1
            on_trial(line, finished, len(every))
        lines = [line for line in book.lines if _key(line) in wanted]
        names = [one.name for one in methods]
        found = {"trials": len(every), "finished": finished, **score.summary(lines, names, families, ranges or {})}
        book.put("results.md", score.results_table(lines, names, families, ranges or {}))
        book.put("results.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n")
        return found
    finally:
        book.close()


def _named(trial: Trial, marks: Mapping[str, str]) -> Json:
    """What identifies a trial, as it stands in its line."""
    name = trial.method.name
    line: Json = {"contestant": name, "mark": marks[name], "family": trial.family, "seed": trial.seed}
    return line if trial.world is None else {**line, "world": trial.world.as_json()}


def _key(line: Json) -> tuple[object, ...]:
    world = json.dumps(line.get("world"), sort_keys=True)
    return line["contestant"], line["mark"], line["family"], line["seed"], world


def _played(trials: Sequence[Trial], workers: int, stop: threading.Event) -> Iterator[tuple[Trial, TrialResult]]:
    """In order with one worker; as they come with two, each in a process of its own."""
    if workers < 2:
        for trial in trials:
            if stop.is_set():
                return
            yield trial, run(trial)
        return
    waiting = iter(trials)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        going: dict[Future[TrialResult], Trial] = {}
        while True:
            while len(going) < workers and not stop.is_set() and (following := next(waiting, None)) is not None:
                going[pool.submit(run, following)] = following
            if not going:
                return
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                yield going.pop(future), future.result()
