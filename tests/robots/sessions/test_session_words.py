"""A session's words and parameters are read, or refuse it: what is named is what is moved."""

from dataclasses import replace

import pytest

from worldfs.base.model import Cause, Finding, Outcome, RobotState, Scene, Skill, Target, Thing
from worldfs.base.model.skill import SIM
from worldfs.sessions.session_witness import SessionWitness, moved_instead
from worldfs.sessions.session_words import unknown_parameters, unnamed_things, with_named_thing, with_words
from worldfs.skills.skill_runtime import SkillParameters, SkillRequest

APPLE = Thing("apple_01", "red apple", "fruit", (0.4, 0.1, 0.43), size=(0.06,) * 3, shape="sphere")
CAN = Thing("can_01", "green can", "drink", (0.4, -0.1, 0.45), size=(0.06, 0.06, 0.1), shape="cylinder")
JUICE = Thing("juice_01", "apple juice", "drink", (0.5, -0.1, 0.45), size=(0.06, 0.06, 0.1), shape="box")
SCENE = Scene((), (APPLE, CAN, JUICE))
READS = SkillParameters(frozenset(("object_id", "object", "target_id", "nl_task", "task")), ("object_id", "object"),
                        tasks=frozenset(("pick",)))  # fmt: skip


def asked(words="", **params):
    return SkillRequest("s1", Skill("rekep_pick", "ReKepPolicyRuntime"), params, words)


@pytest.mark.parametrize(
    ("params", "words", "thing"),
    [
        ({"nl_task": "grab the green can"}, "", "can_01"),
        ({"nl_task": "pick up the apple"}, "", "apple_01"),
        ({"task": "pick up the apple juice"}, "", "juice_01"),
        ({}, "拿起绿色的罐子", "can_01"),
        ({"object_id": "apple_01"}, "", "apple_01"),
        ({"object_id": "apple_01", "nl_task": "pick up the red apple"}, "", "apple_01"),
        ({"object_id": "apple_01", "task": "pick"}, "", "apple_01"),
        ({"object": "red apple", "nl_task": "pick up the apple"}, "", None),
    ],
)
def test_words_name_the_thing_by_the_resolver_of_instructions(params, words, thing):
    read = with_words(asked(words, **params), READS, SCENE)
    assert isinstance(read, SkillRequest) and read.params.get("object_id") == thing


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"nl_task": "pick up the unicorn"}, "unicorn"),
        ({"task": "pick up the can opener"}, "opener"),
        ({"nl_task": "pick up the drink"}, "can"),
        ({"object_id": "apple_01", "nl_task": "pick up the green can"}, "can_01"),
    ],
)
def test_words_that_name_nothing_several_or_another_thing_refuse_the_session(params, found):
    refused = with_words(asked("", **params), READS, SCENE)
    assert isinstance(refused, Finding) and not refused.warning and found in refused.found
    assert refused.field.startswith("SESSIONS.md s1 execution.params.")


def test_a_skill_that_reads_words_itself_and_a_scene_without_things_leave_them_to_it():
    words = asked("", nl_task="pick up the unicorn")
    assert with_words(words, READS._replace(words=True), SCENE) is words
    assert (
        with_words(words, READS, Scene()) is words and with_words(words, SkillParameters(frozenset()), SCENE) is words
    )


@pytest.mark.parametrize("value", ["nothing_99", ["can_01"], [], {"id": "can_01"}, 7, "", "the drink"])
def test_an_object_that_the_target_does_not_have_refuses_the_session(value):
    refused = with_named_thing(asked("", object_id=value), READS, SCENE)
    assert isinstance(refused, Finding) and not refused.warning and refused.code == "UNKNOWN_OBJECT"
    assert "can_01" in refused.expected and refused.field == "SESSIONS.md s1 execution.params.object_id"


@pytest.mark.parametrize("value", ["can_01", "CAN_01", "green can", "Green Can", "the can"])
def test_an_object_is_named_by_its_id_its_name_or_in_words(value):
    assert with_named_thing(asked("", object_id=value), READS, SCENE).params["object_id"] == "can_01"


def test_a_target_that_lists_nothing_judges_the_name_itself():
    request = asked("", object_id="anything")
    assert with_named_thing(request, READS, Scene()) is request


