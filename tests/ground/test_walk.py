"""Directories that are kept open: what is read of them is what is there now, whoever else reads."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import product
from pathlib import Path

import pytest

from worldfs.ground.errors import BadInput, Unsafe
from worldfs.ground.walk import Walk, check


def test_names_that_came_after_a_directory_was_opened_are_listed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    folder = Walk(tmp_path).folder("a")
    assert folder.names() == []
    (tmp_path / "a/one").touch()
    assert folder.names() == ["one"]
    (tmp_path / "a/two").touch()
    assert sorted(folder.names()) == ["one", "two"]


def test_who_lists_a_directory_takes_nothing_from_who_lists_it_too(tmp_path: Path) -> None:
    every = {f"{number:04}" for number in range(3000)}  # more than one reading of the system gives
    for name in every:
        (tmp_path / name).touch()
    folder = Walk(tmp_path).folder("")
    with folder.scan() as entries:
        first = next(entries).name
        assert set(folder.names()) == every
        assert {first, *(entry.name for entry in entries)} == every


def test_a_path_passes_if_it_is_names_between_single_slashes_and_none_of_them_leads_elsewhere() -> None:
    for count in range(7):
        for signs in product("a./", repeat=count):
            path = "".join(signs)
            wrong = not path or any(part in ("", ".", "..") for part in path.split("/"))
            with pytest.raises((BadInput, Unsafe)) if wrong else nullcontext():
                check(path)


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, "\U00020000" * 63])
def test_a_name_may_be_as_long_as_file_systems_keep_it_and_no_longer(name: str) -> None:
    check(f"folder/{name}")
    with pytest.raises(BadInput, match="a name of"):
        check(f"folder/{name}{name[0]}")


@pytest.mark.parametrize("path", ["a\0b", "a\x1fb", "a\x7f", "\x9b"])
def test_control_characters_are_refused_in_short_paths_too(path: str) -> None:
    with pytest.raises((BadInput, Unsafe)):
        check(path)
