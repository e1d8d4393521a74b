"""memory.md read, added to, taken from: every other byte stays."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput, NotFound
from worldfs.formats.agent import memory, memory_headings

RIO = """# Rio — Operational Memory

## Cross-Session Patterns
- Conditional AMMs keep appearing across 3+ independent sources (sessions 03-28, 03-29, 03-31). This is likely real.
- @0xfbifemboy consistently produces highest-signal threads.

## Dead Ends (don't re-investigate)
- Polymarket fee structure analysis (2026-03-25): fully documented in existing claims, no new angles.
- Jupiter governance token utility (2026-03-27): vaporware, no mechanism to analyze.

## Open Questions
- How does futarchy handle low-liquidity markets? This is the keystone weakness.

## Corrections
- Previously believed Drift protocol was pure order-book. Actually hybrid AMM+CLOB. Updated 2026-03-30.

## Cross-Agent Flags Received
- Theseus (2026-03-29): "Check if MetaDAO governance has AI agent participation — alignment implications"
- Leo (2026-03-28): "Your conditional AMM analysis connects to Astra's resource allocation claims"
""".encode()

QUICK = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def said(data: bytes) -> list[tuple[str, str]]:
    return [(remark.section, remark.text) for remark in memory.read(data).remarks]


def test_the_specifications_example_is_read_whole():
    found = memory.read(RIO)
    assert found.title == "Rio — Operational Memory"
    assert found.sections == memory_headings.SECTIONS
    assert [remark.section for remark in found.remarks] == [
        "patterns", "patterns", "dead_ends", "dead_ends", "questions", "corrections", "flags", "flags",
    ]  # fmt: skip
    assert found.remarks[2].text.startswith("Polymarket fee structure analysis (2026-03-25): fully")
    assert [remark.at for remark in found.remarks] == [
        "", "", "2026-03-25", "2026-03-27", "", "2026-03-30", "2026-03-29", "2026-03-28",
    ]  # fmt: skip
    assert RIO.split(b"\n")[found.remarks[4].line - 1].startswith(b"- How does futarchy")


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("## Dead Ends", "dead_ends"),
        ("##Dead ends — do not re-investigate", "dead_ends"),
        ("### 3. OPEN QUESTIONS:", "questions"),
        ("**Corrections**", "corrections"),
        ("## 🧭 Patterns ##", "patterns"),
        ("## 死胡同（不要再查）", "dead_ends"),
        ("## 三、未解决的问题", "questions"),
        ("Dead Ends\n---", "dead_ends"),
        ("Flags Received\n======", "flags"),
        ("## Cross‑Session Bets", "Cross‑Session Bets"),
    ],
)
def test_headings_by_other_names_are_known(heading, section):
    assert memory.read(f"# Rio\n\n{heading}\n- x\n".encode()).remarks[0].section == section


def test_every_synonym_is_written_as_headings_are_compared():
    assert [word for word in memory_headings._KNOWN if memory_headings.bare(word) != word] == []
    words = [word for own in memory_headings._SYNONYMS.values() for word in own.split(",")]
    assert len({word.strip() for word in words}) == len(words), "a word means two sections"


def test_a_part_of_a_known_section_belongs_to_it_and_a_further_heading_is_its_own():
    data = b"# R\n## Dead Ends\n- a\n### March\n- b\n## Sources\n- c\n### Old\n- d\n"
    assert said(data) == [("dead_ends", "a"), ("dead_ends", "b"), ("Sources", "c"), ("Old", "d")]
    assert memory.read(data).sections == ("dead_ends", "Sources", "Old")


def test_nested_items_and_continuation_lines_belong_to_their_parent():
    text = "- a\n  - b\n\n    more of b\n  > quoted\nlazy\n- c\n\n  own paragraph\n\nprose\n1. d\n   e\n2) f\n * g\n"
    assert said(b"## Q\n" + text.encode()) == [
        ("Q", "a\n- b\n\n  more of b\n> quoted\nlazy"), ("Q", "c\n\nown paragraph"), ("Q", "d\ne"),
        ("Q", "f"), ("Q", "g"),
    ]  # fmt: skip


def test_fences_comments_rules_and_front_matter_hold_no_remarks():
    data = b"---\nlist:\n- no\n---\n# R\n## Q\n```sh\n# no heading\n- no\n```\n<!-- - no\n- no -->\n- - -\n***\n- yes\n"
    assert said(data) == [("Q", "yes")]


def test_a_fence_that_nobody_closes_hides_nothing():
    assert said(b"## Q\n```\n- a\n## Corrections\n- b\n") == [("Q", "a"), ("corrections", "b")]


@pytest.mark.parametrize(
    "line", ["[pinned] keep", "**[Pinned]** keep", "📌 keep", "keep [pinned]", "[置顶] keep", "📌️ [pinned]: keep"]
)
def test_a_pinned_remark_says_its_text_without_the_mark(line):
    remark = memory.read(f"## Corrections\n* {line}\n".encode()).remarks[0]
    assert (remark.text, remark.pinned) == ("keep", True)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("seen 2026-03-01, 2026-04-02 and 2025-12-31", "2026-04-02"),
        ("2026年3月5日 见过", "2026-03-05"),
        ("2026/3/5", "2026-03-05"),
        ("(sessions 03-28, 03-29)", ""),
        ("2026-13-01, 12026-03-01, 2026-03-011", ""),
    ],
)
def test_a_remark_is_as_old_as_the_newest_date_that_it_names(text, at):
    assert memory.read(f"- {text}\n".encode()).remarks[0].at == at


def test_adding_inserts_lines_at_the_end_of_the_section_and_nothing_else():
    data = memory.add(RIO, "dead_ends", "Kamino lend (2026-04-01): nothing.\nSee claims/12.", pinned=True)
    new = b"- [pinned] Kamino lend (2026-04-01): nothing.\n  See claims/12.\n"
    at = data.index(new)
    assert data[:at] + data[at + len(new) :] == RIO
    assert data[:at].endswith(b"no mechanism to analyze.\n")
    remark = next(remark for remark in memory.read(data).remarks if remark.pinned)
    assert (remark.section, remark.at) == ("dead_ends", "2026-04-01")
    assert memory.remove(data, remark) == RIO


def test_a_section_that_is_missing_comes_in_the_specifications_order_and_the_files_language():
    data = b"# R\n\n## Dead Ends\n- a\n\n## Corrections\n- b\n\n## Mine\n- c\n"
    data = memory.add(data, "questions", "why?")
    data = memory.add(data, "flags", "Leo: hm")
    assert [line for line in data.decode().split("\n") if line.startswith("##")] == [
        "## Dead Ends", "## Open Questions", "## Corrections", "## Cross-Agent Flags Received", "## Mine",
    ]  # fmt: skip
    assert b"- a\n\n## Open Questions\n- why?\n\n## Corrections" in data
    chinese = memory.add("# 记忆\n\n### 死路\n- 甲\n".encode(), "corrections", "乙")
    assert chinese.decode() == "# 记忆\n\n### 死路\n- 甲\n\n### 更正\n- 乙\n"
    assert "## 未决问题\n- x" in memory.add(b"", "questions", "x", language="zh").decode()


def test_any_heading_can_be_written_below():
    data = memory.add(RIO, "Sources to watch", "a")
    data = memory.add(data, "sources to watch", "b")
    assert data.endswith(b"\n\n## Sources to watch\n- a\n- b\n")
    assert memory.add(RIO, "Known dead ends", "x").count(b"##") == RIO.count(b"##") + 1
    assert memory.add(RIO, "Dead ends:", "x").count(b"##") == RIO.count(b"##")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"## Corrections\r\n* a\r\n", b"## Corrections\r\n* a\r\n* n\r\n  m\r\n"),
        (b"\xef\xbb\xbf## Corrections\n- a", b"\xef\xbb\xbf## Corrections\n- a\n- n\n  m"),
        (b"## Corrections\n1. a\n2. b\n", b"## Corrections\n1. a\n2. b\n3. n\n   m\n"),
        (b"## Corrections\n- a\n\n- b\n\n\n## X\n", b"## Corrections\n- a\n\n- b\n\n- n\n  m\n\n\n## X\n"),
        (b"## Corrections\n\nSome words.\n## X\n", b"## Corrections\n\nSome words.\n\n- n\n  m\n## X\n"),
        (b"## Corrections\n- a\n```\nx\n```\n\n## X\n", b"## Corrections\n- a\n```\nx\n```\n\n- n\n  m\n\n## X\n"),
        (b"## X\n\n- a\n\n## Corrections\n", b"## X\n\n- a\n\n## Corrections\n\n- n\n  m\n"),
        (b"## Corrections\n-\ta\n", b"## Corrections\n-\ta\n-\tn\n    m\n"),
    ],
)
def test_adding_follows_the_manner_of_the_file(before, after):
    assert memory.add(before, "corrections", "n\nm") == after


def test_what_says_nothing_is_refused():
    for section, text in (("patterns", " \n"), ("patterns", "[pinned] "), (" ## ", "x")):
        with pytest.raises(BadInput):
            memory.add(RIO, section, text)
    with pytest.raises(BadInput):
        memory.read(b"\xff")


def test_removing_what_is_not_there_says_so():
    remark = memory.read(RIO).remarks[0]
    with pytest.raises(NotFound):
        memory.remove(memory.remove(RIO, remark), remark)


def test_removing_takes_the_remark_that_stands_there_and_what_belongs_to_it():
    data = b"## Q\n- a\n- b\n  - c\n\n  d\n- a\n"
    first, second, third = memory.read(data).remarks
    assert memory.remove(data, third) == b"## Q\n- a\n- b\n  - c\n\n  d\n"
    assert memory.remove(data, first) == b"## Q\n- b\n  - c\n\n  d\n- a\n"
    assert memory.remove(data, second) == b"## Q\n- a\n- a\n"
    assert memory.remove(b"## Q\n- a\n- b", memory.read(b"## Q\n- a\n- b").remarks[1]) == b"## Q\n- a"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_new_memory_has_the_five_sections(language):
    data = memory.template("rio", language)
    assert memory.read(data) == (memory.read(data).title, (), memory_headings.SECTIONS)
    assert memory.read(data).title.startswith("Rio — ")
    for section in memory_headings.SECTIONS:
        data = memory.add(data, section, section)
    assert said(data) == [(section, section) for section in memory_headings.SECTIONS]


def test_a_large_memory_with_marks_that_nothing_closes_is_read_in_linear_time():
    many = b"## Q\n" + b"```\n<!-- x\n- a\n" * 5000
    assert len(memory.read(many).remarks) in (0, 5000, 2500)


LINE = st.sampled_from(
    [
        "", "", "# T", "## Dead Ends", "## Open Questions", "### Part", "## Mine", "- a", "- b", "* c", "1. d", "2. e",
        "  - nested", "    code", "\ttab", "prose", "```", "# x", "~~~~", "<!-- c -->", "---", "[pinned]", "| t |",
        "- [pinned] p", "   g", "1、i", "**Corrections**", "> q", "-", "- - -", "\u3000\u3000段落", "•\tj",
    ]
)  # fmt: skip
PAGE = st.builds(
    lambda lines, end, final, bom: (bom + end.join(lines) + (end if final else "")).encode(),
    st.lists(LINE, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(["", "", "\ufeff"]),
)
TEXT = st.one_of(
    st.lists(LINE, min_size=1, max_size=5).map("\n".join),
    st.text(alphabet=st.characters(codec="utf-8"), max_size=20),
    st.text(alphabet="-*#`~<>![] \t\n\r1.)a📌", max_size=16),
)


def test_a_section_of_ones_own_is_no_part_of_a_higher_one_before_it():
    page = b"## x\n# Dead Ends\n- a"
    for text in ("b", "c"):
        page = memory.add(page, "Mine", text)
    assert said(page) == [("dead_ends", "a"), ("Mine", "b"), ("Mine", "c")]


@QUICK
@given(PAGE, st.sampled_from([*memory_headings.SECTIONS, "Mine", "Part", "T", "Neu #"]), TEXT, st.booleans())
@example(b"## Dead Ends\n- a", "dead_ends", "b\n\n\n  c\n\td", False)
@example(b"```\n## Dead Ends", "dead_ends", "```", False)
@example(b"# x\n# x\n**Corrections**\n### Part\n- a", "flags", "0", False)
def test_what_is_added_is_read_back_and_nothing_else_changes(page, section, text, pinned):
    body, marked = memory.remark_text(text)
    if not body:
        with pytest.raises(BadInput):
            memory.add(page, section, text)
        return
    try:
        data = memory.add(page, section, text, pinned=pinned)
    except BadInput as error:
        assert b"```" in page or b"~~~" in page, error  # left open: the text would end it
        return
    after = memory.read(data).remarks
    assert Counter(said(page)) <= Counter(said(data))
    (((where, text), count),) = (Counter(said(data)) - Counter(said(page))).items()
    assert (text, count) == (body, 1)
    assert where == section or section not in memory_headings.SECTIONS
    assert any(remark.text == body and remark.pinned == (pinned or marked) for remark in after)
    bom = b"\xef\xbb\xbf"
    assert data.startswith(bom) == page.startswith(bom)
    kept = iter(data.removeprefix(bom).split(b"\n"))
    assert all(
        any(line.rstrip(b"\r") == other.rstrip(b"\r") for other in kept) for line in page.removeprefix(bom).split(b"\n")
    )


@QUICK
@given(PAGE)
def test_every_remark_can_be_removed_and_the_others_stay(page):
    for remark in memory.read(page).remarks:
        left = said(page)
        left.remove((remark.section, remark.text))
        assert sorted(said(memory.remove(page, remark))) == sorted(left)
