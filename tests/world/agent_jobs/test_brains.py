"""Brains: the planner of a robot, a command line as a session of the agent, and which of them an agent has."""

import json
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldfs.access.binding import Binding
from worldfs.agents.agent_state import AgentState
from worldfs.base.chat_model import ChatModel, ModelReply, RequestedCall
from worldfs.base.clock import SystemClock
from worldfs.base.model import Json, SessionRecord
from worldfs.formats import config
from worldfs.formats.config_models import ModelConfig
from worldfs.models.metered_model import MeteredModel
from worldfs.planning.planner import PlannerModel
from worldfs.testing.call_fixtures import ALICE, state, wait_for_call, wait_until
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.agent_jobs.agent_jobs import AgentJobs
from worldfs.world.agent_jobs.chat import Chat, Responder
from worldfs.world.agent_jobs.chat_context import ChatContext
from worldfs.world.agent_jobs.responders import Responders
from worldfs.world.agent_jobs.responders import command_responder as module
from worldfs.world.services.agent_services import unattached
from worldfs.world.world import World


class Home:
    """Calls over a home directory, with a brain for each agent as config.json says."""

    def __init__(
        self, path: Path, world: World | None = None, may: Callable[[Binding, str], bool] = lambda binding, node: True
    ) -> None:
        self.path = path
        self.calls = AgentJobs.open(path, SystemClock())
        self.model: ChatModel | None = None
        clock = SystemClock()

        def context(agent: Path, planner: Responder | None) -> ChatContext:
            turns, feed = self.calls.turns, self.calls.feed
            return ChatContext(clock, agent=agent, attach=unattached, feed=feed, turns=turns, planner=planner)

        def settings() -> config.Config:
            return config.read(self.file.read_bytes())

        agents, model = path / "agents", self._planner_model
        brains = Responders(settings, world, agents, clock, may, context=context, model=model)
        self.file = path / "config.json"
        self.set()
        self.chat = Chat(self.calls, brains)

    def _planner_model(self, confirmed: str, agent: str) -> PlannerModel | None:
        if self.model is None:
            return None
        metered = MeteredModel(self.model, ModelConfig("planner", "mine", "tiny"))
        return PlannerModel(lambda: metered, SystemClock(), confirmed=confirmed)

    def set(self, *entries: Json) -> None:
        self.file.write_text(json.dumps({"agents": {"brains": list(entries)}}))

    def say(self, text: str, binding: Binding = ALICE) -> str:
        id = str(self.chat.send(binding, text.encode()).extra["job"])
        wait_for_call(self.calls, id)
        return id

    def answer(self, text: str) -> tuple[str, str]:
        id = self.say(text)
        return state(self.calls, id)[0], self.calls.result(ALICE, id).decode()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.calls.close()


def command(*argv: str, **more: object) -> Json:
    return {"agent": "alice", "kind": "command", "argv": list(argv), **more}


def test_a_command_gets_the_letter_and_what_it_prints_is_the_answer(home: Home) -> None:
    home.set(command(shutil.which("tr") or "", "a-z", "A-Z"))
    assert home.answer("wipe the table, 把桌子擦干净") == ("done", "WIPE THE TABLE, 把桌子擦干净")
    session = _session(home)
    assert session.status == "completed"
    call = home.calls.job("job-1")
    assert call.status.outcome is not None
    assert call.status.outcome.evidence["session"] == session.session_id


def test_the_letter_may_be_an_argument_or_stand_below_the_state_prompt(home: Home) -> None:
    home.set(command("printf", "%s|", "--", prompt="arg"))
    assert home.answer("a b; $(id)") == ("done", "--|a b; $(id)|")
    home.set(command("cat", prompt="state"))
    told = home.answer("what now?")[1]
    assert told.endswith("what now?") and "alice" in told and len(told) > 100


def test_only_standard_output_is_the_answer_and_a_failure_says_why(home: Home) -> None:
    home.set(command("sh", "-c", "cat >/dev/null; echo answer; echo noise >&2"))
    assert home.answer("x") == ("done", "answer")
    home.set(command("sh", "-c", "echo half; echo broken >&2; exit 3"))
    result = home.answer("x")
    assert result[0] == "failed" and "3" in result[1] and result[1].endswith("half")
    home.set(command("/nowhere/at/all"))
    assert home.answer("x")[0] == "failed"


