"""Where every thing of a scene is: held, in, on, or unknown. Relations first, poses where a page has none (000 v1)."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import is_

from worldfs.base.drawers import drawn_part, has_flat_top, interior, sized
from worldfs.base.footprint import gap, lying, tilt
from worldfs.base.hollows import innermost, is_in, is_vessel, lowest_point, opens, rest_limit
from worldfs.base.json_values import as_int
from worldfs.base.map_zones import map_zones
from worldfs.base.model import Relation, RobotState, Scene, Thing, Vec
from worldfs.base.name_parts import is_called
from worldfs.base.resting import is_below
from worldfs.base.standard_operations import WIPERS
from worldfs.base.stated_places import BORNE, lacks_holder, stated_by_status

SAME_M = 0.002  # sides as long as each other may change places
LEAN_RAD = math.radians(10)  # a standing thing is turned no farther from the vertical
LEVEL_RAD = math.radians(3)  # what is turned farther leans: more than one thing may carry it
FLAT = ("tray", "plate", "dish", "saucer", "托盘", "盘", "盘子", "碟子")  # things are said to be on these
GRAZE_M = 0.001  # a thing that reaches no farther over another touches its side
SAME_TOP_M = 0.0005  # two tops are as far from an underside as each other
UNMEASURED_M = 0.3  # a thing without a size is no larger, a container no more than twice
NEAR_M = 0.02  # a thing whose underside is this close to a top rests on it


@dataclass(frozen=True, slots=True)
class ThingLocation:
    """`relation` is held | in | on | "" (not known); `of` the robot, container or support. `shared`: it rests on
    several things that are all there, as a beam across two posts on the table."""

    relation: str = ""
    of: str = ""
    shared: bool = field(default=False, compare=False)


UNKNOWN_LOCATION = ThingLocation()


ROBOT = "robot"  # the category of what a thing may be handed over to
FIXTURES = ("drawer", "chest")  # shapes or categories of furniture that opens
UNKNOWN = (math.nan, math.nan, math.nan)


def sanitized_scene(scene: Scene) -> Scene:
    """The scene with vectors that can be reckoned with: a position that is no point becomes `UNKNOWN`, a size that is
    none becomes (), of two things with one id the first counts. The same object where nothing had to change."""
    ids: set[str] = set()

    def things(given: tuple[Thing, ...]) -> tuple[Thing, ...]:
        found: list[Thing] = []
        for thing in given:
            if thing.id in ids:
                continue
            ids.add(thing.id)
            position = thing.position if _finite(thing.position, 3) else UNKNOWN
            size = thing.size if _finite(thing.size, 3) and min(thing.size) >= 0 else ()
            turn = thing.orientation if _finite(thing.orientation, 4) else (1.0, 0.0, 0.0, 0.0)
            same = position is thing.position and size == thing.size and turn is thing.orientation
            found.append(thing if same else replace(thing, position=position, size=size, orientation=turn))
        return (
            given
            if all(a is b for a, b in zip(given, found, strict=False)) and len(found) == len(given)
            else tuple(found)
        )

    objects, furniture = things(scene.objects), things(scene.furniture)
    robots = tuple(r if _finite(r.pose[:3], 3) else replace(r, pose=()) for r in scene.robots)
    if objects is scene.objects and furniture is scene.furniture and all(map(is_, robots, scene.robots)):
        return scene
    return replace(scene, objects=objects, furniture=furniture, robots=robots)


def with_stations(scene: Scene, robot_id: str) -> Scene:
    """The scene as a robot sees it that goes to places: the other robots and the zones of the map are some."""
    there = {thing.id for thing in (*scene.objects, *scene.furniture)}
    robots = [robot for robot in scene.robots if robot.robot_id != robot_id and len(robot.pose) >= 3]
    places = [Thing(one.robot_id, one.robot_id, "place", one.pose[:3], shape="region") for one in robots]
    for zone in map_zones(scene):
        at = (*zone.at, 0.0) if zone.at else UNKNOWN  # only its own map knows: it is sent there by the name
        places.append(Thing(zone.name, zone.name, "dock" if zone.dock else "place", at, shape="region"))
    new = {place.id: place for place in places}
    return replace(scene, furniture=(*scene.furniture, *(new[id] for id in new if id not in there)))


def with_receivers(scene: Scene, robot_id: str) -> Scene:
    """The scene as an arm sees it that hands things over: the other robots are some to hand to."""
    return with_robots(scene, [r for r in scene.robots if r.robot_id != robot_id and len(r.pose) >= 3])


def with_robots(scene: Scene, robots: Iterable[RobotState]) -> Scene:
    """The scene in which these robots are things that words may name."""
    there = {thing.id for thing in (*scene.objects, *scene.furniture)}
    new = [robot for robot in robots if robot.robot_id not in ("", *there)]
    found = tuple(Thing(r.robot_id, r.robot_id, ROBOT, r.pose[:3], shape="region") for r in new)
    return sanitized_scene(replace(scene, furniture=(*scene.furniture, *found))) if found else scene


def own_robot(scene: Scene, robot_id: str = "") -> RobotState | None:
    """The robot of that id; where none is named, the only one of the scene."""
    return scene.robot(robot_id) if robot_id else scene.robots[0] if len(scene.robots) == 1 else None


def seen_by(scene: Scene, robot_id: str) -> Scene:
    """The scene in which "you", "your gripper" and "left" mean this robot: it is the only one of `robots`. What the
    others hold stays held by them, as relations."""
    own = own_robot(scene, robot_id)
    others = [robot for robot in scene.robots if robot is not own]
    if not others:
        return scene
    held = tuple(Relation(r.holding, "held_by", r.robot_id) for r in others if r.holding)
    return replace(scene, robots=(own,) if own is not None else (), relations=(*held, *scene.relations))


def _finite(values: Vec, count: int) -> bool:
    return len(values) >= count and all(isinstance(v, (int, float)) and math.isfinite(v) for v in values)


def height(thing: Thing) -> float:
    """Full extent along z in metres as it lies, 0 when the page does not say."""
    return float(lying(thing).height)


def top(thing: Thing) -> float:
    """Height of the upper side in the world frame."""
    return float(thing.position[2]) + height(thing) / 2


def tops(thing: Thing) -> tuple[float, ...]:
    """Where its upper side may be: pages give a table's position at its top (000: table and apple both at 0.8)."""
    if thing.shape == "table" or (not thing.shape and thing.category == "furniture"):
        return (float(thing.position[2]), top(thing))
    return (top(thing),)


