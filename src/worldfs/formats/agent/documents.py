"""The JSON documents of Agent State v1 as nouns: read, judged, written (003; reference, ambiguities 2, 6, 9).

For each document X: `X_read` (bytes to noun; `BadInput` with a pointer for what means nothing), `X_value` (noun to
JSON, members in the specification's order, unknown ones last), `X_write` (noun to bytes, laid out as the file was;
refuses what it would not call valid), `X_judge` (everything that is wrong with a text). Readers take words that they
do not know as they are, so that a file opens and is rewritten byte for byte; judging names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model.agent import (
    OUTCOMES,
    AgentReport,
    AgentTask,
    LastSession,
    Message,
    Metrics,
    SessionRecord,
    TaskList,
)

from . import document_schemas
from .jsonfile import Json, load, load_any, render
from .object_schema import ObjectSchema, check, finding

if TYPE_CHECKING:
    from worldfs.base.model import Finding

__all__ = [
    "DOCUMENTS", "DocumentFormat", "TaskList", "entry_findings", "message_judge", "message_rank", "message_read",
    "message_value", "message_write", "metrics_findings", "metrics_judge", "metrics_read", "metrics_value",
    "metrics_write", "report_judge", "report_read", "report_value", "report_write", "session_findings",
    "session_judge", "session_read", "session_value", "session_write", "task_findings", "task_of", "task_value",
    "tasks_findings", "tasks_judge", "tasks_read", "tasks_understood", "tasks_value", "tasks_write",
]  # fmt: skip

Findings = tuple["Finding", ...]
_N = TypeVar("_N")


_FATAL: Final = ("WRONG_TYPE", "MISSING_FIELD")
_NAMES: Final = {
    cls: frozenset(cls._fields) - {"extra"}
    for cls in (LastSession, AgentReport, AgentTask, SessionRecord, Metrics, TaskList)
}
_MESSAGE: Final = frozenset(Message._fields) - {"extra", "sender"}


# -- report.json -----------------------------------------------------------------------------------------------------


def report_read(data: bytes, file: str = "report.json") -> AgentReport:
    value = load(data, file)
    _passable(document_schemas.REPORT, value, file)
    last = value.get("last_session")
    report = _noun(AgentReport, value)
    return report if last is None else report._replace(last_session=_noun(LastSession, last))


def report_value(report: AgentReport) -> Json:
    value, last = _flat(report), report.last_session
    value["last_session"] = None if last is None else _flat(last)
    return value


def report_write(report: AgentReport, like: bytes = b"") -> bytes:
    return _written(document_schemas.REPORT, report_value(report), like, report_findings, "report.json")


def report_findings(value: Any, file: str = "report.json") -> Findings:
    return check(document_schemas.REPORT, value, file)


def report_judge(data: bytes, file: str = "report.json") -> Findings:
    return _judged(data, file, report_findings)


# -- tasks.json ------------------------------------------------------------------------------------------------------


def tasks_read(data: bytes, file: str = "tasks.json") -> TaskList:
    """Known synonyms of words are read as the specification's (`tasks.normal`)."""
    value, found = tasks_understood(load_any(data, file), file)
    _first_fatal(found)
    listed = _noun(TaskList, value)
    return listed._replace(tasks=tuple(_noun(AgentTask, task) for task in value["tasks"]))


def tasks_understood(value: Any, file: str = "tasks.json") -> tuple[Any, Findings]:
    """What a file holds in the specification's words, and what is wrong with it then. Fast for the usual one."""
    found = tasks_findings(value, file)
    if found:
        from .task_normalizer import normalize

        value, before = normalize(value), value
        if value is not before:
            found = tasks_findings(value, file)
    return value, found


def task_of(value: Json) -> AgentTask:
    """A task of a list that passed."""
    return _noun(AgentTask, value)


def task_findings(value: Any, file: str = "tasks.json") -> Findings:
    """What is wrong with one task by itself."""
    return check(document_schemas.TASK, value, file)


def task_value(task: AgentTask) -> Json:
    return _flat(task)


def tasks_value(listed: TaskList) -> Json:
    value = _flat(listed)
    value["tasks"] = [_flat(task) for task in listed.tasks]
    return value


def tasks_write(listed: TaskList, like: bytes = b"") -> bytes:
    return _written(document_schemas.TASKS, tasks_value(listed), like, tasks_findings, "tasks.json")


