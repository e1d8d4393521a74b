"""The rules of each document of an agent: its writer, and what a foreign edit of it becomes (agent_state §3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .agent_directory import AgentDirectory
from .document_merge import DocumentRules, MergeResult
from .merged_document import MergedDocument

if TYPE_CHECKING:
    from worldfs.base.model import Finding

    from .fact_history import FactReader


MEMORY_MOST: Final = 2 << 20
"""Bytes of memory.md: some half a million tokens, more than any prompt holds."""
PROPOSED: Final = ("summary", "current_task", "next_priority", "blocked_by")
"""What an agent may say of itself by editing report.json."""


def documents(agent_dir: AgentDirectory) -> dict[str, MergedDocument]:
    """The five documents of an agent directory by file name."""
    rules = {
        "report.json": DocumentRules(_any_object("report.json"), _report, _clean, keep=4),
        "tasks.json": DocumentRules(_tasks, _merged_tasks, _clean, facts=_task_facts),
        "session.json": DocumentRules(_any_object("session.json"), _ours, _clean, keep=4),
        "metrics.json": DocumentRules(_any_object("metrics.json"), _ours, _clean, keep=4),
        "memory.md": DocumentRules(_memory, _merged_memory, _clean, facts=_memory_facts, most=MEMORY_MOST),
    }
    return {name: MergedDocument(agent_dir, name, rule) for name, rule in rules.items()}


def _task_facts() -> FactReader:
    from .fact_readers import TaskFacts

    return TaskFacts()


def _memory_facts() -> FactReader:
    from .fact_readers import MemoryFacts

    return MemoryFacts()


def mapping(data: bytes) -> Json:
    """A document's value; {} for what is none (its judge has said so)."""
    try:
        value = parse_json(data)
    except ValueError:
        return {}
    return value if type(value) is dict else {}


def _any_object(name: str) -> Callable[[bytes], Sequence[Finding]]:
    def judge(data: bytes) -> Sequence[Finding]:
        try:
            if type(parse_json(data)) is dict:
                return ()
            found = "no JSON object"
        except ValueError as error:
            found = f"no JSON: {error}"
        return (_finding(name, coded("file.json_object"), found),)

    return judge


def _tasks(data: bytes) -> Sequence[Finding]:
    from worldfs.formats.agent import documents

    return documents.tasks_judge(data)


def _memory(data: bytes) -> Sequence[Finding]:
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return (_finding("memory.md", coded("file.utf8_text"), coded("file.no_utf8_at", at=error.start)),)
    if not data.strip():
        return (_finding("memory.md", coded("file.the_memory"), coded("file.empty_file")),)
    return ()


def _finding(field: str, expected: str, found: str) -> Finding:
    from worldfs.base.model import Finding

    return Finding("SCHEMA_VALIDATION", field, expected, found, coded("file.write_whole"))


def _merged_tasks(bases: Sequence[bytes], ours: bytes, theirs: bytes) -> MergeResult:
    from worldfs.formats.agent import merge_tasks

    base = bases[merge_tasks.best_base(bases, theirs)] if bases else ours
    return MergeResult(*merge_tasks.merge_tasks(base, ours, theirs))


def _merged_memory(bases: Sequence[bytes], ours: bytes, theirs: bytes) -> MergeResult:
    from worldfs.formats.agent.merge_memory import merge_memory
    from worldfs.formats.agent.merge_tasks import best_base

    base = bases[best_base(bases, theirs)] if bases else ours
    return MergeResult(*merge_memory(base, ours, theirs))


def _report(bases: Sequence[bytes], ours: bytes, theirs: bytes) -> MergeResult:
    """A proposal: what the agent says of itself is taken over, the rest is the kernel's."""
    from worldfs.formats.agent.jsonfile import render

    mine, proposed = mapping(ours), mapping(theirs)
    older = [mapping(base) for base in bases]
    ignored = []
    changed = dict(mine)
    for key, value in proposed.items():
        if key in mine and mine[key] == value:
            continue
        stale = any(key in old and old[key] == value for old in older)
        if key in PROPOSED and (value is None or isinstance(value, str)) and not stale:
            changed[key] = value
        elif not stale:
            ignored.append(key)
    words = (f"only the kernel writes {', '.join(ignored)} of report.json",) if ignored else ()
    return MergeResult(ours if changed == mine else render(changed, ours), words)


def _ours(bases: Sequence[bytes], ours: bytes, theirs: bytes) -> MergeResult:
    if any(theirs == base for base in bases):
        return MergeResult(ours)
    return MergeResult(ours, ("only the kernel writes this file",))


def _clean(data: bytes) -> bytes:
    from worldfs.formats.agent.redact import redact_bytes

    return redact_bytes(data)


def with_members(data: bytes, changes: Mapping[str, object], old: Json | None = None) -> bytes:
    """A JSON document with some of its top keys changed, everything else as it was. `old`: its value, if known."""
    from worldfs.formats.agent.jsonfile import render

    old = mapping(data) if old is None else old
    return render({**old, **changes}, data, old=old or None)