def top_of(thing: Thing, scene: Scene, places: Mapping[str, ThingLocation]) -> float:
    """Height of the upper side (m): from the things that rest on it, else from its own pose."""
    found = sorted(
        t.position[2] - height(t) / 2 for t in movable(scene) if places[t.id] == ThingLocation("on", thing.id)
    )
    believable = [z for z in found if min(abs(z - t) for t in tops(thing)) <= NEAR_M]
    return min(tops(thing), key=lambda t: abs(t - believable[0])) if believable else tops(thing)[0]


def _told_tops(scene: Scene) -> dict[str, tuple[float, ...]]:
    """Of each table whose page may give its position at its top or at its middle, the height (m) that more things rest
    at, by id; both where nothing rests on it. A table has one top."""
    found = {}
    for table in scene.furniture:
        heights = tops(table)
        if len(heights) > 1 and _finite(table.position, 3):
            there = [t for t in (*scene.objects, *scene.furniture) if t.id != table.id and _finite(t.position, 3)]
            lows = [lowest_point(t)[2] for t in there if inside(table, *t.position[:2])]
            counts = [sum(abs(low - up) <= NEAR_M for low in lows) for up in heights]
            found[table.id] = (heights[counts.index(max(counts))],) if max(counts) else heights
    return found


def upright(thing: Thing) -> bool:
    """Whether it stands as its size is given, within 10 degrees, either end up; sides as long as its height count."""
    w, x, y, z = thing.orientation if len(thing.orientation) == 4 else (1.0, 0.0, 0.0, 0.0)
    up = (abs(2 * (x * z - w * y)), abs(2 * (y * z + w * x)), abs(1 - 2 * (x * x + y * y)))
    alike = [abs(size - thing.size[2]) < SAME_M for size in thing.size[:3]] if len(thing.size) >= 3 else [False] * 3
    tall = [part for part, same in zip(up, alike, strict=True) if same and thing.shape == "box"]
    return thing.shape == "sphere" or max((up[2], *tall)) >= math.cos(LEAN_RAD)


