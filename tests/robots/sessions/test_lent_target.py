"""What a package's skill holds of a target moves for one session; what it holds in a review only looks."""

import json
import math
import threading

import numpy as np
import pytest

from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import UserError
from worldfs.base.model import ApprovalPolicy, Cause, JobState, Scene, Target
from worldfs.formats.config import Config
from worldfs.sessions import policy_calls
from worldfs.sessions.bounded_call import BoundedCall, bounded
from worldfs.sessions.lent_target import LentTarget, target_to_read
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_target import NullAdapter
from worldfs.world.world import World

ACTION = np.ones(3)
MOVES = {
    "reset": lambda target: target.reset(),
    "step": lambda target: target.step(ACTION.copy(), "joint_position"),
    "open": lambda target: target.open(),
    "carry_out": lambda target: target.carry_out(None, None),
    "set_run": lambda target: target.set_run(None),
    "heartbeat": lambda target: target.heartbeat(),
    "close": lambda target: target.close(),
}


class Table(NullAdapter):
    """It moves by itself, too, and learns of sessions."""

    ops = frozenset({"wave"})

    def judge(self, order):
        return []

    def carry_out(self, order, run):
        self.q[:] = 2

    def set_run(self, run):
        self.q[:] = 3

    def heartbeat(self):
        self.q[:] = 4


@pytest.fixture
def table():
    made = Table(Target("t", "sim"), PluginContext(ManualClock()))
    made.open()
    made.q[:] = 1
    return made


def unmoved(table):
    return table.is_open and list(table.q) == [1, 1, 1]


