"""English sentences: what is an order, what is a question, and what must never move a robot."""

from __future__ import annotations

import pytest

from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import (
    AtGoal,
    BesideGoal,
    ClearedGoal,
    DownGoal,
    GripperGoal,
    HoldingGoal,
    HomeGoal,
    InGoal,
    OnGoal,
    PlacedGoal,
    SeenGoal,
)

BOX = "basket_01"
ALL = ("apple_01", "cube_01", "cube_02", "can_01")
CLEAR = (*(InGoal(id, BOX) for id in ALL), ClearedGoal("table_01", (), (BOX,)))


def no(*spared):
    return (*(InGoal(id, BOX) for id in ALL if id not in spared), ClearedGoal("table_01", spared, (BOX,)))


COMMANDS = {
    "clear the table": CLEAR,
    "Clear the table.": CLEAR,
    "clear up the table, please": CLEAR,
    "tidy the table up": CLEAR,
    "tidy up": CLEAR,
    "yes. clear the table": CLEAR,
    "please clean up the desk now": CLEAR,
    "Could you clear the table?": CLEAR,
    "can you please clear the table": CLEAR,
    "would you please tidy up the table, thank you": CLEAR,
    '"clear the table"': CLEAR,
    "clear the table 🙂": CLEAR,
    "CLEAR THE TABLE!!!": CLEAR,
    "clear the table into the basket": CLEAR,
    "clear the table except the apple": no("apple_01"),
    "clear the table but not the apple": no("apple_01"),
    "clear the table apart from the can and the apple": no("can_01", "apple_01"),
    "clear the table but don't touch the can": no("can_01"),
    "clear the table without touching the can": no("can_01"),
    "clear the table and leave the can alone": no("can_01"),
    "Clear the table. Do not move the apple.": no("apple_01"),
    "clear the table except the cubes": no("cube_01", "cube_02"),
    "put the apple in the basket": (InGoal("apple_01", BOX),),
    "put the apple into the basket": (InGoal("apple_01", BOX),),
    "place apple_01 in basket_01": (InGoal("apple_01", BOX),),
    "put the red apple inside the brown basket": (InGoal("apple_01", BOX),),
    'put the "red apple" in the basket': (InGoal("apple_01", BOX),),
    "put the fruit in the basket": (InGoal("apple_01", BOX),),
    "move the can to the basket": (InGoal("can_01", BOX),),
    "take the apple to the basket": (InGoal("apple_01", BOX),),
    "put the can away": (InGoal("can_01", BOX),),
    "drop the can in the basket": (InGoal("can_01", BOX),),
    "put the red cube in the basket": (InGoal("cube_02", BOX),),
    "put cube 1 in the basket": (InGoal("cube_01", BOX),),
    "put the apple and the can in the basket": (InGoal("apple_01", BOX), InGoal("can_01", BOX)),
    "put the apple, the can and the blue cube in the basket": (
        InGoal("apple_01", BOX),
        InGoal("can_01", BOX),
        InGoal("cube_01", BOX),
    ),
    "put both cubes in the basket": (InGoal("cube_01", BOX), InGoal("cube_02", BOX)),
    "put the two cubes in the basket": (InGoal("cube_01", BOX), InGoal("cube_02", BOX)),
    "put the cubes in the basket": (InGoal("cube_01", BOX), InGoal("cube_02", BOX)),
    "put every cube in the basket": (InGoal("cube_01", BOX), InGoal("cube_02", BOX)),
    "put the red and blue cubes in the basket": (InGoal("cube_02", BOX), InGoal("cube_01", BOX)),
    "put all red things in the basket": (InGoal("apple_01", BOX), InGoal("cube_02", BOX)),
    "put everything in the basket": tuple(InGoal(id, BOX) for id in ALL),
    "put everything but the apple in the basket": tuple(InGoal(id, BOX) for id in ALL[1:]),
    "put all the objects in the basket except the cubes": (InGoal("apple_01", BOX), InGoal("can_01", BOX)),
    "put a cube in the basket": (InGoal("cube_01", BOX),),
    "put the apple on the table in the basket": (InGoal("apple_01", BOX),),
    "put the apple in the basket and the can on the blue cube": (InGoal("apple_01", BOX), OnGoal("can_01", "cube_01")),
    "put the can on the blue cube": (OnGoal("can_01", "cube_01"),),
    "put the apple next to the can": (BesideGoal("apple_01", "can_01"),),
    "put the apple at (0.5, 0.2)": (PlacedGoal("apple_01", (0.5, 0.2)),),
    "pick up the apple": (HoldingGoal("apple_01"),),
    "pick the apple up": (HoldingGoal("apple_01"),),
    "grab the can from the table": (HoldingGoal("can_01"),),
    "bring me the apple": (HoldingGoal("apple_01"),),
    "pick up the apple and put it in the basket": (InGoal("apple_01", BOX),),
    "take the apple from the table, then put it in the basket": (InGoal("apple_01", BOX),),
    "pick up the apple and put it down": (HoldingGoal("apple_01"), DownGoal("apple_01")),
    "stack the cubes": (OnGoal("cube_02", "cube_01"),),
    "stack the red cube on the blue cube": (OnGoal("cube_02", "cube_01"),),
    "stack the can on the red cube": (OnGoal("can_01", "cube_02"),),
    "go home": (HomeGoal(),),
    "pick up the can except the apple": (HoldingGoal("can_01"),),
    "put the apple and not the can in the basket": (InGoal("apple_01", BOX),),
    "clear everything off the table": tuple(InGoal(id, BOX) for id in ALL),
    "look at everything on the table except the cubes": (SeenGoal("apple_01"), SeenGoal("can_01")),
    "move the arm to (0.4, 0.0, 0.4)": (AtGoal((0.4, 0.0, 0.4)),),
    "Please go home now.": (HomeGoal(),),
    "move to (0.4, 0.1, 0.4)": (AtGoal((0.4, 0.1, 0.4)),),
    "go to 0.4, -0.1, 0.3": (AtGoal((0.4, -0.1, 0.3)),),
    "move above the can": (AtGoal((0.6, 0.0, 0.26), "can_01"),),
    "look at the apple": (SeenGoal("apple_01"),),
    "find the can and go home": (SeenGoal("can_01"), HomeGoal()),
    "open the gripper": (GripperGoal("open"),),
    "close your gripper": (GripperGoal("closed"),),
}

