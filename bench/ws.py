"""The socket: round trips against a bare echo of the same library, what two thousand waits cost, what idling costs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from ._frames import Peer, ask, rate, times
from ._stand import ROOT, environ, percentile, scratch

FIGURES = (
    "ws.stat_over_echo_1", "ws.stat_over_echo_64", "ws.blocked2000_stat_p99_ratio", "ws.idle_connection_kib",
    "wake.1000_waiters_ms",
)  # fmt: skip
FILE = "/agents/self/services/contracts/memory/OPS.json"
STAT, READ = ask("stat", fid=2), ask("read", fid=2, offset=0, count=4096)
ROUNDS, SECONDS = 7, 0.7
TRIPS, BLOCKED, WOKEN, IDLE = 3_000, 2_000, 1_000, 1_000
AT_ONCE = 100  # connections made at the same time
SETTLE_S = 0.5


class Process:
    """A server of `_served`."""

    def __init__(self, process: subprocess.Popen[str], token: str) -> None:
        assert process.stdout is not None
        self._process, self.token = process, token
        self.port = int(process.stdout.readline())

    def tell(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()

    def begin(self) -> bytes:
        """A job, open until "end" is told; the frame that walks fid 2 to what can be waited for of it."""
        self.tell("begin")
        assert self._process.stdout is not None
        job = self._process.stdout.readline().strip()
        return ask("walk", fid=1, newfid=2, path=["agents", "self", "jobs", job, "status.json"])

    def resident_kib(self) -> int:
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])


def run() -> dict[str, float]:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8_192, hard), hard))
    with scratch() as home, ExitStack() as stack:
        token = _prepare(home)
        ours = stack.enter_context(_served(str(home), token))
        bare = stack.enter_context(_served("echo"))
        return asyncio.run(_figures(ours, bare))


async def _figures(ours: Process, bare: Process) -> dict[str, float]:
    figures: dict[str, float] = {}
    for clients in (1, 64):
        figures |= await _against_echo(ours, bare, clients)
    figures["ws.idle_connection_kib"] = await _idle(ours)
    figures |= await _waiting(ours)
    return figures


async def _against_echo(ours: Process, bare: Process, clients: int) -> dict[str, float]:
    """Interleaved rounds; the median of the ratios."""
    peers = [await Peer.at(ours.port, ours.token, FILE) for _ in range(clients)]
    echoes = [await Peer.connect(bare.port) for _ in range(clients)]
    stats, reads, plain = [], [], []
    for _ in range(ROUNDS):
        plain.append(await rate(echoes, STAT, SECONDS))
        stats.append(await rate(peers, STAT, SECONDS))
        reads.append(await rate(peers, READ, SECONDS))
    for peer in (*peers, *echoes):
        peer.close()
    return {
        f"ws.stat_over_echo_{clients}": median(a / b for a, b in zip(stats, plain, strict=True)),
        f"ws.read_over_echo_{clients}": median(a / b for a, b in zip(reads, plain, strict=True)),
        f"ws.stat_per_s_{clients}": median(stats),
    }


async def _idle(ours: Process) -> float:
    """KiB of the server for each connection that has shaken hands and says nothing."""
    await asyncio.sleep(SETTLE_S)
    before = ours.resident_kib()
    peers = await _many(ours, IDLE, FILE)
    await asyncio.sleep(SETTLE_S)
    grown = ours.resident_kib() - before
    for peer in peers:
        peer.close()
    await asyncio.sleep(SETTLE_S)
    return grown / IDLE


async def _waiting(ours: Process) -> dict[str, float]:
    """One connection's stats while others wait; then all of a thousand woken by one change."""
    alone = await Peer.at(ours.port, ours.token, FILE)
    blocked = await _many(ours, BLOCKED, FILE)
    ratios, woken = [], []
    for _ in range(3):
        unloaded = percentile(await times(alone, STAT, TRIPS), 0.99)
        await _block(ours, blocked)
        ratios.append(percentile(await times(alone, STAT, TRIPS), 0.99) / unloaded)
        await _wake(ours, blocked)
        await _block(ours, blocked[:WOKEN])
        woken.append(await _wake(ours, blocked[:WOKEN]))
    for peer in (alone, *blocked):
        peer.close()
    return {"ws.blocked2000_stat_p99_ratio": median(ratios), "wake.1000_waiters_ms": 1000 * median(woken)}


async def _block(ours: Process, peers: list[Peer]) -> None:
    """All of them wait for the end of one job."""
    walk = ours.begin()
    for peer in peers:
        await peer.trip(walk)
        peer.say(READ)
    await asyncio.sleep(2 * SETTLE_S)


async def _wake(ours: Process, peers: list[Peer]) -> float:
    """Seconds from the end of the job until the last of them has its answer."""
    began = time.perf_counter()
    ours.tell("end")
    answers = await asyncio.gather(*(peer.hear() for peer in peers))
    passed = time.perf_counter() - began
    if not all(b'"ok":true' in answer for answer in answers):
        raise RuntimeError("a wait ended with an error")
    await asyncio.sleep(SETTLE_S)
    return passed


async def _many(ours: Process, count: int, path: str) -> list[Peer]:
    found: list[Peer] = []
    while len(found) < count:
        found += await asyncio.gather(*(Peer.at(ours.port, ours.token, path) for _ in range(AT_ONCE)))
    return found


def _prepare(home: Path) -> str:
    """A home with an agent and a project; the admin's token."""
    from worldfs.doors.acheron.tokens import FILE as KEPT
    from worldfs.doors.acheron.tokens import Tokens
    from worldfs.ground.clock import SystemClock
    from worldfs.plane.caller import Caller
    from worldfs.plane.plane import Plane
    from worldfs.tree.binding import ADMIN, MOTHER, SYSTEM, Binding
    from worldfs.tree.feed import Feed

    (home / "agents" / "alice").mkdir(parents=True)
    Tokens.open(home)
    plane = Plane.open(home / ".paos" / "plane", SystemClock(), Feed())
    plane.call("project_create", {"name": "Bench"}, Caller(Binding(ADMIN, MOTHER, SYSTEM), "bench"))
    plane.close()
    return str(json.loads((home / KEPT).read_text())["admin_token"])


@contextmanager
def _served(what: str, token: str = "") -> Iterator[Process]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench._served", what],
        cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield Process(process, token)
    finally:
        process.kill()
        process.communicate()
