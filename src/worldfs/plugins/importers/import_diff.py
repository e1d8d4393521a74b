"""What of a source is new to an agent, what the source says differently now, and what the agent has made its own.

Known and the same: nothing. Changed in the source: only where the agent has not touched ours. What the agent removed,
the source does not bring back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import AgentTask, Message, Remark
from worldfs.formats.agent import documents

from .import_plan import FoundSource, ImportPlan
from .import_record import ImportedItem, ImportRecord
from .import_report import ImportReport, add
from .import_target import ImportTarget
from .import_types import ImportItem, SkippedItem
from .value_conversion import as_texts, comparison_key, identity, plain_json, short_identity

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK: Final = "imported_from"  # of a task: which thing of which importer it is
OPEN: Final = ("pending", "active")


class ImportDiff:
    """What one source comes to. Made inside `agent_dir.locked()`; nothing is written here."""

    def __init__(
        self, plan: ImportPlan, found: FoundSource, target: ImportTarget, record: ImportRecord, report: ImportReport
    ) -> None:
        self.plan, self.found, self.target, self.record, self.report = plan, found, target, record, report
        self.tasks: dict[str, AgentTask] = {}
        self.notes: list[Remark] = []
        self.instead: list[tuple[Remark, Remark]] = []  # (ours, what the source says now)
        self.messages: list[Message] = []
        self.came: dict[str, dict[str, ImportedItem]] = {kind: {} for kind in record.came}
        self._judge_tasks(list(plan.mine(found.imported.tasks)))
        self._judge_notes(list(plan.mine(found.imported.remarks)))
        self._judge_letters()

    # -- tasks --------------------------------------------------------------------------------------------------------

    def _judge_tasks(self, items: Sequence[ImportItem[AgentTask]]) -> None:
        there = {task.id: task for task in self.target.tasks()} if items else {}
        names = self._names(items, there)
        self._gone({item.key for item in items}, there)
        for item in items:
            task = self._ours(item, names, there)
            if self._valid(task, item):
                self._task(item, task, there.get(task.id))

    def _task(self, item: ImportItem[AgentTask], task: AgentTask, now: AgentTask | None) -> None:
        report, came = self.report, self.record.came["tasks"].get(item.key)
        digest, wrote = identity(item.value._asdict()), identity(task._asdict())
        if now is None and came is None:
            add(report.new, "tasks")
        elif now is None or (came is not None and came.digest == digest):
            add(report.same, "tasks")  # as it was, or removed by the agent
            return
        elif came is None:  # it came over before a crash that the record did not survive
            add(report.same, "tasks")
            self.came["tasks"][item.key] = ImportedItem(digest, task.id, wrote)
            return
        elif identity(now._asdict()) == came.wrote:
            add(report.changed, "tasks")
        else:
            add(report.same, "tasks")
            said = _differences(item.value, now)
            report.kept.append(coded("plugin.task_changed", id=task.id, where=item.location, said=said))
            self.came["tasks"][item.key] = ImportedItem(digest, task.id, came.wrote)
            return
        self.tasks[task.id] = task
        self.came["tasks"][item.key] = ImportedItem(digest, task.id, wrote)

    def _mark(self, item: ImportItem[AgentTask]) -> str:
        return f"{self.found.source.importer}:{item.key}"

    def _names(self, items: Sequence[ImportItem[AgentTask]], there: Mapping[str, AgentTask]) -> dict[str, str]:
        """The id of each task with us, by its key and by its id in the source.

        A name that another task has gets some of the key behind it.
        """
        marked = {mark: task.id for task in there.values() if isinstance(mark := task.extra.get(MARK), str)}
        known = self.record.came["tasks"]
        used = set(there) | {came.target for came in known.values()}
        names: dict[str, str] = {}
        for item in items:
            name = id = item.value.id
            if item.key in known:
                name = known[item.key].target
            elif self._mark(item) in marked:
                name = marked[self._mark(item)]
            elif id in used:
                name = f"{id}-{short_identity(item.key)[:4]}"
                self.report.renamed[id] = name
            used.add(name)
            names[item.key] = name
            names.setdefault(id, name)
        return names

    def _ours(self, item: ImportItem[AgentTask], names: Mapping[str, str], there: Mapping[str, AgentTask]) -> AgentTask:
        task, id = item.value, names[item.key]
        extra = {**_beside(task.extra, AgentTask._fields), MARK: self._mark(item)}
        if isinstance(extra.get("depends_on"), list):
            extra["depends_on"] = [names.get(other, other) for other in as_texts(extra["depends_on"])]
        parent = task.follow_up_from
        made = there[id].created_at if id in there else item.at or self.target.agent_dir.now()
        task = task._replace(
            id=id,
            follow_up_from=names.get(parent, parent) if parent else None,
            created_at=task.created_at or made,
            extra=extra,
        )
        return AgentTask(**self.target.clean(task._asdict()))

    def _valid(self, task: AgentTask, item: ImportItem[AgentTask]) -> bool:
        """Whether tasks.json can hold it; a plugin may say what it likes."""

        value = {"agent": self.plan.agent, "updated_at": "", "tasks": [documents.task_value(task)]}
        wrong = [each for each in documents.tasks_findings(value) if not each.warning and "/tasks/0" in each.field]
        for each in wrong[:1]:
            found = f"{each.field.rpartition('/')[2]} {each.found}"
            self.found.imported.skipped.append(
                SkippedItem(coded("plugin.as_task", where=item.location), found, each.expected)
            )
        return not wrong

    def _gone(self, keys: set[str], there: Mapping[str, AgentTask]) -> None:
        known = self.record.came["tasks"]
        for key in sorted(self.record.of_source.get(self.found.name, set()) - keys):
            task = there.get(known[key].target)
            if task is not None and task.status in OPEN:
                self.report.gone.append(task.id)

    # -- notes and messages --------------------------------------------------------------------------------------------

    def _judge_notes(self, items: Sequence[ImportItem[Remark]]) -> None:
        there = {comparison_key(note.text): note for note in self.target.notes()} if items else {}
        marks = {identity(words): note for words, note in there.items()}
        report = self.report
        for item in items:
            note = item.value._replace(text=self.target.clean(item.value.text))
            words, came = comparison_key(note.text), self.record.came["notes"].get(item.key)
            digest = identity(item.value.section, item.value.text)
            if not words or not note.section.strip():
                self.found.imported.skipped.append(
                    SkippedItem(
                        coded("plugin.as_note", where=item.location), coded("plugin.no_words"), coded("plugin.a_note")
                    )
                )
                continue
            if came is not None and came.digest == digest:
                add(report.same, "notes")
                continue
            if words in there:
                add(report.same, "notes")
            elif came is None:
                add(report.new, "notes")
                self.notes.append(note)
                there[words] = note
            elif came.wrote in marks:
                add(report.changed, "notes")
                self.instead.append((marks[came.wrote], note))
            else:
                add(report.same, "notes")
                report.kept.append(coded("plugin.note_changed", where=item.location))
            self.came["notes"][item.key] = ImportedItem(digest, "", identity(words))

    def _judge_letters(self) -> None:
        for item in self.plan.mine(self.found.imported.messages):
            value = item.value._replace(
                to=self.plan.agent,
                extra=_beside(item.value.extra, (*Message._fields, "from")),
                created_at=item.value.created_at or item.at or self.target.agent_dir.now(),
            )
            message = Message(**self.target.clean(value._asdict()))
            key = identity(item.key, item.value.subject, item.value.body)
            if key in self.record.came["letters"]:
                add(self.report.same, "letters")
                continue
            try:
                if not message.sender:
                    raise BadInput(coded("plugin.no_sender"), expected=coded("plugin.sender"))
                documents.message_write(message)
            except BadInput as error:
                self.found.imported.skipped.append(
                    SkippedItem(coded("plugin.as_message", where=item.location), error.found, error.expected)
                )
                continue
            self.messages.append(message)
            self.came["letters"][key] = ImportedItem(key, message.id)


def _beside(extra: Mapping[str, object], own: Sequence[str]) -> dict[str, object]:
    """Further fields under names that are not the document's own."""
    return {f"{key}_there" if key in own else key: plain_json(value) for key, value in extra.items()}


def _differences(said: AgentTask, now: AgentTask) -> str:
    """The fields in which the source and ours differ, as the source has them."""
    fields = ("status", "priority", "description", "outcome")
    parts = [f"{key} {getattr(said, key)!s:.60}" for key in fields if getattr(said, key) != getattr(now, key)]
    return ", ".join(parts) or coded("plugin.something_else")