def lies_flat(thing: Thing) -> bool:
    """Whether a box is as its size is given, and that is lying: it is at least twice as long as it is high."""
    sides = thing.size[:3]
    return thing.shape == "box" and len(sides) == 3 and max(sides[:2]) >= 2 * sides[2] and upright(thing)


def inside(thing: Thing, x: float, y: float, margin: float = 0.0) -> bool:
    """Is the point over the thing's footprint, shrunk by `margin`?"""
    if len(thing.size) < 2 or len(thing.position) < 2:
        return False
    shape = lying(thing)
    dx, dy, cos, sin = x - thing.position[0], y - thing.position[1], math.cos(shape.turn), math.sin(shape.turn)
    u, v = dx * cos + dy * sin, -dx * sin + dy * cos
    return abs(u) <= shape.along / 2 - margin and abs(v) <= shape.across / 2 - margin


def bears(thing: Thing) -> bool:
    """Whether a thing can be set on it: not on a chest whose lid is up."""
    return not opens(thing) or has_flat_top(thing)


def wipes(thing: Thing) -> bool:
    """Whether a page calls it a sponge or a cloth: "kitchen sponge", and not "sponge holder"."""
    return is_called(thing, WIPERS)


def grains_in(thing: Thing | None) -> int:
    """How many grains a page says are in a vessel; 0 for what is none."""
    return as_int(thing.extra.get("grains")) if thing is not None else 0


def told_location(id: str, scene: Scene, places: Mapping[str, ThingLocation]) -> ThingLocation:
    """Where people say that a thing is: in the cup, of what rests on its bottom. A plan takes it off there first."""
    spot = places.get(id, UNKNOWN_LOCATION)
    one, other = scene.thing(id), scene.thing(spot.of)
    hollow = spot.relation == "on" and spot.of in places and one is not None and other is not None and is_in(one, other)
    return ThingLocation("in", spot.of) if hollow else spot


def locations(id: str, scene: Scene, places: Mapping[str, ThingLocation]) -> list[ThingLocation]:
    """Every place that a thing is said to be at: what it rests on, each hollow thing that it is in, the support of all.
    What is in a cup is not said to be on the table under the cup."""
    found: list[ThingLocation] = []
    at, seen, within = id, set[str](), False
    while (spot := told_location(at, scene, places)).of and at not in seen:
        seen.add(at)
        last = places.get(spot.of, UNKNOWN_LOCATION).of == ""
        within = within or spot.relation == "in"
        if at == id or spot.relation == "in" or (last and not within):
            found.append(spot)
        at = spot.of
    return found


def is_there(id: str, side: str, place: Thing, scene: Scene, places: Mapping[str, ThingLocation]) -> bool:
    """Whether a thing is for certain in or on (`side`) a place. The same for what is not hollow, as a plate."""
    hollow = (place.is_container and not is_flat(place)) or opens(place) or is_vessel(place)
    sides = (side,) if hollow else ("in", "on", "held")
    return id != place.id and any(
        spot.of == place.id and spot.relation in sides for spot in locations(id, scene, places)
    )


def contents(place: Thing, side: str, scene: Scene, places: Mapping[str, ThingLocation]) -> list[str]:
    """The things that are for certain in or on a place. What else may be there: `perhaps_there`."""
    return [id for id in places if is_there(id, side, place, scene, places)]


