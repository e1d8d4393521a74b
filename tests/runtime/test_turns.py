"""Turns: one instruction at a time for each robot; whoever dies keeps nobody waiting."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.model import Job, JobStatus, Order
from worldfs.runtime.instruction_turns import TURNS, HeldTurns, InstructionTurn, current_instruction, turn_lock_key
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.watch_contract import wait_for_change

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys, time
from worldfs.base.clock import SystemClock
from worldfs.runtime.instruction_turns import InstructionTurn
from worldfs.storage.disk_store import DiskStore
turn = InstructionTurn(DiskStore(sys.argv[1]), "arm", sys.argv[2], SystemClock())
print(turn.try_acquire(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path):
    store = DiskStore(tmp_path)
    yield store
    store.close()


def turn(store, what, node="arm"):
    return InstructionTurn(store, node, what, SystemClock())


def job(id, accepted_at="2999-01-01T00:00:00Z", node="arm"):
    return Job(Order(id, node, "move_to"), JobStatus(accepted_at=accepted_at))


def tickets(store):
    return [name for name in store.list(TURNS) if not name.endswith(".lock")]


def test_the_first_has_the_robot_and_the_others_go_in_the_order_in_which_they_came(store):
    one, two, three = (turn(store, what) for what in ("clear", "wave", "go home"))
    assert one.try_acquire() is None
    assert two.try_acquire()["purpose"] == three.try_acquire()["purpose"] == "clear"
    one.release()
    assert three.try_acquire()["purpose"] == "wave"  # it waits, and came before
    assert two.try_acquire() is None
    assert current_instruction(store, "arm")["purpose"] == "wave"
    two.release()
    assert three.try_acquire() is None
    three.release()
    assert current_instruction(store, "arm") is None
    assert tickets(store) == []


def test_robots_take_turns_each_for_itself_also_when_one_is_named_like_the_other(store):
    held = [turn(store, "x", node) for node in ("arm", "arm.v2", "leg")]
    assert [one.try_acquire() for one in held] == [None, None, None]
    late = turn(store, "y", "arm")
    assert late.try_acquire()["purpose"] == "x"
    held[1].release()
    assert late.try_acquire()["purpose"] == "x"
    held[0].release()
    assert late.try_acquire() is None


def test_one_that_gives_up_waiting_is_forgotten(store):
    one, two, three = (turn(store, what) for what in "abc")
    assert one.try_acquire() is None
    two.release()
    one.release()
    assert three.try_acquire() is None


def process(store, what):
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(store.root.path), what],
        env={"PYTHONPATH": str(ROOT / "src")}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_process_that_is_killed_keeps_nobody_waiting_whether_it_worked_or_waited(store):
    holds, waits = process(store, "clear"), None
    try:
        assert holds.stdout.readline() == "None\n"
        waits = process(store, "wave")
        assert "clear" in waits.stdout.readline()
        mine = turn(store, "go home")
        assert mine.try_acquire()["purpose"] == "clear"
        holds.kill()
        holds.communicate()
        assert mine.try_acquire()["purpose"] == "wave"
        waits.kill()
        waits.communicate()
        assert mine.try_acquire() is None
        assert tickets(store) == []
    finally:
        for one in (holds, waits):
            if one is not None:
                one.kill()
                one.communicate()


def test_the_kernel_lets_the_instructions_own_job_start_and_what_was_there_before(store):
    taken = HeldTurns(store, ["arm", "leg"], SystemClock())
    assert taken.allows(job("anybody's"))
    mine = turn(store, "clear")
    assert mine.try_acquire() is None
    taken.refresh()
    mine.set_job("act_1")
    assert taken.allows(job("act_1"))
    assert not taken.allows(job("act_2"))
    assert taken.allows(job("act_3", node="leg"))
    assert taken.allows(job("early", "2020-01-01T00:00:00Z"))
    mine.set_job("act_2")
    assert taken.allows(job("act_2"))
    assert not taken.allows(job("act_1"))
    mine.release()
    assert taken.allows(job("act_9"))


def test_the_change_feed_tells_of_a_turn_that_begins_and_of_one_whose_process_died(store):
    with store.watch(TURNS) as watch:
        holds = process(store, "clear")
        try:
            assert holds.stdout.readline() == "None\n"
            assert watch.read(PATIENCE_S)
            taken = HeldTurns(store, ["arm"], SystemClock())
            assert not taken.allows(job("x"))
            while watch.read(0.5):
                pass
            holds.kill()
            holds.communicate()
            assert wait_for_change(watch, turn_lock_key("arm"))
        finally:
            holds.kill()
            holds.communicate()


def test_a_store_in_memory_knows_no_turns(store):
    taken = HeldTurns(MemoryStore(), ["arm"], SystemClock())
    assert taken.allows(job("x"))
    assert taken.patience() is None


def test_a_turn_that_the_change_feed_has_not_reported_yet_holds_what_comes_after_it(store):
    held = HeldTurns(store, ["arm", "leg"], SystemClock())
    one = turn(store, "clear")
    one.try_acquire()
    assert not held.allows(job("home"))
    assert held.allows(job("home", node="leg"))
    one.release()
    assert held.allows(job("home"))
    two = turn(store, "wave")
    two.try_acquire()
    assert not held.allows(job("home"))
    two.release()
