"""`make mutants`: single faults put into the code by rule, and whether the tests that claim to guard them see each.

A rule reads the syntax of the files that it is for: a durable write that does not wait for the disk, a lock not taken,
two steps in the other order, a right not asked for, a limit not kept, a deadline that never comes, a predicate that always
says yes. Each fault is put into a copy of the tree, and the tests of that file run until one fails. A fault that none
sees is a survivor: it is printed, and docs/proofs.md says of each why it stays.

    scripts/mutants.py [--list] [--only WORD] [--workers N] [--most PER_RULE_AND_FILE] [--again]

Resumable: results stand in build/mutants.json, by the fault and by the content of its file and of its tests.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src/worldfs"
KEPT = ROOT / "build/mutants.json"
PATIENCE_S = 400.0  # of one run of tests: a fault that makes them hang is seen as well
MOST = 6  # faults of one rule in one file, spread over it


class Fault(NamedTuple):
    """In `file` (below src/worldfs) the text from `start` to `end` becomes `new`."""

    rule: str
    file: str
    line: int
    start: int
    end: int
    new: str
    old: str

    @property
    def name(self) -> str:
        return f"{self.rule} {self.file}:{self.line} {_short(self.old)} → {_short(self.new)}"


def _short(text: str) -> str:
    return " ".join(text.split())[:60]


# -- the rules ----------------------------------------------------------------------------------------------------


class Source:
    """One file: its text, its syntax, and where nodes stand in it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.data = (SRC / file).read_bytes()
        self.tree = ast.parse(self.data)
        self._starts = [0, *(match.end() for match in re.finditer(b"\n", self.data))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def fault(self, rule: str, node: ast.expr | ast.stmt, new: str) -> Fault:
        return Fault(rule, self.file, node.lineno, *self.span(node), new, self.text(node))

    def blocks(self) -> Iterator[list[ast.stmt]]:
        for node in ast.walk(self.tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block


_SYNCS = re.compile(r"\.(fsync|fsync_dir|sync|_anchor|_sure_of|settle_spares|finish|flush)\(|os\.fdatasync|os\.fsync")
_LOCKS = re.compile(r"\b_?lock\b|Lock\(|_lock\(|mutex|alone\(|\b_one\b|held\(")
_WRITES = re.compile(
    r"\.(put|put_many|append|write|replace|create|commit|swap|move|remove|note|begin|end|mark|record|deposit|ack)\w*\("
)
_TIMES = re.compile(r"deadline|timeout|until|expire|lease|patience|limit_s|_at\b|monotonic\(\)|stale|overdue", re.I)
_NO = re.compile(
    r"\braise\b|failure\(|return False\b|return None\b|return$|NOT_|Finding\(|append\(|refus|return \(?f?\"|den(y|ied)|yield"
)


def durable(source: Source) -> Iterator[Fault]:
    """A write that is said to be on the disk and is not."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            for word in node.keywords:
                if word.arg == "durable" and not (isinstance(word.value, ast.Constant) and word.value.value is False):
                    yield source.fault("durable", word.value, "False")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                if argument.arg == "durable" and default is not None and source.text(default) == "True":
                    yield source.fault("durable", default, "False")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if _SYNCS.search(source.text(node)):
                yield source.fault("durable", node, "pass")


def locks(source: Source) -> Iterator[Fault]:
    """Two who write at once."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars is None and _LOCKS.search(source.text(item.context_expr)):
                    yield source.fault("lock", item.context_expr, '__import__("contextlib").nullcontext()')
        elif isinstance(node, ast.Expr) and re.search(r"flock\(|\.acquire\(", source.text(node)):
            yield source.fault("lock", node, "pass")


def orders(source: Source) -> Iterator[Fault]:
    """A step taken before the one that it stands on."""
    for block in source.blocks():
        for one, other in itertools.pairwise(block):
            if not all(isinstance(step, ast.Expr | ast.Assign | ast.AugAssign) for step in (one, other)):
                continue
            first, second = source.text(one), source.text(other)
            if not (_WRITES.search(first) and "(" in second) or first.startswith('"'):
                continue
            given = {
                node.id for node in ast.walk(one) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            if given & {node.id for node in ast.walk(other) if isinstance(node, ast.Name)}:
                continue
            start, end = source.span(one)[0], source.span(other)[1]
            indent = "\n" + " " * one.col_offset
            old = source.data[start:end].decode()
            yield Fault("order", source.file, one.lineno, start, end, f"{second}{indent}{first}", old)


def _ifs(rule: str, wanted: Callable[[str, str], bool]) -> Callable[[Source], Iterator[Fault]]:
    def found(source: Source) -> Iterator[Fault]:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.If) and wanted(source.text(node.test), source.text(node.body[0])):
                yield source.fault(rule, node.test, "False")

    return found


rights = _ifs("right", lambda test, then: bool(_NO.search(then)) and "TYPE_CHECKING" not in test)
deadlines = _ifs("deadline", lambda test, then: bool(_TIMES.search(test)) and bool(re.search(r"[<>]", test)))
predicates = _ifs("predicate", lambda test, then: bool(_NO.search(then)) and "TYPE_CHECKING" not in test)


def clamps(source: Source) -> Iterator[Fault]:
    """A limit that is not kept."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
            name = source.text(node.func)
            if name in ("min", "max", "np.clip", "np.minimum", "np.maximum") and (
                len(node.args) > 1 and not node.keywords
            ):
                inner = node.args[0] if not isinstance(node.args[0], ast.Constant) else node.args[1]
                yield source.fault("clamp", node, f"({source.text(inner)})")
    yield from _ifs("clamp", lambda test, then: bool(re.search(r"[<>]", test)) and bool(_NO.search(then)))(source)


AGENTS = (
    "agents/inbox.py agents/journal.py agents/kept.py agents/ledger.py agents/notebook.py agents/room.py "
    "agents/session_job.py agents/state.py agents/birth.py agents/doctor_mends.py"
)

RULES: dict[str, tuple[Callable[[Source], Iterator[Fault]], str]] = {
    "durable": (
        durable,
        "ground/durable.py ground/logfile.py ground/disk.py tree/stores/disk.py tree/stores/displaced.py "
        f"tree/stores/swap.py kernel/ world/calls/ plane/chronicle.py {AGENTS}",
    ),
    "lock": (
        locks,
        "ground/durable.py tree/stores/disk.py tree/stores/swap.py kernel/ plane/chronicle.py plane/plane.py " + AGENTS,
    ),
    "order": (
        orders,
        "kernel/dispatch.py kernel/jobs.py kernel/recovery.py world/calls/call.py world/calls/calls.py "
        "agents/session_job.py agents/inbox.py agents/ledger.py plane/chronicle.py tree/stores/swap.py",
    ),
    "right": (
        rights,
        "tree/rights.py world/visibility.py plane/gates.py plane/policy.py exports/below.py exports/directory.py "
        "exports/ops.py doors/acheron/tokens.py world/services/place.py",
    ),
    "clamp": (clamps, "drivers/targets/limits.py drivers/targets/safety.py roles/critic.py drivers/skills/bridge.py"),
    "deadline": (
        deadlines,
        "kernel/waiting.py kernel/dispatch.py drivers/targets/watchdog.py drivers/targets/safety.py "
        "drivers/skills/vla.py drivers/policies/ world/calls/ agents/ledger.py agents/inbox.py plane/pairing.py",
    ),
    "predicate": (
        predicates,
        "drivers/mujoco/place.py drivers/mujoco/grasp.py drivers/mujoco/support.py drivers/mujoco/actions.py "
        "drivers/mujoco/env.py drivers/skills/rekep/success.py drivers/contest/trial.py",
    ),
}

GUARDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "ground/",
        ("tests/ground", "tests/tree", "tests/proof/test_crash_enumeration.py", "tests/testing", "tests/agents"),
    ),
    (
        "tree/stores/",
        ("tests/tree", "tests/ground", "tests/kernel", "tests/proof/test_crash_enumeration.py", "tests/testing"),
    ),
    ("tree/", ("tests/tree", "tests/world", "tests/acheron")),
    ("kernel/", ("tests/kernel", "tests/behaviour", "tests/proof", "tests/world", "tests/testing", "tests/acceptance")),
    ("world/calls/", ("tests/world/calls", "tests/world", "tests/testing", "tests/proof", "tests/acheron")),
    ("world/", ("tests/world", "tests/acheron", "tests/exports")),
    ("plane/", ("tests/plane", "tests/testing", "tests/world", "tests/acheron")),
    ("agents/", ("tests/agents", "tests/drivers/command", "tests/testing", "tests/proof")),
    ("exports/", ("tests/exports", "tests/acheron")),
    ("doors/", ("tests/doors", "tests/acheron")),
    ("roles/", ("tests/roles", "tests/acceptance")),
    ("drivers/mujoco/", ("tests/drivers", "tests/acceptance")),
    ("drivers/skills/", ("tests/drivers/skills", "tests/drivers")),
    ("drivers/targets/", ("tests/drivers/targets", "tests/drivers/skills")),
    ("drivers/policies/", ("tests/drivers/policies", "tests/drivers/skills")),
    ("drivers/contest/", ("tests/drivers/contest",)),
)


def guards(file: str) -> tuple[str, ...]:
    return next((tests for prefix, tests in GUARDS if file.startswith(prefix)), ("tests",))


def faults(most: int) -> list[Fault]:
    """All of them, in order; of many in one file by one rule every so-manieth."""
    found: list[Fault] = []
    for rule, places in RULES.values():
        for file in _files(places.split()):
            some = sorted(set(rule(Source(file))), key=lambda fault: (fault.line, fault.start))
            step = max(1, -(-len(some) // most))
            found += some[::step]
    return found


def _files(places: Iterable[str]) -> Iterator[str]:
    for place in places:
        path = SRC / place
        if path.is_dir():
            yield from sorted(str(file.relative_to(SRC)) for file in path.rglob("*.py"))
        elif path.exists():
            yield place


# -- the runs -----------------------------------------------------------------------------------------------------


class Trial:
    """A copy of the product that faults are put into, one at a time."""

    def __init__(self, number: int) -> None:
        self.place = ROOT / f"build/mutant-{number}"
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(ROOT, self.place, ignore=_left_out, symlinks=True)

    def run(self, tests: Iterable[str], fault: Fault | None) -> str:
        """ "caught", "survived", "hung": the first test that fails is enough."""
        if fault is not None:
            path = self.place / "src/worldfs" / fault.file
            data = path.read_bytes()
            path.write_bytes(data[: fault.start] + fault.new.encode() + data[fault.end :])
        try:
            return self._tests(tests)
        finally:
            if fault is not None:
                path.write_bytes(data)

    def _tests(self, tests: Iterable[str]) -> str:
        environ = {**os.environ, "PYTHONPATH": str(self.place / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        words = [
            str(ROOT / ".venv/bin/python"),
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--timeout",
            "120",
        ]
        words += ["--timeout-method", "thread", *(test for test in tests if (self.place / test).exists())]
        with subprocess.Popen(
            words,
            cwd=self.place,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                return "survived" if process.wait(PATIENCE_S) == 0 else "caught"
            except subprocess.TimeoutExpired:
                return "hung"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in (".git", "build", "demo", "node_modules", "__pycache__", ".venv")]


class Results:
    """What is known, on the disk after each run."""

    def __init__(self, again: bool) -> None:
        self._lock = threading.Lock()
        self.found: dict[str, str] = {} if again or not KEPT.exists() else json.loads(KEPT.read_text())

    def key(self, fault: Fault) -> str:
        return f"{fault.name} [{_digest(SRC / fault.file)}]"

    def add(self, fault: Fault, result: str) -> None:
        with self._lock:
            self.found[self.key(fault)] = result
            KEPT.parent.mkdir(exist_ok=True)
            draft = KEPT.with_suffix(".draft")
            draft.write_text(json.dumps(self.found, indent=1, ensure_ascii=False))
            draft.rename(KEPT)


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the faults, run nothing")
    parser.add_argument("--only", default="", metavar="WORD", help="those whose line holds it")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    said = parser.parse_args()
    all_of_them = [fault for fault in faults(said.most) if said.only in fault.name]
    if said.list:
        print("\n".join(fault.name for fault in all_of_them))
        print(f"{len(all_of_them)} faults")
        return 0
    results = Results(said.again)
    todo = [fault for fault in all_of_them if results.key(fault) not in results.found]
    free = [Trial(number) for number in range(said.workers)]
    if bad := [
        tests for tests in sorted({guards(fault.file) for fault in todo}) if free[0].run(tests, None) != "survived"
    ]:
        print(f"mutants: without any fault these tests fail: {bad}", file=sys.stderr)
        return 2
    lock, began = threading.Lock(), time.monotonic()

    def one(fault: Fault) -> None:
        with lock:
            trial = free.pop()
        result = trial.run(guards(fault.file), fault)
        results.add(fault, result)
        with lock:
            free.append(trial)
            print(f"{time.monotonic() - began:6.0f} s  {result:9} {fault.name}", flush=True)

    with ThreadPoolExecutor(said.workers) as pool:
        list(pool.map(one, todo))
    survived = [fault for fault in all_of_them if results.found[results.key(fault)] == "survived"]
    caught = len(all_of_them) - len(survived)
    for fault in survived:
        print(f"survived: {fault.name}")
    print(f"{caught} of {len(all_of_them)} faults caught ({100 * caught / max(1, len(all_of_them)):.1f} %)")
    return 0 if caught >= 0.98 * len(all_of_them) else 1


if __name__ == "__main__":
    sys.exit(main())
