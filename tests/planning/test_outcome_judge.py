"""A success is held against what was seen: the order, the observation before, and the one after."""

import math
from dataclasses import replace

import pytest

from worldfs.base.model import Operation, Order, Profile, Relation, RobotState, Scene, Thing
from worldfs.planning.outcome_judge import Observed, judge

APPLE = Thing("apple_01", "apple", "fruit", (0.4, 0.1, 0.43), size=(0.06, 0.06, 0.06), shape="sphere")
CAN = Thing("can_01", "can", "drink", (0.4, -0.1, 0.45), size=(0.06, 0.06, 0.1), shape="cylinder")
TABLE = Thing("table_01", "table", "furniture", (0.5, 0.0, 0.2), size=(0.6, 0.8, 0.4), shape="table")
BASKET = Thing("basket_01", "basket", "container", (0.5, 0.3, 0.45), size=(0.2, 0.2, 0.1), shape="basket")
ARM = Profile("arm", max_reach=0.8)
CART = Profile("cart")


def robot(**more):
    return RobotState("r1", **{"gripper": "open", **more})


def scene(own, *things, relations=(), others=()):
    return Scene((own, *others), things, (TABLE, BASKET), relations)


def verdict(op, params, before, after, profile=ARM, operation=None):
    document = Scene(
        (), (APPLE, CAN), (TABLE, BASKET), extra={"map": {"zones": [{"name": "dock", "center": [2.0, 1.0]}]}}
    )
    return judge(Order("j", "r1", op, params), Observed(before, after, document, profile, operation)).holds


REST = scene(robot(), APPLE, CAN)
HELD = scene(robot(gripper="closed", holding="apple_01"), APPLE, CAN)


@pytest.mark.parametrize(
    ("pose", "holds"),
    [((2.0, 1.0), True), ((2.05, 1.0, 0.0), True), ((2.3, 1.0), None), ((0.0, 0.0, 0.0), False), ((), None)],
)
@pytest.mark.parametrize(
    ("op", "params"),
    [("move_to", {"target_pose": [2.0, 1.0, 0.0]}), ("move", {"x": 2, "y": 1, "z": 0}),
     ("target_navigation", {"target_label": "dock"})],
)  # fmt: skip
def test_a_body_that_travels_is_where_the_order_says(op, params, pose, holds):
    assert verdict(op, params, REST, scene(robot(pose=pose)), CART) is holds


@pytest.mark.parametrize(
    ("extra", "holds"),
    [
        ({"tcp_pose": [0.4, 0.0, 0.6]}, True),
        ({"ee_pose": [0.4, 0.0, 0.0, 1, 0, 0, 0]}, False),
        ({}, None),
        ({"ee_pose": "there"}, None),
        ({"ee_pose": [0.4, 0.0]}, None),
        ({"ee_pose": [0.4]}, None),
        ({"ee_pose": []}, None),
        ({"ee_pose": {"position": [0.4, 0.0, 0.6]}}, None),
        ({"ee_pose": [[0.4, 0.0, 0.6], [1, 0, 0, 0]]}, None),
    ],
)
def test_a_hand_is_judged_by_its_own_pose_and_never_by_the_base(extra, holds):
    after = scene(robot(pose=(0.4, 0.0, 0.0), extra=extra))
    assert verdict("move_to", {"target_pose": [0.4, 0.0, 0.6]}, REST, after) is holds


@pytest.mark.parametrize(
    ("own", "relations", "holds"),
    [
        (robot(gripper="closed", holding="apple_01"), (), True),
        (robot(gripper="closed"), (Relation("apple_01", "held_by", "r1"),), True),
        (robot(gripper="closed", holding="can_01"), (), False),
        (robot(gripper="open"), (), False),
        (robot(gripper=""), (), None),
    ],
)
@pytest.mark.parametrize("params", [{"object_id": "apple_01"}, {"object": "Apple"}])
def test_what_is_picked_up_is_held(own, relations, holds, params):
    assert verdict("pick_up", params, REST, scene(own, APPLE, CAN, relations=relations)) is holds
    assert verdict("grasp", params, REST, scene(own, APPLE, CAN, relations=relations)) is holds


