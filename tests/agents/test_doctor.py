"""The doctor: forty ways to spoil an agent's directory; each found, nearly all mended, no byte lost."""

# ruff: noqa: E501  # one case a line reads as the table that it is
from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from worldfs import AgentState
from worldfs.agents.doctor import check
from worldfs.base.model import Finding


class Spoilt(NamedTuple):
    name: str
    spoil: Callable[[Path], object]
    mended: bool = True
    keeps: str = ""  # a text of the spoilt state that must still be somewhere afterwards


def _set(file: str, **changes: Any) -> Callable[[Path], object]:
    def spoil(home: Path) -> None:
        value = json.loads((home / file).read_text())
        for path, new in changes.items():
            *above, last = path.split("__")
            at = value
            for part in above:
                at = at[int(part) if part.isdecimal() else part]
            at[last] = new
        (home / file).write_text(json.dumps(value, ensure_ascii=False, indent=2))

    return spoil


def _text(file: str, text: str | bytes) -> Callable[[Path], object]:
    return lambda home: (home / file).write_bytes(text if isinstance(text, bytes) else text.encode())


def _more(file: str, data: bytes) -> Callable[[Path], object]:
    return lambda home: (home / file).write_bytes((home / file).read_bytes() + data)


def _cut(file: str, part: float) -> Callable[[Path], object]:
    def spoil(home: Path) -> None:
        data = (home / file).read_bytes()
        (home / file).write_bytes(data[: int(len(data) * part)])

    return spoil


def _letter(name: str, **changes: Any) -> Callable[[Path], object]:
    letter = {
        "id": "msg-x", "from": "leo", "to": "rio", "created_at": "2026-03-31T18:00:00Z", "type": "flag",
        "priority": "normal", "subject": "look", "body": "here", "source_ref": None, "expires_at": None, **changes,
    }  # fmt: skip
    return lambda home: (home / "inbox" / name).write_text(json.dumps(letter))


def _forget_copies(home: Path, file: str) -> None:
    shutil.rmtree(home / ".paos/generations" / file)


def _twice(home: Path) -> None:
    _letter("a.json", id="msg-same")(home)
    _letter("b.json", id="msg-same")(home)


def _without_copies(file: str, spoil: Callable[[Path], object]) -> Callable[[Path], object]:
    def both(home: Path) -> None:
        _forget_copies(home, file)
        spoil(home)

    return both


def _replace(home: Path, name: str, make: Callable[[Path], object]) -> None:
    path = home / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    make(path)


def _lines(change: Callable[[list[str]], list[str]]) -> Callable[[Path], object]:
    def spoil(home: Path) -> None:
        path = home / "journal.jsonl"
        path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")

    return spoil


def _run_without_runner(home: Path) -> None:
    state = AgentState.open("rio", home.parent)
    state.start(type="research")
    state.close()