def test_an_unknown_parameter_refuses_and_the_likely_one_is_named():
    (refused,) = unknown_parameters(asked("", objectid="can_01", note="for the guests", target_id=None), READS)
    assert (refused.code, refused.warning) == ("UNKNOWN_PARAMETER", False)
    assert "objectid" in refused.found and "object_id" in refused.fix


def moved(*things):
    return Scene((), things)


def test_what_a_drawer_takes_along_is_not_moved_in_its_place():
    drawer = Thing("drawer_01", "drawer", "furniture", (0.4, 0.1, 0.2), size=(0.3,) * 3)
    before, after = (Scene((), (one, CAN), (drawer,)) for one in (APPLE, at(APPLE, 0.6)))
    assert moved_instead("drawer_01", before, after) == []


def at(thing, x):
    return Thing(thing.id, thing.name, thing.category, (x, 0.1, 0.43), size=thing.size, shape=thing.shape)


@pytest.mark.parametrize(
    ("named", "after", "instead"),
    [
        ("apple_01", moved(at(APPLE, 0.9), CAN), []),
        ("apple_01", moved(APPLE, at(CAN, 0.9)), ["can_01"]),
        ("red apple", moved(APPLE, at(CAN, 0.9)), ["can_01"]),
        ("apple_01", moved(at(APPLE, 0.8), at(CAN, 0.9)), []),
        ("apple_01", moved(APPLE, CAN), []),
        ("unknown", moved(APPLE, at(CAN, 0.9)), ["can_01"]),
        ("unknown", moved(APPLE, CAN), []),
        ("APPLE_01", moved(APPLE, at(CAN, 0.9)), ["can_01"]),
        (["apple_01"], moved(APPLE, at(CAN, 0.9)), ["can_01"]),
        (["apple_01", "can_01"], moved(APPLE, at(CAN, 0.9)), ["can_01"]),
        (["apple_01", "can_01"], moved(at(APPLE, 0.8), at(CAN, 0.9)), []),
        (["apple_01", "can_01"], moved(APPLE, CAN), []),
        ("the apple", moved(APPLE, at(CAN, 0.9)), ["can_01"]),
        ("the can", moved(APPLE, at(CAN, 0.9)), []),
        (7, moved(APPLE, at(CAN, 0.9)), ["can_01"]),
    ],
)
def test_another_thing_that_moved_in_the_place_of_the_named_one_is_told(named, after, instead):
    assert moved_instead(named, moved(APPLE, CAN), after) == instead


NOTHING = [None, "", " ", True, 1.5, 7, {}, [], ["can_01", None], {"id": "can_01"}]


@pytest.mark.parametrize("name", ["object_id", "object", "thing", "target_object", "goods"])
@pytest.mark.parametrize("value", NOTHING, ids=repr)
def test_a_parameter_of_a_thing_that_is_written_and_names_none_refuses_the_session(name, value):
    (refused,) = unnamed_things(asked("", **{name: value}), ("goods",))
    assert not refused.warning and refused.field == f"SESSIONS.md s1 execution.params.{name}"
    assert refused.found == repr(value) and refused.fix
    assert not [*unnamed_things(asked("", **{name: "can_01"}), ("goods",))]
    assert not [*unnamed_things(asked("", **{name: ["can_01", "apple_01"]}, place=None), ("goods",))]


class Stage:
    """A target whose scene is another one after the skill."""

    target = Target("t", SIM)

    def __init__(self, after):
        self.scenes = [SCENE, after]

    def scene(self):
        return self.scenes.pop(0)


