"""Things, lanes and air that several robots want: one holder each, no circle of waits, a reason for each decision."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.fleet.reservations import Reservation, ReservationTable, ReservedKind


def thing(name):
    return Reservation(ReservedKind.OBJECT, name)


def lane(name, direction):
    return Reservation(ReservedKind.LANE, name, direction)


def space(*box):
    return Reservation(ReservedKind.SPACE, box=tuple(map(float, box)))


def rank(number, priority=1):
    return (priority, f"{number:04d}", f"m{number}")


class Robot:
    """Takes things one after the other, keeps all of them until it has worked with the last."""

    def __init__(self, rng, number, names):
        self.id, self.rank = f"m{number}", (rng.randint(0, 2), f"{rng.randint(0, 9)}", f"m{number}")
        self.wants = [thing(name) for name in rng.sample(names, rng.randint(1, len(names)))]
        self.at, self.work = 0, rng.randint(0, 2)

    @property
    def over(self):
        return self.at > len(self.wants)


def shared_objects(seed, table=None):
    """Play one case to its end. Returns the decisions; raises when two hold one thing, or nobody goes on."""
    rng = random.Random(seed)  # the same cases at every run
    names = [f"cup_{n}" for n in range(rng.randint(1, 4))]
    robots = [Robot(rng, number, names) for number in range(rng.randint(2, 6))]
    table = table or ReservationTable()
    told, asked, quiet = [], set(), 0
    while not all(robot.over for robot in robots):
        before = [(robot.at, table.held(robot.id)) for robot in robots]
        for robot in rng.sample(robots, len(robots)):
            if robot.at < len(robot.wants) and robot.id not in asked:
                table.request(robot.id, robot.rank, [robot.wants[robot.at]])
                asked.add(robot.id)
        decisions = table.decide()
        told += decisions
        for item in decisions:
            robot = next(robot for robot in robots if robot.id == item.holder)
            if item.verdict == "yield":
                robot.at = 0
            if item.verdict == "granted":
                robot.at = sum(want in table.held(robot.id) for want in robot.wants)
                asked.discard(robot.id)
        held = [want for robot in robots for want in table.held(robot.id)]
        assert len(held) == len(set(held)), "collision: two hold one thing"
        for robot in robots:
            if robot.at == len(robot.wants):
                robot.work -= 1
                if robot.work < 0:
                    table.release(robot.id)
                    robot.at += 1
        quiet = quiet + 1 if before == [(robot.at, table.held(robot.id)) for robot in robots] else 0
        assert quiet < 10, "deadlock: nobody goes on"
    return told


@pytest.mark.parametrize("seed", range(100))
def test_a_hundred_shared_object_cases_end_without_deadlock_and_collision(seed):
    told = shared_objects(seed)
    assert all(item.reason for item in told)
    assert all(item.over for item in told if item.verdict in ("wait", "yield"))
    assert not any(item.verdict == "blocked" for item in told)


def test_some_of_the_hundred_cases_are_deadlocks():
    assert sum(any(item.verdict == "yield" for item in shared_objects(seed)) for seed in range(100)) >= 10


def caught(word):
    found = 0
    for seed in range(100):
        try:
            shared_objects(seed)
        except AssertionError as error:
            found += word in str(error)
    return found


def test_the_simulation_sees_two_holders(monkeypatch):
    monkeypatch.setattr(Reservation, "conflicts", lambda self, other: False)
    assert caught("collision") >= 50


def test_the_simulation_sees_a_circle_that_nobody_opens(monkeypatch):
    monkeypatch.setattr(ReservationTable, "_circle", lambda self, *but: None)
    assert caught("deadlock") >= 10


def test_of_two_that_wait_for_each_other_the_lower_priority_gives_up_what_it_holds():
    table = ReservationTable()
    table.request("a", rank(1, 0), [thing("cup")])
    table.request("b", rank(2, 1), [thing("plate")])
    assert [item.verdict for item in table.decide()] == ["granted", "granted"]
    table.request("a", rank(1, 0), [thing("plate")])
    table.request("b", rank(2, 1), [thing("cup")])
    told = {item.verdict: item for item in table.decide()}
    assert (told["yield"].holder, told["yield"].over) == ("b", ("a",))
    assert "deadlock of" in told["yield"].reason
    assert table.held("a") == {thing("cup"), thing("plate")}
    assert table.held("b") == set()
    table.release("a")
    assert [item.holder for item in table.decide()] == ["b"]
    assert table.held("b") == {thing("cup"), thing("plate")}


def test_what_a_gripper_holds_is_not_given_up_and_the_other_one_yields():
    table = ReservationTable()
    table.request("a", rank(1, 0), [thing("cup")])
    table.request("b", rank(2, 1), [thing("plate")])
    table.decide()
    table.pin("b", [thing("plate")])
    table.request("a", rank(1, 0), [thing("plate")])
    table.request("b", rank(2, 1), [thing("cup")])
    assert {item.verdict: item.holder for item in table.decide()}["yield"] == "a"
    table.release("b")
    table.decide()
    table.pin("a", [thing("plate"), thing("cup")])
    assert table.held("a") == {thing("plate"), thing("cup")}


def test_where_nobody_can_give_up_anything_a_person_is_told_once():
    table = ReservationTable()
    for id, name in (("a", "cup"), ("b", "plate")):
        table.request(id, rank(1), [thing(name)])
        table.decide()
        table.pin(id, [thing(name)])
    table.request("a", rank(1), [thing("plate")])
    table.request("b", rank(2), [thing("cup")])
    assert [item.verdict for item in table.decide()][-1] == "blocked"
    assert table.decide() == []
    table.release("b", [thing("plate")])
    assert next((item.holder, item.verdict) for item in table.decide()) == ("a", "granted")


def test_a_lane_has_one_direction_and_space_is_not_shared():
    assert lane("aisle", 1).conflicts(lane("aisle", -1))
    assert not lane("aisle", 1).conflicts(lane("aisle", 1))
    assert lane("aisle", 0).conflicts(lane("aisle", 0))
    assert space(0, 0, 0, 1, 1, 1).conflicts(space(0.5, 0.5, 0.5, 2, 2, 2))
    assert not space(0, 0, 0, 1, 1, 1).conflicts(space(1, 0, 0, 2, 1, 1))
    assert not thing("aisle").conflicts(lane("aisle", 1))


@pytest.mark.parametrize(("y", "taken"), [(0.6, True), (0.8, False)])
def test_who_stands_beside_a_way_leaves_the_room_about_both(y, taken):
    way = Reservation(ReservedKind.WAY, box=(0.0, 0.0, 4.0, 0.0, 0.5))
    place = Reservation(ReservedKind.PLACE, box=(1.8, y - 0.2, 2.2, y + 0.2))
    assert way.conflicts(place) is place.conflicts(way) is taken


def test_who_holds_nothing_does_not_overtake():
    table = ReservationTable()
    table.request("first", rank(1), [thing("cup")])
    table.decide()
    table.request("big", rank(2), [thing("cup"), thing("plate")])
    table.request("small", rank(3), [thing("plate")])
    told = {item.holder: item for item in table.decide()}
    assert (told["small"].verdict, told["small"].over) == ("wait", ("big",))


NAMES = st.sampled_from("abcd")
WISHES = st.lists(
    st.tuples(st.integers(0, 4), st.frozensets(NAMES, min_size=1, max_size=3), st.booleans()), max_size=30
)


@example([(0, {"b"}, False), (1, {"b", "c"}, False), (2, {"a"}, False), (0, {"a"}, False), (2, {"c"}, False)])
@given(WISHES)
def test_whatever_is_asked_and_released_no_two_hold_what_conflicts_and_no_circle_stays(wishes):
    table = ReservationTable()
    for number, names, release in wishes:
        id = f"m{number}"
        if release:
            table.release(id)
        else:
            table.request(id, rank(number), [thing(name) for name in names])
        table.decide()
        held = [(holder, item) for holder in map("m{}".format, range(5)) for item in table.held(holder)]
        assert len({item for _, item in held}) == len(held)
        assert table._circle(set()) is None
        assert table.decide() == []  # what is decided is not decided again
    waiting = table.waits_for()
    assert all(ahead for ahead in waiting.values())  # who waits for nobody was granted


def test_a_place_is_free_only_where_no_other_holds_it_and_its_asker_does_not_wait_for_it():
    table, here, there = ReservationTable(), space(0, 0, 0, 1, 1, 1), space(5, 5, 5, 6, 6, 6)
    table.add("a", [here])
    assert not table.free([here], "b", "b") and table.free([there], "b", "b") and table.free([here], "b", "a")
    assert not table.waiting
    table.request("b", rank(1), [here, there])
    table.decide()
    assert table.waiting and not table.free([there], "b", "a")
