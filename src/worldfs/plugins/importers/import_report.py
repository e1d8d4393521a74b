"""What came of an import, by kind: tasks, notes, messages, entries (lines of the journal), figures."""

from __future__ import annotations

from worldfs.base.messages import coded

from .import_plan import SHOWN, skipped_lines
from .import_types import SkippedItem
from .value_conversion import join_some, plural


class ImportReport:
    """`words()` says it."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.new: dict[str, int] = {}
        self.changed: dict[str, int] = {}
        self.same: dict[str, int] = {}
        self.kept: list[str] = []  # ours stayed, though the source says something else now: in words
        self.gone: list[str] = []  # tasks that the source no longer has and that stay with us
        self.skipped: list[SkippedItem] = []
        self.sessions: dict[str, int] = {}  # of the new journal lines: sessions that metrics.json counts, by outcome
        self.renamed: dict[str, str] = {}  # id in the source → id with us, where that was taken
        self.without_copy: dict[str, str] = {}  # source → why no copy of it was kept

    @property
    def anything(self) -> bool:
        """Whether the agent's state is another now."""
        return bool(self.new or self.changed)

    @property
    def not_understood(self) -> list[SkippedItem]:
        """What stayed behind and was not left out on purpose."""
        return [left for left in self.skipped if not left.intended]

    def words(self, shown: int = SHOWN) -> list[str]:
        """At most `shown` lines of what was left."""
        lines: list[str] = []
        for code, counts in (("plugin.new", self.new), ("plugin.changed", self.changed), ("plugin.same", self.same)):
            if counts:
                lines.append(coded(code, counts=[plural(number, kind) for kind, number in counts.items()]))
        lines = lines or [coded("plugin.nothing")]
        if self.sessions:
            how = [f"{number:,} {outcome}" for outcome, number in sorted(self.sessions.items())]
            lines.append(coded("plugin.counted", sessions=plural(sum(self.sessions.values()), "sessions"), how=how))
        lines += [coded("plugin.id_taken", old=old, new=new) for old, new in self.renamed.items()]
        lines += [coded("plugin.kept", text=text) for text in self.kept]
        if self.gone:
            lines.append(coded("plugin.gone", names=join_some(self.gone, 8)))
        lines += [coded("plugin.no_copy", source=source, why=why) for source, why in self.without_copy.items()]
        return lines + skipped_lines(self.skipped, shown)


def add(counts: dict[str, int], kind: str, number: int = 1) -> None:
    if number:
        counts[kind] = counts.get(kind, 0) + number
