"""Stop on the page: what it says is what is known, also while the server is killed or frozen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.interfaces.web.conftest import SERVER_AWAY, ServedPage

from worldfs.testing.free_port import free_port
from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import PATIENCE_S, until

ROOT = Path(__file__).resolve().parents[3]
PAOS = (sys.executable, "-m", "worldfs.interfaces.cli.main")
ALARM = "() => { const one = document.querySelector('.notice.alarm'); return one?.innerText || ''; }"


class Server:
    """`paos up --serve` in a process of its own, always at the same port."""

    def __init__(self, home: Path) -> None:
        self.environ = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PAOS_HOME": str(home)}
        subprocess.run([*PAOS, "onboard"], env=self.environ, check=True, capture_output=True, timeout=PATIENCE_S)
        self.home, self.port = home, free_port()
        self.begin()

    def begin(self) -> None:
        words = ["up", "--serve", "--port", str(self.port), "--json", "--seed", "7", "--no-cameras"]
        self.process = subprocess.Popen([*PAOS, *words], env=self.environ, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        next(line for line in self.process.stdout if json.loads(line).get("event") == "serve")

    @property
    def page(self) -> ServedPage:
        token = json.loads((self.home / "auth_tokens.json").read_text())["admin_token"]
        elsewhere: Any = None  # the world is another process's
        return ServedPage(elsewhere, elsewhere, self.home, f"http://127.0.0.1:{self.port}/", token)

    def stopped(self) -> bool:
        said = subprocess.run([*PAOS, "--json", "status"], env=self.environ, capture_output=True, text=True, check=True)
        return bool(json.loads(said.stdout)["nodes"][0]["stopped"])

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "home")
    yield made
    made.close()


def says(page: Any, text: str) -> None:
    page.wait_for_function(f"(text) => ({ALARM})().includes(text)", arg=text)


@pytest.mark.slice(2)
@pytest.mark.parametrize("trouble", ["killed", "frozen"])
def test_a_stop_that_the_server_has_not_taken_is_not_delivered_until_it_has(
    open_page: Any, server: Server, trouble: str
) -> None:
    page = open_page(server.page)
    page.watch.allowed = SERVER_AWAY
    page.wait_for_function("() => worldfs.world.state.value === 'open'")
    if trouble == "frozen":
        freeze(server.process.pid)
    else:
        server.process.kill()
        page.wait_for_function("() => worldfs.world.state.value === 'lost'")
    page.get_by_role("button", name="Stop all robots").click()
    says(page, "Stop NOT delivered")
    says(page, "hardware stop")
    page.evaluate(  # from now on: every word that it says of the stop
        """() => { globalThis.words = new Set();
        new MutationObserver(() => words.add(document.querySelector('[data-stop]')?.dataset.stop || 'nothing'))
        .observe(document.querySelector('.notices'), {childList: true, subtree: true, attributes: true}); }"""
    )
    page.get_by_role("tab", name="Work").click()
    page.wait_for_timeout(4000)  # longer than any stop that is under way
    assert page.evaluate("() => [...words].every((word) => word === 'undelivered')")
    assert "NOT delivered" in page.evaluate(ALARM) and page.get_by_text("Stopping …").count() == 0
    if trouble == "killed":
        server.close()
        server.begin()
    else:
        server.process.send_signal(signal.SIGCONT)
    page.get_by_text("franka_001: stopped; its driver confirms that it stands").wait_for()
    assert page.evaluate(ALARM) == ""
    until(server.stopped)


def test_a_robot_that_has_not_confirmed_is_said_to_be_so(page: Any, served_page: ServedPage, monkeypatch: Any) -> None:
    kernel = served_page.world.kernel
    assert kernel is not None
    driver = kernel.nodes["franka_001"].driver
    monkeypatch.setattr(driver, "standstill", lambda since: 1 / 0)
    page.get_by_role("button", name="Stop all robots").click()
    says(page, "franka_001: stop sent, not confirmed")
    says(page, "hardware stop")
    page.evaluate("() => worldfs.show('work')")
    page.get_by_text("NOT confirmed that it stands: use its hardware stop").wait_for()
    monkeypatch.undo()
    page.get_by_text("franka_001: stopped; its driver confirms that it stands").wait_for()  # late, and said so
    assert page.evaluate(ALARM) == ""
    served_page.world.resume("franka_001", "operator")


def test_a_robot_that_is_resumed_is_no_longer_called_stopped(page: Any, served_page: ServedPage) -> None:
    page.get_by_role("button", name="Stop all robots").click()
    stopped = page.get_by_text("franka_001: stopped; its driver confirms that it stands")
    stopped.wait_for()
    served_page.world.resume("franka_001", "operator")
    page.get_by_text("franka_001: not stopped any more").wait_for()
    assert stopped.count() == 0
