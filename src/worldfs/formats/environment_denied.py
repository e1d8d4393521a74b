"""Labels of where a thing is, taken out of a document where a body saw it elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from worldfs.base.json_values import as_object
from worldfs.base.model import Json, Relation, Scene
from worldfs.base.resting import SLACK
from worldfs.base.stated_places import stated_by_status
from worldfs.formats.environment_entries import is_well_formed, updated
from worldfs.formats.environment_read import WORDS

_ENDS = {"edges": (("from", "source"), ("to", "target")), "relations": (("subject",), ("object",))}


def without_denied(value: Json, scene: Scene, seen: Scene) -> Json:
    """The document without the relations and status words that its positions contradict, of each thing that was
    observed where the document has it. `scene`: the document as it is read. The very same value if there are none."""
    measured = {thing.id: thing for thing in (*seen.objects, *seen.furniture) if is_well_formed(thing)}
    denied: set[Relation] = set()
    for stated in scene.contradicted:
        there, now = scene.thing(stated.subject), measured.get(stated.subject)
        if there is None or now is None or stated in seen.relations:
            continue
        if not is_well_formed(there) or math.dist(there.position, now.position) <= SLACK:
            denied.add(stated)
    if not denied:
        return value

    def corrected(entry: Any, id: str = "") -> Any:
        id = id or (str(entry.get("object_key") or entry.get("id")) if isinstance(entry, dict) else "")
        thing = scene.thing(id)
        for key in ("status", "state") if thing is not None and isinstance(entry, dict) else ():
            word = entry.get(key)
            if thing and isinstance(word, str) and stated_by_status(replace(thing, status=word), scene) in denied:
                now = measured[id].status
                entry = entry | {key: "" if now == word else now}
        return entry

    graph, objects = as_object(value.get("scene_graph")), value.get("objects")
    nodes = graph.get("nodes")
    entries = [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
    names = {str(node.get("id")): str(node.get("object_key") or node.get("id")) for node in entries}
    if isinstance(objects, list):
        value = updated(value, objects=[corrected(entry) for entry in objects])
    elif isinstance(objects, dict):
        value = updated(value, objects={id: corrected(entry, id) for id, entry in objects.items()})
    if isinstance(nodes, list):
        graph = updated(graph, nodes=[corrected(node) for node in nodes])
    for key, ends in _ENDS.items():
        if isinstance(edges := graph.get(key), list):
            graph = updated(graph, **{key: [edge for edge in edges if _relation(edge, ends, names) not in denied]})
    return updated(value, scene_graph=graph) if graph else value


def _relation(edge: Any, ends: tuple[tuple[str, ...], ...], names: dict[str, str]) -> Relation | None:
    if not isinstance(edge, dict):
        return None
    one, other = (str(next((edge[key] for key in keys if key in edge), "")) for keys in ends)
    word = str(edge.get("relation", edge.get("predicate", ""))).lower()
    return Relation(names.get(one, one), WORDS.get(word, word), names.get(other, other))
