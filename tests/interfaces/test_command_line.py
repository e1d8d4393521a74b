"""The command's grammar, its exit codes, and how it fails: through the real entry point."""

from __future__ import annotations

import errno
import gc
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from worldfs.base.errors import BadInput, Busy, StorageError
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.interfaces.cli.command_table import COMMANDS, CommandSpec
from worldfs.interfaces.cli.do_command import EXIT
from worldfs.interfaces.cli.exits import CODES
from worldfs.interfaces.cli.help_pages import help_text
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.cli.parser import parse
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import WorkspaceFixture

ROOT = Path(__file__).resolve().parents[2]


def fails(call: CommandContext) -> int:
    raise {
        "user": Busy("a kernel runs already", path="/w", expected="none", fix="stop it"),
        "house": StorageError("disk full", path="/w"),
        "disk": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/w/x"),
        "absent": FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/w/y"),
        "bug": ZeroDivisionError("a / b"),
        "interrupt": KeyboardInterrupt(),
    }[str(call["instruction"][0])]


DO = next(command for command in COMMANDS if command.name == "do")
MODULE = "tests.failing"  # the table wants a dotted name


@pytest.fixture(autouse=True)
def reachable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, MODULE, sys.modules[__name__])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("PAOS_DEBUG", raising=False)


