"""Orders and statuses as JSON: the lines of a job's file, and the files of a job in the tree."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, fields, replace
from itertools import chain, repeat
from typing import Any, NamedTuple

from worldfs.base.clock import epoch_ns, parse_stamp
from worldfs.base.errors import BadInput
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_float, as_int, as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded, read_coded, stored_form
from worldfs.base.model import Cause, Finding, Job, JobState, JobStatus, Json, Order, Outcome

_ORDER = {item.name: item for item in fields(Order)}
_KINDS: dict[object, tuple[str, Callable[[object], bool]]] = {
    "str": ("file.string", lambda found: isinstance(found, str)),
    "int": ("file.whole_number", lambda found: type(found) is int),
    "float": ("file.positive_number", lambda found: 0 <= as_float(found, -1) < math.inf),
    "Json": ("file.mapping", lambda found: isinstance(found, dict)),
    "tuple[str, ...]": (
        "file.strings",
        lambda found: isinstance(found, list) and all(isinstance(item, str) for item in found),
    ),
}


def order_line(order: Order, accepted_at: str) -> bytes:
    """The first line of a job's file: written once, by the submitter."""
    return _line(order_value(order, accepted_at))


def status_line(status: JobStatus) -> bytes:
    """A status line, written by the kernel, with the outcome once there is one."""
    return _line(status_value(status))


def order_bytes(order: Order, accepted_at: str) -> bytes:
    """The content of `job.json` in the tree."""
    return _page(order_value(order, accepted_at))


def status_bytes(status: JobStatus) -> bytes:
    """The content of `status.json` in the tree."""
    return _page(status_value(status))


def is_torn(data: bytes) -> bool:
    """Whether the file ends within a line."""
    return not data.endswith(b"\n")


def read_job(data: bytes, where: str) -> Job:
    """The order and its last status. A line that does not parse was torn by a crash, before its write returned."""
    first, *rest = data.split(b"\n")
    order, accepted_at = read_order(first, where)
    status = JobStatus()
    for number, line in enumerate(rest, 2):
        if not line:
            continue
        with suppress(BadInput):
            status = read_status(line, f"{where}:{number}")
    return Job(order, replace(status, accepted_at=accepted_at))


class JobVersion(NamedTuple):
    """A job since `at_ns`. `known`: its line carries a time; else `at_ns` is that of the line before."""

    at_ns: int
    job: Job
    known: bool = True


def read_job_versions(data: bytes, where: str) -> list[JobVersion]:
    """What the job was since each of its lines, in their order. Raises `BadInput`."""
    first, *rest = data.split(b"\n")
    order, accepted_at = read_order(first, where)
    found = [JobVersion(_ns(accepted_at) or 0, Job(order, JobStatus(accepted_at=accepted_at)))]
    for line in rest:
        with suppress(BadInput):
            status = replace(read_status(line, where), accepted_at=accepted_at)
            at_ns = _ns(changed_at(status))
            found.append(JobVersion(found[-1].at_ns if at_ns is None else at_ns, Job(order, status), at_ns is not None))
    return found


def changed_at(status: JobStatus) -> str:
    """When this status began; "": it does not say."""
    if status.state.terminal:
        return status.completed_at
    if status.state is JobState.RUNNING:
        return status.started_at
    return status.queued_at if status.attempt else status.accepted_at


def _ns(at: str) -> int | None:
    moment = parse_stamp(at)
    return None if moment is None else epoch_ns(moment)


def order_value(order: Order, accepted_at: str) -> dict[str, object]:
    """Defaults are left out."""
    value: dict[str, object] = {"id": order.id, "node": order.node, "op": order.op, "params": order.params}
    for name, item in _ORDER.items():
        if name not in value and (found := getattr(order, name)) != item.default and found not in ({}, ()):
            value[name] = list(found) if isinstance(found, tuple) else found
    value["accepted_at"] = accepted_at
    return value


def read_order(data: bytes, where: str) -> tuple[Order, str]:
    """The order and when it was accepted. Raises `BadInput` for a file that the kernel did not write."""
    return _order(_mapping(data, where), where)


def _order(value: dict[str, object], where: str) -> tuple[Order, str]:
    known: dict[str, Any] = {name: value[name] for name in _ORDER if name in value}
    for name in ("id", "node", "op"):
        if name not in known:
            raise BadInput(coded("runtime.no_member", name=name), path=where, expected=coded("file.an_order"))
    for name, found in known.items():
        expected = _KINDS[_ORDER[name].type]
        if not expected[1](found):
            said = coded("runtime.member_is", name=name, value=f"{found!r:.100}")
            raise BadInput(said, path=where, expected=coded(expected[0]))
    if "depends_on" in known:
        known["depends_on"] = tuple(known["depends_on"])
    return Order(**known), str(value.get("accepted_at", ""))


