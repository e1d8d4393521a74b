"""Foreign words as ours: times, names of agents, lines of text, values that JSON can hold, identities."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from worldfs.base.agent_names import is_agent_name
from worldfs.base.clock import parse_stamp
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Json
from worldfs.formats import prose
from worldfs.storage.revision import of

CUT: Final = 8000  # characters of a text in the journal or a task; the source has the rest
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_CJK_DATE: Final = re.compile(r"(\d{4})\s*[年/.]\s*(\d{1,2})\s*[月/.]\s*(\d{1,2})\s*日?")
_SPLIT: Final = re.compile(r"(?<!\s)\s*+(?:,|，|、|&|\+|/|;|；|\band\b|和|与)\s*+")
_ASIDE: Final = re.compile(r"[(（\[][^)）\]\n]*+([)）\]]?)")  # one that does not end is read once
_BREAKING: Final = re.compile(r"[\ud800-\udfff]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*)")
_FENCE: Final = re.compile(r"^\s*(`{3,}|~{3,})")

NOBODY: Final = ("", "-", "–", "—", "--", "none", "nobody", "unclaimed", "n/a", "tbd", "无", "空", "未认领", "?")
EVERYONE: Final = ("all", "everyone", "everybody", "collective", "any", "team", "全体", "所有人", "大家")


def format_epoch(seconds: float) -> str:
    """Seconds since 1970 as the files have times."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


def parse_time(value: object) -> str:
    """A time in any spelling as `YYYY-MM-DDTHH:MM:SSZ`: ISO 8601, a date, epoch seconds or milliseconds; "" if none."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        if not math.isfinite(value) or value < 1e8:
            return ""
        return format_epoch(value / 1000 if value > 1e11 else value)
    if not isinstance(value, str):
        return ""
    if value.strip().isdecimal() and len(value.strip()) in (10, 13):
        return parse_time(int(value))
    match = _CJK_DATE.search(value)
    if match:
        value = f"{int(match[1]):04d}-{int(match[2]):02d}-{int(match[3]):02d}"
    match = _DATE.search(value)
    found = parse_stamp(match[0]) if match else None
    try:
        return "" if found is None else found.strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return ""


def parse_agent(text: str) -> str | None:
    """The name of an agent in words of a person: `**Theseus** (AI alignment)` is theseus; None if it is no name."""
    bare = re.sub(r"[(（\[].*", "", text).strip(" *`_@.\t").casefold().replace(" ", "-")
    return bare if is_agent_name(bare) else None


def parse_agents(text: str) -> tuple[str, ...]:
    """Every agent that a text of the kind `Rio, Clay & Leo` names; () for none or for everyone."""
    if text.strip(" *`_").casefold() in (*NOBODY, *EVERYONE):
        return ()
    found = (parse_agent(part) for part in _SPLIT.split(_ASIDE.sub(lambda aside: "" if aside[1] else aside[0], text)))
    return tuple(dict.fromkeys(name for name in found if name))


def one_line(text: str, limit: int = 200) -> str:
    """One line of visible text, clipped."""

    return prose.one_line(clean_text(text), limit)


def clean_text(text: str) -> str:
    """A text that UTF-8 and every reader can hold: no halves of surrogate pairs, no control signs but tab and line."""
    return _BREAKING.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def truncate(text: str, limit: int = CUT) -> tuple[str, int]:
    """(the text up to `limit` characters, how many were left out)."""
    text = clean_text(text)
    return (text, 0) if len(text) <= limit else (text[:limit], len(text) - limit)


def note_text(text: str) -> str:
    """A text as it can be in one item of a list: headings become bold, fences become indented lines.

    A heading or an open fence inside memory.md would begin a section of it, or swallow the rest.
    """
    lines, fence = [], ""
    for raw in clean_text(text).strip().split("\n"):
        found = _FENCE.match(raw)
        if found and (not fence or found[1].startswith(fence)):
            fence = "" if fence else found[1]
            continue
        heading = None if fence else _HEADING.match(raw)
        title = heading[1].rstrip(" \t").rstrip("#").rstrip(" \t") if heading else ""
        bare = f"**{title}**" if title else raw
        bare = bare.replace("<!--", "<! --")  # a comment would hide what follows
        lines.append(("    " + bare if fence else bare).rstrip())
    while lines and not lines[-1].strip():
        lines.pop()
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip("\n")


def comparison_key(text: str) -> str:
    """A text as notes are compared: marks of lists, emphasis and all white space do not count."""
    return "".join(re.sub(r"[*_`\s>#-]+", "", text).casefold())


def plain_json(value: object, depth: int = 0) -> object:
    """A JSON value that can be written again: no NaN, no halves of surrogate pairs, not endlessly deep."""
    if depth > 40:
        return "…"
    if isinstance(value, dict):
        return {clean_text(str(key)): plain_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item, depth + 1) for item in value]
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def plain_object(value: Json) -> Json:
    """`plain_json` of an object."""
    return {clean_text(key): plain_json(item, 1) for key, item in value.items()}


def identity(*parts: object) -> str:
    """16 hex digits: the same parts, the same identity."""
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=str)
    return of(text.encode())


def short_identity(*parts: object) -> str:
    """8 hex digits of an identity, for names."""
    return identity(*parts)[:8]


def slug(text: str, limit: int = 40) -> str:
    """A text as part of an id: a-z 0-9 - only; "" if nothing of it is left."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:limit].strip("-")


def safe_id(text: object, limit: int = 80) -> str | None:
    """An id of a source that can be one of ours as it is; None if it cannot."""
    if isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text) and len(text) <= limit:
        return text
    return None


def as_text(value: object) -> str:
    """A text field: what is a string or a number; anything else is no text."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def as_texts(values: object) -> list[str]:
    """The texts of a list; a single one counts as a list of one."""
    if isinstance(values, str):
        return [values]
    return [text for item in values if (text := as_text(item))] if isinstance(values, list) else []


def plural(number: int, kind: str) -> CodedText:
    """`1 task`, `1,200 tasks`."""
    return coded(f"{'plugin.one' if number == 1 else 'plugin.many'}.{kind}", n=number)


def join_some(parts: Iterable[str], limit: int = 5) -> CodedText:
    """The first few of many, and how many more there are."""
    names = list(parts)
    more = len(names) - limit
    shown = coded("plugin.listed", names=names[:limit])
    return coded("plugin.and_more", names=shown, n=more) if more > 0 else shown


EXTRA_MAX: Final = 4096  # bytes of what an unknown field may add to a task, which is read at every wake


def extra_members(value: dict[str, object], known: Iterable[str]) -> tuple[dict[str, object], list[str]]:
    """(the other fields of an object, plain; names of those that are too large for a task)."""
    known = set(known)
    kept: dict[str, object] = {}
    large = []
    size = 0
    for key, item in value.items():
        if key in known or item in (None, "", [], {}):
            continue
        item = plain_json(item)  # noqa: PLW2901  # the form that can be written takes its place
        bytes_ = len(json.dumps(item, ensure_ascii=True)) + len(key)
        if size + bytes_ > EXTRA_MAX:
            large.append(key)
        else:
            size += bytes_
            kept[clean_text(key)] = item
    return kept, large
