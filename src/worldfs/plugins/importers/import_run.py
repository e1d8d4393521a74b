"""Bringing a plan's things into an agent's state: once each, whatever happens, and never over what the agent did since.

The order: tasks, notes, messages, journal lines, the record last. A crash between any two leaves what the next import
finds by the things themselves: tasks by their mark, notes by their words, messages by their id, lines by theirs.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from worldfs.agents.agent_state import AgentState
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from .identity_set import IdentitySet
from .import_diff import ImportDiff
from .import_plan import FoundSource, ImportPlan
from .import_record import LOCK, ImportedItem, ImportRecord, skipped_id, skipped_value
from .import_report import ImportReport, add
from .import_target import AgentImportTarget, ImportTarget
from .import_types import ImportItem, SkippedItem
from .value_conversion import identity, plain_json

BATCH: Final = 500  # journal lines a write
JournalItem = ImportItem[dict[str, object]]
COUNTED: Final = ("session_end", "metrics_imported")
_OURS: Final = ("imported", "source", "import", "seq")


def run_import(plan: ImportPlan, state: AgentState | ImportTarget) -> ImportReport:
    """Bring over what is new of a plan; durable when it returns. Running it again changes nothing.

    Raises `WorldError` when the agent's state cannot be written; what was imported until then stays.
    """

    target = AgentImportTarget(state) if isinstance(state, AgentState) else state
    if plan.agent != target.agent_dir.name:
        raise BadInput(
            coded("plugin.plan_for", agent=plan.agent),
            op="import",
            expected=coded("plugin.plan_for", agent=target.agent_dir.name),
        )
    report = ImportReport(plan.agent)
    report.skipped += plan.skipped
    with _turn(target):
        record = ImportRecord(target.agent_dir, target.journal)
        with record.entries_seen() as seen:
            if record.late:
                with target.agent_dir.locked():
                    target.recount()
                    record.settle()
            for found in plan.found:
                if os.path.realpath(found.name) == os.path.realpath(target.agent_dir.path):
                    report.skipped.append(
                        SkippedItem(
                            found.name, coded("plugin.own_directory"), coded("plugin.another_place"), intended=True
                        )
                    )
                else:
                    _SourceImport(plan, found, target, report).carry(seen)
    return report


@contextmanager
def _turn(target: ImportTarget) -> Iterator[None]:
    """One import at a time: two would both find the same lines new."""
    fd = target.agent_dir.root.lock_file(LOCK)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


class _SourceImport:
    """One source on its way."""

    def __init__(self, plan: ImportPlan, found: FoundSource, target: ImportTarget, report: ImportReport) -> None:
        self.plan, self.found, self.target, self.report = plan, found, target, report
        self.number = 0  # journal lines that came
        self.counted = False
        self.covered = 0  # number of the last of them in the journal

    def carry(self, seen: IdentitySet) -> None:
        target = self.target
        with target.agent_dir.locked():
            record = ImportRecord(target.agent_dir, target.journal)
            judged = ImportDiff(self.plan, self.found, target, record, self.report)
            if judged.tasks:
                target.put_tasks(judged.tasks)
            if judged.notes or judged.instead:
                target.put_notes(judged.notes, judged.instead)
            for message in judged.messages:
                new = target.deposit(message)
                add(self.report.new if new else self.report.same, "letters")
        self._entries(record, seen)
        self._figures(record, judged, seen)
        self.report.skipped += self.found.imported.skipped
        if self.counted:
            target.recount()
        self._note(record, judged)

    def _entries(self, record: ImportRecord, seen: IdentitySet) -> None:
        """Written in batches; each is known as soon as it is durable."""
        for batch in self._batches(self.plan.mine(self.found.imported.entries()), seen):
            self._append(record, batch)
            self.number += len(batch)
        add(self.report.new, "entries", self.number)

    def _batches(self, items: Iterable[JournalItem], seen: IdentitySet) -> Iterator[list[JournalItem]]:
        batch: list[JournalItem] = []
        for item in items:
            if not seen.add(item.key):
                add(self.report.same, "entries")
                continue
            batch.append(item)
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def _append(self, record: ImportRecord, batch: list[JournalItem]) -> None:
        lines = [self._line(item) for item in batch]
        self.counted = self.counted or any(line.get("event") in COUNTED for line in lines)
        for line in lines:
            if line.get("event") == "session_end":
                add(self.report.sessions, str(line.get("outcome")))
        with self.target.agent_dir.locked():
            self.covered = self.target.journal.append_many(lines)
            record.note_entries(item.key for item in batch)

    def _line(self, item: JournalItem) -> dict[str, object]:
        entry = {key: plain_json(value) for key, value in item.value.items() if key not in _OURS}
        if not entry.get("ts"):
            entry.pop("ts", None)  # no time is known: the journal sets its own
        source = f"{self.found.source.importer}:{item.location}"
        line = self.target.clean({**entry, "imported": True, "source": source})
        return {**line, "import": item.key}

    def _figures(self, record: ImportRecord, judged: ImportDiff, seen: IdentitySet) -> None:
        """A metrics.json that another keeper has counted: one line of the journal, which the metrics read."""
        for item in self.plan.mine(self.found.imported.baseline):
            digest, came = identity(item.value), record.came["figures"].get(item.key)
            key = identity("figures", item.key)
            if came is not None or not seen.add(key):
                add(self.report.same, "figures")
                if came is not None and came.digest != digest:
                    self.report.kept.append(coded("plugin.figures_once", where=item.location))
                continue
            line: dict[str, object] = {"event": "metrics_imported", "metrics": dict(item.value)}
            self._append(record, [ImportItem(key, line, item.location)])
            add(self.report.new, "figures")
            judged.came["figures"][item.key] = ImportedItem(digest, "")

    def _note(self, record: ImportRecord, judged: ImportDiff) -> None:
        """One line of the record, if anything came or anything more was left."""
        source, imported = self.found
        left = {id: item for item in imported.skipped if (id := skipped_id(item)) not in record.skipped}
        came = {kind: items for kind, items in judged.came.items() if items}
        if not came and not self.number and not left:
            return
        files, copy, why = record.keep_copies(source)
        if why:
            self.report.without_copy[source.path] = why
        line: dict[str, object] = {
            "ts": self.target.agent_dir.now(),
            "importer": source.importer,
            "source": self.found.name,
        }
        line |= {"size": source.size, "entries": self.number}
        line |= {kind: {key: list(item) for key, item in items.items()} for kind, items in came.items()}
        if copy or why:
            line |= {"copy": copy, "files": files} if copy else {"no_copy": why}
        if left:
            shown = [skipped_value(item) for item in left.values()]
            line |= {"left": self.target.clean(shown), "left_ids": list(left)}
        if imported.ignored:
            line["passed"] = imported.ignored
        with self.target.agent_dir.locked():
            line["covered"] = max(self.covered, record.covered)
            record.add(line)
