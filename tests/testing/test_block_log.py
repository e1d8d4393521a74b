"""A log of block writes gives the disks that a power cut may leave."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from worldfs.testing.block_log import BLOCK, DISCARD, FLUSH, FUA, MARK, BlockLog, put, replay, split, write_image

SECTOR = 512
HEAD = struct.pack("<QQQI", 0x6A736677736872, 1, 0, SECTOR).ljust(SECTOR, b"\0")


def entry(at: int = 0, data: bytes = b"", flags: int = 0, size: int = 0) -> bytes:
    """As dm-log-writes lays it out. `at`, `size`: in sectors."""
    count = len(data) // SECTOR or size
    return struct.pack("<QQQQ", at, count, flags, 0).ljust(SECTOR, b"\0") + data


def sector(letter: str, count: int = 1) -> bytes:
    return letter.encode() * SECTOR * count


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log"


def images(path: Path, *entries: bytes, begin: int = 0, lots: int = 0) -> list[tuple[int, str]]:
    """After how many entries, and the first letters of the first sectors; "." for zeros."""
    path.write_bytes(HEAD + b"".join(entries) + bytes(4 * SECTOR))
    log = BlockLog(path)
    log.follow()
    found = []
    for cut in replay(log, begin, lots=lots):
        disk = b"".join(cut.blocks.get(number, bytes(BLOCK)) for number in range(3))
        shown = "".join(chr(disk[place] or ord(".")) for place in range(0, len(disk), BLOCK))
        found.append((cut.after, shown))
    log.close()
    return found


def test_what_was_not_flushed_may_be_there_or_not(path: Path) -> None:
    found = images(path, entry(0, sector("a", 8)), entry(flags=FLUSH), entry(8, sector("b", 8)))
    assert found == [(0, "..."), (1, "a.."), (1, "..."), (2, "a.."), (3, "ab."), (3, "a..")]


def test_any_of_the_writes_that_were_not_flushed_may_be_missing(path: Path) -> None:
    entries = [entry(0, sector("a", 8)), entry(8, sector("b", 8)), entry(16, sector("c", 8))]
    found = {shown for after, shown in images(path, *entries, lots=64) if after == 3}
    assert found == {"...", "a..", ".b.", "..c", "ab.", "a.c", ".bc", "abc"}


def test_a_long_write_may_be_torn_between_blocks(path: Path) -> None:
    found = {shown for _, shown in images(path, entry(0, sector("a", 24)), lots=64)}
    assert found == {"...", "a..", ".a.", "..a", "aa.", "a.a", ".aa", "aaa"}


def test_a_write_with_fua_is_there_without_a_flush_and_the_others_are_not(path: Path) -> None:
    found = images(path, entry(0, sector("a", 8)), entry(8, sector("b", 8), FUA), begin=2)
    assert found == [(2, "ab."), (2, ".b.")]


def test_a_flush_with_data_makes_durable_what_was_before_it_only(path: Path) -> None:
    found = images(path, entry(0, sector("a", 8)), entry(8, sector("b", 8), FLUSH), begin=2)
    assert found == [(2, "ab."), (2, "a..")]


def test_a_discard_leaves_zeros_and_a_mark_nothing(path: Path) -> None:
    found = images(
        path, entry(0, sector("a", 24)), entry(flags=MARK), entry(8, flags=DISCARD, size=8), entry(flags=FLUSH), begin=4
    )
    assert found == [(4, "a.a")]


def test_later_writes_of_a_part_of_a_block_keep_the_rest() -> None:
    blocks = put({}, [*split(0, b"a" * BLOCK), *split(BLOCK - 2, b"bbbb")])
    assert blocks == {0: b"a" * (BLOCK - 2) + b"bb", 1: b"bb" + bytes(BLOCK - 2)}


def test_a_log_is_followed_while_it_grows(path: Path) -> None:
    path.write_bytes(HEAD + entry(0, sector("a")))
    log = BlockLog(path)
    assert log.follow() == 1
    with path.open("ab") as file:
        file.write(entry(1, sector("b")) + entry(flags=FLUSH))
    assert log.follow() == 3
    assert log.data(log.entries[1]) == sector("b")
    log.close()


def test_what_is_no_log_is_refused(path: Path) -> None:
    path.write_bytes(bytes(SECTOR))
    with pytest.raises(ValueError, match="expected a log of block writes"):
        BlockLog(path)


def test_a_log_that_ends_within_an_entry_is_refused(path: Path) -> None:
    path.write_bytes(HEAD + entry(0, sector("a", 8))[:-1])
    log = BlockLog(path)
    log.follow()
    with pytest.raises(ValueError, match="the log ends"):
        log.data(log.entries[0])
    log.close()


def test_an_image_is_as_long_as_the_disk_and_keeps_nothing_of_the_last(path: Path) -> None:
    write_image({0: b"a" * BLOCK, 2: b"c" * BLOCK}, path, 4 * BLOCK)
    write_image({1: b"b" * BLOCK}, path, 4 * BLOCK)
    assert path.read_bytes() == bytes(BLOCK) + b"b" * BLOCK + bytes(2 * BLOCK)
