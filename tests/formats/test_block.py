"""Data is found in Markdown by §3.1's rules, and only its inside is ever replaced."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.document_size import DOCUMENT_MOST
from worldfs.base.errors import BadInput
from worldfs.formats import block

KEYS = ("queue", "actions")
DATA = '{\n  "queue": [\n    {"action_id": "a"}\n  ]\n}'


def test_a_whole_file_of_json_is_found():
    found = block.find(DATA + "\n", KEYS)
    assert (found.value, found.language, found.fenced) == ({"queue": [{"action_id": "a"}]}, "json", False)


def test_a_whole_file_of_yaml_is_found_under_its_comments():
    text = "# ACTION\n\nqueue:\n  - action_id: a\n    at: 12:30:45\n"
    found = block.find(text, KEYS)
    assert (found.value, found.language) == ({"queue": [{"action_id": "a", "at": "12:30:45"}]}, "yaml")


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("```json", "```"),
        ("~~~ JSON", "~~~~"),
        ("````  json title=x", "````"),
        ("```json ", "```  "),
        ("  ```Json", "  ```"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_fence_of_any_legal_form_is_found(opening, closing, newline, mark):
    text = f"{mark}# 动作\n\n{opening}\n{DATA}\n{closing}".replace("\n", newline)
    found = block.find(text, KEYS)
    assert found.value == {"queue": [{"action_id": "a"}]}
    after = block.edit(text, found, {"queue": []})
    head, tail = text[: found.start], text[found.end :]
    assert after == head + '{\n  "queue": []\n}\n'.replace("\n", newline) + tail
    assert block.edit(text, found, {"queue": [{"action_id": "a"}]}) is text


def test_a_fence_may_open_on_the_very_first_line():
    assert block.find('\ufeff```json\n{"queue": []}\n```', KEYS).value == {"queue": []}


def test_back_ticks_inside_a_string_close_nothing():
    text = '```json\n{"queue": [{"note": "use ``` here"}]}\n```\n'
    assert block.find(text, KEYS).value == {"queue": [{"note": "use ``` here"}]}
    text = '~~~json\n{"queue":\n```\n~~~\n'
    with pytest.raises(BadInput):
        block.find(text, KEYS)


def test_a_sample_in_another_fence_is_no_data():
    text = f"````markdown\n```json\n{DATA}\n```\n````\n\n```yaml\nname: front matter\n```\n"
    assert block.find(text, KEYS) is None
    real = text + '```json\n{"actions": []}\n```\n'
    assert block.find(real, KEYS).value == {"actions": []}


def test_the_first_block_with_an_expected_key_counts():
    text = '```json\n{"other": 1}\n```\n```json\n{"steps": [...]}\n```\n```yml\nqueue: []\n```\n'
    found = block.find(text, KEYS)
    assert (found.language, found.value) == ("yaml", {"queue": []})
    assert block.edit(text, found, {"queue": [{"id": "x"}]}).endswith("```yml\nqueue:\n  - id: x\n```\n")


@pytest.mark.parametrize(
    "prose",
    ["", "\ufeff", "# Notes\n", "queue: the word, and then prose.\n\n# More\n", "[link](queue) text",
     "Do: this\nqueue:\n", "We said: go.\n\nqueue:\nlater", "---\nname: x\n---\nprose", "``` x ```\n", "{}", "42"],
)  # fmt: skip
def test_prose_is_zero_entries(prose):
    if prose in ("Do: this\nqueue:\n",):
        assert block.find(prose, KEYS).value["queue"] is None  # valid YAML with the key: empty, not prose
    else:
        assert block.find(prose, KEYS) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"queue": [\n', "line 2, column 1"),
        ('{"queue": [{"a": 1}', "line 1, column 20"),
        ('# A\n\n```json\n{"queue": [', "line 3"),
        ('# A\n\n```json\n{"queue": [\n```\n', "line 5, column 1"),
        ('# A\n\n```json\n{"queue": [{"a": tru}]}\n```\n', "line 4, column 18"),
        ("# A\n```yaml\nqueue:\n  - a: [1\n```\n", "line 5"),
        ("queue:\n  - a: [1\n", "line 3"),
        ('```text\nsee\n\n```json\n{"queue": []}\n', "line 1"),
    ],
)
def test_a_half_written_text_is_refused_with_its_place(text, line):
    with pytest.raises(BadInput) as caught:
        block.find(text, KEYS)
    assert line in caught.value.found
    assert caught.value.expected


def test_a_bare_list_is_refused_with_a_fix():
    with pytest.raises(BadInput, match="under its key"):
        block.find('[{"action_type": "move_to"}]', KEYS)


def test_bytes_that_are_no_utf8_are_named_by_offset():
    with pytest.raises(BadInput, match="offset 2"):
        block.decode(b"ab\xff")
    assert block.decode("\ufeffé".encode()).encode() == "\ufeffé".encode()


def test_a_huge_document_is_refused_whole():
    with pytest.raises(BadInput, match="at most 8,388,608"):
        block.decode(b" " * (DOCUMENT_MOST + 1))


def test_what_a_text_says_is_found_behind_headings_rules_blank_lines_and_comments():
    quiet = "# a\n \t\n---\n<!-- b\n c -->\n<!-- d --> <!-- e -->\n\r\n" * 500
    assert block.said(quiet) == "" and block.said(f"{quiet}<!-- unclosed\nhello") == ""
    for text in ("hello", "<!-- a -->hel<!-- b\n -->lo", "hello\n# more\n", "hello <!-- unclosed"):
        assert block.said(quiet + text) == block.said("hello")
    assert "# b" in block.said("<!-- a --># b")  # a heading begins its line


def test_no_call_of_c_code_looks_at_the_whole_of_a_long_text(monkeypatch):
    text = "#x\n" * 100_000 + "queue:\n- a: 1\n"
    looked = []

    def counted(found):
        return lambda text, at=0: (match := found(text, at), looked.append(match.end() - at))[0]

    for name in ("_PREAMBLE", "_QUIET"):
        monkeypatch.setattr(block, name, counted(getattr(block, name)))
    assert block.find(text, KEYS).value == {"queue": [{"a": 1}]} and block.said(text)
    assert block.said("#x\n" * 100_000) == "" and 0 < max(looked) < 10_000

    class Looking:
        def finditer(self, text, start, end):
            looked.append(end - start)
            return re.compile("^q", re.M).finditer(text, start, end)

    looked.clear()
    assert [found.start() for found in block._found_in_lines(Looking(), text)] == [300_000]
    assert 0 < max(looked) <= 1 << 16


pieces = st.sampled_from(
    ["```json\n", "```\n", "~~~yaml\n", "~~~\n", "```", "\n", "\r\n", "{", "}", "[", "]", '"queue"', ":", " ",
     "queue:\n",
     "- a\n", "1", ",", "# x\n", "    ", "\t", "\ufeff", '{"queue": []}', "actions: [", "---\n", "'", '"', "é", "\x00"]
)  # fmt: skip


@given(st.lists(pieces, max_size=14))
@settings(max_examples=40, deadline=None)
def test_any_text_is_found_in_or_refused_and_never_crashes(parts):
    text = "".join(parts)
    try:
        found = block.find(text, KEYS)
    except BadInput:
        return
    if found is not None:
        assert block.edit(text, found, found.value) is text
        after = block.edit(text, found, found.value | {"queue": [{"id": "x"}]})
        again = block.find(after, KEYS)
        assert again.value["queue"] == [{"id": "x"}]
        assert after[: found.start] == text[: found.start]
        assert after.endswith(text[found.end :])
