"""A command's report about itself: the JSON file that PAOS_OUTCOME names, checked field by field."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from worldfs.base.errors import WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.formats.agent.redact import redact_bytes

from .session_files import OUTCOME, SessionFiles

MOST: Final = 1 << 18  # bytes; a report, not an archive

SAME: Final[dict[str, str]] = {
    "handoff_notes": "handoff"
}  # the specification has both names (003, session.json and session_end)
WORDS: Final = ("completed", "timeout", "error")


def _text(value: object) -> bool:
    return isinstance(value, str)


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _texts(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


TEXT: Final = (_text, "file.text")
COUNT: Final = (_count, "command.a_count")
FIELDS: Final[dict[str, tuple[Callable[[object], bool], str]]] = {
    "summary": TEXT,
    "handoff": TEXT,
    "next_priority": TEXT,
    "branch": TEXT,
    "sources_archived": COUNT,
    "pr_number": COUNT,
    "tokens_used": COUNT,
    "cost_usd": (_amount, "command.an_amount"),
    "claims_proposed": COUNT,
    "claims_accepted": COUNT,
    "claims_challenged": COUNT,
    "claims_rejected": COUNT,
    "disconfirmation_attempts": COUNT,
    "disconfirmation_hits": COUNT,
    "cross_agent_flags_sent": COUNT,
    "cross_agent_flags_received": COUNT,
    "errors": (_texts, "command.texts"),
    "outcome": (lambda value: value in WORDS, ""),
}


class OutcomeReport(NamedTuple):
    """`figures`: reported values that are valid; `wrong`: those that are not, with pointers."""

    figures: Json = {}  # noqa: RUF012  # a named tuple's default, never changed
    errors: tuple[str, ...] = ()
    failed: bool = False  # it reports its own failure; a report of success alone is not believed
    wrong: tuple[str, ...] = ()


def read(trace: SessionFiles) -> OutcomeReport:
    """The report; empty if the command wrote none. Never raises for the file's content.

    Secrets in it are marked out, in the file as well.
    """

    path = f"{trace.folder}/{OUTCOME}"
    try:
        place = trace.root.locate(path)
        info = None if place is None else trace.root.status(place)
        if info is None:
            return OutcomeReport()
        if info.st_size > MOST:
            return OutcomeReport(
                wrong=(_expected(OUTCOME, coded("agent.bytes", n=info.st_size), coded("common.at_most", n=MOST)),)
            )
        data = trace.root.read(path) or b""
    except WorldError as error:  # a link, a FIFO, a directory
        return OutcomeReport(wrong=(_expected(OUTCOME, error.found, error.expected or coded("command.json_file")),))
    except OSError as error:
        return OutcomeReport(wrong=(f"{OUTCOME}: {os.strerror(error.errno or 0)}",))
    if (clean := redact_bytes(data)) != data:
        with suppress(WorldError):
            trace.root.replace(path, clean, private=True)
    return check(clean)


def check(data: bytes) -> OutcomeReport:
    try:
        value: object = parse_json(_bare(data.decode("utf-8-sig", "replace")), parse_constant=_no_number)
    except ValueError as error:
        return OutcomeReport(wrong=(coded("command.outcome_no_json", file=OUTCOME, why=str(error)),))
    if not isinstance(value, dict):
        return OutcomeReport(wrong=(_expected(OUTCOME, _kind(value), coded("command.an_object")),))
    figures: Json = {}
    wrong: list[str] = []
    for key, found in value.items():
        name = SAME.get(key, key)
        if name not in FIELDS:
            one = coded("common.either_of", names=list(FIELDS))
            wrong.append(_expected(f"{OUTCOME}#/{_pointer(key)}", coded("command.no_field"), one))
            continue
        if FIELDS[name][0](found):
            figures[name] = _sound(found)
        elif found is not None:  # null means not reported
            wrong.append(_expected(f"{OUTCOME}#/{_pointer(key)}", _kind(found), form_of(name)))
    errors = figures.pop("errors", [])
    texts = (errors,) if isinstance(errors, str) else tuple(map(str, as_list(errors)))
    failed = figures.pop("outcome", "completed") != "completed"
    return OutcomeReport(figures, texts, failed, tuple(wrong))


def _expected(at: str, found: str, expected: str) -> str:
    return coded("command.outcome_wrong", at=at, found=found, expected=expected)


def form_of(name: str) -> str:
    """What a field of `FIELDS` must be."""
    form = FIELDS[name][1]
    return coded(form) if form else coded("common.either_of", names=list(WORDS))


def _bare(text: str) -> str:
    """Without the Markdown fence that models like to put around JSON."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text.split("\n", 1)[1].rsplit("```", 1)[0]
    return text


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _sound(found: object) -> object:
    """Half a surrogate pair has no bytes: it must not stop the rest of the report."""
    if isinstance(found, list):
        return [_sound(item) for item in found]
    return found.encode("utf-8", "replace").decode() if isinstance(found, str) else found


def _kind(value: object) -> str:
    return json.dumps(value, ensure_ascii=True)[:60]


def _pointer(key: str) -> str:
    return key.encode("utf-8", "replace").decode()[:60].replace("~", "~0").replace("/", "~1")