def test_a_command_out_of_time_is_a_timeout_and_one_cancelled_is_ended(home: Home) -> None:
    home.set(command("sleep", "60", timeoutSeconds=0.3))
    id = home.say("x")
    assert str(state(home.calls, id)[1]).startswith("timeout: ")
    home.set(command("sleep", "60"))
    id = str(home.chat.send(ALICE, b"x").extra["job"])
    wait_until(lambda: _session(home).status == "running")
    home.calls.cancel(ALICE, id)
    wait_for_call(home.calls, id)
    assert str(state(home.calls, id)[1]).startswith("cancelled: ")


def _session(home: Home) -> SessionRecord:
    with AgentState.open("alice", home.path / "agents") as mind:
        session = mind.session()
    assert session is not None
    return session


def test_an_answer_without_end_is_cut(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 1_000)
    home.set(command(sys.executable, "-c", "print('x' * 100_000)"))
    told = home.answer("x")[1]
    assert told == "x" * 1_000 + module.CUT


def test_letters_of_one_agent_are_answered_one_after_the_other(home: Home) -> None:
    home.set(command("sh", "-c", "sleep 0.1; cat"))
    ids = [str(home.chat.send(ALICE, f"{n}".encode()).extra["job"]) for n in range(3)]
    for id in ids:
        wait_for_call(home.calls, id)
    assert [home.calls.result(ALICE, id) for id in ids] == [b"0", b"1", b"2"]


def test_a_changed_config_counts_at_the_next_letter(home: Home) -> None:
    assert "agents.brains" in home.answer("x")[1]
    home.set({"agent": "*", "kind": "none"}, command("cat"))
    assert home.answer("x") == ("done", "x")
    home.file.write_text("{")
    assert "config.json" in home.answer("x")[1]
    home.set({"agent": "alice"})
    assert home.answer("x")[1].endswith("has no workspace with a robot")


# -- the planner -----------------------------------------------------------------------------------------------------


class Arm(Home):
    """A home whose workspace has a robot, carried out by a kernel in a thread."""

    def __init__(
        self, path: Path, *, kernel: bool = True, may: bool = True, robots: tuple[str, ...] = ("arm_1",)
    ) -> None:
        site = WorkspaceFixture(path / "workspace", robots=robots, clock=SystemClock())
        self.site = site
        self.world = site.open(threads=True) if kernel else World.open(site.root)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=lambda: self.world.run(stop=self.stop), daemon=True)
        if kernel:
            self.thread.start()
        super().__init__(path, self.world, lambda binding, node: may)

    def close(self) -> None:
        self.calls.close()
        self.stop.set()
        self.world.wake()
        if self.thread.is_alive():
            self.thread.join(PATIENCE_S)
        self.world.close()


@pytest.fixture
def arm(tmp_path: Path) -> Iterator[Arm]:
    arm = Arm(tmp_path)
    yield arm
    arm.close()


def test_a_home_with_a_robot_has_the_planner_by_itself_and_it_answers_questions(arm: Arm) -> None:
    state, told = arm.answer("what is on the table?")
    assert state == "done"
    assert "apple" in told.lower()
    assert arm.site.executed == []


def test_of_several_robots_none_is_named_for_a_question_and_one_for_an_order(tmp_path: Path) -> None:
    arm = Arm(tmp_path, robots=("arm_1", "arm_2"))
    state, told = arm.answer("where is the apple?")
    assert state == "done" and "apple" in told.lower(), told
    state, told = arm.answer("what are you holding?")
    assert state == "done" and "arm_1: " in told and "arm_2: " in told, told
    state, told = arm.answer("pick up the apple")
    assert state == "failed" and "arm_1" in told and arm.site.executed == [], told
    arm.close()


def test_an_instruction_is_carried_out_and_answered_with_its_evidence(arm: Arm) -> None:
    arm.say("move the gripper to 0.4 0.0 0.5")
    assert [order.op for order in arm.site.executed] == ["move_to"]
    told = arm.calls.result(ALICE, "job-1").decode()
    outcome = arm.calls.job("job-1").status.outcome
    assert outcome is not None
    job = outcome.evidence["jobs"][0]
    assert job["job"] in told and job["op"] == "move_to" and job["ok"]
    assert outcome.evidence["verdict"] == "reached"
    progress = [json.loads(line) for line in arm.calls.log(ALICE, "job-1").splitlines()]
    *progress, verdict = progress
    assert progress and {line["type"] for line in progress} == {"progress"}
    assert (verdict["type"], verdict["verdict"]) == ("verdict", "reached")


