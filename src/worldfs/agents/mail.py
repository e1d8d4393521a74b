"""The letters of an inbox as files: read, archived when they were read, buried with the reason when they cannot be."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from worldfs.ground.clock import parse_stamp, stamp
from worldfs.ground.errors import NotFound, UserError
from worldfs.ground.walk import Place, check, refuse
from worldfs.tree.stores.revision import of

from .ledger import Ledger
from .letters import DEAD, INBOX, RANKS, Rank, done_key, file_key, named_after, rank_of
from .room import Room

if TYPE_CHECKING:
    from worldfs.ground.model import Message


NAME_BYTES = 200  # of a letter's name


class Mail:
    """`known`: names that are there, as far as we have heard."""

    def __init__(self, room: Room, ledger: Ledger) -> None:
        self.room, self.ledger = room, ledger
        self.known: set[str] = set()
        self._read_as: dict[str, tuple[str, Message]] = {}  # letters to be asked for again: what the disk said of them

    # -- reading ----------------------------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        return f"{self.room.root.path}/{INBOX}/{name}"

    def read(self, name: str) -> Message | None:
        with suppress(UserError):
            stored = self.room.store.get(file_key(name))
            return None if stored is None else parse(stored.data, name)
        return None

    def bytes_of(self, name: str, *, again: bool = False) -> tuple[bytes | None, Message | None]:
        """A letter's bytes and what they say; `again`: `again` will be asked for it."""
        looks = self.room.store.probe(file_key(name)) if again else None
        data = self.room.root.read(file_key(name))
        message = None if data is None else parse(data, name)
        if looks is not None and message is not None:
            self._read_as[name] = looks, message
        return data, message

    def again(self, name: str) -> Message | None:
        """A letter that was claimed: it is not read a second time while nobody has touched it."""
        looks, message = self._read_as.get(name, ("", None))
        if message is not None and self.room.store.probe(file_key(name)) == looks:
            return message
        return self.read(name)

    def age(self, name: str) -> float:
        place = self.room.root.place(file_key(name))
        info = None if place is None else self.room.root.glance(place)
        return 0.0 if info is None else self.room.clock.now().timestamp() - info.st_mtime

    def moved(self, key: str) -> str:
        """When a file got its name, as the disk tells it: for a letter whose line the ledger no longer has."""
        from datetime import UTC, datetime

        place = self.room.root.place(key)
        info = None if place is None else self.room.root.glance(place)
        return "" if info is None else stamp(datetime.fromtimestamp(int(info.st_ctime), UTC))

    def twice(self, name: str, id: str) -> bool:
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
            other != name and (mine is None or rank < mine[1]) and other in self.known
            for other, rank in self.ledger.of_id(id)
        )

    # -- taking away ------------------------------------------------------------------------------------------------

    def drop(self, name: str, op: str) -> None:
        with self.ledger as ledger:
            ledger.write([{"op": op, "name": name}])
        self.known.discard(name)

    def bury(self, name: str, reason: str) -> None:
        """Set a letter aside for good, every byte of it, with the reason."""
        if is_odd(name):
            return self._bury_odd(name)
        with self.ledger as ledger:
            ledger.write([{"op": "dead", "name": name, "reason": reason, "at": self.room.now()}])
            target = name
            while self.room.store.probe(f"{DEAD}/{target}") is not None:
                target = f"again-{target}"
            why = json.dumps({"reason": reason, "at": self.room.now()}).encode() + b"\n"
            self.room.root.replace(f"{DEAD}/{target}.why", why, durable=False)
            with suppress(NotFound):
                self.room.store.move(file_key(name), f"{DEAD}/{target}")
        self.known.discard(name)

    def _bury_odd(self, name: str) -> None:
        """As `bury`, of what has a name that no path here may have: it gets one, and the reason tells the old one."""
        root, said = self.room.root, ascii(name)
        with self.ledger:
            home = root.folder(INBOX)
            target = root.room(f"{DEAD}/odd-{os.urandom(8).hex()}.json")
            why = json.dumps({"reason": f"its name was {said}", "at": self.room.now()}).encode() + b"\n"
            root.replace(f"{target.path}.why", why, durable=False)
            with suppress(FileNotFoundError):
                root.rename(Place(home, name, f"{INBOX}/{said}"), target, "new")
        self.known.discard(name)
        self.room.found(
            "ODD_NAME", f"inbox/{said[:80]}", "a name that can be printed, of at most 200 bytes", "another",
            f"it is kept as {target.path}; send it again under another name",
        )  # fmt: skip

    def archive(self, letters: Sequence[tuple[str, str]]) -> None:
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
                self.known.discard(name)
                self._read_as.pop(name, None)
        except OSError as error:
            raise refuse(error, INBOX, "move") from error


def is_odd(name: str) -> bool:
    """Is it a name that cannot be used as it stands: control characters, no UTF-8, too long for what we add to it?"""
    try:
        check(file_key(name))
        return len(os.fsencode(name)) > NAME_BYTES or not name.encode()
    except (UserError, UnicodeError):
        return True


def parse(data: bytes, name: str) -> Message | None:
    """A letter in a file of this name; one without an id gets its file's name and content for one."""
    from worldfs.formats.agent import documents

    try:
        return documents.message_read(data, f"{name.removesuffix('.json')}-{of(data)}.json")
    except UserError:
        return None


def addressed(to: str, agent: str) -> bool:
    """Is a letter with this address one for this agent? Without an address it is for the inbox that it lies in."""
    return to.strip().casefold() in ("", "all", agent.casefold())


def why_of(data: bytes) -> tuple[str, str]:
    """Why a letter is dead, and since when."""
    try:
        said = json.loads(data)
        return str(said["reason"]), str(said["at"])
    except (ValueError, KeyError, TypeError):
        return data.decode("utf-8", "replace").strip(), ""


def rank(name: str, message: Message | None, room: Room) -> Rank:
    if message is None:
        return Rank(9, 0, name)
    return Rank(RANKS.get(message.priority, 1), ms(message.created_at, room), name)


def ms(text: str, room: Room) -> int:
    moment = parse_stamp(text) or room.clock.now()
    return max(0, int(moment.timestamp() * 1000))


def past(expires: str | None, room: Room) -> bool:
    moment = parse_stamp(expires) if expires else None
    return moment is not None and moment <= room.clock.now()
