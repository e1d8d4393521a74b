"""The port of a store whose keys are plain files below a directory, which programs without a store can read.

It is an optional interface: a caller asks `isinstance(store, PlainFiles)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple


class PlainFileInfo(NamedTuple):
    """`mtime_ms`: when it was last changed, in ms since 1970, or what `touch` has set. `changed_ns`: when its bytes,
    its name or that time were last changed, in ns; no program sets it."""

    size: int
    mtime_ms: int
    changed_ns: int


class PlainFiles(ABC):
    @property
    @abstractmethod
    def directory(self) -> str:
        """Where they are: a key is a path below it. Films and indexes are made there without the store."""

    @abstractmethod
    def info(self, key: str) -> PlainFileInfo | None:
        """Of a file, without reading it; None: it is not there."""

    @abstractmethod
    def reserve(self, key: str, size: int) -> None:
        """Keep room for `size` more bytes of `append`, for a disk that is full by then. The file is made if it is not
        there."""

    @abstractmethod
    def touch(self, key: str, mtime_ms: int) -> None:
        """Set the time of last change, which a power cut may lose. Absent: `NotFound`."""
