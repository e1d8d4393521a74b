"""The keys of a workspace of which every version is kept: its documents and sheets, not pictures, jobs, or messages."""

from __future__ import annotations

from typing import Final

from worldfs.tree.row_table import FileKind, FileRow

from .workspace_rows import ROWS

LEFT_OUT: Final = "artifacts/"  # large, and written once


def _kept(row: FileRow) -> bool:
    return row.kind in (FileKind.RECORD, FileKind.SHEET) and bool(row.key) and not row.key.startswith((".", LEFT_OUT))


class VersionedKeys:
    """A container of keys: those of rows, and of rows with `{rest*}` all below."""

    def __init__(self, rows: tuple[FileRow, ...]) -> None:
        keys = [row.key for row in rows if _kept(row)]
        self._names = frozenset(key for key in keys if "{" not in key)
        self._below = tuple(key.partition("{")[0] for key in keys if "{" in key)

    def __contains__(self, key: object) -> bool:
        return key in self._names or (isinstance(key, str) and key.startswith(self._below))


VERSIONED: Final = VersionedKeys(ROWS)
