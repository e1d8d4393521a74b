"""Leases on NATS: they expire without their holder, and a holder that lost its lease writes nothing."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.errors import Busy, Conflict, Exists
from worldfs.base.model import Cause, Order, Outcome
from worldfs.plugins.nats_store.nats_lease import LeaseLost
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.robots.epoch_fence import EpochFence
from worldfs.runtime.stop_listener import StopListener
from worldfs.runtime.stop_log import StopLog
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.store_interface import ABSENT, ANY, StoreChangeKind
from worldfs.testing.freezing import freeze
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.watch_contract import wait_for_change
from worldfs.world.home import Home
from worldfs.world.onboard import onboard
from worldfs.world.world import World

HOLD = (
    "import sys; from worldfs.plugins.nats_store.nats_store import NatsStore\n"
    "from worldfs.plugins.nats_store.store_address import StoreAddress\n"
    "from worldfs.plugins.nats_store.nats_lease import LeaseLost\n"
    "store = NatsStore(StoreAddress(sys.argv[1], sys.argv[2], token=sys.argv[3], ttl_s=2.0))\n"
    "lease = store.lease('.paos/kernel.lock', 'stalled').acquire()\n"
    "print(lease.epoch, flush=True); sys.stdin.readline()\n"
    "for write in (lambda: store.put('ENVIRONMENT.md', b'stale'), lambda: store.append('log', b'stale')):\n"
    "    try:\n"
    "        write(); print('written', flush=True)\n"
    "    except LeaseLost:\n"
    "        print('refused', flush=True)\n"
)


@pytest.fixture
def store(nats_address):
    store = NatsStore(nats_address)
    yield store
    store.close()


@pytest.fixture
def second(nats_address):
    store = NatsStore(nats_address)
    yield store
    store.close()


@pytest.fixture
def frozen(nats_address):
    """Another process holds the kernel's lease and is stopped in the middle of its work, as a stalled host is."""
    where = nats_address
    command = [sys.executable, "-c", HOLD, where.servers, where.bucket, where.token]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.epoch = int(process.stdout.readline())
        freeze(process.pid)
        yield process
        os.kill(process.pid, signal.SIGCONT)
        process.kill()


def _silence(lease):
    """The host of the lease's holder is cut off, or so busy that nothing of it runs."""
    store = lease._store

    async def cancel():
        lease._keeper.cancel()

    store.run(cancel())


def test_a_lease_is_renewed_for_longer_than_it_lives(store, second):
    with store.lease("a", "first") as lease:
        first = lease.seq
        until(lambda: lease.seq > first)
        again = lease.seq
        until(lambda: lease.seq > again)
        lease.demand()
        with pytest.raises(Busy):
            second.lease("a", "second").acquire()
        assert lease.epoch < lease.seq


def test_every_holder_has_a_higher_epoch(store, second):
    epochs = []
    for holder in (store, second, store):
        with holder.lease("a") as lease:
            epochs.append(lease.epoch)
    assert epochs == sorted(set(epochs))


def test_a_frozen_holder_loses_its_lease_and_what_it_sends_then_is_refused(frozen, store):
    with pytest.raises(Busy) as busy:
        store.lease(KERNEL_LEASE, "next").acquire()
    assert str(frozen.pid) in busy.value.found
    until(lambda: store.lease(KERNEL_LEASE).holder() is None)
    with store.lease(KERNEL_LEASE, "next") as lease:
        assert lease.epoch > frozen.epoch
        store.put("ENVIRONMENT.md", b"true")
        os.kill(frozen.pid, signal.SIGCONT)
        frozen.stdin.write("go\n")
        frozen.stdin.flush()
        assert [frozen.stdout.readline() for _ in range(2)] == ["refused\n", "refused\n"]
        assert store.get("ENVIRONMENT.md").data == b"true" and store.get("log") is None


def test_the_server_refuses_what_a_former_holder_sends_although_it_believes_to_hold_it(store, second):
    lease = store.lease(KERNEL_LEASE, "first").acquire()
    store.append("log", b"1\n")
    _silence(lease)
    until(lambda: second.lease(KERNEL_LEASE).holder() is None)
    with second.lease(KERNEL_LEASE, "second"):
        second.append("log", b"2\n")
        lease._valid_until += PATIENCE_S  # a clock that has stood still with its host
        with pytest.raises(LeaseLost, match="another process"):
            store.put("ENVIRONMENT.md", b"stale")
        lease.lost = None
        with pytest.raises(LeaseLost, match="another process"):
            store.append("log", b"stale\n")
        assert second.get("log").data == b"1\n2\n" and second.get("ENVIRONMENT.md") is None


