"""The steps from one page version of ENVIRONMENT.md to the next (000, "v1 vs v2 Differences")."""

from __future__ import annotations

from worldfs.base.model import Json
from worldfs.formats import block, jsontext
from worldfs.formats.environment_dialects import locate


def upgrade(data: bytes) -> bytes:
    """One step from page v1 to v2, losslessly: `robot` becomes the one element of `robots`, and the keys that v2
    adds appear empty. A document of any other dialect comes back as it is.
    """
    text = block.decode(data)
    found, dialect = locate(text)
    if found is None or dialect != "page1":
        return data
    value: Json = found.value
    if found.language == "json":
        inside = text[found.start : found.end]
        key, key_end, start, end = jsontext.member(inside, "robot")
        inside = f'{inside[:key]}"robots"{inside[key_end:start]}[{inside[start:end]}]{inside[end:]}'
        text = block.replace(text, found, inside)
        again, _ = locate(text)
        assert again is not None
        found, value = again, again.value
    robots = value.get("robots", [value.get("robot")])
    graph = value.get("scene_graph", {})
    rest = {key: item for key, item in value.items() if key != "robot"}
    new = rest | {"schema_version": "v2.0", "robots": robots}
    if isinstance(graph, dict):
        new["scene_graph"] = (
            {"nodes": [], "edges": []} | graph if not graph else graph | {"edges": graph.get("edges", [])}
        )
    new.setdefault("perception", {})
    return block.edit(text, found, new).encode()
