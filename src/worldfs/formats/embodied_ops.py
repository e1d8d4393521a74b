"""Supported Actions of EMBODIED.md: the cells and bullets that name ops, and their parameters (workspace §3.8)."""

from __future__ import annotations

import re

from worldfs.base.model import Operation, Parameter
from worldfs.base.standard_operations import described

from . import quantities

_NONE = frozenset(("", "—", "–", "-", "none", "n/a", "no parameters", "无", "没有"))
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_TICK = re.compile(r"\[([ xX✓✔])\]\s*(.*)")
_BULLET = re.compile(
    r"(?:`(?P<code>[^`]+)`|\*\*`?(?P<bold>[^*`]+)`?\*\*|(?P<plain>[A-Za-z_]\w*)(?=\s*(?:[(:：—–-]|$)))"
    r"\s*(?P<args>\([^)]*\))?\s*[:：—–-]*\s*(?P<text>.*)"
)
_PARAMETERS = re.compile(r"(?:parameters|params|参数)\s*[:：]\s*(.*)", re.IGNORECASE)
_NO = re.compile(
    r"\b(?:not|isn't|no longer)(?: yet| currently| \w+ly)? "
    r"(?:supported|implemented|available|allowed|permitted|enabled)\b"
    r"|\bun(?:supported|implemented|available)\b|~~|❌|✗|✘|不支持|未支持|不可用|未实现|未启用|无法使用|禁止|禁用|停用"
    r"|^\W*(?:planned|todo|to do|disabled|deprecated|removed|forbidden|prohibited|计划|规划|废弃|弃用)",
    re.IGNORECASE,
)
_YES = frozenset(
    ("yes", "y", "true", "ok", "on", "x", "[x]", "✓", "✔", "✅", "☑", "supported", "available", "enabled", "done",
     "implemented", "stable", "full", "是", "支持", "已支持", "可用", "已实现", "已启用", "有")
)  # fmt: skip
SUPPORT = ("supported", "supported?", "support", "status", "available", "enabled", "state", "implemented",
           "支持", "是否支持", "状态", "可用", "是否可用")  # fmt: skip


def is_denied(text: str) -> bool:
    """Whether the line itself says that what it names is not supported."""
    return _NO.search(text) is not None


def is_affirmed(cell: str) -> bool:
    """Whether the cell of a column "Supported" says yes."""
    return cell.strip("*`_ .️").casefold() in _YES


def parse_bullet(item: str) -> tuple[Operation | None, bool]:
    """The op that a list item names, None if it names none, and whether the item says that it is supported."""
    tick = _TICK.match(item)
    bare = tick[2] if tick else item
    match = _BULLET.fullmatch(bare.replace("~~", ""))
    if not match:
        return None, False
    name = (match["code"] or match["bold"] or match["plain"]).strip().rstrip(":：")
    call = re.fullmatch(r"([A-Za-z_][\w.\-]*)\s*\((.*)\)", name)
    named = call[1] if call else name
    if not _NAME.fullmatch(named):
        return None, False
    stated = _PARAMETERS.search(match["text"])
    given = parse_parameters(call[2] if call else (match["args"] or "").strip("()") or (stated[1] if stated else ""))
    return described(named, match["text"], given), not is_denied(bare) and not is_denied(match["text"]) and not (
        tick and tick[1] == " "
    )


def op_names(cell: str) -> list[str]:
    """The op names of a cell: back-ticked ones if there are any, else split at `/`, `,` and `、`."""
    found = re.findall(r"`([^`]+)`", cell) or re.split(r"[/,，、]|<br\s*/?>", cell)
    return [match[0] for name in found if (match := _NAME.fullmatch(_called(name).strip(" *")))]


def _called(name: str) -> str:
    """The name without the arguments in brackets that follow it."""
    first, last = name.find("("), name.rfind(")")
    return name[:first] + name[last + 1 :] if 0 <= first < last else name


def parse_parameters(cell: str) -> tuple[Parameter, ...]:
    """A Parameters cell: `name: type`, `` `a, b, c?` ``, `(optional)`, a unit in brackets, `—` for none.

    A unit after the last name of a list without types (`` `x, y, z` (cm) ``) is the unit of the whole list.
    """
    text = re.sub(r"<br\s*/?>", ", ", cell).replace("`", "").strip()
    if text.casefold() in _NONE:
        return ()
    found = [parameter for part in _parts(text) if (parameter := _parameter(part))]
    if len(found) > 1 and found[-1].unit and not any(p.unit or p.type for p in found[:-1]):
        found = [Parameter(p.name, p.type, p.optional, found[-1].unit) for p in found]
    return tuple(found)


def _parts(text: str) -> list[str]:
    parts, depth, begin = [], 0, 0
    for i, sign in enumerate(text):
        if sign in "[({（":
            depth += 1
        elif sign in "])}）":
            depth = max(0, depth - 1)
        elif sign in ",，;；、" and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [*parts, text[begin:]]


def _parameter(part: str) -> Parameter | None:
    optional = bool(re.search(r"[(（\[]\s*(optional|可选|opt\.?)\s*[)）\]]|=|可选", part, re.IGNORECASE))
    bare = re.sub(r"[(（\[]\s*(optional|可选|opt\.?)\s*[)）\]]", "", part, flags=re.IGNORECASE).strip()
    word = quantities.bracketed_unit(bare, "length") or quantities.bracketed_unit(bare, "mass")
    word = word or quantities.bracketed_unit(bare, "angle")
    if word:
        bare = re.sub(rf"[(（\[]\s*{re.escape(word)}\s*[)）\]]", "", bare).strip()
    name, _, kind = bare.replace("：", ":").partition(":")
    name, _, default = name.partition("=")
    kind = kind.partition("=")[0] if ":" in bare else kind
    name = name.strip()
    if name.endswith("?") or kind.strip().endswith("?"):
        optional, name, kind = True, name.rstrip("? "), kind.strip().rstrip("?")
    if not _NAME.fullmatch(name):
        return None
    return Parameter(name, kind.strip(), optional or bool(default), word.casefold())
