"""Two hubs, two hosts for the same robots, one NATS root: cut off, frozen and killed at random, with clocks apart. The
root is on one server, or on a group of three, which are cut off, frozen and killed too.

No mission is lost, none is carried out twice, no place is claimed by two, and no body moves under a lease that is over:
the bodies' own log is judged by `worldfs.testing.fleet_history`. $PAOS_PARTITIONS_S says for how many seconds (600).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from worldfs.base.errors import StorageError, WorldError
from worldfs.fleet.mission import MissionOrder
from worldfs.fleet.mission_store import DONE, MissionFiles
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.testing.fleet_history import FleetEvent, judge
from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import PATIENCE_S, until

from ..nats_store.server_group import ServerGroup
from .fleet_network import FleetNetwork, unavailable
from .fleet_plant import FleetPlant, Seen

SECONDS = float(os.environ.get("PAOS_PARTITIONS_S", "600"))
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/proof/fleet_host_process.py"
ROBOTS = ("cart_1", "cart_2", "cart_3")
HUBS, CARTS = ("hub_a", "hub_b"), ("carts_a", "carts_b")
HOSTS = (*HUBS, *CARTS)
BUCKET = "fleet"
CLOCK_S = {"hub_a": 0.0, "hub_b": 3600.0, "carts_a": -3600.0, "carts_b": 1800.0}
SERVERS = {"one_server": (), "three_servers": ("server_a", "server_b", "server_c")}
TTL_S = {"one_server": 3, "three_servers": 10}  # a lease outlives the gap in which a group elects another leader
OVER_S = 240.0  # names a fleet that never comes to rest


def _place(number: int) -> str:
    """One of its own, within the bounds of the carts: 841 a metre apart, then as many between those."""
    layer, rest = divmod(number, 841)
    return f"({rest % 29 - 14 + 0.25 * layer:g}, {rest // 29 - 14 + 0.25 * layer:g})"


class ChaoticFleet:
    """The hosts, their servers and the bodies; what is done to them; what is seen of them."""

    def __init__(self, place: Path, network: FleetNetwork, kind: str, seed: int) -> None:
        self.place, self.network, self.rng = place, network, random.Random(seed)
        self.names, self.ttl_s = SERVERS[kind] or ("",), TTL_S[kind]
        self.servers = ServerGroup(place / "engine", network.addresses, [*map(network.command, self.names)])
        self.plant = FleetPlant(place / "plant", ROBOTS)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.done: Counter[str] = Counter()
        self.kills: list[tuple[str, float]] = []
        self.seen: list[Seen] = []
        self.url = self.servers.address(f"ttl={self.ttl_s}&replicas={len(self.names)}", BUCKET)
        self.store = until(self._open)
        self.missions = MissionFiles(self.store, self.store.clock)
        self.accepted: dict[str, str] = {}
        self.ended: dict[str, str] = {}
        self.reasons: list[str] = []  # of those that failed
        self._over, self._failed = threading.Event(), []
        for host in HOSTS:
            self._furnish(host)

    def _open(self):
        from worldfs.plugins.nats_store.nats_store import NatsStore

        with suppress(WorldError):
            return NatsStore(self.url)
        return None

    def _furnish(self, host: str) -> None:
        home = self.place / host
        (home / "shared").mkdir(parents=True)
        robots = [{"robotId": id, "driver": "plant", "profileName": "go2_edu", "workspace": id} for id in ROBOTS]
        value = {"embodiments": {"mode": "fleet", "sharedWorkspace": "shared", "instances": robots}}
        (home / "config.json").write_text(json.dumps(value))
        page = {"schema_version": "v2.0", "scene_graph": {"nodes": [], "edges": []}, "robots": [], "objects": []}
        (home / "shared" / "ENVIRONMENT.md").write_text(json.dumps(page))

    # -- hosts -------------------------------------------------------------------------------------------------

    def start(self, host: str) -> None:
        if host in self.processes:
            return
        share = ["--no-robots"] if host in HUBS else [word for id in ROBOTS for word in ("--robot", id)]
        words = ["--home", str(self.place / host), "up", "--store", self.url, "--standby", *share]
        command = [sys.executable, "-m", "tests.proof.fleet_host_process", host, str(self.place / "plant"),
                   str(self.place / f"{host}.leases"), str(CLOCK_S[host]), *words]  # fmt: skip
        with open(self.place / f"{host}.log", "ab") as log:
            self.processes[host] = subprocess.Popen(
                [*self.network.command(host), *command], cwd=ROOT, stdout=log, stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
            )  # fmt: skip

    def kill(self, host: str) -> None:
        if (process := self.processes.pop(host, None)) is not None:
            process.kill()
            process.wait()
            self.kills.append((host, time.monotonic()))

    def holder_of(self, names: tuple[str, ...]) -> str:
        """The host of these that serves now, as far as its log says."""
        latest = {name: beliefs[-1]["until"] for name in names if (beliefs := self._beliefs(name))}
        return max(latest, key=lambda name: latest[name]) if latest else names[0]

    def _beliefs(self, host: str) -> list[dict]:
        path = self.place / f"{host}.leases"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    # -- what is done to them ----------------------------------------------------------------------------------

    def _victim(self) -> str:
        """More often one that serves than one that stands by."""
        return self.holder_of(self.rng.choice((HUBS, CARTS))) if self.rng.random() < 0.7 else self.rng.choice(HOSTS)

    def disturb(self) -> None:
        kinds = ["kill", "kill", "freeze", "freeze", "cut", "cut_out", "cut_in", "server", "twice"]
        what = self.rng.choice(kinds + ["server"] * 3 * (len(self.names) > 1))
        if what == "server":
            return self._hurt_server()
        if what == "twice":  # in the middle of a hand-over
            for host in (self._victim(), self._victim()):
                self._hurt(host, self.rng.choice(("kill", "freeze", "cut")))
                self._pass(0.0, self.ttl_s)
            return
        self._hurt(self._victim(), what)

    def _hurt_server(self) -> None:
        self.done["server"] += 1
        if len(self.names) == 1:
            self.servers.kill(0)
            self._pass(0.0, 2.0)
            return self.servers.start(0)
        index, what = (
            self.rng.randrange(len(self.names)),
            self.rng.choice(("kill", "freeze", "cut", "cut_out", "cut_in")),
        )
        if what in ("kill", "freeze"):
            getattr(self.servers, what)(index)
        else:
            getattr(self.network, what)(self.names[index])
        self._pass(0.5, 2.0 * self.ttl_s)
        return self._mend_server(index)

    def _mend_server(self, index: int) -> None:
        self.servers.thaw(index)
        self.servers.start(index)
        if self.names[index]:
            self.network.heal(self.names[index])

    def _hurt(self, host: str, what: str) -> None:
        self.done[what] += 1
        if what == "kill":
            self.kill(host)
            self._pass(0.0, 2.0)
            return self.start(host)
        if what == "freeze":
            process = self.processes.get(host)
            if process is None:
                return None
            freeze(process.pid)
            self._pass(0.5, 2.0 * self.ttl_s)
            return process.send_signal(signal.SIGCONT)
        getattr(self.network, what)(host)
        self._pass(0.5, 2.5 * self.ttl_s)
        return self.network.heal(host)

    def _pass(self, low: float, high: float) -> None:
        time.sleep(self.rng.uniform(low, high))  # the moment is the experiment

    # -- missions ----------------------------------------------------------------------------------------------

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self._failed.append(error)

    def submit(self) -> None:
        """A mission to a place of its own, and soon another, while those that are open are few."""
        number = 0
        while not self._over.is_set():
            if len(self.accepted) - len(self.ended) < 6:
                number += 1
                id, place = f"m_{number:04d}", _place(number)
                self.seen.append((time.monotonic(), FleetEvent("submit", id)))  # before a body may have it
                order = MissionOrder(id, f"go to {place}")
                until(lambda order=order: self._is_added(order), f"{id}: no server took it")
                self.accepted[id] = place
            self._over.wait(self.rng.uniform(0.05, 0.5))

    def _is_added(self, order: MissionOrder) -> bool:
        with suppress(StorageError):  # no answer within a store's patience: it may have been stored
            self.missions.add(order)
            return True
        return False

    def observe(self) -> None:
        """Each end, as any reader of the store sees it."""
        with self.store.watch(DONE) as watch:
            while not self._over.is_set() or self.ended.keys() != self.accepted.keys():
                with suppress(WorldError):
                    for id in self.missions.done_ids():
                        if id not in self.ended:
                            status = self.missions.load(id).status
                            state = status.state.value
                            if state == "failed":
                                self.reasons.append(f"{id}: {status.reason}")
                            self.seen.append((time.monotonic(), FleetEvent("end", id, result=state)))
                            self.ended[id] = state
                if self._closing.is_set():
                    return
                watch.read(0.2)

    def run(self, seconds: float) -> None:
        self._closing = threading.Event()
        threads = [threading.Thread(target=self._guard, args=(work,)) for work in (self.submit, self.observe)]
        for host in HOSTS:
            self.start(host)
        for thread in threads:
            thread.start()
        end = time.monotonic() + seconds
        try:
            until(lambda: self.ended or self._failed, "no mission ends though nothing was disturbed")
            while time.monotonic() < end and not self._failed:
                self._pass(0.5, 4.0)
                self.disturb()
        finally:
            self._over.set()
            threads[0].join()
            for host in HOSTS:
                self.network.heal(host)
            for index in range(len(self.names)):
                self._mend_server(index)
            for host in HOSTS:
                self.start(host)
            rest = time.monotonic() + OVER_S
            while self.ended.keys() != self.accepted.keys() and time.monotonic() < rest and not self._failed:
                time.sleep(0.1)
            self._closing.set()
            threads[1].join()
        if self._failed:
            raise self._failed[0]

    def close(self) -> list[str]:
        """Ends that were no ends of a command that was asked to."""
        for process in self.processes.values():
            process.terminate()
        wrong = []
        for host, process in self.processes.items():
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE_S)
            if process.poll() != 0:
                wrong.append(f"{host} ended with {process.poll()}")
            process.kill()
        with suppress(WorldError):
            self.store.close()
        self.servers.close()
        self.plant.close()
        return wrong

    # -- the history -------------------------------------------------------------------------------------------

    def history(self) -> list[tuple[float, FleetEvent]]:
        """All that was seen, in the order of the machine's own clock: a lease ends before another one begins."""
        ordered = [(at, 1, event) for at, event in (*self.seen, *self.plant.seen)]
        spans: dict[tuple[str, int, str], tuple[float, float]] = {}
        for host in HOSTS:
            for said in self._beliefs(host):
                node = "hub" if said["lease"] == KERNEL_LEASE else said["lease"].rsplit("/", 1)[1][: -len(".lock")]
                key = node, said["epoch"], host
                first, last = spans.get(key, (said["at"], said["until"]))
                # a lease that was given back ends then, and not when it would have expired
                spans[key] = first, said["until"] if said["until"] <= said["at"] else max(last, said["until"])
        for (node, epoch, host), (first, until_then) in spans.items():
            last = min([until_then, *(at for name, at in self.kills if name == host and at > first)])
            ordered.append((first, 2, FleetEvent("lease", node=node, host=host, epoch=epoch)))
            ordered.append((last, 0, FleetEvent("unlease", node=node, host=host, epoch=epoch)))
        return [(at, event) for at, _, event in sorted(ordered, key=lambda item: item[:2])]


