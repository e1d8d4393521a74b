"""Every wrong value that the generator makes is refused by the parser of its type, and every right one is taken."""

from collections.abc import Mapping, Sequence
from typing import get_type_hints

import pytest

pytest.importorskip("numpy", reason="arrays are an extra")

import numpy as np

from worldfs.base.chat_model import ModelReply, RequestedCall
from worldfs.base.model import (
    Cause,
    Finding,
    Operation,
    Outcome,
    Parameter,
    Profile,
    Relation,
    RobotState,
    Scene,
    Thing,
)
from worldfs.base.plugin_values import WrongValue, parse
from worldfs.policies.policy_client import ActionChunk, PolicyInfo
from worldfs.robots.targets.robots.robot_interface import RobotReading
from worldfs.robots.targets.target_adapter import ActionSpec, StepResult
from worldfs.testing.wrong_values import faults, wrong_values

FINDING = Finding("CODE", "field", "expected", "found", "fix")
THING = Thing("apple_01", "apple", "fruit", (0.1, 0.2, 0.3), size=(0.1, 0.1, 0.1), extra={"a": 1})
ROBOT = RobotState("r", (0.0, 0.0, 0.0), {"j": 1.0}, "open", None, {"a": [1]})
RIGHT = {
    "outcome": (Outcome, Outcome(False, "no", Cause.ERROR, "CODE", evidence={"a": 1}, findings=(FINDING,))),
    "findings": (Sequence[Finding], (FINDING,)),
    "scene": (Scene, Scene((ROBOT,), (THING,), (), (Relation("a", "on", "b"),), {"p": "x"}, {"e": 1})),
    "operations": (Sequence[Operation], (Operation("dim", "", (Parameter("level"),), ("s",), shows=(("a", "b"),)),)),
    "profile": (Profile, Profile("p", bounds=((0.0, 1.0),), sensors=(("camera", True),))),
    "step": (StepResult, StepResult({"a": np.zeros(2)}, success=None, clamped=("x",))),
    "spec": (Sequence[ActionSpec], (ActionSpec("raw", (7,)),)),
    "shapes": (Mapping[str, tuple[tuple[int, ...], str]], {"a": ((1, 2), "uint8")}),
    "info": (PolicyInfo, PolicyInfo("p", observations={"a": ((1,), "uint8")}, picture_sizes={"a": (1, 2)})),
    "chunk": (ActionChunk, ActionChunk(np.zeros((1, 2), np.float32))),
    "reading": (RobotReading, RobotReading(0.0, np.zeros(2), pictures={"front": np.zeros((2, 2, 3), np.uint8)})),
    "reply": (ModelReply, ModelReply("text", (RequestedCall("tool", {"a": 1}),), cost=0.1)),
}


@pytest.mark.slice(2)
@pytest.mark.parametrize("name", RIGHT)
def test_every_wrong_value_is_refused_and_the_right_one_is_taken(name):
    hint, right = RIGHT[name]
    parse(hint, right, "here")
    lies = list(wrong_values(hint, right))
    believed = []
    for lie in lies:
        try:
            parse(hint, lie.make(), "here")
        except WrongValue as refused:
            assert refused.path.startswith("here") and len(str(refused)) < 2000, lie.name
        else:
            believed.append(lie.name)
    assert not believed and len(lies) >= 10 and len({lie.name for lie in lies}) == len(lies)
    kind = type(right[0] if isinstance(right, tuple) and type(right) is tuple else right)
    if hasattr(kind, "__annotations__"):  # each field has had its turn
        told = "\n".join(lie.name for lie in lies)
        assert all(field in told for field in get_type_hints(kind) if field not in ("info", "extra"))


def test_faults_are_raised():
    for fault in faults():
        with pytest.raises(BaseException) as raised:
            fault.make()
        assert type(raised.value).__name__ in fault.name
