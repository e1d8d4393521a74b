"""A foreign ENVIRONMENT.md of any dialect after one robot's observation: only what that robot measured is another."""

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.formats import block, environment

ME, OTHERS = "me_001", ("go2_edu_001", "desktop_pet_001")
THINGS = ("apple", "cup", "door_key")
DIALECTS = ("page2", "page1", "q1", "r", "v0")
# what a body measures of a thing, and of itself, by the dialect's own keys
MEASURED = {"position", "orientation", "status", "center", "location", "state", "pose"}
ROBOT = {"robot_id", "pose", "robot_pose", "joint_state", "gripper", "gripper_state", "holding"}
NOW = "2026-11-21T00:00:00Z"

words = st.text("abcdefgé红 _-", min_size=1, max_size=8)
values = st.one_of(words, st.booleans(), st.none(), st.integers(-9, 9), st.lists(st.integers(0, 9), max_size=3))
extras = st.dictionaries(words.map("x_".__add__), values, max_size=3)
numbers = st.floats(-3, 3).map(lambda x: round(x, 3))
places = st.tuples(numbers, numbers, numbers)
states = st.sampled_from(["empty", "fresh", "on_table", "held", "broken"])


def xyz(place, unit=1):
    return dict(zip("xyz", (round(unit * p, 3) for p in place), strict=True))


@st.composite
def documents(draw):
    """(dialect, document): whole sections by other writers, each entry with keys that no reader knows."""
    dialect = draw(st.sampled_from(DIALECTS))
    named = {id: draw(places) for id in draw(st.sets(st.sampled_from(THINGS), min_size=1))}
    ids = list(named)

    def pair():
        return draw(st.sampled_from(ids)), draw(st.sampled_from([*ids, "table", "n_else"]))

    sure = [draw(st.floats(0, 1).map(lambda x: round(x, 2))) for _ in range(draw(st.integers(0, 4)))]
    if dialect == "v0":
        return dialect, {
            id: {"type": "thing", "position": xyz(place, 100)} | {"state": draw(states)} | draw(extras)
            for id, place in named.items()
        }
    if dialect == "r":
        objects = {
            id: {"label": id, "confidence": 0.5, "state": draw(states), "pose": {"position": list(place)}}
            | draw(extras)
            for id, place in named.items()
        }
        relations = [
            {"subject": (p := pair())[0], "relation": draw(st.sampled_from(["on", "near"])), "object": p[1], "score": s}
            for s in sure
        ]
        value = {"objects": objects, "scene_graph": {"relations": relations}, "targets": {"t": draw(extras)}}
    elif dialect == "q1":
        robots = {
            id: {"robot_pose": {"frame": "map", **xyz(draw(places))}, "joint_state": {"joint_1": 0.5}} | draw(extras)
            for id in OTHERS
        }
        if draw(st.booleans()):
            robots[ME] = {"connection_state": {"status": "ok"}, "joint_state": {"wheel": 1}} | draw(extras)
        objects = {
            id: {"type": "thing", "position": xyz(place, 100), "state": draw(states)} | draw(extras)
            for id, place in named.items()
        }
        nodes = [
            {"id": f"n_{id}", "object_key": id, "center": xyz(place), "confidence": 0.9} | draw(extras)
            for id, place in named.items()
        ]
        edges = [
            {"source": f"n_{(p := pair())[0]}", "target": f"n_{p[1]}", "confidence": s}
            | {"relation": draw(st.sampled_from(["ON", "CLOSE_TO", "IN"]))}
            for s in sure
        ]
        value = {"robots": robots, "objects": objects, "scene_graph": {"nodes": nodes, "edges": edges}}
    else:
        robots = [{"robot_id": id, "pose": list(draw(places)), "joint_state": {"a": 1}} | draw(extras) for id in OTHERS]
        objects = [{"id": id, "name": id, "position": list(place)} | draw(extras) for id, place in named.items()]
        nodes = [
            {"id": id, "type": "object", "position": list(place), "status": draw(states)} | draw(extras)
            for id, place in named.items()
        ]
        value = {"objects": objects, "scene_graph": {"nodes": nodes}}
        if dialect == "page1":
            value = {"robot": {"robot_id": ME, "pose": [0, 0, 0]} | draw(extras), **value}
        else:
            edges = [
                {"from": (p := pair())[0], "to": p[1], "relation": draw(st.sampled_from(["on", "near"])), "sure": s}
                for s in sure
            ]
            value = {"robots": robots, **value}
            value["scene_graph"]["edges"] = edges
    return dialect, value | {"perception": {"camera_rgb": "ceiling/1.png"}} | draw(extras)


def rendered(value):
    """One entry a line, spelled as no writer of ours spells it."""
    sections = []
    for key, part in value.items():
        if key in ("objects", "robots", "scene_graph") and isinstance(part, dict):
            inner = ",\n".join(f"  {json.dumps(k)}:   {lines(v)}" for k, v in part.items())
            sections.append(f"{json.dumps(key)}: {{\n{inner}\n}}")
        else:
            sections.append(f"{json.dumps(key)}: {lines(part)}")
    body = ",\n".join(sections)
    return f"# Umgebung\r\n\r\nHände weg.\r\n```json\n{{\n{body}\n}}\n```\r\n\r\nEnd `{{`."


