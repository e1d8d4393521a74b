"""Claude Code's memory of a project: MEMORY.md, an index or notes, and its topic files → notes.

Topic files have a head (`name`, `description`, `type` or `metadata: type`) and a body; index lines that lead to one of
them say nothing more. MEMORY.md of older versions holds the notes themselves: each list item or paragraph is one.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Remark
from worldfs.formats import prose

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, unreadable_item
from .source_search import claude_patterns, files_by_folder, find_files
from .value_conversion import comparison_key, identity, note_text, parse_agent

PATTERNS: Final = (
    ("projects", "*", "memory", "*.md"),
    ("agent-memory", "*", "*.md"),
    ("agent-memory-local", "*", "*.md"),
)
INDEX: Final = "MEMORY.md"
SECTIONS: Final = {"feedback": "corrections", "project": "patterns", "reference": "patterns", "user": "patterns"}
SECTION: Final = "patterns"
WHOLE: Final = 1500  # characters: a longer topic becomes a note a heading
_HEAD: Final = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD: Final = re.compile(r"^[ \t]*([A-Za-z_-]+)[ \t]*+:[ \t]*+(.*)$", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\[\]]+)\]\(<?([^)>\s]{1,200}\.md)>?\)\s*(?:[-–—:：]+\s*)?(.*)")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")


class ClaudeMemory:
    name = "claude-memory"
    about = "Claude Code's MEMORY.md and topic files → notes in memory.md"

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            return _HEAD.match(head.decode("utf-8", "replace").replace("\r", "")) is not None

        if place.is_file() and place.name == INDEX:
            place = place.parent
        patterns = [*claude_patterns(place, *PATTERNS), ("memory", "*.md")]
        if place.is_dir() and (place / INDEX).is_file():
            patterns += [(name,) for name in (INDEX, *_linked(place))]
        where, files = find_files(place, patterns, fits)
        found = []
        with SourceDir(where) as opened:
            for folder, paths in files_by_folder(files).items():
                names = {path.rpartition("/")[2] for path in paths}
                parts = (*where.parts, *(folder.split("/") if folder else ()))
                if not (place.is_file() or INDEX in names or ".claude" in parts):
                    continue  # a folder that is called memory, and is another program's
                size = sum(map(opened.size, paths))
                found.append(ImportSource(self.name, where, folder or paths[0], tuple(paths), size, _whose(parts)))
        return found

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource(source.agent)
        texts: dict[str, str] = {}
        with SourceDir(source.base_dir) as place:
            for path in source.files:
                try:
                    texts[path] = place.text(path).replace("\r\n", "\n")
                except WorldError as error:
                    found.skipped.append(unreadable_item(error, path))
        topics = {path.rpartition("/")[2]: path for path in texts if path.rpartition("/")[2] != INDEX}
        hooks: dict[str, str] = {}
        for path, text in texts.items():
            if path not in topics.values():
                _index(found, text, path, topics, hooks)
        for name, path in topics.items():
            _topic(found, texts[path], path, hooks.get(name, ""))
        return found


def _linked(place: Path) -> list[str]:
    """Topics that an index beside other documents leads to: those others are another program's."""
    with SourceDir(place) as opened:
        text = opened.head(INDEX, 1 << 20).decode("utf-8", "replace")
    return sorted({link[2] for link in _LINK.finditer(text) if "/" not in link[2]})


def _whose(parts: tuple[str, ...]) -> str | None:
    """`agent-memory/reviewer/` is the memory of the subagent reviewer."""
    return parse_agent(parts[-1]) if len(parts) > 1 and parts[-2].startswith("agent-memory") else None