@pytest.mark.parametrize(
    ("after", "named", "cause"),
    [
        (SCENE, "apple_01", None),
        (Scene((), (CAN, JUICE)), "apple_01", Cause.UNMEASURED),
        (Scene((), (CAN, JUICE)), "red apple", Cause.UNMEASURED),
        (Scene((), (CAN, JUICE)), ["can_01", "apple_01"], Cause.UNMEASURED),
        (Scene(), "apple_01", Cause.UNMEASURED),
        (SCENE, "pear_99", Cause.UNMEASURED),
        (Scene((), (CAN, JUICE)), "can_01", Cause.UNMEASURED),
        (Scene((), (APPLE, at(CAN, 0.9))), "can_01", None),
        (Scene((), (APPLE, CAN, replace(JUICE, id="juice_01_b"))), "apple_01", Cause.UNMEASURED),
        (
            Scene((), (APPLE, CAN, JUICE, replace(JUICE, id="new_03", position=(0.0, 0.3, 0.4)))),
            "can_01",
            Cause.UNMEASURED,
        ),
        (Scene((RobotState("t", (0.0, 0.0, 0.0), holding="can_01"),), (APPLE, JUICE)), "apple_01", Cause.UNMEASURED),
        (Scene((), (at(APPLE, 0.8), CAN)), ["apple_01", "can_01"], Cause.ERROR),
        (Scene((), (at(APPLE, 0.8), at(CAN, 0.9))), ["apple_01", "can_01"], None),
        (Scene((RobotState("t", (0.0, 0.0, 0.0), holding="apple_01"),), (CAN, JUICE)), "apple_01", None),
        (Scene((), (APPLE, replace(CAN, position=(0.9, 0.0, 0.45)), JUICE)), "apple_01", Cause.ERROR),
    ],
)
def test_a_success_with_the_named_thing_gone_from_the_target_s_scene_was_not_measured(after, named, cause):
    ended = SessionWitness(asked("", object_id=named), Stage(after), object(), None).settled(Outcome.success("done"))
    assert (ended.ok, ended.cause) == (cause is None, cause)
    if cause is Cause.UNMEASURED:
        others = {thing.id for thing in SCENE.objects} ^ {thing.id for thing in after.objects}
        assert any(id in ended.message for id in (*others, "pear_99"))


@pytest.mark.parametrize("later", [(APPLE,), ()])
def test_things_that_a_target_lists_only_once_it_has_begun_came_from_nowhere(later):
    stage = Stage(Scene((), later))
    stage.scenes[0] = Scene()
    ended = SessionWitness(asked("", object_id="apple_01"), stage, object(), None).settled(Outcome.success("done"))
    assert ended.ok


OTHER_WORDS = [
    {"object_ids": ["apple_01"]}, {"nl_task": "pick up the apple_01"}, {"target": "apple_01"},
    {"things": ["red apple"]}, {"item": {"obj": "RED APPLE"}},
    {"prompt": "pick up the apple_01, please"}, {"task": "pick up the apple"},
]  # fmt: skip
CAN_MOVED = Scene((), (APPLE, replace(CAN, position=(0.9, 0.0, 0.45)), JUICE))
FAR = replace(APPLE, position=(0.9, 0.3, 0.43))


def ended_after(after, words="", **params):
    return SessionWitness(asked(words, **params), Stage(after), object(), None).settled(Outcome.success("done"))


@pytest.mark.parametrize("params", OTHER_WORDS, ids=repr)
def test_a_thing_that_is_named_in_whatever_words_and_another_one_moved_is_no_success(params):
    ended = ended_after(CAN_MOVED, **params)
    assert (ended.ok, ended.cause) == (False, Cause.UNMEASURED)
    assert "apple_01" in ended.message and "can_01" in ended.message
    assert ended_after(Scene((), (FAR, CAN, JUICE)), **params).ok and ended_after(SCENE, **params).ok
    assert ended_after(Scene((), (FAR, replace(CAN, position=(0.9, 0.0, 0.45)), JUICE)), **params).ok


def test_the_words_of_a_task_name_what_is_to_be_moved():
    assert ended_after(CAN_MOVED, "pick up the apple_01").cause is Cause.UNMEASURED
    assert ended_after(CAN_MOVED, "pick up the green can").ok and ended_after(CAN_MOVED, "tidy up").ok


def test_a_thing_that_says_where_to_is_not_to_be_moved():
    beside = Scene((), (APPLE, replace(CAN, position=(0.5, 0.1, 0.45)), JUICE))
    assert ended_after(beside, place="apple_01").ok and ended_after(CAN_MOVED, note="apple_01", speed=[1, None]).ok
    assert ended_after(CAN_MOVED, item="can_01", place="apple_01").ok