def lines(part):
    if isinstance(part, list) and any(isinstance(item, dict) for item in part):
        return "[\n" + ",\n".join(f"    {json.dumps(item, separators=(' ,  ', ' : '))}" for item in part) + "\n  ]"
    return json.dumps(part, separators=(" ,  ", " : "))


@st.composite
def observed(draw, scene):
    """(before, seen): a world built from the document, with guesses, in which some things then moved."""
    stand = Thing("stand_apple", category="stand", position=(1.0, 1.0, 0.1), size=(0.1,) * 3, shape="table")
    built = tuple(
        replace(t, position=(*t.position[:2], t.position[2] + 0.035), size=(0.1,) * 3, shape="box", mass=0.2, extra={})
        for t in scene.objects
        if len(t.position) == 3
    )
    robot = RobotState(ME, (0.0, 0.0, 0.0), {"joint_1": 0.1, "finger": 0.02}, "open")
    on = tuple(Relation(t.id, "on", "stand_apple") for t in built)
    before = Scene((robot,), built, (*scene.furniture, stand), on, {"camera_rgb": "artifacts/camera/1.png"})
    moved = draw(st.sets(st.sampled_from([t.id for t in built])) if built else st.just(set()))
    things = tuple(replace(t, position=(0.5, 0.5, 2.0), status="held") if t.id in moved else t for t in built)
    relations = tuple(
        Relation(t.id, "held_by", ME) if t.id in moved else Relation(t.id, "on", "stand_apple") for t in built
    )
    if draw(st.booleans()):
        robot = replace(robot, joint_state={"joint_1": 0.7, "finger": 0.02})
    return before, replace(before, robots=(robot,), objects=things, relations=relations), moved


def without(entry, keys):
    return [(key, value) for key, value in entry.items() if key not in keys]


def entries(value, dialect):
    """(section, id, entry) of all that is listed or kept by id."""
    graph = value.get("scene_graph", {}) if dialect != "v0" else {}
    sections = {"": value} if dialect == "v0" else {"objects": value.get("objects"), "robots": value.get("robots")}
    for section, part in (sections | {"nodes": graph.get("nodes")}).items():
        pairs = part.items() if isinstance(part, dict) else ((e.get("robot_id", e.get("id")), e) for e in part or [])
        yield from ((section, id, entry) for id, entry in pairs)


@given(documents(), st.data())
@settings(max_examples=40, deadline=None)
def test_only_what_this_robot_measured_is_another(found, data):
    dialect, value = found
    text = rendered(value)
    bytes_before = text.encode()
    assert environment.read(bytes_before).dialect == dialect
    before, seen, moved = data.draw(observed(environment.read(bytes_before).scene))
    still = environment.merge(bytes_before, before, robot_id=ME, now=NOW, before=before)
    after = environment.merge(bytes_before, seen, robot_id=ME, now=NOW, before=before).decode()
    assert after.startswith(text[: text.index("```json")]) and after.endswith(text[text.rindex("```") :])
    new = block.find(after, ()).value
    carried = {entry for id in moved for entry in (id, f"n_{id}")}
    old_entries, new_entries = list(entries(value, dialect)), list(entries(new, dialect))
    kept = {(section, id): entry for section, id, entry in new_entries}
    for section, id, entry in old_entries:
        own = id == ME or id in carried
        measured = ROBOT if id == ME else MEASURED if own else frozenset()
        assert without(kept[section, id], measured)[: len(without(entry, measured))] == without(entry, measured)
        if not own:
            assert kept[section, id] == entry
            assert json.dumps(entry, separators=(" ,  ", " : ")) in after  # as it was spelled
        elif entry.get("state", entry.get("status")) in ("empty", "fresh", "broken"):
            word = "state" if "state" in entry else "status"
            assert kept[section, id][word] == entry[word]
    known = {(section, id) for section, id, _ in old_entries}
    added = [id for section, id, _ in new_entries if (section, id) not in known]
    assert set(added) <= {ME} | carried
    for key in value.keys() - {"robots", "robot", "objects", "scene_graph"} if dialect != "v0" else ():
        assert new[key] == value[key], key
    if dialect != "v0":
        graph, graph_after = value["scene_graph"], new["scene_graph"]
        for name in ("edges", "relations"):
            for edge in graph.get(name, []):
                ends = edge.get("from", edge.get("source", edge.get("subject")))
                carries = str(edge["relation"]).lower() in ("on", "in")
                assert edge in graph_after[name] or (ends in carried and carries), edge
    # a world in which nothing has changed since it was built says nothing but that this robot is there
    if dialect in ("r", "v0", "page1") or ME in (value["robots"] if dialect == "q1" else ()):
        assert still == bytes_before
    else:
        assert [id for _, id, _ in entries(block.find(still.decode(), ()).value, dialect)].count(ME) == 1
