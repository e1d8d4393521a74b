"""Every operation of the tree asks for its right: what may not be seen does not exist, however it is asked."""

import pytest

from worldfs.access.judge import require
from worldfs.access.roles import OPERATOR
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, NotFound, NotPermitted
from worldfs.namespace.namespace import Namespace
from worldfs.namespace.tree import Tree
from worldfs.storage.memory_store import MemoryStore
from worldfs.tree.row_table import FileKind, FileRow, RowTable
from worldfs.world.computed_files import ViewFile

PATH = "/a/secret"
ROW = FileRow(PATH, FileKind.RECORD, "", readers=frozenset({"planner"}), writers={"critic": ""}, key="secret")
COMPUTED = FileRow("/a/now", FileKind.VIEW, "", readers=frozenset({"planner"}), view="now")
READING = {
    "read": lambda space: space.read(PATH),
    "stat": lambda space: space.stat(PATH),
    "stat without a size": lambda space: space.walk(PATH).stat(sized=False),
    "list": lambda space: space.list("/a").index("secret"),
    "entries": lambda space: [entry.path for entry in space.walk("/a").entries()].index(PATH),
    "source": lambda space: space.source(PATH),
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
    return Tree(RowTable((ROW, COMPUTED)), Rooms(), {"now": ViewFile(lambda names: b"now")})


@pytest.mark.parametrize("name", READING)
def test_what_a_role_may_not_read_is_not_there_for_any_operation(tree, name):
    for actor in ("planner", "critic", OPERATOR):  # a writer reads back what it writes
        READING[name](Namespace(tree, actor))
    with pytest.raises((NotFound, ValueError)):  # a listing leaves it out
        READING[name](Namespace(tree, "stranger"))


def test_only_a_writer_writes_and_who_may_not_see_it_is_not_told_that_it_is_there(tree):
    Namespace(tree, "critic").write(PATH, b"new")
    with pytest.raises(NotPermitted):
        Namespace(tree, "planner").write(PATH, b"newer")
    with pytest.raises(NotFound):
        Namespace(tree, "stranger").write(PATH, b"newest")
    assert Namespace(tree, "planner").read(PATH).data == b"new"


def test_what_is_computed_has_no_changes_of_its_own(tree):
    with pytest.raises(BadInput):
        Namespace(tree, "planner").source(COMPUTED.pattern)


@pytest.mark.parametrize("name", ["read", "stat", "list", "walk", "target", "source"])
def test_what_no_row_describes_is_not_there(tree, name):
    with pytest.raises(NotFound):
        getattr(Namespace(tree, OPERATOR), name)("/a/nothing")


def test_what_may_not_be_seen_is_not_there_to_be_removed():
    with pytest.raises(NotFound):
        require("watchdog", Verb.REMOVE, ROW, PATH)
    with pytest.raises(NotPermitted):
        require("planner", Verb.REMOVE, COMPUTED, "/a/now")
