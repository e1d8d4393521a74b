"""A dataset on disk that grows by whole episodes: at every moment it is a valid LeRobotDataset v3.0.

Beside DIR is `.DIR.recording`: the episodes that wait, and the next edition of the dataset while it is put together
(files that stay as they are by hard link). Then DIR and the next edition change places, which is one step of the disk.
An edition is made whenever a quarter more has come, so an episode is rewritten a bounded number of times.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Container
from pathlib import Path
from typing import Final

from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, Busy, Exists, from_os
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded

from .dataset_contents import OURS, DatasetContents, add_episodes, read_contents
from .dataset_recipe import DatasetRecipe
from .episode_queue import EpisodeQueue
from .lerobot_dataset import EncodedEpisode

SHARE: Final = 4


class Dataset:
    """DIR, open for one recording at a time.

    Raises `Exists` for a directory that is not a recording, `BadInput` for one of another recipe, `Busy` while
    another process records into it.
    """

    def __init__(self, directory: Path, recipe: DatasetRecipe) -> None:
        self.path, self.recipe = directory.absolute(), recipe
        Root.build(self.path.parent)
        self._root = Root(self.path.parent)
        self._aside = f".{self.path.name}.recording"
        self._lock = self._claim()
        self._waiting = EpisodeQueue(self._root, f"{self._aside}/episodes")
        self._pending = self._waiting.trials()
        try:
            self._mend()
            self.edition = self._read()
        except BaseException:
            self.close()
            raise
        self._drop_known()

    @property
    def episodes(self) -> int:
        """Those that wait, too."""
        return self.edition.episodes + len(self._pending)

    @property
    def next_trial(self) -> int:
        return self._pending[-1] + 1 if self._pending else self.edition.trials

    def add(self, kept: EncodedEpisode) -> None:
        """Durable when this returns; in the dataset when a quarter more has come, or with `commit`."""
        self._waiting.add(kept)
        self._pending.append(kept.trial)
        if len(self._pending) * SHARE >= self.edition.episodes:
            self.commit()

    def commit(self) -> None:
        """Everything that waits is in the dataset when this returns."""
        if not self._pending:
            return
        files, edition = add_episodes(self.edition, self.recipe, list(self._waiting.take()), self._old)
        ready = f"{self._aside}/next"
        self._clear("next")
        for path, data in files.items():
            self._root.create(f"{ready}/{path}", data)
        self._link_rest(ready, files)
        self._change_places(ready)
        self.edition = edition
        self._clear("next")
        self._clear("episodes")
        self._pending = []

    def close(self) -> None:
        """Queued episodes stay in their files, for the next recording; an empty queue leaves no file."""
        if not self._pending:
            shutil.rmtree(f"{self._root.path}/{self._aside}", ignore_errors=True)
        os.close(self._lock)
        self._root.close()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _claim(self) -> int:
        lock = self._root.lock_file(f"{self._aside}/lock")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            self._root.close()
            raise Busy(
                coded("plugin.recorded_now"), path=str(self.path), op="record",
                fix=coded("plugin.wait_or_other"),
            ) from None  # fmt: skip
        return lock

    def _mend(self) -> None:
        """Without an atomic exchange of directories, a crash may have left the old one aside and none in its place."""
        old = f"{self._root.path}/{self._aside}/old"
        if os.path.isdir(old) and not self.path.exists():
            os.rename(old, self.path)
        self._clear("old")

    def _read(self) -> DatasetContents:
        if not self.path.exists():
            return DatasetContents()
        document = self._old(OURS)
        if document is None:
            if self.path.is_dir() and not any(self.path.iterdir()):
                return DatasetContents()
            raise Exists(
                coded("plugin.other_content"), path=str(self.path), op="record", expected=coded("plugin.new_place"),
                fix=coded("plugin.other_recording"),
            )  # fmt: skip
        known = parse_json(document)
        if known["recipe"] != self.recipe.as_json():
            raise BadInput(
                coded("plugin.recording_of", recipe=json.dumps(known['recipe'])), path=str(self.path), op="record",
                expected=json.dumps(self.recipe.as_json()), fix=coded("plugin.same_options"),
            )  # fmt: skip
        return read_contents(self._old, known)

    def _drop_known(self) -> None:
        """A crash after the change of places leaves episodes waiting that are in the dataset already."""
        for trial in [trial for trial in self._pending if trial < self.edition.trials]:
            self._waiting.remove(trial)
            self._pending.remove(trial)

    def _old(self, path: str) -> bytes | None:
        return self._root.read(f"{self.path.name}/{path}")

    def _link_rest(self, ready: str, fresh: Container[str]) -> None:
        """Every other file of the present edition, by a second name."""
        folders: dict[str, DirEntryRef] = {}
        for above, _, names in os.walk(self.path):
            for name in names:
                path = os.path.relpath(os.path.join(above, name), self.path)
                if path in fresh:
                    continue
                source, target = (
                    self._root.locate(f"{self.path.name}/{path}"),
                    self._root.ensure_parent(f"{ready}/{path}"),
                )
                if source is not None:
                    self._root.link(source, target)
                    folders[target.folder.path] = target
        self._root.sync(*folders.values())

    def _change_places(self, ready: str) -> None:
        source, target = self._root.ensure_parent(ready), self._root.ensure_parent(self.path.name)
        try:
            if not self.path.is_dir():
                self._root.rename(source, target, "new")
            else:
                self._exchange(source, target)
            self._root.sync(source, target)
        except OSError as error:
            raise from_os(error, path=str(self.path), op="record") from error

    def _exchange(self, source: DirEntryRef, target: DirEntryRef) -> None:
        try:
            self._root.rename(source, target, "swap")
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            old = self._root.ensure_parent(f"{self._aside}/old")
            self._root.rename(target, old)
            self._root.rename(source, target)
            self._clear("old")

    def _clear(self, name: str) -> None:
        shutil.rmtree(f"{self._root.path}/{self._aside}/{name}", ignore_errors=True)