def fail(how: str, *more: str) -> int:
    return main(["do", how, *more], (DO._replace(target=f"{MODULE}:fails"),))


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        ("user", 2, "a kernel runs already; expected none — stop it"),
        ("house", 3, "/w: disk full"),
        ("disk", 3, "free some space"),
        ("absent", 2, "/w/y: no such file"),
        ("interrupt", 130, "interrupted"),
    ],
)
def test_each_way_of_failing_has_its_exit_code_and_words_and_no_traceback(
    how: str, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail(how) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("paos: ")
    assert words in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize("how", ["user", "absent", "bug", "quiet", "finalizer"])
def test_ctrl_c_that_a_library_turned_into_something_else_is_still_an_interrupt(
    how: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """numpy and mujoco answer a Ctrl-C while they load with an ImportError, which reads like "not installed"."""

    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def loads(call: CommandContext) -> int:
        if how == "finalizer":  # Python prints what is raised there, and goes on
            Finalized()
            return 0
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            return fails(call) if how != "quiet" else 0
        raise AssertionError("no interrupt")

    monkeypatch.setattr(sys.modules[MODULE], "loads", loads, raising=False)
    assert main(["do", how], (DO._replace(target=f"{MODULE}:loads"),)) == 130
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "paos: interrupted\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_the_program_is_loaded_ends_it_without_a_word() -> None:
    started = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["paos"]
    module, name = started.split(":")
    script = f"""
import sys
before = set(sys.modules)
from {module} import {name}
slow = {{"enum", "signal", "typing"}} & (set(sys.modules) - before)
assert not slow, "a Ctrl-C meets Python's own handler while these load: " + str(slow)
import os, signal

class Interrupting:
    def find_spec(self, name, *more):
        if name == "worldfs.interfaces.cli.command_table":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.exit({name}())
"""
    ended = subprocess.run([sys.executable, "-c", script, "version"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_ctrl_c_in_a_command_is_a_message_also_after_that_start() -> None:
    script = """
import os, signal, sys
from worldfs.interfaces.cli import file_commands, start
file_commands.cat = lambda call: os.kill(os.getpid(), signal.SIGINT)
sys.argv[1:] = ["cat", "ENVIRONMENT.md"]
sys.exit(start.start())
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "paos: interrupted\n")


def test_exit_codes_are_documented_in_one_place() -> None:
    page = (ROOT / "docs/command.md").read_text("utf-8")
    assert all(f"| {code} | {text} |" in page for code, text in CODES.items())
    assert set(EXIT.values()) <= set(CODES)


def test_with_json_an_error_is_one_object_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert fail("user", "--json") == 2
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert (error["code"], error["found"], error["fix"], error["field"]) == (
        "BUSY",
        "a kernel runs already",
        "stop it",
        "/w",
    )
    assert said.err == ""


def test_our_own_bug_is_called_so_and_its_traceback_is_kept_in_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert fail("bug") == 70
    said = capsys.readouterr().err
    assert "our bug" in said
    assert "Traceback" not in said
    (kept,) = tmp_path.glob("paos-bug-*.txt")
    assert str(kept) in said
    assert "ZeroDivisionError: a / b" in kept.read_text()


def test_paos_debug_prints_the_traceback(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAOS_DEBUG", "1")
    assert fail("bug") == 70
    assert "ZeroDivisionError: a / b" in capsys.readouterr().err.split("Traceback", 1)[1]


@pytest.mark.parametrize(
    "words",
    [
        ["frobnicate"],
        ["up", "--seed", "x"],
        ["up", "--seed", "-1"],
        ["wait", "A", "--timeout", "nan"],
        ["wait", "A", "--timeout", "inf"],
        ["wait", "A", "--timeout", "-1"],
        ["cancel"],
        ["onboard", "--language", "fr"],
        ["status", "--hom", "x"],
    ],
)
def test_what_the_table_does_not_know_is_refused_in_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("paos: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("words", [["--home", "h", "status"], ["status", "--home", "h"]])
def test_global_options_stand_on_either_side_of_the_command(words: list[str]) -> None:
    assert parse(words, COMMANDS)["home"] == "h"


def test_an_option_before_the_command_is_not_reset_by_the_command() -> None:
    options = parse(["--json", "--as", "planner", "ls"], COMMANDS)
    assert (options["json"], options["as"], options["home"], options["workspace"]) == (True, "planner", None, None)


def test_no_command_prints_the_help_and_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    said = capsys.readouterr().out
    assert [command.name for command in COMMANDS if command.name not in said] == []


def test_a_usage_error_is_a_user_error() -> None:
    with pytest.raises(BadInput, match="unknown command"):
        parse(["nope"], COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.name))
def test_every_command_of_the_table_has_help_and_a_function(
    command: CommandSpec, capsys: pytest.CaptureFixture[str]
) -> None:
    from importlib import import_module

    assert main([command.name, "--help"]) == 0
    assert help_text(command.help).split()[0] in capsys.readouterr().out
    module, name = command.target.split(":")
    assert callable(getattr(import_module(f"worldfs.interfaces.cli.{module}"), name))


def test_every_command_is_in_its_document() -> None:
    text = (ROOT / "docs/command.md").read_text()
    assert [c.name for c in COMMANDS if f"## paos {c.name}\n" not in text and f"`paos {c.name}`" not in text] == []


def test_a_closed_pipe_ends_the_command_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", "completion", "bash"],
        env=environ,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        timeout=PATIENCE_S,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slice(5)
@pytest.mark.parametrize("closed", ["0<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["status", "ls /", "nonsense"])
def test_a_closed_stream_is_nobody_who_reads(tmp_path: Path, closed: str, words: str) -> None:
    """No file that the command opens takes its number; an error is none of ours."""
    paos = f"{sys.executable} -m worldfs.interfaces.cli.main --home {tmp_path}/home"
    script = f"{paos} onboard >/dev/null; {paos} {words} {closed}"
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == (2 if words == "nonsense" else 0), done
    assert "Traceback" not in done.stdout + done.stderr and not list(tmp_path.glob("paos-bug*"))


def test_a_port_that_cannot_be_starts_no_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path / "home")]
    assert main([*home, "onboard"]) == 0
    capsys.readouterr()
    assert main([*home, "up", "--serve", "--port", "99999", "--no-cameras"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "99999" in said.err


def test_a_terminal_without_chinese_does_not_end_the_command() -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", "清空桌子"],
        env=environ,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2
    assert b"\\u6e05" in done.stderr


def test_reading_commands_start_without_the_heavy_modules() -> None:
    """Cold start is mostly imports: these must not come in with the door, the table and the parser."""
    program = (
        "import sys, worldfs.interfaces.cli.main, worldfs.interfaces.cli.status_command,"
        " worldfs.interfaces.cli.file_commands, worldfs.interfaces.cli.home_tree;"
        "print(*sorted({'numpy', 'mujoco', 'ruamel', 'ruamel.yaml', 'PIL', 'asyncio', 'msgspec', 'av', 'logging',"
        " 'tempfile', 'subprocess', 'argparse'} & set(sys.modules)))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_process_of_the_command_lets_its_threads_take_short_turns(monkeypatch):
    """A thread that computes keeps one that hears a stop waiting for a turn, after each call of the system."""
    said = {}
    monkeypatch.setattr(sys, "argv", ["paos", "--version"])
    for module, name in ((sys, "setswitchinterval"), (gc, "set_threshold"), (gc, "freeze")):
        monkeypatch.setattr(module, name, lambda *values, name=name: said.update({name: values}))
    assert main() == 0
    assert said["setswitchinterval"][0] <= 0.001 and said["set_threshold"][0] >= 10_000


@pytest.mark.parametrize("text", ["where is the apple?", "苹果在哪里"])
def test_a_question_needs_no_name_of_one_of_several_robots(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = WorkspaceFixture(tmp_path / "workspace").root
    assert main(["--workspace", str(root), "--json", "do", text]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["verdict"] == "answered"
    assert main(["--workspace", str(root), "do", "pick up the apple"]) == 2
    assert "arm_1, arm_2" in capsys.readouterr().err


def test_the_robot_that_an_instruction_is_said_to_is_the_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = WorkspaceFixture(tmp_path / "workspace").root
    assert main(["--workspace", str(root), "do", "arm_2, open the unicorn"]) == 2
    assert "arm_1, arm_2" not in capsys.readouterr().err  # it is not asked which
    assert main(["--workspace", str(root), "do", "--node", "arm_1", "arm_2, put the apple in the basket"]) == 2
    assert "said to arm_2" in capsys.readouterr().err
