"""The staged writes of one open file, which reach the tree as one change (acheron D10)."""

from __future__ import annotations

from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded

MOST: Final = 64 << 20  # bytes of one file


class Staging:
    """The bytes of a file being written. `control`: they are an order, not a content."""

    __slots__ = ("changed", "control", "correlation", "data", "delivered", "mtime_ms")

    def __init__(self, data: bytes = b"", *, control: bool = False) -> None:
        self.data = bytearray(b"" if control else data)
        self.control = control
        self.changed = False
        self.delivered = False  # a Control acts once; what follows a whole document begins the next
        self.correlation = ""
        self.mtime_ms: int | None = None  # what the content's time shall be once it is there

    def write(self, offset: int, data: bytes) -> None:
        """At `offset`, a gap filled with zeros; a negative one: at the end (O_APPEND)."""
        if self.delivered:
            self.data.clear()
            self.delivered = False
        at = len(self.data) if offset < 0 or self.control else offset
        if at + len(data) > MOST:
            raise BadInput(coded("tree.bad_offset"), expected=coded("common.at_most_bytes", n=MOST), code="invalid")
        if at > len(self.data):
            self.data.extend(bytes(at - len(self.data)))
        self.data[at : at + len(data)] = data
        self.changed = True

    def truncate(self, size: int) -> None:
        """A Control has no content that could be cut."""
        if self.control:
            return
        if size > MOST:
            raise BadInput(coded("tree.bad_offset"), expected=coded("common.at_most_bytes", n=MOST), code="invalid")
        if size < len(self.data):
            del self.data[size:]
        else:
            self.data.extend(bytes(size - len(self.data)))
        self.changed = True

    def complete(self) -> bool:
        """Whether the staged bytes are a whole JSON document; a Control acts in the write that completes one."""
        text = bytes(self.data).strip()
        if not self.control or not text or text[:1] not in b"{[":
            return False
        try:
            parse_json(text)
        except ValueError:
            return False
        return True
