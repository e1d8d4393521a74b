"""The index beside the Markdown: fresh by revision, made anew whenever it does not hold up, never in the way."""

import os
import random
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from worldfs.notes import Passage, PassageIndex, search

NOTES = [
    Passage(str(i), f"title {i}", f"the gripper slipped on thing_{i} 抓取失败", "memory.md", f"2026-01-{i + 1:02}")
    for i in range(20)
]
QUERIES = ("gripper", "thing_7", "抓取", "slipped thing_3", "nothing else")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / ".paos").mkdir()
    return tmp_path / ".paos" / "index" / "notes.sqlite"


def never() -> Iterable[Passage]:
    raise AssertionError("the index knows this revision")


def build(place: Path, notes: list[Passage] = NOTES, revision: str = "r1") -> None:
    with PassageIndex(place) as index:
        assert index.keep("memory.md", revision, lambda: notes)


def answers(index: PassageIndex) -> list[list[str]]:
    return [[hit.passage.id for hit in search(index, query)] for query in QUERIES]


def truth(notes: list[Passage] = NOTES) -> list[list[str]]:
    with PassageIndex() as index:
        index.keep("memory.md", "", lambda: notes)
        return answers(index)


def test_a_fresh_source_is_answered_without_being_read(place: Path) -> None:
    build(place)
    with PassageIndex(place) as index:
        assert index.keep("memory.md", "r1", never) is False
        assert answers(index) == truth()
        assert search(index, "thing_7")[0].passage == NOTES[7]


def test_a_stale_source_is_replaced(place: Path) -> None:
    build(place)
    changed = [Passage("new", "brand new", "a zeppelin", "memory.md"), *NOTES[5:]]
    with PassageIndex(place) as index:
        assert index.keep("memory.md", "r2", lambda: changed)
        assert [hit.passage.id for hit in search(index, "zeppelin")] == ["new"]
        assert "3" not in [hit.passage.id for hit in search(index, "thing_3", 50)]
        assert answers(index) == truth(changed)
    with PassageIndex(place) as index:
        assert index.keep("memory.md", "r2", never) is False
        assert answers(index) == truth(changed)


def test_an_unknown_revision_is_always_read_again(place: Path) -> None:
    build(place, revision="")
    with PassageIndex(place) as index:
        assert index.keep("memory.md", "", lambda: NOTES[:1]) is True
        assert answers(index) == truth(NOTES[:1])


def test_the_same_passage_twice_and_moved_ids_are_kept_apart(place: Path) -> None:
    twice = [Passage("a", "t", "gripper", "m"), Passage("b", "t", "gripper", "m")]
    with PassageIndex(place) as index:
        index.keep("m", "1", lambda: twice)
        assert {hit.passage.id for hit in search(index, "gripper")} == {"a", "b"}
        index.keep("m", "2", lambda: [Passage("c", "t", "gripper", "m")])
        assert [hit.passage.id for hit in search(index, "gripper")] == ["c"]


def test_only_sources_that_were_named_answer(place: Path) -> None:
    with PassageIndex(place) as index:
        index.keep("a.md", "1", lambda: [Passage("a", "gripper", "", "a.md")])
        index.keep("b.md", "1", lambda: [Passage("b", "gripper", "", "b.md")])
        assert len(search(index, "gripper")) == 2
    with PassageIndex(place) as index:
        assert search(index, "gripper") == []
        index.keep("b.md", "1", never)
        assert [hit.passage.id for hit in search(index, "gripper")] == ["b"]


