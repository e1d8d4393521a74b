"""Names made and unmade in a home's own tree: what is refused, and with which words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from worldfs.base.errors import BadInput, Exists, NotFound, NotPermitted
from worldfs.namespace.namespace import Namespace
from worldfs.storage.memory_store import MemoryStore
from worldfs.tree.path import segments
from worldfs.world.world import World

ART = "/projects/main/artifacts"
HERE = f"{ART}/here.txt"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    store = MemoryStore()
    store.put("artifacts/here.txt", b"here")
    world = World.open(tmp_path, store=store)
    yield world
    world.close()


def test_what_is_not_there_is_neither_removed_nor_renamed_nor_a_place_for_a_directory(world: World) -> None:
    tree = world.tree
    for change in (
        lambda: tree.remove(segments(f"{ART}/gone"), "operator"),
        lambda: tree.rename(segments(f"{ART}/gone"), "operator", segments(f"{ART}/new")),
        lambda: tree.mkdir(segments(f"{ART}/gone/new"), "operator"),
    ):
        with pytest.raises(NotFound) as refused:
            change()
        assert str(refused.value.found) == "no such file or directory"


def test_a_directory_is_made_in_a_directory_and_only_once(world: World) -> None:
    tree = world.tree
    tree.mkdir(segments(f"{ART}/new"), "operator")
    for there in (f"{ART}/new", ART, "/projects", "/"):  # names of the layout, too, are there before they are refused
        with pytest.raises(Exists, match="already exists"):
            tree.mkdir(segments(there), "operator")
    with pytest.raises(BadInput) as refused:
        tree.mkdir(segments(f"{HERE}/new"), "operator")
    assert str(refused.value.found) == "a file where a directory is needed" and refused.value.code == "enotdir"


def test_a_name_stays_in_its_row(world: World) -> None:
    for new in ("/projects/main/ENVIRONMENT.md", "/nowhere/at/all"):
        with pytest.raises(NotPermitted):
            world.tree.rename(segments(HERE), "operator", segments(new))
    assert world.namespace("operator").read(HERE).data == b"here"


def test_a_computed_file_that_is_not_there_is_named_before_anything_is_written(world: World) -> None:
    with pytest.raises(NotFound) as refused:
        world.namespace("operator").target("/versions/none")
    assert refused.value.path == "/versions/none"


def test_a_role_that_sees_nothing_there_is_told_that_there_is_nothing(world: World) -> None:
    nobody: Namespace = world.namespace("stranger")
    for path in (HERE, f"{ART}/gone", "/projects/main/ENVIRONMENT.md"):
        with pytest.raises(NotFound) as refused:
            nobody.read(path)
        assert refused.value.found and "stranger" in str(refused.value), refused.value
        with pytest.raises(NotFound):
            nobody.write(path, b"x")
