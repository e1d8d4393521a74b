"""The store on NATS beside the disk's: claims, actions, watches, and how soon work goes on after a failure."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ._stand import ROOT, environ, make_workspace, percentile, scratch

if TYPE_CHECKING:
    from worldfs.plugins.nats_store.nats_store import NatsStore
    from worldfs.storage.store_interface import Store

FIGURES = (
    "watch.disk_p99_ms",
    "watch.nats_p99_ms",
    "nats.claims_over_bare",
    "nats.action_p50_ms",
    "nats.action_disk_p50_ms",
    "recover.server_s",
    "recover.robot_s",
    "recover.hub_s",
)
CLAIMS, WATCHED, ACTIONS, KILLS, WARM_UP = 400, 300, 60, 5, 20


def run() -> dict[str, float]:
    from worldfs.plugins.nats_store.nats_store import NatsStore
    from worldfs.plugins.nats_store.store_opening import open_nats_store
    from worldfs.storage.open_store import open_store

    with scratch() as place, ExitStack() as stack:
        store = open_nats_store("nats", str(place / "engine"))
        stack.callback(store.close)
        figures = {"nats.claims_over_bare": claims_over_bare(store)}
        other = NatsStore(store.address)
        stack.callback(other.close)
        disk = [open_store("disk", place) for _ in range(2)]
        for each in disk:
            stack.callback(each.close)
        figures["watch.disk_p99_ms"] = 1000 * percentile(watched(*disk), 0.99)
        figures["watch.nats_p99_ms"] = 1000 * percentile(watched(store, other), 0.99)
        figures["nats.action_p50_ms"] = 1000 * percentile(actions(place / "on_nats", store), 0.5)
        figures["nats.action_disk_p50_ms"] = 1000 * percentile(actions(place / "on_disk", None), 0.5)
        figures["recover.server_s"] = percentile([server_killed(store, number) for number in range(KILLS)], 0.5)
        figures["recover.robot_s"] = percentile([robot_killed(store, other, n) for n in range(KILLS)], 0.5)
    with scratch() as place:
        figures["recover.hub_s"] = percentile([hub_killed(place / str(number)) for number in range(3)], 0.5)
    return figures


def watched(one: Store, other: Store) -> list[float]:
    """From the call of a durable write in one store until a watch of another has reported it."""
    took = []
    with other.watch("bench") as watch:
        for number in range(WARM_UP + WATCHED):
            heard = threading.Thread(target=_hear, args=(watch.read, key := f"bench/{number}"))
            heard.start()
            began = time.perf_counter()
            one.put(key, b"x" * 300)
            heard.join()
            took.append(time.perf_counter() - began)
    return took[WARM_UP:]


def _hear(read: Callable[[float | None], object], key: str) -> None:
    while key not in str(read(None)):
        pass


def claims_over_bare(store: NatsStore) -> float:
    """Claims of jobs by the job store, against the bare client's compare-and-swaps; medians of alternating blocks."""
    from worldfs.base.model import JobState, JobStatus, Order
    from worldfs.runtime.job_store import JobStore

    jobs = JobStore(store, store.clock)
    ours: list[float] = []
    bare: list[float] = []
    for block in range(8):
        ids = [f"act_{block}_{number}" for number in range(CLAIMS // 8)]
        jobs.accept([Order(id, "arm", "move_to", {"x": 1.0}) for id in ids])
        running = JobStatus(state=JobState.RUNNING, attempt=1)
        for id in ids:
            began = time.perf_counter()
            jobs.write_status(id, running)
            ours.append(time.perf_counter() - began)
        bare += store.run(_bare_claims(store, block))
    return percentile(bare, 0.5) / percentile(ours, 0.5)


async def _bare_claims(store: NatsStore, block: int) -> list[float]:
    """As a program would that uses the client of NATS and nothing else: put, then a claim with what put gave."""
    from nats.js import api

    js = store.connection.client.jetstream()
    config = api.KeyValueConfig(bucket="bare", history=1)
    bucket = await js.create_key_value(config) if not block else await js.key_value("bare")
    order = b'{"id": "act", "node": "arm", "op": "move_to", "params": {"x": 1.0}}\n' * 3
    found = {f"act_{block}_{number}": await bucket.put(f"act_{block}_{number}", order) for number in range(CLAIMS // 8)}
    took = []
    for key, revision in found.items():
        began = time.perf_counter()
        await bucket.update(key, order + b'{"state": "running", "attempt": 1}\n', revision)
        took.append(time.perf_counter() - began)
    return took


def actions(place: Path, store: NatsStore | None) -> list[float]:
    """One action at a time that does nothing: from its order to its end, as its author's wait returns."""
    from worldfs.base.model import Order
    from worldfs.plugins.nats_store.nats_store import NatsStore
    from worldfs.testing.null_driver import NullDriver
    from worldfs.world.home import Home
    from worldfs.world.world import World

    root = make_workspace(place)
    address = store.address._replace(bucket="actions") if store is not None else None
    kept = NatsStore(address) if address is not None else None
    if kept is not None:
        for file in sorted(root.iterdir()):
            if file.is_file():
                kept.put(file.name, file.read_bytes())
    stop = threading.Event()
    with World.open(
        root, config=Home(root.parent).config({}), store=kept, serve=True,
        drivers=dict.fromkeys(("simulation", "null"), lambda context: NullDriver()),
    ) as world:  # fmt: skip
        kernel = threading.Thread(target=world.run, kwargs={"stop": stop})
        kernel.start()
        node, took = world.specs[0].id, []
        for number in range(WARM_UP + ACTIONS):
            began = time.perf_counter()
            world.submit(Order(f"act_{number}", node, "move_to", {"target_pose": [0.5, 0.0, 0.3, 0.0, 0.0, 0.0]}))
            status = world.wait_job(f"act_{number}", 60)
            took.append(time.perf_counter() - began)
            if status.outcome is None or not status.outcome.ok:
                raise RuntimeError(f"an action ended as {status.outcome}")
        stop.set()
        world.wake()
        kernel.join()
    return took[WARM_UP:]


def server_killed(store: NatsStore, number: int) -> float:
    """From SIGKILL of the server until the next write is acknowledged."""
    server = store._server
    if server is None or server.pid is None:
        raise RuntimeError("the server is not ours")
    began = time.perf_counter()
    os.kill(server.pid, signal.SIGKILL)
    store.put(f"after/{number}", b"1")
    return time.perf_counter() - began


_HOLD = (
    "import sys; from worldfs.plugins.nats_store.nats_store import NatsStore\n"
    "from worldfs.plugins.nats_store.store_address import StoreAddress\n"
    "store = NatsStore(StoreAddress(sys.argv[1], sys.argv[2], token=sys.argv[3]))\n"
    "lease = store.lease('.paos/kernel.lock', 'robot').acquire()\n"
    "print('held', flush=True); sys.stdin.read()"
)


def robot_killed(store: NatsStore, other: NatsStore, number: int) -> float:
    """From SIGKILL of the process that has a robot's lease until another on its host has it."""
    from worldfs.base.errors import Busy
    from worldfs.storage.lease import KERNEL_LEASE

    where = store.address
    command = [sys.executable, "-c", _HOLD, where.servers, where.bucket, where.token]
    with subprocess.Popen(
        command, cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None or process.stdout.readline() != "held\n":
            raise RuntimeError("the holder did not start")
        began = time.perf_counter()
        process.kill()
        while True:
            try:
                lease = other.lease(KERNEL_LEASE, "next").acquire()
            except Busy:
                time.sleep(0.005)
            else:
                took = time.perf_counter() - began
                lease.release()
                return took


_OWN = (
    "import sys; from worldfs.plugins.nats_store.store_opening import open_nats_store\n"
    "store = open_nats_store('nats', sys.argv[1]); store.put('a', b'1')\n"
    "print('open', flush=True); sys.stdin.read()"
)


def hub_killed(place: Path) -> float:
    """From SIGKILL of the server's owner, with which it dies, until the write of another process is acknowledged."""
    from worldfs.plugins.nats_store.store_opening import open_nats_store

    place.mkdir()
    command = [sys.executable, "-c", _OWN, str(place / "engine")]
    with subprocess.Popen(
        command, cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None or process.stdout.readline() != "open\n":
            raise RuntimeError("the owner did not start")
        store = open_nats_store("nats", str(place / "engine"))
        began = time.perf_counter()
        process.kill()
        server, number = store._server, 0
        while server is not None and server.pid is None:  # acknowledged by the old one, which is just ending
            number += 1
            store.put("b", b"%d" % number)
        store.put("c", b"1")
        took = time.perf_counter() - began
        store.close()
    return took
