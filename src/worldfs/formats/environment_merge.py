"""An observation written into an ENVIRONMENT.md: by owner, in the dialect found, nothing else touched (workspace D6).

Ownership. A robot's entry is its own, by id. A thing that this writer adds carries `source: <robot_id>`, and only
a thing so marked is removed when that robot no longer reports it. In an entry that is there already only what
was measured is written: where a thing lies, how, and the word for that; its name, size, mass and colour, and every
key that this writer does not know, stay. Edges change only where what carries a thing changed, or where they and the
position of a thing that was observed there contradict each other; all others stay.

A body that builds its world from the document has measured nothing yet: what it took from there, or guessed where the
document is silent, is `before`, and what has not changed since is not written. Numbers within TOLERANCE of the file's
stay as the file spells them, so a body at rest rewrites nothing. A thing observed with a position that is no finite
number is neither written nor removed.
"""

from __future__ import annotations

from dataclasses import replace

from worldfs.base.json_values import as_object
from worldfs.base.model import Json, Scene
from worldfs.formats import block
from worldfs.formats.environment_denied import without_denied
from worldfs.formats.environment_dialects import locate
from worldfs.formats.environment_entries import NOTHING, ObservationUpdate, suppress_jitter
from worldfs.formats.environment_keyed import q1, runtime, v0
from worldfs.formats.environment_page import page
from worldfs.formats.environment_read import scene_of
from worldfs.formats.environment_upgrade import upgrade
from worldfs.formats.values import same

_FORMS = {"page2": page, "page1": page, "q1": q1, "r": runtime, "v0": v0}


def merge(
    data: bytes,
    seen: Scene,
    *,
    robot_id: str,
    now: str,
    before: Scene = NOTHING,
    whole: bool = True,
    measured: bool = True,
) -> bytes:
    """The document with what `robot_id` observed; `data` itself if that changes nothing.

    `before`: what of the observation the document gave, or what is guessed where it is silent, and what was written
    of it since. `now` (ISO 8601) becomes `updated_at` where the dialect has that key. Empty data becomes a
    page-form document.
    Raises BadInput for a document that cannot be read: it is never replaced.
    """
    text = block.decode(data)
    found, dialect = locate(text)
    old: Json = found.value if found else {}
    if dialect == "page1" and as_object(old["robot"]).get("robot_id", robot_id) != robot_id:
        return merge(
            upgrade(data), seen, robot_id=robot_id, now=now, before=before, measured=measured
        )  # v1 holds one robot only
    if dialect == "empty":
        base = _template(now) | old
        new = page(base, ObservationUpdate(seen, robot_id))  # nothing of what `before` was taken from is left
        changed = not same(base, new)
    else:
        update = ObservationUpdate(suppress_jitter(before, seen), robot_id, before=before, whole=whole)
        new = _FORMS[dialect](old, replace(update, document=lambda: scene_of(old, dialect)[0]))
        new = without_denied(new, scene_of(new, dialect)[0], seen) if measured else new
        changed = not same(old, new)
    if not changed:
        return data
    if dialect.startswith("page") or dialect == "empty" or "updated_at" in new:
        new = new | {"updated_at": now}
    if found:
        return block.edit(text, found, new).encode()
    return block.append(text, "ENVIRONMENT", new).encode()


def _template(now: str) -> Json:
    return {
        "schema_version": "v2.0",
        "updated_at": now,
        "scene_graph": {"nodes": [], "edges": []},
        "robots": [],
        "objects": [],
        "perception": {},
    }
