"""An agent-state root of version 1 that another program keeps (003): what is in it, thing by thing, for an agent.

A directory for an agent that is not there yet is copied byte for byte instead: `agent_transfer.adopt`. Here its lines
come under names of their own (`v1_session_end`), because its metrics.json has counted them already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from worldfs.base.agent_names import check_agent_name
from worldfs.base.errors import BadInput, WorldError
from worldfs.base.messages import coded
from worldfs.formats.agent import documents, memory
from worldfs.storage.revision import PRIVATE_DIR, of

from .identity_set import IdentitySet
from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, json_objects, parse_document, unreadable_item
from .value_conversion import as_text, comparison_key, identity, parse_time, plain_object

FILES: Final = ("report.json", "tasks.json", "session.json", "memory.md", "metrics.json", "journal.jsonl")
ENOUGH: Final = 2  # of them make a directory an agent's


class AgentStateV1:
    name = "agent-state"
    about = "an agent-state root of version 1 → everything in it"

    def finds(self, place: Path) -> list[ImportSource]:
        if place.is_file():
            return []
        with SourceDir(place) as opened:
            folders = [""] if _is_agent(opened, "") else []
            if not folders:
                names = [name for name, kind in opened.entries("") if kind == "folder" and _fits(name)]
                folders = [name for name in names if _is_agent(opened, name)]
            return [_source(self.name, opened, place, folder) for folder in folders]

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource(source.agent)
        readers: dict[str, Callable[[ParsedSource, bytes, str], None]] = {
            "tasks.json": _tasks, "memory.md": _memory, "metrics.json": _metrics,
            "report.json": _record, "session.json": _record,
        }  # fmt: skip
        journals = []
        with SourceDir(source.base_dir) as place:
            for path in source.files:
                name = path.rpartition("/")[2]
                if name.endswith(".jsonl"):
                    journals.append(path)
                    continue
                data = b""
                try:
                    data = place.document(path)
                    readers.get(name, _letter)(found, data, path)
                except WorldError as error:
                    found.skipped.append(unreadable_item(error, path, data))
        records = found.lines
        found.stream = lambda: _lines(source, found, records, journals)
        return found


def _fits(name: str) -> bool:
    try:
        return bool(check_agent_name(name))
    except BadInput:
        return False


def _is_agent(place: SourceDir, folder: str) -> bool:
    names = {name for name, kind in place.entries(folder) if kind == "file"}
    return len(names.intersection(FILES)) >= ENOUGH


def _source(importer: str, place: SourceDir, where: Path, folder: str) -> ImportSource:
    lead = f"{folder}/" if folder else ""
    names = {name for name, kind in place.entries(folder) if kind in ("file", "link")}
    files = [lead + name for name in FILES if name in names and name != "journal.jsonl"]
    for sub, end in (("inbox", ".json"), (f"{PRIVATE_DIR}/journal", ".jsonl")):
        listed = place.entries(lead + sub)
        files += [f"{lead}{sub}/{name}" for name, kind in listed if kind in ("file", "link") and name.endswith(end)]
    if "journal.jsonl" in names:
        files.append(f"{lead}journal.jsonl")
    agent = folder or where.name
    size = sum(map(place.size, files))
    return ImportSource(importer, where, folder or ".", tuple(files), size, agent if _fits(agent) else None)


def _tasks(found: ParsedSource, data: bytes, path: str) -> None:
    for number, task in enumerate(documents.tasks_read(data, path).tasks):
        key = identity("v1-task", found.agent, task.id, task.created_at)
        found.tasks.append(ImportItem(key, task._replace(extra=plain_object(task.extra)), f"{path}#/tasks/{number}"))


def _memory(found: ParsedSource, data: bytes, path: str) -> None:
    for remark in memory.read(data).remarks:
        key = identity("v1-note", found.agent, remark.section, comparison_key(remark.text))
        found.remarks.append(ImportItem(key, remark, f"{path}:{remark.line}"))


def _metrics(found: ParsedSource, data: bytes, path: str) -> None:
    value = documents.metrics_value(documents.metrics_read(data, path))
    found.baseline.append(ImportItem(identity("v1-metrics", found.agent), plain_object(value), path))


def _record(found: ParsedSource, data: bytes, path: str) -> None:
    """report.json or session.json: what the agent was at when it was left, as a line of the journal."""
    name = path.rpartition("/")[2].removesuffix(".json")
    value = parse_document(data, path)
    if not isinstance(value, dict):
        raise BadInput(coded("plugin.json_kind", kind=type(value).__name__), path=path, expected=coded("file.object"))
    value = plain_object(value)
    at = next((parse_time(value[key]) for key in ("updated_at", "ended_at", "started_at") if value.get(key)), "")
    found.lines.append(ImportItem(of(data), {"ts": at, "event": f"v1_{name}", name: value}, path))


def _letter(found: ParsedSource, data: bytes, path: str) -> None:
    letter = documents.message_read(data, path)
    found.messages.append(
        ImportItem(identity("v1-letter", letter.id), letter._replace(extra=plain_object(letter.extra)), path)
    )


def _lines(
    source: ImportSource, found: ParsedSource, records: list[ImportItem[dict[str, object]]], journals: list[str]
) -> Iterator[ImportItem[dict[str, object]]]:
    yield from records
    with SourceDir(source.base_dir) as place, IdentitySet() as seen:
        for path in journals:
            try:
                for line, value in json_objects(place, path, found.skipped, 0):
                    event = as_text(value.get("event"))
                    if not event:
                        left = SkippedItem(
                            f"{path}:{line.number}",
                            coded("plugin.no_event"),
                            coded("plugin.an_event"),
                            "",
                            line.data[:SHOWN],
                        )
                        found.skipped.append(left)
                        continue
                    key, turn = of(line.data), 1
                    while not seen.add(key):  # the same thing happened twice in one second
                        turn += 1
                        key = identity(of(line.data), turn)
                    entry = {
                        name: item for name, item in plain_object(value).items() if name not in ("seq", "event", "ts")
                    }
                    at = parse_time(value.get("ts"))
                    yield ImportItem(key, {"ts": at, "event": f"v1_{event}", **entry}, f"{path}:{line.number}")
            except WorldError as error:
                found.skipped.append(unreadable_item(error, path))