def status_value(status: JobStatus) -> dict[str, object]:
    value: dict[str, object] = {"status": status.state.value, "attempt": status.attempt}
    for name in ("accepted_at", "started_at", "first_started_at", "completed_at", "not_before", "queued_at"):
        if getattr(status, name):
            value[name] = getattr(status, name)
    if status.reviews:
        value["reviews"] = status.reviews
    if status.driver:
        value |= {"driver": status.driver, "simulated": status.simulated}
    if status.outcome is not None:
        value["outcome"] = outcome_value(status.outcome)
    return value


def outcome_value(outcome: Outcome) -> dict[str, object]:
    value: dict[str, object] = {"ok": outcome.ok, "message": outcome.message}
    if codes := _codes(outcome):
        value["codes"] = codes
    if not outcome.ok:
        value["cause"] = outcome.cause.value if outcome.cause else Cause.ERROR.value
        value["code"] = outcome.code
    if outcome.traceback:
        value["traceback"] = outcome.traceback
    if outcome.findings:
        value["findings"] = [finding_fields(item) for item in outcome.findings]
    if outcome.evidence:
        value["evidence"] = outcome.evidence
    return value


def read_status(data: bytes, where: str) -> JobStatus:
    return _status(_mapping(data, where), where)


def _status(value: dict[str, object], where: str) -> JobStatus:
    try:
        outcome = value.get("outcome")
        return JobStatus(
            JobState(str(value["status"])),
            as_int(value.get("attempt")),
            str(value.get("accepted_at", "")),
            str(value.get("started_at", "")),
            str(value.get("completed_at", "")),
            str(value.get("not_before", "")),
            None if outcome is None else _outcome(as_object(outcome)),
            str(value.get("first_started_at", "")),
            str(value.get("queued_at", "")),
            as_int(value.get("reviews")),
            as_text(value.get("driver")),
            value.get("simulated") is True,
        )
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise BadInput(
            coded("runtime.no_status", why=str(error)), path=where, expected=coded("file.a_status")
        ) from None


def _outcome(value: dict[str, object]) -> Outcome:
    cause, codes = value.get("cause"), as_object(value.get("codes"))
    beside = as_objects(codes.get("findings"))
    return Outcome(
        bool(value["ok"]),
        read_coded(str(value.get("message", "")), codes.get("message")),
        None if cause is None else Cause(str(cause)),
        str(value.get("code", "")),
        str(value.get("traceback", "")),
        dict(as_object(value.get("evidence"))),
        tuple(map(read_finding, as_objects(value.get("findings")), chain(beside, repeat(None)))),
    )


_TEXTS = ("field", "expected", "found", "fix")


def _codes(outcome: Outcome) -> Json:
    """The codes and arguments of the outcome's texts, which stand beside them; empty where all are plain."""
    findings = [_finding_codes(item) for item in outcome.findings]
    found = {"message": stored_form(outcome.message), "findings": findings if any(findings) else None}
    return {name: value for name, value in found.items() if value is not None}


def finding_value(finding: Finding) -> Json:
    """A finding with the codes of its texts, as `read_finding` takes it."""
    codes = _finding_codes(finding)
    return finding_fields(finding) | ({"codes": codes} if codes else {})


def finding_fields(finding: Finding) -> Json:
    """A finding's fields, its texts as they are read."""
    value = asdict(finding)
    return value if finding.condition else {name: item for name, item in value.items() if name != "condition"}


def _finding_codes(finding: Finding) -> Json:
    found = {name: stored_form(getattr(finding, name)) for name in _TEXTS}
    return {name: value for name, value in found.items() if value is not None}


def read_finding(value: dict[str, Any], codes: object) -> Finding:
    """A finding with the codes that were kept beside it. Raises `TypeError` for what is no finding."""
    found = Finding(**value | {"condition": tuple(map(str, as_list(value.get("condition"))))})
    beside = as_object(codes)
    field, expected, said, fix = (read_coded(getattr(found, name), beside.get(name)) for name in _TEXTS)
    return replace(found, field=field, expected=expected, found=said, fix=fix)


def _mapping(data: bytes, where: str) -> dict[str, object]:
    try:
        value = parse_json(data)
    except ValueError as error:
        raise BadInput(coded("file.not_json", why=str(error)), path=where) from None
    if not isinstance(value, dict):
        raise BadInput(coded("file.not_object"), path=where)
    return value


def _line(value: dict[str, object]) -> bytes:
    return _text(value, None)


def _page(value: dict[str, object]) -> bytes:
    return _text(value, 1)


def _text(value: dict[str, object], indent: int | None) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can express and UTF-8 cannot
        return (json.dumps(value, indent=indent, default=str) + "\n").encode()
