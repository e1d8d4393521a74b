"""The inbox of an agent: letters deposited whole, claimed by lease, acknowledged, returned, or dead with a reason.

A claimed letter stays where it is: a mind that has file tools only still finds its mail, and may take a letter away by
removing its file, which acknowledges it. Any number of processes claim side by side.
"""

from __future__ import annotations

import heapq
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.ground.clock import parse_stamp, stamp
from worldfs.ground.errors import BadInput, Exists, NotFound, UserError
from worldfs.ground.walk import Place, refuse
from worldfs.tree.path import safe_name

from .ledger import Claim, Ledger, boot
from .letters import DEAD, INBOX, RANKS, Letter, Rank, Receipt, done_key, file_key, named_after, new_name, rank_of
from .names import check_name
from .room import Room

if TYPE_CHECKING:
    from worldfs.ground.clock import Clock
    from worldfs.ground.durable import Disk
    from worldfs.ground.model import Message
    from worldfs.tree.stores.contract import Change, Watch

    from .doctor import Fault

LEASE_S: Final = 300.0
ATTEMPTS: Final = 5  # deliveries of one letter before it is dead
GRACE_S: Final = 1.0  # a foreign file that is not valid and younger may still be being written
FRESH_S: Final = 0.002  # who claims one letter after the other need not listen for new ones at each
MANY: Final = 1000  # letters that wait: worth a warning


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
        self._heap: list[Rank] = []
        self._leased: list[tuple[float, str]] = []  # (when to look again, name)
        self._unready: dict[str, float] = {}  # not readable yet: name → when it was first seen so
        self._known: set[str] = set()
        self._read_as: dict[str, tuple[str, Message]] = {}  # letters delivered to us: what the disk said of them then
        self._watch: Watch | None = None
        self._looked = 0.0

    def close(self) -> None:
        self.ledger.close()
        if self._watch is not None:
            self._watch.close()
            self._watch = None

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
            uuid = new_name(message.priority, _ms(created, self.room))
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
            self._rest(left)

    def claim_all(self, by: str, *, token: str = "", lease_s: float = LEASE_S) -> list[Claimed]:
        """Everything that waits now, under one token and with one commit."""
        self._refresh()
        token = token or _token()
        with self.ledger as ledger:
            now = self.room.now()
            made = []
            while (rank := self._pop()) is not None:
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
            message = self._again(claim.name)
            if message is not None:
                found.append(Claimed(message, token, self._path(claim.name), claim.attempt))
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

    def ack_all(self, token: str, *, durable: bool = True, known: Mapping[str, str] | None = None) -> list[str]:
        """As `ack`, nothing claimed is fine. `durable=False`: for who has committed the acknowledgement elsewhere.

        `known`: ids by name of letters that have been read.
        """
        known = known or {}
        with self.ledger as ledger:
            done = []
            for claim in ledger.of(token):
                message = None if claim.name in known else self._read(claim.name)
                done.append((claim.name, known.get(claim.name, "" if message is None else message.id)))
            ledger.write({"op": "ack", "name": name, "id": id, "at": self.room.now()} for name, id in done)
        if not done:
            return []
        self.ledger.sync() if durable else self.ledger.begin_sync()
        self._archive(done)
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
            message = self._read(name)
            claim = self.ledger.live(name)
            since = self.ledger.times.get(name, "") or (message.created_at if message else "")
            letter = Letter(
                name, message, "claimed" if claim else "waiting", claim.by if claim else "",
                self.ledger.attempts(name), at=claim.at if claim else since,
            )  # fmt: skip
            found.append((rank_of(name) or _rank(name, message, self.room), letter))
        return [letter for _, letter in sorted(found, key=lambda pair: pair[0])]

    def dead(self) -> list[Letter]:
        """What could not be delivered, with the reason."""
        found = []
        for name in self.room.store.list(DEAD):
            if not name.endswith((".why", "/")):
                stored = self.room.store.get(f"{DEAD}/{name}")
                why = self.room.store.get(f"{DEAD}/{name}.why")
                reason, at = _why(why.data if why else b"")
                found.append(Letter(name, _parse(stored.data if stored else b""), "dead", "", 0, reason, at))
        return found

    def revive(self, name: str) -> None:
        """A dead letter waits again, its deliveries counted anew."""
        if not safe_name(name):
            raise BadInput(f"{name!r} is no name of a letter", op="revive", path=self.room.name)
        with self.ledger as ledger:
            self.room.store.move(f"{DEAD}/{name}", file_key(name))
            ledger.write([{"op": "revive", "name": name}])
        with suppress(NotFound):
            self.room.store.delete(f"{DEAD}/{name}.why", durable=False)

    def receipt(self, id: str) -> Receipt | None:
        """What became of the letter of an id; None: there never was one."""
        self.ledger.catch_up()
        key = done_key(id)
        stored = self.room.store.get(key)
        name = next((name for name, other in self.ledger.acked.items() if other == id), "")
        if stored is not None or name:  # there, or soon there
            message = _parse(stored.data) if stored is not None else self._read(name)
            at = self.ledger.times.get(name, "") or self._moved(key)
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
            self._refresh()
            self.ledger.catch_up()
            rank = self._pop()
            if rank is not None:
                heapq.heappush(self._heap, rank)
                return True
            left = None if end is None else end - self.room.clock.monotonic()
            if left is not None and left <= 0:
                return False
            self._rest(left)

    # -- inside -----------------------------------------------------------------------------------------------------

    def _next(self, by: str, lease_s: float) -> Claimed | None:
        while True:
            self._refresh()
            self.ledger.catch_up()  # before the lock, so that it is held for what is new since
            rank = self._pop()
            if rank is None:
                return None
            heapq.heappush(self._heap, rank)
            with self.ledger as ledger:
                rank = self._pop()
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
        heapq.heappush(self._leased, (until, name))
        return Claim(name, token, by, self.ledger.attempts(name) + 1, boot(), until, now)

    def _deliver(self, claim: Claim, *, again: bool = False) -> Claimed | None:
        """The letter of a claim of ours, if it is to be delivered; else what becomes of it is settled.

        `again`: `claimed` will be asked for it.
        """
        looks = self.room.store.probe(file_key(claim.name)) if again else None
        data = self.room.root.read(file_key(claim.name))
        if data is None:  # its owner has taken it away: that acknowledges it
            self._drop(claim.name, "gone")
            return None
        message = _parse(data)
        reason = (
            "unreadable" if message is None
            else "expired" if _past(message.expires_at, self.room)
            else "attempts" if claim.attempt > self.max_attempts
            else "duplicate" if self._twice(claim.name, message.id)
            else ""
        )  # fmt: skip
        if reason:
            self._bury(claim.name, reason)
            return None
        assert message is not None
        if looks is not None:
            self._read_as[claim.name] = looks, message
        return Claimed(message, claim.token, self._path(claim.name), claim.attempt)

    def _path(self, name: str) -> str:
        return f"{self.room.root.path}/{INBOX}/{name}"

    def _twice(self, name: str, id: str) -> bool:
        """Is there another letter of this id, read or to be read before this one?"""
        if rank_of(name) is not None and id == f"msg-{name[:-5]}":
            return False
        if self.room.store.probe(done_key(id)) is not None:
            return True
        own = named_after(id) + ".json"
        if own != name and self.room.store.probe(file_key(own)) is not None:
            return True
        mine = self.ledger.seen.get(name)
        return any(
            other != name and seen[0] == id and (mine is None or seen[1] < mine[1]) and other in self._known
            for other, seen in self.ledger.seen.items()
        )

    def _pop(self) -> Rank | None:
        """The best letter that nobody has claimed; it is out of the heap then."""
        now, ledger = self.room.clock.monotonic(), self.ledger
        for name in ledger.free:
            if name in self._known:
                self._push(name)
        ledger.free.clear()
        while self._leased and self._leased[0][0] <= now:
            _, name = heapq.heappop(self._leased)
            if name in self._known:
                self._push(name)
        while self._heap:
            rank = heapq.heappop(self._heap)
            name = rank.name
            if name not in self._known or name in ledger.acked:
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

    def _refresh(self) -> None:
        """Hear of letters that came and went."""
        if self._watch is None:
            self._watch = self.room.store.watch(INBOX)
            self.ledger.catch_up()
            self._look()
            return
        now = time.monotonic()
        if now - self._looked < FRESH_S and self._heap:
            return
        self._looked = now
        while changes := self._watch.read(0.0):  # what was lost is told after all that was not
            self._hear(changes)
        for name in [name for name, since in self._unready.items() if time.monotonic() - since >= GRACE_S]:
            self._met(name)

    def _look(self) -> None:
        """The whole directory, once and after lost events; costs what waits."""
        names = {name for name in self.room.store.list(INBOX) if not name.endswith("/")}
        self._known &= names
        fresh = [rank for name in names - self._known if (rank := rank_of(name)) is not None]
        self._known.update(rank.name for rank in fresh)
        self._heap.extend(fresh)
        heapq.heapify(self._heap)
        for name in sorted(names - self._known):
            self._met(name)
        self._archive([(name, id) for name, id in self.ledger.acked.items() if name in names])

    def _met(self, name: str) -> None:
        """A letter that we did not know, or that was written to again."""
        if name in self._known and name not in self._unready:
            return
        rank = rank_of(name)
        if rank is None:
            rank = self._foreign(name)
        if rank is not None:
            self._unready.pop(name, None)
            self._known.add(name)
            heapq.heappush(self._heap, rank)

    def _foreign(self, name: str) -> Rank | None:
        """The rank of a letter that another program wrote: read once, noted for all who come later."""
        seen = self.ledger.seen.get(name)
        if seen is not None:
            return seen[1]
        if not name.endswith(".json") or name.startswith("."):
            return None
        message = self._read(name)
        if message is None:
            since = self._unready.setdefault(name, time.monotonic())
            if time.monotonic() - since >= GRACE_S or self._age(name) >= GRACE_S:
                self._unready.pop(name, None)
                with suppress(NotFound):
                    self._bury(name, "unreadable")
            return None
        rank = _rank(name, message, self.room)
        with self.ledger as ledger:
            if name not in ledger.seen:
                ledger.write([{"op": "seen", "name": name, "id": message.id, "priority": rank[0], "ms": rank[1]}])
        return rank

    def _rest(self, left: float | None) -> None:
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
                self._known.discard(name)
                self._unready.pop(name, None)
            elif name:
                self._met(name)

    def _read(self, name: str) -> Message | None:
        with suppress(UserError):
            stored = self.room.store.get(file_key(name))
            return None if stored is None else _parse(stored.data)
        return None

    def _again(self, name: str) -> Message | None:
        """A letter that was claimed: it is not read a second time while nobody has touched it."""
        looks, message = self._read_as.get(name, ("", None))
        if message is not None and self.room.store.probe(file_key(name)) == looks:
            return message
        return self._read(name)

    def _age(self, name: str) -> float:
        place = self.room.root.place(file_key(name))
        info = None if place is None else self.room.root.glance(place)
        return 0.0 if info is None else time.time() - info.st_mtime

    def _moved(self, key: str) -> str:
        """When a file got its name, as the disk tells it: for a letter whose line the ledger no longer has."""
        from datetime import UTC, datetime

        place = self.room.root.place(key)
        info = None if place is None else self.room.root.glance(place)
        return "" if info is None else stamp(datetime.fromtimestamp(int(info.st_ctime), UTC))

    def _drop(self, name: str, op: str) -> None:
        with self.ledger as ledger:
            ledger.write([{"op": op, "name": name}])
        self._known.discard(name)

    def _bury(self, name: str, reason: str) -> None:
        """Set a letter aside for good, every byte of it, with the reason."""
        with self.ledger as ledger:
            ledger.write([{"op": "dead", "name": name, "reason": reason, "at": self.room.now()}])
            target = name
            while self.room.store.probe(f"{DEAD}/{target}") is not None:
                target = f"again-{target}"
            why = json.dumps({"reason": reason, "at": self.room.now()}).encode() + b"\n"
            self.room.root.replace(f"{DEAD}/{target}.why", why, durable=False)
            with suppress(NotFound):
                self.room.store.move(file_key(name), f"{DEAD}/{target}")
        self._known.discard(name)

    def _archive(self, letters: Sequence[tuple[str, str]]) -> None:
        """Out of the inbox, into what was read: (name, id). Not durable: the ledger knows, and the next look does it
        again."""
        if not letters:
            return
        root = self.room.root
        try:
            home, done = root.room(file_key("x")).folder, root.room(done_key("x")).folder
            for name, id in letters:
                key = done_key(id or name)
                there = Place(done, key.rpartition("/")[2], key)
                here = Place(home, name, file_key(name))
                with suppress(FileNotFoundError):
                    try:
                        root.rename(here, there, "new")
                    except FileExistsError:  # the same id was read before
                        more = f".{os.urandom(4).hex()}"
                        root.rename(here, Place(done, there.name + more, key + more), "new")
                self._known.discard(name)
                self._read_as.pop(name, None)
        except OSError as error:
            raise refuse(error, INBOX, "move") from error

    # -- the doctor -------------------------------------------------------------------------------------------------

    def check(self) -> Iterator[Fault]:
        """What is wrong in the inbox, and what mends it."""
        from functools import partial

        from worldfs.ground.model import Finding

        from .doctor import Fault

        names = self.room.store.list(INBOX)
        if len(names) >= MANY:
            yield Fault(
                Finding(
                    "INBOX_FULL", "inbox", f"fewer than {MANY} letters", f"{len(names)}", "have them read", warning=True
                )
            )
        self.ledger.catch_up()
        ids: dict[str, str] = {}
        for name in names:
            if name.endswith("/") or not name.endswith(".json") or not self._regular(name):
                word = "a directory" if name.endswith("/") else "no letter's name, or a link"
                yield Fault(
                    Finding("ODD_FILE", f"inbox/{name}", "<uuid>.json", word, ""),
                    partial(self._set_odd_aside, name.rstrip("/")),
                )
                continue
            if name in self.ledger.acked:
                continue
            message = self._read(name)
            if message is None:
                yield Fault(
                    Finding("LETTER_UNREADABLE", f"inbox/{name}", "a message", "no message", ""),
                    partial(self._bury, name, "unreadable"),
                )
            elif _past(message.expires_at, self.room):
                yield Fault(
                    Finding("LETTER_EXPIRED", f"inbox/{name}", "a letter of now", f"expired {message.expires_at}", ""),
                    partial(self._bury, name, "expired"),
                )
            elif message.to != self.room.name:
                yield Fault(
                    Finding("LETTER_ASTRAY", f"inbox/{name}#/to", self.room.name, message.to, ""),
                    partial(self._bury, name, "astray"),
                )
            elif message.id in ids or self.room.store.probe(done_key(message.id)) is not None:
                yield Fault(
                    Finding("LETTER_TWICE", f"inbox/{name}#/id", "an id of its own", message.id, ""),
                    partial(self._bury, name, "duplicate"),
                )
            ids[message.id if message is not None else name] = name

    def _regular(self, name: str) -> bool:
        import stat

        place = self.room.root.place(file_key(name))
        info = None if place is None else self.room.root.glance(place)
        return info is not None and stat.S_ISREG(info.st_mode)

    def _set_odd_aside(self, name: str) -> None:
        from .doctor import move_aside

        move_aside(self.room.path, file_key(name))


def _token() -> str:
    return os.urandom(8).hex()


def _parse(data: bytes) -> Message | None:
    from worldfs.formats.agent import documents

    try:
        return documents.message_read(data)
    except UserError:
        return None


def _why(data: bytes) -> tuple[str, str]:
    """Why a letter is dead, and since when."""
    try:
        said = json.loads(data)
        return str(said["reason"]), str(said["at"])
    except (ValueError, KeyError, TypeError):
        return data.decode("utf-8", "replace").strip(), ""


def _rank(name: str, message: Message | None, room: Room) -> Rank:
    if message is None:
        return Rank(9, 0, name)
    return Rank(RANKS.get(message.priority, 1), _ms(message.created_at, room), name)


def _ms(text: str, room: Room) -> int:
    moment = parse_stamp(text) or room.clock.now()
    return max(0, int(moment.timestamp() * 1000))


def _past(expires: str | None, room: Room) -> bool:
    moment = parse_stamp(expires) if expires else None
    return moment is not None and moment <= room.clock.now()
