"""The inbox: whole letters, one reader at a time, nothing twice and nothing lost; minds with file tools beside us."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from worldfs.agents import claim_log
from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.inbox import LEASE_S, Inbox, deposit_to
from worldfs.agents.message_names import done_key, name_for_id, new_name, rank_of
from worldfs.base.disk import Disk
from worldfs.base.errors import BadInput, NotFound, StorageError
from worldfs.base.model import Message
from worldfs.testing.crashes import enumerate_crashes
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.one_thread import in_one_thread


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def inbox(tmp_path: Path, clock: ManualClock) -> Iterator[Inbox]:
    (tmp_path / "rio").mkdir()
    opened = again(tmp_path, clock)
    yield opened
    opened.close()
    opened.agent_dir.close()


def again(root: Path, clock: ManualClock, **options: int) -> Inbox:
    """As another process has it."""
    return Inbox(AgentDirectory(root, "rio", clock=clock), **options)


def letter(id: str = "", **more: Any) -> Message:
    return Message(id, "ann", "rio", **{"subject": id or "look", **more})


def ids(inbox: Inbox, by: str = "w") -> list[str]:
    """Everything that can be claimed, in order."""
    found = []
    while (claimed := inbox.claim(by)) is not None:
        found.append(claimed.message.id)
    return found


def foreign(root: Path, name: str, **value: Any) -> None:
    (root / "rio/inbox").mkdir(exist_ok=True)
    (root / "rio/inbox" / name).write_text(json.dumps(value, ensure_ascii=False))


def plain(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "from": "ann", "to": "rio", "created_at": "2026-03-31T22:00:00Z", "type": "flag",
            "priority": "normal", "subject": id, "body": "", **more}  # fmt: skip


# -- depositing --------------------------------------------------------------------------------------------------------


def test_a_letter_is_one_file_as_the_specification_writes_it(inbox: Inbox, tmp_path: Path) -> None:
    sent = inbox.deposit(letter(body="条件市场", priority="high"))
    assert sent.new and sent.message.id.startswith("msg-")
    (file,) = (tmp_path / "rio/inbox").iterdir()
    value = json.loads(file.read_text())
    assert list(value)[:3] == ["id", "from", "to"] and value["body"] == "条件市场"
    assert value["created_at"] == "2026-01-02T03:04:05Z"
    rank = rank_of(file.name)
    assert rank is not None and rank.priority == 0 and value["id"] == f"msg-{file.name[:-5]}"


def test_an_id_is_deposited_once_while_it_waits_and_after_it_was_read(inbox: Inbox) -> None:
    assert inbox.deposit(letter("a")).new
    assert not inbox.deposit(letter("a", subject="other")).new
    claimed = inbox.claim("w")
    assert claimed is not None and claimed.message.subject == "a"
    assert not inbox.deposit(letter("a")).new
    inbox.ack(claimed.token)
    assert not inbox.deposit(letter("a")).new
    assert ids(inbox) == []


def test_secrets_are_marked_out_before_a_letter_is_written(inbox: Inbox, tmp_path: Path) -> None:
    key = "sk-ant-" + "a1" * 20
    sent = inbox.deposit(letter("a", subject=f"with {key}", body=f"and {key}"))
    text = next((tmp_path / "rio/inbox").iterdir()).read_text()
    assert key not in text and text.count("[redacted:") == 2
    assert key not in sent.message.subject + sent.message.body


def test_an_unknown_recipient_is_refused_by_name(inbox: Inbox, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="rio"):
        deposit_to(tmp_path, "nobody", letter())
    with pytest.raises(BadInput):
        deposit_to(tmp_path, "../rio", letter())
    assert deposit_to(tmp_path, "rio", letter("a")).new


# -- claiming ----------------------------------------------------------------------------------------------------------


def test_priority_comes_before_age_and_age_before_anything(inbox: Inbox) -> None:
    for id, priority, minute in (("c", "normal", 2), ("a", "low", 0), ("d", "high", 3), ("b", "normal", 1)):
        inbox.deposit(Message("", "ann", "rio", f"2026-03-31T22:0{minute}:00Z", priority=priority, subject=id))
    order = []
    while (claimed := inbox.claim("w")) is not None:
        order.append(claimed.message.subject)
    assert order == ["d", "b", "c", "a"]


def test_a_claimed_letter_is_nobody_elses_and_stays_in_sight(inbox: Inbox, tmp_path: Path, clock: ManualClock) -> None:
    inbox.deposit(letter("a"))
    claimed = inbox.claim("one")
    assert claimed is not None and Path(claimed.path).is_file() and claimed.attempt == 1
    other = again(tmp_path, clock)
    assert other.claim("two") is None
    (seen,) = other.waiting()
    assert (seen.state, seen.by, seen.attempts) == ("claimed", "one", 1)
    other.close()


def test_a_lease_ends_by_itself_unless_it_is_extended(inbox: Inbox, tmp_path: Path, clock: ManualClock) -> None:
    inbox.deposit(letter("a"))
    first = inbox.claim("one", lease_s=10)
    assert first is not None
    clock.advance(9)
    inbox.extend(first.token, 10)
    other = again(tmp_path, clock)
    clock.advance(9)
    assert other.claim("two") is None
    clock.advance(2)
    second = other.claim("two")
    assert second is not None and second.attempt == 2 and second.token != first.token
    with pytest.raises(NotFound):
        inbox.ack(first.token)
    assert other.ack(second.token) == ["a"]
    other.close()


def test_no_lease_is_made_that_others_would_hold_for_ended(
    inbox: Inbox, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's name for this boot cannot be read: a claimer that can read it would deliver the message again."""

    def refuse(*words: object, **more: object) -> NoReturn:
        raise OSError(errno.EIO, "Input/output error")

    inbox.deposit(letter("one"))
    claim_log.boot_id.cache_clear()
    monkeypatch.setattr(claim_log, "open", refuse, raising=False)
    with pytest.raises(StorageError, match="boot_id"):
        inbox.claim("w")
    monkeypatch.undo()
    clock.advance(LEASE_S)
    assert ids(inbox) == ["one"]


