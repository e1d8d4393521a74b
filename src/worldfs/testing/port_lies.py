"""The lies of every port of a package: each wrong value of what its methods declare, and what its code can raise."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeVar, get_type_hints

import numpy as np

from worldfs.base.chat_model import ChatModel, ModelReply, RequestedCall
from worldfs.base.driver import (
    Demanding,
    Driver,
    KnowsItsWay,
    MeasuresStandstill,
    RealBody,
    ReportsItself,
    Reviewer,
    SharesWorld,
    Simulated,
    Sourced,
    Standstill,
    Stoppable,
    TakesUp,
    VideoRecorder,
)
from worldfs.base.model import (
    AgentTask,
    Finding,
    Operation,
    Outcome,
    Parameter,
    Relation,
    Remark,
    RobotState,
    Scene,
    Thing,
)
from worldfs.base.plugin_values import Flag
from worldfs.plugins.importers import ImportSource, ParsedSource
from worldfs.plugins.importers.importer_registry import Importer
from worldfs.policies.policy_client import ActionChunk, PolicyClient, PolicyInfo
from worldfs.robots.targets.robots.robot_interface import RobotInterface, RobotReading
from worldfs.robots.targets.target_adapter import ActionSpec, SessionAware, StepResult, TargetAdapter
from worldfs.skills.builtin_runtime import NativeOperations
from worldfs.skills.skill_runtime import ParameterReader, SkillParameters, SkillRuntime, SourcedSkill
from worldfs.world.agent_jobs.chat import Responder
from worldfs.world.services.web import SearchBackend, SearchResult

from .wrong_values import Lie, faults, made_wrong, wrong_values

T = TypeVar("T")

FINDING: Final = Finding("ODD", "field", "expected", "found", "fix", warning=True)
THING: Final = Thing("apple_01", "apple", "fruit", (0.4, 0.1, 0.43), size=(0.06, 0.06, 0.06), extra={"a": 1})
ROBOT: Final = RobotState("liar", (1.0, 2.0, 0.0), {"joint": 0.0}, "open", None, {"a": [1]})
SCENE: Final = Scene((ROBOT,), (THING,), (), (Relation("apple_01", "on", "table_01"),), {"camera": "a.png"}, {"a": 1})
SPEC: Final = ActionSpec("joint_position", (2,), np.full(2, -1.0), np.full(2, 1.0), 20.0)
MOVE: Final = Operation("move_to", "Drive", (Parameter("target_pose", "[x,y,z]"),))
DONE: Final = Outcome.success("there", a=1)
SEEN: Final = {"joint_states": np.zeros(1)}
SOURCE: Final = ImportSource("lying-import", Path("/nowhere"), "x", (), 0)
LATE_S: Final = 3.5

# port → method → (who declares it, a right answer); None: it answers nothing, and can only raise
METHODS: Final[Mapping[str, Mapping[str, tuple[type, object]]]] = {
    "body": {
        "execute": (Driver, DONE), "observe": (Driver, SCENE), "review": (Driver, (FINDING,)),
        "operations": (Driver, (MOVE,)), "real": (RealBody, False), "assumed": (Simulated, SCENE),
        "sources": (Sourced, {"a": 1}), "demands": (Demanding, (FINDING,)), "leave": (SharesWorld, False),
        "way": (KnowsItsWay, ((0.0, 1.0),)), "standstill": (MeasuresStandstill, Standstill(True)),
        "reported": (ReportsItself, ROBOT), "made": (Driver, None), "open": (Driver, None), "stop": (Stoppable, None),
        "close": (Driver, None), "take_up": (TakesUp, None), "record": (VideoRecorder, None),
        "stop_recording": (VideoRecorder, 0),
    },
    "target": {
        "step": (TargetAdapter, StepResult(SEEN, clamped=("a",))), "scene": (TargetAdapter, SCENE),
        "sensors": (TargetAdapter, frozenset({"joint_states"})), "actions": (TargetAdapter, (SPEC,)),
        "observations": (TargetAdapter, {"joint_states": ((1,), "float64")}), "reset": (TargetAdapter, SEEN),
        "observe": (TargetAdapter, SEEN), "assumed": (Simulated, SCENE), "made": (TargetAdapter, None),
        "open": (TargetAdapter, None), "stop": (TargetAdapter, None), "close": (TargetAdapter, None),
        "set_run": (SessionAware, None), "heartbeat": (SessionAware, None),
    },
    "native": {
        "carry_out": (NativeOperations, DONE), "judge": (NativeOperations, (FINDING,)),
        "ops": (NativeOperations, frozenset({"move_to"})), "scene": (TargetAdapter, SCENE),
    },
    "robot": {
        "read": (RobotInterface, RobotReading(0.0, np.zeros(2), pictures={"front": np.zeros((2, 2, 3), np.uint8)})),
        "sensors": (RobotInterface, frozenset({"joint_states"})), "pictures": (RobotInterface, {"front": (2, 2)}),
        "connect": (RobotInterface, None), "prepare": (RobotInterface, None), "send": (RobotInterface, None),
        "halt": (RobotInterface, None), "close": (RobotInterface, None), "made": (RobotInterface, None),
    },
    "skill": {
        "perform": (SkillRuntime, DONE), "review": (SkillRuntime, (FINDING,)), "sources": (SourcedSkill, {"a": 1}),
        "parameters": (ParameterReader, SkillParameters(frozenset({"a"}), ("a",))),
    },
    "policy": {
        "infer": (PolicyClient, ActionChunk(np.zeros((4, 2), np.float32), extra={"a": 1})),
        "connect": (PolicyClient, PolicyInfo("p", observations={"a": ((1,), "f")}, picture_sizes={"a": (1, 2)})),
        "reset": (PolicyClient, None), "close": (PolicyClient, None), "made": (PolicyClient, None),
    },
    "reviewer": {"review": (Reviewer, (FINDING,))},
    "model": {"reply": (ChatModel, ModelReply("", (RequestedCall("agree", {"a": 1}),), 1, 1, 0.1))},
    "chat": {"answer": (Responder, DONE)},
    "search": {"search": (SearchBackend, (SearchResult("a", "https://example.org/", "b"),))},
    "importer": {"finds": (Importer, [SOURCE])},
}  # fmt: skip


class PortLie(NamedTuple):
    """A lie of one method of one port."""

    port: str
    method: str
    lie: Lie

    def __str__(self) -> str:
        return f"{self.port} {self.method}: {self.lie.name}"


@cache
def lies(port: str) -> tuple[PortLie, ...]:
    """All of a port, in an order that does not change."""
    return tuple(PortLie(port, method, lie) for method, lie in _lies(port))


def _lies(port: str) -> Iterator[tuple[str, Lie]]:
    if port == "environment":
        yield from _environment_lies()
        return
    for method, (kind, right) in METHODS[port].items():
        yield from ((method, fault) for fault in faults())
        if method == "made":
            yield from ((method, lie) for lie in made_wrong())
        if right is not None:
            yield from ((method, lie) for lie in wrong_values(_declared(kind, method), right))
    if port == "body":
        yield "execute", Lie("late", _late)
    if port == "importer":
        yield from (("task", lie) for lie in wrong_values(AgentTask, AgentTask("bad", description="x", extra={"a": 1})))
        yield from (("note", lie) for lie in wrong_values(Remark, Remark("patterns", "bad")))
        yield from (("read", lie) for lie in (*faults(), *wrong_values(ParsedSource)))


def _declared(kind: type, method: str) -> object:
    member = getattr(kind, method)
    found = member.fget if isinstance(member, property) else member
    return get_type_hints(found, include_extras=True)["return"]


def _late() -> Outcome:
    time.sleep(LATE_S)
    return DONE


def _environment_lies() -> Iterator[tuple[str, Lie]]:
    for name in ("success", "terminated", "truncated"):
        yield from ((name, lie) for lie in wrong_values(Flag) if (name, lie.name) != ("success", "None"))
    yield from (("reward", lie) for lie in wrong_values(float))
    for name, wrong in (("seen", {"of texts": "a"}), ("info", [("is_success", True)])):
        yield name, Lie("None", lambda: None)
        yield name, Lie("another", lambda wrong=wrong: wrong)  # type: ignore[misc]  # the loop's value
    for method in ("reset", "step"):
        yield from ((method, fault) for fault in faults())
        yield method, Lie("None", lambda: None)
        yield method, Lie("True", lambda: True)
        yield method, Lie("a list", lambda: [1, 2, 3, 4, 5])


def answered(port: str, id: str, method: str, honest: Callable[[], T]) -> T | object:
    """What a plug-in of the lying package answers. `id` ends with its port and its lie's number; else it is honest."""
    kind = "native" if port == "target" and id.startswith("native") else port
    found = re.search(rf"{kind}_(\d+)$", id)
    if found is None:
        return honest()
    lie = lies(kind)[int(found[1])]
    return lie.lie.make() if lie.method == method else honest()


class LieEnd(NamedTuple):
    """How the job of one liar has ended."""

    lie: PortLie
    state: str  # succeeded | failed | "" (it has not ended)
    said: str = ""  # the reason

    @property
    def believed(self) -> bool:
        return self.state == "succeeded"
