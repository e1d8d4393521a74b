"""A sheet's document as functions: how it is read, and what the kernel's word makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from worldfs.base.model import Job, Json, Order
from worldfs.formats.block import Block

if TYPE_CHECKING:
    from worldfs.formats.action import ParsedSheet


class SheetReader(Protocol):
    def __call__(self, data: bytes, *, node: str = "") -> ParsedSheet: ...


class SheetFormat(NamedTuple):
    """One for each sheet: ACTION.md's is `action_write.PAGE`, SESSIONS.md's `runtime.sessions_write.PAGE`."""

    file: str
    key: str  # of the list in a new document
    template: bytes  # of a new document; b"": a heading and a block of JSON
    read: SheetReader
    locate: Callable[[str], tuple[Block | None, str]]
    list_key: Callable[[Json], str]
    entries_of: Callable[[Json], list[Any]]
    id_of: Callable[[Any, str], str | None]
    digest: Callable[[Order], str]
    entry_of: Callable[[Job, str], Json]
    word: Callable[[Json, Job, str], Json]
