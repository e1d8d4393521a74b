"""The inbox of an agent: letters deposited whole, claimed by lease, acknowledged, returned, or dead with a reason.

A claimed letter stays where it is: a mind that has file tools only still finds its mail, and may take a letter away by
removing its file, which acknowledges it. Any number of processes claim side by side.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.ground.errors import BadInput, Exists, NotFound
from worldfs.tree.path import safe_name

from .arrivals import Arrivals
from .ledger import Claim, Ledger, boot
from .letters import DEAD, INBOX, Letter, Receipt, done_key, file_key, named_after, new_name, rank_of
from .mail import Mail, addressed, ms, parse, past, rank, why_of
from .names import check_name
from .room import Room

if TYPE_CHECKING:
    from worldfs.ground.clock import Clock
    from worldfs.ground.durable import Disk
    from worldfs.ground.model import Message

LEASE_S: Final = 300.0
ATTEMPTS: Final = 5  # deliveries of one letter before it is dead


class Deposited(NamedTuple):
    message: Message
    new: bool  # False: a letter of that id was there, or has been read


class Claimed(NamedTuple):
    message: Message
    token: str
    path: str  # of the letter's file, which stays where it is
    attempt: int


def deposit_to(
    root: str | os.PathLike[str], to: str, message: Message, *, clock: Clock | None = None, disk: Disk | None = None
) -> Deposited:
    """Into the inbox of an agent below a state root. `NotFound` names the agents there are."""
    room = Room(root, check_name(to), clock=clock, disk=disk)
    try:
        return Inbox(room).deposit(message)
    finally:
        room.close()


class Inbox:
    """Opened by any number of processes. The first claim looks through the directory, later ones at what is new."""

    def __init__(self, room: Room, *, attempts: int = ATTEMPTS) -> None:
        self.room = room
        self.ledger = Ledger(room)
        self.max_attempts = attempts
        self.mail = Mail(room, self.ledger)
        self.arrivals = Arrivals(self.mail)

    def close(self) -> None:
        self.ledger.close()
        self.arrivals.close()

    # -- depositing -------------------------------------------------------------------------------------------------

    def deposit(self, message: Message) -> Deposited:
        """Whole or not at all, durable when it returns. An id that is there or was acknowledged: nothing is written."""
        from worldfs.formats.agent import documents
        from worldfs.formats.agent.redact import redact_value

        created = message.created_at or self.room.now()
        subject, body = redact_value((message.subject, message.body))
        to = message.to or self.room.name
        message = message._replace(to=to, created_at=created, subject=subject, body=body)
        if message.id:
            name = named_after(message.id) + ".json"
            if self.room.store.probe(done_key(message.id)) is not None:
                return Deposited(message, False)
        else:
            uuid = new_name(message.priority, ms(created, self.room))
            name, message = f"{uuid}.json", message._replace(id=f"msg-{uuid}")
        try:
            self.room.root.create(file_key(name), documents.message_write(message))
        except Exists:
            return Deposited(message, False)
        return Deposited(message, True)

    # -- claiming ---------------------------------------------------------------------------------------------------

    def claim(self, by: str, *, lease_s: float = LEASE_S, wait: float | None = None) -> Claimed | None:
        """The next letter, for `lease_s` seconds; None when there is none (within `wait` seconds).

        Durable when it returns: nobody else gets it before the lease has ended, also after a crash of everybody.
        """
        end = None if wait is None else self.room.clock.monotonic() + wait
        while True:
            claimed = self._next(by, lease_s)
            if claimed is not None or end is None:
                return claimed
            left = end - self.room.clock.monotonic()
            if left <= 0:
                return None
            self.arrivals.rest(left)

    def claim_all(self, by: str, *, token: str = "", lease_s: float = LEASE_S) -> list[Claimed]:
        """Everything that waits now, under one token and with one commit."""
        self.arrivals.refresh()
        token = token or _token()
        with self.ledger as ledger:
            now = self.room.now()
            made = []
            while (rank := self.arrivals.pop()) is not None:
                made.append(self._claim(rank.name, token, by, lease_s, now))
            ledger.write({"op": "claim", **claim._asdict()} for claim in made)
        if not made:
            return []
        self.ledger.sync()
        return [claimed for claim in made if (claimed := self._deliver(claim, again=True)) is not None]

    def claimed(self, token: str) -> list[Claimed]:
        """What is claimed under a token and still there."""
        self.ledger.catch_up()
        found = []
        for claim in self.ledger.of(token):
            message = self.mail.again(claim.name)
            if message is not None:
                found.append(Claimed(message, token, self.mail.path(claim.name), claim.attempt))
        return found

    def extend(self, token: str, lease_s: float = LEASE_S) -> None:
        """The claims of a token live `lease_s` seconds from now. Not durable: a lost one only ends sooner."""
        with self.ledger as ledger:
            if ledger.of(token):
                until = self.room.clock.monotonic() + lease_s
                ledger.write([{"op": "extend", "token": token, "boot": boot(), "until": until}])

    def ack(self, token: str) -> list[str]:
        """The letters of a token are done with: ids. `NotFound` if it claims nothing (any more)."""
        done = self.ack_all(token)
        if not done:
            raise NotFound(f"nothing is claimed by {token!r}", path=self.room.name, op="ack", fix="its lease has ended")
        return done

    def ack_all(
        self,
        token: str,
        *,
        durable: bool = True,
        known: Mapping[str, str] | None = None,
        only: Container[str] | None = None,
    ) -> list[str]:
        """As `ack`, nothing claimed is fine. `durable=False`: for who has committed the acknowledgement elsewhere.

        `known`: ids by name of letters that have been read. `only`: these ids, and files that were removed; the others
        wait again, and this delivery does not count for them.
        """
        known = known or {}
        with self.ledger as ledger:
            done, unread = [], []
            for claim in ledger.of(token):
                message = None if claim.name in known else self.mail.read(claim.name)
                id = known.get(claim.name, "" if message is None else message.id)
                if only is None or not id or id in only:
                    done.append((claim.name, id))
                else:
                    unread.append(claim.name)
            now = self.room.now()
            acks = [{"op": "ack", "name": name, "id": id, "at": now} for name, id in done]
            ledger.write([*acks, *({"op": "return", "name": name, "at": now, "unread": True} for name in unread)])
        if done or unread:  # that a delivery does not count is said for good, too
            self.ledger.sync() if durable else self.ledger.begin_sync()
        self.mail.archive(done)
        return [id for _, id in done if id]

    def sync(self) -> None:
        """What was acknowledged without waiting for the disk is durable when this returns."""
        self.ledger.sync()

    def give_back(self, token: str) -> None:
        """Others may have the letters of a token at once."""
        self.return_all(token)

    def return_all(self, token: str, *, durable: bool = True) -> None:
        with self.ledger as ledger:
            names = [claim.name for claim in ledger.of(token)]
            ledger.write({"op": "return", "name": name, "at": self.room.now()} for name in names)
        if names and durable:
            self.ledger.sync()

    # -- looking ----------------------------------------------------------------------------------------------------

    def waiting(self) -> list[Letter]:
        """Every letter in the inbox, in the order of claims; claimed ones say by whom. Reads them all."""
        self.ledger.catch_up()
        found = []
        for name in self.room.store.list(INBOX):
            if name.endswith("/") or name in self.ledger.acked:
                continue
            message = self.mail.read(name)
            claim = self.ledger.live(name)
            since = self.ledger.times.get(name, "") or (message.created_at if message else "")
            letter = Letter(
                name, message, "claimed" if claim else "waiting", claim.by if claim else "",
                self.ledger.attempts(name), at=claim.at if claim else since,
            )  # fmt: skip
            found.append((rank_of(name) or rank(name, message, self.room), letter))
        return [letter for _, letter in sorted(found, key=lambda pair: pair[0])]

    def deliverable(self) -> list[Message]:
        """What a claim of everything would deliver now, in its order. Nothing is claimed or settled by asking."""
        found, met = [], set()
        for letter in self.waiting():
            message = letter.message
            if letter.state != "waiting" or message is None or message.id in met:
                continue
            met.add(message.id)
            if self._trouble(letter.name, message, letter.attempts + 1) is None:
                found.append(message)
        return found

    def dead(self) -> list[Letter]:
        """What could not be delivered, with the reason."""
        found = []
        for name in self.room.store.list(DEAD):
            if not name.endswith((".why", "/")):
                stored = self.room.store.get(f"{DEAD}/{name}")
                why = self.room.store.get(f"{DEAD}/{name}.why")
                reason, at = why_of(why.data if why else b"")
                found.append(Letter(name, parse(stored.data if stored else b"", name), "dead", "", 0, reason, at))
        return found

    def revive(self, name: str) -> None:
        """A dead letter waits again, its deliveries counted anew."""
        if not safe_name(name):
            raise BadInput(f"{name!r} is no name of a message", op="revive", path=self.room.name)
        with self.ledger as ledger:
            self.room.store.move(f"{DEAD}/{name}", file_key(name))
            ledger.write([{"op": "revive", "name": name}])
        self.ledger.sync()  # else a power cut leaves it waiting with all its deliveries, and it dies again
        with suppress(NotFound):
            self.room.store.delete(f"{DEAD}/{name}.why", durable=False)

    def receipt(self, id: str) -> Receipt | None:
        """What became of the letter of an id; None: there never was one."""
        self.ledger.catch_up()
        key = done_key(id)
        stored = self.room.store.get(key)
        name = next((name for name, other in self.ledger.acked.items() if other == id), "")
        if stored is not None or name:  # there, or soon there
            message = parse(stored.data, name) if stored is not None else self.mail.read(name)
            at = self.ledger.times.get(name, "") or self.mail.moved(key)
            return Receipt(id, "acknowledged", message.created_at if message else "", at)
        for letter in (*self.waiting(), *self.dead()):
            m = letter.message
            if m is not None and m.id == id:
                return Receipt(id, letter.state, m.created_at, letter.at, letter.by, letter.reason, letter.attempts)
        return None

    def wait(self, timeout: float | None = None) -> bool:
        """Until a letter can be claimed; False when time is up. Woken by the arrival itself."""
        end = None if timeout is None else self.room.clock.monotonic() + timeout
        while True:
            self.arrivals.refresh()
            self.ledger.catch_up()
            rank = self.arrivals.pop()
            if rank is not None:
                self.arrivals.back(rank)
                return True
            left = None if end is None else end - self.room.clock.monotonic()
            if left is not None and left <= 0:
                return False
            self.arrivals.rest(left)

    # -- inside -----------------------------------------------------------------------------------------------------

    def _next(self, by: str, lease_s: float) -> Claimed | None:
        while True:
            self.arrivals.refresh()
            self.ledger.catch_up()  # before the lock, so that it is held for what is new since
            rank = self.arrivals.pop()
            if rank is None:
                return None
            self.arrivals.back(rank)
            with self.ledger as ledger:
                rank = self.arrivals.pop()
                if rank is None:
                    return None
                claim = self._claim(rank.name, _token(), by, lease_s, self.room.now())
                ledger.write([{"op": "claim", **claim._asdict()}])
            self.ledger.sync()
            claimed = self._deliver(claim)
            if claimed is not None:
                return claimed

    def _claim(self, name: str, token: str, by: str, lease_s: float, now: str) -> Claim:
        until = self.room.clock.monotonic() + lease_s
        self.arrivals.leased(name, until)
        return Claim(name, token, by, self.ledger.attempts(name) + 1, boot(), until, now)

    def _deliver(self, claim: Claim, *, again: bool = False) -> Claimed | None:
        """The letter of a claim of ours, if it is to be delivered; else what becomes of it is settled.

        `again`: `claimed` will be asked for it.
        """
        data, message = self.mail.bytes_of(claim.name, again=again)
        if data is None:  # its owner has taken it away: that acknowledges it
            self.mail.drop(claim.name, "gone")
            return None
        reason = "unreadable" if message is None else self._trouble(claim.name, message, claim.attempt)
        if message is None or reason is not None:
            self.mail.bury(claim.name, reason or "")
            return None
        return Claimed(message, claim.token, self.mail.path(claim.name), claim.attempt)

    def _trouble(self, name: str, message: Message, attempt: int) -> str | None:
        """Why a letter is not to be delivered."""
        return (
            "astray" if not addressed(message.to, self.room.name)
            else "expired" if past(message.expires_at, self.room)
            else "attempts" if attempt > self.max_attempts
            else "duplicate" if self.mail.twice(name, message.id)
            else None
        )  # fmt: skip


def _token() -> str:
    return os.urandom(8).hex()