def test_what_is_not_understood_or_cannot_be_done_fails_with_the_planners_word(arm: Arm) -> None:
    assert arm.answer("frobnicate the quux")[0] == "failed"
    state, told = arm.answer("pick up the elephant")
    assert state == "failed" and "elephant" in told
    assert arm.site.executed == []


def test_who_may_not_command_the_robot_learns_nothing_of_it(tmp_path: Path) -> None:
    arm = Arm(tmp_path, may=False)
    state, told = arm.answer("what is on the table?")
    assert state == "failed"
    assert told == "rejected: agent 'alice' has no robot that it may command"
    arm.close()


def test_who_may_command_none_of_several_robots_is_told_nothing_of_their_world(tmp_path: Path) -> None:
    arm = Arm(tmp_path, may=False, robots=("arm_1", "arm_2"))
    state, told = arm.answer("where is the apple?")
    assert state == "failed" and "table" not in told, told
    arm.close()


def test_without_a_kernel_an_instruction_fails_and_nothing_waits_to_be_done(tmp_path: Path) -> None:
    arm = Arm(tmp_path, kernel=False)
    state, told = arm.answer("move the gripper to 0.4 0.0 0.5")
    assert state == "failed"
    assert "no kernel runs orders to arm_1" in told and "paos up" in told
    assert arm.world.jobs.open_ids() == []
    arm.close()


class Hover:
    """A model that plans the same step for everything."""

    def reply(self, messages, tools, run):
        return ModelReply("", (RequestedCall("plan", {"steps": [{"do": "go_above", "thing": "apple_01"}]}),), 10, 5)


def test_a_model_s_reading_is_shown_in_chat_and_confirmed_by_a_reply(arm: Arm) -> None:
    arm.model = Hover()
    state, told = arm.answer("flurb above the apple")
    assert state == "failed" and arm.site.executed == []
    (code,) = re.findall(r"To do it, answer: confirm ([0-9a-f]{16}): flurb above the apple", told)
    wrong = (f"{code}: flurb above the cube", f"{'0' * 16}: flurb above the apple", f"{code}", f"{code}: yes")
    for other in map("confirm {}".format, wrong):
        assert arm.answer(other)[0] == "failed" and arm.site.executed == []
    assert arm.answer(f"confirm {code}: flurb above the apple")[0] == "done"
    assert [order.op for order in arm.site.executed] == ["move_to"]
    outcome = arm.calls.job("job-6").status.outcome
    assert outcome is not None and outcome.evidence["model_calls"][0]["model"] == "tiny"


def test_a_robot_that_is_not_there_is_named(arm: Arm) -> None:
    arm.set({"agent": "*", "robot": "arm_9"})
    state, told = arm.answer("what is on the table?")
    assert state == "failed" and "no robot 'arm_9'" in told and "arm_1" in told


ECHO = """
from worldfs.base.model import Outcome

class Echo:
    lane = ""

    def __init__(self, settings, context):
        self.words = f"{settings.more['greeting']} from {context.agent.name}"

    def answer(self, text, run):
        return Outcome.success(f"{self.words}: {text}")
"""


def test_a_chat_backend_of_a_package_answers_and_gets_its_own_keys(home: Home, install: Callable[..., Path]) -> None:
    install("chatter", {"worldfs.chat": {"echo": "chatter_echo:Echo"}}, chatter_echo=ECHO)
    home.set({"agent": "alice", "kind": "echo", "greeting": "hello"})
    assert home.answer("who is there?") == ("done", "hello from alice: who is there?")


def test_a_chat_backend_that_cannot_be_loaded_or_made_is_the_answer(home: Home, install: Callable[..., Path]) -> None:
    points = {"worldfs.chat": {"gone": "chatter_gone:Echo", "echo": "chatter_echo:Echo"}}
    install("chatter", points, chatter_gone="import no_such_model", chatter_echo=ECHO)
    home.set({"agent": "alice", "kind": "gone"})
    assert "chatter 1.0: ModuleNotFoundError" in home.answer("hm")[1]
    home.set({"agent": "alice", "kind": "echo"})
    assert home.answer("hm") == ("failed", "agents.brains echo: KeyError: 'greeting'")
