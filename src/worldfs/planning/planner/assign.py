"""Which thing goes into which container or strip of the table: clearing and sorting."""

from __future__ import annotations

import math
from collections import Counter

from worldfs.base.messages import coded, render
from worldfs.base.model import Scene, Thing
from worldfs.base.packing import fits

from . import lexicon_en
from .goals import AreaGoal, Goal, InGoal
from .intent import NotUnderstood
from .scene_facts import contents, final_support, layout, own_robot, surfaces
from .vocabulary import Vocabulary

HEAP = 1.2  # a heap rises over the rim: true volumes may add up to this share of the box
STRIP_MARGIN = 0.05


def volume(thing: Thing) -> float:
    """m³ of the thing itself, 0 when its size is unknown."""
    if len(thing.size) < 3:
        return 0.0
    share = {"sphere": math.pi / 6, "cylinder": math.pi / 4}.get(thing.shape, 1.0)
    return share * thing.size[0] * thing.size[1] * thing.size[2]


def free_volume(box: Thing, scene: Scene) -> float:
    """m³ still free in a container, infinite when its size is unknown."""
    if len(box.size) < 3 or not volume(box):
        return math.inf
    places = layout(scene)
    inside = [t for id in contents(box, "in", scene, places) if (t := scene.thing(id)) is not None]
    return HEAP * box.size[0] * box.size[1] * box.size[2] - sum(volume(t) for t in inside)


def into_containers(ids: tuple[str, ...], boxes: list[str], scene: Scene) -> list[Goal]:
    """Each thing into the first box with enough space; into the one with the most space when none has (the plan then
    says so)."""
    left = {b: free_volume(t, scene) for b in boxes if (t := scene.thing(b)) is not None}
    found: list[Goal] = []
    places = layout(scene)
    for id in ids:
        thing = scene.thing(id)
        if thing is None:
            continue
        now = final_support(places, id)
        if now.relation == "in" and now.of in left:
            found.append(InGoal(id, now.of))
            continue
        good = [b for b in left if left[b] >= volume(thing) and fits(thing, scene.thing(b) or thing)]
        box = good[0] if good else max(left, key=lambda b: left[b])
        left[box] -= volume(thing)
        found.append(InGoal(id, box))
    return found


def groups(ids: tuple[str, ...], by: str, scene: Scene, language: str) -> dict[str, list[str]]:
    """Things by colour or kind, the largest group first; NotUnderstood names those without one."""
    vocabulary = Vocabulary(scene)
    found: dict[str, list[str]] = {}
    unknown: list[str] = []
    for id in ids:
        thing = scene.thing(id)
        label = _label(thing, vocabulary.keys[id], by) if thing is not None else ""
        if label:
            found.setdefault(label, []).append(id)
        else:
            unknown.append(id)
    if unknown:
        sign = "、" if language == "zh" else ", "
        code = "planner.no_colour" if by == "colour" else "planner.no_kind"
        raise NotUnderstood(code, "missing", names=sign.join(unknown))
    return found


def _label(thing: Thing, keys: frozenset[str], by: str) -> str:
    if by == "colour":
        colours = sorted(k[2:] for k in keys if k.startswith("c:"))
        return thing.color.lower() or (colours[0] if len(colours) == 1 else "")
    if thing.category and thing.category not in ("object", "thing", "item"):
        return thing.category.lower()
    named = [k for k in lexicon_en.KINDS if f"k:{k}" in keys]
    return named[0] if named else thing.shape


def by_attribute(
    ids: tuple[str, ...], by: str, boxes: list[str], scene: Scene, language: str
) -> tuple[list[Goal], str]:
    """A container for each group where there are enough, else a strip of the table for each; and a line saying so."""
    sorted_in = groups(ids, by, scene, language)
    if not sorted_in:
        return [], ""
    sign = "; " if language == "en" else "；"
    if len(boxes) >= len(sorted_in):
        chosen = _match(sorted_in, boxes, scene)
        found: list[Goal] = [InGoal(id, chosen[label]) for label, members in sorted_in.items() for id in members]
        return found, sign.join(f"{label} → {box}" for label, box in chosen.items())
    tops = [s for s in surfaces(scene) if len(s.size) >= 2 and math.isfinite(s.position[0])]
    if not tops:
        raise NotUnderstood("planner.no_container", "impossible")
    table = tops[0]
    strips = _strips(list(sorted_in), table, scene)
    found = [
        AreaGoal(id, table.id, *strips[label], label=label) for label, members in sorted_in.items() for id in members
    ]
    note = sign.join(f"{label} → y {lo[1]:.2f}…{hi[1]:.2f} m" for label, (lo, hi) in strips.items())
    return found, render(coded("planner.strips", strips=note), language)


def _match(sorted_in: dict[str, list[str]], boxes: list[str], scene: Scene) -> dict[str, str]:
    """A box named or coloured like the group, else the one that already holds most of it, else the next."""
    places = layout(scene)
    free, chosen = list(boxes), {}
    score = {
        (label, box): _likeness(label, scene.thing(box)) * 1000
        + Counter(final_support(places, id).of for id in members)[box]
        for label, members in sorted_in.items()
        for box in boxes
    }
    for (label, box), value in sorted(score.items(), key=lambda item: -item[1]):
        if value > 0 and label not in chosen and box in free:
            chosen[label] = box
            free.remove(box)
    for label in sorted_in:
        if label not in chosen:
            chosen[label] = free.pop(0)
    return {label: chosen[label] for label in sorted_in}


def _likeness(label: str, box: Thing | None) -> int:
    return 0 if box is None else int(label in f"{box.color} {box.name} {box.id}".lower())


def _strips(
    labels: list[str], table: Thing, scene: Scene
) -> dict[str, tuple[tuple[float, float], tuple[float, float]]]:
    """Equal strips of the table across y, outside the footprints of immovable things on it."""
    x, y = table.position[:2]
    low_x, high_x = x - table.size[0] / 2 + STRIP_MARGIN, x + table.size[0] / 2 - STRIP_MARGIN
    low, high = y - table.size[1] / 2 + STRIP_MARGIN, y + table.size[1] / 2 - STRIP_MARGIN
    robot = own_robot(scene)
    if robot is not None and len(robot.pose) >= 2:  # an arm serves the half-metre on either side of its base best
        near_low, near_high = max(low, robot.pose[1] - 0.5), min(high, robot.pose[1] + 0.5)
        if near_high - near_low > 0.2:
            low, high = near_low, near_high
    each = (high - low) / len(labels)
    return {
        label: ((round(low_x, 4), round(low + n * each, 4)), (round(high_x, 4), round(low + (n + 1) * each, 4)))
        for n, label in enumerate(labels)
    }
