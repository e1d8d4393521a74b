"""One lane: no robot meets another head to head, all arrive, and each decision says why."""

import random

import pytest

from worldfs.fleet import lanes
from worldfs.fleet.lanes import Lane, LaneDecision, Traveller, decide_lane


def head_on(seed):
    """A lane, and robots that want to go through it both ways; some are in it already."""
    rng = random.Random(seed)  # the same cases at every run
    length = rng.randint(2, 12)
    lane = Lane("aisle", length, frozenset(rng.sample(range(length), rng.randint(0, length // 2))))
    cells = rng.sample(range(length), min(length, rng.randint(0, 5)))
    robots = []
    for number in range(max(2, len(cells) + rng.randint(0, 3))):
        way = (1, -1)[number] if number < 2 else rng.choice((1, -1))
        inside = number < len(cells)
        cell = cells[number] if inside else (-1 if way > 0 else length)
        rank = (rng.randint(0, 2), f"2026-11-22T12:{rng.randint(0, 59):02d}", f"m{number}")
        robots.append(Traveller(f"r{number}", cell, way, rank))
    return lane, robots


def drive(lane, robots, decide=decide_lane):
    """Move until all have arrived. Returns the decisions; raises at a collision or when nothing moves any more."""
    told, most = [], 40 * (lane.length + 2) * len(robots)
    for _ in range(most):
        gone = {robot.robot for robot in robots if robot.cell == (lane.length if robot.direction > 0 else -1)}
        if len(gone) == len(robots):
            return told
        decisions = {item.robot: item for item in decide(lane, [r for r in robots if r.robot not in gone])}
        told += decisions.values()
        after = [
            r._replace(cell=decisions[r.robot].cell, aside=decisions[r.robot].aside) if r.robot in decisions else r
            for r in robots
        ]
        check(lane, robots, after)
        robots = after
    raise AssertionError("deadlock: not all have arrived")


def check(lane, before, after):
    places = [(r.cell, r.aside) for r in after if 0 <= r.cell < lane.length]
    assert len(places) == len(set(places)), f"collision: {after}"
    moves = {(a.cell, b.cell) for a, b in zip(before, after, strict=True) if a.cell != b.cell}
    assert not any((there, here) in moves for here, there in moves), f"head on: {before} {after}"
    assert all(abs(a.cell - b.cell) <= 1 for a, b in zip(before, after, strict=True))
    assert all(r.cell in lane.passing for r in after if r.aside)


@pytest.mark.parametrize("seed", range(100))
def test_a_hundred_head_on_cases_end_without_deadlock_and_collision(seed):
    told = drive(*head_on(seed))
    assert all(item.reason and item.verdict in ("go", "wait", "aside", "back") for item in told)
    assert all(item.over for item in told if item.verdict in ("wait", "aside", "back"))


def test_the_robot_of_the_lower_rank_steps_into_the_passing_place_or_backs_out():
    east, west = Traveller("a", 1, 1, (0, "1", "a")), Traveller("b", 2, -1, (1, "0", "b"))
    first = {item.robot: item for item in decide_lane(Lane("aisle", 4, frozenset({2})), [east, west])}
    assert (first["b"].verdict, first["b"].over) == ("aside", ("a",))
    assert (first["a"].verdict, first["a"].cell) == ("go", 2)
    bare = {item.robot: item for item in decide_lane(Lane("aisle", 4), [east, west])}
    assert (bare["b"].verdict, bare["b"].cell) == ("back", 3)


def test_one_waits_outside_while_the_other_comes():
    east, west = Traveller("a", 1, 1, (1, "1", "a")), Traveller("b", 4, -1, (0, "0", "b"))
    found = {item.robot: item for item in decide_lane(Lane("aisle", 4), [east, west])}
    assert (found["b"].verdict, found["b"].cell) == ("wait", 4)
    assert "a comes the other way" in found["b"].reason
    follower = Traveller("c", -1, 1, (2, "2", "c"))
    found = {item.robot: item for item in decide_lane(Lane("aisle", 4), [east, west, follower])}
    assert (found["c"].verdict, found["c"].over) == ("wait", ("b",))  # b has the higher priority


def careless(lane, robots):
    """Everybody goes on."""
    return [LaneDecision(r.robot, "go", r.cell + r.direction, False, "I want to") for r in robots]


def patient(lane, robots):
    """Everybody waits for those that come the other way: what the best-known open system does."""
    return [
        LaneDecision(r.robot, "wait", r.cell, r.aside, "somebody comes", ("x",))
        if any(o.direction != r.direction and 0 <= o.cell < lane.length for o in robots)
        else LaneDecision(r.robot, "go", r.cell + r.direction, False, "free")
        for r in robots
    ]


@pytest.mark.parametrize(("decide", "seen"), [(careless, "collision|head on"), (patient, "deadlock|head on|collision")])
def test_the_simulation_sees_a_planted_fault(decide, seen):
    caught = 0
    for seed in range(100):
        try:
            drive(*head_on(seed), decide)
        except AssertionError as error:
            caught += any(word in str(error) for word in seen.split("|"))
    assert caught >= 40


def test_the_simulation_sees_the_lane_turned_round_too_early(monkeypatch):
    def newest(lane, travellers):
        found = [item for item in travellers if lanes._wants(lane, item)] or list(travellers)
        return (found[-1].direction, found[-1]) if found else (0, None)

    monkeypatch.setattr(lanes, "lane_direction", newest)
    with pytest.raises(AssertionError):
        for seed in range(100):
            drive(*head_on(seed))