REFUSED = {
    "": "empty",
    "   ": "empty",
    "🙂": "empty",
    "do not clear the table": "negation",
    "don't clear the table": "negation",
    "Don’t clear the table": "negation",
    "dont clear the table": "negation",
    "never clear the table": "negation",
    "please do not clear the table": "negation",
    "Do not go home yet": "negation",
    "don't forget not to clear the table": "negation",
    "don't forget that the can is on the table": "negation",
    "forget to clear the table": "negation",
    "clear the table, not": "negation",
    "clear the table. No, wait.": "negation",
    "stop clearing the table": "negation",
    "stop. clear the table": "negation",
    "clear the table 不": "negation",
    "can you not clear the table": "negation",
    "clear the table but don't": "negation",
    "put the apple in the basket and don't touch the apple": "negation",
    "don't touch the can and put the apple in the basket": "negation",
    "put the apple in the basket and don't touch the can and go home": "negation",
    "no one should clear the table": "negation",
    "leave the table alone": "negation",
    "clear the table 🚫": "negation",
    "if the table is dirty, clear it": "conditional",
    "clear the table if it is dirty": "conditional",
    "clear the table tomorrow": "conditional",
    "maybe clear the table": "conditional",
    "he cleared the table": "report",
    'he said "clear the table"': "report",
    "they told me to clear the table": "report",
    "cleared the table": "report",
    "good": "unknown",
    "clear": "unknown",
    "put the apple": "unknown",
    "clear the table gently": "unknown",
    "sudo rm -rf the table": "unknown",
    "clear the tablet": "unknown",
    "put the tall can in the basket": "ambiguous",
    "put the red in the basket": "unknown",
    "put the banana in the basket": "missing",
    "put all bananas in the basket": "missing",
    "put the apple in the bowl": "missing",
    "put the green cube in the basket": "missing",
    "put it down": "ambiguous",
    "put the cube in the basket": "ambiguous",
    "put the red one in the basket": "ambiguous",
    "put both apples in the basket": "ambiguous",
    "pick up the apple and the can": "impossible",
    "pick up the basket": "impossible",
    "put the can on the apple": "impossible",
    "put the apple in the can": "impossible",
    "put the apple in the basket and clear the": "unknown",
    "move to (0.4, 0.1)": "unknown",
    "put the apple in the basket and": "unknown",
    "go to the table but not the apple": "negation",
    "put the apple in the basket or the can": "unknown",
    "sort the cubes by color into the basket": "impossible",
    "bring the can to the apple": "ambiguous",
    "why don't you not clear the table": "negation",
    "would you mind not clearing the table": "negation",
    "move the apple back": "ambiguous",
    "put the apple 10 cm from": "unknown",
}

