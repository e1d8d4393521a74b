"""A package's success counts only where it was seen: by the observation after it, or by the target's own judge."""

import json
from dataclasses import replace

import pytest

from worldfs.base.model import Cause, JobState, Order, Relation, RobotState, Scene, Thing
from worldfs.interfaces.cli.main import main
from worldfs.world.moved_besides import moved_besides

BODY = """
from worldfs.base.model import *

LIE = Parameter("lie", "string", optional=True)
DIM = Operation("dim", "Dim", (Parameter("level", "number"), LIE), moves=False, shows=(("brightness", "level"),))
WAVE = Operation("wave", "Wave")
TIDY = Operation("tidy", "Tidy", (Parameter("thing", "string"), LIE), shows=(("tidied", "thing"),))
MOVE = Operation("move_to", "Drive", (Parameter("target_pose", "[x,y,z]"), LIE), undoable=True)

class Lamp:
    operations = (DIM, WAVE, TIDY, MOVE)
    profile = Profile("Lamp", "Lamp 1", ops=operations)
    real = False

    def __init__(self, context):
        self.robot, self.level, self.pose, self.tidied = context.robot_id, 0, (0.0, 0.0, 0.0), ""
        self.at = {"box": (1.0, 0.0, 0.05), "lid": (1.0, 0.0, 0.15), "can": (0.0, 1.0, 0.05)}

    def open(self, scene): pass
    def observe(self):
        robot = RobotState(self.robot, self.pose, extra={"brightness": self.level, "tidied": self.tidied})
        things = (Thing(id, id, "block", position=at, size=(0.1, 0.1, 0.1)) for id, at in self.at.items())
        return Scene((robot,), tuple(things), relations=(Relation("lid", "on", "box"),) if self.tidied else ())
    def review(self, order): return ()
    def close(self): pass
    def execute(self, order, run):
        lie = order.params.get("lie")
        if lie == "after_cancel":
            run.cancel.set()
        if order.op == "dim" and not lie:
            self.level = order.params["level"]
        if order.op == "tidy":
            self.tidied = order.params["thing"]
            self.at |= {"box": (1.0, 0.5, 0.05), "lid": (1.0, 0.5, 0.15), "seen later": (2.0, 0.0, 0.0)}
            self.at["can"] = {"moves": (0.0, 1.2, 0.05), "noise": (0.0, 1.01, 0.05)}.get(lie, self.at["can"])
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


@pytest.mark.parametrize("lie", ["", "noise", "moves"])
def test_what_it_moved_beside_the_thing_of_its_order_is_named_and_fails_it(end_of, lie):
    outcome = end_of("tidy", thing="box", **({"lie": lie} if lie else {}))[0]["outcome"]
    moved = [line["id"] for line in outcome["evidence"].get("also_moved", ())]
    assert (outcome.get("code", ""), moved) == (("MOVED_OTHERS", ["can"]) if lie == "moves" else ("", [])), outcome


def scene(can=0.0, box=0.0, relations=(), holding=None):
    things = [Thing("can", "can", position=(can, 0.0, 0.0)), Thing("box", "box", position=(box, 1.0, 0.0))]
    return Scene((RobotState("r", holding=holding),), tuple(things), relations=relations)


BESIDES = {
    "it alone was moved": (scene(), scene(box=0.5), scene(), []),
    "another one, too": (scene(), scene(can=0.5, box=0.5), scene(), ["can"]),
    "another one, on it": (scene(relations=(Relation("can", "on", "box"),)), scene(0.5, 0.5), scene(), []),
    "another one, in the hand": (scene(holding="can"), scene(0.5, 0.5), scene(), []),
    "another one, by another robot since": (scene(), scene(0.5, 0.5), scene(can=0.5), []),
    "another one, seen for the first time": (Scene(), scene(0.5, 0.5), scene(), []),
    "another one, by less than sensors tell": (scene(), scene(0.02, 0.5), scene(), []),
}


@pytest.mark.parametrize(("before", "after", "document", "moved"), BESIDES.values(), ids=BESIDES)
def test_only_what_can_be_laid_to_the_order_was_moved_by_it(before, after, document, moved):
    order = Order("a", "r", "tidy", {"what": {"thing": "box"}})
    assert [line["id"] for line in moved_besides(order, before, after, document)] == moved
    assert moved_besides(Order("a", "r", "tidy"), before, after, document) == []


@pytest.mark.parametrize(
    ("piece", "params"),
    [(Thing("r_tray"), {"what": "box"}), (Thing("drawer", shape="drawer"), {"object_id": "drawer"})],
    ids=["its tray", "a drawer that the order names"],
)
def test_what_moves_with_a_piece_that_the_order_moves_was_not_moved_besides(piece, params):
    lies = replace(scene(relations=(Relation("can", "in", piece.id),)), furniture=(piece,))
    assert (
        moved_besides(Order("a", "r", "tidy", params), lies, replace(lies, objects=scene(can=0.5).objects), lies) == []
    )
    beside = replace(lies, relations=())
    found = moved_besides(
        Order("a", "r", "tidy", params), beside, replace(beside, objects=scene(can=0.5).objects), beside
    )
    assert [line["id"] for line in found] == ["can"]
