"""The load of N robots and M agents on the memory, disk and NATS stores: curves for docs/scale.md.

`make bench ARGS=fleet_load`: one point of each in seconds. `python -m bench.fleet_load --robots 10,100,1000 --agents
100,1000,10000 --write docs/scale.md`: the curves, written between the marks of the page with commit, day and load.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ._stand import PATIENCE_S, ROOT, environ, percentile, scratch
from .fleet import _Robots

FIGURES = (
    "fleet.heartbeat_1000_cpu_percent", "scale.heartbeat_1000_nats_p99_ms", "scale.assign_1000_robots_s",
    "scale.agent_kib", "scale.key_bytes", "scale.connection_kib",
)  # fmt: skip
EVERY_S, BEATS = 5.0, 3  # s: a lease is renewed at a third of its life
SAMPLE = 30  # agents and documents that one point looks at
NEAR = 10.0  # m, side of the floor that the robots stand on
_MARKS = re.compile(r"(<!-- curves -->\n).*?(<!-- end -->)", re.S)

Row = dict[str, float]


def run() -> dict[str, float]:
    with scratch() as place:
        beats = heartbeats(place / "beats", 1000)
        documents = bucket(place / "bucket", 1000)
        crowd = connections(place / "crowd", 20)
        found = agents(place / "agents", 200)
    return {
        "fleet.heartbeat_1000_cpu_percent": beats["reader CPU %"],
        "scale.heartbeat_1000_nats_p99_ms": beats["p99 ms"],
        "scale.assign_1000_robots_s": assignments(1000)["assign s"],
        "scale.agent_kib": found["KiB an open agent"],
        "scale.key_bytes": documents["index B a key"],
        "scale.connection_kib": crowd["KiB a connection"],
    }


# -- robots ------------------------------------------------------------------------------------------------------------


def heartbeats(place: Path, robots: int) -> Row:
    """An orchestrator that hears robots of another process: from before a lease's renewal is sent until it is noted."""
    from worldfs.base.clock import SystemClock
    from worldfs.fleet.orchestrator_loop import Orchestrator
    from worldfs.plugins.nats_store.store_address import LEASE_TTL_S

    store, server = _opened("nats", place)
    fleet = _Robots(robots)
    loop = Orchestrator(store, SystemClock(), fleet, language=lambda: "en", alert=lambda where, finding: None)
    heard: dict[str, list[float]] = defaultdict(list)
    note = store.bucket._leases

    def beat(key: str, live: bool) -> None:
        note(key, live)
        heard[key.rsplit("/", 1)[-1]].append(time.monotonic())

    store.bucket._leases = beat  # the moment at which the orchestrator's process has it
    loop.recover()
    stop = threading.Event()
    reader = threading.Thread(target=loop.run, args=(stop,))
    reader.start()
    beater = subprocess.Popen(
        [sys.executable, "-m", "bench._beater", str(place), str(robots), str(BEATS * EVERY_S), str(LEASE_TTL_S)],
        cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert beater.stdin is not None and beater.stdout is not None
    assert beater.stdout.readline() == "ready\n"
    began, spent, served = time.monotonic(), time.process_time(), _processor_s(server)
    beater.stdin.write("\n")
    beater.stdin.flush()
    said = json.loads(beater.stdout.readline())
    passed = time.monotonic() - began
    spent, served = time.process_time() - spent, _processor_s(server) - served
    beater.communicate()
    sent: list[tuple[int, float]] = said["sent"]
    assert not said["lost"], f"{said['lost']} leases were not renewed in time"
    stop.set()
    loop.wake()
    reader.join(PATIENCE_S)
    took = [1000 * (min(at for at in heard[f"r{robot:04d}.lock"] if at >= then) - then) for robot, then in sent]
    row = {
        "renewals/s": len(sent) / passed,
        "p50 ms": percentile(took, 0.5),
        "p99 ms": percentile(took, 0.99),
        "reader CPU %": 100 * spent / passed,
        "server CPU %": 100 * served / passed,
        "server MiB": _resident(server) / 2**20 if server else 0.0,
    }
    loop.close()
    store.close()
    return row


def assignments(robots: int) -> Row:
    """As many missions as robots: the pure core once, and one more decision while all are at work."""
    import random

    from worldfs.base.model import Profile
    from worldfs.fleet.assignment import assign
    from worldfs.fleet.bids import MissionNeeds
    from worldfs.fleet.mission import Mission, MissionOrder

    rng = random.Random(robots)
    free = [
        offer._replace(position=(rng.uniform(0, NEAR), rng.uniform(0, NEAR), 0.0), mobile=True)
        for offer in _Robots(robots).robots
    ]
    places = {f"m{n:05d}": (rng.uniform(0, NEAR), rng.uniform(0, NEAR), 0.0) for n in range(robots)}
    queued = [Mission(MissionOrder(id, id, created_at=f"{n:06d}")) for n, id in enumerate(places)]

    def needs(mission: Mission) -> MissionNeeds:
        return MissionNeeds(frozenset({"pick_up"}), places=(places[mission.id],))

    began = time.process_time()
    found = assign(queued, free, needs, lambda id: None)
    whole = time.process_time() - began
    assert sum(bool(one.robot) for one in found) == robots
    # the usual step: one robot has become free, all other robots are at work, and the rest of the missions waits
    busy = [offer._replace(unable="busy") for offer in free[1:]]
    steps = []
    for one in (free[0], free[0]._replace(profile=Profile("Robot"))):
        began = time.process_time()
        assign(queued, [one, *busy], needs, lambda id: None)
        steps.append(1000 * (time.process_time() - began))
    names = ("one free, ms", "one free that cannot, ms")
    return {"assign s": whole, "ms a mission": 1000 * whole / robots, **dict(zip(names, steps, strict=True))}


def takes_in(missions: int) -> Row:
    """An orchestrator that finds missions that wait, in memory: none can begin, each is read, looked at, shown."""
    from worldfs.base.clock import SystemClock
    from worldfs.fleet.mission import MissionOrder
    from worldfs.fleet.orchestrator_loop import Orchestrator
    from worldfs.storage.memory_store import MemoryStore

    robots, store = _Robots(1), MemoryStore()
    loop = Orchestrator(store, SystemClock(), robots, language=lambda: "en", alert=lambda where, finding: None)
    for n in range(missions):
        loop.files.add(MissionOrder(f"m{n:05d}", f"mission {n}", f"mission {n}"))
    began = time.process_time()
    loop.recover()
    found = time.process_time() - began
    loop.step()
    began = time.process_time()
    loop.files.add(MissionOrder("one_more", "one more", "one more"))
    loop.step()
    step = time.process_time() - began
    loop.close()
    return {"start s": found, "step ms": 1000 * step}


# -- documents and connections -----------------------------------------------------------------------------------------


def bucket(place: Path, keys: int) -> Row:
    """A bucket with so many documents of 300 B: what a second process pays to open it, and letters as documents."""
    from worldfs.plugins.nats_store.nats_store import NatsStore

    place.mkdir()
    store, server = _opened("nats", place)
    began = time.monotonic()
    for first in range(0, keys, 500):
        store.put_many((f"agents/a{n:06d}/report.json", b"x" * 300) for n in range(first, min(keys, first + 500)))
    filled = time.monotonic() - began
    began = time.monotonic()
    other = NatsStore(store.address)
    opened = time.monotonic() - began
    tracemalloc.start()
    traced = NatsStore(store.address)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    traced.close()
    claims = []
    for n in range(SAMPLE):
        began = time.monotonic()
        store.put(f"letters/l{n}", b"x" * 300)
        found = other.get(f"letters/l{n}")
        assert found is not None
        other.put(f"letters/l{n}", b"claimed", found.revision)
        claims.append(time.monotonic() - began)
    row = {
        "puts/s": keys / filled,
        "open ms": 1000 * opened,
        "index B a key": grown / keys,
        "letter p50 ms": 1000 * percentile(claims, 0.5),
        "server MiB": _resident(server) / 2**20,
    }
    other.close()
    store.close()
    return row


def connections(place: Path, count: int) -> Row:
    """So many processes on one bucket, here as handles in one process: each follows the whole bucket."""
    from worldfs.plugins.nats_store.nats_store import NatsStore

    place.mkdir()
    store, server = _opened("nats", place)
    before, began = _resident(None), time.monotonic()
    crowd = [NatsStore(store.address) for _ in range(count)]
    opened, grown = time.monotonic() - began, _resident(None) - before
    began, spent, served = time.monotonic(), time.process_time(), _processor_s(server)
    for n in range(SAMPLE):
        store.put(f"bench/d{n}", b"x" * 300)
    for one in crowd:
        while one.probe(f"bench/d{SAMPLE - 1}") is None:
            time.sleep(0.001)
    passed, spent, served = time.monotonic() - began, time.process_time() - spent, _processor_s(server) - served
    row = {
        "open ms each": 1000 * opened / count,
        "KiB a connection": grown / 1024 / count,
        "all heard, ms a put": 1000 * passed / SAMPLE,
        "readers CPU ms a put": 1000 * spent / SAMPLE,
        "server CPU ms a put": 1000 * served / SAMPLE,
        "server MiB": _resident(server) / 2**20,
    }
    for one in (*crowd, store):
        one.close()
    return row


# -- agents ------------------------------------------------------------------------------------------------------------


def agents(place: Path, count: int) -> Row:
    """A root of so many agents; what those made last cost. The others are copies."""
    from worldfs.agents.agent_state import AgentState
    from worldfs.agents.overview import agent_summaries

    place.mkdir()
    AgentState.open("first", place, create=True).close()
    for n in range(count - SAMPLE - 1):
        shutil.copytree(place / "first", place / f"a{n:05d}")
    os.sync()
    spent = time.process_time()
    made = _timed(lambda n: AgentState.open(f"b{n:05d}", place, create=True).close())
    spent, files = time.process_time() - spent, len(os.listdir("/proc/self/fd"))
    tracemalloc.start()
    opened = [AgentState.open(f"b{n:05d}", place) for n in range(SAMPLE)]
    for state in opened:
        state.event("noted", text="begun")
        state.inbox.wait(0)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    sent = _timed(lambda n: opened[n].send(f"b{(n + 1) % SAMPLE:05d}", subject="A letter", body="Found it. " * 15))
    claimed = _timed(lambda n: opened[n].inbox.claim("bench"))
    prompts = _timed(lambda n: opened[n].prompt())
    row = {
        "make, CPU ms": 1000 * spent / SAMPLE,
        "make durable, ms": percentile(made, 0.5),
        "letter ms": percentile(sent, 0.5),
        "claim ms": percentile(claimed, 0.5),
        "prompt p50 ms": percentile(prompts, 0.5),
        "prompt p99 ms": percentile(prompts, 0.99),
        "KiB an open agent": grown / 1024 / SAMPLE,
        "files an open agent": (len(os.listdir("/proc/self/fd")) - files) / SAMPLE,
    }
    for state in opened:
        state.close()
    began = time.monotonic()
    assert len(agent_summaries(place)) == count
    return {**row, "list all, ms": 1000 * (time.monotonic() - began)}


def _timed(work: Callable[[int], object]) -> list[float]:
    """Milliseconds of each."""
    took = []
    for n in range(SAMPLE):
        began = time.perf_counter()
        work(n)
        took.append(1000 * (time.perf_counter() - began))
    return took


# -- the machine -------------------------------------------------------------------------------------------------------


def _opened(kind: str, place: Path) -> tuple[Any, int | None]:
    """The store, and the process of its server."""
    from worldfs.storage.open_store import open_store

    if kind != "nats":
        return open_store(kind, place), None
    from worldfs.plugins.nats_store.nats_store import NatsStore
    from worldfs.plugins.nats_store.own_server import OwnServer
    from worldfs.plugins.nats_store.store_address import StoreAddress

    server = OwnServer(str(place), os.environ)
    return NatsStore(StoreAddress(), server=server), server.pid


def _resident(process: int | None) -> int:
    """Bytes; None: of this process."""
    pages = Path(f"/proc/{process or 'self'}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _processor_s(process: int | None) -> float:
    """Of all its threads so far; 0 without one."""
    if process is None:
        return 0.0
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


# -- curves ------------------------------------------------------------------------------------------------------------


def curves(robots: Sequence[int], many: Sequence[int]) -> str:
    parts = [
        _table("leases renewed, NATS", "robots", robots, heartbeats),
        _table("assignments, memory", "robots", robots, lambda place, n: assignments(n)),
        _table("missions that wait, memory", "missions", many, lambda place, n: takes_in(n)),
        _table("agents, disk", "agents", many, agents),
        _table("documents, NATS", "documents", many, bucket),
        _table("connections, NATS", "connections", [n for n in robots if n <= 100], connections),
    ]
    asked = ["git", "rev-parse", "--short=7", "HEAD"]
    head = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    made = f"{datetime.now(UTC):%Y-%m-%d}, `{head.strip()}`, {os.cpu_count()} shared cores, load {load} at the end"
    return f"Measured {made}.\n\n" + "\n".join(parts)


def _table(title: str, unit: str, counts: Sequence[int], point: Callable[[Path, int], Row]) -> str:
    rows = []
    for count in counts:
        with scratch() as place:
            rows.append(point(place / "point", count))
        print(title, count, {name: round(value, 3) for name, value in rows[-1].items()}, flush=True)
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    lines = [f"| {title}: {unit} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for count, row in zip(counts, rows, strict=True):
        lines.append(f"| {count:,} | " + " | ".join(_words(row[name]) for name in names) + " |")
    return "\n".join(lines) + "\n"


def _words(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", default="10,100,1000")
    parser.add_argument("--agents", default="100,1000,10000")
    parser.add_argument("--write", type=Path, help="a page with the marks of the curves")
    given = parser.parse_args()
    text = curves(*([int(word) for word in words.split(",")] for words in (given.robots, given.agents)))
    print(text)
    if given.write:
        page = given.write.read_text("utf-8")
        given.write.write_text(_MARKS.sub(lambda part: part[1] + text + part[2], page), "utf-8")


if __name__ == "__main__":
    main()