def test_a_lease_that_cannot_be_renewed_is_lost_in_time_and_its_watches_fail(store):
    lease = store.lease(KERNEL_LEASE, "first").acquire()
    with store.watch("jobs") as watch:
        _silence(lease)
        lease._valid_until = 0.0  # as time passes
        with pytest.raises(LeaseLost, match="not be renewed"):
            store.put("a", b"1")
        with pytest.raises(LeaseLost):
            watch.read(PATIENCE_S)
    with pytest.raises(LeaseLost):
        store.watch("jobs").read(0)
    lease.release()
    store.put("a", b"1")  # as any program that is no kernel


def test_a_store_without_the_lease_submits_while_another_holds_it(store, second):
    with store.lease(KERNEL_LEASE, "kernel"):
        second.put("jobs/one", b"1")
        assert store.get("jobs/one").data == b"1"


def test_a_watch_reports_a_lease_that_expires(store, second):
    with second.watch("turns") as watch:
        lease = store.lease("turns/arm.lock", "first").acquire()
        assert wait_for_change(watch, "turns/arm.lock", StoreChangeKind.PUT)
        _silence(lease)
        while watch.read(0):
            pass
        begun = time.monotonic()
        while second.lease("turns/arm.lock").holder() is not None:
            assert wait_for_change(watch, "turns/arm.lock", StoreChangeKind.PUT)
        assert time.monotonic() - begun < PATIENCE_S
        second.lease("turns/arm.lock", "second").acquire().release()


def test_hosts_whose_clocks_are_an_hour_apart_share_a_lease(nats_address):
    from datetime import timedelta

    from worldfs.testing.manual_clock import ManualClock

    early, late = ManualClock(), ManualClock()
    late.advance(timedelta(hours=1).total_seconds())
    one, other = NatsStore(nats_address, clock=early), NatsStore(nats_address, clock=late)
    try:
        for first, second in ((one, other), (other, one)):
            with first.lease(KERNEL_LEASE, "first") as lease:
                held = lease.seq
                with pytest.raises(Busy):
                    second.lease(KERNEL_LEASE, "second").acquire()
                until(lambda lease=lease, held=held: lease.seq > held)
                with pytest.raises(Busy):
                    second.lease(KERNEL_LEASE, "second").acquire()
                first.put("a", b"1")
    finally:
        one.close()
        other.close()


def test_what_is_acknowledged_after_the_lease_is_over_is_not_acted_on(store, monkeypatch):
    lease = store.lease(KERNEL_LEASE, "first").acquire()
    publish = store.connection.publish

    async def slow(*words, **more):
        seq = await publish(*words, **more)
        lease._valid_until = 0.0  # the answer was on its way for that long
        return seq

    monkeypatch.setattr(store.connection, "publish", slow)
    for number, write in enumerate((lambda: store.append("log", b"running"), lambda: store.put("a", b"1"))):
        lease.lost, lease._valid_until = None, store.loop_time() + PATIENCE_S
        with pytest.raises(LeaseLost):
            write()
        assert store.list("") == ["a", "log"][1 - number :]  # it is there, for whoever has the lease next


@pytest.mark.parametrize("expect", [ANY, ABSENT])
def test_what_is_written_after_the_lease_is_over_is_not_sent(store, second, expect):
    lease = store.lease(KERNEL_LEASE, "first").acquire()
    lease._valid_until = 0.0
    with pytest.raises(LeaseLost):
        store.put("a", b"1", expect)
    assert second.get("a") is None


@pytest.mark.parametrize("length", [10, 2_000_000])
def test_what_is_acknowledged_after_the_lease_is_over_is_whole(store, second, monkeypatch, length):
    content = os.urandom(length)
    second.put("source", content)
    lease = store.lease(KERNEL_LEASE, "first").acquire()
    publish = store.connection.publish

    async def slow(subject, *words, **more):
        seq = await publish(subject, *words, **more)
        if subject.startswith(store.bucket.prefix):
            lease._valid_until = 0.0
        return seq

    monkeypatch.setattr(store.connection, "publish", slow)
    writes = {
        "put": lambda: store.put("put", content),
        "log": lambda: store.append("log", content),
        "target": lambda: store.move("source", "target"),
    }
    for key, write in writes.items():
        lease.lost, lease._valid_until = None, store.loop_time() + PATIENCE_S
        with pytest.raises(LeaseLost):
            write()
        assert second.get(key).data == content
    second.delete("target")
    assert second.get("source").data == content


