"""LESSONS.md: what was refused and why, in all its forms (000, 001; workspace §3.11); only ever added to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.json_text import parse_json
from worldfs.base.model import Json, Lesson

from . import prose
from .prose import Fence, Heading

PATH = "LESSONS.md"

LABELS = {
    "en": {"action": "Action", "reason": "Reason", "rejection": "Critic Rejection", "fix": "Fix",
           "condition": "Holds While", "count": "Count"},
    "zh": {"action": "动作", "reason": "原因", "rejection": "Critic 拒绝", "fix": "修复", "condition": "成立条件",
           "count": "次数"},
}  # fmt: skip
_MEANING = {
    **{word.casefold(): meaning for labels in LABELS.values() for meaning, word in labels.items()},
    **{"reasoning": "reason", "parameters": "parameters", "params": "parameters", "参数": "parameters"},
    **{"critic拒绝": "rejection", "rejection": "rejection", "解决": "fix", "建议": "fix"},
}
_LAST = {"en": "last", "zh": "最近"}
_TIME = re.compile(r"(\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?)\s*(?:—|–|--?|[:：])\s*(.*)")
_COUNT = re.compile(r"(\d{1,9})(?:\s*[(（](?:last|最近)\s*+([^)）]*+)[)）])?")
_UNTITLED = "Lesson"
_ATTEMPT = "failed action attempt"


SAME = ("action", "reason", "fix", "condition")  # what two lessons have in common that are one, told twice


class LessonEntry(NamedTuple):
    """A section of the document: lines `first` (its heading) up to, without, `end`."""

    first: int
    end: int
    title: str
    at: str


def read(data: bytes) -> list[Lesson]:
    """Every lesson of the document, in its order. `extra["form"]`: page, q1, r1 or notes.

    Raises `BadInput` only for bytes that are no text; what is no lesson (the title, its introduction) is passed over.
    """
    lines = prose.split(prose.decode(data, PATH))
    blocks = list(prose.fences(lines))
    mask = prose.visible(lines, blocks)
    entries = _entries(lines, mask)
    found: list[tuple[int, Lesson]] = [(e.first, _note(lines, mask, e)) for e in entries if _worth(lines, mask, e)]
    for block in blocks:
        if block.info in ("yaml", "yml", ""):
            found += [(block.first, note) for note in _runtime(lines, block)]
    if not blocks and not entries:
        found += [(0, note) for note in _bare_runtime(lines)]
    stop = entries[0].first if entries else len(lines)
    found += list(_loose(lines, mask, stop))
    return [note for _, note in sorted(found, key=lambda pair: pair[0])]


def add(data: bytes, note: Lesson, *, language: str = "en") -> bytes:
    """The document with one lesson more, page form, labels as the file has them (else `language`).

    It goes where the file's own order asks (newest first, or last). A lesson that is there already, but for its
    time, gets a Count bullet instead. Nothing present is removed. Text is flattened to one line a field, so no
    order can forge an entry. Raises `BadInput` when the file is no text: it is then left alone.
    """
    text = prose.decode(data, PATH)
    lines = prose.split(text)
    blocks = list(prose.fences(lines))
    mask = prose.visible(lines, blocks)
    entries = _entries(lines, mask)
    end = prose.ending(lines)
    words = [
        prose.one_line(note.title) or _UNTITLED,
        *(prose.one_line(part) for part in (note.action, note.reason, note.fix, note.condition)),
    ]
    for entry in entries:
        if prose.one_line(entry.title) == words[0]:
            bullets = _bullets(lines, mask, entry)
            same = [prose.one_line(_join(bullets, m), 10**6) for m in SAME] == words[1:]
            if same:
                _count(lines, entry, bullets, note, _language(lines, [entry], language))
                return "".join(lines).encode()
    tongue = _language(lines, entries, language)
    place = _place(lines, entries, blocks)
    new = _entry(note, tongue, end)
    if not "".join(lines).removeprefix(prose.BOM).strip():
        lines.append(f"# LESSONS{end}")
        place = len(lines)
    if place > 0 and not lines[place - 1].endswith(("\n", "\r")):
        lines[place - 1] += end
    before = [end] if place > 0 and lines[place - 1].strip() else []
    after = [end] if place < len(lines) and lines[place].strip() else []
    lines[place:place] = [*before, *new, *after]
    return "".join(lines).encode()


def template(language: str = "en") -> bytes:
    """A file with no lesson in it yet; its heading is the same word in both languages (001)."""
    return b"# LESSONS\n"


# -- reading ---------------------------------------------------------------------------------------------------------


def _entries(lines: Sequence[str], mask: Sequence[int]) -> list[LessonEntry]:
    heads: list[Heading] = [h for h in prose.headings(lines, mask) if h.level <= 2]
    ends = [h.line for h in heads[1:]] + [len(lines)]
    entries = []
    for head, end in zip(heads, ends, strict=False):
        if head.level == 2:
            match = _TIME.fullmatch(head.text)
            entries.append(
                LessonEntry(head.line, end, _read(match[2] if match else head.text), match[1] if match else "")
            )
    return entries


def _bullets(lines: Sequence[str], mask: Sequence[int], entry: LessonEntry) -> list[tuple[int, str, str]]:
    """(line, meaning, value) of each labelled bullet; a line that belongs to the bullet before it is joined."""
    found: list[tuple[int, str, str]] = []
    for number in range(entry.first + 1, entry.end):
        line = lines[number]
        if not mask[number] or not line.strip():
            continue
        item = prose.bullet(line)
        pair = prose.parse_label(item) if item else None
        meaning = _MEANING.get(pair[0].casefold(), "") if pair else ""
        if pair and meaning:
            found.append((number, meaning, _read(pair[1])))
        elif found and item is None and line[:1] in " \t":
            at, name, value = found[-1]
            found[-1] = (at, name, f"{value} {_read(line.strip())}".strip())
        else:
            found.append((number, "", item or line.strip()))
    return found


def _join(bullets: Sequence[tuple[int, str, str]], meaning: str) -> str:
    return " ".join(value for _, name, value in bullets if name == meaning)


def _worth(lines: Sequence[str], mask: Sequence[int], entry: LessonEntry) -> bool:
    return bool(entry.at) or any(lines[i].strip() and mask[i] for i in range(entry.first + 1, entry.end))


def _note(lines: Sequence[str], mask: Sequence[int], entry: LessonEntry) -> Lesson:
    bullets = _bullets(lines, mask, entry)
    labelled = any(name for _, name, _ in bullets)
    form = "page" if entry.at else "q1" if entry.title.casefold() == _ATTEMPT else "page" if labelled else "notes"
    extra: Json = {"form": form}
    rest = " ".join(value for _, name, value in bullets if not name)
    if rest and labelled:
        extra["prose"] = rest
    action = _join(bullets, "action")
    if parameters := _join(bullets, "parameters").strip("` "):
        try:
            extra["parameters"] = parse_json(parameters)
        except ValueError:
            extra["parameters"] = parameters
    count, last = _counted(_join(bullets, "count"))
    if last:
        extra["last"] = last
    return Lesson(
        title=entry.title,
        action=action[1:-1] if re.fullmatch(r"`[^`]+`", action) else action,
        reason=_join(bullets, "reason") if labelled else rest,
        rejection=_join(bullets, "rejection"),
        fix=_join(bullets, "fix"),
        condition=_join(bullets, "condition"),
        at=entry.at,
        count=count,
        extra=extra,
    )


def _counted(value: str) -> tuple[int, str]:
    match = _COUNT.match(value)
    return (max(1, int(match[1])), (match[2] or "").strip()) if match else (1, "")


def _loose(lines: Sequence[str], mask: Sequence[int], stop: int) -> Iterator[tuple[int, Lesson]]:
    """`notes`: list items before any section. Paragraphs there introduce the file and are no lessons."""
    for number in range(stop):
        if mask[number] and (item := prose.bullet(lines[number])):
            pair = prose.parse_label(item)
            title, reason = pair if pair and item.startswith(("**", "__")) else (item, "")
            yield number, Lesson(_read(title), reason=_read(reason), extra={"form": "notes"})


def _bare_runtime(lines: Sequence[str]) -> list[Lesson]:
    """A file that is nothing but YAML (as 000 and 001 print their documents)."""
    if not any(line.startswith("lessons:") for line in lines):
        return []
    return _yaml_notes("".join(lines).removeprefix(prose.BOM))


def _runtime(lines: Sequence[str], block: Fence) -> list[Lesson]:
    inside = lines[block.first + 1 : block.last if block.closed else block.last + 1]
    if not any(line.startswith("lessons:") for line in inside):
        return []
    return _yaml_notes("".join(inside))


def _yaml_notes(text: str) -> list[Lesson]:
    from . import yamltext

    try:
        document: Any = yamltext.texts(text)
    except BadInput:
        return []  # unreadable: left alone; the doctor names it
    entries = document.get("lessons") if isinstance(document, dict) else None
    return [_runtime_note(e) for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []


def _runtime_note(entry: dict[str, Any]) -> Lesson:
    def text(key: str) -> str:
        return str(entry.get(key) or "")

    subject = " ".join(word for word in (text("skill_id"), text("target_id")) if word)
    at = re.sub(r"(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?$", "", text("timestamp").strip("'\"")).replace("T", " ")
    known = ("timestamp", "summary")
    extra: Json = {"form": "r1", **{key: value for key, value in entry.items() if key not in known}}
    return Lesson(
        text("summary") or text("error_code"), subject, text("summary"), text("error_code"), at=at, extra=extra
    )


# -- writing ---------------------------------------------------------------------------------------------------------


def _shown(text: str) -> str:
    """A field as it is in the file: one line; what naive readers cut at (fences, headings, comments) is broken."""
    line = prose.one_line(text).replace("\\", "\\\\") if "\\" in text else prose.one_line(text)
    return re.sub(r"`{3,}|~{3,}|#{2,}|#$|\*{2,}|<!-", lambda run: "".join("\\" + sign for sign in run[0]), line)


def _read(text: str) -> str:
    return re.sub(r"\\([\\`~#<!*_|-])", r"\1", text) if "\\" in text else text


def _entry(note: Lesson, language: str, end: str) -> list[str]:
    labels = LABELS[language]
    title = _shown(note.title) or _UNTITLED
    head = f"## {_shown(note.at)} — {title}" if note.at else f"## {title}"
    fields = [(m, _shown(getattr(note, m))) for m in ("action", "reason", "rejection", "fix")]
    fields += [("condition", _shown(note.condition))] if note.condition else []
    bullets = [f"- **{labels[meaning]}**: {value}".rstrip() for meaning, value in fields]
    if note.count > 1:
        bullets.append(_count_bullet(note.count, note.at, language))
    return [line + end for line in (head, *bullets)]


def _count_bullet(count: int, last: str, language: str) -> str:
    when = f" ({_LAST[language]} {_shown(last)})" if last else ""
    return f"- **{LABELS[language]['count']}**: {count}{when}"


def _count(
    lines: list[str], entry: LessonEntry, bullets: Sequence[tuple[int, str, str]], note: Lesson, language: str
) -> None:
    end = prose.ending(lines)
    counted = next(((i, value) for i, name, value in bullets if name == "count"), None)
    if counted:
        number, value = counted
        old = lines[number]
        new = _count_bullet(_counted(value)[0] + note.count, note.at, language)
        lines[number] = new + old[len(old.rstrip("\r\n")) :]
        return
    last = max((i for i, name, _ in bullets if name), default=entry.first)
    while last + 1 < entry.end and lines[last + 1][:1] in (" ", "\t") and lines[last + 1].strip():
        last += 1  # the rest of that bullet
    if not lines[last].endswith(("\n", "\r")):
        lines[last] += end
    lines.insert(last + 1, _count_bullet(1 + note.count, note.at, language) + end)


def _language(lines: Sequence[str], entries: Sequence[LessonEntry], default: str) -> str:
    for entry in entries[:3]:
        for line in lines[entry.first + 1 : entry.end]:
            pair = prose.parse_label(item) if (item := prose.bullet(line)) else None
            for language, labels in LABELS.items():
                if pair and pair[0] in labels.values():
                    return language
    return "zh" if default.startswith("zh") else "en"


def _place(lines: Sequence[str], entries: Sequence[LessonEntry], blocks: Sequence[Fence]) -> int:
    """The line before which a new entry goes."""
    bottom = next((b.first for b in blocks if not b.closed), len(lines))
    dated = [e for e in entries if e.at]
    if not dated:
        return bottom
    alone = len(dated) == 1  # then its place among the other sections decides
    newest_first = entries[0] is dated[0] if alone else _key(dated[0].at) >= _key(dated[-1].at)
    if newest_first:
        return dated[0].first
    end = min(dated[-1].end, bottom)
    return end


def _key(at: str) -> str:
    return at.replace("T", " ")
