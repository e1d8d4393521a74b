"""The visible files of a workspace's directory, kept as the store has them; what others write into them goes to it.

A file that differs from the store's is a person's or a program's, or out of date. Which, the record of both as they
last agreed tells: the side that still has that revision follows the other. Where both have changed, what stands in the
file counts: an editor shows its user no newer text either. Without a record the store counts; the file is set aside.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from worldfs.base.errors import Conflict, Exists, NotFound, UserError, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_text
from worldfs.storage.foreign_edits import ForeignEdits
from worldfs.storage.joined_watch import JoinedWatch
from worldfs.storage.store_interface import ABSENT, Store, StoreChangeKind

DIRECTORIES: Final = ("", "skills")
GUARDED: Final = frozenset({"ACTION.md", "ENVIRONMENT.md", "SESSIONS.md", "TASK.md", "LESSONS.md", "SKILLS.md"})
RECORD: Final = ".paos/store-files.json"
ASIDE: Final = ".paos/quarantine"
_STORE: Final = "@"
_TRIES: Final = 16


class WorkspaceFiles:
    """`sync` compares everything once. Between `start` and `stop` a thread follows both sides."""

    def __init__(self, store: Store, files: Store) -> None:
        self._store, self._files = store, files
        self._agreed: dict[str, str] = {}
        self._lock = threading.Lock()
        self._watch: JoinedWatch | None = None
        self._thread: threading.Thread | None = None

    def sync(self) -> None:
        with self._lock:
            self._load()
            self._sync(self._everything())

    def start(self) -> None:
        """Follow both sides; the first comparison is done when it returns."""
        watch = JoinedWatch(self._files.watch(*DIRECTORIES), {_STORE: self._store.watch(*DIRECTORIES)})
        watch.read(0.0)
        self.sync()
        self._watch = watch
        self._thread = threading.Thread(target=self._follow, args=(watch,), name="workspace files", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Every file is as the store has it, as far as the store still answers."""
        watch, self._watch = self._watch, None
        if watch is None or self._thread is None:
            return
        watch.wake()
        self._thread.join()
        watch.close()
        with suppress(WorldError):
            self.sync()

    def close(self) -> None:
        self.stop()
        self._files.close()

    def _follow(self, watch: JoinedWatch) -> None:
        while self._watch is not None:
            try:
                changes = watch.read(None)
                if any(change.kind is StoreChangeKind.RESYNC for change in changes):
                    self.sync()
                else:
                    with self._lock:
                        self._sync({change.key.removeprefix(_STORE) for change in changes})
            except WorldError:  # the store is lost, or a disk is full: the kernel, which writes too, reports it
                if self._watch is None or self._store_lost():
                    return

    def _store_lost(self) -> bool:
        try:
            self._store.watch("").close()
            self._store.list("")
        except WorldError:
            return True
        return False

    def _everything(self) -> set[str]:
        found = set(self._agreed)
        for side in (self._files, self._store):
            for directory in DIRECTORIES:
                with suppress(UserError):
                    above = f"{directory}/" if directory else ""
                    found |= {above + name for name in side.list(directory) if not name.endswith("/")}
        return found

    def _sync(self, keys: Iterable[str]) -> None:
        before = dict(self._agreed)
        for key in sorted(keys):
            if key.rpartition("/")[0] in DIRECTORIES and not key.startswith("."):
                with suppress(UserError):  # a link or an odd file: the check of the workspace names it
                    self._sync_key(key)
        if self._agreed != before:
            self._files.put(RECORD, json.dumps(self._agreed).encode() + b"\n", durable=False)

    def _sync_key(self, key: str) -> None:
        late_edits = self._files.displaced(key) if isinstance(self._files, ForeignEdits) else ()
        for late in late_edits:  # written into a copy that was replaced meanwhile
            self._store.put(key, late)
        for _ in range(_TRIES):
            try:
                return self._compare(key)
            except (Conflict, Exists, NotFound):  # one side changed meanwhile
                continue

    def _compare(self, key: str) -> None:
        file, stored = self._files.get(key), self._store.get(key)
        ours, theirs = file.revision if file else "", stored.revision if stored else ""
        agreed = self._agreed.get(key)
        if ours == theirs:
            pass
        elif ours == (agreed or "") or (agreed is None and stored is not None):
            if file is not None and agreed is None:
                self._files.put(f"{ASIDE}/{key.replace('/', '-')}-{ours}", file.data)
            if stored is None:
                self._files.delete(key, ours)
            else:
                self._files.put(key, stored.data, ours or ABSENT, durable=False)
            ours = theirs
        elif file is None:
            self._store.delete(key, theirs)
        else:
            self._store.put(key, file.data, theirs or ABSENT)
        if ours:
            self._agreed[key] = ours
        else:
            self._agreed.pop(key, None)

    def _load(self) -> None:
        if not self._agreed and (found := self._files.get(RECORD)) is not None:
            with suppress(ValueError):
                self._agreed = {key: as_text(value) for key, value in as_object(parse_json(found.data)).items()}
