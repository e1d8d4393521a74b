"""The sheets of one root as one: ACTION.md and SESSIONS.md over the same table of jobs (workspace D12)."""

from __future__ import annotations

from collections.abc import Mapping

from worldfs.ground.model import Job

from .stored_sheet import SheetDiff, StoredSheet


class StoredSheets:
    """`sheets` by file name. A job is shown in the sheet that its order names, else in the first."""

    def __init__(self, sheets: Mapping[str, StoredSheet]) -> None:
        self._sheets = dict(sheets)
        self._first = next(iter(self._sheets.values()))

    def look_aside(self) -> None:
        """The change feed says that a copy which was pushed aside has been written to."""
        for sheet in self._sheets.values():
            sheet.look_aside = True

    def update(self, job: Job) -> None:
        self._sheets.get(job.order.sheet, self._first).update(job)

    def take_in(self) -> SheetDiff:
        """What foreign writes of any of them ask for."""
        whole = SheetDiff()
        for sheet in self._sheets.values():
            taken = sheet.take_in()
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
    def waiting(self) -> bool:
        """Is there something to render that can be?"""
        return any(sheet.dirty and sheet.readable for sheet in self._sheets.values())

    def render(self) -> bool:
        """Write what changed. False: somebody wrote first in one of them; ask `waiting` whether another try helps."""
        written = True
        for sheet in self._sheets.values():
            if sheet.dirty:
                written &= sheet.render()
        return written
