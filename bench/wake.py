"""How soon another process that waits for a letter is woken: from the rename that makes the letter visible."""

from __future__ import annotations

import subprocess
import sys
import time

from ._stand import ROOT, environ, percentile, scratch

FIGURES = ("wake.p99_ms",)
ROUNDS, WARM_UP = 1000, 20
ASLEEP_S = 0.002  # for the other to go to sleep, after it has said that it will


def run() -> dict[str, float]:
    """Durable deposits, one at a time."""
    from worldfs.agents.agent_directory import AgentDirectory
    from worldfs.agents.inbox import Inbox
    from worldfs.base.disk import Disk
    from worldfs.base.model.agent import Message

    renamed = 0.0

    def note(step: str, path: str) -> None:
        nonlocal renamed
        if step == "rename":
            renamed = time.monotonic()

    woken: list[float] = []
    claimed: list[float] = []
    with scratch() as place:
        (place / "rio").mkdir()
        waiter = subprocess.Popen(
            [sys.executable, "-m", "bench._waiter", str(place), "rio"],
            cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert waiter.stdin is not None and waiter.stdout is not None
        slot = Inbox(AgentDirectory(place, "rio", disk=Disk(note)))
        for _ in range(WARM_UP + ROUNDS):
            waiter.stdin.write("\n")
            waiter.stdin.flush()
            if waiter.stdout.readline() != "ready\n":
                raise RuntimeError(f"the waiter ended with {waiter.wait(10)}")
            time.sleep(ASLEEP_S)
            slot.deposit(Message("", "theseus", "rio", subject="Check MetaDAO", body="Found evidence. " * 15))
            first, second = map(float, waiter.stdout.readline().split())
            woken.append(first - renamed)
            claimed.append(second - renamed)
        waiter.communicate()
    woken, claimed = woken[WARM_UP:], claimed[WARM_UP:]
    return {
        "wake.p99_ms": 1000 * percentile(woken, 0.99),
        "wake.p50_ms": 1000 * percentile(woken, 0.5),
        "wake.claimed_p50_ms": 1000 * percentile(claimed, 0.5),
        "wake.claimed_p99_ms": 1000 * percentile(claimed, 0.99),
    }
