"""A served world with a kernel and a simulated arm, one browser a file, and a page that is signed in.

Every page fails its test on an error of the console, an exception, or a request to anywhere but its server.

In `make test`: the first look, an order from its words to its evidence, a stop on the way, an approval, an edit with a
conflict, the past, a phone, the names of the controls, hostile text, a token that ends, a server that restarts. The
others in `make proof`: a browser costs a second of the processor for each page.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from worldfs.access.tokens import TokenStore
from worldfs.base.clock import SystemClock
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.cli.driver_factories import factories
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.web.static_site import StaticSite
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.home import Home
from worldfs.world.home_world import open_home_world
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import World

CHROMIUM = os.environ.get("PAOS_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-sandbox",
]
PATIENCE_MS = 1000 * PATIENCE_S
SERVER_AWAY = ("WebSocket", "ERR_CONNECTION", "ERR_EMPTY_RESPONSE")  # console errors while a test has ended the server
NETWORK = "net::ERR_NETWORK_CHANGED"  # another program made an interface: Chromium drops what it is loading


class ServedPage(NamedTuple):
    """A world that is served with its page. `world` runs a kernel; `token` is an operator's."""

    world: World
    realm: ServedWorld
    home: Path
    url: str
    token: str

    @property
    def address(self) -> str:
        return f"{self.url}?quality=low#token={self.token}"

    def issue(self, agent: str = "mother", role: str = "admin", valid_s: float = 0) -> str:
        return TokenStore.open(self.home).add(agent, role, valid_s)[1]


class PageServer:
    """Serves one home; `restart` ends the server and begins another at the same port."""

    def __init__(self, home: Path, *, robot: bool = True, real_time: float = 0.0) -> None:
        self.home, self.stack = home, ExitStack()
        place = Home(home)
        config = place.config({})
        # Held first: a restart of the server is none of the kernel.
        self.world = self.stack.enter_context(
            open_home_world(
                place.root(config),
                config,
                agents=home / "agents",
                serve=True,
                drivers=factories(None, seed=1, cameras=False, real_time=real_time) if robot else {},
            )
        )
        self.stack.enter_context(KernelThread(self.world))
        self.port = free_port()
        self.begin()

    def begin(self) -> None:
        self._served = ExitStack()
        self.realm = self._served.enter_context(
            ServedWorld.open(self.home, world=self.world, clock=SystemClock(), agents=self.home / "agents")
        )
        where = ListenOptions(port=self.port)
        self._served.enter_context(BackgroundServer(self.realm, where, site=StaticSite().page))

    def end(self) -> None:
        self._served.close()

    def close(self) -> None:
        self.end()
        self.stack.close()

    @property
    def page(self) -> ServedPage:
        token = TokenStore.open(self.home).add("mother", "admin", person="operator")[1]
        return ServedPage(self.world, self.realm, self.home, f"http://127.0.0.1:{self.port}/", token)


@pytest.fixture(scope="module")
def page_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    """A home as `paos onboard` makes it: one arm, a table, three things."""
    home = tmp_path_factory.mktemp("page") / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    server = PageServer(home)
    yield server
    server.close()


@pytest.fixture(scope="module")
def served_page(page_server: PageServer) -> ServedPage:
    return page_server.page


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """One Chromium for the tests of a file. Without it, or without playwright, they are skipped, with the reason.

    Not for the whole run: while playwright is there, no other test of this process may run an event loop.
    """
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


class PageWatch:
    """Collects what no page may do."""

    def __init__(self, page: object, url: str) -> None:
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.allowed: tuple[str, ...] = ()  # parts of console errors that a test brings about
        origin, socket = url.rstrip("/"), url.replace("http", "ws", 1).rstrip("/")
        page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._request(request.url, origin))
        page.on("websocket", lambda opened: self._request(opened.url, socket))

    def _request(self, url: str, origin: str) -> None:
        if not url.startswith((f"{origin}/", "data:", f"blob:{origin}")):
            self.foreign.append(url)

    def dropped(self) -> bool:
        """Whether files of the page did not come for what another program did; asked once for each."""
        found = [line for line in self.errors if NETWORK in line]
        self.errors = [line for line in self.errors if NETWORK not in line]
        return bool(found)

    def check(self) -> None:
        self.dropped()
        unexpected = [line for line in self.errors if not any(part in line for part in self.allowed)]
        assert not unexpected, unexpected
        assert not self.foreign, self.foreign


@pytest.fixture
def open_page(browser, served_page: ServedPage):
    """Opens pages: `open_page(token=…, width=…, height=…, **options of the browser context)`; each is checked when the
    test ends."""
    contexts, watches = [], []

    def begin(served: ServedPage = served_page, *, token: str | None = None, fragment: str = "", query: str = "",
              width: int = 1280, height: int = 800, **options: object):  # fmt: skip
        context = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.watch = PageWatch(page, served.url)
        watches.append(page.watch)
        given = served.token if token is None else token
        page.goto(f"{served.url}?quality=low&language=en{query}" + (f"#token={given}{fragment}" if given else ""))
        while page.watch.dropped():
            page.reload()
        if given:
            page.wait_for_function("() => globalThis.worldfs?.world.state.value !== 'connecting'")
        return page

    yield begin
    for context in contexts:
        context.close()
    for watch in watches:
        watch.check()


@pytest.fixture(scope="module")
def _one_page(browser, served_page: ServedPage):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.watch = PageWatch(page, served_page.url)
    page.goto(f"{served_page.url}?quality=low&language=en#token={served_page.token}")
    page.wait_for_function("() => globalThis.worldfs?.world.state.value === 'open'")
    yield page
    context.close()


@pytest.fixture
def page(_one_page):
    """A page, signed in as the operator: one for all tests of a module; each begins at the first panel, now."""
    _one_page.evaluate("() => { worldfs.world.at.value = null; worldfs.show('world'); }")
    _one_page.watch.errors.clear()
    yield _one_page
    _one_page.watch.check()
