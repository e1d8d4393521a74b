"""A package's success counts only where it was seen: by the observation after it, or by the target's own judge."""

import json

import pytest

from worldfs.base.model import Cause, JobState
from worldfs.interfaces.cli.main import main

BODY = """
from worldfs.base.model import Cause, Operation, Outcome, Parameter, Profile, RobotState, Scene

LIE = Parameter("lie", "string", optional=True)
DIM = Operation("dim", "Dim", (Parameter("level", "number"), LIE), moves=False, shows=(("brightness", "level"),))
WAVE = Operation("wave", "Wave")
MOVE = Operation("move_to", "Drive", (Parameter("target_pose", "[x,y,z]"), LIE), undoable=True)

class Lamp:
    operations = (DIM, WAVE, MOVE)
    profile = Profile("Lamp", "Lamp 1", ops=operations)
    real = False

    def __init__(self, context):
        self.robot, self.level, self.pose = context.robot_id, 0, (0.0, 0.0, 0.0)

    def open(self, scene): pass
    def observe(self):
        return Scene((RobotState(self.robot, self.pose, extra={"brightness": self.level}),))
    def review(self, order): return ()
    def close(self): pass
    def execute(self, order, run):
        lie = order.params.get("lie")
        if lie == "after_cancel":
            run.cancel.set()
        if order.op == "dim" and not lie:
            self.level = order.params["level"]
        if order.op == "move_to" and not lie:
            self.pose = tuple(map(float, order.params["target_pose"]))
        if lie == "changes the order":
            order.params["target_pose"][:] = [0, 0, 0]
        return Outcome.success("it is done", evidence_class="real", source="truth", level=40)
"""


@pytest.fixture
def end_of(install, tmp_path, monkeypatch, capsys):
    """Runs one order of the lamp through the command, and gives its end as the file has it."""
    install("lamps", {"worldfs.bodies": {"lamp": "lamps:Lamp"}}, lamps=BODY)
    monkeypatch.setenv("PhyAgentOS_approval", "never")
    home = tmp_path / "home"

    def end(op, **params):
        assert main(["--home", str(home), "onboard", "--profile", "lamp", "--robot-id", "lamp_001"]) == 0
        action = {"action_id": "a1", "action_type": op, "params": params, "robot_id": "lamp_001", "status": "pending"}
        (home / "workspace" / "ACTION.md").write_text(json.dumps({"queue": [action]}))
        main(["--home", str(home), "up", "--until-idle", "--no-cameras"])
        (file,) = (home / "workspace" / ".paos" / "done").glob("*.jsonl")
        sheet = json.loads((home / "workspace" / "ACTION.md").read_text())["queue"][0]
        return json.loads(file.read_text().splitlines()[-1]), sheet, capsys.readouterr().out

    return end


def test_what_was_seen_has_succeeded_and_what_the_body_says_is_kept_as_said(end_of):
    last, sheet, told = end_of("move_to", target_pose=[1.0, 2.0, 0.0])
    assert (last["status"], sheet["status"]) == (JobState.SUCCEEDED, "completed")
    assert last["outcome"]["evidence"]["measured"]["pose"] == [1.0, 2.0]
    assert last["outcome"]["evidence"]["said"]["evidence_class"] == "real"
    assert last["outcome"]["evidence"]["evidence_class"] == "sim"
    assert "succeeded: it is done" in told


@pytest.mark.parametrize("lie", ["stands still", "after_cancel", "changes the order"])
def test_a_body_that_says_it_arrived_where_it_is_not_seen_has_failed(end_of, lie):
    last, sheet, told = end_of("move_to", target_pose=[1.0, 2.0, 0.0], lie=lie)
    outcome = last["outcome"]
    assert (last["status"], sheet["status"]) == (JobState.FAILED, "failed")
    assert (outcome["cause"], outcome["code"]) == (Cause.ERROR, "CONTRADICTED")
    assert outcome["evidence"]["expected"] == {"goal": [1.0, 2.0, 0.0]}
    assert outcome["evidence"]["observed"]["pose"] == [0.0, 0.0]
    assert "goal [1.0,2.0,0.0] was expected" in told


def test_an_operation_of_its_own_counts_by_what_it_declares_to_show(end_of):
    last, _, _ = end_of("dim", level=40)
    assert last["status"] == JobState.SUCCEEDED and last["outcome"]["evidence"]["measured"] == {"brightness": 40}


def test_one_that_shows_nothing_is_unmeasured_and_counts_for_nothing(end_of):
    last, sheet, told = end_of("wave")
    assert (last["status"], last["outcome"]["cause"], sheet["status"]) == (JobState.FAILED, Cause.UNMEASURED, "failed")
    assert sheet["error"]["cause"] == "unmeasured" and "failed (unmeasured)" in told


def test_one_that_shows_another_value_has_failed(end_of):
    assert end_of("dim", level=40, lie="dark")[0]["outcome"]["code"] == "CONTRADICTED"
