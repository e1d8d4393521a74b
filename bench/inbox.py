"""Durable claims of eight processes against bare renames of as many, and the next letter of a hundred thousand."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ._stand import ROOT, environ, percentile, scratch

if TYPE_CHECKING:
    from worldfs.agents.inbox import Inbox

FIGURES = ("inbox.claims_per_s", "inbox.claims_over_floor", "inbox.claims_over_need", "inbox.claim_next_100k_ms")
CLAIMERS, LETTERS, ROUNDS = 8, 2000, 5
NEED_PER_S, NEED_OVER_FLOOR = 3000, 0.8  # so many a second, or this share of what a slower disk gives
MANY, LOOKS, COLD = 100_000, 300, 3


def run() -> dict[str, float]:
    with scratch() as place:
        figures = rates(place)
        figures |= next_of_many(place)
    return figures


def rates(place: Path) -> dict[str, float]:
    """Medians of rounds; in each the bare renames come right before the claims: the disk's mood changes."""
    bare, ours = [], []
    for number in range(ROUNDS):
        there = place / f"round{number}"
        fill(there / "floor" / "inbox", LETTERS)
        (there / "floor" / "claimed").mkdir()
        fill(there / "agent" / "inbox", LETTERS)
        bare.append(race("floor", there / "floor"))
        ours.append(race("inbox", there / "agent"))
        shutil.rmtree(there)
    floor, rate = percentile(bare, 0.5), percentile(ours, 0.5)
    share = percentile([mine / raw for mine, raw in zip(ours, bare, strict=True)], 0.5)
    return {
        "inbox.claims_per_s": rate,
        "inbox.claims_over_floor": share,
        "inbox.claims_over_need": max(rate / NEED_PER_S, share / NEED_OVER_FLOOR),
        "inbox.floor_claims_per_s": floor,
    }


def race(kind: str, place: Path) -> float:
    """Claims a second of all claimers together, from the starting shot to the end of the last one."""
    claimers = [
        subprocess.Popen(
            [sys.executable, "-m", "bench._claimer", kind, str(place), str(number), str(CLAIMERS)],
            cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(CLAIMERS)
    ]  # fmt: skip
    for claimer in claimers:
        assert claimer.stdout is not None and claimer.stdout.readline() == "ready\n"
    began = time.monotonic()
    for claimer in claimers:
        assert claimer.stdin is not None
        claimer.stdin.write("\n")
        claimer.stdin.flush()
    ends = [claimer.communicate()[0].split() for claimer in claimers]
    got = sum(int(count) for count, _ in ends)
    if got != LETTERS:
        raise RuntimeError(f"{kind}: {got} claims of {LETTERS} letters")
    return got / (max(float(end) for _, end in ends) - began)


def next_of_many(place: Path) -> dict[str, float]:
    """The next claim among many, by one who is at it, and by one who has just come."""
    fill(place / "rio" / "inbox", MANY)
    cold = []
    for _ in range(COLD):
        with opened(place) as inbox:
            cold.append(timed(inbox))
    with opened(place) as inbox:
        inbox.wait(0)
        timed(inbox)
        warm = [timed(inbox) for _ in range(LOOKS)]
    return {
        "inbox.claim_next_100k_ms": 1000 * percentile(warm, 0.99),
        "inbox.claim_next_100k_p50_ms": 1000 * percentile(warm, 0.5),
        "inbox.claim_next_100k_cold_ms": 1000 * percentile(cold, 0.5),
    }


@contextmanager
def opened(place: Path) -> Iterator[Inbox]:
    from worldfs.agents.agent_directory import AgentDirectory
    from worldfs.agents.inbox import Inbox

    agent_dir = AgentDirectory(place, "rio")
    inbox = Inbox(agent_dir)
    try:
        yield inbox
    finally:
        inbox.close()
        agent_dir.close()


def timed(inbox: Inbox) -> float:
    began = time.perf_counter()
    claim = inbox.claim("claimer")
    took = time.perf_counter() - began
    assert claim is not None
    return took


def fill(inbox: Path, count: int) -> None:
    """Letters as `deposit` names and writes them, but not durable: it is the claims that are measured."""
    from worldfs.agents.message_names import new_name
    from worldfs.base.model.agent import Message
    from worldfs.formats.agent.documents import message_write

    inbox.mkdir(parents=True)
    for number in range(count):
        priority = ("high", "normal")[number % 2]
        name = new_name(priority, 1_774_994_400_000 + number)
        message = Message(
            f"msg-{name}", "theseus", inbox.parent.name, "2026-03-31T22:00:00Z", "flag", priority, f"Letter {number}",
            "Found evidence. " * 15, "theseus/research-2026-03-31",
        )  # fmt: skip
        (inbox / f"{name}.json").write_bytes(message_write(message))
    subprocess.run(["sync", "-f", str(inbox)], check=True)
