"""The held-out list (held_out.txt): each row is carried out in the page's own world, and the end is measured.

A row is done when its facts hold at the end, in their order, and nothing else was touched. Whatever moves otherwise is
a wrong motion. The facts are measured here, not by the planner's goals: a wrong reading cannot pass its own judgement.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from worldfs.base.model import Relation, Thing
from worldfs.planning.planner import Planner, QuestionIntent, RefusedIntent

PAGE = Path(__file__).with_name("held_out.txt")
TRAINED = Path(__file__).with_name("learned.txt")


def rows(page: Path) -> list[tuple[int, str, str, str, str]]:
    """(line, section, scene, instruction, what it must come to)."""
    found, section = [], ""
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if line.startswith("## "):
            section = line[3:]
        elif " => " in line and not line.startswith("#"):
            said, facts = line.split(" => ")
            scene, text = said.split(" | ", 1)
            found.append((number, section, scene, text, facts))
    return found


ROWS = rows(PAGE)
LEARNED = rows(TRAINED)


@pytest.fixture
def scenes(make, scene) -> dict[str, Callable[[], object]]:
    """A world for each letter: T the table of conftest, U that table after an instruction, K a kitchen, S a stack."""

    def thing(id, name, kind, x, y, size, shape, color, mass):
        return Thing(id, name, kind, (x, y, size[2] / 2), size=size, shape=shape, color=color, mass=mass)

    def table():
        return make["world"](scene)

    def undone():
        world = make["world"](scene)
        world.relate("apple_01", Relation("apple_01", "in", "basket_01"), (0.42, 0.4, 0.04))
        world.relate("cube_01", Relation("cube_01", "on", "cube_02"), (0.5, -0.25, 0.075))
        world.was = scene
        return world

    def kitchen():
        tray = Thing(
            "tray_01", "Tray", "container", (0.45, -0.42, 0.02), size=(0.3, 0.2, 0.04), shape="basket", color="grey"
        )
        things = (
            thing("mug_01", "White Mug", "mug", 0.45, 0.2, (0.07, 0.07, 0.09), "cylinder", "white", 0.25),
            thing("bottle_01", "Bottle", "bottle", 0.55, -0.05, (0.06, 0.06, 0.2), "cylinder", "blue", 0.5),
            thing("lemon_01", "Lemon", "fruit", 0.4, 0.0, (0.05, 0.05, 0.05), "sphere", "yellow", 0.1),
            thing("pear_01", "Pear", "fruit", 0.5, -0.2, (0.06, 0.06, 0.06), "sphere", "green", 0.18),
            thing("block_01", "Wooden Block", "block", 0.6, 0.23, (0.05, 0.05, 0.05), "box", "brown", 0.12),
        )
        furniture = (scene.furniture[0], make["basket"](y=0.45), tray)
        return make["world"](make["scene"](*things, furniture=furniture))

    def stack():
        cubes = (
            make["cube"]("cube_g", 0.5, 0.15, "green", 0.06),
            thing("cube_y", "yellow cube", "block", 0.5, 0.15, (0.04, 0.04, 0.04), "box", "yellow", 0.05),
            make["cube"]("cube_r1", 0.4, -0.15, "red"),
            make["cube"]("cube_r2", 0.55, -0.2, "red"),
        )
        world = make["world"](make["scene"](*cubes, on={"cube_y": "cube_g"}))
        world.relate("cube_y", Relation("cube_y", "on", "cube_g"), (0.5, 0.15, 0.08))
        return world

    return {"T": table, "U": undone, "K": kitchen, "S": stack}


# -- facts, measured ----------------------------------------------------------------------------------------------


def _gap(a: Thing, b: Thing) -> float:
    """Between two footprints, seen along the line of their centres; good to a centimetre."""
    dx, dy = b.position[0] - a.position[0], b.position[1] - a.position[1]
    length = math.hypot(dx, dy) or 1.0

    def half(thing: Thing) -> float:
        if thing.shape in ("sphere", "cylinder"):
            return thing.size[0] / 2
        return min(t for n, d in ((0, dx), (1, dy)) if d for t in [thing.size[n] / 2 / (abs(d) / length)])

    return length - half(a) - half(b)


def so(world, fact: str) -> bool:
    """Whether one fact is so, by the positions and relations of the world alone."""
    word, *names = fact.split()
    ids = [n for n in names if not _number(n)]
    values = [float(n) for n in names if _number(n)]
    if word == "did":
        return any(o.op == "strategy" and o.params.get("name") == names[0] for o in world.log)
    things = [world.now_scene.thing(id) for id in ids]
    first = things[0]
    if word == "held":
        return world.held == first.id
    if first.id == world.held:
        return False
    x, y = first.position[:2]
    match word:
        case "in" | "on":
            return world.where(first.id) == (word, ids[1])
        case "stacked":
            return ("on", ids[1]) == world.where(ids[0]) or ("on", ids[0]) == world.where(ids[1])
        case "at":
            return math.dist((x, y), values) <= 0.015
        case "gap":
            return abs(_gap(first, things[1]) - values[0]) <= 0.02
        case "near":
            return _gap(first, things[1]) <= 0.12 and world.where(first.id)[0] == "on"
        case "middle":
            return math.dist((x, y), things[1].position[:2]) <= 0.1
        case "between":
            (ax, ay), (bx, by) = things[1].position[:2], things[2].position[:2]
            length = math.hypot(bx - ax, by - ay)
            along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length
            across = abs((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / length
            return 0.2 * length <= along <= 0.8 * length and across <= 0.03
    dx, dy = x - things[1].position[0], y - things[1].position[1]
    ahead, across = {"left": (dy, dx), "right": (-dy, dx), "front": (-dx, dy), "behind": (dx, dy)}[word]
    return ahead > 0 and abs(across) <= ahead and _gap(first, things[1]) <= 0.3


def _number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdigit()


def touched(world) -> list[str]:
    """The things that were lifted, in order."""
    return [str(o.params["object_id"]) for o in world.log if o.op == "pick_up"]


def movers(fact: str) -> list[str]:
    word, *names = fact.split()
    return names[:2] if word == "stacked" else [] if word == "did" else names[:1]


def done(world, facts: str) -> bool:
    """All facts hold, nothing but their things was touched, and what comes after `>` was touched after."""
    steps = [[fact.strip() for fact in group.split(";")] for group in facts.split(">")]
    if not all(so(world, fact) for group in steps for fact in group):
        return False
    named = [[id for fact in group for id in movers(fact)] for group in steps]
    order = touched(world)
    if set(order) - {id for group in named for id in group}:
        return False
    flat = [n for id in dict.fromkeys(order) for n, group in enumerate(named) if id in group]
    return flat == sorted(flat)


def outcome(world, text: str, facts: str) -> str:
    """done | asked | refused | answered | unmoved, or `wrong`: a motion that was not asked for, or a false word."""
    report = Planner(world).run(text)
    if report.ok and not facts.startswith(("!", "?", "-")) and done(world, facts):
        return "done"
    if report.moved:
        return "wrong"
    if isinstance(report.intent, QuestionIntent):
        told = facts.startswith("?") and facts[2:] in report.reason
        return "answered" if told or facts == "-" or not report.ok else "unmoved"
    if isinstance(report.intent, RefusedIntent):
        return "asked" if report.intent.kind == "ambiguous" else "refused"
    return "unmoved"


def as_it_should_be(world, facts: str, text: str, found: str) -> bool:
    """For rows that must not move: asked where it must ask, refused with the name that it must name."""
    if facts == "-":
        return found != "wrong"
    if facts == "! ask":
        return found == "asked"
    if facts.startswith("! refuse"):
        named = facts.removeprefix("! refuse").strip()
        return found in ("refused", "asked", "unmoved") and named in Planner(world).run(text).reason
    return found == "answered"


def test_nothing_ever_moves_that_was_not_asked_for_and_the_score_is_what_the_documentation_says(scenes):
    score, wrong = Counter(), []
    for line, section, scene_name, text, facts in ROWS:
        found = outcome(scenes[scene_name](), text, facts)
        if found == "wrong":
            wrong.append(f"line {line}: {text}")
        if section == "doable":
            score[found] += 1
        else:
            score["as it should be"] += as_it_should_be(scenes[scene_name](), facts, text, found)
    assert not wrong
    assert score["done"] + score["asked"] + score["refused"] + score["unmoved"] + score["answered"] == 113
    assert score["done"] >= 90 and score["wrong"] == 0
    told = f"now {score['done']} of 113 are done, {score['as it should be']} of {len(ROWS) - 113} are handled rightly"
    page = Path(__file__).parents[3] / "docs" / "instructions.md"
    assert told in " ".join(page.read_text("utf-8").split()), told


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.proof) for n in range(1, 5))])
def test_what_was_learned_is_done(scenes, part):
    bad = []
    for line, _section, scene_name, text, facts in LEARNED[part::5]:
        found = outcome(scenes[scene_name](), text, facts)
        moves = not facts.startswith(("!", "?", "-"))
        good = found == "done" if moves else as_it_should_be(scenes[scene_name](), facts, text, found)
        if not good:
            bad.append(f"line {line}: {text}: {found}: {Planner(scenes[scene_name]()).run(text).reason}")
    assert not bad
