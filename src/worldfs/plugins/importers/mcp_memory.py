"""The MCP memory server's graph, memory.jsonl: entities with observations, and relations → notes.

Each observation is a note, so that a graph that grew brings only what is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Remark

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, json_objects, parse_document, unreadable_item
from .source_search import find_files, source_per_file
from .value_conversion import as_text, extra_members, identity, note_text, one_line

PATTERNS: Final = (("memory.jsonl",), ("memory.json",), (".mcp", "memory.jsonl"), ("mcp-memory", "memory.jsonl"))
SECTION: Final = "Known Facts"
_ENTITY: Final = ("type", "name", "entityType", "observations")
_RELATION: Final = ("type", "from", "to", "relationType")


class McpMemory:
    name = "mcp-memory"
    about = "the MCP memory server's memory.jsonl → notes in memory.md"

    def finds(self, place: Path) -> list[ImportSource]:
        where, files = find_files(place, PATTERNS, _fits)
        with SourceDir(where) as opened:
            files = [path for path in files if _fits(opened.head(path)) or not opened.head(path, 1)]
        return source_per_file(self.name, (where, files))

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource()
        with SourceDir(source.base_dir) as place:
            try:
                if b'"entities"' in place.head(source.path, 200).replace(b" ", b"")[:60]:
                    _graph(found, place, source.path)
                else:
                    for line_, value in json_objects(place, source.path, found.skipped):
                        _fact(found, value, f"{source.path}:{line_.number}", line_.data)
            except WorldError as error:
                found.skipped.append(unreadable_item(error, source.path))
        seen: set[str] = set()
        kept = []
        for item in found.remarks:
            if item.key in seen:
                found.ignore(coded("plugin.fact_again"))
            else:
                seen.add(item.key)
                kept.append(item)
        found.remarks = kept
        return found


def _fits(head: bytes) -> bool:
    flat = head.replace(b" ", b"")
    typed = b'"type":"entity"' in flat or b'"type":"relation"' in flat
    return typed or (flat.lstrip()[:12] == b'{"entities":' or (b'"entities":[' in flat and b'"entityType"' in flat))


def _graph(found: ParsedSource, place: SourceDir, path: str) -> None:
    """The form of a whole graph: {"entities": […], "relations": […]}."""
    data = place.document(path)
    value = parse_document(data, path)
    if not isinstance(value, dict):
        found.skipped.append(SkippedItem(path, coded("plugin.no_graph"), coded("plugin.a_graph"), "", data[:SHOWN]))
        return
    for kind, word in (("entities", "entity"), ("relations", "relation")):
        items = value.get(kind)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            fact = {**item, "type": word} if isinstance(item, dict) else {}
            _fact(found, fact, f"{path}#/{kind}/{number}", repr(item).encode())


def _fact(found: ParsedSource, value: dict[str, object], where: str, raw: bytes) -> None:
    facts = list(_texts(value))
    if not facts:
        expected = coded("plugin.a_fact")
        found.skipped.append(SkippedItem(where, coded("plugin.no_fact"), expected, "", raw[:SHOWN], len(raw) <= SHOWN))
        return
    for key, text in facts:
        found.remarks.append(ImportItem(key, Remark(SECTION, note_text(text)), where))
    known = _ENTITY if value["type"] == "entity" else _RELATION
    more, large = extra_members(value, known)
    for name in (*more, *large):
        found.skipped.append(
            SkippedItem(
                f"{where}/{name}", coded("plugin.a_field", name=one_line(name, 60)), ", ".join(known), "", raw[:SHOWN]
            )
        )
    observations = value.get("observations")
    for number, item in enumerate(observations if isinstance(observations, list) else ()):
        if not isinstance(item, str):
            left = SkippedItem(
                f"{where}/observations/{number}",
                coded("plugin.a_kind", kind=type(item).__name__),
                coded("plugin.a_text"),
                "",
                repr(item).encode(),
            )
            found.skipped.append(left)


def _texts(value: dict[str, object]) -> Iterator[tuple[str, str]]:
    """(identity, words) of each fact in an entity or relation."""
    if value.get("type") == "entity" and as_text(value.get("name")):
        name, kind = as_text(value["name"]), as_text(value.get("entityType"))
        label = f"**{one_line(name)}**" + (f" ({one_line(kind, 60)})" if kind else "")
        observations = value.get("observations")
        texts = [item for item in observations if isinstance(item, str)] if isinstance(observations, list) else []
        if not texts:
            yield identity("mcp-memory", name), label
        for text in texts:
            yield identity("mcp-memory", name, text), f"{label}: {text}"
    elif value.get("type") == "relation" and as_text(value.get("from")) and as_text(value.get("to")):
        ends = (as_text(value["from"]), as_text(value.get("relationType")), as_text(value["to"]))
        yield (
            identity("mcp-memory", *ends),
            f"**{one_line(ends[0])}** {one_line(ends[1]) or 'is related to'} **{one_line(ends[2])}**",
        )
