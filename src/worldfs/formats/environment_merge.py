"""An observation written into an ENVIRONMENT.md: by owner, in the dialect found, nothing else touched (D6).

Who owns what. A robot's entry is its own, by id. A thing that this writer adds carries `source: <robot_id>`, and only
a thing so marked is removed when that robot no longer reports it; a thing that somebody else wrote is updated and
stays. Edges among things just observed are replaced, and so is where an observed thing lies; all others stay. Numbers
within TOLERANCE of the file's stay as the file spells them, so a body at rest rewrites nothing. A thing observed with
a position that is no finite number is neither written nor removed.
"""

from __future__ import annotations

from worldfs.formats import block
from worldfs.formats.environment_dialects import locate
from worldfs.formats.environment_entries import Seen
from worldfs.formats.environment_keyed import q1, runtime, v0
from worldfs.formats.environment_page import page
from worldfs.formats.environment_upgrade import upgrade
from worldfs.formats.values import same
from worldfs.ground.model import Json, Scene

_FORMS = {"page2": page, "page1": page, "q1": q1, "r": runtime, "v0": v0}


def merge(data: bytes, seen: Scene, *, robot_id: str, now: str) -> bytes:
    """The document with what `robot_id` observed; `data` itself if that changes nothing.

    `now` (ISO 8601) becomes `updated_at` where the dialect has that key. Empty data becomes a page-form document.
    Raises BadInput for a document that cannot be read: it is never replaced.
    """
    text = block.decode(data)
    found, dialect = locate(text)
    old: Json = found.value if found else {}
    if dialect == "page1" and old["robot"].get("robot_id", robot_id) != robot_id:
        return merge(upgrade(data), seen, robot_id=robot_id, now=now)  # v1 has no room for a second robot
    seen_by = Seen(seen, robot_id, frozenset())
    if dialect == "empty":
        base = _template(now) | old
        new = page(base, seen_by)
        changed = not same(base, new)
    else:
        new = _FORMS[dialect](old, seen_by)
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
