"""`paos top` in a real terminal, on a home and over --connect, and where it cannot run."""

from __future__ import annotations

import asyncio
import fcntl
import importlib.util
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pyte
import pytest

from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.cli.top.top_app import TopApp
from worldfs.interfaces.cli.top.top_source import HomeSource, ServedSource
from worldfs.world.home import Home
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import World

HOSTILE = "\x1b]0;owned\x07\x1b[2Jgone\u202e"


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    place = tmp_path / "home"
    assert main(["--home", str(place), "onboard"]) == 0
    assert main(["--home", str(place), "agent", "init", "rio"]) == 0
    report = place / "agents/rio/report.json"
    report.write_text(json.dumps({**json.loads(report.read_text()), "summary": HOSTILE}))
    capsys.readouterr()
    return place


class Terminal:
    """A command in a pseudo-terminal, and what its screen shows."""

    def __init__(self, columns: int, rows: int, *argv: str) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream, self.sent = pyte.ByteStream(self.screen), b""
        self._fd, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environ = {**os.environ, "TERM": "xterm-256color"}
        self._process = subprocess.Popen(
            argv, stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
            env={key: environ[key] for key in environ.keys() - {"COLUMNS", "LINES"}},
        )  # fmt: skip
        os.close(inside)

    def until(self, holds: Callable[[str], bool]) -> None:
        while not holds(self.text()):
            self._take()

    def text(self) -> str:
        """The screen, whose lines are joined where a text was wrapped."""
        return "".join(line.strip("│ ") for line in self.screen.display)

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def end(self) -> int:
        """What it sends until it ends; its exit code."""
        while True:
            try:
                self._take()
            except OSError:
                break
        return self._process.wait()

    def _take(self) -> None:
        data = os.read(self._fd, 65536)
        if not data:
            raise OSError
        self.sent += data
        self._stream.feed(data)


def test_in_a_terminal_of_forty_columns(home: Path) -> None:
    paos = [sys.executable, "-c", "from worldfs.interfaces.cli.start import start; start()", "--home", str(home)]
    terminal = Terminal(40, 24, *paos, "top")
    terminal.until(lambda text: "franka_001" in text and r"gone\u202e" in text and "Stop" in text)
    assert r"\x1b]0;owned\x07\x1b[2Jgone\u202e" in terminal.text()
    terminal.press("s")
    terminal.until(lambda text: "STOPPED" in text)
    with World.open(home / "workspace", config=Home(home).config({})) as world:
        assert world.stops.state("franka_001").stopped
        world.resume("franka_001")  # by another process, as far as the screen is concerned
    terminal.until(lambda text: "STOPPED" not in text)
    terminal.press("q")
    assert terminal.end() == 0
    assert b"]0;owned" not in terminal.sent.replace(rb"\x1b]0;owned", b"") and b"\xe2\x80\xae" not in terminal.sent
    assert terminal.sent.rindex(b"\x1b[?1049l") > terminal.sent.rindex(b"\x1b[?1049h")  # the screen is given back


async def _until(pilot, holds: Callable[[], bool]) -> None:
    while not holds():
        await pilot.pause(0.01)


def _rows(app: TopApp, name: str) -> str:
    return "\n".join(str(option.prompt) for option in app.query_one(f"#{name}").options)


def test_over_a_connection(home: Path) -> None:
    from worldfs.client import connection

    async def life(url: str, token: str) -> None:
        async with connection.connect(url, token=token) as world:
            app = TopApp(ServedSource(world), url, "en")
            async with app.run_test(size=(80, 24)) as pilot:
                await _until(pilot, lambda: "franka_001" in _rows(app, "robots"))
                assert "rio" in _rows(app, "agents") and "mother" not in _rows(app, "agents")
                await pilot.press("S")
                await _until(pilot, lambda: "STOPPED" in _rows(app, "robots"))
                await pilot.press("r")
                await _until(pilot, lambda: "STOPPED" not in _rows(app, "robots"))

    with ServedWorld.open(home) as realm, BackgroundServer(realm, ListenOptions(port=0)) as server:
        token = json.loads((home / "auth_tokens.json").read_text())["admin_token"]
        asyncio.run(life(server.started.url, token))


def test_agents_of_other_programs_are_seen_when_they_change(home: Path) -> None:
    async def life(source: HomeSource) -> None:
        app = TopApp(source, "the home", "en")
        async with app.run_test(size=(80, 24)) as pilot:
            await _until(pilot, lambda: "rio" in _rows(app, "agents"))
            (home / "agents/rio/inbox/1.json").write_text("{}")
            await _until(pilot, lambda: "messages: 1" in _rows(app, "agents"))
            assert main(["--home", str(home), "agent", "init", "leo"]) == 0
            await _until(pilot, lambda: "leo" in _rows(app, "agents"))
            (home / "agents/leo/inbox/1.json").write_text("{}")
            await _until(pilot, lambda: _rows(app, "agents").count("messages: 1") == 2)

    with World.open(home / "workspace", config=Home(home).config({}), agents=home / "agents") as world:
        source = HomeSource(world, "operator", str(home / "agents"))
        try:
            asyncio.run(life(source))
        finally:
            source.close()


def test_without_its_library_or_a_terminal_it_says_what_to_do(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["--home", str(home), "top"]) == 2
    assert "this needs a terminal — paos status --watch" in capsys.readouterr().err
    real = importlib.util.find_spec
    gone = "worldfs.base.extras.find_spec"
    monkeypatch.setattr(gone, lambda name: None if name == "textual" else real(name))
    assert main(["--home", str(home), "top"]) == 2
    assert "pip install 'worldfs[top]'" in capsys.readouterr().err
