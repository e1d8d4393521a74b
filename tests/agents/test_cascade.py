"""One letter to many: each once, and one that cannot be reached stops nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.broadcast import broadcast, broadcast_id
from worldfs.agents.inbox import Inbox
from worldfs.base.errors import BadInput, NotFound
from worldfs.testing.manual_clock import ManualClock


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("leo", "rio", "theseus"):
        (tmp_path / name).mkdir()
    return tmp_path


def letters(root: Path, agent: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((root / agent / "inbox").glob("*.json"))]


def say(root: Path, **more: Any) -> list[tuple[str, bool]]:
    said = {"sender": "pipeline", "subject": "A claim that you build on was rejected", "clock": ManualClock(), **more}
    return [(sent.agent, sent.new) for sent in broadcast(root, **said)]


def test_all_agents_get_a_letter_but_its_sender(root: Path) -> None:
    (sent,) = broadcast(root, sender="pipeline", subject="s", agents="rio", source_ref="pr/247", clock=ManualClock())
    assert letters(root, "rio") == [
        {
            "id": sent.message.id,
            "from": "pipeline",
            "to": "rio",
            "created_at": "2026-01-02T03:04:05Z",
            "type": "cascade",
            "priority": "normal",
            "subject": "s",
            "body": "",
            "source_ref": "pr/247",
            "expires_at": None,
        }
    ]
    assert say(root, sender="rio", priority="high") == [("leo", True), ("theseus", True)]
    assert [letter["priority"] for letter in letters(root, "leo")] == ["high"]


def test_the_same_source_reaches_an_agent_once_even_after_it_was_read(root: Path) -> None:
    assert say(root, source_ref="pr/247", agents=["rio"]) == [("rio", True)]
    agent_dir = AgentDirectory(root, "rio", clock=ManualClock())
    inbox = Inbox(agent_dir)
    claim = inbox.claim(by="rio")
    assert claim is not None
    inbox.ack(claim.token)
    inbox.close()
    agent_dir.close()
    assert say(root, source_ref="pr/247") == [("leo", True), ("rio", False), ("theseus", True)]
    assert say(root, source_ref="pr/248", agents=["rio", "rio"]) == [("rio", True)]
    assert [letter["source_ref"] for letter in letters(root, "rio")] == ["pr/248"]


def test_without_a_source_every_call_is_a_new_letter(root: Path) -> None:
    assert say(root, agents=["rio"]) == say(root, agents=["rio"]) == [("rio", True)]
    assert len(letters(root, "rio")) == 2


def test_one_that_cannot_be_reached_stops_nobody_and_is_named(root: Path) -> None:
    (root / "leo" / "inbox").write_text("a file where the inbox should be")
    sent = broadcast(root, sender="pipeline", subject="s", agents=["leo", "nobody", "../rio", "rio"], source_ref="pr/1")
    assert [(one.agent, one.new, one.trouble is None) for one in sent] == [
        ("leo", False, False),
        ("nobody", False, False),
        ("../rio", False, False),
        ("rio", True, True),
    ]
    assert isinstance(sent[1].trouble, NotFound)
    assert "leo, rio, theseus" in str(sent[1].trouble)
    (root / "leo" / "inbox").unlink()
    assert say(root, source_ref="pr/1", agents=["leo", "rio"]) == [("leo", True), ("rio", False)]


def test_a_cascade_that_says_nothing_or_reaches_nobody_is_refused(root: Path, tmp_path: Path) -> None:
    for more in ({"subject": " "}, {"agents": []}, {"priority": "urgent"}):
        with pytest.raises(BadInput):
            say(root, **more)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput):
        say(tmp_path / "empty")


def test_an_id_is_of_one_source_and_one_agent() -> None:
    pairs = [("pr/1", "rio"), ("pr/1", "leo"), ("pr/2", "rio"), ("pr/1r", "io"), ("来源/甲", "rio")]
    assert len({broadcast_id(*pair) for pair in pairs}) == len(pairs)
    assert broadcast_id("来源/甲", "rio") == broadcast_id("来源/甲", "rio")
