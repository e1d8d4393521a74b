"""The served tree over its socket: round trips, blocked readers, waking, what a connection costs.

The server and the load generator are processes of their own. Rates are told as a part of what a bare echo on the same
half of the WebSocket library (its protocol, without its tasks and queues) does in the same run with frames of the same
size: what is ours, not what is the machine's.
"""

from __future__ import annotations

import json
import subprocess
import sys

from ._served import Served, echo, load, served
from ._stand import ROOT, environ, scratch

FIGURES = (
    "ws.stat_over_echo_1",
    "ws.stat_over_echo_64",
    "ws.blocked2000_stat_p99_ratio",
    "ws.idle_connection_kib",
    "wake.1000_waiters_ms",
)
ROUNDS, SECONDS = 8, 0.5
WAITERS, STATS = 2000, 4000
IDLE = 500
WOKEN, WAKES = 1000, 5


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    with scratch() as place, served(place / "home") as server, echo() as bare:
        here = {"port": server.port, "token": server.admin}
        for count in (1, 64):
            found = load("rates", **here, echo=bare, connections=count, rounds=ROUNDS, seconds=SECONDS)
            for name in ("stat", "read"):
                figures[f"ws.{name}_over_echo_{count}"] = found[name]["over_echo"]
                figures[f"ws.{name}_rate_{count}"] = found[name]["rate"]
        figures["ws.idle_connection_kib"] = _idle(server)
        found = load("blocked", **here, waiters=WAITERS, count=STATS)
        figures[f"ws.blocked{WAITERS}_stat_p99_ratio"] = found["ratio"]
        figures["ws.stat_p99_ms"] = found["alone_ms"]
        figures[f"wake.{WOKEN}_waiters_ms"] = load("wake", **here, waiters=WOKEN, rounds=WAKES)["ms"]
    return figures


def _idle(server: Served) -> float:
    """Resident memory for a greeted connection that says nothing; a first lot warms the allocator."""
    grown = []
    for _ in range(2):
        before = server.kib()
        holding = subprocess.Popen(
            [sys.executable, "-m", "bench._wsload", "idle"],
            cwd=ROOT, env=environ(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert holding.stdin is not None
        holding.stdin.write(json.dumps({"port": server.port, "token": server.admin, "connections": IDLE}) + "\n")
        holding.stdin.flush()
        assert holding.stderr is not None
        if holding.stderr.readline() != "ready\n":
            raise RuntimeError(holding.stderr.read()[-2000:])
        grown.append((server.kib() - before) / IDLE)
        holding.communicate("\n")
    # The first: the second finds memory that was given back to the allocator, not to the system.
    return grown[0]