def immovable_ids(scene: Scene) -> frozenset[str]:
    """Ids of what the planner never moves: furniture, containers, regions."""
    ids = {t.id for t in scene.furniture}
    ids |= {
        t.id for t in scene.objects if t.is_container or t.shape in ("table", "region") or t.category == "furniture"
    }
    return frozenset(ids)


def movable(scene: Scene) -> tuple[Thing, ...]:
    """The things a gripper may be sent for."""
    still = immovable_ids(scene)
    seen: dict[str, Thing] = {}
    for thing in scene.objects:
        if thing.id not in still:
            seen.setdefault(thing.id, thing)
    return tuple(seen.values())


def containers(scene: Scene) -> tuple[Thing, ...]:
    return tuple({t.id: t for t in (*scene.furniture, *scene.objects) if t.is_container}.values())


def fixtures(scene: Scene) -> tuple[Thing, ...]:
    """Drawers and chests."""
    return tuple({t.id: t for t in (*scene.furniture, *scene.objects) if opens(t)}.values())


def perhaps_there(place: Thing, scene: Scene, places: Mapping[str, ThingLocation], side: str = "") -> list[str]:
    """The things that may be in or on a thing (`side`; "" either), as a beam across two posts, and what is on those:
    the scene does not tell where they are."""
    place = sized(place)
    own = _lowest(places, place.id)  # what bears the place is not on it
    spots = {t.id: places.get(t.id, UNKNOWN_LOCATION) for t in movable(scene) if t.id != own}
    open_ids = {id for id, spot in spots.items() if not spot.relation or (spot.shared and spot.of != place.id)}
    unknown = [t for t in movable(scene) if t.id in open_ids]
    told = _told_tops(scene) if unknown else {}
    loose = {t.id for t in unknown if _may_be_at(t, side, place, scene, told)}
    return [t.id for t in movable(scene) if _lowest(places, t.id) in loose]


def _lowest(places: Mapping[str, ThingLocation], id: str) -> str:
    """What is at the bottom of the stack that a thing is in."""
    seen: set[str] = set()
    while id not in seen and places.get(id, UNKNOWN_LOCATION).of in places:
        seen.add(id)
        id = places[id].of
    return id


def _may_be_at(thing: Thing, side: str, place: Thing, scene: Scene, told: Mapping[str, tuple[float, ...]]) -> bool:
    """Of a thing whose place the scene does not tell. What has only its lowest point in a hollow place may be in it."""
    if is_in(thing, place) is not False:
        return True
    leans = _leans_on(thing, scene)
    if not (place.id in leans if leans else _meets(thing, place, told)):
        return False
    measured = _finite(thing.size, 3) and _finite(place.size, 3)
    if side != "in" or not measured or is_flat(place) or not (place.is_container or opens(place) or is_vessel(place)):
        return True
    x, y, low = lowest_point(thing)
    return inside(drawn_part(place), x, y) and low < rest_limit(place)


def _leans_on(thing: Thing, scene: Scene) -> set[str]:
    """What the scene says that it leans on."""
    leans = (r for r in scene.relations if r.subject == thing.id and r.relation == "leans_on")
    return {r.object for r in leans if not lacks_holder(r, scene)}


def _meets(thing: Thing, place: Thing, told: Mapping[str, tuple[float, ...]]) -> bool:
    """Whether it may rest on another or lean on it: it reaches it. `told`: of `_told_tops`."""
    if not all(_finite(one.position, 3) for one in (thing, place)):
        return False
    if not _finite(place.size, 3):
        near = not place.is_container or math.dist(thing.position[:2], place.position[:2]) <= UNMEASURED_M
        return near and thing.position[2] >= place.position[2] - UNMEASURED_M / 2
    if not _finite(thing.size, 3):
        thing = replace(thing, shape="sphere", size=(UNMEASURED_M,) * 3)
    other, low = _reach(place), lowest_point(thing)[2]
    overlap = (
        low - NEAR_M <= max(told.get(place.id, (top(other),))) and lowest_point(place)[2] <= 2 * thing.position[2] - low
    )
    return overlap and gap(_reach(thing), other) == 0


