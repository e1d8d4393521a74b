#!/usr/bin/env python3
"""The film at the top of the README, docs/media/watch-it.webp: page, arm and files while a table is cleared.

A world is served from a home of its own, slowly enough that a processor without graphics draws each picture. Left is
the page, as Chromium shows it; right are rows of the workspace's files at that moment. To be run by hand: `make film`.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from worldfs.base.model import Json

FILM = Path(__file__).resolve().parent.parent / "docs/media/watch-it.webp"
CHROMIUM = os.environ.get("PAOS_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
INSTRUCTION = "clear the table"
SPEED = 0.2  # of the simulation: simulated seconds a second
WIDTH, HEIGHT, FILES = 960, 720, 480  # px, as drawn: the page, and beside it the files
SCALE = 0.6667  # of the film
LAST_MS = 30_000  # of the film
STEP_MS = 125  # of one picture while the arm moves
MOST = 3_000_000  # bytes
WAIT_S = 900.0
SHEET = """<!doctype html><style>
  body { margin: 0; padding: 14px; background: #14171c; color: #e6e9ee;
    font: 15.5px/1.45 'DejaVu Sans Mono', monospace; }
  b { color: #6ea6ff; font-weight: normal; } pre { margin: 0 0 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
</style><b>workspace/TASK.md</b><pre id="task"></pre><b>workspace/ENVIRONMENT.md</b><pre id="things"></pre>
<b>workspace/ACTION.md</b><pre id="action"></pre>"""
MARKS = {"✅": "✓", "⏳": "▶", "⬜": "○", "❌": "✗"}  # as signs that every monospaced font has
FILL = "(texts) => { for (const [id, text] of Object.entries(texts)) document.getElementById(id).textContent = text; }"


class Film:
    """Pictures, and how long each is shown."""

    def __init__(self, page: Page, files: Page, workspace: Path) -> None:
        self.page, self.files, self.workspace = page, files, workspace
        self.pictures: list[Image.Image] = []
        self.spans: list[int] = []

    def take(self, span: int = STEP_MS) -> None:
        if self.page.evaluate("() => Boolean(globalThis.drawFrame)"):
            self.page.evaluate("() => drawFrame()")
        self.files.evaluate(FILL, {"task": self._task(), "things": self._things(), "action": self._action()})
        whole = Image.new("RGB", (WIDTH + FILES, HEIGHT))
        for at, page in ((0, self.page), (WIDTH, self.files)):
            whole.paste(Image.open(io.BytesIO(page.screenshot(animations="disabled"))), (at, 0))
        size = (round(whole.width * SCALE), round(whole.height * SCALE))
        self.pictures.append(whole.resize(size, Image.Resampling.LANCZOS))
        self.spans.append(span)

    def save(self) -> int:
        """Bytes. A motion that took more pictures than the film has room for is shown faster."""
        while sum(self.spans) > LAST_MS and STEP_MS in self.spans:
            moving = [at for at, span in enumerate(self.spans) if span == STEP_MS]
            for at in reversed(moving[1::4]):
                del self.pictures[at], self.spans[at]
        for quality in (60, 45, 30, 20):
            self.pictures[0].save(
                FILM,
                save_all=True,
                append_images=self.pictures[1:],
                duration=self.spans,
                loop=0,
                quality=quality,
                method=4,
            )
            if FILM.stat().st_size <= MOST:
                break
        return FILM.stat().st_size

    def _read(self, name: str) -> str:
        try:
            return (self.workspace / name).read_text("utf-8")
        except OSError:
            return ""

    def _value(self, name: str) -> Json:
        """The object of JSON in a document."""
        text = self._read(name)
        return json.loads(text[text.find("{") : text.rfind("}") + 1] or "{}")

    # What is shown of each file: its rows, without what stays the same.

    def _task(self) -> str:
        cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in self._read("TASK.md").splitlines()]
        steps = [row for row in cells if len(row) > 4 and row[0].isdigit()]
        marks = [next((sign for mark, sign in MARKS.items() if mark in "".join(row)), " ") for row in steps]
        return "\n".join(f"{mark} {row[1]}" for mark, row in zip(marks, steps, strict=True)) or "(no task)"

    def _things(self) -> str:
        nodes = self._value("ENVIRONMENT.md").get("scene_graph", {}).get("nodes", [])
        found = [one for one in nodes if one.get("type") == "object"]
        return "\n".join(f"{one['id']:<9}{one['position']} {one.get('status', '')}" for one in found)

    def _action(self) -> str:
        queue = self._value("ACTION.md").get("queue", [])
        rows = [f"{one['action_type']:<8} {_aim(one['params']):<10} {one['status']}" for one in queue[-6:]]
        return "\n".join(rows) or "(nothing)"


def _aim(params: dict[str, str]) -> str:
    return params.get("object_id") or params.get("target") or ""


@contextmanager
def served(home: Path) -> Iterator[str]:
    """The address of the page of a world that `paos up` serves, with a token."""
    paos = [str(Path(sys.executable).with_name("paos")), "--home", str(home)]
    subprocess.run([*paos, "onboard"], check=True, capture_output=True)
    log = home / "up.log"
    with log.open("w") as out:
        up = subprocess.Popen(
            [*paos, "up", "--serve", "--port", "0", "--no-cameras", f"--real-time={SPEED}"], stdout=out, stderr=out
        )
    try:
        until = time.monotonic() + WAIT_S
        while "ws://" not in log.read_text() and up.poll() is None and time.monotonic() < until:
            time.sleep(0.2)
        said = subprocess.run([*paos, "page", "--valid", "1h"], check=True, capture_output=True, text=True)
        yield next(line for line in said.stdout.splitlines() if line.startswith("http"))
    finally:
        up.terminate()
        up.wait()


def clear_the_table(film: Film) -> None:
    page = film.page
    page.click("#tab-work")
    page.locator("[data-part=queue]").wait_for()
    for n in range(0, len(INSTRUCTION) + 1, 3):
        page.fill("input[name=do]", INSTRUCTION[:n])
        film.take(180)
    page.fill("input[name=do]", INSTRUCTION)
    page.get_by_role("button", name="Read back").click()
    accept = page.locator(".reading").get_by_role("button", name="Accept")
    accept.wait_for()
    film.take(2600)
    accept.click()
    page.click("#tab-world")
    page.wait_for_function("() => performance.getEntriesByName('first-picture').length > 0 || globalThis.drawFrame?.()")
    until = time.monotonic() + WAIT_S
    while not page.evaluate(ENDED) and time.monotonic() < until:
        film.take()
    film.take(1200)
    page.click("#tab-work")
    page.locator('[data-part=task] li[data-state="done"]').first.wait_for()
    page.locator('[data-part=history] li[data-state="succeeded"]').nth(9).wait_for()
    film.take(3000)


ENDED = """async () => {
  const status = await worldfs.world.readJson("/meta/status.json");
  const task = await worldfs.world.readText("/projects/main/TASK.md");
  return /✅/u.test(task) && !/[⏳⬜]/u.test(task) && status.jobs.running + status.jobs.pending === 0;
}"""


def main() -> int:
    quality = sys.argv[1] if len(sys.argv) > 1 else "low"
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        home = Path(temporary) / "home"
        with served(home) as address:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, locale="en-GB")
            page.set_default_timeout(WAIT_S * 1000)
            url, _, token = address.partition("#")
            page.goto(f"{url}?quality={quality}&manual=1&language=en#{token}")
            files = browser.new_page(viewport={"width": FILES, "height": HEIGHT})
            files.set_content(SHEET)
            film = Film(page, files, home / "workspace")
            clear_the_table(film)
            browser.close()
    size = film.save()
    print(f"film: {FILM}: {len(film.pictures)} pictures, {sum(film.spans) / 1000:.0f} s, {size // 1024} KiB")
    return 0 if size <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