QUESTIONS = {
    "what is on the table?": "red apple, blue cube, red cube, can",
    "what is on the table": "can",
    "What do you see?": "red apple",
    "is the table clear": "no",
    "is the table clear?": "no",
    "where is the apple?": "on the table (0.50 0.10",
    "how many cubes are there?": "2: the blue cube and the red cube",
    "what are you holding?": "nothing is held",
    "should I clear the table": "",
    "did you clear the table?": "",
    "have you cleared the table": "",
    "can you see the apple?": "",
    "clear the table?": "",
    "do you clear the table": "",
    "why do you clear the table": "",
    "could you tell me what is on the table": "can",
    "what would happen if you clear the table": "",
    "What is on the table? Clear it.": "",
    "what can you do?": "go home",
}


@pytest.mark.parametrize(("text", "goals"), COMMANDS.items())
def test_an_order_becomes_these_goals(scene, text, goals):
    intent = interpret(text, scene)
    assert isinstance(intent, CommandIntent), intent
    assert intent.goals == goals and intent.language == "en"


@pytest.mark.parametrize(("text", "kind"), REFUSED.items())
def test_what_is_no_plain_order_is_refused_with_its_reason(scene, text, kind):
    intent = interpret(text, scene, suggest=True)
    assert isinstance(intent, RefusedIntent) and (intent.kind, bool(intent.can)) == (kind, True), intent
    assert intent.reason


@pytest.mark.parametrize(("text", "part"), QUESTIONS.items())
def test_a_question_is_answered_and_moves_nothing(scene, text, part):
    intent = interpret(text, scene)
    assert isinstance(intent, QuestionIntent) and part in intent.answer, intent
    assert intent.answer


PERMITTED = [
    *(f"{form} {fine} to put" for form in ("is it", "would it be") for fine in ("ok", "okay", "all right", "fine")),
    "is it nice to put", "is it possible to put", "do you want to put", "do you mind if you put",
    "do you mind if I put", "would it be ok if we put", "can we put", "could we put", "will we put", "would we put",
]  # fmt: skip
TOLD = ("you should", "we should", "you need to", "I want you to", "it is time to", "make sure to", "have the robot")


@pytest.mark.parametrize("opening", ["", "ok, ", "well, "])
@pytest.mark.parametrize("asked", [*(p + end for p in PERMITTED for end in ("", "?")), *(f"{t} put?" for t in TOLD)])
def test_whether_something_is_permitted_is_a_question_and_no_order(scene, asked, opening):
    mark = "?" if asked.endswith("?") else ""
    intent = interpret(f"{opening}{asked.removesuffix('?')} the apple in the basket{mark}", scene)
    assert not isinstance(intent, CommandIntent), intent


@pytest.mark.parametrize("told", [*TOLD, "could you", "would you like to", "would it be possible to", "shall we"])
def test_the_same_beginnings_order_without_a_mark_or_politely(scene, told):
    mark = "" if told in TOLD else "?"
    assert isinstance(interpret(f"{told} put the apple in the basket{mark}", scene), CommandIntent)


def test_what_is_left_alone_is_protected(scene):
    intent = interpret("put the apple in the basket and don't touch the can", scene)
    assert isinstance(intent, CommandIntent) and intent.protected == ("can_01",)


@pytest.mark.parametrize("text", ["apple", "the apple please", "everything in the basket", "cube_01", "苹果"])
def test_a_thing_alone_is_no_unknown_action(scene, text):
    said = interpret(text, scene).reason
    assert "does not say what to do" in said or "没有说要做什么" in said


def test_an_ambiguous_noun_is_refused_by_naming_the_candidates(scene):
    intent = interpret("put the cube in the basket", scene)
    assert isinstance(intent, RefusedIntent) and "blue cube (cube_01), red cube (cube_02)" in intent.reason


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("put the aple in the basket", "read “aple” as “apple”"),
        ("pikc up the can", "read “pikc” as “pick”"),
        ("claer the tabel", "read “claer” as “clear”; read “tabel” as “table”"),
    ],
)
def test_a_slip_of_the_pen_is_read_and_said(scene, text, note):
    intent = interpret(text, scene)
    assert isinstance(intent, CommandIntent) and note in intent.note


