"""What a host keeps of an agent that hosts share, beside an engine in memory that forgets what need not be durable."""

import os

import pytest

from worldfs.agents.host_mirror import LONG, HostMirror
from worldfs.agents.host_record import RECORD_KEY, read_record
from worldfs.agents.mirrored_disk import MirroredDisk
from worldfs.base.durable import Root
from worldfs.base.errors import Busy, NotFound, StorageError
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.memory_store import MemoryStore
from worldfs.storage.revision import of
from worldfs.storage.shared_store import SharedStore, StoredHead
from worldfs.storage.store_interface import ANY


class Engine(MemoryStore, SharedStore):
    """`kept`: what a power cut of its machine leaves of `files`. `asked`: every question to it."""

    def __init__(self):
        super().__init__()
        self.kept, self.asked = {}, []

    @property
    def files(self):
        return dict(self._files)

    def put(self, key, data, expect=ANY, *, durable=True):
        revision = super().put(key, data, expect)
        self._note(key, durable)
        return revision

    def append(self, key, data, *, durable=True):
        super().append(key, data)
        self._note(key, durable)

    def delete(self, key, expect=ANY, *, durable=True):
        super().delete(key, expect)
        self._note(key, durable)

    def _note(self, key, durable):
        if durable:
            self.kept.pop(key, None)
            self.kept |= {key: self._files[key]} if key in self._files else {}

    def stored(self, key):
        self.asked.append(key)
        data = self._files.get(key)
        return None if data is None else StoredHead(of(data), len(data))

    def all_keys(self):
        self.asked.append("")
        return [*self._files]

    def touch(self, key):
        self.put(key, self._files[key])

    def host_lease(self, name, purpose, host):
        return SharedByHost(self, name, host)


class SharedByHost:
    def __init__(self, engine, name, host):
        self.engine, self.name, self.host = engine, name, host

    def acquire(self):
        found = self.engine.take_lease(self.name, {"pid": os.getpid(), "command": "", "host": self.host})
        if found is not None and found["host"] != self.host:
            raise Busy("it works elsewhere")
        return self

    def leave(self):
        """The other processes of the host keep it."""

    def release(self):
        if (found := self.engine.lease_holder(self.name)) is not None:
            self.engine.free_lease(self.name, found)

    def demand(self):
        if (self.engine.lease_holder(self.name) or {}).get("host") != self.host:
            raise StorageError("it is lost")


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def mirrored(tmp_path, engine):
    """`mirrored(host)`: a process of a host that looks after the agent; `here`: it has a directory of it."""

    def begin(host="a", *, here=True, opened=True):
        root = tmp_path / host
        (root / "rio" if here else root).mkdir(parents=True, exist_ok=True)
        mirror = HostMirror(str(root), "rio", host, lambda: engine)
        if opened:
            mirror.open()
        return mirror

    return begin


def through(mirror):
    """The directory, as the product writes it."""
    return Root(mirror.path, MirroredDisk(mirror))


def test_what_a_host_sends_is_durable_on_the_engine_when_it_is_acknowledged(mirrored, engine):
    first = mirrored(opened=False)
    Root(first.path).replace("memory.md", b"there before")
    first.open()
    assert engine.kept == engine.files and engine.kept["memory.md"] == b"there before"
    disk = through(first)
    long = b"x" * LONG + b"\n"
    for step in (
        lambda: disk.replace("memory.md", b"remembered"),
        lambda: disk.append("journal.jsonl", long),
        lambda: disk.append("journal.jsonl", b"sent alone\n"),
        lambda: disk.append(".paos/notes", long),
        lambda: (first._sent.clear(), disk.append(".paos/notes", b"compared with all of it\n")),
        lambda: disk.remove("memory.md"),
    ):
        step()
        assert engine.kept == engine.files
    assert engine.kept["journal.jsonl"] == long + b"sent alone\n" and "memory.md" not in engine.kept
    assert engine.kept[".paos/notes"] == long + b"compared with all of it\n"
    engine.put("mail/one", b"a letter")
    assert [*first.mail()] == [("one", b"a letter")]
    first.drop_mail("one")
    assert engine.kept == engine.files and "mail/one" not in engine.kept
    first.close()
    disk.close()


def test_it_is_durable_on_this_host_too(mirrored):
    mirror, done = mirrored(), []
    disk = through(mirror)
    disk.disk.boundary = lambda name, path: done.append(name)
    disk.replace("memory.md", b"remembered")
    assert "fsync" in done and done[-1] == "fsync_dir"
    mirror.close()
    disk.close()


def test_an_agent_that_is_nowhere_is_not_made_by_a_look_at_it(mirrored, engine, tmp_path):
    mirror = mirrored(here=False, opened=False)
    with pytest.raises(NotFound):
        mirror.open()
    assert not engine.files and not (tmp_path / "a" / "rio").exists()
    mirror.close()


def test_of_a_copy_to_look_at_nothing_is_sent_and_nothing_asked_at_its_end(mirrored, engine):
    home = mirrored()
    through(home).replace("memory.md", b"of its home")
    copy = mirrored("b", here=False)
    assert copy.elsewhere is not None and copy.files.read("memory.md") == b"of its home"
    copy.files.replace("memory.md", b"edited in the copy")
    before = engine.files
    copy.push()
    engine.asked.clear()
    copy.close()
    assert engine.files == before and not engine.asked
    home.close()


def test_a_journal_that_another_process_of_the_host_sent_is_not_read_again(mirrored, monkeypatch):
    one, other = mirrored(), mirrored()
    through(one).append("journal.jsonl", b"{}\n")
    read, first = [], other.files.read
    monkeypatch.setattr(other.files, "read", lambda path: (read.append(path), first(path))[1])
    other.demand("journal.jsonl")
    other.push()
    assert "memory.md" in read and "journal.jsonl" not in read
    one.close()
    other.close()


def test_the_lease_is_the_hosts_until_its_last_process_ends(mirrored, engine):
    one = mirrored()
    other = mirrored()
    other.demand("memory.md")
    one.close()
    other.demand("memory.md")  # it still has it
    assert engine.lease_holder(KERNEL_LEASE) and not read_record(other.files.read(RECORD_KEY)).clean
    other.close()
    assert engine.lease_holder(KERNEL_LEASE) is None


def test_what_differs_from_the_engine_is_noted_and_sent_by_one_thread_at_a_time(mirrored, monkeypatch):
    def owned(mirror, *names):
        for name in names:
            monkeypatch.setattr(mirror, name, _asked(mirror, getattr(mirror, name)))
        mirror._dirty, mirror._sent = _Owned(mirror), _Owned(mirror)

    one = mirrored(opened=False)
    Root(one.path).replace("memory.md", b"there before")
    owned(one, "_send", "_look", "_look_at_inbox")
    one.open()
    through(one).append("journal.jsonl", b"x" * (LONG + 1))
    one.close()
    again = mirrored()
    owned(again, "_send", "_look", "_look_at_inbox", "_hold_lease")
    through(again).replace("memory.md", b"changed")
    again.close()


def _asked(mirror, first):
    def called(*args, **more):
        assert mirror._mutex._is_owned(), "called outside of the lock"
        return first(*args, **more)

    return called


class _Owned(dict):
    """Only touched by the thread that has the mutex of a mirror."""

    def __init__(self, mirror):
        super().__init__()
        for name in ("get", "pop", "setdefault", "clear"):
            setattr(self, name, _asked(mirror, getattr(self, name)))
