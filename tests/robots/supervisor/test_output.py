"""The log keeps the first and the last of what was said, without secrets, and never grows."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.durable import Disk, Root
from worldfs.supervisor.output_log import GAP, MOST, PIECE, OutputLog, join

KEY = "-----BEGIN PRIVATE KEY-----\n" + "QUJD" * 16 + "\n" + "REVG" * 16 + "\n-----END PRIVATE KEY-----\n"


def hide(text: str) -> str:
    """A redactor as ours are: whole tokens, and key blocks of many lines."""
    text = re.sub(r"-----BEGIN [A-Z ]+-----.*?-----END [A-Z ]+-----", "[redacted:key]", text, flags=re.S)
    return re.sub(r"\bsk-[a-z0-9]{20}\b", "[redacted:token]", text)


class Desk:
    """A log whose time is moved by hand."""

    def __init__(self, path: Path, most: int = MOST, disk: Disk | None = None) -> None:
        self.root = Root(path, disk)
        self.time = 0.0
        self.folder = path / "s"
        self.log = OutputLog(self.root, "s", hide, most=most, now=lambda: self.time)

    def say(self, data: bytes, seconds: float = 1.0) -> None:
        self.time += seconds
        self.log.write(data)

    def text(self) -> bytes:
        self.log.close()
        assert [one.name for one in self.folder.iterdir()] == ["output.log"]
        return (self.folder / "output.log").read_bytes()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_what_is_short_is_kept_whole(desk: Desk) -> None:
    desk.say(b"one\ntwo\n")
    desk.say("三\n".encode())
    desk.say(b"no end")
    assert desk.text() == "one\ntwo\n三\nno end".encode()
    assert desk.log.last_line == "no end" and desk.log.received_bytes == 18


def test_a_silent_command_has_no_log(desk: Desk) -> None:
    desk.log.close()
    assert not desk.folder.exists()


def test_bytes_that_are_no_text_are_kept_as_they_are(desk: Desk) -> None:
    data = bytes(range(256)) * 1000
    desk.say(data)
    assert desk.text() == data


def test_of_much_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    desk = Desk(tmp_path, most=10_000)
    for n in range(10_000):
        desk.say(b"line %06d\n" % n)
    text = desk.text()
    assert text.startswith(b"line 000000\nline 000001\n") and text.endswith(b"line 009998\nline 009999\n")
    first, last = text.split(GAP)
    assert len(first) == 10_000 and 9_900 < len(last) <= 10_000
    assert last.startswith(b"line ")


def test_what_comes_faster_than_it_is_written_is_left_out(tmp_path: Path) -> None:
    desk = Desk(tmp_path, most=100_000)
    desk.say(b"first\n" * 20_000)
    for n in range(40):  # all within one moment
        desk.say(b"line %06d\n" % n * 1000, seconds=0)
    first, last = desk.text().split(GAP)
    assert len(first) == 100_000 and first.startswith(b"first\n")
    assert 90_000 < len(last) <= 100_000 and last.startswith(b"line 00003") and last.endswith(b"line 000039\n")


def test_sixty_four_megabytes_take_a_few(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    line = b"x" * (PIECE - 1) + b"\n"
    desk.say(line)
    tracemalloc.start()
    for _ in range(1024):
        desk.say(line, seconds=0.01)
    desk.log.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 << 20
    assert desk.log.received_bytes == 64 << 20 | PIECE
    assert sum(one.stat().st_size for one in desk.folder.iterdir()) < (2 << 20) + 1000


def test_one_endless_line_takes_no_more(tmp_path: Path) -> None:
    desk = Desk(tmp_path, most=200_000)
    tracemalloc.start()
    for _ in range(60):
        desk.say(b"z" * PIECE, seconds=0.3)
    text = desk.text()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 << 20
    assert 200_000 < len(text) < 420_000


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_a_secret_is_hidden_however_it_arrives(size: int, desk: Desk) -> None:
    data = (f"token sk-{'a1' * 10}, and a key:\n{KEY}done\n" * 20).encode()
    for at in range(0, len(data), size):
        desk.say(data[at : at + size])
    text = desk.text()
    assert text == b"token [redacted:token], and a key:\n[redacted:key]\ndone\n" * 20


def test_a_secret_in_a_line_without_end_is_not_cut_in_two(desk: Desk) -> None:
    desk.say(b"x " * (PIECE // 2 - 8) + b"sk-" + b"a1" * 5)
    desk.say(b"a1" * 5 + b" and on")
    assert desk.text().endswith(b"x [redacted:token] and on")


def test_what_is_left_of_a_secret_after_a_gap_goes_too(tmp_path: Path) -> None:
    desk = Desk(tmp_path, most=70_000)
    desk.say(b"first\n" * 20_000)
    desk.say(b"y" * 60_000 + b"\n-----BEGIN PRIVATE KEY-----\nQUJDQUJD\n", seconds=0)
    # Marks are shorter than tokens: the log has room again for what stands before them.
    desk.say(b"REVGREVG\n-----END PRIVATE KEY-----\nafter\n" + b"sk-a1a1a1a1a1a1a1a1a1a1\n" * 3_000, seconds=0)
    text = desk.text()
    assert b"QUJD" not in text and b"REVG" not in text and b"PRIVATE" not in text
    assert text.endswith(GAP + b"after\n" + b"[redacted:token]\n" * 3_000)


def test_the_last_words_are_on_disk_before_the_end(desk: Desk) -> None:
    desk.say(b"one\n")
    desk.say(b"two\n", seconds=0.01)
    assert (desk.folder / "output.log").read_bytes() == b"one\n" and desk.log.behind
    desk.log.flush()
    assert (desk.folder / "output.log").read_bytes() == b"one\ntwo\n" and not desk.log.behind


def test_parts_that_a_killed_runner_left_are_joined_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path, most=10_000)
    for n in range(5_000):
        desk.say(b"line %06d\n" % n)
    assert len(list(desk.folder.iterdir())) == 3
    again = Root(tmp_path)
    parts = {one.name: one.read_bytes() for one in desk.folder.iterdir() if one.name != "output.log"}
    join(again, "s", most=10_000)
    text = (desk.folder / "output.log").read_bytes()
    assert text.startswith(b"line 000000\n") and text.endswith(b"line 004999\n")
    for name, data in parts.items():  # killed in the midst of joining
        (desk.folder / name).write_bytes(data)
    join(again, "s", most=10_000)
    assert (desk.folder / "output.log").read_bytes() == text


def test_a_full_disk_ends_the_log_and_nothing_else(tmp_path: Path) -> None:
    def full(name: str, path: str) -> None:
        if name == "append" and "output" in path:
            raise OSError(28, "No space left on device")

    desk = Desk(tmp_path, disk=Disk(full))
    desk.say(b"one\n")
    desk.say(b"two\n")
    desk.log.close()
    assert "No space left" in desk.log.fault and desk.log.received_bytes == 8


def test_a_session_goes_on_when_its_log_cannot(stage: Any) -> None:
    def full(name: str, path: str) -> None:
        if name == "append" and "output" in path:
            raise OSError(28, "No space left on device")

    book = type(stage.book)(stage.tmp / "other", disk=Disk(full))
    ended = stage._replace(book=book).run("/bin/sh", "-c", "echo one; sleep 0.3; echo two")
    assert ended.outcome == "completed" and ended.log == ""
    assert "its output is not kept" in ended.errors[0] and "No space left" in ended.errors[0]
    book.agent_dir.close()
