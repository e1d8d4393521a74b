"""Directories that are kept open: what is read of them is what is there now, whoever else reads."""

from __future__ import annotations

from pathlib import Path

from worldfs.ground.dir_reader import DirReader


def test_names_that_came_after_a_directory_was_opened_are_listed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    folder = DirReader(tmp_path).folder("a")
    assert folder.names() == []
    (tmp_path / "a/one").touch()
    assert folder.names() == ["one"]
    (tmp_path / "a/two").touch()
    assert sorted(folder.names()) == ["one", "two"]


def test_who_lists_a_directory_takes_nothing_from_who_lists_it_too(tmp_path: Path) -> None:
    every = {f"{number:04}" for number in range(3000)}  # more than one reading of the system gives
    for name in every:
        (tmp_path / name).touch()
    folder = DirReader(tmp_path).folder("")
    with folder.scan() as entries:
        first = next(entries).name
        assert set(folder.names()) == every
        assert {first, *(entry.name for entry in entries)} == every
