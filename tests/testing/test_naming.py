"""The generator of scenes and sentences, and its judge: what it draws is certain, and it is strict both ways."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from worldfs.base.model import Order, Relation, Scene
from worldfs.base.stop_signal import StopSignal
from worldfs.formats import environment
from worldfs.testing.naming import KINDS, QUESTIONS, Case, Tried, Verdict, case, judge
from worldfs.testing.naming.__main__ import main
from worldfs.testing.naming.applied_orders_port import AppliedOrdersPort
from worldfs.testing.naming.generator import CHINESE_ONLY, ENGLISH_ONLY, ROBOT, TABLE
from worldfs.testing.naming.labels import compounds, english, folded, grammatical, plain
from worldfs.testing.naming.naming_judge import profile
from worldfs.testing.naming.truth import BESIDE, HELD, LEFT_OF, RIGHT_OF, End, Item, every, one, the

NEAR = (BESIDE, LEFT_OF, RIGHT_OF)
CASES = [case(17, number) for number in range(3 * len(KINDS))]


def item(*words: str, id: str = "a1") -> Item:
    return Item(id, english(words[:-1], words[-1]))


def test_the_same_seed_draws_the_same_cases_and_another_draws_others():
    again = [case(17, number) for number in range(0, len(CASES), 7)]
    assert again == CASES[::7]
    assert all(case(18, number).text != CASES[number].text for number in range(5))


def test_every_kind_is_drawn_in_english_twice_as_often_as_in_chinese():
    drawn = Counter((c.kind, c.language) for c in CASES)
    assert all(drawn[kind, "en"] >= 2 for kind in KINDS.keys() - CHINESE_ONLY) and len(KINDS) >= 34
    assert sum(drawn[kind, "zh"] == 1 for kind in KINDS) >= len(KINDS) - len(ENGLISH_ONLY) - len(CHINESE_ONLY)
    assert all(drawn[kind, "zh"] == 3 for kind in CHINESE_ONLY)


def test_the_compounds_are_many_and_their_names_and_ids_tell_the_things_of_a_scene_apart():
    assert len({c.text for c in (*compounds("en"), *grammatical("en"))}) >= 200
    assert len({c.text for c in (*compounds("zh"), *grammatical("zh"))}) >= 120
    assert len({p.text for p in plain("en")}) >= 50 and len({p.text for p in plain("zh")}) >= 50
    for one_case in CASES:
        ids = [i.id for i in (*one_case.things, *one_case.places)]
        assert len(ids) == len(set(ids)), one_case


def test_a_scene_is_an_environment_document_as_a_person_writes_it():
    for one_case in CASES[::5]:
        scene = one_case.scene()
        page = environment.merge(b"", scene, robot_id=ROBOT, now="2026-11-28T00:00:00Z")
        read = environment.read(page).scene
        told = [(t.id, t.name, t.position, t.mass, t.color) for t in read.objects]
        assert told == [(t.id, t.name, t.position, t.mass, t.color) for t in scene.objects]
        assert set(read.relations) == set(scene.relations)


def test_the_rules_of_names_hold_by_hand():
    opener, soup, cup, coffee_cup = (
        item("can", "opener"), item("soup", "can", id="a2"), item("cup", id="a3"), item("coffee", "cup", id="a4")
    )  # fmt: skip
    can, cups = english((), "can"), english((), "cup")
    assert the(can, [opener]).thing is None  # a modifier never stands for the thing
    assert one(can, [opener, soup]) == soup
    assert the(cups, [cup, coffee_cup]).thing == cup and the(cups, [cup, coffee_cup]).ask
    assert every(cups, [cup, coffee_cup, opener]) == (cup, coffee_cup)
    assert the(english((), "opener"), [opener, item("bottle", "opener", id="a5")]).thing is None
    assert the(english(("steel",), "opener"), [opener]).thing is None


# -- the judge -----------------------------------------------------------------------------------------------------


def moved(scene: Scene, end: End) -> Scene:
    """The scene with each thing of the end at its place."""
    objects, relations, holding = list(scene.objects), list(scene.relations), None
    for id, places in end.items():
        place = sorted(places)[0]
        relations = [r for r in relations if r.subject != id]
        if place == HELD:
            holding = id
        elif place.startswith(NEAR):
            other = scene.thing(place.rpartition(" ")[2])
            spot = (other.position[0], other.position[1] + (-0.1 if place.startswith(RIGHT_OF) else 0.1), 0.02)
            objects = [replace(t, position=spot) if t.id == id else t for t in objects]
            relations.append(Relation(id, "on", TABLE.id))
        else:
            relations.append(Relation(id, "in", place))
    robots = (replace(scene.robots[0], holding=holding),)
    return replace(scene, objects=tuple(objects), relations=tuple(relations), robots=robots)


def careful(one_case: Case) -> Tried:
    """What the truth says, done: the first way of several."""
    truth, scene = one_case.truth, one_case.scene()
    names = {i.id: i.name.text for i in (*one_case.things, *one_case.places)} | {TABLE.id: "table"}
    if truth.answer is None:
        if not truth.ends:
            return Tried((), scene, ", ".join(names[id] for id in truth.candidates), False, False, True)
        touched = truth.order or tuple(truth.ends[0])
        return Tried(touched, moved(scene, truth.ends[0]), "done", True, False, False)
    answer = truth.answer
    said = ", ".join(names[id] for id in sorted(answer.names)) or "none"
    yes = "yes" if answer.yes else "no"
    text = {"count": str(answer.number), "yes_no": yes, "exists": yes}.get(answer.kind, said)
    return Tried((), scene, text, True, True, False)


def refused(one_case: Case) -> Tried:
    return Tried((), one_case.scene(), "I do not know", False, False, True)


def first_thing(one_case: Case) -> Tried:
    """A robot that always takes the first thing to the first place, and says that it is done."""
    end = {one_case.things[0].id: frozenset({one_case.places[0].id})}
    return Tried(tuple(end), moved(one_case.scene(), end), "done", True, False, False)


def claimed(one_case: Case) -> Tried:
    return Tried((), one_case.scene(), "done", True, False, False)


def verdicts(robot) -> Counter[Verdict]:
    return Counter(judge(one_case, robot(one_case)).verdict for one_case in CASES if one_case.things)


def test_who_does_what_the_truth_says_is_right_every_time():
    bad = [c for c in CASES if judge(c, careful(c)).verdict is not Verdict.RIGHT]
    assert not bad, bad[0]


def test_a_refusal_of_everything_moves_nothing_wrongly_and_is_not_right():
    found = verdicts(refused)
    assert not found[Verdict.WRONG] and not found[Verdict.UNTRUE]
    assert found[Verdict.NEEDLESS] > 0.5 * found.total()


def test_a_robot_that_takes_whatever_is_first_is_caught():
    found = verdicts(first_thing)
    assert found[Verdict.WRONG] > 0.4 * found.total()
    must_ask = [c for c in CASES if c.truth.must_ask and c.things]
    assert must_ask and all(judge(c, first_thing(c)).verdict is Verdict.WRONG for c in must_ask)


def test_a_robot_that_says_done_and_moves_nothing_is_untrue():
    may_be_so = ("next to", "on a side of")  # without a motion
    orders = [c for c in CASES if c.kind not in QUESTIONS and c.kind not in may_be_so]
    assert all(judge(c, claimed(c)).verdict is Verdict.UNTRUE for c in orders)


def test_what_is_done_and_called_failed_is_untrue():
    ordered = [c for c in CASES if c.truth.ends]
    assert all(judge(c, replace(careful(c), ok=False)).verdict is Verdict.UNTRUE for c in ordered)


def test_the_right_thing_at_another_place_is_wrong():
    elsewhere = {"next to": TABLE.id, "on a side of": TABLE.id, "onto the table": HELD}
    for one_case in (c for c in CASES if c.truth.ends and len(c.truth.ends) == 1):
        end, other = one_case.truth.ends[0], elsewhere.get(one_case.kind, TABLE.id)
        moved_to = {id: frozenset({other if other not in places else HELD}) for id, places in end.items()}
        if one_case.kind in ("next to", "on a side of"):
            scene = moved(one_case.scene(), moved_to)
            far = tuple(replace(t, position=(0.2, -0.5, 0.02)) if t.id in end else t for t in scene.objects)
            after = replace(scene, objects=far, relations=one_case.scene().relations)
        else:
            after = moved(one_case.scene(), moved_to)
        found = judge(one_case, Tried(tuple(moved_to), after, "done", True, False, False)).verdict
        assert found in (Verdict.WRONG, Verdict.UNTRUE), one_case


def test_a_thing_on_the_other_side_is_not_where_it_was_wanted():
    one_case = next(c for c in CASES if c.kind == "on a side of")
    ((id, places),) = one_case.truth.ends[0].items()
    (place,) = places
    other = RIGHT_OF if place.startswith(LEFT_OF) else LEFT_OF
    after = moved(one_case.scene(), {id: frozenset({other + place.rpartition(" ")[2]})})
    assert judge(one_case, Tried((id,), after, "done", True, False, False)).verdict is not Verdict.RIGHT


def test_an_answer_that_is_not_so_is_untrue():
    asked = [c for c in CASES if c.truth.answer is not None]
    assert {c.truth.answer.kind for c in asked} == {"where", "list", "count", "yes_no", "which", "exists"}
    for one_case in asked:
        for reply in untrue(one_case):
            tried = Tried((), one_case.scene(), reply, True, True, False)
            assert judge(one_case, tried).verdict is Verdict.UNTRUE, (one_case, reply)
        no_answer = judge(one_case, refused(one_case)).verdict
        right = one_case.truth.answer.none or one_case.truth.ask
        assert no_answer is (Verdict.RIGHT if right else Verdict.NEEDLESS)


def untrue(one_case: Case) -> list[str]:
    """Replies to a question that are not so."""
    answer, names = one_case.truth.answer, {i.id: i.name.text for i in (*one_case.things, *one_case.places)}
    names[TABLE.id] = "table"
    match answer.kind:
        case "where":
            others = [p.id for p in one_case.places if p.id not in answer.names]
            return [f"it is in the {names[id]}" for id in others]
        case "list" | "which":
            said = {names[id] for id in answer.names}
            others = [i for i in one_case.things if i.name.text not in said and i.id not in answer.about]
            wrong = [names[i.id] for i in others]
            return [*wrong, *([] if answer.kind == "which" or not answer.names else ["nothing"])]
        case "count":
            return [str(answer.number + 1), f"{answer.number + 2}: {names[one_case.things[0].id]}"]
        case "yes_no":
            return ["no, it is not" if answer.yes else "yes, it is"]
    name = names[one_case.things[0].id]
    return ["no, there is none", f"there is none; here are: {name}"] if answer.yes else [f"yes, the {name}"]


def test_masses_of_both_answer_which_is_heavier_only_if_they_are_theirs():
    one_case = next(c for c in CASES if c.kind == "which of two?" and c.language == "en")
    a, b = one_case.things[:2]
    said = "the {} weighs {:g} kg; the {} weighs {:g} kg"
    good, bad = (
        said.format(a.name.text, a.mass, b.name.text, b.mass),
        said.format(a.name.text, b.mass, b.name.text, a.mass),
    )
    found = [judge(one_case, Tried((), one_case.scene(), text, True, True, False)).verdict for text in (good, bad)]
    assert found == [Verdict.RIGHT, Verdict.UNTRUE]


def test_the_port_shows_the_effect_of_what_it_accepted():
    one_case = next(c for c in CASES if c.kind == "list")
    port = AppliedOrdersPort(one_case.scene(), profile(), ROBOT, "en")
    thing, place = one_case.things[0], one_case.places[0]

    def ordered(op: str, **params: object) -> bool:
        job = port.submit(Order(f"{op}_{len(port.orders)}", ROBOT, op, params))
        return port.wait(job, StopSignal()).outcome.ok

    assert not ordered("place", target=place.id, target_position=[0.4, -0.4, 0.03])  # nothing is held
    assert ordered("pick_up", object_id=thing.id) and port.held == thing.id and port.touched == [thing.id]
    assert not ordered("pick_up", object_id=one_case.things[1].id)  # one hand holds one thing
    assert ordered("place", target=place.id, target_position=[*place.position, 0.03])
    assert Relation(thing.id, "in", place.id) in port.scene().relations and port.held is None
    assert port.scene().thing(thing.id).position[:2] == place.position
    assert not ordered("pick_up", object_id="nothing_there") and not ordered("stack", object_ids=[thing.id])


@pytest.mark.parametrize("kind", ["list", "two clauses", "everything"])
def test_half_of_what_was_asked_and_done_is_untrue_and_admitted_it_is_unfinished(kind):
    one_case = next(c for c in CASES if c.kind == kind)
    half = dict([next(iter(one_case.truth.ends[0].items()))])
    tried = Tried(tuple(half), moved(one_case.scene(), half), "", True, False, False)
    assert judge(one_case, tried).verdict is Verdict.UNTRUE
    assert judge(one_case, replace(tried, ok=False)).verdict is Verdict.NEEDLESS


def test_the_order_that_was_said_is_part_of_the_truth():
    one_case = next(c for c in CASES if c.kind == "order")
    good = careful(one_case)
    assert judge(one_case, replace(good, touched=good.touched[::-1])).verdict is Verdict.WRONG


def test_where_only_asking_is_right_the_candidates_must_be_named_to_ask_well():
    one_case = next(c for c in CASES if c.kind == "twins")
    named = careful(one_case)
    assert judge(one_case, named).asked_well
    assert not judge(one_case, replace(named, reply="which one?")).asked_well


def test_folding_sees_width_case_and_hyphens():
    assert folded("Ｃａｎ-Opener ") == "can opener"


def test_the_command_prints_one_case_again(capsys):
    assert main(["--seed", "17", "--number", "3", "--show", "all"]) == 0
    said = capsys.readouterr().out
    assert CASES[3].text in said and "head of several · --seed 17 --number 3" in said
    with pytest.raises(SystemExit) as stopped:
        main(["--show", "everything"])
    assert stopped.value.code == 2
