"""The judge of a fleet's history accepts a sound one, and rejects each planted violation and an empty one."""

import pytest

from worldfs.testing.fleet_history import FleetEvent as E
from worldfs.testing.fleet_history import judge

SOUND = (
    E("lease", node="arm", host="a", epoch=3),
    E("submit", "one"),
    E("submit", "two", repeatable=True),
    E("submit", "three"),
    E("claim", "one", thing="cup"),
    E("begin", "one", "arm", "a", 3),
    E("done", "one", "arm", "a", 3),
    E("end", "one", "arm", "a", 3, "succeeded"),
    E("free", "one", thing="cup"),
    E("begin", "two", "arm", "a", 3),
    E("unlease", node="arm", host="a", epoch=3),
    E("lease", node="arm", host="b", epoch=7),
    E("claim", "two", thing="cup"),
    E("begin", "two", "arm", "b", 7),
    E("done", "two", "arm", "b", 7),
    E("free", "two", thing="cup"),
    E("end", "two", "arm", "b", 7, "succeeded"),
    E("end", "three", "arm", "b", 7, "cancelled"),
    E("unlease", node="arm", host="b", epoch=7),
)


def _without(number):
    return (*SOUND[:number], *SOUND[number + 1 :])


def _with(number, *events):
    return (*SOUND[:number], *events, *SOUND[number:])


PLANTED = {
    "a mission is lost": (_without(7), "one was lost"),
    "a mission ends twice": (_with(8, SOUND[7]), "one ended twice"),
    "another end after the first": (_with(14, E("end", "one", "arm", "b", 7, "lost")), "one ended twice"),
    "a mission is executed twice": (_with(6, SOUND[5]), "one was executed twice"),
    "a mission is executed twice after a halt": (_with(6, E("halt", "one"), SOUND[5], SOUND[5]), "executed twice"),
    "a mission is halted after it was done": (_with(7, E("halt", "one"), SOUND[5]), "one was halted, and did not"),
    "a mission is done twice": (_with(7, SOUND[6]), "one was done twice"),
    "a mission begins after its end": (_with(17, SOUND[13]), "two was begun after its end"),
    "a mission begins and was never accepted": (_with(5, E("begin", "four", "arm", "a", 3)), "never accepted"),
    "a mission ends and was never accepted": (_with(5, E("end", "four", "arm", "a", 3, "lost")), "never accepted"),
    "a mission is accepted twice": (_with(4, SOUND[1]), "one was accepted twice"),
    "succeeded without a body": (_without(6), "its body did not do it"),
    "done and never begun": (_without(5), "never begun"),
    "rejected after it moved": (
        (*SOUND[:7], SOUND[7]._replace(result="rejected"), *SOUND[8:]), "its body had moved",
    ),
    "an end without a result": ((*SOUND[:17], SOUND[17]._replace(result=""), *SOUND[18:]), "without a result"),
    "a body moves under an epoch that nobody had": (_with(5, E("begin", "three", "arm", "a", 4)), "never had"),
    "a stalled kernel moves a body": (_with(14, E("begin", "three", "arm", "a", 3)), "under epoch 3 after 7"),
    "a stalled kernel writes an end": (
        (*SOUND[:16], SOUND[16]._replace(epoch=3), *SOUND[17:]), "under epoch 3, which was over",
    ),
    "two holders of one lease": (_without(10), "two holders"),
    "an epoch that goes back": (
        (*SOUND[:11], E("lease", node="arm", host="c", epoch=2), E("unlease", node="arm", host="c", epoch=2),
         *SOUND[11:]), "epoch 2 after 3",
    ),
    "an epoch given twice": (
        (*SOUND[:11], E("lease", node="arm", host="c", epoch=3), E("unlease", node="arm", host="c", epoch=3),
         *SOUND[11:]), "was given twice",
    ),
    "a lease given back by another": (
        (*SOUND[:18], SOUND[18]._replace(host="c"), SOUND[18]), "does not hold",
    ),
    "a thing claimed by two": (_with(6, E("claim", "two", thing="cup")), "claimed by one and two"),
    "a thing freed by another": (_with(8, E("free", "two", thing="cup")), "did not claim it"),
    "a thing that stays claimed": (_without(15), "still claimed"),
    "a thing claimed after the end": (
        _with(18, E("claim", "one", thing="pen"), E("free", "one", thing="pen")), "after its end",
    ),
    "an event that nobody knows": (_with(3, E("teleport", "one")), "unknown event"),
}  # fmt: skip


def test_a_sound_history_is_accepted():
    assert judge(SOUND) == []


def test_a_mission_that_was_halted_may_be_begun_again():
    assert judge(_with(6, E("halt", "one"), SOUND[5])) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_is_rejected(name):
    history, said = PLANTED[name]
    assert any(said in sentence for sentence in judge(history)), judge(history)


def test_at_least_twenty_violations_are_planted():
    assert len(PLANTED) >= 20


def test_an_empty_history_is_rejected():
    assert judge([]) == ["the history is empty: nothing was submitted"]
    assert judge([E("lease", node="arm", host="a", epoch=1)])
