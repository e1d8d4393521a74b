"""`make mutants`: single faults put into the code by rule, and whether the tests that claim to guard them see each.

A rule reads the syntax of the files that it is for (mutant_rules.py): a durable write that does not wait for the disk,
a lock not taken, two steps in the other order, a right not asked for, a limit not kept, a deadline that never comes, a
predicate that always says yes. Each fault is put into a copy of the tree, and the tests of that file run until one
fails, which must pass without the fault. A fault that none sees is a survivor: it is printed, and docs/proofs.md says
of each why it stays.

    scripts/mutants.py [--list] [--only WORD] [--workers N] [--most PER_RULE_AND_FILE] [--again] [--report]

Resumable: results stand in build/mutants.json, by the fault and the function that it is in, and those of the faults
that the rules still make also in docs/mutants.json, from which a fresh clone goes on. A survivor is tried again when
its tests have changed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from bench._published import note  # noqa: E402  # after the path is set
from mutant_rules import MOST, Fault, Source, faults, named  # noqa: E402  # same

KEPT = ROOT / "build/mutants.json"
PUBLISHED = ROOT / "docs/mutants.json"
EXPLAINED = ROOT / "docs/proofs.md"
PATIENCE_S = 300.0  # of one run of tests: a fault that makes them hang is seen as well
TELLERS = 6  # tests that are asked first
USAGE = 4  # how pytest ends when it cannot find a test
PLAIN = re.compile(r"[\w/.]+::\w+(\[[\w.-]+\])?")  # the name of a test that a command line takes
TRIES = 3  # tests that may fail for no reason
LIFE = "tests/testing/test_lives.py::test_nothing_that_was_acknowledged_is_lost_by_a_crash"
PROBED = "tests/testing/test_locks.py"


def _lives(*names: str) -> tuple[str, ...]:
    return tuple(f"{LIFE}[{name}]" for name in names)


GUARDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("base/logfile.py", ("tests/base", *_lives("log", "journal", "plane"))),
    ("base/", ("tests/base", *_lives("store", "log"), "tests/tree", PROBED, *_lives("memory"))),
    *(
        (
            f"storage/{module}.py",
            (
                "tests/tree/test_file_versions.py", "tests/namespace/test_past.py", *_lives("versions"), PROBED,
                "tests/tree/test_store_disk.py", "tests/tree/test_store_processes.py",
            ),
        )
        for module in ("file_versions", "version_log")
    ),
    (
        "storage/",
        (
            "tests/tree/test_store_disk.py", "tests/tree/test_store_disk_foreign.py",
            "tests/tree/test_store_disk_safety.py", "tests/tree/test_store_disk_spares.py",
            *_lives("store", "jobs", "versions"), "tests/tree/test_file_versions.py", PROBED,
            "tests/tree/test_store_processes.py", "tests/runtime/test_sheet.py",
        ),
    ),
    (
        "access/file_roles.py",
        ("tests/access", "tests/namespace", "tests/client/test_names_alike.py"),
    ),
    *(
        (
            f"access/{module}.py",
            (
                "tests/access", "tests/interfaces/acheron/test_tokens.py", "tests/interfaces/acheron/test_serving.py",
                "tests/acheron/test_attacks.py",
            ),
        )
        for module in ("tokens", "auth", "attachment")
    ),
    *((f"access/{module}.py", ("tests/control",)) for module in ("project_policy", "operation_rights")),
    ("access/", ("tests/access", "tests/control", "tests/world/test_visibility.py", "tests/namespace")),
    ("tree/", ("tests/tree", "tests/access/test_matrix.py", "tests/namespace")),
    (
        "namespace/views/past_files.py",
        ("tests/namespace/test_past.py", "tests/interfaces/mount/test_mounted_past.py", "tests/namespace"),
    ),
    (
        "namespace/",
        ("tests/namespace", "tests/tree", "tests/access/test_matrix.py", "tests/client/test_names_alike.py"),
    ),
    ("runtime/", ("tests/runtime", *_lives("jobs", "kernel"), PROBED, "tests/behaviour")),
    ("world/agent_jobs/", ("tests/world/agent_jobs", *_lives("calls"))),
    ("world/", ("tests/world/test_visibility.py", "tests/namespace")),
    ("control/", ("tests/control", *_lives("plane"), PROBED)),
    (
        "agents/notebook.py",
        (
            "tests/agents/test_notebook.py", "tests/agents/test_on_the_disk.py", *_lives("memory"), PROBED,
            "tests/world/services/test_memory.py",
        ),
    ),
    (
        "agents/claim_log.py",
        (
            "tests/agents/test_inbox.py", "tests/agents/test_on_the_disk.py", *_lives("claims"), PROBED,
            "tests/proof/test_inbox_claimers.py",
        ),
    ),
    (
        "agents/inbox.py",
        ("tests/agents/test_inbox.py", *_lives("claims"), PROBED, "tests/agents/test_receipts.py", *_lives("agent")),
    ),
    (
        "agents/message_files.py",
        ("tests/agents/test_inbox.py", "tests/agents/test_odd_files.py", *_lives("claims", "agent")),
    ),
    ("agents/inbox_queue.py", ("tests/agents/test_inbox.py", *_lives("claims"), "tests/proof/test_inbox_claimers.py")),
    *(
        (
            f"agents/{module}.py",
            ("tests/agents/test_host_mirror.py", "tests/nats_store/test_agents_on_hosts.py", PROBED),
        )
        for module in ("host_mirror", "mirrored_disk")
    ),
    (
        "agents/",
        (
            "tests/agents/test_journal.py", "tests/agents/test_journal_numbers.py", "tests/agents/test_state.py",
            "tests/agents/test_odd_files.py", "tests/agents/test_doctor.py", *_lives("journal"), PROBED,
            "tests/agents/test_on_the_disk.py", *_lives("agent"), "tests/agents/test_metrics.py",
        ),
    ),
    ("plugins/node_fs/node_identity.py", ("tests/node_fs/test_daemon.py", *_lives("node"), PROBED)),
    (
        "plugins/node_fs/",
        (
            "tests/node_fs/test_asked.py", "tests/node_fs/test_directory.py", "tests/node_fs/test_serving.py",
            "tests/node_fs/test_law.py",
            "tests/node_fs/test_recorded.py", "tests/acheron/test_node_fs_replay.py", "tests/node_fs/test_hub.py",
        ),
    ),
    ("models/", ("tests/models", "tests/interfaces/test_model_check.py")),
    ("interfaces/mcp/", ("tests/interfaces/mcp",)),
    ("interfaces/posix/", ("tests/interfaces/posix", "tests/interfaces/ninep", "tests/interfaces/mount")),
    ("interfaces/ninep/", ("tests/interfaces/ninep",)),
    ("interfaces/mount/", ("tests/interfaces/mount",)),
    ("fleet/", ("tests/fleet", "tests/world/test_fleet_traffic.py")),
    ("interfaces/model_chat/", ("tests/interfaces/model_chat",)),
    ("planning/model_critic.py", ("tests/planning/test_model_critic.py",)),
    *(
        (f"planning/planner/{module}.py", ("tests/planning/planner/test_model_reading.py", "tests/planning/planner"))
        for module in ("model_reading", "proposed_steps")
    ),
    ("planning/", ("tests/planning/test_critic.py", "tests/planning", "tests/robots/test_refusals.py")),
    ("plugins/rekep/", ("tests/robots/skills/test_rekep_lies.py", "tests/robots/skills")),
    ("skills/", ("tests/robots/skills/test_bridge.py", "tests/robots/skills")),
    (
        "robots/mujoco/",
        (
            "tests/robots/test_simulation.py", "tests/robots/test_two_arms.py",
            "tests/robots/test_support.py", "tests/robots/test_bodies_that_lie.py", "tests/robots/test_refusals.py",
            "tests/robots/test_pick_and_place.py", "tests/robots/targets/test_tabletop.py", "tests/robots/benchmark",
            "tests/robots/test_script.py", "tests/robots/test_cameras.py", "tests/robots/test_carrier.py",
            "tests/robots/test_carriers_that_lie.py",
        ),
    ),
    ("robots/targets/watchdog.py", ("tests/robots/targets/test_safety.py", "tests/robots/targets")),
    ("robots/targets/", ("tests/robots/targets/test_safety.py", "tests/robots/targets/test_real.py")),
    ("sessions/", ("tests/robots/sessions", "tests/world/test_sessions.py")),
    (
        "policies/",
        ("tests/robots/policies/test_http.py", "tests/robots/policies/test_openpi.py", "tests/robots/policies"),
    ),
)  # fmt: skip


def _guards(file: str) -> tuple[str, ...]:
    return next((tests for prefix, tests in GUARDS if file.startswith(prefix)), ("tests",))


def guards(fault: Fault) -> tuple[str, ...]:
    """The tests that claim to guard its file, the telling and quick ones first."""
    tests = _guards(fault.file)
    return (PROBED, *(test for test in tests if test != PROBED)) if fault.rule == "lock" else tests


class Trial:
    """A copy of the product that faults are put into, one at a time."""

    def __init__(self, number: int) -> None:
        self.place = ROOT / f"build/mutant-{number}"
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(ROOT, self.place, ignore=_left_out, symlinks=True)

    def run(self, tests: Iterable[str], fault: Fault | None) -> str:
        """ "survived", "hung", or the first test that fails, twice: on a busy machine one may fail for no reason."""
        if fault is None:
            return self._twice(tests)
        path = self.place / "src/worldfs" / fault.file
        data = path.read_bytes()
        path.write_bytes(data[: fault.start] + fault.new.encode() + data[fault.end :])
        try:
            return self._twice(tests)
        finally:
            path.write_bytes(data)

    def _twice(self, tests: Iterable[str]) -> str:
        left: list[str] = []
        for _ in range(TRIES):
            result = self._tests(tests, left)
            if "::" not in result or self._tests((result,)) != "survived":
                break
            left.append(result)
        return result

    def _tests(self, tests: Iterable[str], left: Iterable[str] = ()) -> str:
        environ = {**os.environ, "PYTHONPATH": str(self.place / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        environ["PAOS_TEST_WHOLE"] = "1"
        words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
        words += ["--timeout", "120", "--timeout-method", "thread"]
        words += [word for test in left for word in ("--deselect", test)]
        words += [test for test in tests if (self.place / test.partition("::")[0]).exists()]
        with subprocess.Popen(
            words, cwd=self.place, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                said, _ = process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                return "hung"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode == 0:
            return "survived"
        if process.returncode == USAGE:
            return ""  # a test that there is not: nothing is known
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", said, re.M)
        return failed[1] if failed else f"exit status {process.returncode}"


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [
        name
        for name in names
        if name in (".git", "build", "demo", "node_modules", "__pycache__") or name.startswith(".venv")
    ]


class Results:
    """What is known, on the disk after each run: what became of a fault, and in how many seconds."""

    def __init__(self, again: bool) -> None:
        self._lock = threading.Lock()
        self.found: dict[str, Any] = {}
        for path in () if again else (PUBLISHED, KEPT):
            self.found |= json.loads(path.read_text("utf-8")) if path.exists() else {}

    def key(self, fault: Fault) -> str:
        return f"{fault.key} [{_function(fault)}]"

    def of(self, fault: Fault) -> str:
        """ "" as long as nothing is known."""
        return self.known(self.key(fault), guards(fault))

    def known(self, key: str, tests: tuple[str, ...]) -> str:
        known = self.found.get(key, {"result": ""})
        return "" if known["result"] == "survived" and known["tests"] != _tests(tests) else str(known["result"])

    def tellers(self, fault: Fault) -> list[str]:
        """Tests of its list that saw other faults, best of this rule or in this file: they are asked first."""
        told: Counter[str] = Counter()
        with self._lock:
            for key, known in self.found.items():
                rule, file, *_ = key.split(" ")
                if PLAIN.fullmatch(known["result"]) and _guards(file) == _guards(fault.file):
                    told[known["result"]] += 1 + (rule == fault.rule) + 2 * (file == fault.file)
        return [test for test, _ in told.most_common(TELLERS)]

    def add(self, key: str, tests: tuple[str, ...], result: str, seconds: float) -> None:
        with self._lock:
            self.found[key] = {"result": result, "s": round(seconds, 1), "tests": _tests(tests)}
            KEPT.parent.mkdir(exist_ok=True)
            draft = KEPT.with_suffix(".draft")
            draft.write_text(json.dumps(self.found, indent=1, ensure_ascii=False), "utf-8")
            draft.rename(KEPT)

    def publish(self, chosen: list[Fault]) -> None:
        """One line for each of these faults that was tried, so that a diff shows which results changed."""
        keys = sorted(key for key in map(self.key, chosen) if key in self.found)
        rows = [f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(self.found[key])}" for key in keys]
        PUBLISHED.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


def _function(fault: Fault) -> str:
    """A digest of the function that a fault is in."""
    return hashlib.sha256(_source(fault.file).function(fault.line)).hexdigest()[:8]


@cache
def _source(file: str) -> Source:
    return Source(file)


@cache
def _tests(tests: tuple[str, ...]) -> str:
    """A digest of the tests of a list."""
    found = hashlib.sha256("\n".join(tests).encode())
    for test in tests:
        path = ROOT / test.partition("::")[0]
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.exists() else []:
            found.update(file.read_bytes())
    return found.hexdigest()[:8]


def explained(fault: Fault) -> bool:
    """Does docs/proofs.md say why this one survives?"""
    return _row(fault) in EXPLAINED.read_text("utf-8")


def _row(fault: Fault) -> str:
    """How the row of a survivor begins."""
    return f"| `{fault.file}` `{fault.where}` {fault.rule}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the faults, run nothing")
    parser.add_argument("--only", default="", metavar="WORD", help="those whose line holds it")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    parser.add_argument("--report", action="store_true", help="say what is known, run nothing")
    said = parser.parse_args()
    chosen = [fault for fault in faults(said.most) if re.search(said.only, fault.name)]
    if said.list:
        print("\n".join(f"{fault.name}   {named(fault)}".rstrip() for fault in chosen))
        print(f"{len(chosen)} faults")
        return 0
    results = Results(said.again)
    if not said.report:
        _run(chosen, results, said.workers)
    return _told(chosen, results, whole=not said.only)


def _run(chosen: list[Fault], results: Results, workers: int) -> None:
    todo = [fault for fault in chosen if not results.of(fault)]
    for fault in todo:
        _tests(guards(fault))  # the tests as they are copied: an edit from now on is none that was tried
    free = [Trial(number) for number in range(workers)] if todo else []
    lock, began = threading.Lock(), time.monotonic()

    def tried(tests: Iterable[str], fault: Fault | None) -> tuple[str, float]:
        with lock:
            trial = free.pop()
        start = time.monotonic()
        try:
            return trial.run(tests, fault), time.monotonic() - start
        finally:
            with lock:
                free.append(trial)

    def sound(tests: tuple[str, ...]) -> bool:
        key = f"no fault: {' '.join(tests)}"
        result = results.known(key, tests)
        if result != "survived":
            result, seconds = tried(tests, None)
            results.add(key, tests, result, seconds)
        return result == "survived"

    def one(fault: Fault) -> None:
        tests = guards(fault)
        result, seconds = tried((*results.tellers(fault), *tests), fault)
        teller = (result,) if "::" in result else tests
        if result == "survived" or sound(teller):
            results.add(results.key(fault), tests, result, seconds)
        else:
            result = f"not tried: they fail without any fault: {' '.join(teller)}"
        print(f"{time.monotonic() - began:6.0f} s  {result:60} {fault.name}", flush=True)

    with ThreadPoolExecutor(max(1, workers)) as pool:
        list(pool.map(one, todo))


def _told(chosen: list[Fault], results: Results, *, whole: bool) -> int:
    ran = [fault for fault in chosen if results.of(fault)]
    survived = [fault for fault in ran if results.of(fault) == "survived"]
    for fault in survived:
        print(f"survived{'' if explained(fault) else f', no row {_row(fault)} … in docs/proofs.md'}: {fault.name}")
    unseen = [named(fault) for fault in chosen if named(fault) and results.of(fault) in ("", "survived")]
    seconds = sorted(results.found[results.key(fault)]["s"] for fault in ran)
    caught = len(ran) - len(survived)
    words = f"{caught} of {len(ran)} caught ({100 * caught / max(1, len(ran)):.1f} %)"
    if left := len(chosen) - len(ran):
        words += f", {left} not tried yet"
    print(f"{words}; median {seconds[len(seconds) // 2] if seconds else 0:.1f} s; of the trials' own, unseen: {unseen}")
    if whole:
        note({"mutants": words})
        results.publish(chosen)
    return 0 if caught >= 0.98 * len(chosen) and all(map(explained, survived)) else 1


if __name__ == "__main__":
    sys.exit(main())