@pytest.mark.parametrize(
    "value",
    [["far", "away", "!"], [None] * 3, [{}, {}, [9]], [True, False, False], [0.0, 0.0, float("nan")], [10**400] * 3],
)
def test_what_is_no_number_is_no_coordinate(value):
    after = scene(robot(extra={"ee_pose": value}))
    assert verdict("move_to", {"target_pose": [0.05, 0.0, 0.05]}, REST, after) is None
    assert verdict("move_to", {"target_pose": [0.0, 0.0, 0.0]}, REST, scene(robot(pose=tuple(value))), CART) is None


@pytest.mark.parametrize(
    ("goal", "pose", "holds"),
    [
        ([2.0, 1.0, 0.0], (2.0, 1.0, 0.3), True),
        ([2.0, 1.0, 0.0], (2.0, 1.0, 5.0), None),
        ([2.0, 1.0, 5.0], (2.0, 1.0, 5.0), True),
        ([2.0, 1.0, 5.0], (2.0, 1.0, 0.0), None),
        ([2.0, 1.0, 5.0], (2.0, 1.0), None),
        ([2.0, 1.0, 5.0], (0.0, 1.0, 5.0), False),
    ],
)
def test_a_body_that_travels_is_as_high_as_the_order_says(goal, pose, holds):
    assert verdict("move_to", {"target_pose": goal}, REST, scene(robot(pose=pose)), CART) is holds


@pytest.mark.parametrize("way", [0.01, 0.02, 0.05, 0.08, 0.1, 0.3])
@pytest.mark.parametrize("axis", range(3))
def test_no_tolerance_is_as_large_as_the_motion_that_is_asked(way, axis):
    """What has not moved, has gone the other way or has gone elsewhere shows no order of any length."""

    def off(at, by, along=axis):
        return [part + by * (n == along) for n, part in enumerate(at)]

    hand, cart = [0.4, 0.0, 0.6], [0.4, 0.2, 1.0]
    before, cart_before = scene(robot(extra={"ee_pose": hand}), APPLE, CAN), scene(robot(pose=tuple(cart)))
    for by, along, shown in [(0, axis, False), (-way, axis, False), (way, (axis + 1) % 3, False), (way, axis, True)]:
        cart_after = scene(robot(pose=tuple(off(cart, by, along))))
        things = [replace(one, position=tuple(off(one.position, by, along))) for one in (APPLE, CAN)]
        after = scene(robot(extra={"ee_pose": off(hand, by, along)}), *things)
        orders = [
            ("move_to", {"target_pose": off(hand, way)}, ARM),
            ("place", {"object_id": "apple_01", "target_position": off(APPLE.position, way)}, ARM),
        ]
        found = verdict("move_to", {"target_pose": off(cart, way)}, cart_before, cart_after, CART)
        assert (found is True) is shown, (by, along, found)
        if axis < 2:
            direction = [float(n == axis) for n in range(2)]
            orders.append(("push", {"object_id": "can_01", "direction": direction, "distance": way}, ARM))
        for op, params, profile in orders:
            found = verdict(op, params, before, after, profile)
            if op == "place" and axis == 2:  # its z may be the surface's, or the thing's middle or upper side
                assert not (found and by == way and along != axis), (op, by)
            else:
                assert (found is True) is shown, (op, by, along, found)


def laid(x, y, z=0.43):
    return scene(robot(), replace(APPLE, position=(x, y, z)), CAN)