def tasks_findings(value: Any, file: str = "tasks.json") -> Findings:
    """What is wrong with the value as it is: synonyms are findings here (`tasks_judge` understands them)."""
    found = check(document_schemas.TASKS, value, file)
    if type(value) is not dict or type(value.get("tasks")) is not list:
        return found
    more = []
    seen: dict[Any, int] = {}
    for index, task in enumerate(value["tasks"]):
        name = task.get("id") if type(task) is dict else None
        if type(name) is not str:
            continue
        if not name.strip():
            fix = "give the task an id"
            more.append(
                finding("EMPTY_ID", file, f"/tasks/{index}/id", expected=coded("file.an_id"), found='""', fix=fix)
            )
        elif name in seen:
            more.append(
                finding(
                    "DUPLICATE_ID", file, f"/tasks/{index}/id", expected=coded("file.own_id"),
                    found=f'"{name}", as /tasks/{seen[name]} has', fix=coded("file.task_id"),
                )
            )  # fmt: skip
        else:
            seen[name] = index
    return (*found, *more) if more else found


def tasks_judge(data: bytes, file: str = "tasks.json") -> Findings:
    """What is wrong with a text, after known synonyms and forgotten members are understood."""
    try:
        return tasks_understood(load_any(data, file), file)[1]
    except BadInput as error:
        return (_said(error, file),)


# -- session.json ----------------------------------------------------------------------------------------------------


def session_read(data: bytes, file: str = "session.json") -> SessionRecord:
    value = load(data, file)
    _passable(document_schemas.SESSION, value, file)
    return session_of(value)


def session_of(value: Json) -> SessionRecord:
    """The record of a file's value that is known to be one."""
    record = _noun(SessionRecord, value)
    return record._replace(errors=tuple(record.errors))


def session_value(record: SessionRecord) -> Json:
    value = _flat(record)
    value["errors"] = list(record.errors)
    return value


def session_write(record: SessionRecord, like: bytes = b"") -> bytes:
    """`like`: the file as it was. Of another session's file nothing is kept but its `schema_version`."""
    value = session_value(record)
    if like:
        try:
            old = load(like, "session.json")
        except BadInput:
            old = {}
        if old.get("session_id") != record.session_id:
            like = b""
            if "schema_version" in old:
                value.setdefault("schema_version", old["schema_version"])
    return _written(document_schemas.SESSION, value, like, session_findings, "session.json")


def session_findings(value: Any, file: str = "session.json") -> Findings:
    found = check(document_schemas.SESSION, value, file)
    if type(value) is not dict:
        return found
    status, ended = value.get("status"), value.get("ended_at")
    if status == "running" and ended:
        found += (
            finding(
                "WRONG_END",
                file,
                "/ended_at",
                expected=coded("file.null_running"),
                found=f'"{ended}"',
                fix=coded("file.set_null"),
            ),
        )
    elif status in OUTCOMES and not ended:
        found += (
            finding(
                "WRONG_END",
                file,
                "/ended_at",
                expected=coded("file.when_ended"),
                found=coded("file.nothing"),
                fix=coded("file.write_it"),
            ),
        )
    return found


def session_judge(data: bytes, file: str = "session.json") -> Findings:
    return _judged(data, file, session_findings)


# -- inbox/{uuid}.json -----------------------------------------------------------------------------------------------


def message_read(data: bytes, file: str = "inbox/message.json") -> Message:
    """A message. One without an id has the name of its file for one; its sender and recipient may be left out."""
    from .synonyms import message_priority, message_type

    value = load(data, file)
    _passable(document_schemas.MESSAGE, value, file, forgiven=("id", "from", "to"))
    known = {key: item for key, item in value.items() if key in _MESSAGE and item is not None}
    known.setdefault("id", file.rpartition("/")[2].removesuffix(".json"))
    known.setdefault("to", "")
    if "priority" in known:
        known["priority"] = message_priority(known["priority"])
    if "type" in known:
        known["type"] = message_type(known["type"])
    extra = {key: item for key, item in value.items() if key not in _MESSAGE and key != "from"}
    return Message(sender=value.get("from") or "", extra=extra, **known)


def message_value(message: Message) -> Json:
    value: Json = {"id": message.id, "from": message.sender}
    for name in Message._fields[2:-1]:
        value[name] = getattr(message, name)
    return value | message.extra


def message_write(message: Message, like: bytes = b"") -> bytes:
    return _written(document_schemas.MESSAGE, message_value(message), like, message_findings, "inbox/message.json")


def message_rank(priority: str) -> int:
    """0 high, 1 normal (and medium, and any word that is not known), 2 low."""
    from .synonyms import message_priority

    return {"high": 0, "low": 2}.get(message_priority(priority), 1)


def message_findings(value: Any, file: str = "inbox/message.json") -> Findings:
    found = check(document_schemas.MESSAGE, value, file)
    if type(value) is dict and value.get("id") == "":
        found += (
            finding("EMPTY_ID", file, "/id", expected=coded("file.an_id"), found='""', fix=coded("file.give_id")),
        )
    return found


