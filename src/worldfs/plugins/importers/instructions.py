"""Instructions that people wrote for coding agents, CLAUDE.md, AGENTS.md and GEMINI.md → notes, one a rule.

A file that is named comes over; in a directory they are only offered: most of them are about that directory's work.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Remark

from .claude_memory import blocks, plain_item
from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, unreadable_item
from .source_search import find_files
from .value_conversion import comparison_key, identity, note_text

NAMES: Final = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "CLAUDE.local.md")
PATTERNS: Final = (
    *((name,) for name in NAMES),
    (".claude", "CLAUDE.md"),
    (".codex", "AGENTS.md"),
    (".gemini", "GEMINI.md"),
)
OFFER: Final = "instructions"
SECTION: Final = "patterns"


class Instructions:
    name = "instructions"
    about = "CLAUDE.md, AGENTS.md and GEMINI.md → notes in memory.md"

    def finds(self, place: Path) -> list[ImportSource]:
        if place.is_file() and place.name not in NAMES:
            return []
        offered = "" if place.is_file() else OFFER
        where, files = find_files(place, PATTERNS, lambda head: True)
        with SourceDir(where) as opened:
            return [ImportSource(self.name, where, path, (path,), opened.size(path), offered=offered) for path in files]

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource()
        with SourceDir(source.base_dir) as place:
            for path in source.files:
                try:
                    _rules(found, place.text(path).replace("\r\n", "\n"), path)
                except WorldError as error:
                    found.skipped.append(unreadable_item(error, path))
        return found


def _rules(found: ParsedSource, text: str, path: str) -> None:
    """Each list item and each paragraph, with its heading before it."""
    name, seen = path.rpartition("/")[2], set[str]()
    for heading, number, block in blocks(text):
        where = f"{path}:{number + 1}"
        rule = plain_item(block)
        if rule.startswith("@") and " " not in rule:  # an import of another file
            found.skipped.append(
                SkippedItem(
                    where,
                    coded("plugin.reference", name=rule[1:]),
                    "",
                    coded("plugin.import_too"),
                    block.encode()[:SHOWN],
                    intended=True,
                )
            )
            continue
        mark = comparison_key(rule)
        if not mark or mark in seen:
            continue
        seen.add(mark)
        value = note_text(f"**{heading}**: {rule}" if heading and "\n" not in rule else rule)
        found.remarks.append(ImportItem(identity("instructions", name, heading, mark), Remark(SECTION, value), where))