@pytest.fixture(params=SERVERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def network(kind: str) -> Iterator[FleetNetwork]:
    if why := unavailable():
        pytest.skip(why)
    made = FleetNetwork(HOSTS, SERVERS[kind])
    yield made
    made.close()


@pytest.mark.proof
def test_a_fleet_survives_whatever_is_cut_frozen_or_killed(tmp_path, network, kind, nats_server) -> None:
    seed = int(os.environ.get("PAOS_PARTITIONS_SEED", "1"))
    fleet = ChaoticFleet(tmp_path, network, kind, seed)
    try:
        fleet.run(SECONDS)
    finally:
        ends = fleet.close()
    history = fleet.history()
    (tmp_path / "reasons.txt").write_text("\n".join(fleet.reasons))
    lines = [json.dumps({"at": at, **event._asdict()}) for at, event in history]
    (tmp_path / "history.jsonl").write_text("\n".join(lines))  # where it is wrong, this says how
    wrong = [*judge(event for _, event in history), *fleet.plant.wrong, *ends]
    for host in HOSTS:
        said = (tmp_path / f"{host}.log").read_text().splitlines()
        bugs = [at for at, line in enumerate(said) if "Traceback" in line or "our bug" in line]
        wrong += [f"{host} failed: " + "\n".join(said[max(0, at - 2) : at + 60]) for at in bugs]
    open_still = sorted(fleet.accepted.keys() - fleet.ended.keys())
    assert not wrong, (wrong[:20], [(id, fleet.missions) for id in open_still[:3]])
    states = Counter(fleet.ended.values())
    assert states["succeeded"] > len(fleet.accepted) / 2, states
    moved = sum(event.kind == "begin" for _, event in fleet.plant.seen)
    changes = sum(event.kind == "lease" for _, event in history)
    print(f"{len(fleet.accepted)} missions accepted: {states['succeeded']} succeeded, {states['failed']} failed")
    print(
        f"{moved} motions, {fleet.plant.halted} halted, {fleet.plant.stale} refused at the body, {changes} leases held"
    )
    print(f"disturbed: {dict(sorted(fleet.done.items()))}")
