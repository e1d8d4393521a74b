"""Which fenced blocks of a document are read: no comment, no second block."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import Job, JobStatus
from worldfs.formats import action, action_write, block, environment_dialects, orchestrator
from worldfs.formats.runtime import sessions, skill_file, skills, targets

OLD, NEW = '```json\n{"KEY": ["old"]}\n```', '```json\n{"KEY": ["new"]}\n```'
HIDDEN: Final = (
    "<!-- not yet\nOLD\n-->", "<!--\nOLD\n-->", "text <!-- not yet\n\nOLD\n--> text", "<!-- a --> <!-- b\nOLD\n-->",
    "<!--\n~~~\n-->\n<!--\nOLD\n-->", "  <!--\r\nOLD\r\n-->", "~~\nOLD\n~~", "<del>\n\nOLD\n\n</del>",
    "<!-- `\nOLD\n` -->",
)  # fmt: skip
VISIBLE: Final = (
    "the sign `<!--` opens a comment", "<!-- a -->", "<!-- a --> b <!-- c -->", "```text\n<!--\n```", "a --> b",
    "<!-->", "~~\nwas\n~~", '```json\n{"other": "<!--"}\n```', "~~~yaml\na: <!--\n~~~",
)  # fmt: skip
KEYS: Final = ("queue", "actions", "sessions", "targets", "skills", "objects")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_is_in_a_comment_is_not_read(hidden: str, key: str) -> None:
    hidden, new = hidden.replace("OLD", OLD).replace("KEY", key), NEW.replace("KEY", key)
    for text in (f"# A\n\n{hidden}\n", f"{hidden}\n", f"\ufeff{hidden}"):
        assert block.find(text, (key,)) is None
    for text in (f"# A\n\n{hidden}\n\n{new}\n", f"# A\n\n{new}\n\n{hidden}\n", f"{hidden}\n{new}\n{hidden}\n"):
        found = block.find(text, (key,))
        assert found is not None and found.value == {key: ["new"]}
        changed = block.edit(text, found, {key: ["newer"]})
        assert changed.count(hidden) == text.count(hidden) and changed == text.replace('"new"', '"newer"')


@pytest.mark.parametrize("before", VISIBLE)
def test_what_is_no_comment_hides_nothing(before: str) -> None:
    found = block.find(f"# A\n\n{before}\n\n{NEW.replace('KEY', 'queue')}\n", ("queue",))
    assert found is not None and found.value == {"queue": ["new"]}


def test_a_comment_that_does_not_end_hides_the_rest() -> None:
    text = NEW.replace("KEY", "queue") + "\n<!-- later\n" + OLD.replace("KEY", "queue")
    found = block.find(text, ("queue",))
    assert found is not None and found.value == {"queue": ["new"]}
    assert block.find("<!-- later\n" + text, ("queue",)) is None
    assert block.find("# <!--\nqueue:\n  - action_type: wave\n# -->\n", ("queue",)) is None


def test_an_opener_in_the_data_is_data() -> None:
    for text in ('{"queue": ["<!--"]}', 'queue:\n  - "<!--"\n'):
        for whole in (text, f"# A\n\n```{'json' if text[0] == '{' else 'yaml'}\n{text}\n```\n<!-- b -->\n"):
            found = block.find(whole, ("queue",))
            assert found is not None and found.value == {"queue": ["<!--"]}


@pytest.mark.parametrize(
    ("before", "indent", "read"),
    [("text", 4, False), ("text\n", 4, False), ("text\n", 3, True), ("1. do\n", 4, True), ("- do\n\n  so\n", 4, True),
     ("text\n", 8, False)],
)  # fmt: skip
def test_a_fence_that_is_indented_as_code_is_no_fence(before: str, indent: int, read: bool) -> None:
    inside = "\n".join(" " * indent + line for line in NEW.replace("KEY", "queue").split("\n"))
    assert (block.find(f"# A\n\n{before}\n{inside}\n", ("queue",)) is not None) == read


def _entry(name: str) -> dict[str, Any]:
    return {"action_id": name, "action_type": "wave", "params": {}}


def _fenced(*values: object, hide: str = "", language: str = "json") -> str:
    blocks = [f"```{language}\n{json.dumps(value)}\n```" for value in values]
    return "# Page\n\n" + hide + "\n\n".join(blocks) + "\n"


READERS: Final[dict[str, tuple[str, Callable[[bytes], object], dict[str, Any]]]] = {
    "ACTION.md": ("queue", action.read, _entry("a")),
    "ACTION.md of q1": ("actions", action.read, {"id": "a", "action_type": "wave"}),
    "SESSIONS.md": ("sessions", sessions.read, {"session_id": "a", "target_ref": "t", "skill_ref": "s"}),
    "TARGETS.md": ("targets", targets.read, {"id": "t", "type": "sim", "backend": "mujoco"}),
    "SKILLS.md": ("skills", skills.read, {"id": "s", "runtime": "BuiltinSkillRuntime"}),
    "ENVIRONMENT.md": ("objects", lambda data: environment_dialects.locate(data.decode()), {"id": "cup"}),
}


@pytest.mark.parametrize("file", READERS)
def test_two_blocks_with_the_same_list_are_refused_by_their_lines(file: str) -> None:
    key, read, entry = READERS[file]
    read(_fenced({key: [entry]}, {"sample": 1}).encode())
    for first, second in (([entry], [entry]), ([], [entry]), ([entry], [])):
        with pytest.raises(BadInput) as caught:
            read(_fenced({key: first}, {"sample": 1}, {key: second}).encode())
        assert "3" in caught.value.found and "11" in caught.value.found and caught.value.expected and caught.value.fix
    read((_fenced({key: [entry]}) + _fenced({key: [entry]}, language="text")).encode())


@pytest.mark.parametrize("file", [file for file in READERS if file != "ENVIRONMENT.md"])
def test_another_block_that_holds_back_refuses_the_file(file: str) -> None:
    key, read, entry = READERS[file]
    for held in ({"dry_run": True}, {"暂停": True}, {"metadata": {"hold": True}}):
        for blocks in (({key: [entry]}, held), (held, {key: [entry]})):
            with pytest.raises(BadInput, match=next(iter(held))):
                read(_fenced(*blocks).encode())
    read((_fenced({key: [entry]}) + "<!--\n" + _fenced({"dry_run": True}) + "-->\n").encode())


def test_a_bare_action_beside_a_queue_is_refused() -> None:
    for blocks in (({"queue": []}, _entry("a")), (_entry("a"), {"queue": []}), (_entry("a"), _entry("b"))):
        with pytest.raises(BadInput, match="one block"):
            action.read(_fenced(*blocks).encode())


def test_a_sheet_is_written_beside_its_comment() -> None:
    comment = "<!-- not yet\n" + _fenced({"queue": [_entry("a")]}) + "-->\n\n"
    data = _fenced({"queue": [_entry("a"), _entry("b")]}, hide=comment).encode()
    order = action.read(data).entries[0].order
    assert order is not None
    after = action_write.write(data, {"a": Job(order, JobStatus())}, drop=("b",)).decode()
    assert after.count(comment) == 1 and [one.id for one in action.read(after.encode()).entries] == ["a"]
    added = action_write.write(f"# A\n\n{comment}".encode(), {}, add=(Job(order, JobStatus()),)).decode()
    assert added.count(comment) == 1 and [one.id for one in action.read(added.encode()).entries] == ["a"]


def test_a_program_in_a_comment_is_no_program() -> None:
    text = "# Skill\n\n<!-- old\n```python\na = 1\n```\n-->\n\n```python\nb = 2\n```\n"
    assert skill_file.program_text(text).strip() == "b = 2"


@pytest.mark.parametrize("opener", ["<!-- not yet", "Not yet: <!-- ask Bob", "<!--"])
@pytest.mark.parametrize("end", ["-->\n", ""])
def test_a_mission_in_a_comment_is_no_mission(opener: str, end: str) -> None:
    def table(mission: str) -> str:
        return f"| Mission | Requirements | Priority |\n|---|---|---|\n| {mission} | arm | normal |\n"

    head = "# Orchestrator Dashboard\n\n## Pending Queue\n\n"
    text = f"{head}{opener}\n{table('old')}{end}\n{table('new')}"
    missions = [one.mission for one in orchestrator.read(text.encode()).dashboard.queue]
    assert missions == (["new"] if end else [])
    assert [one.mission for one in orchestrator.read(f"{head}`<!--` opens\n\n{table('a')}".encode()).dashboard.queue]
