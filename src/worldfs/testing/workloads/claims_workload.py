"""Workload of an inbox with two claimers: claimed, acknowledged, released; at any time a message has one holder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.agent_state import AgentState
from worldfs.agents.inbox import ClaimedMessage, Inbox
from worldfs.base.disk import Disk
from worldfs.base.model import Message
from worldfs.testing.manual_clock import ManualClock

from . import View, Workload

NAME = "rio"
IDS = tuple(f"letter-{n}" for n in range(6))


def prepare(path: Path) -> None:
    AgentState.open(NAME, path, clock=ManualClock(), create=True).close()
    inbox = _open(path, Disk())
    for id in IDS:
        inbox.deposit(Message(id, "theseus", NAME, "2026-03-31T18:00:00Z", subject=id))
    _close(inbox)


def run(path: Path, disk: Disk) -> Iterator[str]:
    one, two = _open(path, disk), _open(path, disk)
    first = _claimed(one, "one")
    yield "one has a message"
    second = _claimed(two, "two")
    yield "two has another"
    one.ack(first.token)
    yield "one is done"
    third = _claimed(one, "one")
    yield "one has a third"
    two.give_back(second.token)
    yield "two gave its message back"
    one.claim_all("one")
    yield "one has all the others"
    one.ack(third.token)
    yield "one is done again"
    for inbox in (one, two):
        _close(inbox)


def restart(path: Path, disk: Disk) -> Iterator[str]:
    """Other claimers: a claimed message stays with its holder after any crash."""
    three, four = _open(path, disk), _open(path, disk)
    held = {letter.name for letter in three.waiting() if letter.state == "claimed"}
    for inbox in (three, four):
        claimed = inbox.claim("again")
        yield "a claim again"
        if claimed is not None:
            name = Path(claimed.path).name
            assert name not in held, f"{name} has two holders"
            held.add(name)
    for inbox in (three, four):
        _close(inbox)


def inspect(path: Path) -> View:
    """The place of each message; and neither of two new claimers gets a message that another claimer holds."""
    inbox = _open(path, Disk())
    found: dict[str, object] = {}
    for id in IDS:
        receipt = inbox.receipt(id)
        assert receipt is not None, f"{id} is lost"
        found[id] = f"{receipt.state} {receipt.by}"
    held = {letter.name for letter in inbox.waiting() if letter.state == "claimed"}
    free = len(inbox.waiting()) - len(held)
    other = _open(path, Disk())
    for claimer in (inbox, other, inbox, other)[:free]:
        name = Path(_claimed(claimer, "late").path).name
        assert name not in held, f"{name} has two holders"
        held.add(name)
    for claimer in (inbox, other):
        _close(claimer)
    return found


def _claimed(inbox: Inbox, by: str) -> ClaimedMessage:
    claimed = inbox.claim(by)
    assert claimed is not None, f"nothing for {by}"
    return claimed


def _open(path: Path, disk: Disk) -> Inbox:
    return Inbox(AgentDirectory(path, NAME, clock=ManualClock(), disk=disk))


def _close(inbox: Inbox) -> None:
    inbox.close()
    inbox.agent_dir.close()


LIFE = Workload("claims", prepare, run, restart, inspect)
