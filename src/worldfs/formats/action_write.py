"""ACTION.md written back: the kernel's words in the dialect found, everything else byte for byte (workspace D28, §3.3).

State never lives in the sheet: where a file contradicts a job, the job's word is written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from worldfs.base.json_values import as_object
from worldfs.base.model import Cause, Finding, Job, JobState, Json, Order, Outcome
from worldfs.formats import action, block, jsontext
from worldfs.formats.action import FILE, entries_of, id_of, list_key, locate
from worldfs.formats.block import Block
from worldfs.formats.sheet_format import SheetFormat
from worldfs.formats.values import plain

TEMPLATE = b'# ACTION\n\n```json\n{\n  "queue": []\n}\n```\n'
TRACEBACK = 4096  # bytes of a traceback that the sheet shows; the job's directory holds all of it
WARNINGS, WARNING = 10, 400  # of one result, and characters of each
EVIDENCE = 2048  # characters of evidence that the sheet shows; more stays in the job's directory

_WORDS = {
    JobState.PENDING: "pending",
    JobState.RUNNING: "running",
    JobState.SUCCEEDED: "completed",
    JobState.FAILED: "failed",
}
_DEFAULT = Order("", "", "")


def is_removed(value: object) -> bool:
    """Stands, itself, for a member that is to be removed; called, it says whether a value does."""
    return value is is_removed


def write(
    data: bytes,
    jobs: Mapping[str, Job],
    *,
    drop: Collection[str] = (),
    add: Sequence[Job] = (),
    marks: Mapping[int, Finding] | None = None,
    page: SheetFormat | None = None,
) -> bytes:
    """The sheet after the kernel's word: `data` itself if that changes nothing.

    `jobs`: what is known, by id; the first unmarked entry of that id shows it. `drop`: ids whose entries leave.
    `add`: jobs that get an entry at the end. `marks`: entries that were refused, by index; they fail with the
    finding as their error, and keep every other byte. `page`: which document it is; ACTION.md if it is not said. An
    empty file stays empty until something is added, then it becomes the template with the entries.
    Raises BadInput for a text that cannot be read: it is never replaced.
    """
    page = page or PAGE
    text = block.decode(data)
    found, dialect = page.locate(text)
    marks = marks or {}
    if found is None or dialect == "empty":
        return _begin(text, found, add, page) if add else data
    if not page.list_key(found.value) and (add or page.id_of(found.value, dialect) in drop):
        text, found = _listed(text, found)
    key = page.list_key(found.value)
    shown: set[str] = set()
    after: list[Any] = []
    for index, entry in enumerate(page.entries_of(found.value)):
        if index in marks and isinstance(entry, dict):
            after.append(_marked(entry, marks[index]))
            continue
        id = page.id_of(entry, dialect) if isinstance(entry, dict) else None
        if id is None or (id not in drop and (id not in jobs or id in shown)):
            after.append(entry)
        elif id not in drop:
            shown.add(id)
            after.append(_with(entry, page.word(entry, jobs[id], dialect)))
    after += [page.entry_of(job, dialect) for job in add]
    value = found.value | {key: after} if key else after[0]
    edited = block.edit(text, found, value)
    return data if edited is text and page.list_key(found.value) == key else edited.encode()


def entry_of(job: Job, dialect: str = "page") -> Json:
    """A new entry for a job, in the keys of the dialect; defaults are not written out."""
    order = job.order
    if dialect == "page":
        entry: Json = {"action_id": order.id, "action_type": order.op, "params": plain(order.params)}
        entry["status"] = "pending"
        entry |= {"robot_id": order.node} if order.node else {}
        entry |= {"created_at": order.created_at} if order.created_at else {}
    else:
        node = {"robot_id": order.node} if order.node else {}
        entry = {"id": order.id, "action_type": order.op, "parameters": node | plain(order.params), "status": "pending"}
    if order.priority not in ("normal", "medium"):
        entry["priority"] = order.priority
    limits = {
        "execute": order.timeout_s if order.timeout_s != _DEFAULT.timeout_s else 0,
        "queue": order.queue_timeout_s,
    }
    timeouts = {name: seconds for name, seconds in limits.items() if seconds}
    if timeouts and "timeouts" not in order.extra:
        entry["timeouts"] = timeouts
    if order.attempts > 1:
        entry["retry"] = {"max_attempts": order.attempts, "backoff": order.backoff}
    if order.depends_on:
        entry["depends_on"] = list(order.depends_on)
    entry |= {key: item for key, item in plain(order.extra).items() if key not in entry}
    return _with(entry, status_members(entry, job, dialect))


def _begin(text: str, found: Block | None, add: Sequence[Job], page: SheetFormat) -> bytes:
    """A sheet where there was none: in the empty block if there is one, else after the prose, else its template."""
    if found is None and not text.strip() and page.template:
        text = page.template.decode()
        found, _ = page.locate(text)
    queue = [page.entry_of(job, "page") for job in add]
    if found is not None:
        return block.edit(text, found, found.value | {page.key: queue}).encode()
    return block.append(text, page.file.removesuffix(".md"), {page.key: queue}).encode()


def _listed(text: str, found: Block) -> tuple[str, Block]:
    """One bare action becomes the one entry of a list, its own bytes unchanged."""
    if found.language != "json":
        text = block.edit(text, found, {"actions": [found.value]})
    else:
        inside = text[found.start : found.end]
        body = inside.strip()
        at = found.start + inside.index(body)
        text = f'{text[:at]}{{"actions": [{body}]}}{text[at + len(body) :]}'
    again, _ = locate(text)
    assert again is not None
    return text, again


def status_members(entry: Json, job: Job, dialect: str) -> Json:
    """What a job makes of the members of its entry."""
    status, outcome = job.status, job.status.outcome
    said = _WORDS[status.state]
    cause = outcome.cause if outcome else None
    if dialect == "q1" and status.state is JobState.FAILED and cause is Cause.CANCELLED:
        said = "cancelled"
    present = entry.get("status")
    spelled = isinstance(present, str) and present.strip().lower() == said
    absent = present is None and status.state is JobState.PENDING
    changes: Json = {} if spelled or absent else {"status": said}
    ended = status.state.terminal
    if dialect == "page" and ended and status.completed_at:
        changes["completed_at"] = status.completed_at
    elif not ended and "completed_at" in entry:
        changes["completed_at"] = is_removed
    error = error_of(outcome) if ended and outcome and not outcome.ok else None
    if error is not None:
        changes["error"] = error
    elif "cause" in as_object(entry.get("error")):
        changes["error"] = is_removed  # ours, of an earlier attempt
    if ended and outcome:
        changes |= _result(outcome, dialect)
        if changes.get("result") == "" and "result" not in entry:
            del changes["result"]  # an empty text says nothing that the absent key does not
    return changes


def error_of(outcome: Outcome) -> Json:
    traceback = outcome.traceback.encode(errors="replace")[-TRACEBACK:].decode(errors="ignore")
    given: Json = {"code": outcome.code, "message": outcome.message, "traceback": traceback}
    cause = str(outcome.cause or Cause.ERROR)
    return {"cause": cause} | {key: text for key, text in given.items() if text}


def warnings(outcome: Outcome) -> list[str]:
    """What was missing or unread and refused nothing, in words; as many as a sheet shows."""
    return [str(item)[:WARNING] for item in outcome.findings if item.warning][:WARNINGS]


def _result(outcome: Outcome, dialect: str) -> Json:
    if dialect == "q1":
        return {"result": outcome.message}
    warned = warnings(outcome)
    if not outcome.ok:
        return {"result": {"warnings": warned}} if warned else {}
    result: Json = {"message": outcome.message} if outcome.message else {}
    if warned:
        result["warnings"] = warned
    evidence = plain(outcome.evidence, digits=6)
    if evidence and len(jsontext.dump(evidence)) <= EVIDENCE:
        result["evidence"] = evidence
    return {"result": result} if result else {}


def _marked(entry: Json, finding: Finding) -> Json:
    """A refused entry: its author sees the reason and the fix in the sheet."""
    words = dataclasses.asdict(finding)
    error = {"cause": str(Cause.REJECTED), "code": finding.code, "message": str(finding)}
    error |= {key: words[key] for key in ("field", "expected", "found", "fix")}
    return _with(entry, {"status": "failed", "error": error} if not finding.warning else {})


def _with(entry: Json, changes: Json) -> Json:
    """The entry with these members; the very same one if it has all of them."""
    new = {
        key: value for key, value in changes.items() if value is not is_removed and entry.get(key, is_removed) != value
    }
    leaving = {key for key, value in changes.items() if value is is_removed and key in entry}
    if not new and not leaving:
        return entry
    return {key: value for key, value in entry.items() if key not in leaving} | new


PAGE: Final = SheetFormat(
    FILE, "queue", b"", action.read, locate, list_key, entries_of, id_of, action.entry_digest, entry_of, status_members
)
