"""Builders of the served tree's rows: constant files, and directories with their three files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from worldfs.access.roles import EVERYBODY
from worldfs.tree.row_table import FileKind, FileRow

READ_ONLY: Final = {"read": True, "write": False}


def view_row(
    path: str,
    about: str,
    name: str,
    *,
    mount: str = "served",
    readers: frozenset[str] = EVERYBODY,
    blocking: bool = False,
) -> FileRow:
    """Computed by the view `name`."""
    return FileRow(path, FileKind.VIEW, about, readers, view=name, mount=mount, blocking=blocking)


def literal_row(
    path: str, value: object, about: str, *, mount: str = "served", readers: frozenset[str] = EVERYBODY
) -> FileRow:
    """The same JSON value for everybody, always."""
    return FileRow(path, FileKind.VIEW, about, readers, view="literal", mount=mount, literal=value, given={"row": path})


def directory_rows(
    path: str,
    title: str,
    about: str,
    schema: object = None,
    caps: object = None,
    *,
    mount: str = "served",
    readers: frozenset[str] = EVERYBODY,
) -> tuple[FileRow, ...]:
    """A directory: README.md, and with a `schema` also SCHEMA.json and CAPS.json (`caps`, else read-only)."""
    base = path.rstrip("/")
    page = base + "/README.md"
    rows = [FileRow(page, FileKind.VIEW, about, readers, view="readme", mount=mount, title=title, given={"row": page})]
    if schema is not None:
        shown = READ_ONLY if caps is None else caps
        rows.append(
            literal_row(base + "/SCHEMA.json", schema, "the shape of this directory", mount=mount, readers=readers)
        )
        rows.append(literal_row(base + "/CAPS.json", shown, "what can be done here", mount=mount, readers=readers))
    return tuple(rows)


def control_row(
    path: str,
    about: str,
    name: str,
    writers: Mapping[str, str],
    *,
    mount: str = "served",
    readers: frozenset[str] = EVERYBODY,
    given: Mapping[str, str] | None = None,
) -> FileRow:
    """A write acts at once, with exactly its bytes."""
    return FileRow(path, FileKind.CONTROL, about, readers, writers, view=name, mount=mount, given=given or {})
