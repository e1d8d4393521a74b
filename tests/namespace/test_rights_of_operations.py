"""Every operation of the tree asks for its right: what may not be seen does not exist, however it is asked."""

import pytest

from worldfs.access.judge import require
from worldfs.access.roles import OPERATOR
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, NotFound, NotPermitted
from worldfs.namespace.tree import Tree
from worldfs.storage.memory_store import MemoryStore
from worldfs.tree.row_table import FileKind, FileRow, RowTable

PATH = "/a/secret"
ROW = FileRow(PATH, FileKind.RECORD, "", readers=frozenset({"planner"}), writers={"critic": ""}, key="secret")
COMPUTED = FileRow("/a/now", FileKind.VIEW, "", readers=frozenset({"planner"}), view="now")
READING = {
    "read": lambda tree, actor: tree.read(PATH, actor),
    "fetch": lambda tree, actor: tree.fetch(PATH, actor),
    "probe": lambda tree, actor: tree.probe(PATH, actor),
    "stat": lambda tree, actor: tree.stat(PATH, actor),
    "list": lambda tree, actor: [entry.name for entry in tree.list("/a", actor)].index("secret"),
    "watch": lambda tree, actor: tree.watch(PATH, actor).close(),
    "wait": lambda tree, actor: tree.wait(PATH, actor, lambda data: True, timeout=0),
}


class Rooms:
    def __init__(self):
        self.kept = MemoryStore()
        self.kept.put("secret", b"what nobody else may know")

    def store(self, row, names):
        return self.kept

    def key(self, row, names):
        return row.key

    def names(self, room, variable, names):
        return []

    def holds(self, room, names):
        return True

    def exists(self, row, names):
        return True


@pytest.fixture
def tree():
    return Tree(RowTable((ROW, COMPUTED)), Rooms(), {})


@pytest.mark.parametrize("name", READING)
def test_what_a_role_may_not_read_is_not_there_for_any_operation(tree, name):
    for actor in ("planner", "critic", OPERATOR):  # a writer reads back what it writes
        READING[name](tree, actor)
    with pytest.raises((NotFound, ValueError)):  # a listing leaves it out
        READING[name](tree, "stranger")


def test_only_a_writer_writes_and_who_may_not_see_it_is_not_told_that_it_is_there(tree):
    tree.write(PATH, b"new", "critic")
    with pytest.raises(NotPermitted):
        tree.write(PATH, b"newer", "planner")
    with pytest.raises(NotFound):
        tree.write(PATH, b"newest", "stranger")
    assert tree.read(PATH, "planner") == b"new"


def test_what_is_computed_has_no_changes_of_its_own(tree):
    with pytest.raises(BadInput):
        tree.watch(COMPUTED.pattern, "planner")


@pytest.mark.parametrize("name", ["read", "fetch", "probe", "stat", "watch"])
def test_what_no_row_describes_is_not_there(tree, name):
    with pytest.raises(NotFound):
        getattr(tree, name)("/a/nothing", OPERATOR)


def test_what_may_not_be_seen_is_not_there_to_be_removed():
    with pytest.raises(NotFound):
        require("watchdog", Verb.REMOVE, ROW, PATH)
    with pytest.raises(NotPermitted):
        require("planner", Verb.REMOVE, COMPUTED, "/a/now")


def test_a_wait_whose_time_is_up_ends_without_a_change(tree):
    assert tree.wait(PATH, "planner", lambda data: False, timeout=0) is None
