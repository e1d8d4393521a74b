"""Who is next in an inbox: the letters that wait, in the order of claims, kept up to date by what the disk tells.

The first look goes through the directory, later ones through what is new. Letters whose lease ends come back by time,
those that are given back by the ledger.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.ground.errors import NotFound

from .letters import INBOX, Rank, rank_of
from .mail import Mail, is_odd
from .mail import rank as rank_for

if TYPE_CHECKING:
    from worldfs.tree.stores.contract import Change, Watch

GRACE_S: Final = 1.0  # a foreign file that is not valid and younger may still be being written
FRESH_S: Final = 0.002  # who claims one letter after the other need not listen for new ones at each


class Arrivals:
    def __init__(self, mail: Mail) -> None:
        self.mail, self.room, self.ledger = mail, mail.room, mail.ledger
        self._heap: list[Rank] = []
        self._leased: list[tuple[float, str]] = []  # (when to look again, name)
        self._unready: dict[str, float] = {}  # not readable yet: name → when it was first seen so
        self._watch: Watch | None = None
        self._looked = 0.0

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def back(self, rank: Rank) -> None:
        """It was popped, and nobody has taken it."""
        heapq.heappush(self._heap, rank)

    def leased(self, name: str, until: float) -> None:
        heapq.heappush(self._leased, (until, name))

    def pop(self) -> Rank | None:
        """The best letter that nobody has claimed; it is out of the heap then."""
        now, ledger = self.room.clock.monotonic(), self.ledger
        for name in ledger.free:
            if name in self.mail.known:
                self._push(name)
        ledger.free.clear()
        while self._leased and self._leased[0][0] <= now:
            _, name = heapq.heappop(self._leased)
            if name in self.mail.known:
                self._push(name)
        while self._heap:
            rank = heapq.heappop(self._heap)
            name = rank.name
            if name not in self.mail.known or name in ledger.acked:
                continue
            if (until := ledger.until(name)) > now:
                heapq.heappush(self._leased, (until, name))
                continue
            return rank
        return None

    def _push(self, name: str) -> None:
        seen = self.ledger.seen.get(name)
        rank = rank_of(name) or (seen[1] if seen is not None else None)
        if rank is not None:
            heapq.heappush(self._heap, rank)

    def refresh(self) -> None:
        """Hear of letters that came and went."""
        if self._watch is None:
            self._watch = self.room.store.watch(INBOX)
            self.ledger.catch_up()
            self._look()
            return
        now = time.monotonic()  # real time: it is the cost of listening that is bounded
        if now - self._looked < FRESH_S and self._heap:
            return
        self._looked = now
        while changes := self._watch.read(0.0):  # what was lost is told after all that was not
            self._hear(changes)
        for name in [name for name, since in self._unready.items() if self._for(since) >= GRACE_S]:
            self._met(name)

    def _look(self) -> None:
        """The whole directory, once and after lost events; costs what waits."""
        names = {name for name in self.room.store.list(INBOX) if not name.endswith("/")}
        self.mail.known &= names
        fresh = [rank for name in names - self.mail.known if (rank := rank_of(name)) is not None]
        self.mail.known.update(rank.name for rank in fresh)
        self._heap.extend(fresh)
        heapq.heapify(self._heap)
        for name in sorted(names - self.mail.known):
            self._met(name)
        self.mail.archive([(name, id) for name, id in self.ledger.acked.items() if name in names])

    def _met(self, name: str) -> None:
        """A letter that we did not know, or that was written to again."""
        if name in self.mail.known and name not in self._unready:
            return
        rank = rank_of(name)
        if rank is None:
            rank = self._foreign(name)
        if rank is not None:
            self._unready.pop(name, None)
            self.mail.known.add(name)
            heapq.heappush(self._heap, rank)

    def _for(self, since: float) -> float:
        return self.room.clock.monotonic() - since

    def _foreign(self, name: str) -> Rank | None:
        """The rank of a letter that another program wrote: read once, noted for all who come later."""
        seen = self.ledger.seen.get(name)
        if seen is not None:
            return seen[1]
        if is_odd(name):
            self.mail.bury(name, "name")
            return None
        if not name.endswith(".json") or name.startswith("."):
            return None
        message = self.mail.read(name)
        if message is None:
            since = self._unready.setdefault(name, self.room.clock.monotonic())
            if self._for(since) >= GRACE_S or self.mail.age(name) >= GRACE_S:
                self._unready.pop(name, None)
                with suppress(NotFound):
                    self.mail.bury(name, "unreadable")
            return None
        rank = rank_for(name, message, self.room)
        with self.ledger as ledger:
            if name not in ledger.seen:
                ledger.write([{"op": "seen", "name": name, "id": message.id, "priority": rank[0], "ms": rank[1]}])
        return rank

    def rest(self, left: float | None) -> None:
        """Sleep until something may have changed: a letter, the end of a lease, a file that grows ready."""
        times = [1.0]  # returns by others reach us through the ledger, which is not watched
        if left is not None:
            times.append(left)
        if self._leased:
            times.append(max(0.0, self._leased[0][0] - self.room.clock.monotonic()))
        if self._unready:
            times.append(GRACE_S / 4)
        assert self._watch is not None
        self._hear(self._watch.read(min(times)))

    def _hear(self, changes: Sequence[Change]) -> None:
        from worldfs.tree.stores.contract import ChangeKind

        for change in changes:
            name = change.key[len(INBOX) + 1 :]
            if change.kind is ChangeKind.RESYNC:
                self._look()
            elif change.kind is ChangeKind.DELETE:
                self.mail.known.discard(name)
                self._unready.pop(name, None)
            elif name:
                self._met(name)
