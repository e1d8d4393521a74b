"""What became of a letter, and when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from worldfs.agents import claim_log
from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.inbox import Inbox
from worldfs.agents.message_names import DeliveryReceipt
from worldfs.base.model import Message
from worldfs.testing.manual_clock import ManualClock

SENT, LATER, LAST = "2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z", "2026-01-02T03:06:05Z"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def inbox(tmp_path: Path, clock: ManualClock) -> Iterator[Inbox]:
    (tmp_path / "rio").mkdir()
    agent_dir = AgentDirectory(tmp_path, "rio", clock=clock)
    inbox = Inbox(agent_dir, attempts=1)
    yield inbox
    inbox.close()
    agent_dir.close()


def send(inbox: Inbox, id: str = "a", **more: str) -> None:
    inbox.deposit(Message(id, "ann", "rio", SENT, subject="s")._replace(**more))


def test_a_letter_that_nobody_sent_has_no_receipt(inbox: Inbox) -> None:
    assert inbox.receipt("a") is None


def test_a_receipt_follows_a_letter_with_the_times(inbox: Inbox, clock: ManualClock) -> None:
    send(inbox)
    clock.advance(60)
    assert inbox.receipt("a") == DeliveryReceipt("a", "waiting", sent=SENT, at=SENT)
    claimed = inbox.claim("ben")
    assert claimed is not None
    assert inbox.receipt("a") == DeliveryReceipt("a", "claimed", sent=SENT, at=LATER, by="ben", attempts=1)
    clock.advance(60)
    inbox.ack(claimed.token)
    assert inbox.receipt("a") == DeliveryReceipt("a", "acknowledged", sent=SENT, at=LAST)


def test_a_returned_letter_waits_since_it_was_returned(inbox: Inbox, clock: ManualClock) -> None:
    send(inbox)
    claimed = inbox.claim("ben")
    assert claimed is not None
    clock.advance(60)
    inbox.give_back(claimed.token)
    assert inbox.receipt("a") == DeliveryReceipt("a", "waiting", sent=SENT, at=LATER, attempts=1)


def test_a_dead_letter_says_why_and_since_when(inbox: Inbox, clock: ManualClock) -> None:
    send(inbox, expires_at=LATER)
    clock.advance(120)
    assert inbox.claim("ben") is None
    assert inbox.receipt("a") == DeliveryReceipt("a", "dead", sent=SENT, at=LAST, reason="expired")


def test_when_the_ledger_is_written_anew_times_are_kept_or_taken_from_the_disk(
    inbox: Inbox, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(inbox, "returned")
    claimed = inbox.claim("ben")
    assert claimed is not None
    clock.advance(60)
    inbox.give_back(claimed.token)
    send(inbox, "read", priority="high")
    claimed = inbox.claim("ben")
    assert claimed is not None and claimed.message.id == "read"
    inbox.ack(claimed.token)
    monkeypatch.setattr(claim_log, "COMPACT", 0)
    with inbox.claim_log as held:
        held.lines = 1_000_000
        held.write([])
    again = Inbox(inbox.agent_dir)
    assert again.receipt("returned") == DeliveryReceipt("returned", "waiting", sent=SENT, at=LATER, attempts=1)
    receipt = again.receipt("read")
    assert receipt is not None and (receipt.state, receipt.sent) == ("acknowledged", SENT)
    assert receipt.at.endswith("Z") and receipt.at != LATER  # the disk goes by its own clock
    again.close()
