"""What a newcomer meets in the first minutes: slips of the keyboard, narrow terminals, broken files, a fresh scene."""

from __future__ import annotations

import json
import os
import pty
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import Busy, NotFound
from worldfs.base.model import Order
from worldfs.interfaces.cli.command_output import wrapped
from worldfs.interfaces.cli.command_table import COMMANDS
from worldfs.interfaces.cli.main import main
from worldfs.runtime.job_store import JobStore
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.root_lock import RootLock
from worldfs.testing.free_port import free_port
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world import reset as fresh

ROOT = Path(__file__).resolve().parents[2]
Paos = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAOS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def paos(home: Path, command: Paos, monkeypatch: pytest.MonkeyPatch) -> Paos:
    def factories(name: str | None, *, seed: int | None, cameras: bool, real_time: float = 0.0) -> Mapping[str, Any]:
        return {"simulation": lambda seat: NullDriver(executed=[])}

    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", factories)
    assert command("onboard")[0] == 0
    return command


# -- did you mean ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("cat", "ENVIROMENT.md"), "ENVIRONMENT.md"),
        (("stat", "/nodes/franka_01/STATUS.json"), "/nodes/franka_001/STATUS.json"),
        (("ls", "/node"), "/nodes"),
        (("ls", "jbs"), "jobs"),
        (("walk", "/nods"), "/nodes"),
        (("wait", "ACTON.md", "--timeout", "0"), "ACTION.md"),
        (("write", "LESONS.md"), "LESSONS.md"),
        (("--as", "planer", "cat", "TASK.md"), "planner"),
    ],
)
def test_a_slip_is_answered_with_what_may_have_been_meant(paos: Paos, words: tuple[str, ...], meant: str) -> None:
    code, out, err = paos(*words)
    assert (code, out) == (2, "") and f"did you mean {meant}?" in err


def test_what_a_role_may_not_see_is_not_offered(paos: Paos) -> None:
    assert "did you mean /projects?" in paos("ls", "/project")[2]
    assert "did you mean" not in paos("--as", "agent", "ls", "/project")[2]


def test_nothing_alike_is_not_guessed(paos: Paos) -> None:
    assert "did you mean" not in paos("cat", "/zzz")[2]


# -- a broken document -------------------------------------------------------------------------------------------------


def test_up_says_that_a_document_is_broken(paos: Paos, home: Path) -> None:
    (home / "workspace/ACTION.md").write_text('{"queue": [ {')
    code, out, err = paos("up", "--until-idle")
    alerts = [line for line in out.splitlines() if line.startswith("alert: ")]
    assert code == 1 and len(alerts) == 1 and "ACTION.md" in alerts[0] and "line 1, column 14" in alerts[0]
    assert any("ACTION.md could not be read" in line for line in out.splitlines())
    assert "ACTION.md" not in err  # a terminal shows both: once is enough
    (home / "workspace/ACTION.md").write_text('{"queue": [ {')
    events = [json.loads(line) for line in paos("--json", "up", "--until-idle")[1].splitlines()]
    assert [e["alert"]["field"] for e in events if e["event"] == "alert"] == ["ACTION.md"]


DEEP = '{"sessions": ' + "[" * 150 + "]" * 150 + "}"


@pytest.mark.parametrize("text", [b'{"sessions": [{"session_id": "a', DEEP.encode(), b'{"sessions": ["\xff"]}'])
def test_up_until_idle_with_sessions_that_could_not_be_read_is_no_success(paos: Paos, home: Path, text: bytes) -> None:
    (home / "workspace/SESSIONS.md").write_bytes(text)
    assert paos("up", "--until-idle")[0] == 1
    ends = [json.loads(line) for line in paos("--json", "up", "--until-idle")[1].splitlines()]
    assert [one["files"] for one in ends if one.get("state") == "unread"] == [["SESSIONS.md"]]
    (home / "workspace/SESSIONS.md").write_text('{"sessions": []}')
    assert paos("up", "--until-idle")[0] == 0


