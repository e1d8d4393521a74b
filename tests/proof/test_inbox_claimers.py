"""Many claimers at one inbox, some of them killed, one of them a mind with file tools only: none lost, none twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from worldfs.agents import message_names
from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.inbox import Inbox
from worldfs.base.model.agent import Message
from worldfs.formats.agent.documents import message_read, message_write

SRC = Path(__file__).resolve().parents[2] / "src"
PROGRAM = Path(__file__).with_name("inbox_process.py")
PATIENCE_S = 600.0


class Line(NamedTuple):
    word: str  # got | ack | late
    letter: str
    by: str
    at: float


class Post:
    def __init__(self, root: Path) -> None:
        self.root, self.log = root, root / "log"
        self.folder = root / "rio/inbox"
        self.folder.mkdir(parents=True)

    def fill(self, count: int) -> set[str]:
        """Letters as a deposit leaves them, every tenth as another program does."""
        for number in range(count):
            message = Message(
                "", "theseus", "rio", "2026-03-31T18:00:00Z", priority=("high", "normal", "low")[number % 3],
                subject=f"n{number}",
            )  # fmt: skip
            if number % 10:
                stem = message_names.new_name(message.priority, 1_774_980_000_000 + number)
                message = message._replace(id=f"msg-{stem}")
            else:
                stem = f"foreign-{number}"
                message = message._replace(id=f"id-{number}")
            (self.folder / f"{stem}.json").write_bytes(message_write(message))
        return {f"n{number}" for number in range(count)}

    def claimer(self, lease_s: float = 300.0, idle_s: float = 1.0, *, held: bool = False) -> subprocess.Popen[str]:
        """`held`: it says that it is ready, and begins with a line."""
        return subprocess.Popen(
            [sys.executable, str(PROGRAM), str(self.root), str(self.log), str(lease_s), str(idle_s)],
            stdin=subprocess.PIPE if held else subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(SRC)},
        )  # fmt: skip

    def lines(self) -> list[Line]:
        found = []
        for text in self.log.read_text().splitlines():
            word, letter, by, at = text.split()
            found.append(Line(word, letter, by, float(at)))
        return found

    def inbox(self) -> Inbox:
        return Inbox(AgentDirectory(self.root, "rio"))


def ended(claimers: list[subprocess.Popen[str]]) -> None:
    for claimer in claimers:
        claimer.communicate(timeout=PATIENCE_S)
        assert claimer.returncode == 0


def eight_claimers(root: Path, count: int) -> None:
    post = Post(root)
    sent = post.fill(count)
    claimers = [post.claimer(held=True) for _ in range(8)]
    for claimer in claimers:
        assert claimer.stdout is not None and claimer.stdout.readline() == "ready\n"
    for claimer in claimers:
        assert claimer.stdin is not None
        claimer.stdin.write("begin\n")
        claimer.stdin.flush()
    ended(claimers)
    lines = post.lines()
    got = [line.letter for line in lines if line.word == "got"]
    assert set(got) == sent, "none is lost"
    assert len(got) == count, "none is delivered twice"
    assert {line.letter for line in lines if line.word == "ack"} == sent
    assert len({line.by for line in lines}) > 1, "more than one of them had work"
    inbox = post.inbox()
    assert os.listdir(post.folder) == [] and inbox.dead() == []
    assert len([*(root / "rio/.paos/letters/done").rglob("*.json")]) == count


def test_eight_claimers_share_two_hundred_letters(tmp_path: Path) -> None:
    eight_claimers(tmp_path, 200)


@pytest.mark.proof
def test_eight_claimers_share_ten_thousand_letters(tmp_path: Path) -> None:
    eight_claimers(tmp_path, 10_000)


def claimers_and_a_mind_that_deletes(root: Path, count: int, claimers: int) -> tuple[int, int]:
    """The mind reads a letter and removes its file, as its tools allow; it heeds no claim."""
    post = Post(root)
    sent = post.fill(count)
    processes = [post.claimer() for _ in range(claimers)]
    removed: set[str] = set()
    mind = random.Random(1)
    names = sorted(os.listdir(post.folder))
    mind.shuffle(names)
    for name in names:
        try:
            text = (post.folder / name).read_text()
            (post.folder / name).unlink()
        except FileNotFoundError:
            continue
        message = message_read(text.encode())
        removed.add(message.subject)
    ended(processes)
    got = [line.letter for line in post.lines() if line.word == "got"]
    assert set(got) | removed == sent, "none is lost"
    assert len(got) == len(set(got)), "no claimer gets what another one got"
    assert os.listdir(post.folder) == [] and post.inbox().dead() == []
    late = post.inbox()
    assert late.claim("late") is None
    late.close()
    return len(got), len(removed)


def test_claimers_beside_a_mind_that_removes_files(tmp_path: Path) -> None:
    claimers_and_a_mind_that_deletes(tmp_path, 300, 3)


@pytest.mark.proof
def test_seven_claimers_and_a_mind_that_removes_files_share_ten_thousand_letters(tmp_path: Path) -> None:
    got, removed = claimers_and_a_mind_that_deletes(tmp_path, 10_000, 7)
    print(f"{got} delivered to claimers, {removed} removed by the mind, none lost, none twice")


def killed_claimers(root: Path, count: int, kills: int, lease_s: float, claimers: int) -> tuple[int, float]:
    """(letters that were delivered again, the longest time that one of them waited beyond its lease)."""
    post = Post(root)
    sent = post.fill(count)
    chance = random.Random(7)
    living = [post.claimer(lease_s, 5 * lease_s) for _ in range(claimers)]
    for _ in range(kills):
        time.sleep(chance.uniform(0.02, 0.3))  # the moment of the kill is the experiment
        victim = living.pop(chance.randrange(len(living)))
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        living.append(post.claimer(lease_s, 5 * lease_s))
    ended(living)
    lines = post.lines()
    assert {line.letter for line in lines if line.word == "got"} == sent, "none is lost"
    assert os.listdir(post.folder) == [] and post.inbox().dead() == []
    times: dict[str, list[Line]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: line.at):
        times[line.letter].append(line)
    again, longest = 0, 0.0
    for subject, story in times.items():
        deliveries = [line for line in story if line.word == "got"]
        for before, after in pairwise(deliveries):
            again += 1
            # The line is written after the claim, so the lease began a little before it.
            waited = after.at - before.at
            assert waited > lease_s - 0.5, f"{subject} was given to a second claimer while the first had it"
            longest = max(longest, waited - lease_s)
        assert [line.word for line in story].count("ack") <= 1, f"{subject} was acknowledged twice"
    assert longest <= 1.0, f"redelivered {longest:.2f} s after the lease had ended"
    return again, longest


def test_letters_of_killed_claimers_are_delivered_again(tmp_path: Path) -> None:
    killed_claimers(tmp_path, 300, 4, 1.0, 3)


@pytest.mark.proof
def test_letters_of_two_hundred_killed_claimers_are_delivered_again(tmp_path: Path) -> None:
    again, longest = killed_claimers(tmp_path, 10_000, 200, 2.0, 8)
    print(f"200 kills: {again} delivered again, at the latest {longest:.3f} s after the lease had ended")


def letter(stem: str, subject: str) -> bytes:
    return message_write(Message(f"msg-{stem}", "theseus", "rio", "2026-03-31T18:00:00Z", subject=subject))


def wakes(root: Path, count: int) -> None:
    """One deposits, one waits; nothing but the watch tells that there is a letter. None is missed."""
    (root / "rio").mkdir(parents=True)
    inbox = Inbox(AgentDirectory(root, "rio"))
    slot = Inbox(AgentDirectory(root, "rio"))
    woken = threading.Semaphore(0)
    missed: list[int] = []

    def listen() -> None:
        for number in range(count):
            claim = inbox.claim("me", wait=30.0)
            if claim is None:
                missed.append(number)
                return
            inbox.ack(claim.token)
            woken.release()

    listener = threading.Thread(target=listen)
    listener.start()
    draft = root / "draft"
    for number in range(count):
        stem = message_names.new_name("normal", 1_774_980_000_000 + number)
        if number % 100 == 0:
            slot.deposit(Message("", "theseus", "rio", subject=str(number)))
        else:  # not durable: it is the waking that is tried
            draft.write_bytes(letter(stem, str(number)))
            draft.rename(root / f"rio/inbox/{stem}.json")
        while not woken.acquire(timeout=1.0):
            assert listener.is_alive(), f"letter {missed} was missed"
    listener.join()
    inbox.close()
    assert not missed


def test_no_wake_of_two_hundred_is_missed(tmp_path: Path) -> None:
    wakes(tmp_path, 200)


@pytest.mark.proof
def test_no_wake_of_a_hundred_thousand_is_missed(tmp_path: Path) -> None:
    wakes(tmp_path, 100_000)


def test_a_flood_that_overflows_the_watch_is_noticed(tmp_path: Path) -> None:
    """More events than the system's queue holds: everything is found by looking again."""
    (tmp_path / "rio/inbox").mkdir(parents=True)
    inbox = Inbox(AgentDirectory(tmp_path, "rio"))
    assert not inbox.wait(0) and not inbox.wait(0)  # it listens
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    draft = tmp_path / "draft"
    for number in range(limit + 10):
        draft.write_bytes(b"")
        draft.rename(tmp_path / f"rio/inbox/{number}.tmp")
    stem = message_names.new_name("normal", 1_774_980_000_000)
    draft.write_bytes(letter(stem, "after the flood"))
    draft.rename(tmp_path / f"rio/inbox/{stem}.json")
    claim = inbox.claim("me")
    assert claim is not None and claim.message.subject == "after the flood"
    inbox.close()
