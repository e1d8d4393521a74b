"""scripts/messages.py sees each fault that it is there for; scripts/check runs it on the repository."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import messages  # noqa: E402  # after the path is set

ROWS = 'ROWS = {"robot.holds": ("holds {id}", "拿着 {id}"), "robot.closed": ("closed", "已闭合")}\n'
USES = 'coded("robot.holds", id=held)\ncoded("robot.closed")\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / messages.CATALOGUES
    folder.mkdir(parents=True)
    (folder / "robot_messages.py").write_text(ROWS)
    (tmp_path / messages.SOURCE / "uses.py").write_text(USES)
    return tmp_path


def test_clean_catalogues_pass(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert messages.main(root) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS.replace("拿着 {id}", "拿着 {thing}"), "robot.holds has other arguments in one language"),
        (ROWS.replace("拿着 {id}", "拿着 {id：g}"), "robot.holds has other arguments in one language"),
        (ROWS.replace(', "已闭合"', ""), "robot.closed has no text in one of the languages"),
        (ROWS.replace('"已闭合"', '""'), "robot.closed has no text in one of the languages"),
        (ROWS.replace("robot.closed", "file.closed"), "file.closed is a code of another catalogue"),
        (ROWS.replace("}\n", ', "robot.new": ("new", "新")}\n'), "robot.new is in a catalogue, and no module names it"),
        ("ROWS = {}\n", "uses.py:1: no catalogue has robot.holds"),
    ],
)
def test_a_row_that_is_wrong_is_seen(root: Path, rows: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (root / messages.CATALOGUES / "robot_messages.py").write_text(rows)
    assert messages.main(root) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('coded("robot.holds")', "robot.holds takes id, and is given nothing"),
        ('coded("robot.holds", thing=1)', "robot.holds takes id, and is given thing"),
        ('coded("robot.closed", id=1)', "robot.closed takes nothing, and is given id"),
        ('coded("robot.opened")', "no catalogue has robot.opened"),
        ('NotUnderstood("robot.opened")', "no catalogue has robot.opened"),
        ('NotUnderstood("robot.holds", "missing")', "robot.holds takes id, and is given nothing"),
        ('case.say("robot.opened")', "no catalogue has robot.opened.expected"),
        ('ArgumentSpec(("--all",), "every robot")', "no catalogue has every robot"),
        ('CommandSpec("stop", "help.stop", "stop:run", more="robot.opened")', "no catalogue has help.stop"),
        ('CommandSpec("stop", "robot.closed", "stop:run", more="robot.opened")', "no catalogue has robot.opened"),
        ('if "contact" in outcome.message: ...', "a message is searched"),
        ('if "contact" not in finding.found.lower(): ...', "a message is searched"),
        ('if "contact" in str(error): ...', "a message is searched"),
        ('PATTERN.search(f"{note.title} {note.reason}")', "a message is searched"),
        ('re.split(";", note.reason or note.rejection)', "a message is searched"),
        ('error.fix.startswith("correct")', "a message is searched"),
    ],
)
def test_a_line_that_is_wrong_is_seen(root: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (root / messages.SOURCE / "wrong.py").write_text(line + "\n")
    assert messages.main(root) == 1
    assert said in capsys.readouterr().err


def test_an_exception_that_searches_nothing_is_seen(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / messages.SOURCE / "policies").mkdir()
    (root / messages.SOURCE / "policies/gr00t.py").write_text("")
    assert messages.main(root) == 1
    assert "lists policies/gr00t.py, which searches no message" in capsys.readouterr().err


SENTENCES = [
    'Finding("CODE", "a.md", "a list", found, coded("robot.closed"))',
    'Finding("CODE", "a.md", expected, f"no {name}", coded("robot.closed"))',
    'Outcome.failure(Cause.ERROR, "CODE", f"lost after {n} steps")',
    'Outcome.success("nothing to do")',
    'raise NotFound(coded("robot.closed"), expected="one of: " + names)',
    'raise UserError("nobody" if known else f"no robot {id!r}")',
    'context.output.report(f"{path}: {n} bytes written", value)',
    'context.output.line(name or "no name")',
    'HIDDEN = Decision(False, "enoent", "no such file")',
    'left.append(SkippedItem(where, "no event", coded("robot.closed")))',
    'raise TargetStopped("the last picture is too old")',
    'def f():\n    fix = "try another"\n    raise BadInput(coded("robot.closed"), fix=fix)',
]


@pytest.mark.parametrize("line", SENTENCES)
def test_an_english_sentence_is_seen_in_a_folder_whose_messages_are_in_catalogues(
    root: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("planning", "plugins/other"):
        (root / messages.SOURCE / folder).mkdir(parents=True)
        (root / messages.SOURCE / folder / "one.py").write_text(line + "\n")
    assert messages.main(root) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert "planning/one.py" in said and "say it by a code" in said


@pytest.mark.parametrize(
    "line",
    [
        'Finding("CODE", "TASK.md row 1", "idle | error", names, "pip install \'worldfs[sim]\'")',
        'context.output.line(f"{path} → {new}")',
        'raise BadInput(coded("robot.closed"), path="SESSIONS.md of it", fix="chmod 600 x")',
        'log("a line of a log")',
    ],
)
def test_what_is_the_same_in_every_language_is_no_sentence(root: Path, line: str) -> None:
    (root / messages.SOURCE / "planning").mkdir()
    (root / messages.SOURCE / "planning/one.py").write_text(line + "\n")
    assert messages.main(root) == 0
