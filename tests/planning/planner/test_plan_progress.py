"""An execution that was broken off after any of its orders is gone on with, and no order is given twice."""

from __future__ import annotations

from copy import deepcopy

import pytest

from worldfs.planning.planner import CommandIntent, Planner, PlanProgress, about_robot, interpret, unmet_goals

TEXTS = (
    "go home",
    "put the apple in the basket, then wave",
    "wave, then go home, then wave",
    "put the apple in the basket, then put it at (0.5, 0.2), then go home",
    "wave, then put the can in the basket and the red cube in the basket, then go home",
    "go to (0.3, 0.1, 0.3), then go to (0.4, 0.1, 0.3)",
    "把苹果放进篮子里，然后把它放到桌子上",
)


class Broken(BaseException):
    """The process is killed."""


def signs(world):
    return [(order.op, order.params) for order in world.log]


def broken_off(world, text, count):
    """Killed when its order of that number has ended; what was noted of it."""

    def kill(id, stop):
        status = wait(id, stop)
        if len(world.log) == count:
            raise Broken
        return status

    wait, world.wait = world.wait, kill
    with pytest.raises(Broken):
        Planner(world).run(text)
    world.wait = wait
    stage, reached, reaches = world.progressed[-1]
    return PlanProgress(stage, (*reached, *reaches))


@pytest.mark.slice(2)
@pytest.mark.parametrize("text", TEXTS)
def test_what_was_reached_is_not_done_once_more(world, text):
    whole = deepcopy(world)
    assert Planner(whole).run(text).ok
    for count in range(1, len(whole.log) + 1):
        later = deepcopy(world)
        later.before_progress = broken_off(later, text, count)
        report = Planner(later).run(text)
        assert report.ok, (count, report.reason)
        assert signs(later) == signs(whole), f"after {count} orders"


def test_without_what_was_noted_a_robot_is_sent_once_more(world):
    broken_off(world, "wave, then go home", 2)
    assert Planner(world).run("wave, then go home").ok
    assert [order.params for order in world.log] == [{"name": "wave"}, {"name": "home"}] * 2


@pytest.mark.parametrize("count", [1, 2])
def test_the_goals_that_are_left_are_told_without_a_plan(world, count):
    text = "wave, then go home"
    progress = broken_off(world, text, count)
    command = interpret(text, world.scene(), profile=world.profile(), robot_id=world.robot_id)
    assert isinstance(command, CommandIntent)
    assert len(unmet_goals(command, progress, world.scene(), world.robot_id)) == 2 - count
    assert about_robot(progress.reached) and not about_robot(("0 InGoal apple_01 basket_01 1",))


def test_a_thing_that_was_taken_away_again_is_brought_once_more(world):
    """What must last is judged by the scene, whatever was noted."""
    text = "put the apple in the basket, then wave"
    progress = broken_off(world, text, 3)
    world.pick("apple_01")
    command = interpret(text, world.scene(), profile=world.profile(), robot_id=world.robot_id)
    assert len(unmet_goals(command, progress, world.scene(), world.robot_id)) == 1
