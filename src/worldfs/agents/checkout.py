"""The files of an agent, written as its part of an engine has them; what differs here is set aside first."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.base.clock import SystemClock
from worldfs.base.durable import Root
from worldfs.base.errors import Exists, UserError
from worldfs.storage.revision import PRIVATE_DIR, of
from worldfs.storage.store_interface import ABSENT

from .message_files import parse_message
from .message_names import DEAD, INBOX, done_key
from .mirrored_paths import MAIL, VISIBLE, is_shared, shared_files

if TYPE_CHECKING:
    from worldfs.storage.shared_store import SharedStore

    from .host_record import HostRecord

ASIDE: Final = f"{PRIVATE_DIR}/aside"  # of a root of agents


class Checkout:
    """`aside`: what was set aside here: file, where it is now."""

    def __init__(self, store: SharedStore, path: str, record: HostRecord, host: str) -> None:
        self.store, self.path, self.record = store, path, record
        self.root, _, self.name = path.rpartition("/")
        self.whole = record.host != host or not record.clean  # it may hold what the engine never had
        self.aside: list[tuple[str, str]] = []
        self._stamp = SystemClock().now().strftime("%Y%m%d-%H%M%S")

    def run(self) -> None:
        """The directory is as the engine has it, durably."""
        kept = Root(self.root)
        try:
            if os.path.isdir(self.path):
                here = Root(self.path)
                try:
                    self._send_letters(here)
                    edited = [name for name in VISIBLE if self._edited(here, name)]
                    if not self.whole:
                        self._keep(kept, here, edited)
                finally:
                    here.close()
                if self.whole:
                    self._move_away(kept, edited)
        finally:
            kept.close()
        Root.build(self.path)
        here = Root(self.path)
        try:
            there = {key for key in self.store.all_keys() if is_shared(key)}
            here.ensure_parent(f"{INBOX}/x")
            for path in shared_files(here):
                if path not in there:
                    here.remove(path)
            for key in sorted(there):
                self._write(here, key)
        finally:
            here.close()

    def _write(self, here: Root, key: str) -> None:
        stored = self.store.stored(key)
        with suppress(UserError):
            data = here.read(key)
            if stored is not None and data is not None and (len(data), of(data)) == (stored.size, stored.revision):
                return
        value = self.store.get(key)
        if value is not None:
            here.replace(key, value.data, private=key.startswith(f"{PRIVATE_DIR}/"))

    def _edited(self, here: Root, name: str) -> bool:
        """Whether it says here what neither the engine says nor both sides last agreed on."""
        with suppress(UserError):
            data = here.read(name)
            stored = self.store.stored(name)
            return data is not None and of(data) not in (self.record.agreed.get(name), stored and stored.revision)
        return False

    def _keep(self, kept: Root, here: Root, edited: list[str]) -> None:
        for name in edited:
            data = here.read(name) or b""
            key = f"{ASIDE}/{self.name}/{self._stamp}-{of(data)}-{name}"
            kept.replace(key, data, private=True)
            self.aside.append((name, os.path.join(self.root, key)))

    def _move_away(self, kept: Root, edited: list[str]) -> None:
        key = f"{ASIDE}/{self.name}/{self._stamp}-{os.urandom(2).hex()}"
        there, here = kept.ensure_parent(key, private=True), kept.ensure_parent(self.name)
        kept.rename(here, there, "new")
        kept.sync(there, here)
        self.aside += [(name, os.path.join(self.root, key, name)) for name in edited]

    def _send_letters(self, here: Root) -> None:
        """What another program put into the inbox here, and the engine never had."""
        for path in [*shared_files(here, INBOX)]:
            name = path.rpartition("/")[2]
            with suppress(UserError):
                if self.store.stored(path) is not None or self.store.stored(f"{DEAD}/{name}") is not None:
                    continue
                data = here.read(path) or b""
                message = parse_message(data, name)
                if message is None or self.store.stored(done_key(message.id)) is None:
                    with suppress(Exists):
                        self.store.put(f"{MAIL}/{name}", data, ABSENT)
