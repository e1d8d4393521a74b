"""The inbox of an agent: messages deposited whole, claimed by lease, acknowledged, returned, or dead with a reason.

A claimed message stays where it is: an agent with file tools only still finds it, and may acknowledge a message by
removing its file. Any number of processes claim side by side.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.agent_names import check_agent_name
from worldfs.base.clock import stamp
from worldfs.base.errors import BadInput, Exists, NotFound
from worldfs.base.messages import coded
from worldfs.storage.engine_record import shared_engine
from worldfs.tree.path import safe_name

from .agent_directory import AgentDirectory
from .claim_log import ClaimLog, MessageClaim, boot_id
from .inbox_queue import InboxQueue
from .message_files import (
    MessageFiles,
    dead_reason,
    delivery_rank,
    epoch_ms,
    is_addressed_to,
    is_expired,
    parse_message,
)
from .message_names import (
    DEAD,
    INBOX,
    DeliveryReceipt,
    StoredMessage,
    done_key,
    file_key,
    name_for_id,
    new_name,
    rank_of,
)

if TYPE_CHECKING:
    from worldfs.base.clock import Clock
    from worldfs.base.durable import Disk
    from worldfs.base.model import Message

LEASE_S: Final = 300.0
ATTEMPTS: Final = 5  # deliveries of one message before it is dead


class DepositResult(NamedTuple):
    message: Message
    new: bool  # False: a message of that id was there, or has been read


class ClaimedMessage(NamedTuple):
    message: Message
    token: str
    path: str  # of the message's file, which stays where it is
    attempt: int


def deposit_to(
    root: str | os.PathLike[str], to: str, message: Message, *, clock: Clock | None = None, disk: Disk | None = None
) -> DepositResult:
    """Into the inbox of an agent below a state root. `NotFound` names the agents there are."""
    if engine := shared_engine(root):
        from .agent_hosts import deposit_on

        return DepositResult(*deposit_on(root, engine, to, message, clock=clock))
    agent_dir = AgentDirectory(root, check_agent_name(to), clock=clock, disk=disk)
    try:
        return Inbox(agent_dir).deposit(message)
    finally:
        agent_dir.close()


def named_message(message: Message, to: str, clock: Clock) -> tuple[str, Message]:
    """The name of its file, and the message with an id, a time and a recipient, and without secrets."""
    from worldfs.formats.agent.redact import redact_value

    created = message.created_at or stamp(clock.now().replace(microsecond=0))
    subject, body = redact_value((message.subject, message.body))
    message = message._replace(to=message.to or to, created_at=created, subject=subject, body=body)
    if message.id:
        return f"{name_for_id(message.id)}.json", message
    uuid = new_name(message.priority, epoch_ms(created, clock))
    return f"{uuid}.json", message._replace(id=f"msg-{uuid}")


class Inbox:
    """Opened by any number of processes. The first claim lists the directory, later ones read what is new."""

    def __init__(self, agent_dir: AgentDirectory, *, attempts: int = ATTEMPTS) -> None:
        self.agent_dir = agent_dir
        self.claim_log = ClaimLog(agent_dir)
        self.max_attempts = attempts
        self.message_files = MessageFiles(agent_dir, self.claim_log)
        self.queue = InboxQueue(self.message_files)

    def close(self) -> None:
        self.claim_log.close()
        self.queue.close()

    # -- depositing -------------------------------------------------------------------------------------------------

    def deposit(self, message: Message) -> DepositResult:
        """Whole or not at all, durable when it returns. An id that is there or was acknowledged: nothing is written."""
        from worldfs.formats.agent import documents

        given = bool(message.id)
        name, message = named_message(message, self.agent_dir.name, self.agent_dir.clock)
        if given and self.agent_dir.store.probe(done_key(message.id)) is not None:
            return DepositResult(message, False)
        try:
            self.agent_dir.root.create(file_key(name), documents.message_write(message))
        except Exists:
            return DepositResult(message, False)
        return DepositResult(message, True)

    def take_in(self) -> None:
        """Letters that other hosts deposited on the engine: into the inbox, and only then away from there."""
        if (mirror := self.agent_dir.mirror) is None:
            return
        for name, data in mirror.mail():
            message = parse_message(data, name)
            known = (f"{DEAD}/{name}", *([done_key(message.id)] if message is not None else []))
            if all(self.agent_dir.store.probe(key) is None for key in known):
                with suppress(Exists):
                    self.agent_dir.root.create(file_key(name), data)
            mirror.drop_mail(name)

    # -- claiming ---------------------------------------------------------------------------------------------------

    def claim(self, by: str, *, lease_s: float = LEASE_S, wait: float | None = None) -> ClaimedMessage | None:
        """The next message, for `lease_s` seconds; None when there is none (within `wait` seconds).

        Durable when it returns: no other process gets it before the lease has ended, even if all processes crash.
        """
        end = None if wait is None else self.agent_dir.clock.monotonic() + wait
        while True:
            claimed = self._next(by, lease_s)
            if claimed is not None or end is None:
                return claimed
            left = end - self.agent_dir.clock.monotonic()
            if left <= 0:
                return None
            self.queue.wait(left)

    def claim_all(self, by: str, *, token: str = "", lease_s: float = LEASE_S) -> list[ClaimedMessage]:
        """Everything that waits now, under one token and with one commit."""
        self.queue.refresh()
        token = token or _token()
        with self.claim_log as log:
            now = self.agent_dir.now()
            waiting = list(iter(self.queue.pop, None))  # before the first claim, whose lease may have ended at once
            made = [self._claim(rank.name, token, by, lease_s, now) for rank in waiting]
            log.write({"op": "claim", **claim._asdict()} for claim in made)
        if not made:
            return []
        self.claim_log.sync()
        return [claimed for claim in made if (claimed := self._deliver(claim, again=True)) is not None]

    def claimed(self, token: str) -> list[ClaimedMessage]:
        """What is claimed under a token and still there."""
        self.claim_log.catch_up()
        found = []
        for claim in self.claim_log.claims_of(token):
            message = self.message_files.reread(claim.name)
            if message is not None:
                found.append(ClaimedMessage(message, token, self.message_files.path(claim.name), claim.attempt))
        return found

    def extend(self, token: str, lease_s: float = LEASE_S) -> None:
        """The claims of a token live `lease_s` seconds from now. Not durable: a lost one only ends sooner."""
        with self.claim_log as log:
            if log.claims_of(token):
                until = self.agent_dir.clock.monotonic() + lease_s
                log.write([{"op": "extend", "token": token, "boot": boot_id(), "until": until}])

    def ack(self, token: str) -> list[str]:
        """The messages of a token are done with: ids. `NotFound` if it claims nothing (any more)."""
        done = self.ack_all(token)
        if not done:
            raise NotFound(
                coded("agent.not_claimed", token=token),
                path=self.agent_dir.name,
                op="ack",
                fix=coded("agent.lease_ended"),
            )
        return done

    def ack_all(
        self,
        token: str,
        *,
        durable: bool = True,
        known: Mapping[str, str] | None = None,
        only: Container[str] | None = None,
    ) -> list[str]:
        """As `ack`, but without an error if nothing is claimed. `durable=False`: the caller has committed it elsewhere.

        `known`: ids by name of messages that have been read. `only`: these ids, and files that were removed; the others
        wait again, and this delivery does not count for them.
        """
        known = known or {}
        with self.claim_log as log:
            done, unread = [], []
            for claim in log.claims_of(token):
                message = None if claim.name in known else self.message_files.read(claim.name)
                id = known.get(claim.name, "" if message is None else message.id)
                if only is None or not id or id in only:
                    done.append((claim.name, id))
                else:
                    unread.append(claim.name)
            now = self.agent_dir.now()
            acks = [{"op": "ack", "name": name, "id": id, "at": now} for name, id in done]
            log.write([*acks, *({"op": "return", "name": name, "at": now, "unread": True} for name in unread)])
        if done or unread:  # that a delivery does not count is said for good, too
            self.claim_log.sync() if durable else self.claim_log.begin_sync()
        self.message_files.archive(done)
        return [id for _, id in done if id]

    def sync(self) -> None:
        """What was acknowledged without waiting for the disk is durable when this returns."""
        self.claim_log.sync()

    def give_back(self, token: str) -> None:
        """Others may have the messages of a token at once."""
        self.return_all(token)

    def return_all(self, token: str, *, durable: bool = True) -> None:
        with self.claim_log as log:
            names = [claim.name for claim in log.claims_of(token)]
            log.write({"op": "return", "name": name, "at": self.agent_dir.now()} for name in names)
        if names and durable:
            self.claim_log.sync()

    # -- looking ----------------------------------------------------------------------------------------------------

    def waiting(self) -> list[StoredMessage]:
        """Every message in the inbox, in the order of claims; claimed ones say by whom. Reads them all."""
        self.claim_log.catch_up()
        found = []
        for name in self.agent_dir.store.list(INBOX):
            if name.endswith("/") or name in self.claim_log.acked:
                continue
            message = self.message_files.read(name)
            claim = self.claim_log.live_claim(name)
            since = self.claim_log.times.get(name, "") or (message.created_at if message else "")
            entry = StoredMessage(
                name, message, "claimed" if claim else "waiting", claim.by if claim else "",
                self.claim_log.attempts(name), at=claim.at if claim else since,
            )  # fmt: skip
            found.append((rank_of(name) or delivery_rank(name, message, self.agent_dir), entry))
        return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]

    def deliverable(self) -> list[Message]:
        """What a claim of everything would deliver now, in its order. Nothing is claimed or settled by asking."""
        found, met = [], set()
        for entry in self.waiting():
            message = entry.message
            if entry.state != "waiting" or message is None or message.id in met:
                continue
            met.add(message.id)
            if self._dead_reason(entry.name, message, entry.attempts + 1) is None:
                found.append(message)
        return found

    def dead(self) -> list[StoredMessage]:
        """What could not be delivered, with the reason."""
        found = []
        for name in self.agent_dir.store.list(DEAD):
            if not name.endswith((".why", "/")):
                stored = self.agent_dir.store.get(f"{DEAD}/{name}")
                why = self.agent_dir.store.get(f"{DEAD}/{name}.why")
                reason, at = dead_reason(why.data if why else b"")
                found.append(
                    StoredMessage(name, parse_message(stored.data if stored else b"", name), "dead", "", 0, reason, at)
                )
        return found

    def revive(self, name: str) -> None:
        """A dead message waits again, its deliveries counted anew."""
        if not safe_name(name):
            raise BadInput(coded("agent.no_message_file", name=name), op="revive", path=self.agent_dir.name)
        with self.claim_log as log:
            self.agent_dir.store.move(f"{DEAD}/{name}", file_key(name))
            log.write([{"op": "revive", "name": name}])
        self.claim_log.sync()  # else a power cut leaves it waiting with all its deliveries, and it dies again
        with suppress(NotFound):
            self.agent_dir.store.delete(f"{DEAD}/{name}.why", durable=False)

    def receipt(self, id: str) -> DeliveryReceipt | None:
        """What became of the message of an id; None: there never was one."""
        self.claim_log.catch_up()
        key = done_key(id)
        stored = self.agent_dir.store.get(key)
        name = next((name for name, other in self.claim_log.acked.items() if other == id), "")
        if stored is not None or name:  # there, or soon there
            message = parse_message(stored.data, name) if stored is not None else self.message_files.read(name)
            at = self.claim_log.times.get(name, "") or self.message_files.renamed_at(key)
            return DeliveryReceipt(id, "acknowledged", message.created_at if message else "", at)
        for entry in (*self.waiting(), *self.dead()):
            m = entry.message
            if m is not None and m.id == id:
                return DeliveryReceipt(id, entry.state, m.created_at, entry.at, entry.by, entry.reason, entry.attempts)
        return None

    def wait(self, timeout: float | None = None) -> bool:
        """Until a message can be claimed; False when time is up. Woken by the arrival itself."""
        end = None if timeout is None else self.agent_dir.clock.monotonic() + timeout
        while True:
            self.queue.refresh()
            self.claim_log.catch_up()
            rank = self.queue.pop()
            if rank is not None:
                self.queue.push_back(rank)
                return True
            left = None if end is None else end - self.agent_dir.clock.monotonic()
            if left is not None and left <= 0:
                return False
            self.queue.wait(left)

    # -- inside -----------------------------------------------------------------------------------------------------

    def _next(self, by: str, lease_s: float) -> ClaimedMessage | None:
        while True:
            self.queue.refresh()
            self.claim_log.catch_up()  # before the lock, so that it is held for what is new since
            rank = self.queue.pop()
            if rank is None:
                return None
            self.queue.push_back(rank)
            with self.claim_log as log:
                rank = self.queue.pop()
                if rank is None:
                    return None
                claim = self._claim(rank.name, _token(), by, lease_s, self.agent_dir.now())
                log.write([{"op": "claim", **claim._asdict()}])
            self.claim_log.sync()
            claimed = self._deliver(claim)
            if claimed is not None:
                return claimed

    def _claim(self, name: str, token: str, by: str, lease_s: float, now: str) -> MessageClaim:
        until = self.agent_dir.clock.monotonic() + lease_s
        self.queue.leased(name, until)
        return MessageClaim(name, token, by, self.claim_log.attempts(name) + 1, boot_id(), until, now)

    def _deliver(self, claim: MessageClaim, *, again: bool = False) -> ClaimedMessage | None:
        """The message of a claim of ours, if it is to be delivered; else what becomes of it is settled.

        `again`: `claimed` will be asked for it.
        """
        data, message = self.message_files.bytes_of(claim.name, again=again)
        if data is None:  # its owner has taken it away: that acknowledges it
            self.message_files.drop(claim.name, "gone")
            return None
        reason = "unreadable" if message is None else self._dead_reason(claim.name, message, claim.attempt)
        if message is None or reason is not None:
            self.message_files.move_to_dead(claim.name, reason or "")
            return None
        return ClaimedMessage(message, claim.token, self.message_files.path(claim.name), claim.attempt)

    def _dead_reason(self, name: str, message: Message, attempt: int) -> str | None:
        """Why a message is not to be delivered."""
        return (
            "astray" if not is_addressed_to(message.to, self.agent_dir.name)
            else "expired" if is_expired(message.expires_at, self.agent_dir)
            else "attempts" if attempt > self.max_attempts
            else "duplicate" if self.message_files.has_duplicate(name, message.id)
            else None
        )  # fmt: skip


def _token() -> str:
    return os.urandom(8).hex()
