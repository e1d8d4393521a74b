"""Something odd in place of a file that an option names, or that a command reads at its start: the command ends, names
it, and prints no traceback."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldfs.testing.odd_files import ODD, SPECIAL, device, directory, fifo, listening
from worldfs.testing.waiting import PATIENCE_S

Command = Callable[..., tuple[int, str, str]]


class Waits(BaseException):
    """No error of the product's: nothing catches it."""


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    def waits(*_: object) -> None:
        raise Waits

    before = signal.signal(signal.SIGALRM, waits)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Path:
    monkeypatch.setenv("PAOS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PAOS_TOKEN", raising=False)
    assert command("onboard")[0] == 0 and command("agent", "init", "rio")[0] == 0
    return tmp_path / "home"


CONNECT = ("--connect", "ws://127.0.0.1:1")
OPTIONS: dict[str, tuple[str, ...]] = {
    "--token-file": (*CONNECT, "--token-file", "FILE", "ls", "/"),
    "--tls-cert": ("serve", "--port", "0", "--tls-cert", "FILE"),
    "--tls-key": ("serve", "--port", "0", "--tls-cert", "FILE", "--tls-key", "FILE"),
    "up --tls-cert": ("up", "--serve", "--no-cameras", "--port", "0", "--tls-cert", "FILE"),
    "--service": (*CONNECT, "node", "--name", "n", "--invite", "x", "--service", "FILE"),
    "--state": (*CONNECT, "node", "--name", "n", "--invite", "x", "--export", "a=.", "--state", "FILE"),
    "--template": ("agent", "run", "rio", "--prompt", "stdin", "--template", "FILE", "--", "true"),
    "policy --token-file": ("policy", "serve", "--port", "0", "--token-file", "FILE"),
    "policy --policy": ("policy", "serve", "--port", "0", "--policy", "FILE.onnx"),
}


@pytest.mark.slice(4)
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("option", OPTIONS)
def test_no_option_waits_for_what_is_no_file(
    option: str, odd: Callable[[Path], None], home: Path, tmp_path: Path, command: Command
) -> None:
    words = OPTIONS[option]
    file = tmp_path / ("given.onnx" if "FILE.onnx" in words else "given")
    odd(file)
    code, _, err = command(*(str(file) if word in ("FILE", "FILE.onnx") else word for word in words))
    assert code in (1, 2, 3) and "Traceback" not in err and "our bug" not in err, err
    if odd in SPECIAL and not (odd is device and option == "--state"):
        assert code == 2 and str(file) in err, err


@pytest.mark.parametrize("odd", SPECIAL)
def test_a_write_from_what_is_no_file_changes_nothing(
    odd: Callable[[Path], None], home: Path, tmp_path: Path, command: Command
) -> None:
    before = (home / "workspace/TASK.md").read_bytes()
    odd(tmp_path / "given")
    code, _, err = command("write", "TASK.md", str(tmp_path / "given"))
    assert code == 2 and str(tmp_path / "given") in err
    assert (home / "workspace/TASK.md").read_bytes() == before


@pytest.mark.parametrize("odd", SPECIAL)
def test_setup_reads_no_settings_from_what_is_no_file(
    odd: Callable[[Path], None], home: Path, tmp_path: Path, command: Command
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    odd(project / ".mcp.json")
    code, _, err = command("setup", "claude-code", str(project))
    assert code == 2 and str(project / ".mcp.json") in err and "Traceback" not in err


COMMANDS = (("status",), ("check",), ("ls", "/"), ("cat", "TASK.md"), ("onboard",), ("stop",), ("robot", "list"))


@pytest.mark.slice(2)
@pytest.mark.parametrize("odd", ODD)
def test_no_config_json_hangs_a_command_and_none_becomes_the_defaults(
    odd: Callable[[Path], None], home: Path, command: Command
) -> None:
    (home / "config.json").unlink()
    odd(home / "config.json")
    for words in COMMANDS:
        code, out, err = command(*words)
        assert "Traceback" not in out + err and "our bug" not in err, (words, err)
        if words[0] in ("status", "check", "robot"):
            assert code in (1, 2) and "config.json" in out + err, (words, out, err)
    assert command("up", "--until-idle")[0] in (2, 3)


@pytest.mark.slice(4)
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["hal/profiles/own.md", "agents/rio/agent_policy.json", "workspace/.paos/store.json"])
def test_no_other_file_of_the_home_that_is_read_at_a_start_hangs_one(
    name: str, odd: Callable[[Path], None], home: Path, command: Command
) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    odd(home / name)
    for words in (("onboard", "--profile", "own"), ("check",), ("status",), ("ls", "/"), ("--agent", "rio", "ls", "/")):
        code, out, err = command(*words)
        assert code in (0, 1, 2, 3) and "Traceback" not in out + err and "our bug" not in err, (words, err)


@pytest.mark.parametrize("odd", [fifo, directory, device, listening])
def test_a_film_is_written_to_no_such_thing(
    odd: Callable[[Path], None], home: Path, tmp_path: Path, command: Command
) -> None:
    odd(tmp_path / "film.gif")
    code, _, err = command("do", "wave", "--record", str(tmp_path / "film.gif"))
    assert code == 2 and "film.gif" in err