ENDS = {
    "stopped": lambda run, lent: run.cancel.set(),
    "out of time": lambda run, lent: run.clock.advance(11),
    "over": lambda run, lent: lent.end(),
    "stopped, and its flag taken back": lambda run, lent: (run.cancel.set(), lent._why(), run.cancel.clear()),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_target_that_was_lent_moves_no_more_once_its_session_was_stopped_or_is_over(table, end, move):
    run = Run(table.context.clock, table.context.clock.monotonic() + 10)
    lent = LentTarget(table, run)
    lent.target.step(ACTION.copy(), "joint_position")
    end(run, lent)
    for _ in range(2):
        with pytest.raises(UserError) as refused:
            move(lent.target)
        assert unmoved(table)
    assert "reset" not in str(refused.value.fix)
    assert lent.target.observe() and isinstance(lent.target.scene(), Scene)
    lent.target.stop()
    again = LentTarget(table, Run(table.context.clock, math.inf))
    again.target.reset()
    assert list(table.q) == [0, 0, 0]


@pytest.mark.parametrize("name", ["open", "close", "set_run"])
def test_a_skill_neither_opens_its_target_nor_says_which_session_leads_it(table, name):
    lent = LentTarget(table, Run(table.context.clock, math.inf))
    with pytest.raises(UserError):
        MOVES[name](lent.target)
    assert unmoved(table)


def test_a_call_during_which_its_session_ends_is_followed_by_a_stop(table):
    lent = LentTarget(table, Run(table.context.clock, math.inf))
    table.reset = lambda **more: lent.end() or {}
    lent.target.reset()
    assert table.stopped == 1


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_review_reads_its_target_and_cannot_move_it(table, move):
    seen = target_to_read(table)
    assert seen.target.id == "t" and seen.sensors() and seen.actions() and seen.observations() and seen.observe()
    assert seen.scene().objects and not seen.judge(None) and seen.ops == {"wave"}
    with pytest.raises((UserError, AttributeError)):
        move(seen)
    assert unmoved(table)


SHADOW = """
import threading, time
import numpy as np
from worldfs.base.model import Outcome
from worldfs.policies.policy_client import ActionChunk, PolicyInfo
from worldfs.robots.targets.robots.robot_interface import RobotReading
from worldfs.robots.targets.safety_limits import SafetyLimits

LOG, ENDED, GO = [], [], threading.Event()

class Shadow:
    joints, serial, chain = ("shoulder",), False, None
    maker = SafetyLimits(joint_low=np.full(1, -2.0), joint_high=np.full(1, 2.0), joint_speed=np.full(1, 3.0))
    usual = SafetyLimits(joint_speed=np.full(1, 1.0), watchdog_s=1.0, stale_s=1.0)

    def __init__(self, context): self.clock, self.q, self.goal = context.clock, np.zeros(1), np.zeros(1)
    def connect(self): LOG.append("connect")
    def sensors(self): return frozenset({"joint_states"})
    def pictures(self): return {}
    def read(self):
        self.q = self.q + 0.5 * (self.goal - self.q)
        return RobotReading(self.clock.monotonic(), self.q)
    def prepare(self): LOG.append("prepare")
    def send(self, command): LOG.append("send"); self.goal = command.joints
    def halt(self): LOG.append("halt"); self.goal = self.q
    def close(self): pass

def robot(target, context): return Shadow(context)

class Policy:
    def __init__(self, spec, clock):
        self.spec, self.thread = spec, threading.get_ident()
        self.at("made")
    def at(self, call):
        assert call == "close" or self.thread == threading.get_ident()
        if self.spec.endpoint.endswith(call): threading.Event().wait()
    def connect(self, timeout_s): self.at("connect"); return PolicyInfo("theirs")
    def reset(self): self.at("reset")
    def infer(self, observation, words, timeout_s): self.at("infer"); return ActionChunk(np.zeros((1, 2), np.float32))
    def close(self): self.at("close")

def move(target, until):
    for n in range(1000):
        if until(): return
        for one in (target.observe, lambda: target.step(np.array([(-1.0) ** n, 1.0]), "joint_position"),
                    target.reset, target.open):
            try: one()
            except Exception as error: ENDED.append(str(error))
        time.sleep(0.01)

class Wave:
    name = "Wave"
    def review(self, request, target):
        if request.params.get("looks"):
            began = len(LOG)
            move(target, lambda: len(ENDED) > 20)
            assert "send" not in LOG and "prepare" not in LOG, LOG
        if request.params.get("hang"):
            threading.Event().wait()
        return []
    def perform(self, request, context):
        if context.policy is not None:
            context.policy.infer({}, "", 0.5)
            context.policy.close()
        if request.params.get("stuck"):
            threading.Event().wait()
        if request.params.get("leaves"):
            pause, paused, after = threading.Event(), threading.Event(), []
            def until():  # it rests from before the end of its session until after it
                if pause.is_set() and not GO.is_set():
                    paused.set()
                    GO.wait(60)
                if GO.is_set(): after.append("tried")
                return len(after) > 20
            left = threading.Thread(target=move, args=(context.target, until))
            left.start()
            LOG.append(left)
            while "send" not in LOG: time.sleep(0.01)
            pause.set()
            paused.wait(60)
            LOG.append("end")
        else:
            while not context.run.stop: move(context.target, lambda: context.run.stop)
            LOG.append("end")
            began = time.monotonic()
            move(context.target, lambda: time.monotonic() - began > 0.5)
        return Outcome.success("waved")
"""


@pytest.fixture
def wave(install, tmp_path):
    """wave(entry of the session, …) → (their jobs, the package's module)."""
    install("waving", {"worldfs.robots": {"shadow": "waving:robot"}, "worldfs.skills": {"Wave": "waving:Wave"},
                       "worldfs.policies": {"theirs": "waving:Policy"}}, waving=SHADOW)  # fmt: skip

    def wave(*entries, **config):
        target = {"id": "arm", "type": "real_robot", "config": config,
                  "adapter": {"class": "RealRobotTargetAdapter", "driver": "shadow"}}  # fmt: skip
        (tmp_path / "TARGETS.md").write_text(json.dumps({"targets": [target]}))
        skills = [{"id": "wave", "runtime": "Wave"}] + [
            {"id": f"wave_{call}", "runtime": "Wave",
             "policy_client": {"type": "theirs", "endpoint": f"http://127.0.0.1:1/{call}"}}
            for call in ("made", "connect", "reset", "infer", "close", "good")
        ]  # fmt: skip
        (tmp_path / "SKILLS.md").write_text(json.dumps({"skills": skills}))
        listed = [{"session_id": f"s{n}", "target_ref": "arm", "skill_ref": "wave", **one}
                  for n, one in enumerate(entries)]  # fmt: skip
        (tmp_path / "SESSIONS.md").write_text(json.dumps({"sessions": listed}))
        with World.open(tmp_path, serve=True, config=Config(approval={"": ApprovalPolicy.NEVER})) as world:
            world.run(stop=threading.Event(), until_idle=True)
            import waving

            waving.GO.set()
            for thread in [one for one in waving.LOG if isinstance(one, threading.Thread)]:
                thread.join(10)
            return [world.jobs.load(one["session_id"]).status for one in listed], waving

    return wave


def test_a_review_that_hangs_ends_its_session_by_name_and_the_others_of_the_target_go_on(wave):
    hangs = {"execution": {"params": {"hang": True}}, "timeouts": {"preflight": 0.5}}
    late = {"execution": {"params": {"hang": True}}, "timeouts": {"session": 0.5}}
    (first, second, other), module = wave(hangs, late, {"execution": {"params": {"leaves": True}}})
    for status in (first, second):
        assert status.outcome.code == "PLUGIN_FAULT" and status.attempt == 0
        assert "waving.Wave review" in status.outcome.message and "0.5 s" in status.outcome.message
    assert other.outcome.code == "UNMEASURED" and "send" in module.LOG


@pytest.mark.slice(5, 3)
@pytest.mark.parametrize("call", ["made", "connect", "reset", "infer", "close"])
def test_a_policy_that_hangs_ends_its_session_by_name_and_one_with_another_policy_goes_on(wave, call, monkeypatch):
    monkeypatch.setattr(policy_calls, "RESET_S", 1.0)
    preflight = 1 if call == "made" else 20  # a busy machine ends no other call's review
    hangs = {"skill_ref": f"wave_{call}", "timeouts": {"preflight": preflight, "policy": 0.3, "session": 30}}
    leaves = {"execution": {"params": {"leaves": True}}}
    (first, other), module = wave({**hangs, **leaves}, {"skill_ref": "wave_good", **leaves})
    if call != "close":  # it has done its work by then
        text = f"{first.outcome.message} {first.outcome.findings}"
        assert f"waving.Policy{'' if call == 'made' else ' ' + call} has not returned" in text, text
    assert other.outcome.code == "UNMEASURED" and "send" in module.LOG


def test_a_skill_that_never_returns_ends_its_session_by_name_and_the_next_one_of_the_target_runs(wave):
    stuck = {"execution": {"params": {"stuck": True}}, "timeouts": {"session": 3}}
    (first, other), module = wave(stuck, {"execution": {"params": {"leaves": True}}})
    assert first.outcome.cause is Cause.TIMEOUT and "waving.Wave perform" in first.outcome.message, first.outcome
    assert other.outcome.code == "UNMEASURED" and "send" in module.LOG and after_the_end(module.LOG) == []


@pytest.mark.slice(3)
@pytest.mark.parametrize("method", ["__init__", "parameters", "sources"])
def test_a_runtime_that_hangs_elsewhere_before_its_session_ends_it_too(wave, method, monkeypatch):
    hangs = {"timeouts": {"preflight": 0.3, "session": 1}}
    (before,), module = wave(hangs)
    assert before.attempt == 1
    monkeypatch.setattr(module.Wave, method, lambda self, request=None: threading.Event().wait(), raising=False)
    (status,), _ = wave({**hangs, "session_id": "again"})
    named = {"__init__": "worldfs.skills Wave", "parameters": "waving.Wave parameters", "sources": ""}[method]
    assert not status.outcome.ok and named in status.outcome.message


def test_what_a_review_asks_of_the_target_is_done_by_the_thread_that_waits(table):
    threads = []
    table.observe = lambda: threads.append(threading.get_ident()) or {}
    call = BoundedCall("a review", table.context.clock)
    seen = target_to_read(table, call.ask)
    assert (
        call.run(lambda: (seen.observe(), threading.get_ident())[1], table.context.clock.monotonic() + 10)
        != threading.get_ident()
    )
    assert threads == [threading.get_ident()]
    with pytest.raises(UserError, match="went on without it"):
        seen.observe()


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit(3)])
def test_what_a_bounded_call_raises_is_raised_to_its_caller(error):
    def work():
        raise error

    with pytest.raises(type(error)):
        bounded("a call", ManualClock(), work, ManualClock().monotonic() + 10)


def after_the_end(log):
    return [one for one in log[log.index("end") :] if one in ("send", "prepare", "connect")]


def test_a_thread_that_a_skill_left_behind_moves_nothing_after_its_session(wave):
    (_,), module = wave({"execution": {"params": {"leaves": True}}})
    assert "send" in module.LOG and after_the_end(module.LOG) == []


def test_a_skill_that_goes_on_after_its_time_moves_nothing(wave):
    (status,), module = wave({"timeouts": {"session": 1}})
    assert not status.outcome.ok
    assert "send" in module.LOG and after_the_end(module.LOG) == [], module.LOG


def test_a_review_that_wants_to_move_moves_nothing(wave):
    (status,), module = wave({"execution": {"params": {"looks": True, "leaves": True}}})
    assert status.state is JobState.FAILED and status.outcome.code == "UNMEASURED"
    assert any("review only looks" in one for one in module.ENDED)