@pytest.mark.parametrize(
    "text",
    ["clear the tablet", "put the maple in the basket", "put the appln in the basket",
     "placed the apple in the basket", "moves the can to the basket",
     "dno't clear the table", "nver clear the table", "put the cup in the casket", "stpo. clear the table"],
)  # fmt: skip
def test_a_word_that_may_be_another_is_never_read_as_ours(scene, text):
    assert isinstance(interpret(text, scene), RefusedIntent)


@pytest.mark.parametrize(
    ("here", "said"),
    [("trowel", "towel"), ("blush", "brush"), ("globe", "glove"), ("stapler", "staple"), ("filer", "filter"),
     ("saucer", "sauce"), ("whisky", "whisk"), ("hangar", "hanger"), ("garden trowel", "towel"), ("pasta", "paste"),
     ("stain", "satin"), ("slat", "salt"), ("supper", "super"), ("tarp", "trap")],
)  # fmt: skip
@pytest.mark.parametrize("text", ["put the {} in the basket", "put everything except the {} in the basket",
                                  "put the can and the {} in the basket"])  # fmt: skip
def test_another_real_word_is_asked_about_and_never_read_as_what_is_here(make, here, said, text):
    scene = make["scene"](
        make["ball"]("a_1", 0.5, 0.1, name=here), make["ball"]("a_2", 0.4, 0.1, name="can"), make["basket"]()
    )
    intent = interpret(text.format(said), scene)
    assert isinstance(intent, RefusedIntent) and f"“{said}”" in intent.reason


def test_what_may_be_one_word_here_is_asked_with_that_word(make):
    scene = make["scene"](make["ball"]("a_1", 0.5, 0.1, name="trowel"), make["basket"]())
    intent = interpret("put the towel in the basket", scene)
    assert isinstance(intent, RefusedIntent) and "did you mean “trowel”" in intent.reason


def test_between_two_readings_nothing_is_guessed(make):
    scene = make["scene"](make["ball"]("a_1", 0.5, 0.1, name="fork"), make["ball"]("a_2", 0.4, 0.1, name="form"))
    assert isinstance(interpret("pick up the forn", scene), RefusedIntent)


def test_ten_kilobytes_are_no_instruction(scene):
    intent = interpret("clear the table and " * 500 + "clear the table", scene)
    assert isinstance(intent, RefusedIntent) and "characters" in intent.reason


def test_a_thing_named_like_a_word_of_the_grammar_swallows_nothing(make):
    scene = make["scene"](make["ball"]("not", 0.5, 0.1, name="don't never not"))
    assert isinstance(interpret("do not clear the table", scene), RefusedIntent)
    assert isinstance(interpret("never clear the table", scene), RefusedIntent)


def test_without_a_container_clearing_is_refused_with_the_reason(make):
    table = make["scene"]().furniture[0]
    intent = interpret("clear the table", make["scene"](make["can"]("can_01", 0.5, 0.0), furniture=(table,)))
    assert isinstance(intent, RefusedIntent) and "no container" in intent.reason


def test_sorting_uses_a_container_for_each_group_or_says_that_it_uses_strips(make):
    things = (make["cube"]("a_1", 0.4, 0.0, "red"), make["cube"]("b_1", 0.5, 0.0, "blue"))
    few = interpret("sort the cubes by colour", make["scene"](*things))
    assert isinstance(few, CommandIntent) and "strip of the table" in few.note
    table = make["scene"]().furniture[0]
    boxes = (make["basket"]("blue_box"), make["basket"]("other_box", 0.4, -0.4))
    enough = interpret("sort everything by color", make["scene"](*things, furniture=(table, *boxes)))
    assert isinstance(enough, CommandIntent) and set(enough.goals) == {
        InGoal("a_1", "other_box"),
        InGoal("b_1", "blue_box"),
    }


def test_the_scene_decides_between_two_readings(make):
    on_table = make["scene"](make["ball"]("apple_01", 0.5, 0.1))
    intent = interpret("put the apple in the basket on the table", on_table)
    assert isinstance(intent, CommandIntent) and intent.goals == (InGoal("apple_01", "basket_01"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clear the table gently", ("“gently”", "without “gently”")),
        ("slowly put the apple in the basket", ("“slowly”", "without")),
        ("move up 10 cm", ("height", "picked up", "left, right")),
        ("raise the apple by 5 cm", ("height", "“raise”")),
        ("轻轻地把苹果放进篮子里", ("轻轻", "去掉")),
        ("向上移动10厘米", ("高度", "拿起")),
    ],
)
def test_what_no_action_takes_is_refused_with_what_can_be_done(scene, text, words):
    told = interpret(text, scene)
    assert isinstance(told, RefusedIntent) and all(word in told.reason for word in words), told