def _reach(thing: Thing) -> Thing:
    """The ball round a thing that leans, or round a drawer or a chest with its knob and its lid; any other as it is."""
    if tilt(thing) <= LEVEL_RAD and not opens(thing):
        return thing
    return replace(thing, shape="sphere", size=((1 + opens(thing)) * math.hypot(*thing.size),) * 3)


def _rests(place: Thing, low: float, heights: tuple[float, ...]) -> list[tuple[Thing, float]]:
    """What of a thing others rest on, and how high (m): also the rim of what is drawn out of a drawer; of what leans,
    any height, the nearest to `low`. `heights`: of its top (m)."""
    if tilt(place) > LEVEL_RAD:
        least = lowest_point(place)[2]
        return [(place, min(max(low, least), 2 * place.position[2] - least))]
    rims = [(drawn_part(place), float(place.position[2] + interior(place, 0.0)[1][2]))] if opens(place) else []
    return [*((place, up) for up in heights), *rims]


def surfaces(scene: Scene) -> tuple[Thing, ...]:
    """Tables and the like: what is furniture, carries things, and is no container or floor."""
    still = immovable_ids(scene)
    found = [t for t in (*scene.furniture, *scene.objects) if not t.is_container and t.id in still]
    return tuple(
        {
            t.id: t
            for t in found
            if t.shape != "region" and not {t.id, t.shape, t.category} & {"floor", "stand", *FIXTURES}
        }.values()
    )


def obstacles(scene: Scene, now: Mapping[str, Thing], places: Mapping[str, ThingLocation], besides: str) -> list[Thing]:
    """What stands in the way of a thing: every other thing of `now`, containers included; not what is held or in a
    container."""
    away = {id for id in places if final_support(places, id).relation in ("held", "in")}
    loose = [thing for id, thing in now.items() if id not in away | {besides}]
    boxes = (box for box in containers(scene) if box.id not in now)
    unread = (one.thing for one in scene.unread if one.thing is not None and _finite(one.thing.position, 3))
    return [*loose, *boxes, *unread]


def layout(scene: Scene) -> dict[str, ThingLocation]:
    """Every movable thing and where it is. What lies below a thing is not on it, whatever a page says."""
    held = {r.holding: r.robot_id for r in scene.robots if r.holding}
    stated: dict[str, dict[str, str]] = {}
    still = immovable_ids(scene)
    things = {thing.id: thing for thing in (*scene.furniture, *scene.objects)}
    told = _told_tops(scene)
    for edge in scene.relations:
        word = edge.relation.lower()
        one, other = things.get(edge.subject), things.get(edge.object)
        if (
            one is not None
            and other is not None
            and is_below(one, other, word)
            and not (other.id not in still and is_in(one, other))
        ):
            continue
        if other is None and word in BORNE:
            continue
        if word == "held_by":
            held.setdefault(edge.subject, edge.object)
        elif word in ("in", "on", "inside") and edge.subject != edge.object:
            key = "on" if word == "on" else "in"
            stated.setdefault(edge.subject, {})
            # of two supports the smaller fact is the truer one: a cube on a cube is also above the table
            if key not in stated[edge.subject] or edge.object not in still:
                stated[edge.subject][key] = edge.object
    found: dict[str, ThingLocation] = {}
    for thing in movable(scene):
        if thing.id in held:
            found[thing.id] = ThingLocation("held", held[thing.id])
        elif thing.id in stated:
            key = "in" if "in" in stated[thing.id] else "on"
            found[thing.id] = _in_if_within(thing, ThingLocation(key, stated[thing.id][key]), things, still)
        else:
            found[thing.id] = _by_pose(thing, scene, told)
    found |= _on_others_in_a_box(found, stated, things)
    found |= _on_several(found, scene, told)
    for id in sorted(found, key=lambda id: id in stated):  # of a circle, what was only concluded is given up first
        if _bears_itself(found, id):
            found[id] = ThingLocation()
    return found


