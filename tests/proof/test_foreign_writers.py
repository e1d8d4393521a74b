"""Foreign programs rewrite ACTION.md while the kernel works: nothing lost, nothing twice, nothing torn by us."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput
from worldfs.formats import action as action_format
from worldfs.runtime.job_store import done_key, job_key
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.workspace_fixture import WorkspaceFixture, action, sheet


class Reader(threading.Thread):
    """Reads all the time. What it cannot parse must be the beginning of what a foreign program was writing."""

    def __init__(self, site: WorkspaceFixture, editor: Editor) -> None:
        super().__init__()
        self.site, self.editor = site, editor
        self.stop = threading.Event()
        self.reads = self.halves = 0
        self.torn: list[bytes] = []

    def run(self) -> None:
        while not self.stop.is_set():
            before = set(self.editor.unfinished)
            data = self._look()
            self.reads += 1
            try:
                action_format.read(data)
            except BadInput:
                self.halves += 1
                if not any(text.startswith(data) for text in before | set(self.editor.unfinished)):
                    self.torn.append(data)
            self.stop.wait(0.002)

    def _look(self) -> bytes:
        """In one read: a second one would go on in what a foreign program has meanwhile written over the same file."""
        fd = os.open(self.site.root / "ACTION.md", os.O_RDONLY)
        try:
            return os.read(fd, 1 << 24)
        finally:
            os.close(fd)


class Editor:
    """Appends, in every way that editors have, and writes back old copies; each edit is one of `kinds`."""

    def __init__(self, site: WorkspaceFixture, seed: int, pause: float) -> None:
        self.site = site
        self.rng = random.Random(seed)
        self.pause = pause
        self.appended: list[str] = []
        self.copies: list[list[dict[str, Any]]] = []
        self.unfinished: list[bytes] = []  # texts of which half may stand in the file
        self.kinds: Counter[str] = Counter()
        self._known = 0  # so many of the first of them are jobs

    def edit(self) -> None:
        """Editors, reader and kernel share one interpreter here: a backlog would only measure that."""
        if self.appended and len(self.appended) % 20 == 0:
            self.site.until(lambda: self.all_known() and len(os.listdir(self.site.root / ".paos/jobs")) < 40)
        work = self.rng.choice((self.by_rename, self.by_rename, self.in_place, self.half_then_whole, self.stale))
        self.kinds[work.__name__] += 1
        work()

    def by_rename(self) -> None:
        self.site.put("ACTION.md", self._more())

    def in_place(self) -> None:
        """Opened, emptied, written piece by piece: what a text editor or a shell's `>` does."""
        text = self._more()
        self._write_in_place(text)

    def half_then_whole(self) -> None:
        text = self._more()
        half = text[: self.rng.randrange(len(text) // 2, len(text) - 8)]
        self.unfinished = [*self.unfinished[-3:], text]
        self.site.put("ACTION.md", half)
        time.sleep(self.rng.uniform(0, self.pause))  # the half is left standing for a moment
        self.site.put("ACTION.md", text)

    def stale(self) -> None:
        """A copy read long ago comes back. Only after the latest appends were taken in: files cannot save an editor's
        entry from another editor who overwrites it before anybody has looked."""
        if not self.copies:
            return
        self.site.until(self.all_known)
        text = sheet(self.rng.choice(self.copies))
        if self.rng.random() < 0.5:
            self.site.put("ACTION.md", text)
        else:
            self._write_in_place(text)

    def _more(self) -> bytes:
        entries = self._look()
        if self.rng.random() < 0.05:
            self.copies = [*self.copies[-9:], entries]
        id = f"e{len(self.appended):05d}"
        self.appended.append(id)
        return sheet([*entries, action(id, self.rng.choice(("arm_1", "arm_2")))])

    def _look(self) -> list[dict[str, Any]]:
        entries = self.site.entries()  # whole: this editor is the only one that leaves halves
        return [entry for entry in entries if isinstance(entry, dict)]

    def _write_in_place(self, text: bytes) -> None:
        self.unfinished = [*self.unfinished[-3:], text]
        with (self.site.root / "ACTION.md").open("wb", buffering=0) as file:
            for _ in range(self.rng.randint(1, 3)):
                here = file.tell()
                file.write(text[here : here + len(text) // 3])
                if self.rng.random() < 0.2:
                    time.sleep(self.rng.uniform(0, self.pause))
            file.write(text[file.tell() :])

    def all_known(self) -> bool:
        """Has the kernel made a job of everything that was appended?"""
        while self._known < len(self.appended):
            id = self.appended[self._known]
            if not (self.site.root / job_key(id)).exists() and not (self.site.root / done_key(id)).exists():
                return False
            self._known += 1
        return True


def stress(root: Path, edits: int, seed: int, pause: float = 0.01) -> tuple[Editor, Reader]:
    site = WorkspaceFixture(root, clock=SystemClock())
    site.put("ACTION.md", sheet([]))
    world = site.open(threads=True)
    stop, failed = threading.Event(), list[BaseException]()

    def serve() -> None:
        try:
            world.run(stop=stop)
        except BaseException as error:
            failed.append(error)

    editor = Editor(site, seed, pause)
    reader = Reader(site, editor)
    kernel = threading.Thread(target=serve)
    kernel.start()
    reader.start()
    try:
        for _ in range(edits):
            editor.edit()
            assert not failed, failed
        site.until(lambda: editor.all_known() and not list((root / ".paos/jobs").glob("*.jsonl")))
    finally:
        reader.stop.set()
        stop.set()
        world.wake()
        kernel.join()
        reader.join()
        world.close()
    starts = Counter(order.id for order in site.executed)
    lost = set(editor.appended) - starts.keys()
    assert not lost, f"{len(lost)} lost of {len(editor.appended)}: {sorted(lost)[:5]}"
    assert max(starts.values()) == 1, "carried out twice: " + json.dumps([id for id, n in starts.items() if n > 1])
    assert set(starts) == set(editor.appended)
    assert not reader.torn, f"{len(reader.torn)} torn reads, the first: {reader.torn[0][-300:]!r}"
    store = DiskStore(root)
    for late in store.displaced("ACTION.md"):  # of an edit that is both in its place and here
        assert {entry.id for entry in action_format.read(late).entries} <= starts.keys()
    store.close()
    return editor, reader


def test_two_hundred_edits(tmp_path: Path) -> None:
    editor, reader = stress(tmp_path, 200, 1, pause=0.003)
    assert len(editor.kinds) == 4 and reader.reads


@pytest.mark.proof
def test_ten_thousand_edits(tmp_path: Path) -> None:
    editor, reader = stress(tmp_path, 10_000, 2)
    print(
        f"{sum(editor.kinds.values())} edits {dict(editor.kinds)}, {len(editor.appended)} appended: 0 lost, 0 twice; "
        f"{reader.reads} reads, {reader.halves} of them of halves that foreigners wrote, 0 torn"
    )