def test_what_is_given_back_is_there_at_once_for_others(inbox: Inbox, tmp_path: Path, clock: ManualClock) -> None:
    inbox.deposit(letter("a"))
    other = again(tmp_path, clock)
    assert other.wait(0)
    claimed = inbox.claim("one")
    assert claimed is not None and other.claim("two") is None
    inbox.give_back(claimed.token)
    second = other.claim("two")
    assert second is not None and second.attempt == 2
    other.close()


def test_everything_is_claimed_under_one_token_and_acknowledged_by_it(inbox: Inbox, tmp_path: Path) -> None:
    for n in range(5):
        inbox.deposit(letter(f"l{n}"))
    all = inbox.claim_all("session", token="s1")
    assert sorted(item.message.id for item in all) == [f"l{n}" for n in range(5)]
    assert {item.token for item in all} == {"s1"} and inbox.claim("w") is None
    inbox.deposit(letter("later"))
    os.unlink(next(item.path for item in all if item.message.id == "l0"))  # a mind took it away
    assert sorted(item.message.id for item in inbox.claimed("s1")) == ["l1", "l2", "l3", "l4"]
    inbox.ack_all("s1")
    assert [path.name for path in (tmp_path / "rio/inbox").iterdir()] == [name_for_id("later") + ".json"]


def test_everything_is_claimed_once_also_for_no_time_at_all(inbox: Inbox) -> None:
    inbox.deposit(letter("a"))
    inbox.deposit(letter("b"))
    assert [one.message.id for one in inbox.claim_all("session", token="s1", lease_s=0.0)] == ["a", "b"]
    assert ids(inbox) == ["a", "b"]


def test_a_letter_that_was_rewritten_after_its_claim_is_read_again(inbox: Inbox, tmp_path: Path) -> None:
    inbox.deposit(letter("a"))
    (claimed,) = inbox.claim_all("session", token="s1")
    Path(claimed.path).write_text(json.dumps(plain("a", subject="otherwise, and longer")))
    assert [item.message.subject for item in inbox.claimed("s1")] == ["otherwise, and longer"]


def test_a_letter_that_nobody_can_finish_dies_after_its_deliveries(tmp_path: Path, clock: ManualClock) -> None:
    (tmp_path / "rio").mkdir()
    inbox = again(tmp_path, clock, attempts=3)
    inbox.deposit(letter("a"))
    for _ in range(3):
        claimed = inbox.claim("w")
        assert claimed is not None
        inbox.give_back(claimed.token)
    assert inbox.claim("w") is None
    (dead,) = inbox.dead()
    assert dead.reason == "attempts" and dead.message is not None and dead.message.id == "a"
    receipt = inbox.receipt("a")
    assert receipt is not None and (receipt.state, receipt.reason) == ("dead", "attempts")
    inbox.revive(dead.name)
    claimed = inbox.claim("w")
    assert claimed is not None and claimed.attempt == 1 and inbox.dead() == []
    inbox.close()


