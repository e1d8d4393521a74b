"""What a package's importer has read, parsed item by item: a wrong one is left out by name, and the rest comes over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar, cast

from worldfs.base.messages import coded
from worldfs.base.model import AgentTask, Message, Remark
from worldfs.base.plugin_calls import called
from worldfs.base.plugin_faults import error_line
from worldfs.base.plugin_values import WrongValue, parse

from .import_types import ImportItem, Json, ParsedSource, SkippedItem

T = TypeVar("T")


def parsed_source(found: ParsedSource, importer: str) -> ParsedSource:
    """`importer`: its name, for what is left out. Raises `WrongValue` where it answers with no source of ours."""
    made = ParsedSource(cast("str | None", parse(str | None, found.agent, f"{importer} agent")))
    skipped = made.skipped

    def items(kind: str, hint: object) -> Iterator[object]:
        return _items(getattr(found, kind), ImportItem[hint], f"{importer} {kind}", skipped.append)  # type: ignore[valid-type]  # built here

    made.tasks += cast("Iterator[ImportItem[AgentTask]]", items("tasks", AgentTask))
    made.remarks += cast("Iterator[ImportItem[Remark]]", items("remarks", Remark))
    made.messages += cast("Iterator[ImportItem[Message]]", items("messages", Message))
    made.lines += cast("Iterator[ImportItem[Json]]", items("lines", Json))
    made.baseline += cast("Iterator[ImportItem[Mapping[str, object]]]", items("baseline", Mapping[str, object]))
    for left in _items(found.skipped, SkippedItem, f"{importer} skipped", skipped.append):
        skipped.append(cast("SkippedItem", left))
    made.ignored = cast("dict[str, int]", parse(dict[str, int], found.ignored, f"{importer} ignored"))
    if (stream := found.stream) is not None:
        made.stream = lambda: cast("Iterator[ImportItem[Json]]", _stream(stream, f"{importer} stream", skipped.append))
    return made


def _items(given: object, hint: object, where: str, leave: Callable[[SkippedItem], None]) -> Iterator[object]:
    if not issubclass(type(given), list):
        raise WrongValue(type(given).__name__, path=where, expected=coded("plugin.a_list"), fix=coded("plugin.correct"))
    for number, item in enumerate(list.__iter__(cast("list[object]", given))):
        try:
            yield parse(hint, item, f"{where}[{number}]")
        except WrongValue as wrong:
            leave(SkippedItem(wrong.path, wrong.found, wrong.expected, wrong.fix))


def _stream(stream: Callable[[], object], where: str, leave: Callable[[SkippedItem], None]) -> Iterator[object]:
    """What breaks in the middle is named, and what came before it stays."""
    over, number = object(), 0
    try:
        source = called(lambda: iter(cast("Iterable[object]", stream())), where)
        while (item := called(lambda: next(source, over), where)) is not over:
            try:
                yield parse(ImportItem[Json], item, f"{where}[{number}]")
            except WrongValue as wrong:
                leave(SkippedItem(wrong.path, wrong.found, wrong.expected, wrong.fix))
            number += 1
    except Exception as error:  # whatever a package raises
        leave(SkippedItem(f"{where}[{number}]", error_line(error), coded("plugin.working")))
