"""What would come over from a place for one agent: a dry run, in words. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from worldfs.base.agent_names import check_agent_name
from worldfs.base.errors import NotFound, WorldError
from worldfs.base.json_values import as_int, as_object
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Finding
from worldfs.base.plugin_faults import error_line

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .import_values import parsed_source
from .importer_registry import IMPORTERS, Importer, ImporterRegistry, load
from .source_dir import format_bytes, unreadable_item
from .value_conversion import join_some, one_line, plural

SHOWN: Final = 20  # lines of what was left
COUNTED: Final = 8 << 20  # bytes of a stream that a dry run reads to the end

T = TypeVar("T")


class FoundSource(NamedTuple):
    """A source and what it holds."""

    source: ImportSource
    imported: ParsedSource

    @property
    def name(self) -> str:
        """The source as the record knows it."""
        return f"{self.source.base_dir}/{self.source.path}"


class ImportPlan:
    """What `run_import` will bring to `agent`. `words()` says it."""

    def __init__(self, place: Path, agent: str, also: Iterable[str] = (), *, everyone: bool = False) -> None:
        self.place, self.agent = place, agent
        self.also = frozenset(also)
        self.everyone = everyone
        self.found: list[FoundSource] = []
        self.others: dict[str, int] = {}  # agent → things that are meant for it, and not for ours
        self.offered: list[ImportSource] = []  # taken only if asked for
        self.broken: tuple[Finding, ...] = ()
        self.skipped: list[SkippedItem] = []  # what could not even be opened

    def mine(self, items: Iterable[ImportItem[T]]) -> Iterator[ImportItem[T]]:
        """Those for this agent."""
        for item in items:
            if item.offered and item.offered not in self.also:
                continue
            if item.to is None or is_same_agent(item.to, self.agent) or self.everyone:
                yield item

    def words(self, shown: int = SHOWN) -> list[str]:
        """One line a source, then what is left out and why, at most `shown` lines of it."""
        lines = [_source_words(self, found) for found in self.found]
        if not lines and not self.offered:
            lines.append(coded("plugin.nothing_in", path=str(self.place), names=list(IMPORTERS.built_in)))
        for source in self.offered:
            at = {"importer": source.importer, "path": source.path}
            lines.append(coded("plugin.offered", offered=source.offered, **at))
        for name, number in sorted(self.others.items()):
            lines.append(coded("plugin.for_other", name=name, things=plural(number, "things")))
        for broken in self.broken:
            unusable = coded("plugin.unusable", field=broken.field, found=broken.found)
            lines.append(_explained(unusable, broken.expected, broken.fix))
        lefts = [*self.skipped, *(left for found in self.found for left in found.imported.skipped)]
        return lines + skipped_lines(lefts, shown)


def plan(
    place: str | Path,
    agent: str,
    *,
    importers: Iterable[str] = (),
    also: Iterable[str] = (),
    everyone: bool = False,
    registry: ImporterRegistry | None = None,
) -> ImportPlan:
    """Look for what is known at `place` (a directory or a file) and read it for `agent`.

    `importers`: only these, by name. `also`: what is only taken when asked for ("research-journal"). `everyone`: take
    what is meant for others too. Raises `NotFound` for no such place, `BadInput` for a name that is none.
    """
    where = Path(place).expanduser().absolute()
    if not where.exists():
        raise NotFound(coded("tree.no_file_or_directory"), path=str(where), op="import")
    registry = registry or load()
    made = ImportPlan(where, check_agent_name(agent), also, everyone=everyone)
    chosen = registry.chosen(importers)
    made.broken = registry.broken if not tuple(importers) else ()
    for name, importer in chosen.items():
        foreign = name in registry.foreign
        for source in _tried(made, name, foreign, partial(importer.finds, where)) or ():
            if source.agent is not None and not is_same_agent(source.agent, agent) and not everyone:
                made.others[source.agent] = made.others.get(source.agent, 0) + 1
            elif source.offered and source.offered not in made.also:
                made.offered.append(source)
            else:
                imported = _tried(made, name, foreign, partial(_read, importer, source, foreign=foreign))
                if imported is not None:
                    made.found.append(FoundSource(source, imported))
                    _others(made, imported)
    return made


def is_same_agent(one: str, other: str) -> bool:
    """Do two spellings name one agent? People write a name with a capital, or without."""
    return one.casefold() == other.casefold()


def skipped_lines(lefts: Sequence[SkippedItem], shown: int) -> list[str]:
    """What was skipped, in words; what was not skipped on purpose comes first, the rest is counted."""
    ordered = sorted(lefts, key=lambda left: left.intended)
    lines = [skipped_text(left) for left in ordered[:shown]]
    return lines + ([coded("plugin.more_left", n=len(ordered) - shown)] if len(ordered) > shown else [])


def skipped_text(left: SkippedItem) -> str:
    texts = (left.location, left.found, left.expected, left.fix)
    where, found, expected, fix = (text if isinstance(text, CodedText) else one_line(text, 300) for text in texts)
    code = "plugin.left_out" if left.intended else "plugin.not_understood"
    return _explained(coded(code, where=where, found=found), expected, fix)


def _explained(said: str, expected: str, fix: str) -> str:
    if expected:
        said = coded("runtime.error_expected", said=said, expected=expected)
    return coded("runtime.error_fix", said=said, fix=fix) if fix else said


def _tried(plan: ImportPlan, name: str, foreign: bool, call: Callable[[], T]) -> T | None:
    """What an importer answers. A source that cannot be read is named; so is a foreign importer that breaks."""
    try:
        return call()
    except WorldError as error:
        plan.skipped.append(unreadable_item(error, name))
    except Exception as error:
        if not foreign:
            raise
        plan.skipped.append(
            SkippedItem(
                coded("plugin.importer", name=name),
                error_line(error),
                coded("plugin.working"),
            )
        )
    return None


def _read(importer: Importer, source: ImportSource, *, foreign: bool) -> ParsedSource:
    found = importer.read(source)
    return parsed_source(found, importer.name) if foreign else found


def _others(plan: ImportPlan, imported: ParsedSource) -> None:
    kinds = (imported.tasks, imported.remarks, imported.messages)
    for to in (item.to for items in kinds for item in items):
        if to is not None and not is_same_agent(to, plan.agent) and not plan.everyone:
            plan.others[to] = plan.others.get(to, 0) + 1


def _source_words(plan: ImportPlan, found: FoundSource) -> str:
    source, imported = found
    tasks = list(plan.mine(imported.tasks))
    parts: list[str] = []
    if tasks:
        waiting = sum(item.value.status in ("pending", "active") for item in tasks)
        parts.append(coded("plugin.open_tasks", tasks=plural(len(tasks), "tasks"), n=waiting))
    notes, messages = list(plan.mine(imported.remarks)), list(plan.mine(imported.messages))
    for number, kind in ((len(notes), "notes"), (len(messages), "letters")):
        if number:
            parts.append(plural(number, kind))
    if imported.stream is not None and source.size > COUNTED:
        parts.append(coded("plugin.lines_later"))
    else:
        number = sum(1 for _ in plan.mine(imported.entries()))
        if number:
            parts.append(plural(number, "entries"))
    for item in plan.mine(imported.baseline):
        sessions = as_int(as_object(item.value.get("lifetime")).get("sessions_total"))
        parts.append(coded("plugin.figures_of", sessions=plural(sessions, "sessions")))
    passed = [coded("plugin.kind_count", kind=kind, n=number) for kind, number in imported.ignored.items()]
    at = {"importer": source.importer, "path": one_line(source.path), "size": format_bytes(source.size)}
    text = coded("plugin.source", said=parts or coded("plugin.nothing_for_it"), **at)
    if passed:
        text = coded("plugin.not_taken", said=text, names=join_some(passed, 8))
    return coded("plugin.more_odd", said=text, n=imported.skipped.more) if imported.skipped.more else text
