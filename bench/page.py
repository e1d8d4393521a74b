"""The page in Debian's Chromium, driven by Playwright, without a graphics card: what a look costs both ends.

The scene is an arm that moves all the time and ten objects, of which it carries one, 30 frames a second. An hour is
sped up: of its 108,000 frames a tenth come over the socket as fast as the page takes them, the others from a tape of
such frames that the page has recorded, by the same way from a frame's bytes to the picture; one of each minute is
drawn. Without a graphics card SwiftShader draws on the CPU, so a frame is told in processor milliseconds of all the
browser's processes: 60 frames a second are a graphics card's affair.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._stand import ROOT, entry, environ, make_workspace, percentile, scratch, sheet

FIGURES = (
    "page.first_picture_s",
    "page.gzip_kb",
    "page.kb_per_s",
    "page.heap_mb_after_hour",
    "page.cpu_ms_per_frame_low",
    "page.cpu_ms_per_frame_full",
    "page.viewers20_cpu_percent",
    "page.kernel_latency_ratio",
)
LOOKS = 5  # first looks
WATCHED_S = 10.0
MINUTE, MINUTES, SERVED = 60 * 30, 60, 6  # frames of a minute; minutes; those of them that come over the socket
DRAWN = {"low": 12, "full": 3}  # frames
VIEWERS, LATENCIES, ROUNDS = 20, 40, 5
PATIENCE_MS = 60_000
ARGS = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
        "--no-sandbox"]  # fmt: skip
FRAMES = "() => globalThis.worldfs?.scene?.frames ?? 0"
DRAW = "(goal) => worldfs.scene.frames >= goal && (drawFrame(), true)"
TAPE = """async () => {
    const { world } = worldfs, path = "/projects/main/scene/poses", tape = [], over = new AbortController();
    for await (const frame of world.stream(path, { signal: over.signal })) if (tape.push(frame) === 300) over.abort();
    let goal = 0, given = 0;
    globalThis.play = (count) => { goal = given + count; };
    world.stream = async function* (_, { signal }) {
        for (yield tape[0]; !signal.aborted; await new Promise((resolve) => setTimeout(resolve)))
            for (let n = 0; n < 300 && given < goal; n += 1) yield tape[given++ % tape.length];
    };
    for (const hidden of [true, false]) { // the panel takes its stream anew
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
}"""


def run() -> dict[str, float]:
    with scratch() as place, Served(place / "home") as server:
        figures = {**_viewers(server), **_kernel(server, place / "home" / "workspace")}
        with _browser() as browser:
            return {**_first_look(browser, server), **_watched(browser, server), **_drawn(browser, server), **figures}


class Served:
    """The server, a process of its own."""

    def __init__(self, home: Path) -> None:
        make_workspace(home / "workspace")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench._page_server", str(home)],
            cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        said = json.loads(self._process.stdout.readline())
        self.port, self.token = int(said["port"]), str(said["token"])

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *raised: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def tell(self, line: str) -> float:
        """Its processor seconds."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def address(self, query: str) -> str:
        return f"http://127.0.0.1:{self.port}/?{query}#token={self.token}"


# -- the server's side


@contextmanager
def _watching(server: Served, viewers: int) -> Iterator[Any]:
    given = json.dumps({"port": server.port, "token": server.token, "viewers": viewers})
    process = subprocess.Popen(
        [sys.executable, "-m", "bench._page_viewers", given],
        cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    ask, answer = process.stdin, process.stdout
    assert ask is not None and answer is not None
    try:
        if answer.readline() != "ready\n":
            raise RuntimeError("the viewers have ended")

        def frames() -> int:
            ask.write("\n")
            ask.flush()
            return int(answer.readline())

        yield frames
    finally:
        process.kill()
        process.wait()
        ask.close()
        answer.close()


def _viewers(server: Served) -> dict[str, float]:
    """What twenty viewers cost the server, more than a scene that moves and nobody watches."""
    server.tell("rate 240")
    alone = _share(server)
    with _watching(server, VIEWERS) as frames:
        before, began = frames(), time.monotonic()
        watched = _share(server)
        rate = (frames() - before) / (time.monotonic() - began) / VIEWERS
    server.tell("rate -")
    if rate < 15:
        raise RuntimeError(f"the viewers had {rate:.1f} frames a second")
    # A busy machine leaves frames out: told for 30 a second all the same.
    return {"page.viewers20_cpu_percent": 100 * (watched - alone) * 30 / rate, "page.viewers20_frames_per_s": rate}


def _share(server: Served) -> float:
    began, before = time.monotonic(), server.tell("cpu")
    time.sleep(WATCHED_S)
    return (server.tell("cpu") - before) / (time.monotonic() - began)


def _kernel(server: Served, workspace: Path) -> dict[str, float]:
    """The kernel of the same process: an action that does nothing, with a viewer at 30 frames a second and without one,
    in turn."""
    _latency(workspace, "warm")
    alone: list[float] = []
    watched: list[float] = []
    for turn in range(ROUNDS):
        alone += _latency(workspace, f"alone_{turn}")
        server.tell("rate 240")
        with _watching(server, 1):
            watched += _latency(workspace, f"watched_{turn}")
        server.tell("rate -")
    return {"page.kernel_latency_ratio": percentile(watched, 0.5) / percentile(alone, 0.5)}


def _latency(workspace: Path, name: str) -> list[float]:
    return [_action(workspace, f"{name}_{number}") for number in range(LATENCIES)]


def _action(workspace: Path, id: str) -> float:
    """From the rename of an order into place until ACTION.md shows its end."""
    action, draft = workspace / "ACTION.md", workspace / ".draft"
    draft.write_text(sheet([entry(id)]))
    began = time.perf_counter()
    draft.rename(action)
    while b'"completed"' not in (data := action.read_bytes()) or id.encode() not in data:
        if time.perf_counter() - began > 30:
            raise RuntimeError(f"{id} has not ended: {data[:500]!r}")
        time.sleep(0.0005)
    return time.perf_counter() - began


# -- the browser's side


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("PAOS_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
        yield browser
        browser.close()


@contextmanager
def _page(browser: Any, address: str) -> Iterator[tuple[Any, Any]]:
    """A page that nothing is kept for, and its connection to the developer tools."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    tools = context.new_cdp_session(page)
    tools.send("Network.enable")
    received: list[float] = []
    tools.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.received = received
    page.goto(address)
    yield page, tools
    context.close()


def _first_look(browser: Any, server: Served) -> dict[str, float]:
    """From the navigation to the first picture of the scene, with nothing in the cache; and the bytes until then."""
    server.tell("rate 240")
    took, sizes = [], []
    for _ in range(LOOKS):
        with _page(browser, server.address("quality=low")) as (page, _):
            page.wait_for_function("() => performance.getEntriesByName('first-picture').length > 0")
            took.append(page.evaluate("() => performance.getEntriesByName('first-picture')[0].startTime") / 1000)
            page.wait_for_load_state("networkidle")
            sizes.append(sum(page.received) / 1000)
    return {"page.first_picture_s": statistics.median(took), "page.gzip_kb": max(sizes)}


def _watched(browser: Any, server: Served) -> dict[str, float]:
    """Bytes over the socket, both ways, in ten seconds at 30 Hz; then the heap after an hour of frames."""
    server.tell("rate 240")
    with _page(browser, server.address("quality=low&manual=1")) as (page, tools):
        page.wait_for_function(f"() => ({FRAMES})() > 30 && (drawFrame(), true)")
        traffic = "() => { const { in: a, out: b } = worldfs.world.traffic; return [a + b, worldfs.scene.frames]; }"
        began, (bytes_before, frames_before) = time.monotonic(), page.evaluate(traffic)
        time.sleep(WATCHED_S)
        took, (bytes_after, frames_after) = time.monotonic() - began, page.evaluate(traffic)
        server.tell("rate 0")
        began, first = time.monotonic(), _heap_mb(tools)
        for minute in range(MINUTES):
            if minute == SERVED:
                page.evaluate(TAPE)
                server.tell("rate -")
            goal = page.evaluate(FRAMES) + MINUTE
            if minute >= SERVED:
                page.evaluate("(count) => play(count)", MINUTE)
            page.wait_for_function(DRAW, arg=goal, polling=20)
        hour_s = time.monotonic() - began
        after = _heap_mb(tools)
    return {
        "page.kb_per_s": (bytes_after - bytes_before) / took / 1000,
        "page.frames_per_s": (frames_after - frames_before) / took,
        "page.heap_mb_at_first": first,
        "page.heap_mb_after_hour": after,
        "page.hour_s": hour_s,
    }


def _heap_mb(tools: Any) -> float:
    tools.send("HeapProfiler.collectGarbage")
    return float(tools.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


def _drawn(browser: Any, server: Served) -> dict[str, float]:
    """Processor time of all the browser's processes for one frame of the scene, drawn and read back."""
    draw = """(count) => { for (let n = 0; n < count; n += 1) {
        worldfs.scene.camera.position.x += 0.001;
        drawFrame();
        const gl = worldfs.scene.renderer.getContext();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); } }"""
    server.tell("rate 240")
    figures = {}
    for quality, count in DRAWN.items():
        asked = "low" if quality == "low" else "high"
        with _page(browser, server.address(f"quality={asked}&manual=1")) as (page, _):
            page.wait_for_function(f"() => ({FRAMES})() > 0 && (drawFrame(), true)")
            server.tell("rate -")
            page.evaluate(draw, 1)
            before = _browser_cpu_s()
            page.evaluate(draw, count)
            figures[f"page.cpu_ms_per_frame_{quality}"] = 1000 * (_browser_cpu_s() - before) / count
            server.tell("rate 240")
    server.tell("rate -")
    return figures


def _browser_cpu_s() -> float:
    """Of the processes that this one has started, and theirs, the ones of the browser (man 5 proc_pid_stat)."""
    tick = os.sysconf("SC_CLK_TCK")
    return sum(_ticks(pid) for pid in _below(os.getpid())) / tick


def _ticks(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    name, _, rest = stat.partition("(")[2].rpartition(")")
    fields = rest.split()
    return int(fields[11]) + int(fields[12]) if "chrom" in name else 0


def _below(pid: int) -> Iterator[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield int(child)
            yield from _below(int(child))
