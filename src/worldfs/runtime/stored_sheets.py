"""The sheets of one kernel as one: ACTION.md and SESSIONS.md over the same table of jobs (workspace D12)."""

from __future__ import annotations

from collections.abc import Mapping

from worldfs.base.model import Job, Order
from worldfs.tree.workspace_stores import robot_key

from .stored_sheet import SheetDiff, StoredSheet


class StoredSheets:
    """`sheets` by their key in the watch. A job is shown in the sheet that its order names, else in the first.

    Of a robot that has its own store, that is the sheet there.
    """

    def __init__(self, sheets: Mapping[str, StoredSheet]) -> None:
        self._sheets = dict(sheets)

    def add(self, key: str, sheet: StoredSheet) -> None:
        self._sheets[key] = sheet

    def remove(self, key: str) -> None:
        self._sheets.pop(key, None)

    def keys(self) -> list[str]:
        return list(self._sheets)

    def look_aside(self) -> None:
        """The change feed reports a write to a displaced copy, or says that it has missed something."""
        for sheet in self._sheets.values():
            sheet.look_aside = sheet.changed = True

    def note_change(self, key: str) -> None:
        """The change feed reports a write to a file, which may be a sheet."""
        if key in self._sheets:
            self._sheets[key].changed = True

    def accepted(self, order: Order) -> None:
        """The order of an entry has become a job."""
        self._of(order).accepted(order)

    def update(self, job: Job) -> None:
        self._of(job.order).update(job)

    def read_changes(self) -> SheetDiff:
        """What other programs' writes to any of them ask for."""
        whole = SheetDiff()
        for sheet in self._sheets.values():
            taken = sheet.read_changes()
            whole.new += taken.new
            whole.lost += taken.lost
            whole.cancel += taken.cancel
            whole.withdrawn |= taken.withdrawn
            whole.refused += taken.refused
            whole.displaced |= taken.displaced
        return whole

    def forget(self) -> None:
        for sheet in self._sheets.values():
            sheet.forget()

    @property
    def dirty(self) -> bool:
        return any(sheet.dirty for sheet in self._sheets.values())

    @property
    def unread(self) -> list[str]:
        """The sheets that cannot be read as they are: what they order is not known."""
        return [sheet.name for sheet in self._sheets.values() if not sheet.readable]

    @property
    def waiting(self) -> bool:
        """Whether there is something to render into a readable sheet."""
        return any(sheet.dirty and sheet.readable for sheet in self._sheets.values())

    def render(self) -> bool:
        """Write what changed. False: another program wrote to one of them first; see `waiting` before another try."""
        written = True
        for sheet in self._sheets.values():
            if sheet.dirty:
                written &= sheet.render()
        return written

    def _of(self, order: Order) -> StoredSheet:
        own = self._sheets.get(robot_key(order.node, order.sheet))
        return self._sheets.get(order.sheet, next(iter(self._sheets.values()))) if own is None else own
