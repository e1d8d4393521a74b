"""Every word of memory.md is in a piece or a heading, however a mind wrote it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.agents.context_builder import build_context
from worldfs.agents.memory_items import memory_items
from worldfs.agents.memory_search import search_memory
from worldfs.formats.agent.memory_outline import parse

FREE = """---
owner: rio
---
# Rio

Some words before any heading.

## Dead Ends
Polymarket is done; I wrote a paragraph,
over two lines.

- a list item (2026-03-25)
  that goes on

| table | cell |
|---|---|
| futarchy | 低流动性 |

### A part of it
- below the part
---
```
code block
```
"""


def test_paragraphs_tables_and_code_are_remembered_with_their_heading() -> None:
    pieces = [(piece.heading, piece.remark.text.split("\n")[0], piece.item) for piece in memory_items(FREE.encode())]
    assert pieces == [
        ("", "---", False),
        ("Rio", "Some words before any heading.", False),
        ("Dead Ends", "Polymarket is done; I wrote a paragraph,", False),
        ("Dead Ends", "a list item (2026-03-25)", True),
        ("Dead Ends", "| table | cell |", False),
        ("Dead Ends › A part of it", "below the part", True),
        ("Dead Ends › A part of it", "---", False),
    ]


def test_they_stand_in_the_pack_and_are_found() -> None:
    text = build_context(FREE.encode(), b"").text
    for part in ("over two lines.", "低流动性", "code block", "Some words before", "owner: rio"):
        assert part in text
    (hit,) = search_memory(FREE.encode(), "polymarket paragraph")
    assert (hit.passage.title, hit.passage.id) == ("Dead Ends", "9")


def test_a_pin_stays_visible() -> None:
    data = "## Patterns\n- [pinned] keep me\n- 📌 置顶的笔记\n".encode()
    assert "- [pinned] keep me\n" in build_context(data, b"").text
    assert "- [置顶] 置顶的笔记\n" in build_context(data, b"", language="zh").text


LINES = st.lists(
    st.sampled_from(
        [
            "# T",
            "## Dead Ends",
            "### x",
            "- item",
            "  more",
            "* star",
            "text",
            "",
            "---",
            "===",
            "```",
            "1. one",
            "| a |",
            "<!--",
            "-->",
            "**Corrections**",
            "\ttab",
            "> quote",
            "- ",
            "##Heading",
            "- [pinned]",
        ]
    ),
    max_size=25,
)


@given(LINES)
@settings(max_examples=60, deadline=None)
def test_no_line_is_passed_over_and_none_comes_twice(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    doc = parse(data)
    headings = {line for head in doc.heads for line in range(head.line, head.end)}
    pieces = memory_items(data)
    words = [w for p in pieces for w in p.remark.text.split() if w.isalpha()]
    said = [w for i, line in enumerate(lines) if i not in headings for w in line.split() if w.isalpha()]
    assert sorted(words) == sorted(said)
    assert [p.remark.line for p in pieces] == sorted({p.remark.line for p in pieces})