def test_up_says_at_each_start_what_was_refused_as_check_does(paos: Paos, home: Path) -> None:
    entry = {"action_id": "../x", "action_type": "strategy", "params": {"name": "wave"}, "status": "pending"}
    (home / "workspace/ACTION.md").write_text(json.dumps({"queue": [entry]}))
    for _ in range(2):
        code, out, _ = paos("up", "--until-idle")
        alerts = [line for line in out.splitlines() if line.startswith("alert: ")]
        assert code == 0 and len(alerts) == 1 and "expected an id that can be a file name" in alerts[0], out
        assert "found '../x': it holds a path" in alerts[0] and "'../x': it holds a path" in paos("check")[1]


def test_prose_in_action_md_is_named_by_up_and_by_check_and_stays(paos: Paos, home: Path) -> None:
    page = home / "workspace/ACTION.md"
    page.write_text("# ACTION\n\npick up the apple\n")
    code, out, _ = paos("up", "--until-idle")
    assert code == 0 and "alert: NO_QUEUE · ACTION.md" in out and "pick up the apple" in out
    code, out, _ = paos("check")
    assert code == 0 and "warning: ACTION.md" in out and "pick up the apple" in out
    assert page.read_text() == "# ACTION\n\npick up the apple\n"


# -- reset -------------------------------------------------------------------------------------------------------------


def _say(home: Path) -> dict[str, bytes]:
    texts = {
        "ENVIRONMENT.md": b"# a scene\n", "ACTION.md": b'{"queue": []}\n', "TASK.md": b"# Task\n",
        "LESSONS.md": b"# L\n", "SESSIONS.md": b"sessions: []\n",
    }  # fmt: skip
    for name, text in texts.items():
        (home / "workspace" / name).write_bytes(text)
    return texts


def test_reset_asks_first_and_can_be_taken_back(paos: Paos, home: Path) -> None:
    workspace = home / "workspace"
    assert "nothing to reset" in paos("reset")[1]
    texts = _say(home)
    code, _, err = paos("reset")  # no terminal: it has to be said
    assert code == 2 and "--yes" in err and "ENVIRONMENT.md" in err
    assert all((workspace / name).read_bytes() == text for name, text in texts.items())
    assert paos("reset", "--yes")[0] == 0
    assert (workspace / "ENVIRONMENT.md").read_bytes() == b"" and not (workspace / "SESSIONS.md").exists()
    assert (workspace / "LESSONS.md").read_bytes() == texts["LESSONS.md"]
    assert "nothing to reset" in paos("reset")[1]
    assert paos("reset", "--undo")[0] == 0
    assert all((workspace / name).read_bytes() == text for name, text in texts.items())
    assert paos("reset", "--undo")[0] == 2


def test_a_reset_cancels_what_waits(paos: Paos, home: Path) -> None:
    store = DiskStore(home / "workspace")
    order = Order("act_1", "franka_001", "move_to", {"target_pose": [0.4, 0, 0.5]})
    assert JobStore(store, SystemClock()).accept([order])
    store.close()
    assert fresh.reset_losses(home / "workspace").jobs == ("act_1",)
    assert paos("reset", "--yes")[0] == 0
    events = [json.loads(line) for line in paos("--json", "up", "--until-idle")[1].splitlines()]
    assert [(e["id"], e["cause"]) for e in events if e["event"] == "ended"] == [("act_1", "cancelled")]
    assert not any(e["event"] == "running" for e in events)


def test_no_reset_while_a_kernel_runs(paos: Paos, home: Path) -> None:
    _say(home)
    with RootLock(home / "workspace", "kernel"), pytest.raises(Busy):
        fresh.reset(home / "workspace")
    assert (home / "workspace/ENVIRONMENT.md").read_bytes()


