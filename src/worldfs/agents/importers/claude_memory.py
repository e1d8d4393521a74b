"""Claude Code's memory of a project: MEMORY.md, an index or notes, and its topic files → notes.

Topic files have a head (`name`, `description`, `type` or `metadata: type`) and a body; index lines that lead to one of
them say nothing more. MEMORY.md of older versions holds the notes themselves: each list item or paragraph is one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from worldfs.formats import prose
from worldfs.ground.errors import WorldError
from worldfs.ground.model import Remark

from .nouns import Imported, Item, Left, Source
from .places import files_of
from .reading import SHOWN, Place, not_read
from .words import agent, identity, note, same_text

PATTERNS: Final = (
    (".claude", "projects", "*", "memory", "*.md"),
    (".claude", "agent-memory", "*", "*.md"),
    (".claude", "agent-memory-local", "*", "*.md"),
    ("memory", "*.md"),
)
INDEX: Final = "MEMORY.md"
SECTIONS: Final = {"feedback": "corrections", "project": "patterns", "reference": "patterns", "user": "patterns"}
SECTION: Final = "patterns"
WHOLE: Final = 1500  # characters: a longer topic becomes a note a heading
_HEAD: Final = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD: Final = re.compile(r"^[ \t]*([A-Za-z_-]+)[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]+)\]\(<?([^)>\s]+\.md)>?\)\s*(?:[-–—:：]+\s*)?(.*)", re.DOTALL)


class ClaudeMemory:
    name = "claude-memory"
    about = "Claude Code's MEMORY.md and topic files → notes in memory.md"

    def finds(self, place: Path) -> list[Source]:
        def fits(head: bytes) -> bool:
            return place.name == INDEX or _HEAD.match(head.decode("utf-8", "replace").replace("\r", "")) is not None

        if place.is_file() and place.name == INDEX:
            place = place.parent
        where, files = files_of(place, (*PATTERNS, ("*.md",)) if _index(place) else PATTERNS, fits)
        folders: dict[str, list[str]] = {}
        for path in files:
            folders.setdefault(path.rpartition("/")[0], []).append(path)
        found = []
        with Place(where) as opened:
            for folder, paths in folders.items():
                names = {path.rpartition("/")[2] for path in paths}
                if not place.is_file() and INDEX not in names and not _tool_made(where, folder):
                    continue  # a folder that is called memory, and is somebody else's
                size = sum(map(opened.size, paths))
                found.append(Source(self.name, where, folder or paths[0], tuple(paths), size, _whose(where, folder)))
        return found

    def read(self, source: Source) -> Imported:
        found = Imported(agent=source.agent)
        texts: dict[str, str] = {}
        with Place(source.place) as place:
            for path in source.files:
                try:
                    texts[path] = place.text(path).replace("\r\n", "\n")
                except WorldError as error:
                    found.left.append(not_read(error, path))
        topics = {path.rpartition("/")[2]: path for path in texts if not path.endswith(INDEX)}
        hooks: dict[str, str] = {}
        for path, text in texts.items():
            if path.endswith(INDEX):
                _index_notes(found, text, path, topics, hooks, source.agent)
        for name, path in topics.items():
            _topic(found, texts[path], path, hooks.get(name, ""), source.agent)
        return found


def _index(place: Path) -> bool:
    return place.is_dir() and (place / INDEX).is_file()


def _tool_made(where: Path, folder: str) -> bool:
    parts = (*where.parts, *folder.split("/"))
    return ".claude" in parts


def _whose(where: Path, folder: str) -> str | None:
    """`agent-memory/reviewer/` is the memory of the subagent reviewer."""
    parts = (*where.parts, *(folder.split("/") if folder else ()))
    if len(parts) > 1 and parts[-2].startswith("agent-memory"):
        return agent(parts[-1])
    return None


def _topic(found: Imported, text: str, path: str, hook: str, to: str | None) -> None:
    head = _HEAD.match(text)
    fields = {key.casefold(): value.strip("\"'") for key, value in _FIELD.findall(head[1])} if head else {}
    body = text[head.end() :].strip() if head else text.strip()
    title = fields.get("name") or Path(path).stem.replace("_", " ")
    about = fields.get("description") or hook
    section = SECTIONS.get(fields.get("type", "").casefold(), SECTION)
    if not body and not about:
        found.left.append(Left(path, "no text", "a memory", "", text.encode()[:SHOWN], meant=True))
        return
    if about and same_text(about) in same_text(body):
        about = ""
    parts = _parts(body) if len(body) > WHOLE else [("", body)]
    seen: dict[str, int] = {}
    for number, (heading, part) in enumerate(parts):
        label = " — ".join(word for word in (title, heading) if word)
        lead = f"**{label}**" + (f": {about}" if about and number == 0 else "")
        value = note(f"{lead}\n{part}" if part else lead)
        seen[heading] = seen.get(heading, 0) + 1
        key = identity("claude-memory", to, Path(path).name, fields.get("name", ""), heading, seen[heading])
        found.remarks.append(Item(key, Remark(section, value), path, to))


def _parts(body: str) -> list[tuple[str, str]]:
    """A long text by its headings: (heading, text), the text before the first with an empty one."""
    lines = prose.split(body)
    mask = prose.visible(lines, list(prose.fences(lines)))
    heads = prose.headings(lines, mask)
    if not heads:
        return [("", body)]
    top = min(head.level for head in heads)
    heads = [head for head in heads if head.level == top] if sum(h.level == top for h in heads) > 1 else heads
    parts = [("", "".join(lines[: heads[0].line]).strip())]
    for head, end in zip(heads, [*(item.line for item in heads[1:]), len(lines)], strict=True):
        parts.append((head.text, "".join(lines[head.line + 1 : end]).strip()))
    return [(heading, text) for heading, text in parts if text]


def _index_notes(
    found: Imported, text: str, path: str, topics: dict[str, str], hooks: dict[str, str], to: str | None
) -> None:
    """Each list item or paragraph of MEMORY.md; pointers to topics that are there only lend them a description."""
    lines = prose.split(text)
    mask = prose.visible(lines, list(prose.fences(lines)))
    heads = {head.line: head for head in prose.headings(lines, mask)}
    section, block, begun = "", [], 0
    blocks: list[tuple[str, int, str]] = []

    def close() -> None:
        bare = "".join(block).strip()
        if bare:
            blocks.append((section, begun, bare))
        block.clear()

    for number, raw in enumerate(lines):
        if number in heads:
            close()
            section = heads[number].text if heads[number].level > 1 else ""
            continue
        top_item = mask[number] and re.match(r"(?:[-*+]|\d+[.)])\s+", raw)
        if top_item or (mask[number] and not raw.strip()):
            inside = (
                "".join(block).lstrip()[:1] in ("-", "*", "+")
                and number + 1 < len(lines)
                and lines[number + 1][:2] == "  "
            )
            if top_item or not inside:
                close()
        if not block:
            begun = number
        block.append(raw)
    close()
    seen: dict[str, int] = {}
    for heading, line, bare in blocks:
        item = re.sub(r"\A(?:[-*+]|\d+[.)])\s+", "", bare)
        link = _LINK.fullmatch(item)
        target = link[2].rpartition("/")[2] if link else ""
        if link and target in topics:
            hooks.setdefault(target, link[3].strip())
            found.passed_over("index lines of topics that are there")
            continue
        if set(item) <= set("-*_= \t\n"):
            continue
        value = note(f"**{heading}**: {item}" if heading and len(item) < 400 and "\n" not in item else item)
        mark = same_text(item)
        seen[mark] = seen.get(mark, 0) + 1
        if seen[mark] > 1:
            continue
        key = identity("claude-memory", to, INDEX, heading, mark)
        found.remarks.append(Item(key, Remark(SECTION, value), f"{path}:{line + 1}", to))
