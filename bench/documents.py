"""What documents cost when they are long: milliseconds of one edit, one search, one plan. No bounds, only figures."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

FIGURES: tuple[str, ...] = ()
ROUNDS = 5


def run() -> dict[str, float]:
    return {
        "documents.action_edit_1000_ms": _best(_action()),
        "documents.lesson_add_1000_ms": _best(_lesson()),
        "documents.lesson_search_1000_ms": _best(_search()),
        "documents.json_edit_5000_ms": _best(_text()),
        "documents.growth": max(map(_growth, ("\n", "\r", "# a\n", "- a: 1\n", "| a |\n", "a "))),
    }


def _growth(line: str) -> float:
    """What reading an EMBODIED.md costs per byte when it is eight times as long: 1 is linear, 8 quadratic."""
    from worldfs.formats import embodied

    few, many = ((b"# T\n\n" + line.encode() * n) for n in (5_000, 40_000))
    return _best(lambda: embodied.read(many)) / (8 * max(_best(lambda: embodied.read(few)), 1.0))


def _best(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best * 1000


def _action() -> Callable[[], object]:
    from worldfs.base.model import Job, JobState, JobStatus, Order
    from worldfs.formats.action_write import write

    entries = [{"action_id": f"a{n}", "action_type": "x", "params": {"p": [n, 0.5]}} for n in range(1000)]
    data = json.dumps({"queue": entries}, indent=2).encode()
    job = Job(Order("a5", "r", "x"), JobStatus(JobState.RUNNING, 1))
    return lambda: write(data, {"a5": job}, drop={"a0"}, add=(Job(Order("new", "r", "x"), JobStatus()),))


def _lesson() -> Callable[[], object]:
    from worldfs.base.model import Lesson
    from worldfs.formats import lessons_file

    data = b"# LESSONS\n"
    for n in range(1000):
        data += (
            f"\n## 2026-01-01 00:{n // 60:02d}:{n % 60:02d} — Lesson {n}\n- **Action**: pick_up a_{n}\n"
            f"- **Reason**: {'because ' * 20}\n- **Critic Rejection**: no\n- **Fix**: y\n"
        ).encode()
    return lambda: lessons_file.add(data, Lesson("New", "pick_up b", "why", "no", "y", "2026-11-21 12:00:00"))


def _search() -> Callable[[], object]:
    from worldfs.base.model import Lesson
    from worldfs.planning.lesson_notes import search

    notes = [Lesson(f"Lesson {n}", f"pick_up thing_{n}", "out of reach", "no", "bring it nearer") for n in range(1000)]
    return lambda: search(notes, "thing_77 reach", 1)


def _text() -> Callable[[], object]:
    from worldfs.formats import jsontext

    text = json.dumps({"queue": [{"id": f"a{n}", "p": {"x": [n, 0.5]}, "s": "pending"} for n in range(5000)]}, indent=2)
    old = jsontext.parse(text)
    new = {"queue": [entry | {"s": "done"} if n % 100 == 0 else entry for n, entry in enumerate(old["queue"])]}
    return lambda: jsontext.edit(text, old, new)
