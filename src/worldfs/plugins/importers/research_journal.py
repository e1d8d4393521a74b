"""research-journal.md: what an agent wrote after each session, in git (003, Migration). It stays where it is.

Its `## Session DATE` blocks are offered as notes and taken only if asked for: `also=("research-journal",)`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Remark
from worldfs.formats import prose

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, unreadable_item
from .source_search import find_files
from .value_conversion import identity, note_text, parse_agent, parse_time

PATTERNS: Final = (("agents", "*", "research-journal.md"), ("research-journal.md",))
SECTION: Final = "patterns"
_BLOCK: Final = re.compile(r"(?:session|会话|研究会话)\s*[:：]?\s*(.*)", re.IGNORECASE)


class ResearchJournal:
    name = "research-journal"
    about = "research-journal.md → notes, a block a session; only when asked for"

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            return re.search(rb"^## +(?i:session)", head, re.MULTILINE) is not None

        where, files = find_files(place, PATTERNS, fits)
        with SourceDir(where) as opened:
            return [
                ImportSource(self.name, where, path, (path,), opened.size(path), _whose(where, path), offered=self.name)
                for path in files
            ]

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource(source.agent)
        with SourceDir(source.base_dir) as place:
            try:
                text = place.text(source.path)
            except WorldError as error:
                found.skipped.append(unreadable_item(error, source.path))
                return found
        lines = prose.split(text)
        mask = prose.visible(lines, list(prose.fences(lines)))
        heads = [head for head in prose.headings(lines, mask) if head.level <= 2]
        seen: dict[str, int] = {}
        for head, end in zip(heads, [*(item.line for item in heads[1:]), len(lines)], strict=True):
            raw = "".join(lines[head.line + 1 : end])
            body = re.sub(r"(?m)^[^\S\n]*(?:---|\*\*\*|___)\s*$", "", raw).strip()
            where = f"{source.path}:{head.line + 1}"
            match = _BLOCK.fullmatch(head.text) if head.level == 2 else None
            if match is None:
                if body and head.level == 2:
                    found.skipped.append(
                        SkippedItem(
                            where,
                            coded("plugin.heading", text=head.text),
                            coded("plugin.session_heading"),
                            "",
                            raw.encode()[:SHOWN],
                        )
                    )
                continue
            if not body:
                found.ignore(coded("plugin.empty_blocks"))
                continue
            title = match[1].strip() or head.text
            seen[title] = seen.get(title, 0) + 1
            key = identity("research-journal", source.agent or "", title, seen[title])
            remark = Remark(SECTION, note_text(f"**Session {title}**\n{body}"), at=parse_time(title)[:10])
            found.remarks.append(ImportItem(key, remark, where, source.agent, offered=self.name))
        return found


def _whose(place: Path, path: str) -> str | None:
    """`agents/rio/research-journal.md` is rio's."""
    parts = (*place.parts, *path.split("/"))
    return parse_agent(parts[-2]) if len(parts) > 2 and parts[-3] == "agents" else None
