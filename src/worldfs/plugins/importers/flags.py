"""Flags of the collective workspace: `flag-{agent}-{topic}.md`, one agent telling another what it found.

Both forms are read: `## Cross-Domain Flag: theseus → rio` with labelled lines, and the hand-off form with
`**From:** … → **To:** …`. The text of a flag is the message's body, byte for byte but for its ends.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Message
from worldfs.formats import prose
from worldfs.formats.agent import synonyms as agreed

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, decode_text, unreadable_item
from .source_search import find_files, sources_by_folder
from .value_conversion import (
    EVERYONE,
    clean_text,
    identity,
    one_line,
    parse_agent,
    parse_agents,
    parse_time,
    short_identity,
    slug,
)

PATTERNS: Final = ((".pentagon", "workspace", "collective", "flag-*.md"), ("collective", "flag-*.md"))
LABELS: Final = {
    **dict.fromkeys(("from", "sender", "来自", "发自", "发件人", "发送者"), "from"),
    **dict.fromkeys(("to", "for", "recipient", "发给", "发往", "收件人", "接收者", "致"), "to"),
    **dict.fromkeys(("date", "created", "when", "日期", "时间"), "date"),
    **dict.fromkeys(("priority", "urgency", "优先级", "紧急程度"), "priority"),
    **dict.fromkeys(("what i found", "found", "finding", "我的发现", "发现"), "found"),
    **dict.fromkeys(("recommended action", "action", "建议行动", "建议操作", "建议"), "action"),
    **dict.fromkeys(("topic", "subject", "title", "主题", "话题"), "topic"),
}
HIGH: Final = ("time-sensitive", "time sensitive", "blocking", "时效", "时效性", "阻塞")
ROUTINE: Final = ("routine", "例行", "常规")
_HEAD: Final = re.compile(r"(?:cross[- ]domain flag|flag|hand-?off|跨域标记|标记|交接)\s*[:：]\s*(.*)", re.IGNORECASE)
_ARROW: Final = re.compile(r"(?<!\s)\s*+(?:→|->|=>|⇒|➜)\s*+")
_BOTH: Final = re.compile(
    r"\*\*\s*+(from|to|来自|发给)\s*+(?:[:：]\s*+)?\*\*\s*+(?:[:：]\s*+)?([^*→]+?)(?=→|->|\*\*|$)", re.IGNORECASE
)


class Flags:
    name = "flags"
    about = "collective/flag-*.md → messages in the inbox"

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            text = head.decode("utf-8", "replace").casefold()
            return "cross-domain flag" in text or ("**from" in text and "**to" in text)

        return sources_by_folder(self.name, find_files(place, PATTERNS, fits))

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource()
        with SourceDir(source.base_dir) as place:
            for path in source.files:
                data = b""
                try:
                    data = place.document(path)
                    _flag(found, data, decode_text(data, path), path, place.changed_at(path))
                except WorldError as error:
                    found.skipped.append(unreadable_item(error, path, data))
        return found


def _flag(found: ParsedSource, data: bytes, text: str, path: str, at: str) -> None:
    text = clean_text(text).strip()
    fields, title = _fields(text)
    stem = Path(path).stem.removeprefix("flag-")
    named, _, about = stem.partition("-")  # flag-{agent}-{topic}.md
    sender = parse_agent(fields.get("from", "")) or (parse_agent(named) if about else None)
    said = fields.get("to", "").strip(" *`_")
    to = parse_agents(said)
    if not text or sender is None or (said and not to and said.casefold() not in EVERYONE):
        why = (
            coded("file.empty_file")
            if not text
            else coded("plugin.recipient", said=said[:60])
            if sender
            else coded("plugin.no_sender")
        )
        found.skipped.append(SkippedItem(path, why, coded("plugin.from_to"), "", data[:SHOWN], len(data) <= SHOWN))
        return
    topic = title or fields.get("topic", "") or fields.get("found", "") or about.replace("-", " ")
    word = fields.get("priority", "").strip(" *`_.").casefold()
    extra = {"imported_from": f"flags:{path.rpartition('/')[2]}"}
    if word and _priority(word) is None:
        extra["priority_word"] = one_line(word, 60)
    if fields.get("action"):
        extra["recommended_action"] = one_line(fields["action"], 300)
    for name in to or (None,):
        key = identity("flag", path.rpartition("/")[2], name)
        letter = Message(
            id=f"flag-{slug(stem) or 'x'}-{short_identity(key, text)}",
            sender=sender,
            to=name or "",
            created_at=parse_time(fields.get("date", "")),
            type="flag",
            priority=_priority(word) or "normal",
            subject=one_line(topic, 120) or one_line(stem, 120),
            body=text,
            source_ref=path,
            extra=dict(extra),
        )
        found.messages.append(ImportItem(key, letter, path, name, at=at))


def _priority(word: str) -> str | None:
    """routine → normal, time-sensitive and blocking → high (agent_state §4); None for a word of its own."""
    if word in HIGH or word in ROUTINE:
        return "high" if word in HIGH else "normal"
    found = agreed.message_priority(word)
    return found if found in ("high", "normal", "low") else None


def _fields(text: str) -> tuple[dict[str, str], str]:
    """(labelled fields by meaning, the topic in the heading); a field goes on to the next label."""
    fields: dict[str, list[str]] = {}
    title, open_ = "", ""
    for raw in text.split("\n"):
        bare = raw.strip().removeprefix(">").strip()
        heading = re.match(r"#{1,6}\s+(.*)", bare)
        if heading:
            open_ = ""
            if not title and not fields:
                title = _title(heading[1].rstrip("#").rstrip(), fields)
            continue
        pairs = _BOTH.findall(bare)
        if len(pairs) > 1:
            for label, value in pairs:
                fields.setdefault(LABELS[label.casefold()], [value.strip()])
            continue
        found = prose.parse_label(bare.removeprefix("- ").removeprefix("* ").strip())
        meaning = LABELS.get(found[0].casefold().strip(" *")) if found else None
        if found and meaning:
            fields.setdefault(meaning, [found[1]])
            open_ = meaning
        elif found and bare.startswith("**"):
            open_ = ""
        elif open_ and bare:
            fields[open_].append(bare)
    return {meaning: " ".join(parts).strip() for meaning, parts in fields.items()}, title


def _title(heading: str, fields: dict[str, list[str]]) -> str:
    """The topic of a heading; `… : theseus → rio` names sender and recipient instead."""
    match = _HEAD.fullmatch(heading.strip())
    said = match[1].strip() if match else heading
    ends = _ARROW.split(said, maxsplit=1)
    if match and len(ends) == 2 and parse_agent(ends[0]):
        fields["from"], fields["to"] = [ends[0]], [ends[1]]
        return ""
    return said