@pytest.mark.parametrize(
    ("params", "after", "holds"),
    [
        ({"target_position": [0.5, -0.2, 0.43]}, laid(0.5, -0.21), True),
        ({"target_position": [0.5, -0.2, 0.43]}, laid(0.5, -0.3), None),
        ({"target_position": [0.5, -0.2, 0.43]}, laid(0.4, 0.1), False),
        ({"target_position": [0.5, -0.2, 0.43]}, laid(0.5, -0.2, 2.5), False),
        ({"target_position": [0.5, -0.2, 0.43]}, laid(0.5, -0.2, 0.52), None),
        ({"target_position": [0.5, -0.2, 0.43]}, laid(0.5, -0.2, 0.0), None),
        ({"target_position": [0.5, -0.2, 0.4]}, laid(0.5, -0.2), True),
        ({"target": "basket_01"}, laid(0.52, 0.31, 2.5), False),
        ({"target": "basket_01"}, laid(0.52, 0.31, 0.56), None),
        ({"target": "table_01"}, laid(0.6, -0.3, 2.5), False),
        ({"target": "table_01"}, laid(0.6, -0.3, 0.5), None),
        ({"target": "table_01"}, laid(0.4, -0.1, 0.53), None),
        ({"target": "basket_01"}, laid(0.52, 0.31), True),
        ({"target": "basket"}, laid(0.52, 0.31), True),
        ({"target": "basket_01"}, laid(0.4, -0.2), False),
        ({"target": "basket_01"}, laid(0.52, 0.31, -0.7), False),
        ({"target": "table_01"}, laid(0.6, -0.3), True),
        ({"target": "table_01"}, laid(0.6, -0.3, -0.73), False),
        ({"target": "basket_01"}, HELD, False),
        ({"target": "basket_01"}, scene(robot(), CAN), None),
        ({"target": "nowhere"}, laid(0.5, 0.3), None),
        ({"target": "basket_01", "target_position": [0.4, 0.2, 0.43]}, laid(0.59, 0.39), True),  # elsewhere in it
        ({"target": "basket_01", "target_position": [0.4, 0.2, 0.43]}, laid(0.4, -0.2), False),
        ({"target": "can_01", "target_position": [0.4, 0.2, 0.43]}, laid(0.59, 0.39), False),
        ({"object_id": "apple_01", "target": "basket_01"}, laid(0.5, 0.3), True),
        ({"object_id": "can_01", "target": "basket_01"}, laid(0.5, 0.3), False),
    ],
)
def test_what_is_placed_lies_there_and_is_what_was_named(params, after, holds):
    assert verdict("place", params, HELD, after) is holds


@pytest.mark.parametrize(
    ("opening", "turn", "at", "holds"),
    [
        (0.13, 0.0, (0.37, 0.3), True), (0.13, 180.0, (0.73, 0.3), True), (0.13, 0.0, (0.73, 0.3), False),
        (0.0, 0.0, (0.55, 0.3), True), (0.0, 0.0, (0.25, 0.3), False), (None, 0.0, (0.37, 0.3), None),
    ],
)  # fmt: skip
def test_what_is_put_into_a_drawer_is_looked_for_where_the_drawer_is_by_then(opening, turn, at, holds):
    extra = {} if opening is None else {"opening": opening}
    quat = (math.cos(math.radians(turn) / 2), 0.0, 0.0, math.sin(math.radians(turn) / 2))
    drawer = Thing("drawer_01", "drawer", "", (0.55, 0.3, 0.06), quat, (0.22, 0.24, 0.12), "drawer", status="open")
    drawer = replace(drawer, extra=extra)
    after = replace(scene(robot(), replace(APPLE, position=(*at, 0.06))), furniture=(TABLE, drawer))
    for point in ([0.55, 0.3, 0.15], None):
        params = {"target": "drawer_01"} if point is None else {"target": "drawer_01", "target_position": point}
        assert verdict("place", params, HELD, after) is holds


def test_what_another_robot_has_taken_meanwhile_says_nothing_of_the_place():
    taken = scene(robot(), replace(APPLE, position=(0.0, 0.9, 0.9)), others=(RobotState("r2", holding="apple_01"),))
    assert verdict("place", {"target": "basket_01"}, HELD, taken) is None


@pytest.mark.parametrize(("moved", "holds"), [(0.1, True), (0.0, False), (0.03, None)])
def test_what_is_pushed_has_moved_so_far(moved, holds):
    after = scene(robot(), replace(CAN, position=(0.4 + moved, -0.1, 0.45)))
    assert verdict("push", {"object_id": "can_01", "direction": "forward", "distance": 0.1}, REST, after) is holds


