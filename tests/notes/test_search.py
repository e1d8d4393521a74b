"""One search over remembered things: words, stems, ids, Chinese; a query is data."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.notes import Passage, search

MEMORY = [
    Passage("0", "Cross-Session Patterns", "Conditional AMMs keep appearing, 3+ independent sources", at="2026-03-31"),
    Passage("1", "Cross-Session Patterns", "@0xfbifemboy consistently produces highest-signal threads."),
    Passage("2", "Dead Ends", "Jupiter governance token utility: vaporware, no mechanism to analyze.", at="2026-03-27"),
    Passage("3", "Dead Ends", "act_20260331_01 failed at [1.8, 0.75]: apple_01 unreachable by rule", at="2026-03-25"),
    Passage("4", "Open Questions", "How does futarchy handle low-liquidity markets?"),
    Passage("5", "抓取失败：物体超出臂展", "移动底盘再试。最大臂展为 0.855 米", at="2026-03-30"),
    Passage("6", "导航", "椅子挡住了去厨房的路，ＡＭＭ 无关", at="2026-03-29"),
]  # fmt: skip


def ids(query: str, limit: int = 10) -> list[str]:
    return [hit.passage.id for hit in search(MEMORY, query, limit)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("producing thread", ["1"]),
        ("mechanisms analyzed", ["2"]),
        ("market", ["4"]),
        ("liquid", ["4"]),
        ("vapor", ["2"]),
        ("apple_01", ["3"]),
        ("apple", ["3"]),
        ("act_20260331_01", ["3"]),
        ("0xfbifemboy", ["1"]),
        ("0xFBIFEMBOY", ["1"]),
        ("1.8", ["3"]),
        ("0.855", ["5"]),
        ("low-liquidity", ["4"]),
        ("the futarchy of it", ["4"]),
    ],
)
def test_english_words_are_found_by_stem_beginning_and_part(query: str, found: list[str]) -> None:
    assert ids(query) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("椅", ["6"]),
        ("臂", ["5"]),
        ("臂展", ["5"]),
        ("厨房", ["6"]),
        ("超出臂展怎么办", ["5"]),
        ("去厨房的路 椅子", ["6"]),
        ("展臂", []),
        ("厨路", []),
    ],
)
def test_chinese_is_found_by_one_sign_and_by_neighbours_only(query: str, found: list[str]) -> None:
    assert ids(query) == found


def test_wide_letters_are_the_same_letters() -> None:
    assert set(ids("ＡＭＭ")) == set(ids("amm")) == {"0", "6"}
    assert ids("ａｐｐｌｅ＿０１") == ["3"]


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "*",
        '"',
        "((",
        "NEAR(",
        '" OR 1=1 --',
        "^",
        "title:",
        "{title text}:",
        "\x00",
        "-",
        "+",
        "zeppelin",
        "1",
    ],
)
def test_what_nothing_says_finds_nothing_and_no_syntax_leaks(query: str) -> None:
    assert ids(query) == []


def test_words_of_the_query_language_are_words() -> None:
    notes = [Passage("a", "near miss", "text"), Passage("b", "title", "not this")]
    assert [hit.passage.id for hit in search(notes, "NEAR")] == ["a"]
    assert [hit.passage.id for hit in search(notes, "miss AND title")] in (["a", "b"], ["b", "a"])
    assert [hit.passage.id for hit in search(notes, "miss NOT title")] in (["a", "b"], ["b", "a"])
    assert {hit.passage.id for hit in search(notes, "title : miss")} == {"a", "b"}


def test_a_title_says_more_than_the_text_and_the_newer_wins_a_draw() -> None:
    others = [Passage(f"x{i}", "other", "filler words here") for i in range(9)]
    notes = [
        Passage("text", "filler", "gripper slipped", at="2027"),
        Passage("title", "gripper", "filler slipped"),
        *others,
    ]
    assert [hit.passage.id for hit in search(notes, "gripper")] == ["title", "text"]
    same = [Passage(str(day), "gripper", "slipped", at=f"2026-01-{day:02}") for day in (3, 9, 1)]
    assert [hit.passage.id for hit in search([*same, *others], "gripper")] == ["9", "3", "1"]


def test_scores_are_above_zero_even_where_every_note_has_the_word() -> None:
    hits = search([Passage(str(i), "a", "same word") for i in range(5)], "word", 3)
    assert len(hits) == 3
    assert all(hit.score > 0 for hit in hits)
    assert search(MEMORY, "market", 0) == []
    assert search([], "market") == []


def test_a_pasted_page_is_a_query_too() -> None:
    assert ids("nothing of this fits " * 5000 + "futarchy") == []
    assert ids("futarchy " + " ".join(f"w{i}" for i in range(5000))) == ["4"]


def test_lone_surrogates_and_nul_do_no_harm() -> None:
    notes = [Passage("\udcff", "\ud800 apple", "pear\x00plum \udfff", at="\ud800")]
    assert [hit.passage.title for hit in search(notes, "apple \ud800")] == ["? apple"]
    assert len(search(notes, "plum")) == 1


SIGNS = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1, max_size=12)


@given(SIGNS, st.integers(0, 11), st.integers(1, 2))
@settings(max_examples=60, deadline=None)
def test_every_sign_and_every_pair_of_a_chinese_note_finds_it(text: str, start: int, size: int) -> None:
    query = text[start % len(text) :][:size]
    notes = [Passage("a", "", f"ok {text}。x"), Passage("b", "", "other")]
    assert [hit.passage.id for hit in search(notes, query)] == ["a"]


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_no_text_and_no_query_is_an_error(text: str, query: str) -> None:
    for hit in search([Passage("a", text, query), Passage("b", query, text)], query):
        assert hit.score > 0
