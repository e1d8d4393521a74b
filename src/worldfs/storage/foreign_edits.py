"""The port of a store whose keys other programs edit: what they wrote, and what a replacement of ours displaced.

It is an optional interface: a caller asks `isinstance(store, ForeignEdits)`. Where only stores write (memory, a
server), compare-and-swap alone says that a key changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class ForeignEdits(ABC):
    @abstractmethod
    def displaced(self, key: str, *, keep: bool = False, young: bool = True) -> Sequence[bytes]:
        """Finished foreign edits of `key` that a replacement displaced; returning them forgets them.

        `keep`: they are returned again, also after a crash, until `forget`: the caller must first make durable what
        they ask for. `young=False`: not those that were displaced a moment ago; they are reviewed later, and a
        burst of replacements costs no more than one. The watch reports each as `StoreChangeKind.DISPLACED`.
        """

    @abstractmethod
    def forget(self, key: str) -> None:
        """Drop what `displaced` has returned with `keep`; later writes to it are kept."""

    @abstractmethod
    def settled_keys(self) -> set[str]:
        """The keys for which `displaced(key, young=False)` may return something."""

    @abstractmethod
    def written_keys(self, since: int, *, alone: bool) -> set[str]:
        """Those of files displaced after `since` (ns since 1970) that have been written to and closed, however young:
        `displaced(key, young=False)` returns them then. `alone`: no other process has displaced any since."""

    @abstractmethod
    def ours(self, key: str) -> str | None:
        """The revision that a guarded key had when this store wrote it; None: another program replaced it, or unknown.

        While it equals the revision of the content, the content is our last write, whatever a power cut lost.
        """
