"""The script runner itself: reading scripts, and failing at the right line with the right words."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.testing.behaviour_script import ScriptError, parse, run, verbs
from worldfs.testing.script_world import _documents, _point

TEXT = """# about
as planner   # who

write A.md a.md
-- a.md --
one
-- b.md --
# two
"""


def test_lines_and_files_are_told_apart_and_nothing_is_lost() -> None:
    script = parse(TEXT)
    assert script.lines == [(2, "as planner   # who"), (4, "write A.md a.md")]
    assert script.files == {"a.md": "one\n", "b.md": "# two\n"}
    assert str(script) == TEXT


def test_a_file_inlined_twice_is_refused() -> None:
    with pytest.raises(ScriptError, match="twice"):
        parse("-- a --\n-- a --\n")


def test_every_verb_says_in_its_first_words_how_it_is_written() -> None:
    for name, method in verbs().items():
        assert (method.__doc__ or "").startswith(name), name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dance\n", r"s\.txt:1: no verb 'dance'"),
        ("# x\n\ntick\n", r"s\.txt:3: tick\nnothing runs: write `start` first"),
        ("time 30\n", r"found '30', expected for example \+30s"),
        ("!time +1s\n", r"expected it not to hold, and it does"),
        ("ran 1\n", r"found 0: \[\]"),
        ("tick 1 2 3\n", r"s\.txt:1: tick 1 2 3\nTypeError"),
    ],
)
def test_a_line_that_does_not_hold_is_named_with_its_reason(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "s.txt").write_text(text)
    with pytest.raises(ScriptError, match=words):
        run(tmp_path / "s.txt", tmp_path, disk=True)


def test_an_expected_failure_lets_the_script_go_on(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("!ran 1\nran 0\ntime +1.5h\n")
    run(tmp_path / "s.txt", tmp_path, disk=True)


def test_pointers_reach_into_documents_and_fenced_blocks() -> None:
    text = '# Actions\n\n```json\n{"queue": [{"a/b": 1}, {"status": "done"}]}\n```\n'
    (document,) = _documents(text)
    assert _point(document, "/queue/0/a~1b") == 1
    assert _point(document, "/queue/-1/status") == "done"
    assert _point(document, "/queue/7/status") == "(nothing there)"
    assert _point(document, "") == document
