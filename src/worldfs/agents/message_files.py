"""The messages of an inbox as files: read, archived once acknowledged, moved to `dead` with the reason otherwise."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from worldfs.base.clock import parse_stamp, stamp
from worldfs.base.dir_reader import DirEntryRef, check_path, path_error
from worldfs.base.errors import NotFound, UserError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.storage.revision import of

from .agent_directory import AgentDirectory
from .claim_log import ClaimLog
from .message_names import DEAD, INBOX, RANKS, DeliveryRank, done_key, file_key, name_for_id, rank_of

if TYPE_CHECKING:
    from worldfs.base.clock import Clock
    from worldfs.base.model import Message


NAME_BYTES = 200  # of a message's name


class MessageFiles:
    """`known`: names that are in the inbox as of the last events."""

    def __init__(self, agent_dir: AgentDirectory, log: ClaimLog) -> None:
        self.agent_dir, self.claim_log = agent_dir, log
        self.known: set[str] = set()
        self._read_as: dict[str, tuple[str, Message]] = {}  # messages to be asked for again: what the disk said of them

    # -- reading ----------------------------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        return f"{self.agent_dir.root.path}/{INBOX}/{name}"

    def read(self, name: str) -> Message | None:
        with suppress(UserError):
            stored = self.agent_dir.store.get(file_key(name))
            return None if stored is None else parse_message(stored.data, name)
        return None

    def bytes_of(self, name: str, *, again: bool = False) -> tuple[bytes | None, Message | None]:
        """A message's bytes and what they say; `again`: the caller will `reread` it."""
        looks = self.agent_dir.store.probe(file_key(name)) if again else None
        data = self.agent_dir.root.read(file_key(name))
        message = None if data is None else parse_message(data, name)
        if looks is not None and message is not None:
            self._read_as[name] = looks, message
        return data, message

    def reread(self, name: str) -> Message | None:
        """A message that was claimed, from memory as long as its file is unchanged."""
        looks, message = self._read_as.get(name, ("", None))
        if message is not None and self.agent_dir.store.probe(file_key(name)) == looks:
            return message
        return self.read(name)

    def age(self, name: str) -> float:
        place = self.agent_dir.root.locate(file_key(name))
        info = None if place is None else self.agent_dir.root.lstat(place)
        return 0.0 if info is None else self.agent_dir.clock.now().timestamp() - info.st_mtime

    def renamed_at(self, key: str) -> str:
        """When a file got its name (ctime): for a message whose line the claim log no longer has."""
        from datetime import UTC, datetime

        place = self.agent_dir.root.locate(key)
        info = None if place is None else self.agent_dir.root.lstat(place)
        return "" if info is None else stamp(datetime.fromtimestamp(int(info.st_ctime), UTC))

    def has_duplicate(self, name: str, id: str) -> bool:
        """Is there another message of this id, read or to be read before this one?"""
        if rank_of(name) is not None and id == f"msg-{name[:-5]}":
            return False
        if self.agent_dir.store.probe(done_key(id)) is not None:
            return True
        own = name_for_id(id) + ".json"
        if own != name and self.agent_dir.store.probe(file_key(own)) is not None:
            return True
        mine = self.claim_log.foreign.get(name)
        return any(
            other != name and (mine is None or rank < mine[1]) and other in self.known
            for other, rank in self.claim_log.foreign_of_id(id)
        )

    # -- taking away ------------------------------------------------------------------------------------------------

    def drop(self, name: str, op: str) -> None:
        with self.claim_log as log:
            log.write([{"op": op, "name": name}])
        self.known.discard(name)

    def move_to_dead(self, name: str, reason: str) -> None:
        """Move a message to `dead`, every byte of it, with the reason."""
        if is_unusable_name(name):
            return self._move_odd_to_dead(name)
        with self.claim_log as log:
            log.write([{"op": "dead", "name": name, "reason": reason, "at": self.agent_dir.now()}])
            target = name
            while self.agent_dir.store.probe(f"{DEAD}/{target}") is not None:
                target = f"again-{target}"
            why = json.dumps({"reason": reason, "at": self.agent_dir.now()}).encode() + b"\n"
            self.agent_dir.root.replace(f"{DEAD}/{target}.why", why, durable=False)
            with suppress(NotFound, FileNotFoundError):
                self._rename(name, f"{DEAD}/{target}")
        self.known.discard(name)

    def _rename(self, name: str, target: str) -> None:
        """A link or a FIFO too, as it is: the store moves regular files alone."""
        root = self.agent_dir.root
        place = root.locate(file_key(name))
        info = None if place is None else root.lstat(place)
        if place is None or info is None or stat.S_ISREG(info.st_mode):
            self.agent_dir.store.move(file_key(name), target)
        else:
            root.rename(place, root.ensure_parent(target), "new")

    def _move_odd_to_dead(self, name: str) -> None:
        """As `move_to_dead`, for a file with an invalid name: it gets a new one, and the reason says the old one."""
        root, said = self.agent_dir.root, ascii(name)
        with self.claim_log:
            home = root.folder(INBOX)
            target = root.ensure_parent(f"{DEAD}/odd-{os.urandom(8).hex()}.json")
            why = json.dumps({"reason": f"its name was {said}", "at": self.agent_dir.now()}).encode() + b"\n"
            root.replace(f"{target.path}.why", why, durable=False)
            with suppress(FileNotFoundError):
                root.rename(DirEntryRef(home, name, f"{INBOX}/{said}"), target, "new")
        self.known.discard(name)
        self.agent_dir.add_finding(
            "ODD_NAME", f"inbox/{said[:80]}", coded("agent.printable_name"), coded("agent.another_name"),
            coded("agent.kept_send_again", key=target.path),
        )  # fmt: skip

    def archive(self, messages: Sequence[tuple[str, str]]) -> None:
        """Move messages (name, id) from the inbox to the archive. Not durable: the claim log has it, and the next scan
        repeats it."""
        if not messages:
            return
        root = self.agent_dir.root
        try:
            home, done = root.ensure_parent(file_key("x")).folder, root.ensure_parent(done_key("x")).folder
            for name, id in messages:
                key = done_key(id or name)
                there = DirEntryRef(done, key.rpartition("/")[2], key)
                here = DirEntryRef(home, name, file_key(name))
                with suppress(FileNotFoundError):
                    try:
                        root.rename(here, there, "new")
                    except FileExistsError:  # the same id was read before
                        more = f".{os.urandom(4).hex()}"
                        root.rename(here, DirEntryRef(done, there.name + more, key + more), "new")
                self.known.discard(name)
                self._read_as.pop(name, None)
        except OSError as error:
            raise path_error(error, INBOX, "move") from error