def test_any_damage_is_noticed_and_mended(place: Path) -> None:
    build(place)
    good = place.read_bytes()
    chance = random.Random(7)
    damaged = [b"", b"\0" * 4096, b"no database at all", good[:-1], good[: len(good) // 2], good + b"\n", good[4096:]]
    for _ in range(40):
        at = chance.randrange(len(good))
        damaged.append(good[:at] + bytes([good[at] ^ (1 << chance.randrange(8))]) + good[at + 1 :])
        start = chance.randrange(len(good))
        damaged.append(good[:start] + bytes(min(512, len(good) - start)) + good[start + 512 :])
    for data in damaged:
        place.write_bytes(data)
        with PassageIndex(place) as index:
            read = index.keep("memory.md", "r1", lambda: NOTES)
            assert answers(index) == truth()
            assert read or data == good
        with PassageIndex(place) as index:
            assert index.keep("memory.md", "r1", never) is False


def test_another_version_and_another_programs_database_are_replaced(place: Path) -> None:
    build(place)
    good = place.read_bytes()
    foreign = place.with_name("foreign")
    db = sqlite3.connect(foreign)
    db.execute("CREATE TABLE passages (x)")
    db.commit()
    db.close()
    for data in (good.replace(b"paos-notes 1 ", b"paos-notes 0 "), foreign.read_bytes()):
        place.write_bytes(data)
        with PassageIndex(place) as index:
            assert index.keep("memory.md", "r1", lambda: NOTES) is True
            assert answers(index) == truth()
        assert place.read_bytes()[-32:-16] == good[-32:-16]


def test_a_database_that_another_program_holds_locked_is_no_obstacle(place: Path) -> None:
    build(place)
    db = sqlite3.connect(place, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    try:
        with PassageIndex(place) as index:
            assert index.keep("memory.md", "r1", never) is False
            assert answers(index) == truth()
            assert index.keep("memory.md", "r2", lambda: NOTES[:3]) is True
            assert answers(index) == truth(NOTES[:3])
    finally:
        db.close()


def test_people_can_open_it_with_sqlite(place: Path) -> None:
    build(place)
    db = sqlite3.connect(f"file:{place}?mode=ro", uri=True)
    assert db.execute("SELECT count(*) FROM words WHERE words MATCH 'gripper'").fetchone() == (20,)
    db.close()


def test_without_a_machine_kept_place_nothing_is_written(tmp_path: Path) -> None:
    place = tmp_path / ".paos" / "index" / "notes.sqlite"
    build(place)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_it_answers_all_the_same(place: Path) -> None:
    place.parent.write_text("a file in the folder's place")
    with PassageIndex(place) as index:
        index.keep("memory.md", "r1", lambda: NOTES)
        assert answers(index) == truth()
    assert place.parent.read_text() == "a file in the folder's place"


def test_a_directory_or_a_pipe_in_its_place_is_no_obstacle(place: Path) -> None:
    place.parent.mkdir()
    place.mkdir()
    (place / "x").write_text("kept")
    build(place)
    assert [path.name for path in place.parent.iterdir()] == ["notes.sqlite"]
    (place / "x").unlink()
    place.rmdir()
    os.mkfifo(place)
    with PassageIndex(place) as index:
        assert index.keep("memory.md", "r1", lambda: NOTES) is True
        assert answers(index) == truth()


@pytest.mark.parametrize("link", [".paos", ".paos/index", ".paos/index/notes.sqlite"])
def test_no_link_is_followed(tmp_path: Path, link: str) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    place = root / ".paos" / "index" / "notes.sqlite"
    build_at = outside / "x" / "index" / "notes.sqlite"
    (outside / "x").mkdir(parents=True)
    root.mkdir()
    build(build_at)
    before = build_at.read_bytes()
    target = {".paos": build_at.parents[1], ".paos/index": build_at.parent, ".paos/index/notes.sqlite": build_at}[link]
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(target)
    with PassageIndex(place) as index:
        assert index.keep("memory.md", "r1", lambda: NOTES[:2]) is True
        assert answers(index) == truth(NOTES[:2])
    assert build_at.read_bytes() == before


def test_a_half_written_file_of_a_dead_process_stays_unseen(place: Path) -> None:
    build(place)
    leftover = place.with_name(f"{place.name}.{os.getpid()}.new")
    leftover.write_bytes(b"half")
    build(place, NOTES[:4], "r2")
    assert not leftover.exists()
    with PassageIndex(place) as index:
        assert index.keep("memory.md", "r2", never) is False
