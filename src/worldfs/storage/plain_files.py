"""The port of a store whose keys are plain files below a directory, which programs without a store can read.

It is an optional interface: a caller asks `isinstance(store, PlainFiles)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod


class PlainFiles(ABC):
    @property
    @abstractmethod
    def directory(self) -> str:
        """Where they are: a key is a path below it. Films and indexes are made there without the store."""

    @abstractmethod
    def mtime_ms(self, key: str) -> int:
        """When a file was last changed, in ms since 1970; 0: it is not there."""

    @abstractmethod
    def touch(self, key: str, mtime_ms: int) -> None:
        """Set that time, which a power cut may lose. Absent: `NotFound`."""
