"""The rows of the past: the tree as it was at a time, and the versions of a file."""

from __future__ import annotations

from worldfs.access.roles import EVERYBODY
from worldfs.tree.row_table import FileKind, FileRow

from .row_builders import directory_rows

ROWS: tuple[FileRow, ...] = (
    *directory_rows(
        "/at",
        "The tree as it was",
        "/at/<time>/<path> is what a document said then: a time such as 2026-11-23T06:00:00Z, or 90s, 5m, 2h, 1d ago. "
        "Every time is there, so none is listed. The rights are those of today.",
    ),
    FileRow(
        "/at/{past*}",
        FileKind.VIEW,
        "a document as it was at a time; every time is there, and none is listed",
        EVERYBODY,
        view="at",
        mount="house",
    ),
    *directory_rows(
        "/versions",
        "Versions",
        "/versions/<path>/ lists when a document was changed, the newest 1,000 times: each is a file.",
    ),
    FileRow(
        "/versions/{of*}",
        FileKind.VIEW,
        "the versions of a document, each named by its time",
        EVERYBODY,
        view="versions",
        mount="house",
    ),
)
