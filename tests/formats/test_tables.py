"""Pipe tables: found by header, changed cell by cell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.formats import markdown_tables, prose


def found(text: str) -> list[markdown_tables.MarkdownTable]:
    lines = prose.split(text)
    return markdown_tables.find(lines, prose.visible(lines, list(prose.fences(lines))))


def test_columns_are_found_by_header_text_in_any_order_and_case() -> None:
    (table,) = found("| **Description** | `NAME` (id) |\n|---|:--:|\n| what | it |\n")
    assert table.named({"id": ("name",), "text": ("description",), "none": ("absent",)}) == {"id": 1, "text": 0}


def test_a_table_inside_a_fence_is_none() -> None:
    assert found("```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n") == []


def test_a_table_without_outer_bars_reads() -> None:
    (table,) = found("a | b\n--- | ---\n1 | 2\n\nafter | it\n")
    assert table.rows == (("1", "2"),)


def test_an_escaped_bar_stays_inside_its_cell() -> None:
    assert markdown_tables.values(r"| a \| b | c \\ | d\e |") == ["a | b", "c \\", r"d\e"]


def test_a_short_row_reads_with_empty_cells_and_can_be_filled() -> None:
    (table,) = found("| a | b | c |\n|---|---|---|\n| 1 |\n")
    assert table.rows == (("1", "", ""),)
    assert markdown_tables.values(markdown_tables.replace("| 1 |\n", 2, "x")) == ["1", "", "x"]


def test_one_cell_changes_and_every_other_byte_stays() -> None:
    line = "|  one |two   | ⏳ running | \\| |\r\n"
    assert markdown_tables.replace(line, 2, "✅ done") == "|  one |two   | ✅ done    | \\| |\r\n"


def test_wide_signs_count_two_columns_when_padding() -> None:
    assert markdown_tables.render(("动作", "b"), [("abcdef", "苹果")]) == [
        "| 动作   | b    |",
        "|--------|------|",
        "| abcdef | 苹果 |",
    ]


@pytest.mark.parametrize("text", ["a|b", "a\nb", "a\\", "\\|", "|", "a\u2028b", "\x00x", "# `x`"])
def test_a_cell_cannot_leave_its_row(text: str) -> None:
    line = markdown_tables.row(["id", text, "end"])
    assert len(line.splitlines()) == 1
    assert markdown_tables.values(line) == ["id", prose.one_line(text), "end"]


@settings(deadline=None)  # the machine is shared
@given(st.lists(st.text(max_size=20), min_size=1, max_size=5), st.data())
def test_what_is_written_into_a_cell_reads_back(cells: list[str], data: st.DataObject) -> None:
    line = markdown_tables.row(cells)
    column = data.draw(st.integers(0, len(cells) - 1))
    value = data.draw(st.text(max_size=20))
    after = markdown_tables.values(markdown_tables.replace(line, column, value))
    expected = [prose.one_line(c) for c in cells]
    expected[column] = prose.one_line(value)
    assert after == expected
