"""The steps that a language model may propose, by schema, and the goals that they mean."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final

from worldfs.base.chat_model import ModelTool
from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_floats, as_object
from worldfs.base.model import Json, Operation, Parameter, Profile, Scene
from worldfs.base.robot_sides import SIDES
from worldfs.base.standard_operations import LOOK as LOOKS
from worldfs.base.standard_operations import MOVE as MOVES
from worldfs.base.standard_operations import PICK as PICKS
from worldfs.base.standard_operations import PLACE as PLACES
from worldfs.formats.prose import one_line
from worldfs.planning.parameters import mismatch

from .assign import into_containers
from .directions import axis
from .goals import (
    AtGoal,
    BesideGoal,
    ClearedGoal,
    DownGoal,
    GestureGoal,
    Goal,
    GripperGoal,
    HoldingGoal,
    HomeGoal,
    InGoal,
    OnGoal,
    OperationGoal,
    PlacedGoal,
    SeenGoal,
    TowardGoal,
    VisitGoal,
    littering,
    point_above,
)
from .planned_actions import LOOK, MOVE, PICK, PLACE, STRATEGY, goes_to_places, supports_op
from .scene_facts import containers, immovable_ids, surfaces
from .storage import alike, storage
from .vocabulary import Vocabulary

MOST_STEPS: Final = 20
LISTED: Final = 200  # ids that a schema lists; with more things any text is taken, and checked here
_OBJECT, _THING = Parameter("object", "string"), Parameter("thing", "string")
_OTHER, _SIDE = Parameter("other", "string"), Parameter("side", "string")

# Each step, and the operations that the robot must have for it.
_STEPS: Final = (
    (Operation("put_in", "Put a thing into a container", (_OBJECT, Parameter("container", "string"))), (PICK, PLACE)),
    (
        Operation("put_on", "Put a thing onto a table or another thing", (_OBJECT, Parameter("support", "string"))),
        (PICK, PLACE),
    ),
    (Operation("put_beside", "Put a thing next to another", (_OBJECT, _OTHER)), (PICK, PLACE)),
    (
        Operation("put_toward", "Put a thing to a side of another, as the robot sees it", (_OBJECT, _OTHER, _SIDE)),
        (PICK, PLACE),
    ),
    (
        Operation("put_at", "Put a thing at a point of its table (metres)", (_OBJECT, Parameter("position", "[x,y]"))),
        (PICK, PLACE),
    ),
    (Operation("put_down", "Put down what is held", (_OBJECT,)), (PLACE,)),
    (Operation("hold", "Take a thing and keep it in the gripper", (_OBJECT,)), (PICK,)),
    (Operation("clear", "Put what lies on a table into containers", (Parameter("surface", "string"),)), (PICK, PLACE)),
    (Operation("look_at", "Look at a thing", (_THING,)), (LOOK,)),
    (Operation("go_to", "Go to a thing", (_THING,)), (LOOK,)),
    (Operation("go_above", "Move the gripper above a thing", (_THING,)), (MOVE,)),
    (Operation("go_home", "Move the robot to its home pose"), (STRATEGY,)),
    (Operation("open_gripper", "Open the empty gripper"), (STRATEGY,)),
    (Operation("close_gripper", "Close the empty gripper"), (STRATEGY,)),
    (Operation("wave", "Wave"), (STRATEGY,)),
)
_SAID: Final = PICKS | PLACES | MOVES | LOOKS | {STRATEGY}  # what the steps above say in other words


class ProposedSteps:
    """The steps that this robot can be asked for in this scene."""

    def __init__(self, scene: Scene, profile: Profile | None) -> None:
        self.scene = scene
        own = profile.ops if profile is not None else ()
        self.operations = {op.name: op for op in own if op.name not in _SAID and not _free_text(op)}
        other = ("look_at", "go_above") if goes_to_places(profile) else ("go_to",)  # of the other kind of robot
        self.steps = {
            op.name: op
            for op, needs in _STEPS
            if op.name not in other and all(supports_op(profile, need) for need in needs)
        }

    def tool(self) -> ModelTool:
        """The tool `plan`: a list of steps, each of one schema."""
        offered = {**self.operations, **self.steps}.values()
        steps: Json = {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_STEPS,
            "items": {"anyOf": [*map(self._schema, offered)]},
        }
        return ModelTool(
            "plan",
            "What the instruction asks for, as steps in order: no step that it does not ask for.",
            {"type": "object", "properties": {"steps": steps}, "required": ["steps"], "additionalProperties": False},
        )

    def goals(self, arguments: Mapping[str, object]) -> tuple[Goal, ...]:
        """Raises `BadInput` for anything but a list of such steps about things that are here."""
        steps = arguments.get("steps")
        if not isinstance(steps, list) or not steps or set(arguments) != {"steps"}:
            raise _bad("the tool plan", "one list, steps")
        if len(steps) > MOST_STEPS:
            raise _bad(f"{len(steps)} steps", f"at most {MOST_STEPS}")
        return tuple(goal for number, step in enumerate(steps, 1) for goal in self._goals(as_object(step), number))

    # -- the schema -----------------------------------------------------------------------------------------------

    def _schema(self, operation: Operation) -> Json:
        schema = operation.json_schema()
        properties = {"do": {"const": operation.name, "type": "string"}, **as_object(schema["properties"])}
        if operation.name in self.steps:
            for name, ids in self._ids().items():
                if name in properties and ids and len(ids) <= LISTED:
                    properties[name] = {"type": "string", "enum": ids}
        required = ["do", *(item.name for item in operation.parameters if not item.optional)]
        return {
            "type": "object", "description": operation.description, "properties": properties, "required": required,
            "additionalProperties": False,
        }  # fmt: skip

    def _ids(self) -> dict[str, list[str]]:
        """What each parameter of a step may name."""
        things = [t.id for t in (*self.scene.objects, *self.scene.furniture)]
        still = immovable_ids(self.scene)
        return {
            "object": [id for id in things if id not in still],
            "container": [t.id for t in containers(self.scene)],
            "surface": [t.id for t in surfaces(self.scene)],
            "support": [t.id for t in (*self.scene.objects, *self.scene.furniture) if not t.is_container],
            "other": things,
            "thing": things,
            "side": list(SIDES),
        }

    # -- the goals ------------------------------------------------------------------------------------------------

    def _goals(self, step: Json, number: int) -> tuple[Goal, ...]:
        where, name = f"step {number}", step.get("do")
        known = {**self.operations, **self.steps}
        operation = known.get(name) if isinstance(name, str) else None
        if operation is None:
            raise _bad(f"{where}: do {name!r:.60}", "one of " + ", ".join(known))
        given = {key: value for key, value in step.items() if key != "do"}
        self._check(operation, given, where)
        if operation.name not in self.steps:
            return (OperationGoal(operation.name, json.dumps(given, sort_keys=True, ensure_ascii=False)),)
        return _MEANING[operation.name](self, given)

    def _check(self, operation: Operation, given: Json, where: str) -> None:
        allowed, may = {item.name for item in operation.parameters}, self._ids()
        if extra := sorted(set(given) - allowed):
            raise _bad(f"{where}: {operation.name} with {extra[0]!r:.60}", "only " + (", ".join(allowed) or "do"))
        for item in operation.parameters:
            value = given.get(item.name)
            if value is None:
                if not item.optional:
                    raise _bad(f"{where}: {operation.name} without {item.name}", f"{item.name}: {item.kind}")
            elif expected := mismatch(item, value):
                raise _bad(f"{where}: {item.name} {value!r:.60}", expected)
            elif operation.name in self.steps and item.name in may and value not in may[item.name]:
                close = get_close_matches(str(value)[:80], may[item.name], 3) or may[item.name]
                raise _bad(f"{where}: {item.name} {value!r:.60}", "one of " + one_line(", ".join(close), 600))
        if "object" in given and given["object"] in (given.get("other"), given.get("support")):
            raise _bad(f"{where}: {given['object']!r:.60} twice", "two things")
        if not all(math.isfinite(value) for value in as_floats(given.get("position"))):
            raise _bad(f"{where}: position", "finite numbers")

    def cleared(self, surface: str) -> tuple[Goal, ...]:
        if not containers(self.scene):
            raise _bad("clear", "a container, and none is here")
        vocabulary, things = Vocabulary(self.scene), littering(ClearedGoal(surface), self.scene)
        boxes = storage(things, self.scene, vocabulary)
        if not alike(boxes, vocabulary):
            raise _bad("clear", "one kind of container for keeping things: name the container of each thing instead")
        return (*into_containers(things, list(boxes), self.scene), ClearedGoal(surface, (), boxes))

    def above(self, id: str) -> tuple[Goal, ...]:
        point = point_above(self.scene, id)
        if not all(map(math.isfinite, point)):
            raise _bad(f"go_above {id!r:.60}", "a thing whose position is known")
        return (AtGoal(point, id),)


_Meaning = Callable[[ProposedSteps, Mapping[str, object]], tuple[Goal, ...]]
_MEANING: Final[Mapping[str, _Meaning]] = {
    "put_in": lambda at, step: (InGoal(str(step["object"]), str(step["container"])),),
    "put_on": lambda at, step: (OnGoal(str(step["object"]), str(step["support"])),),
    "put_beside": lambda at, step: (BesideGoal(str(step["object"]), str(step["other"])),),
    "put_toward": lambda at, step: (
        TowardGoal(str(step["object"]), str(step["other"]), axis(str(step["side"]), at.scene), str(step["side"])),
    ),
    "put_at": lambda at, step: (PlacedGoal(str(step["object"]), tuple(as_floats(step["position"]))),),
    "put_down": lambda at, step: (DownGoal(str(step["object"])),),
    "hold": lambda at, step: (HoldingGoal(str(step["object"])),),
    "clear": lambda at, step: at.cleared(str(step["surface"])),
    "go_to": lambda at, step: (VisitGoal(str(step["thing"])),),
    "look_at": lambda at, step: (SeenGoal(str(step["thing"])),),
    "go_above": lambda at, step: at.above(str(step["thing"])),
    "go_home": lambda at, step: (HomeGoal(),),
    "open_gripper": lambda at, step: (GripperGoal("open"),),
    "close_gripper": lambda at, step: (GripperGoal("closed"),),
    "wave": lambda at, step: (GestureGoal("wave"),),
}


def _free_text(operation: Operation) -> bool:
    """An operation that carries out words: what a model says is never executed as text."""
    return any(item.name == "nl_task" for item in operation.parameters) or operation.name == "real_execute"


def _bad(found: str, expected: str) -> BadInput:
    return BadInput(found, op="plan", expected=expected)
