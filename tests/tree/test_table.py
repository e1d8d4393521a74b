"""The table as a trie: what a path may be, the most literal first, whatever the order of the rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.tree.row_table import FileKind, FileRow, RowTable
from worldfs.world.layout import ROWS, served_table


def rows(*patterns):
    return RowTable(tuple(FileRow(pattern, FileKind.RECORD, "") for pattern in patterns))


def test_a_written_name_is_found_before_a_variable_and_a_variable_before_a_rest():
    found = rows("/a/{rest*}", "/a/{x}", "/a/b").find_all(("a", "b"))
    assert [row.pattern for row, _ in found] == ["/a/b", "/a/{x}", "/a/{rest*}"]
    assert [names for _, names in found] == [{}, {"x": "b"}, {"rest": "b"}]


def test_a_rest_takes_everything_that_is_left():
    assert rows("/a/{x}/{rest*}").find("/a/1/2/3")[1] == {"x": "1", "rest": "2/3"}


def test_a_rest_takes_at_least_one_name():
    assert rows("/a/{rest*}").find("/a") is None


def test_no_row_no_find():
    assert rows("/a/b").find("/a/c") is None
    assert rows("/a/b").find("/a/b/c") is None
    assert rows("/a/b").find("/a") is None


@pytest.mark.parametrize(
    "pair", [("/a/b", "/a/b"), ("/a/{x}", "/a/{x}"), ("/a/{x*}", "/a/{y*}"), ("/a/{x}", "/a/{y}/z")]
)
def test_two_rows_for_one_place_are_a_mistake(pair):
    with pytest.raises(ValueError, match="already"):
        rows(*pair)


def test_what_may_lie_below_a_directory():
    below = {(part, last) for part, _, _, last in rows("/a/b/c", "/a/d", "/a/{x}/e", "/z").below("/a")}
    assert below == {("b", False), ("d", True), ("{x}", False)}


@given(st.sampled_from(ROWS), st.data())
def test_every_row_of_the_layout_is_found_by_an_instance_of_its_pattern(row, data):
    name = st.text("abcXYZ019_-.", min_size=1, max_size=8).filter(lambda text: text not in (".", ".."))
    parts = []
    for part in row.pattern.strip("/").split("/"):
        if part.endswith("*}"):
            parts += data.draw(st.lists(name, min_size=1, max_size=3))
        else:
            parts.append(data.draw(name) if part.startswith("{") else part)
    assert row.pattern in [found.pattern for found, _ in LAYOUT.find_all(parts)]


LAYOUT = served_table()
