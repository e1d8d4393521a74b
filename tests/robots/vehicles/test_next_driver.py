"""What makes a confirmation harder is known to the next driver too: of a new process, and of one that is made again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the extra rosbridge")
pytest.importorskip("paho.mqtt.client", reason="the extra vda5050")

from worldfs.base.errors import StorageError
from worldfs.robots.vehicles.vehicle_interface import DriveGoal
from worldfs.runtime.grace import CONFIRM_S
from worldfs.storage.memory_store import MemoryStore
from worldfs.storage.store_interface import Store
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.stored_memory import KNOWN, DriverMemories, StoredMemory

from .conftest import ME, lab, opened, settings
from .test_vehicle_that_drives_on import Base, Reporter, agv, posed, reports, straight
from .vda5050_peer import Agv

FILE = f"{KNOWN}/{ME}.json"


class Process:
    """A store, and the memory of one process after another."""

    def __init__(self) -> None:
        self.store: Store = MemoryStore()

    @contextmanager
    def run(self) -> Iterator[StoredMemory]:
        """What was found out is stored at its end, as it is milliseconds after it was found out."""
        memory = StoredMemory(self.store, FILE)
        yield memory
        until(lambda: memory._facts == memory._stored)


@pytest.mark.parametrize("kind", ["state", "visualization"])
def test_a_vehicle_that_has_told_a_position_to_an_earlier_process_confirms_nothing_without_one(kind: str) -> None:
    process = Process()
    with process.run() as memory:
        one = Reporter(memory)
        one.says(0.1)
        assert one.stands
        for _ in range(8):
            one.says(0.1, kind, **agv((1.0, 0.0, 0.0)))
        assert one.stands
    with process.run() as memory:
        for _ in range(2):  # made once more in this process, by `enable` or a new entry of config.json
            one = Reporter(memory)
            for _ in range(20):
                one.says(0.1, "state")
                assert not one.stands
        for _ in range(8):
            one.says(0.1, **agv((1.0, 0.0, 0.0)))
            one.says(0.1, kind, **agv((1.0, 0.0, 0.0)))
        assert one.stands


def test_a_vehicle_that_never_told_one_stands_by_its_word_in_each_process() -> None:
    process = Process()
    for _ in range(2):
        with process.run() as memory:
            one = Reporter(memory)
            one.says(0.1)
            assert one.stands
    assert process.store.get(FILE) is None  # nothing was found out


def test_what_is_noted_while_a_fact_is_stored_is_stored_too_without_another_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, begun, go_on = MemoryStore(), threading.Event(), threading.Event()
    put = store.put

    def slowly(*about: Any, **more: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return put(*about, **more)

    monkeypatch.setattr(store, "put", slowly)
    memory = StoredMemory(store, FILE)
    memory.note("one", 1)
    assert begun.wait(PATIENCE_S)
    memory.note("two", 2)
    go_on.set()
    until(lambda: [StoredMemory(store, FILE).recall(name) for name in ("one", "two")] == [1, 2])


def test_another_vehicle_of_that_node_is_judged_by_its_own_reports() -> None:
    process = Process()
    with process.run() as memory:
        memory.keep("positions", ["uagv/v2/acme/amr-6/state"])
        one = Reporter(memory)
        one.says(0.1)
        assert one.stands


@pytest.mark.parametrize("kind", [Reporter, Base])
def test_a_vehicle_that_crept_is_believed_late_by_the_next_process_too(kind: Any) -> None:
    process = Process()

    def seen(one: Any, place: Any) -> bool:
        if kind is Base:
            one.says(0.1, posed(place))
        else:
            one.says(0.1, **agv(place))
        return bool(one.stands)

    with process.run() as memory:
        one = kind(memory)
        said = [seen(one, place) for _, place in reports(straight(0.03, 0.0), [0.1] * 200)]
        assert any(said)
    with process.run() as memory:
        one = kind(memory)
        stood = [seen(one, (1.0, 0.0, 0.3)) for _ in range(650)]
        assert not any(stood[:20]) and stood[-1]
        if kind is Base:
            one.says(0.1, posed((1.0, 0.0, 0.3)), 0.5)
        else:
            one.says(0.1, driving=True, **agv((1.0, 0.0, 0.3)))
    with process.run() as memory:  # it has driven since
        one = kind(memory)
        assert [seen(one, (1.0, 0.0, 0.3)) for _ in range(10)][-1]


def test_a_goal_whose_end_was_not_told_is_cancelled_before_the_next_process_believes_that_the_robot_stands() -> None:
    process = Process()
    with process.run() as memory:
        base = Base(memory)
        base.vehicle._client.send = lambda operation: None  # type: ignore[method-assign]
        base.says(0.1, posed((1.0, 0.0, 0.3)))
        base.vehicle._state._anchor = ((1.0, 0.0, 0.3), (1.0, 0.0, 0.3))  # it is localised
        base.vehicle.begin("act-1", DriveGoal(4.0, 1.0), lambda points: "")
        stored = process.store.get(FILE)
        assert stored is not None and b"act-1" in stored.data  # before anything else happens
    with process.run() as memory:
        base = Base(memory)
        for _ in range(10):
            base.says(0.1, posed((1.0, 0.0, 0.3)))
            assert not base.stands
        answer = {"op": "service_response", "service": "/navigate_to_pose/_action/cancel_goal", "result": True}
        base.vehicle._hear(answer | {"values": {"return_code": 1}})
        assert not base.stands
        base.vehicle._hear(answer | {"values": {"return_code": 0}})
        assert base.stands
    with process.run() as memory:
        assert not Base(memory).vehicle._unended


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff", b'{"positions": 5, "crept": "x", "goal": {}}'])
def test_a_memory_that_cannot_be_read_lets_nothing_be_believed_that_is_weaker(data: bytes) -> None:
    process = Process()
    process.store.put(FILE, data)
    for number in range(2):
        with process.run() as memory:
            one, base = Reporter(memory), Base(memory)
            for _ in range(20):
                one.says(0.1)
                base.says(0.1, posed((1.0, 0.0, 0.3)))
                assert not one.stands and not base.stands
            memory.keep("positions" if number else "crept", None)  # of the others it says something still


class Refusing(MemoryStore):
    full = True

    def put(self, *args: Any, **more: Any) -> str:
        if self.full:
            raise StorageError("no space")
        return super().put(*args, **more)


def test_what_a_full_disk_does_not_take_is_known_in_this_process_and_stored_later() -> None:
    store = Refusing()
    memories = DriverMemories(store)
    one = Reporter(memories.of(ME))
    one.says(0.1, **agv((1.0, 0.0, 0.0)))
    again = Reporter(memories.of(ME))
    again.says(0.1)
    assert not again.stands and store.get(FILE) is None
    store.full = False

    def stored() -> bool:
        again.says(0.1)
        return store.get(FILE) is not None

    until(stored)


# -- over a broker -----------------------------------------------------------------------------------------------------


def test_a_kernel_that_starts_again_confirms_no_stop_of_a_vehicle_that_tells_its_position_no_more(
    tmp_path: Path, broker: Any
) -> None:
    root = lab(tmp_path / "lab", settings(broker.port), ("move_to", {"target_pose": [5, 0, 0]}))
    with Agv(broker.port, "drives on", speed=0.3) as agv:
        for driving in (True, False):
            with opened(root) as world:
                stop = threading.Event()
                thread = threading.Thread(target=world.run, kwargs={"stop": stop})
                thread.start()
                try:
                    if driving:
                        until(lambda: agv.driving)
                    agv.faults.add("tells no position")
                    began = agv.x
                    assert not world.stop(ME, confirm_s=0.1 if driving else CONFIRM_S).confirmed
                finally:
                    stop.set()
                    thread.join()
            assert agv.x > began and (root / FILE).exists()
