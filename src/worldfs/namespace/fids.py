"""The fids of one binding: the numbers that a peer gave to nodes of the tree."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from worldfs.base.errors import BadInput, NotFound, WorldError
from worldfs.base.messages import coded

from .bound_tree import BoundNode
from .staging import Staging

MOST_FIDS: Final = 16_384
MOST_KEPT: Final = 64 << 20  # bytes of snapshots of one binding; beyond it the older ones are rendered again


OwnContent = Callable[[], bytes]


class Interrupted(WorldError):
    """A wait was ended by the peer that began it."""

    code = "eintr"


class Fid:
    """A node, and what the peer has begun there. `own`: the bytes of this connection alone, in place of the node's."""

    __slots__ = ("cut", "kept", "node", "own", "staging", "waits")

    def __init__(self, node: BoundNode, own: OwnContent | None = None) -> None:
        self.node, self.own = node, own
        self.kept: bytes | None = None  # of the last read at offset 0: what the following offsets are cut from
        self.staging: Staging | None = None
        self.cut = False  # opened to be truncated, and not yet written
        self.waits: set[asyncio.Future[bool]] | None = None

    def interrupt(self) -> None:
        """End the waits of this fid with `eintr`."""
        for wait in self.waits or ():
            if not wait.done():
                wait.set_exception(Interrupted("interrupted", path=self.node.path))


class FidTable:
    def __init__(self) -> None:
        self._held: dict[int, Fid] = {}
        self._kept = 0

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, fid: int | None) -> Fid:
        if fid is None:
            raise BadInput(coded("tree.no_fid"), code="invalid")
        held = self._held.get(fid)
        if held is None:
            raise NotFound(coded("tree.unknown_fid"), code="enoent")
        return held

    def put(self, fid: int, made: Fid) -> None:
        """Store a fid; one of the same number ends."""
        if fid not in self._held and len(self._held) >= MOST_FIDS:
            raise BadInput(
                coded("tree.many_fids"),
                expected=coded("common.at_most", n=MOST_FIDS),
                fix=coded("tree.clunk"),
                code="invalid",
            )
        self.drop(fid)
        self._held[fid] = made

    def drop(self, fid: int) -> Fid | None:
        gone = self._held.pop(fid, None)
        if gone is not None:
            self.keep(gone, None)
            gone.interrupt()
        return gone

    def keep(self, fid: Fid, data: bytes | None) -> None:
        """Keep the snapshot of a fid, or drop it (None)."""
        if fid.kept is not None:
            self._kept -= len(fid.kept)
        fid.kept = data
        if data is not None:
            self._kept += len(data)
            if self._kept > MOST_KEPT:
                for other in self._held.values():
                    if other is not fid and other.kept is not None:
                        self._kept -= len(other.kept)
                        other.kept = None

    def clear(self) -> Iterator[Fid]:
        for fid in list(self._held):
            gone = self.drop(fid)
            if gone is not None:
                yield gone
