"""One agent's directory as a checkout of its part of an engine that hosts share.

The host at home writes, under the part's lease; every other one has a copy to look at. What changes here is noted by
the disk (mirrored_disk.py) and sent before it is acknowledged; what others wrote here is sent when it is seen.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.durable import Root
from worldfs.base.errors import Busy, NotFound, UserError, WorldError
from worldfs.base.messages import coded
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.revision import PRIVATE_DIR, of
from worldfs.storage.store_interface import ABSENT

from .checkout import Checkout
from .host_record import HOME_KEY, RECORD_KEY, AgentHome, HostRecord, read_home, read_record
from .mail_follower import MailFollower
from .mirrored_paths import MAIL, VISIBLE, is_shared, shared_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from worldfs.storage.shared_store import SharedLease, SharedStore

LOCKS: Final = f"{PRIVATE_DIR}/locks"  # of a root: NAME.hold is shared by the processes of this host that change NAME
LONG: Final = 32 * 1024  # bytes from which what was added is sent, and not the whole file


class _Sent(NamedTuple):
    size: int
    digest: blake2b


class HostMirror:
    """Usable from many threads; a forked child opens the engine for itself."""

    def __init__(self, root: str, name: str, host: str, open_part: Callable[[], SharedStore]) -> None:
        self.root, self.name, self.host = os.path.abspath(root), name, host
        self.path = os.path.join(self.root, name)
        self.lease: SharedLease | None = None
        self.aside: list[tuple[str, str]] = []  # what was set aside here: file, where it is
        self.elsewhere: AgentHome | None = None  # where it lives, if not here
        self._open_part = open_part
        self._top = Root(self.root)
        self._begin()
        self._seen: dict[str, tuple[int, int, int]] = {}
        self._agreed: dict[str, str] = {}
        self._turn = 0
        self._follower: MailFollower | None = None

    def _begin(self) -> None:
        self.pid = os.getpid()
        self.store = self._open_part()
        self._mutex = threading.RLock()
        self._dirty: dict[str, bool] = {}  # path → it only grew
        self._sent: dict[str, _Sent] = {}
        self._hold = -1
        self._files: Root | None = None

    @property
    def files(self) -> Root:
        """The directory, past the mirror."""
        if self._files is None:
            self._files = Root(self.path)
        return self._files

    # -- opening ---------------------------------------------------------------------------------------------------

    def open(self, *, take: bool = False) -> None:
        """The directory is as the engine has it. `take`: the agent lives here from now on.

        Raises `NotFound`, `Busy`.
        """
        home = self._home()
        if home is None:
            if not os.path.isdir(self.path):
                raise NotFound(coded("agent.no_agent", name=self.name), path=self.root, op="agent")
            return self._settle()
        if home.host == self.host:
            record = self._record()
            if record.host == self.host and record.turn == home.turn:
                self._turn, self._agreed = record.turn, dict(record.agreed)
                if not record.clean and not self._in_use():
                    self._acquire()
                return
            return self._move(home, home.turn)
        if take:
            return self._move(home, home.turn + 1)
        self.elsewhere = home
        self.check_out(home.turn)
        self._note(clean=True)

    def _settle(self) -> None:
        """No host has it: it lives here."""
        self._hold_lease()
        if self._home() is not None:
            raise self._lives_elsewhere()
        self._turn = 1
        self._note(clean=False)
        self._send_all()
        self.store.put(HOME_KEY, self._here().dump(), ABSENT)

    def _move(self, home: AgentHome, turn: int) -> None:
        self._hold_lease()
        if turn != home.turn:
            self._turn = turn
            self.store.put(HOME_KEY, self._here().dump(), home.revision)
        self.check_out(turn)
        self._note(clean=False)
        for key in self.store.all_keys():  # an append of the host before, still on its way, is refused from here on
            stored = self.store.stored(key)
            if stored is not None and stored.size > LONG and is_shared(key):
                self.store.touch(key)

    def check_out(self, turn: int) -> None:
        checkout = Checkout(self.store, self.path, self._record(), self.host)
        checkout.run()
        self.aside += checkout.aside
        self._files, self._turn = None, turn
        self._agreed = {name: stored.revision for name in VISIBLE if (stored := self.store.stored(name)) is not None}

    def _here(self) -> AgentHome:
        return AgentHome(self.host, os.uname().nodename, self.path, self._turn)

    def _home(self) -> AgentHome | None:
        return read_home(self.store.get(HOME_KEY))

    def _record(self) -> HostRecord:
        return read_record(self.files.read(RECORD_KEY)) if os.path.isdir(self.path) else HostRecord()

    def _note(self, *, clean: bool) -> None:
        self.files.replace(RECORD_KEY, HostRecord(self.host, self._turn, clean, self._agreed).dump(), private=True)

    # -- the lease -------------------------------------------------------------------------------------------------

    def demand(self, path: str) -> None:
        """Before a change of `path`: this host has the lease, or takes it. Raises `Busy`, `StorageError`."""
        if self.pid != os.getpid():
            self._begin()
            self.lease, self._follower = None, None
            self._acquire()
        if self.lease is None and is_shared(path):
            self._acquire()
        if self.lease is not None:  # a heartbeat, too, says when it is lost
            self.lease.demand()

    def _acquire(self) -> None:
        with self._mutex:
            if self.lease is not None:
                return
            if self.elsewhere is not None:
                raise self._lives_elsewhere()
            alone = self._hold_lease()
            home = self._home()
            if home is None or home.host != self.host or home.turn != self._turn:
                self._free(last=True)
                raise self._lives_elsewhere()
            dirty = not self._record().clean
            if not dirty:
                self._note(clean=False)
            elif alone:  # a process of this host was killed: what it had written here and not sent is sent now
                self._send_all()

    def _hold_lease(self) -> bool:
        """Whether no other process of this host holds it."""
        hold = self._top.lock_file(f"{LOCKS}/{self.name}.hold")
        alone = True
        try:
            try:
                fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                alone = False
            fcntl.flock(hold, fcntl.LOCK_SH)
            self.lease = self.store.host_lease(KERNEL_LEASE, f"agent {self.name}", self.host)
            self.lease.acquire()
        except BaseException:
            self.lease = None
            os.close(hold)
            raise
        self._hold = hold
        return alone

    def _in_use(self) -> bool:
        fd = self._top.lock_file(f"{LOCKS}/{self.name}.hold")
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False

    def _free(self, *, last: bool) -> None:
        lease, self.lease = self.lease, None
        if self._hold >= 0:
            os.close(self._hold)
            self._hold = -1
        if lease is not None:
            lease.release() if last else lease.leave()

    def _lives_elsewhere(self) -> Busy:
        holder = self.store.lease(KERNEL_LEASE).holder()
        home = self.elsewhere or self._home()
        where = (home.name, home.root) if home is not None else ("?", "?")
        if holder:
            found = coded("agent.works_on", name=self.name, host=where[0], root=where[1], pid=holder.get("pid"),
                          command=holder.get("command"))  # fmt: skip
            return Busy(found, path=self.name, op="agent", fix=coded("agent.wait_for_host"))
        found = coded("agent.lives_on", name=self.name, host=where[0], root=where[1])
        return Busy(found, path=self.name, op="agent", fix=coded("agent.take", name=self.name))

    # -- sending ---------------------------------------------------------------------------------------------------

    def changed(self, path: str, *, grown: bool = False) -> None:
        if is_shared(path):
            with self._mutex:
                self._dirty[path] = grown and self._dirty.get(path, True)

    def push(self) -> None:
        """Everything that changed here is on the engine when this returns."""
        if self.lease is None:
            return
        with self._mutex:
            self._look()
            if self._dirty:
                with self._sending():
                    self._send_dirty()

    def _send_dirty(self) -> None:
        seen = False
        for path, grown in [*self._dirty.items()]:
            self._send(path, grown=grown)
            del self._dirty[path]
            seen = seen or path in VISIBLE
        if seen:
            self.files.replace(
                RECORD_KEY, HostRecord(self.host, self._turn, False, self._agreed).dump(), private=True, durable=False
            )

    def _send_all(self) -> None:
        """The engine's part becomes as the directory is."""
        with self._mutex, self._sending():
            here = set(shared_files(self.files))
            there = {key for key in self.store.all_keys() if is_shared(key)}
            for path in [*sorted(here), *sorted(there - here)]:
                self._send(path)
            self._dirty.clear()

    def _send(self, path: str, *, grown: bool = False) -> None:
        stored, sent = self.store.stored(path), self._sent.pop(path, None)
        try:
            if grown and sent and stored and (sent.size, sent.digest.hexdigest()) == (stored.size, stored.revision):
                added, digest = self._tail(path, sent.size), sent.digest
                if added:
                    self.store.append(path, added)
                    digest.update(added)
                return self._agree(path, sent.size + len(added), digest)
            data = self.files.read(path)
            if data is None:
                if stored is not None:
                    with suppress(NotFound):
                        self.store.delete(path)
                self._agreed.pop(path, None)
                return
            if stored is None or stored.revision != of(data):
                if len(data) > LONG and stored is not None and 0 < stored.size <= len(data) and (
                    of(data[: stored.size]) == stored.revision
                ):  # fmt: skip
                    self.store.append(path, data[stored.size :])
                else:
                    self.store.put(path, data)
            self._agree(path, len(data), blake2b(data, digest_size=8))
        except Busy:
            raise
        except UserError:  # a name that no engine has, a link: the check of the agent names it
            return

    def _agree(self, path: str, size: int, digest: blake2b) -> None:
        if path in VISIBLE:
            self._agreed[path] = digest.hexdigest()
        if size > LONG:
            self._sent[path] = _Sent(size, digest)

    def _tail(self, path: str, start: int) -> bytes:
        place = self.files.locate(path)
        fd = None if place is None else self.files.open(place)
        if fd is None:
            return b""
        with open(fd, "rb") as file:
            file.seek(start)
            return file.read()

    @contextmanager
    def _sending(self) -> Iterator[None]:
        """One process of this host at a time; what another one has sent is known."""
        fd = self._top.lock_file(f"{LOCKS}/{self.name}.send")
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            mine = f"{self.pid} {id(self)}".encode()
            if os.pread(fd, 64, 0) != mine:
                self.store.all_keys()  # waits until it knows what others stored
                self._top.sign(fd, mine, LOCKS)
            yield
        finally:
            os.close(fd)

    def _look(self) -> None:
        """Note which visible files differ from what was sent: programs write past us."""
        for name in VISIBLE:
            try:
                info = os.lstat(os.path.join(self.path, name))
                now = info.st_mtime_ns, info.st_size, info.st_ino
            except FileNotFoundError:
                now = (0, 0, 0)
            if self._seen.get(name) != now:
                self._seen[name] = now
                self._dirty.setdefault(name, False) if self._differs(name, now[1]) else None

    def _differs(self, name: str, size: int) -> bool:
        if name == "journal.jsonl" and (stored := self.store.stored(name)) is not None and stored.size == size:
            return False
        with suppress(UserError):
            data = self.files.read(name)
            return (None if data is None else of(data)) != self._agreed.get(name)
        return False

    def _look_at_inbox(self) -> None:
        here = set(shared_files(self.files, "inbox"))
        there = {f"inbox/{name}" for name in self.store.list("inbox")}
        self._dirty |= dict.fromkeys(here ^ there, False)

    # -- letters ---------------------------------------------------------------------------------------------------

    def follow(self, take_in: Callable[[], None]) -> None:
        """Call `take_in` now, and for each letter that comes, as long as the agent lives here."""
        if self.elsewhere is None:
            self._follower = MailFollower(self.store, self.name, take_in)

    def mail(self) -> Iterator[tuple[str, bytes]]:
        for name in self.store.list(MAIL):
            if (found := self.store.get(f"{MAIL}/{name}")) is not None:
                yield name, found.data

    def drop_mail(self, name: str) -> None:
        with suppress(NotFound):  # another process of this host was faster
            self.store.delete(f"{MAIL}/{name}")

    # -- closing ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        if self.pid != os.getpid():
            return
        if self._follower is not None:
            self._follower.close()
        try:
            if os.path.isdir(self.path):
                self._last_push()
        finally:
            self._free(last=False)
            self.store.close()
            if self._files is not None:
                self._files.close()
            self._top.close()

    def _last_push(self) -> None:
        with self._mutex, suppress(WorldError):
            if self.elsewhere is not None:
                return
            self._look()
            if self.lease is None and not self._dirty:
                return
            self._acquire()
            self._look_at_inbox()
            self.push()
            os.close(self._hold)
            self._hold = -1
            if not self._in_use():
                self._note(clean=True)
                self._free(last=True)

    def remove(self) -> None:
        """The agent is removed from the engine. Call with the lease held."""
        for key in self.store.all_keys():
            with suppress(NotFound):
                self.store.delete(key)