def _on_several(
    places: Mapping[str, ThingLocation], scene: Scene, told: Mapping[str, tuple[float, ...]]
) -> dict[str, ThingLocation]:
    """Of the things whose own support is not known, those that can rest on nothing but what is on one and the same
    table."""
    found: dict[str, ThingLocation] = {}
    flat = {thing.id for thing in surfaces(scene)}
    loose = [t for t in movable(scene) if not places[t.id].relation and _finite(t.position, 3) and _finite(t.size, 3)]
    for thing in sorted(loose, key=lambda t: lowest_point(t)[2]):
        known = {**places, **found}
        carriers = _leans_on(thing, scene) or {part.id for _, part in _near(thing, scene, told)}
        ends = {final_support(known, id).of if id in known else id for id in carriers}
        within = any(is_in(thing, t) is not False for t in (*scene.furniture, *scene.objects) if t.id != thing.id)
        if len(ends) == 1 and ends <= flat and not within:
            found[thing.id] = ThingLocation("on", ends.pop(), shared=True)
    return found


def _in_if_within(
    thing: Thing, spot: ThingLocation, things: Mapping[str, Thing], still: Container[str]
) -> ThingLocation:
    """The place as stated; in a basket, where that is stated as on the basket."""
    other = things.get(spot.of)
    within = spot.relation == "on" and spot.of in still and other is not None and is_in(thing, other)
    return ThingLocation("in", spot.of) if within else spot


def _on_others_in_a_box(
    places: Mapping[str, ThingLocation], stated: Mapping[str, Mapping[str, str]], things: Mapping[str, Thing]
) -> dict[str, ThingLocation]:
    """Of the things in containers, those that rest on one other thing in the same container."""
    found: dict[str, ThingLocation] = {}
    boxes = {id: final_support(places, id) for id in places}
    for id, spot in places.items():
        if spot.relation != "in":
            continue
        said = stated.get(id, {}).get("on", "")
        thing, peers = things[id], {one: things[one] for one, box in boxes.items() if box == spot and one != id}
        if said in peers:
            found[id] = ThingLocation("on", said)
        elif _finite(thing.position, 3):
            below = [t for t in peers.values() if _finite(t.position, 3) and t.position[2] < thing.position[2]]
            upon = _support(thing, [t for t in below if tilt(t) <= LEVEL_RAD], peers, {})
            found |= {id: upon} if upon.relation else {}
    now = {**places, **found}
    return {id: spot for id, spot in found.items() if not _bears_itself(now, id)}


def _bears_itself(places: Mapping[str, ThingLocation], id: str) -> bool:
    """Whether what it rests on or in rests, at last, on it: of a plate that leans under a cube, both seem the upper."""
    seen, at = {id}, places[id].of
    while at in places and at not in seen:
        seen.add(at)
        at = places[at].of
    return at == id


def _by_pose(thing: Thing, scene: Scene, told: Mapping[str, tuple[float, ...]]) -> ThingLocation:
    """Without a stated relation: by status word where only one thing fits it, else by pose."""
    stated = stated_by_status(thing, scene)
    if stated is not None and (other := scene.thing(stated.object)) and not is_below(thing, other, stated.relation):
        return ThingLocation(stated.relation, stated.object)
    if len(thing.position) < 3:
        return ThingLocation()
    things = (*scene.furniture, *scene.objects)
    others = [t for t in things if t.id != thing.id and _finite(t.position, 3)]
    loose = {t.id for t in movable(scene)}
    if (around := innermost(thing, others)) is not None:
        return ThingLocation("on" if around.id in loose else "in", around.id)
    if any(is_in(thing, t) is None for t in others) or _leans_on(thing, scene):
        return ThingLocation()
    bearing = loose | {t.id for t in (*surfaces(scene), *filter(has_flat_top, scene.furniture))}
    z = thing.position[2]
    below = [t for t in others if t.id not in loose or t.position[2] <= z or tilt(t) > LEVEL_RAD]
    return _support(thing, below, bearing, told)


