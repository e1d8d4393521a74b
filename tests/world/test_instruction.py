"""An instruction waits for its turn without looking at it; an order reaches the kernel as it was made."""

from __future__ import annotations

import threading

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, NotPermitted
from worldfs.base.model import Order
from worldfs.base.stop_signal import StopSignal
from worldfs.formats import config
from worldfs.runtime.instruction_turns import InstructionTurn
from worldfs.storage.lease import RELEASE_S
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.instruction import Instruction
from worldfs.world.world import World

PATIENCE_S = 60.0


@pytest.fixture
def world(tmp_path):
    site = WorkspaceFixture(tmp_path / "workspace", ("arm",))
    with World.open(site.root) as world:
        yield world


def test_an_order_of_a_program_is_accepted_as_it_was_made(world):
    order = Order(
        "act_1", "arm", "move_to", {"target_position": [0.1, 0.2, 0.3]}, priority="high", timeout_s=7.0,
        queue_timeout_s=8.0, total_timeout_s=9.0, step_timeout_s=1.0, preflight_timeout_s=2.0, attempts=3,
        backoff="linear", created_at="2026-01-02T03:04:05Z", extra={"routing": {"a": 1}},
    )  # fmt: skip
    world.submit(order, "planner")
    kept = world.jobs.load("act_1").order
    assert (kept.asker, kept.sheet) == ("planner", "ACTION.md")
    assert kept == Order(**{name: getattr(order, name) for name in order.__slots__} | {"asker": "planner"})
    assert b"act_1" in world.namespace("planner").read("/nodes/arm/ACTION.md").data


def test_an_order_is_refused_as_its_entry_would_be(world):
    order = Order("act_1", "arm", "move_to", {"robot_id": "arm", "x": 1})
    world.submit(order, "planner")
    world.submit(order, "planner")  # the same once more: nothing happens
    with pytest.raises(BadInput) as reused:
        world.submit(Order("act_1", "arm", "place"), "planner")
    assert reused.value.code == "ID_REUSED"
    with pytest.raises(BadInput) as other:
        world.submit(Order("act_2", "arm", "move_to", {"robot_id": "leg"}), "planner")
    assert other.value.code == "NODE_MISMATCH"
    with pytest.raises(NotPermitted):
        world.submit(Order("act_3", "arm", "move_to"), "critic")
    assert world.jobs.open_ids() == ["act_1"]


class Feed:
    """The world's store, whose change feeds record how long each read may take."""

    def __init__(self, store, monkeypatch):
        self.timeouts, self.begun, plain = [], threading.Semaphore(0), store.watch

        def watch(*prefixes):
            made = plain(*prefixes)
            read = made.read

            def recorded(timeout=None):
                self.timeouts.append(timeout)
                self.begun.release()
                return read(timeout)

            made.read = recorded
            return made

        monkeypatch.setattr(store, "watch", watch)


def test_a_turn_is_waited_for_and_not_looked_at(world, monkeypatch):
    feed, said = Feed(world.store, monkeypatch), []
    first = InstructionTurn(world.store, "arm", "clear the table", SystemClock())
    assert first.try_acquire() is None
    started = []

    def second():
        with Instruction(world, "arm", "go home", StopSignal(), said.append) as instruction:
            started.append(instruction.start())

    waiting = threading.Thread(target=second, daemon=True)
    waiting.start()
    assert feed.begun.acquire(timeout=PATIENCE_S)
    first.release()
    waiting.join(PATIENCE_S)
    assert started == [""] and ["clear the table" in line for line in said] == [True]
    assert set(feed.timeouts) <= {None, RELEASE_S} and feed.timeouts[0] is None, "a wait with a limit is a poll"


