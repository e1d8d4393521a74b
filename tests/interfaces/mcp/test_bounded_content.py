"""Content cut to what a client can show: never more than the most, and what is beyond the end is nothing."""

from __future__ import annotations

import pytest

from worldfs.interfaces.mcp.bounded_content import BYTES_MOST, page, piece


@pytest.mark.parametrize(
    ("data", "offset", "count", "start", "shown", "left"),
    [
        (b"abc", 1, 1, 1, 1, 1),
        (b"abc", 9, 5, 3, 0, 0),  # beyond the end
        (bytes(BYTES_MOST + 9), 0, BYTES_MOST + 9, 0, BYTES_MOST, 9),
        (b"\xff" * (BYTES_MOST + 9), 0, BYTES_MOST, 0, BYTES_MOST, BYTES_MOST // 4 + 9),  # base64 is longer
    ],
)
def test_a_piece_is_within_the_data_and_within_the_most(
    data: bytes, offset: int, count: int, start: int, shown: int, left: int
) -> None:
    found = piece(data, offset, count)
    assert (found["offset"], len(found["text"]), found.get("bytes_left_out", 0)) == (start, shown, left)


def test_a_page_beyond_the_end_is_empty_and_leaves_nothing_out() -> None:
    assert page("abc", 1, 1) == ("b", {"entries_left_out": 1, "next_offset": 2})
    assert page("abc", 9, 5) == ("", {})
