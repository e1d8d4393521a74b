"""The operations that the specification names (workspace §3.8), others of ours, and the words that mean the same."""

from __future__ import annotations

from typing import Final

from .model.operation import Operation, Parameter

MOVE_TO: Final = Operation(
    "move_to", "Cartesian-space move of the hand to a target pose", (Parameter("target_pose", "[x,y,z,r,p,y]"),),
    undoable=True,
)  # fmt: skip
PICK_UP: Final = Operation(
    "pick_up", "Grasp an object by ID and lift it", (Parameter("object_id", "string"),), undoable=True
)
PLACE_DOWN: Final = Operation(
    "place", "Place the held object at a position, or into or onto a target",
    (Parameter("target_position", "[x,y,z]"),), undoable=True,
)  # fmt: skip
NAVIGATE: Final = Operation(
    "target_navigation", "Move the wrist camera until it sees the labelled thing centred",
    (Parameter("target_label", "string"),), sensors=("rgb_camera",), undoable=True,
)  # fmt: skip
EXECUTE_TEXT: Final = Operation("real_execute", "Execute a natural-language task", (Parameter("nl_task", "string"),))
STANDARD: Final = {op.name: op for op in (MOVE_TO, PICK_UP, PLACE_DOWN, NAVIGATE, EXECUTE_TEXT)}

# Ours, of an arm that handles things: robots may list them or not.
PLACE_BESIDE: Final = Operation(
    "place_beside", "Place the held object at a distance (m) left, right, front or behind a thing, for the robot",
    (Parameter("target", "string"), Parameter("side", "string"), Parameter("distance", "number")), undoable=True,
)  # fmt: skip
PUSH: Final = Operation(
    "push", "Slide an object in a straight line by a distance (m): left, right, forward, backward, or [x, y]",
    (Parameter("object_id", "string"), Parameter("direction"), Parameter("distance", "number")), undoable=True,
)  # fmt: skip
NUDGE: Final = Operation(
    "nudge", "Push a walled-in object or its neighbour so that the object can be grasped",
    (Parameter("object_id", "string"), Parameter("leave", "list", optional=True)), undoable=True,
)  # fmt: skip
UPRIGHT: Final = Operation("upright", "Stand a lying object on its end", (Parameter("object_id", "string"),))
STACK: Final = Operation(
    "stack", "Build a tower of objects, the lowest first", (Parameter("object_ids", "list"),), undoable=True
)
POUR: Final = Operation(
    "pour", "Pour what is in one vessel into another vessel or a basket, and set the first back",
    (Parameter("object_id", "string"), Parameter("target", "string")),
)  # fmt: skip
WIPE: Final = Operation(
    "wipe", "Wipe a marked area of a table with a sponge or a cloth, and lay that back",
    (Parameter("object_id", "string"), Parameter("target", "string")),
)  # fmt: skip
HAND_OVER: Final = Operation(
    "hand_over", "Hold the held object out to another robot, and let go once that has it (with its take_over)",
    (Parameter("to", "string"), Parameter("points", "list", optional=True)), undoable=True,
)  # fmt: skip
TAKE_OVER: Final = Operation(
    "take_over", "Take an object that another robot holds out (with its hand_over)",
    (Parameter("object_id", "string"), Parameter("points", "list", optional=True)), undoable=True,
)  # fmt: skip
OPEN_FIXTURE: Final = Operation(
    "open_fixture", "Open a drawer or a chest by its knob", (Parameter("object_id", "string"),), undoable=True
)
CLOSE_FIXTURE: Final = Operation(
    "close_fixture", "Close a drawer or a chest by its knob", (Parameter("object_id", "string"),), undoable=True
)
HANDLING: Final = (
    PLACE_BESIDE,
    PUSH,
    NUDGE,
    UPRIGHT,
    STACK,
    OPEN_FIXTURE,
    CLOSE_FIXTURE,
    POUR,
    WIPE,
    HAND_OVER,
    TAKE_OVER,
)

# Names that profiles give to one of them.
PICK: Final = frozenset((PICK_UP.name, "pick", "grasp", "grab"))
PLACE: Final = frozenset((PLACE_DOWN.name, "put_down", "put", "drop_in"))
MOVE: Final = frozenset((MOVE_TO.name, "move"))
LIFTED: Final = PICK | {UPRIGHT.name, POUR.name, WIPE.name}  # a thing that the gripper takes
HANDLED: Final = LIFTED | {PUSH.name, NUDGE.name}  # a thing that the gripper, empty before, comes to
FIXTURED: Final = frozenset((OPEN_FIXTURE.name, CLOSE_FIXTURE.name))  # a piece of furniture that opens
LOOK: Final = frozenset((NAVIGATE.name, "look_at"))
WIPERS: Final = ("sponge", "cloth", "rag", "海绵", "抹布")  # what things to wipe with are called


def meaning(name: str) -> Operation | None:
    """The standard operation that has that name, or that the name is another word for."""
    families = ((PICK, PICK_UP), (PLACE, PLACE_DOWN), (MOVE, MOVE_TO), (LOOK, NAVIGATE))
    ours = next((op for op in HANDLING if op.name == name), None)
    return STANDARD.get(name) or ours or next((op for names, op in families if name in names), None)


def described(name: str, description: str = "", parameters: tuple[Parameter, ...] = ()) -> Operation:
    """The operation that a document prints. What it does to the world is known of the standard ones; else the worst."""
    known = meaning(name) or Operation(name)
    return Operation(name, description, parameters, known.sensors, known.moves, known.undoable, known.repeatable)