def is_unusable_name(name: str) -> bool:
    """Is it a name that cannot be used as it is: control characters, no UTF-8, too long for what we add to it?"""
    try:
        check_path(file_key(name))
        return len(os.fsencode(name)) > NAME_BYTES or not name.encode()
    except (UserError, UnicodeError):
        return True


def parse_message(data: bytes, name: str) -> Message | None:
    """A message in a file of this name; one without an id gets its file's name and content for one."""
    from worldfs.formats.agent import documents

    try:
        return documents.message_read(data, f"{name.removesuffix('.json')}-{of(data)}.json")
    except UserError:
        return None


def is_addressed_to(to: str, agent: str) -> bool:
    """Is a message with this address one for this agent? Without an address it is for the inbox that it lies in."""
    return to.strip().casefold() in ("", "all", agent.casefold())


def dead_reason(data: bytes) -> tuple[str, str]:
    """Why a message is dead, and since when."""
    try:
        said = parse_json(data)
        return str(said["reason"]), str(said["at"])
    except (ValueError, KeyError, TypeError):
        return data.decode("utf-8", "replace").strip(), ""


def delivery_rank(name: str, message: Message | None, agent_dir: AgentDirectory) -> DeliveryRank:
    if message is None:
        return DeliveryRank(9, 0, name)
    return DeliveryRank(RANKS.get(message.priority, 1), epoch_ms(message.created_at, agent_dir.clock), name)


def epoch_ms(text: str, clock: Clock) -> int:
    moment = parse_stamp(text) or clock.now()
    return max(0, int(moment.timestamp() * 1000))


def is_expired(expires: str | None, agent_dir: AgentDirectory) -> bool:
    moment = parse_stamp(expires) if expires else None
    return moment is not None and moment <= agent_dir.clock.now()