def test_a_letter_that_died_or_was_revived_is_where_it_was_said_to_be_after_any_power_cut() -> None:
    def opened(path: Path, disk: Disk | None = None) -> Inbox:
        return Inbox(AgentDirectory(path, "rio", clock=ManualClock(), disk=disk), attempts=0)

    def prepare(path: Path) -> None:
        (path / "rio").mkdir()
        inbox = opened(path)
        inbox.deposit(letter("a"))
        shut(inbox)

    def operate(path: Path, disk: Disk, ack: Callable[[str], None]) -> None:
        inbox = opened(path, disk)
        assert inbox.claim("w") is None
        ack("dead")
        inbox.revive(inbox.dead()[0].name)
        ack("revived")
        shut(inbox)

    def shut(inbox: Inbox) -> None:
        inbox.close()
        inbox.agent_dir.close()

    def check(path: Path, acked: tuple[str, ...]) -> None:
        inbox = opened(path)
        waiting, dead = len(inbox.waiting()), len(inbox.dead())
        assert waiting + dead == 1, "it is in one place"
        assert "revived" not in acked or waiting
        assert not acked or all(letter.reason for letter in inbox.dead()), "nobody knows why it is dead"
        inbox.max_attempts = 1
        claimed = inbox.claim("late") if "revived" in acked else None
        assert "revived" not in acked or (claimed is not None and claimed.attempt == 1)
        shut(inbox)

    assert enumerate_crashes(prepare, operate, check).states > 20


def test_an_expired_letter_is_never_delivered_and_not_destroyed(inbox: Inbox, clock: ManualClock) -> None:
    inbox.deposit(letter("a", expires_at="2026-01-02T03:05:00Z"))
    inbox.deposit(letter("b"))
    clock.advance(120)
    assert ids(inbox) == ["b"]
    assert [(dead.message.id, dead.reason) for dead in inbox.dead() if dead.message] == [("a", "expired")]


def test_a_letter_that_is_not_dead_is_not_revived_and_its_deliveries_still_count(inbox: Inbox) -> None:
    inbox.deposit(letter("a"))
    claimed = inbox.claim("w")
    assert claimed is not None
    inbox.give_back(claimed.token)
    with pytest.raises(NotFound):
        inbox.revive(Path(claimed.path).name)
    claimed = inbox.claim("w")
    assert claimed is not None and claimed.attempt == 2


def test_only_names_of_letters_are_revived(inbox: Inbox) -> None:
    for name in ("../memory.md", "", "a/b"):
        with pytest.raises(BadInput):
            inbox.revive(name)
    with pytest.raises(NotFound):
        inbox.revive("gone.json")


# -- receipts ----------------------------------------------------------------------------------------------------------


def test_a_receipt_tells_where_a_letter_is(inbox: Inbox) -> None:
    assert inbox.receipt("a") is None
    inbox.deposit(letter("a"))
    states = [inbox.receipt("a")]
    claimed = inbox.claim("w")
    states.append(inbox.receipt("a"))
    assert claimed is not None
    inbox.ack(claimed.token)
    states.append(inbox.receipt("a"))
    assert [state and (state.state, state.by) for state in states] == [
        ("waiting", ""), ("claimed", "w"), ("acknowledged", "")
    ]  # fmt: skip
    assert inbox.agent_dir.store.probe(done_key("a")) is not None


# -- minds with file tools ---------------------------------------------------------------------------------------------


def test_a_file_that_a_mind_removes_is_read(inbox: Inbox, tmp_path: Path) -> None:
    inbox.deposit(letter("a"))
    inbox.deposit(letter("b"))
    assert inbox.wait(0)
    (tmp_path / "rio/inbox" / (name_for_id("a") + ".json")).unlink()
    assert ids(inbox) == ["b"]


def test_letters_of_other_tools_are_claimed_in_their_turn(inbox: Inbox, tmp_path: Path) -> None:
    foreign(tmp_path, "from-a-mind.json", **plain("x", priority="high"))
    foreign(tmp_path, "no-id.json", **{key: value for key, value in plain("").items() if key != "id"})
    inbox.deposit(letter("ours"))
    first, second, third = ids(inbox)  # by priority, then age; without an id it has one of its own
    assert (first, second, third.startswith("no-id-")) == ("x", "ours", True)


def test_letters_without_an_id_are_not_taken_for_one_letter(inbox: Inbox, tmp_path: Path) -> None:
    for subject in ("first", "second"):
        value = {key: value for key, value in plain("").items() if key != "id"}
        foreign(tmp_path, "answer.json", **{**value, "subject": subject})
        claimed = inbox.claim("me")
        assert claimed is not None and claimed.message.subject == subject, inbox.dead()
        inbox.ack(claimed.token)