@pytest.mark.parametrize(
    ("direction", "moved", "turn", "holds"),
    [
        ("forward", (0.02, 0.0, 0.0), 0.0, True),
        ("left", (0.0, 0.02, 0.0), 0.0, True),
        ("right", (0.0, -0.02, 0.0), 0.0, True),
        ("Backward", (-0.02, 0.0, 0.0), 0.0, True),
        ("forward", (0.0, 0.02, 0.0), 1.5707963, True),
        ("forward", (0.02, 0.0, 0.0), 1.5707963, None),
        ([0, 3], (0.0, 0.02, 0.0), 0.0, True),
        ("forward", (0.0, 0.0, 0.0), 0.0, False),
        ("forward", (-0.02, 0.0, 0.0), 0.0, None),
        ("forward", (0.0, 0.0, 0.02), 0.0, None),
        ("forward", (0.02, 0.0, 0.3), 0.0, None),
        ("somewhere", (0.02, 0.0, 0.0), 0.0, None),
        ([0, 0], (0.02, 0.0, 0.0), 0.0, None),
        (["a", None], (0.02, 0.0, 0.0), 0.0, None),
        (None, (0.02, 0.0, 0.0), 0.0, None),
    ],
)
def test_a_push_goes_the_way_that_is_asked(direction, moved, turn, holds):
    own = robot(pose=(0.0, 0.0, 0.0, 0.0, 0.0, turn))
    pushed = replace(CAN, position=tuple(a + b for a, b in zip(CAN.position, moved, strict=True)))
    params = {"object_id": "can_01", "direction": direction, "distance": 0.02}
    assert verdict("push", params, scene(own, APPLE, CAN), scene(own, APPLE, pushed)) is holds


DIM = Operation("dim", shows=(("lamp.brightness", "level"), ("mode", "mode")))


@pytest.mark.parametrize(
    ("params", "extra", "holds"),
    [
        ({"level": 40}, {"lamp": {"brightness": 40.0}}, True),
        ({"level": 40}, {"lamp": {"brightness": 39.9}}, True),
        ({"level": 40}, {"lamp": {"brightness": 0}}, False),
        ({"level": 40}, {"lamp": {"brightness": True}}, False),
        ({"level": 40}, {}, False),
        ({"level": 40, "mode": "warm"}, {"lamp": {"brightness": 40}, "mode": "warm"}, True),
        ({"level": 40, "mode": "warm"}, {"lamp": {"brightness": 40}, "mode": "cold"}, False),
        ({"colour": "red"}, {"lamp": {"brightness": 40}}, None),
    ],
)
def test_an_operation_of_its_own_is_judged_by_what_it_declares_to_show(params, extra, holds):
    assert verdict("dim", params, REST, scene(robot(extra=extra)), operation=DIM) is holds
    assert verdict("dim", params, REST, scene(robot(extra=extra)), operation=Operation("dim")) is None


@pytest.mark.parametrize(("level", "shown", "holds"), [(0.005, 0.0, False), (0.005, 0.005, True), (0, 0.0, True)])
def test_a_number_that_has_not_changed_shows_no_small_change(level, shown, holds):
    before, after = (scene(robot(extra={"lamp": {"brightness": one}})) for one in (0.0, shown))
    assert verdict("dim", {"level": level}, before, after, operation=DIM) is holds


def test_a_robot_that_is_not_observed_has_shown_nothing():
    assert (
        verdict("pick_up", {"object_id": "apple_01"}, REST, Scene((RobotState("another", holding="apple_01"),))) is None
    )


@pytest.mark.parametrize("z", [0.0, 0.2, 0.75])
@pytest.mark.parametrize("shape", ["table", "box", ""])
def test_a_table_whose_page_gives_the_position_at_its_top_carries_what_rests_on_it(z, shape):
    table = replace(TABLE, position=(0.45, 0.0, z), size=(0.9, 1.2, 0.75), shape=shape)
    tops = (z, z + 0.375) if shape != "box" else (z + 0.375,)
    for top in tops:
        cube = replace(APPLE, position=(0.45, 0.1, top + 0.025))
        before, after = (Scene((own,), (cube,), (table,)) for own in (robot(holding="apple_01"), robot()))
        done = judge(Order("j", "r1", "place", {"target": "table_01"}), Observed(before, after, after, ARM))
        assert done.holds is True, (z, shape, top)
    fallen = replace(APPLE, position=(0.45, 0.1, z - 0.6))
    after = Scene((robot(),), (fallen,), (table,))
    assert judge(Order("j", "r1", "place", {"target": "table_01"}), Observed(before, after, after, ARM)).holds is False


def test_what_is_put_into_a_named_region_may_lie_anywhere_in_it():
    spot = Thing("spot_01", "spot", "", (0.5, -0.3, 0.4), size=(0.4, 0.4, 0.002), shape="region")
    params = {"target": "spot_01", "target_position": [0.35, -0.15, 0.43]}
    for at, holds in (((0.65, -0.45, 0.43), True), ((0.4, 0.3, 0.43), False)):
        after = replace(scene(robot(), replace(APPLE, position=at)), furniture=(TABLE, spot))
        assert verdict("place", params, HELD, after) is holds