def test_a_reset_that_was_cut_short_is_completed_and_loses_nothing(
    paos: Paos, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, workspace = _say(home), home / "workspace"
    put, writes = DiskStore.put, 0
    for cut in range(1, 8):
        writes = 0

        def failing(self: DiskStore, key: str, data: bytes, *rest: Any, cut: int = cut, **more: Any) -> str:
            nonlocal writes
            writes += 1
            if writes == cut:
                raise OSError("cut")
            return put(self, key, data, *rest, **more)

        monkeypatch.setattr(DiskStore, "put", failing)
        with pytest.raises(OSError, match="cut"):
            fresh.reset(workspace)
        monkeypatch.setattr(DiskStore, "put", put)
        fresh.reset(workspace)
        assert not fresh.reset_losses(workspace)
        restored: set[str] = set()
        while True:
            try:
                restored |= set(fresh.undo_reset(workspace))
            except NotFound:
                break
        assert restored >= texts.keys() - {"LESSONS.md"}
        assert {name: (workspace / name).read_bytes() for name in texts} == texts


# -- terminals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [20, 40, 80])
def test_lines_wrap_between_words_and_indent(width: int) -> None:
    text = "  12:00:00  act_1  franka_001 pick_up object_id=apple_01  succeeded: 苹果已经放进篮子里了，一切都好"
    lines = wrapped(text, width)
    assert len(lines) > 1 and all(line.startswith("      ") for line in lines[1:])
    wide = [sum(2 if ord(c) > 0x2E80 else 1 for c in line) for line in lines]
    assert max(wide) <= max(width, len("      object_id=apple_01"))
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_what_fits_and_what_no_terminal_shows_stays_one_line() -> None:
    assert wrapped("word " * 40, 0) == ["word " * 40]
    assert wrapped("a word", 40) == ["a word"]
    path = "/a" * 60
    assert path in [line.strip() for line in wrapped(f"see {path} there", 40)]  # can be copied


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_of_help_is_wider_than_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.get_terminal_size", lambda *fd: os.terminal_size((width, 24)))
    for words in ([], *(command.name.split() for command in COMMANDS)):
        main([*words, "--help"])
        assert [line for line in capsys.readouterr().out.splitlines() if len(line) > width] == [], words


@pytest.fixture
def terminal() -> Iterator[Callable[..., bytes]]:
    """Runs the command on a terminal until it has shown a text, then interrupts it; everything that was shown."""
    running: list[subprocess.Popen[bytes]] = []

    def show(*words: str, until: bytes, environ: Mapping[str, str] = os.environ) -> bytes:
        ours, theirs = pty.openpty()
        os.set_blocking(ours, False)
        process = subprocess.Popen(
            [sys.executable, "-m", "worldfs.interfaces.cli.main", *words],
            stdin=theirs, stdout=theirs, stderr=theirs, env={**environ, "PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        running.append(process)
        os.close(theirs)
        seen = b""
        try:
            while until not in seen:
                assert select.select([ours], [], [], PATIENCE_S)[0], seen
                seen += os.read(ours, 65536)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            os.close(ours)
        return seen

    yield show
    for process in running:
        process.kill()
        process.wait()


def test_status_watch_ticks_in_colour_on_a_terminal(paos: Paos, terminal: Callable[..., bytes]) -> None:
    plain = {key: text for key, text in os.environ.items() if key != "NO_COLOR"}
    seen = terminal("status", "--watch", until=b"Ctrl-C ends\x1b[0m\r\n\r\nworkspace", environ=plain)
    assert b"\x1b[2J" in seen
    again = terminal("status", "--watch", until=b"jobs  ", environ={**plain, "NO_COLOR": "1"})
    assert b"\x1b[3" not in again.replace(b"\x1b[3J", b"")


def test_status_watch_to_a_pipe_is_plain_and_prints_changes(paos: Paos, home: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--json", "status", "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["kernel"] is None
        with RootLock(home / "workspace", "kernel"):
            (home / "workspace/TASK.md").write_text("# Task\n")
            assert json.loads(process.stdout.readline())["kernel"]
        process.terminate()


def test_cat_ends_the_line_on_a_terminal_only(paos: Paos, terminal: Callable[..., bytes], home: Path) -> None:
    (home / "workspace/TASK.md").write_text("no end")
    assert paos("cat", "TASK.md")[1] == "no end"
    assert terminal("cat", "TASK.md", until=b"\n").endswith(b"no end\r\n")


def test_the_address_of_a_page_that_nothing_serves_says_so(paos: Paos, home: Path) -> None:
    paos("onboard")
    (home / ".paos").mkdir(exist_ok=True)
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        address = f"http://127.0.0.1:{port}/"
        (home / ".paos/served.json").write_text(json.dumps({"page": address}))
        code, out, err = paos("page")
        assert code == 0 and out.startswith(address) and "no server listens" not in err
    assert "no server listens there now" in paos("page")[2]