def _topic(found: ParsedSource, text: str, path: str, hook: str) -> None:
    head = _HEAD.match(text)
    fields = (
        {key.casefold(): value.rstrip(" \t").strip("\"'") for key, value in _FIELD.findall(head[1])} if head else {}
    )
    body = text[head.end() :].strip() if head else text.strip()
    title = fields.get("name") or Path(path).stem.replace("_", " ")
    about = fields.get("description") or hook
    section = SECTIONS.get(fields.get("type", "").casefold(), SECTION)
    if not body and not about:
        found.skipped.append(
            SkippedItem(
                path, coded("plugin.no_text"), coded("plugin.a_memory"), "", text.encode()[:SHOWN], intended=True
            )
        )
        return
    if about and comparison_key(about) in comparison_key(body):
        about = ""
    parts = _parts(body) if len(body) > WHOLE else [("", body)]
    seen: dict[str, int] = {}
    for number, (heading, part) in enumerate(parts):
        label = " — ".join(word for word in (title, heading) if word)
        lead = f"**{label}**" + (f": {about}" if about and number == 0 else "")
        seen[heading] = seen.get(heading, 0) + 1
        key = identity("claude-memory", found.agent, Path(path).name, fields.get("name", ""), heading, seen[heading])
        value = note_text(f"{lead}\n{part}" if part else lead)
        found.remarks.append(ImportItem(key, Remark(section, value), path, found.agent))


def _parts(body: str) -> list[tuple[str, str]]:
    """A long text by its headings: (heading, text), the text before the first with an empty one."""
    lines = prose.split(body)
    mask = prose.visible(lines, list(prose.fences(lines)))
    heads = prose.headings(lines, mask)
    if not heads:
        return [("", body)]
    top = min(head.level for head in heads)
    if sum(head.level == top for head in heads) > 1:  # else it is the title of them all
        heads = [head for head in heads if head.level == top]
    parts = [("", "".join(lines[: heads[0].line]).strip())]
    for head, end in zip(heads, [*(item.line for item in heads[1:]), len(lines)], strict=True):
        parts.append((head.text, "".join(lines[head.line + 1 : end]).strip()))
    return [(heading, text) for heading, text in parts if text]


def _index(found: ParsedSource, text: str, path: str, topics: dict[str, str], hooks: dict[str, str]) -> None:
    """Each list item or paragraph of MEMORY.md; pointers to topics that are there only lend them a description."""
    seen: set[str] = set()
    for heading, number, block in blocks(text):
        item = plain_item(block)
        link = _LINK.fullmatch(item)
        target = link[2].rpartition("/")[2] if link else ""
        if link and target in topics:
            hooks.setdefault(target, link[3].strip())
            found.ignore(coded("plugin.index_lines"))
            continue
        mark = comparison_key(item)
        if not mark or mark in seen:
            continue
        seen.add(mark)
        value = note_text(f"**{heading}**: {item}" if heading and len(item) < 400 and "\n" not in item else item)
        key = identity("claude-memory", found.agent, INDEX, heading, mark)
        found.remarks.append(ImportItem(key, Remark(SECTION, value), f"{path}:{number + 1}", found.agent))


def plain_item(block: str) -> str:
    """A list item, or a paragraph, without its sign and its indentation."""
    item = _ITEM.sub("", block, count=1) if _ITEM.match(block) else block
    first, sign, more = item.partition("\n")
    return first + sign + textwrap.dedent(more)


def blocks(text: str) -> Iterator[tuple[str, int, str]]:
    """(heading, line from 0, text) of each list item, with what belongs to it, and of each paragraph."""
    lines = prose.split(text)
    mask = prose.visible(lines, list(prose.fences(lines)))
    heads = {head.line: head for head in prose.headings(lines, mask)}
    heading, begun, block = "", 0, ""
    for number, raw in enumerate([*lines, "\n"]):
        last = number == len(lines)
        outside = last or bool(mask[number])
        ends = last or number in heads or (outside and _ITEM.match(raw) is not None)
        if outside and not raw.strip() and not ends:
            follows = lines[number + 1] if number + 1 < len(lines) else ""
            ends = not (_ITEM.match(block) and follows.startswith((" ", "\t")))  # a paragraph of the same item
        if ends and block.strip():
            yield heading, begun, block.strip()
        if ends:
            block, begun = "", number
        if number in heads:
            heading = heads[number].text if heads[number].level > 1 else ""
        elif not last:
            begun = number if not block.strip() else begun
            block += raw