def test_a_letter_to_another_agent_is_not_delivered(inbox: Inbox, tmp_path: Path) -> None:
    foreign(tmp_path, "stray.json", **plain("x", to="theseus"))
    foreign(tmp_path, "mine.json", **plain("y", to="Rio"))
    assert ids(inbox) == ["y"]
    assert [(dead.name, dead.reason) for dead in inbox.dead()] == [("stray.json", "astray")]


def test_the_same_id_in_two_files_is_delivered_once(inbox: Inbox, tmp_path: Path) -> None:
    inbox.deposit(letter("a"))
    foreign(tmp_path, "copy.json", **plain("a"))
    foreign(tmp_path, "copy-of-copy.json", **plain("a"))
    assert ids(inbox) == ["a"]
    assert [dead.reason for dead in inbox.dead()] == ["duplicate", "duplicate"]


def test_half_a_letter_is_waited_for_and_then_set_aside(inbox: Inbox, tmp_path: Path) -> None:
    foreign(tmp_path, "half.json")
    path = tmp_path / "rio/inbox/half.json"
    path.write_text('{"id": "h", "from"')
    assert inbox.claim("w") is None and inbox.dead() == [] and path.exists()
    path.write_text(json.dumps(plain("h")))
    assert ids(inbox) == ["h"]
    bad = tmp_path / "rio/inbox/bad.json"
    bad.write_text("not a letter")
    os.utime(bad, (1, 1))
    assert ids(inbox) == []
    (dead,) = inbox.dead()
    assert dead.reason == "unreadable"
    assert (tmp_path / "rio/.paos/letters/dead/bad.json").read_text() == "not a letter"


# -- the ledger --------------------------------------------------------------------------------------------------------


def test_a_torn_line_of_the_ledger_was_told_to_nobody_and_is_kept_aside(
    inbox: Inbox, tmp_path: Path, clock: ManualClock
) -> None:
    inbox.deposit(letter("a"))
    claimed = inbox.claim("one")
    with (tmp_path / "rio/.paos/inbox.jsonl").open("ab") as file:
        file.write(b'{"op":"claim","name":"zzz')
    other = again(tmp_path, clock)
    assert other.claim("two") is None
    other.deposit(letter("b"))
    second = other.claim("two")
    assert claimed is not None and second is not None and second.message.id == "b"
    assert any(b'"zzz' in path.read_bytes() for path in (tmp_path / "rio/.paos/aside").iterdir())
    other.close()


def test_a_ledger_that_is_mostly_waste_is_written_anew_and_says_the_same(
    inbox: Inbox, tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from worldfs.agents import claim_log

    monkeypatch.setattr(claim_log, "COMPACT", 4096)
    inbox.deposit(letter("kept"))
    held = inbox.claim("one")
    for n in range(600):
        inbox.extend(held.token if held else "", 300 + n)
    size = (tmp_path / "rio/.paos/inbox.jsonl").stat().st_size
    assert size < 60_000  # 600 lines of it would be more
    other = again(tmp_path, clock)
    assert other.claim("two") is None
    (seen,) = other.waiting()
    assert (seen.state, seen.by) == ("claimed", "one")
    other.close()


def test_a_claimer_that_was_forked_shares_no_lock_with_its_parent(inbox: Inbox, tmp_path: Path) -> None:
    for n in range(40):
        inbox.deposit(letter(f"l{n}"))
    ours, theirs = in_one_thread(_claimed_by_parent_and_child, tmp_path)
    assert len(ours) + len(theirs) == len({*ours, *theirs}) == 40


def _claimed_by_parent_and_child(root: Path) -> tuple[list[str], list[str]]:
    inbox = again(root, ManualClock())
    assert inbox.wait(0)
    child = os.fork()
    if child == 0:
        mine = again(root, ManualClock())
        (root / "child").write_text("\n".join(ids(mine, "child")))
        os._exit(0)
    ours = ids(inbox, "parent")
    assert os.waitpid(child, 0)[1] == 0
    return ours, (root / "child").read_text().split()


def test_our_names_sort_as_letters_are_claimed() -> None:
    names = [new_name(priority, ms) for priority in ("high", "normal", "low") for ms in (1, 2, 3_000_000_000_000)]
    assert names == sorted(names)
    assert rank_of("letter.json") is None and rank_of("x" * 36 + ".json") is None