CASES = (
    Spoilt("tasks.json is cut off", _cut("tasks.json", 0.6)),
    Spoilt("tasks.json is empty", _text("tasks.json", "")),
    Spoilt("tasks.json is zeros", _text("tasks.json", b"\0" * 200)),
    Spoilt("tasks.json is prose", _text("tasks.json", "I have done the tasks."), keeps="I have done the tasks."),
    Spoilt("tasks.json is a list of numbers", _text("tasks.json", "[1, 2]")),
    Spoilt("tasks.json is UTF-16", _text("tasks.json", '{"agent": "rio"}'.encode("utf-16"))),
    Spoilt("tasks.json stands twice in one file", lambda home: _text("tasks.json", (home / "tasks.json").read_text() * 2)(home)),
    Spoilt("a status is no word", _set("tasks.json", tasks__0__status="frobnicated"), keeps="frobnicated"),
    Spoilt("a priority is a number", _set("tasks.json", tasks__0__priority=7)),
    Spoilt("two tasks have one id", _set("tasks.json", tasks=[{"id": "a", "description": "x"}] * 2)),
    Spoilt("tasks.json has conflict marks", lambda home: _text("tasks.json", "<<<<<<< ours\n" + (home / "tasks.json").read_text())(home)),
    Spoilt("tasks.json holds a secret", _set("tasks.json", tasks__0__context="ghp_" + "a1B2" * 9)),
    Spoilt("tasks.json is another agent's", _set("tasks.json", agent="leo")),
    Spoilt("tasks.json was removed", lambda home: (home / "tasks.json").unlink()),
    Spoilt("tasks.json is a directory", lambda home: _replace(home, "tasks.json", Path.mkdir)),
    Spoilt("tasks.json is a link out", lambda home: _replace(home, "tasks.json", lambda path: path.symlink_to("/etc/hostname"))),
    Spoilt("tasks.json is a FIFO", lambda home: _replace(home, "tasks.json", os.mkfifo)),
    Spoilt("tasks.json is broken and no copy is left", _without_copies("tasks.json", _text("tasks.json", "{")), keeps="{"),
    Spoilt("memory.md is no UTF-8", _text("memory.md", b"# R\xff\xfe\n- x\n")),
    Spoilt("memory.md is empty", _text("memory.md", "")),
    Spoilt("memory.md holds a key", _text("memory.md", "# Rio\n\n## Corrections\n- AKIAABCDEFGHIJKLMNOP\n")),
    Spoilt("memory.md was removed", lambda home: (home / "memory.md").unlink()),
    Spoilt("report.json is cut off", _cut("report.json", 0.5)),
    Spoilt("report.json says that somebody works", _without_copies("report.json", _set("report.json", status="researching"))),
    Spoilt("session.json runs without a runner", _without_copies("session.json", _set("session.json", status="running"))),
    Spoilt("session.json is prose", _text("session.json", "running")),
    Spoilt("a session was left by a dead runner", _run_without_runner),
    Spoilt("metrics.json does not add up", _without_copies("metrics.json", _set("metrics.json", lifetime__sessions_total=99))),
    Spoilt("metrics.json is negative", _without_copies("metrics.json", _set("metrics.json", lifetime__sources_archived=-1))),
    Spoilt("metrics.json is cut off", _cut("metrics.json", 0.4)),
    Spoilt("the journal ends in a torn line", _more("journal.jsonl", b'{"ts":"20')),
    Spoilt("a journal line was changed", _lines(lambda lines: [lines[0].replace("session_start", "nothing"), *lines[1:]])),
    Spoilt("journal lines were removed", _lines(lambda lines: lines[1:])),
    Spoilt("the journal was removed", lambda home: (home / "journal.jsonl").unlink()),
    Spoilt("the journal ends in zeros", _more("journal.jsonl", b"\0" * 100)),
    Spoilt("a letter is no JSON", _text("inbox/x.json", "hello"), keeps="hello"),
    Spoilt("a letter is for somebody else", _letter("x.json", to="leo")),
    Spoilt("a letter has expired", _letter("x.json", expires_at="2026-01-01T00:00:00Z")),
    Spoilt("two letters have one id", _twice),
    Spoilt("a directory lies in the inbox", lambda home: (home / "inbox/old").mkdir()),
    Spoilt("the inbox was removed", lambda home: shutil.rmtree(home / "inbox")),
    Spoilt("a job's file is rubbish", _text(".paos/jobs/x.jsonl", "rubbish"), keeps="rubbish"),
    Spoilt("an editor left its copy", _text("tasks.json~", "old"), keeps="old"),
    Spoilt("a copy was torn", lambda home: next(iter(sorted((home / ".paos/generations/memory.md").iterdir()))).write_text("torn"), keeps="torn"),
    Spoilt("a directory has no agent's name", lambda home: (home.parent / "Rio Two").mkdir(), mended=False),
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with AgentState.open("rio", tmp_path, create=True) as state:
        state.add_task("read the paper", context="条件市场")
        state.remember("patterns", "it keeps appearing")
        state.start(type="research")
        state.event("sources_archived", count=2)
        state.finish("completed", sources_archived=2, summary="two sources")
    return tmp_path / "rio"


def held(root: Path) -> str:
    return "\n".join(
        path.read_text("utf-8", "replace") for path in root.rglob("*") if path.is_file() and not path.is_symlink()
    )


def wrong(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if not finding.warning]


def test_a_sound_agent_has_nothing_wrong(home: Path) -> None:
    assert check(home.parent) == []


def test_each_command_that_it_tells_can_be_pasted(tmp_path: Path) -> None:
    root = tmp_path / "my agents 家"
    AgentState.open("rio", root, create=True).close()
    (root / "not a name").mkdir()
    (root / ".gitignore").unlink()
    told = {finding.code: shlex.split(finding.fix.rpartition(": ")[2]) for finding in check(root)}
    assert told["NOT_IGNORED"] == ["paos", "check", "--fix", "--agents", str(root)]
    assert told["BAD_NAME"][:2] == ["mv", str(root / "not a name")]


@pytest.mark.slice(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_found_and_mended_and_nothing_is_lost(home: Path, case: Spoilt) -> None:
    case.spoil(home)
    before = {
        path.relative_to(home): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    found = check(home.parent)
    assert found, "not found"
    assert all(finding.field and finding.expected and finding.found and finding.fix for finding in found)
    mended = check(home.parent, fix=True)
    assert bool(mended)
    again = check(home.parent, fix=True)
    if case.mended:
        assert wrong(again) == [], again
        assert [finding.code for finding in again] == []
    assert case.keeps in held(home.parent)
    everything = held(home.parent)
    for path, data in before.items():
        if path.parts[0] != ".paos" or path.parts[1] in ("jobs", "done"):
            text = data.decode("utf-8", "replace").strip("\0\n")
            secret = "AKIA" in text or "ghp_" in text
            assert secret or all(line in everything for line in text.splitlines()), path


def test_at_least_thirty_six_of_forty_are_mended() -> None:
    assert len(CASES) >= 40
    assert sum(case.mended for case in CASES) >= 36