def test_a_move_of_a_long_document_leaves_no_part_that_belongs_to_none(store):
    store.put("a", os.urandom(2_000_000))
    content = store.get("a").data
    store.move("a", "b")
    assert store.get("a") is None and store.get("b").data == content
    assert _parts(store) == 3
    store.delete("b")
    assert _parts(store) == 0


def _parts(store):
    return store.run(store.connection.ask(f"STREAM.INFO.{store.bucket.parts}"))["state"]["messages"]


@pytest.mark.parametrize("expect", ["another", ABSENT])
def test_a_put_that_is_refused_leaves_no_parts(store, expect):
    store.put("a", b"1")
    with pytest.raises((Exists, Conflict)):
        store.put("a", os.urandom(2_000_000), expect)
    assert _parts(store) == 0


def test_the_thread_that_hears_stops_ends_with_the_lease(store):
    lease = store.lease(KERNEL_LEASE, "first").acquire()
    alerts = []
    log = StopLog(store, store.clock)
    listener = StopListener(
        store, store.clock, {}, {}, alert=lambda *said: alerts.append(said), log=log, wake=lambda: None
    )
    before = set(threading.enumerate())
    listener.listen()
    (heard,) = (thread for thread in set(threading.enumerate()) - before if thread.name == "stop log")
    lease._lose("as a holder whose host was cut off")
    until(lambda: not heard.is_alive())
    assert alerts == []
    listener.close()


POSE = {"target_pose": [0.5, 0.0, 0.3, 0.0, 0.0, 0.0]}


class FencedBody(NullDriver):
    """A body that two kernels reach: it outlives both, and keeps the fence."""

    def __init__(self, fence, moved, held=None):
        super().__init__()
        self.fence, self.moved, self.held = fence, moved, held

    def execute(self, order, run):
        if self.held is not None:
            self.held[0].set()
            self.held[1].wait(PATIENCE_S)
        if not self.fence.admit(run.epoch):
            return Outcome.failure(Cause.REJECTED, "STALE_EPOCH", "another kernel has this body")
        self.moved.append((order.id, run.epoch))
        return super().execute(order, run)


def _world(path, address, driver):
    return World.open(
        path, config=Home(path.parent).config({}), store=NatsStore(address), serve=True,
        drivers={"simulation": lambda context: driver}, threads=False,
    )  # fmt: skip


def test_a_stalled_kernels_late_command_is_refused_at_the_body_and_its_end_is_not_recorded(tmp_path, nats_address):
    onboard(Home(tmp_path), robot_id="arm")
    fence, moved, held = EpochFence(), [], (threading.Event(), threading.Event())
    first = _world(tmp_path / "workspace", nats_address, FencedBody(fence, moved, held))
    first.submit(Order("one", "arm", "move_to", POSE))
    stalled = threading.Thread(target=lambda: _until_lost(first))
    stalled.start()
    assert held[0].wait(PATIENCE_S)  # `running` is durable, and nothing has moved yet
    lease = first.store._leases.kernels[0]
    _silence(lease)
    watcher = NatsStore(nats_address)
    until(lambda: watcher.lease(KERNEL_LEASE).holder() is None)
    second = _world(tmp_path / "workspace", nats_address, FencedBody(fence, moved))
    try:
        assert second.jobs.load("one").status.outcome.cause is Cause.LOST
        second.submit(Order("two", "arm", "move_to", POSE))
        while second.tick():
            pass
        assert [id for id, _ in moved] == ["two"]
        assert moved[0][1] == second.leases.epoch_of("arm") > first.leases.epoch_of("arm")
        lease._valid_until += PATIENCE_S  # the stalled kernel believes to hold it
        held[1].set()
        stalled.join()
        assert [id for id, _ in moved] == ["two"]
        assert second.jobs.load("one").status.outcome.cause is Cause.LOST
        assert lease.lost is not None
    finally:
        second.close()
        first.abandon()
        watcher.close()


def _until_lost(world):
    with suppress(LeaseLost):
        while True:
            world.tick()


@given(epochs=st.lists(st.integers(0, 5), max_size=12))
def test_a_fence_admits_none_that_is_lower_than_one_it_has_seen(epochs):
    fence = EpochFence()
    assert [fence.admit(epoch) for epoch in epochs] == [
        epoch == max(epochs[: index + 1]) for index, epoch in enumerate(epochs)
    ]
