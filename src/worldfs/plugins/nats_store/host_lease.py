"""A lease that the processes of one host share: each renews it, and the last one frees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from worldfs.base.clock import Clock
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded

from .bucket import is_live
from .jetstream_connection import StreamMessage, WrongSequence
from .nats_lease import PROCESS, NatsLease, epoch_of, live_processes, this_process

if TYPE_CHECKING:
    from .nats_store import NatsStore

HOST: Final = "Paos-Host"
TRIES: Final = 16  # of a renewal that other processes of the host overtake


class HostLease(NatsLease):
    """`host` names a host for good. Held from `acquire` until `leave`, `release`, or `lost`."""

    def __init__(self, store: NatsStore, name: str, purpose: str, clock: Clock, host: str) -> None:
        super().__init__(store, name, purpose, clock)
        self.host = host
        self.marks[HOST] = host

    def leave(self) -> None:
        """Hold it no more, and let the other processes of this host keep it."""
        if self._holder is not None and not self._store.closed:
            self._store.lease_freed(self)
            self._holder = None
            self._store.run(self._stop_keeping())

    def stall(self) -> None:
        """Renew it no more, as a host that stands still. For tests."""
        if (keeper := self._keeper) is not None:
            self._store.loop_call(keeper.cancel)

    # -- on the loop -----------------------------------------------------------------------------------------------

    async def _take(self, holder: dict[str, object]) -> dict[str, object] | None:
        for _ in range(TRIES):
            found = await self._bucket.last(self._subject, path=self.name, op="lease")
            if found is None or not self._is_ours(found):
                return await super()._take(holder)
            self._join(found)
            try:
                await self._publish(found.seq)
            except WrongSequence:  # another process of this host renewed it, or freed it
                continue
            self._keep_on()
            return None
        return {}

    def _join(self, found: StreamMessage) -> None:
        """What the lease says of its holder stays."""
        self._holder, self.lost = dict(as_object(parse_json(found.data))), None
        self.epoch, self.seq = epoch_of(found), found.seq
        self._name_processes(found)

    def _is_ours(self, found: StreamMessage) -> bool:
        return is_live(found.headers) and found.headers.get(HOST) == self.host

    async def _renew(self) -> None:
        async with self._write:
            for _ in range(TRIES):
                if self._holder is None or self.lost is not None:
                    return
                try:
                    return await self._publish(self.seq)
                except WrongSequence:
                    if not await self._follow():
                        return self._lose(coded("engine.taken_over", name=self.name))

    async def confirm(self) -> None:
        await super().confirm()
        await self._follow()

    async def _follow(self) -> bool:
        """Its last message, which another process of this host may have sent. False: it is another holder's."""
        found = await self._bucket.last(self._subject, path=self.name, op="lease")
        if found is None or not self._is_ours(found) or epoch_of(found) != self.epoch:
            return False
        self.seq = found.seq
        self._name_processes(found)
        return True

    def _name_processes(self, found: StreamMessage) -> None:
        """It is held as long as one of them lives."""
        named = [*live_processes(found.headers.get(PROCESS, "")), this_process()]
        self.marks[PROCESS] = " ".join(dict.fromkeys(named))

    async def _free(self) -> None:
        await self._follow()
        await super()._free()

    async def _stop_keeping(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