def message_judge(data: bytes, file: str = "inbox/message.json") -> Findings:
    return _judged(data, file, message_findings)


# -- metrics.json ----------------------------------------------------------------------------------------------------


def metrics_read(data: bytes, file: str = "metrics.json") -> Metrics:
    value = load(data, file)
    _passable(document_schemas.METRICS, value, file)
    return _noun(Metrics, value)


def metrics_value(metrics: Metrics) -> Json:
    return _flat(metrics)


def metrics_write(metrics: Metrics, like: bytes = b"") -> bytes:
    return _written(document_schemas.METRICS, metrics_value(metrics), like, metrics_findings, "metrics.json")


def metrics_findings(value: Any, file: str = "metrics.json") -> Findings:
    """The table's faults and the broken invariants (reference, ambiguity 9)."""
    found = check(document_schemas.METRICS, value, file)
    if found:
        return found  # sums of what is no number mean nothing
    from .metrics_invariants import metrics

    return tuple(metrics(value, file))


def metrics_judge(data: bytes, file: str = "metrics.json") -> Findings:
    return _judged(data, file, metrics_findings)


# -- journal.jsonl ---------------------------------------------------------------------------------------------------


def entry_findings(value: Any, file: str = "journal.jsonl") -> Findings:
    """What is wrong with one line of the journal."""
    return check(document_schemas.ENTRY, value, file)


# -- all of them -----------------------------------------------------------------------------------------------------


class DocumentFormat(NamedTuple):
    """A kind of file: its table, and what is wrong with one."""

    file: str
    table: ObjectSchema
    judge: Callable[[bytes, str], Findings]


DOCUMENTS: Final = (
    DocumentFormat("report.json", document_schemas.REPORT, report_judge),
    DocumentFormat("tasks.json", document_schemas.TASKS, tasks_judge),
    DocumentFormat("session.json", document_schemas.SESSION, session_judge),
    DocumentFormat("metrics.json", document_schemas.METRICS, metrics_judge),
    DocumentFormat("inbox/message.json", document_schemas.MESSAGE, message_judge),
)


# -- inside ----------------------------------------------------------------------------------------------------------


def _noun(cls: Callable[..., _N], value: Json) -> _N:
    """A noun of an object that passed; null reads as what absence means."""
    names = _NAMES[cls]  # type: ignore[index]  # the nouns are its keys
    known, extra = {}, {}
    for key, item in value.items():
        if key not in names:
            extra[key] = item
        elif item is not None:
            whole = type(item) is float and key != "cost_usd" and item.is_integer()
            known[key] = int(item) if whole else item
    return cls(**known, extra=extra)


def _flat(noun: Any) -> Json:
    value: Json = dict(zip(noun._fields, noun, strict=True))
    value |= value.pop("extra")
    return value


def _passable(table: ObjectSchema, value: Any, file: str, forgiven: Iterable[str] = ()) -> None:
    _first_fatal(check(table, value, file), forgiven)


def _first_fatal(found: Findings, forgiven: Iterable[str] = ()) -> None:
    """Raise for the first fault that leaves no meaning; a null and a word that is not known leave some."""
    for fault in found:
        if fault.code not in _FATAL or (fault.code == "WRONG_TYPE" and fault.found == "null"):
            continue
        if fault.code == "MISSING_FIELD" and fault.field.rpartition("/")[2] in forgiven:
            continue
        raise BadInput(fault.found, path=fault.field, op="read", expected=fault.expected, fix=fault.fix)


def _written(table: ObjectSchema, value: Json, like: bytes, judge: Callable[[Any, str], Findings], file: str) -> bytes:
    data = render(value, like, table)
    if data is not like and (found := judge(value, file)):
        old: set[tuple[str, str]] = set()
        if like:  # what was wrong before is not this writer's fault
            try:
                old = {(fault.field, fault.found) for fault in judge(load(like, file), file)}
            except BadInput:
                old = set()
        for fault in found:
            if (fault.field, fault.found) not in old and not fault.warning:
                raise BadInput(fault.found, path=fault.field, op="write", expected=fault.expected, fix=fault.fix)
    return data


def _judged(data: bytes, file: str, judge: Callable[[Any, str], Findings]) -> Findings:
    try:
        value = load(data, file)
    except BadInput as error:
        return (_said(error, file),)
    return judge(value, file)


def _said(error: BadInput, file: str) -> Finding:
    from worldfs.base.model import Finding

    return Finding("NOT_JSON", error.path or f"{file}#", error.expected, error.found, error.fix)
