"""The box that an order is said to need holds the space that the body then reserves for it."""

from __future__ import annotations

import numpy as np
import pytest

from worldfs.base.model import Order, RobotState, Scene, Thing
from worldfs.robots.mujoco.reserved_space import SweptSpace
from worldfs.robots.order_space import order_space
from worldfs.testing.workcell import Workcell

from .test_carrier import CART, SCENE, A, B


def bounds(space: SweptSpace) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest corner of the box round it all (m)."""
    low = np.vstack([space.spheres[:, :3] - space.spheres[:, 3:], space.boxes[:, :3]])
    high = np.vstack([space.spheres[:, :3] + space.spheres[:, 3:], space.boxes[:, 3:]])
    return low.min(axis=0), high.max(axis=0)


def joined(cell: Workcell) -> Scene:
    """ENVIRONMENT.md as all robots of the cell wrote it."""
    scenes = [driver.observe() for driver in cell.drivers.values()]
    robots = tuple(robot for scene in scenes for robot in scene.robots)
    return Scene(robots, scenes[0].objects, scenes[0].furniture)


@pytest.mark.slice(2)
@pytest.mark.parametrize(
    ("robot", "op", "params"),
    [
        (A, "pick_up", {"object_id": "cube"}),
        (A, "strategy", {"name": "pick_and_place", "object_id": "apple", "target_position": [0.5, 0.1, 0.0]}),
        (B, "pick_up", {"object_id": "apple"}),
        (CART, "target_navigation", {"target_label": A}),
        (CART, "move_to", {"target_pose": [-1.5, 0.2, 0.0]}),
    ],
)
def test_the_box_holds_what_is_reserved_and_is_no_whole_room(robot, op, params):
    cell, reserved = Workcell(SCENE, (A, B), (CART,)), []
    space = order_space(joined(cell), Order("act", robot, op, params))
    assert space is not None
    body = cell.body(robot)
    keep = body.reserved.reserve
    body.reserved.reserve = lambda id, swept: (reserved.append(bounds(swept)), keep(id, swept))
    done = cell.do(robot, op, **params)
    assert done.ok, done
    low, high = np.array(space.box[:3]), np.array(space.box[3:])
    for lowest, highest in reserved:
        slack = 0.12  # its edges are the elbow's: nobody else's way is decided by them
        assert np.all(lowest[:2] >= low[:2] - slack) and np.all(highest[:2] <= high[:2] + slack), (
            space,
            lowest,
            highest,
        )
    assert np.all(high - low < 3.0)
    assert 0.3 * done.evidence["sim_seconds"] < space.seconds < 6 * done.evidence["sim_seconds"] + 10


def test_two_orders_at_the_two_ends_of_a_table_need_no_common_space_and_two_in_the_middle_do():
    robots = (RobotState(A, (0.0, 0.0, 0.0), {}, "open"), RobotState(B, (1.4, 0.0, 0.0), {}, "open"))
    things = (
        Thing("near", position=(0.3, 0.3, 0.0)),
        Thing("far", position=(1.1, -0.3, 0.0)),
        Thing("mid", position=(0.7, 0.0, 0.0)),
    )

    def box(robot: str, thing: str) -> tuple[float, ...]:
        found = order_space(Scene(robots, things), Order("act", robot, "pick_up", {"object_id": thing}))
        assert found is not None
        return found.box

    def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return all(one[i] < other[i + 3] and other[i] < one[i + 3] for i in range(3))

    assert not overlap(box(A, "near"), box(B, "far"))
    assert overlap(box(A, "mid"), box(B, "mid"))


def test_what_the_documents_do_not_say_has_no_space():
    scene = Scene((RobotState(A, (0.0, 0.0, 0.0)),), (), ())
    assert order_space(scene, Order("act", A, "pick_up", {"object_id": "ghost"})) is None
    assert order_space(scene, Order("act", "nobody", "move_to", {"target_pose": [0, 0, 0]})) is None
