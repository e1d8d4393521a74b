"""`paos log`, `diff` and `cat --at`, on this disk and over --connect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worldfs.interfaces.cli.main import main


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    assert main(["--home", str(place), "onboard"]) == 0
    for text in ("one\n", "two\n", "three\n"):
        source = tmp_path / "text"
        source.write_text(text)
        assert main(["--home", str(place), "--as", "planner", "write", "TASK.md", str(source)]) == 0
    capsys.readouterr()
    return place


def paos(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def versions(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, object]]:
    code, out, _ = paos(capsys, *words[:-1], "--json", "log", words[-1])
    assert code == 0
    return list(json.loads(out)["versions"])


def test_log_cat_and_diff(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = [one["time"] for one in versions(capsys, "--home", home, "TASK.md")]
    assert len(at) == 4  # the template, and three
    assert paos(capsys, "--home", home, "cat", "TASK.md", "--at", at[1]) == (0, "two\n", "")
    code, out, _ = paos(capsys, "--home", home, "diff", "TASK.md", at[2], at[1])
    assert code == 1 and "-one\n+two\n" in out
    assert paos(capsys, "--home", home, "diff", "TASK.md", at[0])[:2] == (0, "")
    code, out, _ = paos(capsys, "--home", home, "log", "TASK.md", "-n", "2")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == at[:2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cat", "TASK.md", "--at", "soon"), "“soon” is no time; expected a time such as 2026-11-23T06:00:00Z"),
        (("cat", "TASK.md", "--at", "1d"), "nothing was recorded of it before 20"),
        (("cat", "ROBOTS.md", "--at", "now"), "no versions of this file are kept"),
        (("log", "nothing.md"), "no such file or directory"),
        (("diff", "TASK.md", "9e9", "now"), "“9e9” is no time"),
        (("write", "/at/now/projects/main/TASK.md", "/dev/null"), "may not write"),
    ],
)
def test_what_cannot_be_answered_is_said(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    code, out, err = paos(capsys, "--home", home, *words)
    assert code == 2 and said in err and "Traceback" not in err and not out


def test_a_role_without_the_right_learns_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = versions(capsys, "--home", home, "TASK.md")[1]["time"]
    for words in (("cat", "TASK.md", "--at", str(at)), ("log", "TASK.md"), ("diff", "TASK.md", str(at))):
        code, out, err = paos(capsys, "--home", home, "--as", "watchdog", *words)
        assert code == 2 and not out and "two" not in err