def _support(
    thing: Thing, others: Iterable[Thing], bearing: Container[str], told: Mapping[str, tuple[float, ...]]
) -> ThingLocation:
    """The highest thing that reaches below it, if that is under its middle and nearest to its underside. A thing that
    leans, and one of which another may carry a part, is on none."""
    x, y, low = *thing.position[:2], lowest_point(thing)[2]
    near = _parts_below(thing, low, others, told)
    if not near or tilt(thing) > LEVEL_RAD:
        return ThingLocation()
    away = {part.id: min(abs(up - low) for up, one in near if one.id == part.id) for _, part in near}
    best = max(near, key=lambda found: found[0])[1]
    unsure = any(away[id] < away[best.id] + SAME_TOP_M for id in away if id != best.id)
    sure = best.id in bearing and inside(best, x, y) and tilt(best) <= LEVEL_RAD and not unsure
    return ThingLocation("on", best.id) if sure else ThingLocation()


def _parts_below(
    thing: Thing, low: float, others: Iterable[Thing], told: Mapping[str, tuple[float, ...]]
) -> list[tuple[float, Thing]]:
    """What a thing with its lowest point there may rest on, and how high (m) that is."""
    below = replace(thing, size=tuple(max(side - 2 * GRAZE_M, 0.0) for side in thing.size))
    solid = (other for other in others if other.shape != "region")
    parts = ((up, part) for other in solid for part, up in _rests(other, low, told.get(other.id, tops(other))))
    return [(up, part) for up, part in parts if _may_rest(below, low, part, up)]


def _near(thing: Thing, scene: Scene, told: Mapping[str, tuple[float, ...]]) -> list[tuple[float, Thing]]:
    """The same of all that is below a thing; nothing of one that leans."""
    if tilt(thing) > LEVEL_RAD:
        return []
    others = (t for t in (*scene.furniture, *scene.objects) if t.id != thing.id and _finite(t.position, 3))
    lower = [t for t in others if t.position[2] <= thing.position[2]]
    return _parts_below(thing, lowest_point(thing)[2], lower, told)


def _may_rest(thing: Thing, low: float, part: Thing, up: float) -> bool:
    """Whether a thing with its lowest point there reaches over a part that is so high (m) and comes down to it."""
    return gap(thing, part) == 0 and -NEAR_M <= up - low <= NEAR_M + max(lying(thing)[:2]) * math.sin(tilt(thing))


def final_support(places: Mapping[str, ThingLocation], id: str) -> ThingLocation:
    """What a thing finally rests in or on, down through stacks; "" for a circle or an unknown."""
    seen: set[str] = set()
    spot = places.get(id, ThingLocation())
    while spot.relation == "on" and spot.of in places and spot.of not in seen:
        seen.add(spot.of)
        spot = places[spot.of]
    return spot if spot.of not in seen else ThingLocation()


def is_flat(thing: Thing | None) -> bool:
    """An open, flat container, as a tray or a plate: what is in it is on it."""
    if thing is None or not thing.is_container:
        return False
    low = len(thing.size) >= 3 and 0 < 4 * thing.size[2] <= min(thing.size[:2])
    return low or is_called(thing, FLAT)


def settled_at(places: Mapping[str, ThingLocation], id: str) -> ThingLocation:
    """The place of a thing; of what is in a container, on another thing or not, the container."""
    end = final_support(places, id)
    return end if end.relation == "in" else places.get(id, UNKNOWN_LOCATION)


def settled(places: Mapping[str, ThingLocation]) -> dict[str, ThingLocation]:
    """`settled_at` of each thing."""
    return {id: settled_at(places, id) for id in places}
