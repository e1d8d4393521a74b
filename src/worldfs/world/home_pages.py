"""Pages that are the same for every home: one function each, under the name that the row's `view` has."""

from __future__ import annotations


def pages() -> bytes:
    """The table of files as a page."""
    from . import protocol_pages

    return protocol_pages.readme()


def schema() -> bytes:
    """The table of files as data."""
    from . import protocol_pages

    return protocol_pages.schema()
