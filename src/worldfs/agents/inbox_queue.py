"""The queue of an inbox: waiting messages in the order of claims, kept up to date by file system events.

The first scan lists the directory, later ones read what is new. A message comes back when its lease ends, or when the
claim log says that it was returned.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import NotFound
from worldfs.storage.store_interface import StoreChangeKind

from .message_files import MessageFiles, is_unusable_name
from .message_files import delivery_rank as rank_for
from .message_names import INBOX, DeliveryRank, rank_of

if TYPE_CHECKING:
    from worldfs.storage.store_interface import StoreChange, StoreWatch

GRACE_S: Final = 1.0  # a foreign file that is not valid and younger may still be being written
FRESH_S: Final = 0.002  # a caller that claims one message after the other need not read events at each


class InboxQueue:
    def __init__(self, files: MessageFiles) -> None:
        self.message_files, self.agent_dir, self.claim_log = files, files.agent_dir, files.claim_log
        self._heap: list[DeliveryRank] = []
        self._leased: list[tuple[float, str]] = []  # (when the lease ends, name)
        self._unready: dict[str, float] = {}  # not readable yet: name → when it was first seen so
        self._watch: StoreWatch | None = None
        self._refreshed_at = 0.0

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def push_back(self, rank: DeliveryRank) -> None:
        """Put back a message that was popped and not claimed."""
        heapq.heappush(self._heap, rank)

    def leased(self, name: str, until: float) -> None:
        heapq.heappush(self._leased, (until, name))

    def pop(self) -> DeliveryRank | None:
        """The first message without a claim; it is out of the heap then."""
        now, log = self.agent_dir.clock.monotonic(), self.claim_log
        for name in log.released:
            if name in self.message_files.known:
                self._push(name)
        log.released.clear()
        while self._leased and self._leased[0][0] <= now:
            _, name = heapq.heappop(self._leased)
            if name in self.message_files.known:
                self._push(name)
        while self._heap:
            rank = heapq.heappop(self._heap)
            name = rank.name
            if name not in self.message_files.known or name in log.acked:
                continue
            if (until := log.lease_until(name)) > now:
                heapq.heappush(self._leased, (until, name))
                continue
            return rank
        return None

    def _push(self, name: str) -> None:
        seen = self.claim_log.foreign.get(name)
        rank = rank_of(name) or (seen[1] if seen is not None else None)
        if rank is not None:
            heapq.heappush(self._heap, rank)

    def refresh(self) -> None:
        """Read the events of messages that came and went."""
        if self._watch is None:
            self._watch = self.agent_dir.store.watch(INBOX)
            self.claim_log.catch_up()
            self._scan()
            return
        now = self.agent_dir.store.clock.monotonic()  # the disk's: it is the cost of listening that is bounded
        if now - self._refreshed_at < FRESH_S and self._heap:
            return
        self._refreshed_at = now
        while changes := self._watch.read(0.0):  # a RESYNC comes after all other events
            self._apply_changes(changes)
        for name in [name for name, since in self._unready.items() if self._for(since) >= GRACE_S]:
            self._add(name)

    def _scan(self) -> None:
        """The whole directory, once and after lost events; costs what waits."""
        names = {name for name in self.agent_dir.store.list(INBOX) if not name.endswith("/")}
        self.message_files.known &= names
        fresh = [rank for name in names - self.message_files.known if (rank := rank_of(name)) is not None]
        self.message_files.known.update(rank.name for rank in fresh)
        self._heap.extend(fresh)
        heapq.heapify(self._heap)
        for name in sorted(names - self.message_files.known):
            self._add(name)
        self.message_files.archive([(name, id) for name, id in self.claim_log.acked.items() if name in names])

    def _add(self, name: str) -> None:
        """Queue a message that is new, or that was written to again."""
        if name in self.message_files.known and name not in self._unready:
            return
        rank = rank_of(name)
        if rank is None:
            rank = self._foreign(name)
        if rank is not None:
            self._unready.pop(name, None)
            self.message_files.known.add(name)
            heapq.heappush(self._heap, rank)

    def _for(self, since: float) -> float:
        return self.agent_dir.clock.monotonic() - since

    def _foreign(self, name: str) -> DeliveryRank | None:
        """The rank of a message that another program wrote: read once, recorded in the claim log for all processes."""
        seen = self.claim_log.foreign.get(name)
        if seen is not None:
            return seen[1]
        if is_unusable_name(name):
            self.message_files.move_to_dead(name, "name")
            return None
        if not name.endswith(".json") or name.startswith("."):
            return None
        message = self.message_files.read(name)
        if message is None:
            since = self._unready.setdefault(name, self.agent_dir.clock.monotonic())
            if self._for(since) >= GRACE_S or self.message_files.age(name) >= GRACE_S:
                self._unready.pop(name, None)
                with suppress(NotFound):
                    self.message_files.move_to_dead(name, "unreadable")
            return None
        rank = rank_for(name, message, self.agent_dir)
        with self.claim_log as log:
            if name not in log.foreign:
                log.write([{"op": "seen", "name": name, "id": message.id, "priority": rank[0], "ms": rank[1]}])
        return rank

    def wait(self, left: float | None) -> None:
        """Sleep until something may have changed: a message, the end of a lease, a file that grows ready."""
        times = [1.0]  # returns by others reach us through the claim log, which is not watched
        if left is not None:
            times.append(left)
        if self._leased:
            times.append(max(0.0, self._leased[0][0] - self.agent_dir.clock.monotonic()))
        if self._unready:
            times.append(GRACE_S / 4)
        assert self._watch is not None
        self._apply_changes(self._watch.read(min(times)))

    def _apply_changes(self, changes: Sequence[StoreChange]) -> None:
        for change in changes:
            name = change.key[len(INBOX) + 1 :]
            if change.kind is StoreChangeKind.RESYNC:
                self._scan()
            elif change.kind is StoreChangeKind.DELETE:
                self.message_files.known.discard(name)
                self._unready.pop(name, None)
            elif name:
                self._add(name)
