"""Robots that lie about what they do: no order that they were given ends as succeeded, and no page says that they hold
anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the table of the runtime's other half")

from worldfs.base.model import Cause
from worldfs.robots.targets.kinematics import from_dh

from .test_real_actions import KINDS, ended, lab, page, settings

DH = [
    [0.0, 0.1, 1.5708, 0.0], [0.2, 0.0, 0.0, 1.2], [0.2, 0.0, 0.0, -1.4], [0.05, 0.0, 1.5708, 0.0],
    [0.0, 0.05, 0.0, 0.0],
]  # fmt: skip
APPLE = 0.066 / 0.08  # of the hand's opening

Lie = Callable[[Any], None]  # told to a `plant.Plant`


def unpowered(plant: Any) -> None:
    """No joint has torque."""
    plant.blocked = True


def echoing(plant: Any) -> None:
    """It stands still, and says that it is where it was told to be."""
    plant.blocked = True
    home = plant.q.tolist()
    plant.lie = lambda said: said | {"q": plant.told[-1] if plant.told else home, "mode": "idle"}


def echoing_with_speeds(plant: Any) -> None:
    """As `echoing`, the fingers too, and with speeds that fit."""
    echoing(plant)
    before, echo = [plant.q.tolist()], plant.lie

    def lie(said: Any) -> Any:
        said = echo(said)
        speeds = 20 * (np.array(said["q"]) - before[0])
        before[0] = said["q"]
        return said | {"dq": speeds.tolist(), "opening": plant.asked}

    plant.lie = lie


def stale(plant: Any) -> None:
    """Its state is that of its start for ever, the time in it too."""
    kept: dict[str, Any] = {}

    def lie(said: Any) -> Any:
        kept.update({key: value for key, value in said.items() if key not in kept})
        return dict(kept)

    plant.lie = lie


def frozen(plant: Any) -> None:
    """Its joints are those of its start for ever; its time goes on."""
    home = plant.q.tolist()
    plant.lie = lambda said: said | {"q": home, "dq": [0.0] * len(home)}


def mirrored(plant: Any) -> None:
    """Its encoders count the wrong way."""
    home = plant.q.copy()
    plant.lie = lambda said: said | {"q": (2 * home - np.array(said["q"])).tolist()}


def zeros(plant: Any) -> None:
    """Its encoders say 0 from the first command on."""
    plant.lie = lambda said: said | ({"q": [0.0] * plant.q.size} if plant.told else {})


def nothing(plant: Any) -> None:
    """Its encoders say no number from the first command on."""
    plant.lie = lambda said: said | ({"q": [float("nan")] * plant.q.size} if plant.told else {})


def jammed(opening: float) -> Lie:
    def lie(plant: Any) -> None:
        plant.between = APPLE
        plant.opening = opening
        plant.lie = lambda said: said | {"opening": opening}

    lie.__name__ = f"jammed_at_{opening:g}"
    return lie


def missing(plant: Any) -> None:
    """The thing is not there: the fingers close on nothing."""


ARMS = (unpowered, echoing, echoing_with_speeds, stale, frozen, mirrored, zeros, nothing)
HANDS = (*ARMS, jammed(1.0), jammed(0.0), jammed(APPLE), missing)
TOOL = from_dh(DH).forward(np.zeros(5))[:3, 3]


def far(x: float) -> list[float]:
    return [0.1 + TOOL[0] - x, TOOL[1], TOOL[2]]


def orders() -> list[Any]:
    moves = [("franka", "move_to", {"target_pose": goal}) for goal in ([0.6, 0.05, 0.4], [0.5, 0.2, 0.5])]
    moves += [("lerobot", "move_to", {"target_pose": far(x)}) for x in (0.03, 0.06)]
    return [(lie, *move) for move in moves for lie in ARMS] + [
        (lie, "franka", "pick_up", {"object_id": "apple_01"}) for lie in HANDS
    ]


@pytest.mark.slice(18)
@pytest.mark.parametrize(
    ("lie", "driver", "op", "params"), orders(), ids=lambda value: getattr(value, "__name__", None)
)
def test_a_robot_that_lies_succeeds_in_nothing(tmp_path, timed, lie, driver, op, params) -> None:
    with timed.Plant(*KINDS[driver]) as plant:
        plant.between = APPLE if lie is not missing else 0.0
        lie(plant)
        more = {"kinematics": {"dh": DH}} if driver == "lerobot" else {}
        lab(tmp_path, settings(plant.address, driver, **more), (op, params), driver=driver)
        (outcome,) = ended(tmp_path, driver)
        plant.lie = lambda said: said
    assert not outcome.ok and outcome.cause is Cause.ERROR, outcome
    assert not page(tmp_path)["robots"][0].get("holding")


@pytest.mark.slice(2)
@pytest.mark.parametrize("driver", sorted(KINDS))
def test_the_same_orders_succeed_where_nothing_lies(tmp_path, timed, driver) -> None:
    goal = far(0.03) if driver == "lerobot" else [0.6, 0.05, 0.4]
    more = {"kinematics": {"dh": DH}} if driver == "lerobot" else {}
    with timed.Plant(*KINDS[driver]) as plant:
        lab(tmp_path, settings(plant.address, driver, **more), ("move_to", {"target_pose": goal}), driver=driver)
        (outcome,) = ended(tmp_path, driver)
    assert outcome.ok, outcome