def test_a_stop_ends_the_wait_for_a_turn(world, monkeypatch):
    feed, stop, refused = Feed(world.store, monkeypatch), StopSignal(), []
    first = InstructionTurn(world.store, "arm", "clear the table", SystemClock())
    assert first.try_acquire() is None

    def second():
        with Instruction(world, "arm", "go home", stop) as instruction:
            refused.append(instruction.start())

    waiting = threading.Thread(target=second, daemon=True)
    waiting.start()
    assert feed.begun.acquire(timeout=PATIENCE_S)
    stop.set()
    waiting.join(PATIENCE_S)
    first.release()
    assert refused == ["cancelled before its turn"]
    assert feed.timeouts == [None]


def test_a_stop_of_the_robot_ends_what_its_instruction_waits_for(world):
    """A model's answer, a person's: whatever does not look at the robot between two steps."""
    stop = StopSignal()
    with Instruction(world, "arm", "go home", stop) as instruction:
        assert instruction.start() == ""
        world.stop("arm")
        assert stop.wait(PATIENCE_S)
        assert "arm: stopped; no kernel runs its simulation" in instruction.stop_text()
        world.resume("arm")
        assert instruction.stopped
        assert instruction.stop_text().startswith("arm: a stop came meanwhile, and a resume has ended it")
    with Instruction(world, "arm", "go home", StopSignal()) as other:
        assert other.start() == "" and not other.stopped  # the turn is free


def test_an_instruction_for_a_stopped_robot_is_answered_in_the_words_of_the_stop(tmp_path):
    """Never that a robot is stopped, or was told, where that is not known."""
    site = WorkspaceFixture(tmp_path / "workspace", ("arm",))
    settings = config.read(config.template("arm").replace(b'"simulation"', b'"workspace"'))  # a real one
    with World.open(site.root, config=settings) as world:

        def answered() -> str:
            with Instruction(world, "arm", "go home", StopSignal()) as instruction:
                return instruction.start()

        world.stop("arm")
        said = answered()
        assert "arm: stop NOT delivered: no kernel runs" in said and "hardware stop" in said
        assert "told" not in said and "is stopped" not in said and "until: paos resume --node arm" in said
        with site.open():
            world.stops.stop(["arm"], "operator")
            assert "arm: stop sent, not confirmed: another process serves it" in answered()
            world.stops.confirm({"arm": 2})
            assert "arm: stopped; its driver confirms that it stands" in answered()


@pytest.mark.parametrize(
    "text",
    [
        "stop you idiot", "somebody stop it", "full stop", "no!", "do not put it there", "let the dog go", "别这样压着",
        "the cup", "if it is red, go home",
    ],
)  # fmt: skip
def test_what_is_no_instruction_waits_for_no_robot(world, text):
    """It may have been meant to stop the robot that it would wait for."""
    first = InstructionTurn(world.store, "arm", "clear the table", SystemClock())
    assert first.try_acquire() is None
    with Instruction(world, "arm", text, StopSignal()) as instruction:
        refused = instruction.start()
    assert not instruction.understood
    assert any(said in refused for said in ("no robot was stopped", "stopped no robot", "没有停止任何机器人"))
    first.release()


def test_what_a_model_may_read_waits_unless_it_may_be_about_stopping(world):
    first = InstructionTurn(world.store, "arm", "clear the table", SystemClock())
    assert first.try_acquire() is None
    stop = StopSignal()
    stop.set()  # it would wait: that ends at once
    with Instruction(world, "arm", "frobnicate the widget", stop, by_model=True) as instruction:
        assert instruction.start() == "cancelled before its turn" and instruction.understood
    with Instruction(world, "arm", "stop frobnicating", StopSignal(), by_model=True) as instruction:
        assert "stopped no robot" in instruction.start() and not instruction.understood
    first.release()


def test_a_stopped_robot_does_not_hide_that_no_other_was_stopped(world):
    world.stop("arm")
    with Instruction(world, "arm", "stop you idiot", StopSignal()) as instruction:
        assert "stopped no robot" in instruction.start()
    with Instruction(world, "arm", "go home", StopSignal()) as instruction:
        assert "stopped" in instruction.start() and instruction.stopped
