"""What a compound order does inside, as the plain orders that it is made of: one expansion for the critic, which judges
each of them, and for the driver, which carries them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from .json_values import as_list
from .model import Json
from .order_parameters import POINT, SCRIPT, SUPPORT
from .standard_operations import NAVIGATE, PICK_UP, PLACE_DOWN, STACK

STRATEGY: Final = "strategy"
STEPS: Final = "steps"  # the name of the sequence whose orders the order itself lists, and their parameter
MOVEMENTS: Final = frozenset(("home", "ready", "open_gripper", "close_gripper", "wave"))  # no orders of their own
ENTRY: Final = ("action_type", "op", "name", "params", "parameters")  # what says which order one of a list is
_ABOUT: Final = ("action_id", "status", "description", "reasoning")
Steps = list[tuple[str, Json]]


@dataclass(frozen=True, slots=True)
class ActionSequence:
    """A row of `SEQUENCES`: its required parameters, and its orders."""

    needs: tuple[str, ...]
    steps: Callable[[Json], Steps]


def _pick_and_place(given: Json) -> Steps:
    where: Json = {k: given[k] for k in (*POINT, *SUPPORT) if k in given}
    return [_pick(given["object_id"]), (PLACE_DOWN.name, where)]


def _pick(id: object) -> tuple[str, Json]:
    return PICK_UP.name, {"object_id": id}


SEQUENCES: Final[dict[str, ActionSequence]] = {
    "pick_and_place": ActionSequence(("object_id",), _pick_and_place),
    "look_and_pick": ActionSequence(
        ("object_id",),
        lambda given: [(NAVIGATE.name, {"target_label": given["object_id"]}), _pick(given["object_id"])],
    ),
}


def script_name(params: Json) -> str:
    """The sequence that a strategy names; "" for none."""
    named = next((v.strip() for k in SCRIPT if isinstance(v := params.get(k), str) and v.strip()), "")
    return named or (STEPS if STEPS in params else "")


def listed_steps(params: Json) -> Steps | None:
    """The orders that a strategy lists itself; None where that is no list of orders."""
    given = params.get(STEPS)
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        return None
    return [listed_order(one) for one in given]


def listed_order(given: Json) -> tuple[str, Json]:
    """The operation and the parameters of one order of a list. Without `params` its other fields are the parameters."""
    op = given.get("action_type") or given.get("op") or given.get("name") or ""
    for key in ("params", "parameters"):
        if isinstance(inner := given.get(key), dict):
            return str(op), inner
    return str(op), {k: v for k, v in given.items() if k not in (*ENTRY, *_ABOUT)}


def set_on(upper: str, lower: str) -> Steps:
    """One level of a tower."""
    return [_pick(upper), (PLACE_DOWN.name, {"target": lower})]


def levels(params: Json) -> list[str]:
    """The ids of a tower, from below up."""
    return [str(id) for id in as_list(params.get(STACK.parameters[0].name))]


def tower_steps(ids: Sequence[str]) -> Steps:
    return [step for lower, upper in pairwise(ids) for step in set_on(upper, lower)]


def sequence_steps(params: Json) -> Steps | None:
    """The orders of a sequence that has a name; None where it has none, or lacks what that needs."""
    row = SEQUENCES.get(script_name(params))
    if row is None or any(not isinstance(params.get(need), str) for need in row.needs):
        return None
    return row.steps(params)
