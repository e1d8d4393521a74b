"""Text of other agents and programs on a person's terminal: it is shown, and commands nothing."""

import io

import pytest

from worldfs.interfaces.cli.command_output import CommandOutput, columns

CLEAR = "\x1b[2J\x1b]0;title\x07\x9b31m\r\b"


@pytest.mark.parametrize("way", ["line", "report", "notice", "error"])
def test_controls_are_shown_and_not_obeyed(way: str) -> None:
    out = io.StringIO()
    said = CommandOutput(out=out, err=out)
    {
        "line": lambda: said.line(f"subject {CLEAR}苹果\tx"),
        "report": lambda: said.report(f"subject {CLEAR}苹果\tx", {}),
        "notice": lambda: said.notice(f"subject {CLEAR}苹果\tx"),
        "error": lambda: said.error(f"subject {CLEAR}苹果\tx", {}),
    }[way]()
    assert r"subject \x1b[2J\x1b]0;title\x07\x9b31m\x0d\x08苹果" in out.getvalue()
    assert not {sign for sign in out.getvalue() if ord(sign) < 32} - {"\t", "\n"}


def test_no_text_makes_a_row_of_a_table() -> None:
    rows = [("a\nb.json", "leo", "one\nx.json  operator  stop"), ("苹果", "rio\x1b[A", "")]
    assert columns(rows) == [
        "a b.json  leo        one",
        "                     x.json  operator  stop",
        r"苹果      rio\x1b[A",
    ]
    assert columns([("key", "v1\nv2")], "  ") == ["  key  v1", "       v2"]
