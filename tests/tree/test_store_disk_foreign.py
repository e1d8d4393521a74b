"""Foreign programs that write while the disk store replaces: nothing that they wrote is lost."""

import errno
import os
import threading

import pytest

from worldfs.base.durable import Disk
from worldfs.base.errors import Conflict, Exists
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.displaced_files import GRACE
from worldfs.storage.store_interface import ABSENT, ANY, StoreChangeKind
from worldfs.testing.watch_contract import wait_for_change

KEY = "robots/arm/ACTION.md"


class Between(Disk):
    """Runs `act` once, just before the nth rename of a put takes effect: the place of a foreign program's luck."""

    def __init__(self, nth, act):
        super().__init__(self._at)
        self.nth, self.act, self.renames = nth, act, 0

    def _at(self, name, path):
        if name == "rename":
            self.renames += 1
            if self.renames == self.nth:
                self.act()


class Plain(Disk):
    """A disk of a system without renameat2."""

    def __init__(self):
        super().__init__()
        self.exchange = self.noreplace = False


@pytest.fixture
def root(tmp_path):
    (tmp_path / "robots" / "arm").mkdir(parents=True)
    (tmp_path / KEY).write_bytes(b"old")
    return tmp_path


def displaced_files(root):
    place = root / ".paos" / "displaced"
    return os.listdir(place) if place.exists() else []


def opened(root, disk=None, grace=0):
    store = DiskStore(root, disk, guarded={KEY})
    store.aside.grace = grace
    return store


@pytest.mark.parametrize("disk", [Disk, Plain])
@pytest.mark.parametrize("expect", ["any", "revision"])
def test_bytes_written_to_a_file_opened_before_the_replacement_come_back(root, disk, expect):
    store = opened(root, disk())
    with store.watch("robots/arm") as watch, (root / KEY).open("ab", buffering=0) as foreign:
        store.put(KEY, b"new", ANY if expect == "any" else store.get(KEY).revision)
        assert store.displaced(KEY) == []
        foreign.write(b" and more")
        assert store.displaced(KEY) == []  # not finished
        foreign.close()
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
        assert store.displaced(KEY) == [b"old and more"]
        assert not store.displaced(KEY)
    assert (root / KEY).read_bytes() == b"new"
    assert displaced_files(root) == []


def foreign_put(root, data):
    (root / "draft").write_bytes(data)
    (root / "draft").replace(root / KEY)


def test_an_edit_that_was_put_back_is_kept_when_one_replaces_it_who_never_saw_it(root):
    """While our file was in place for an instant, a program may have read that."""
    store = opened(root, Between(2, lambda: foreign_put(root, b"edit")), grace=GRACE)
    with store.watch(KEY) as watch:
        with pytest.raises(Conflict):
            store.put(KEY, b"new", store.get(KEY).revision)
        assert (root / KEY).read_bytes() == b"edit"
        foreign_put(root, b"new and another edit")
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
    assert store.displaced(KEY) == [b"edit"] and not store.displaced(KEY)


def test_so_is_one_that_is_still_being_written(root):
    writers = []

    def begin():
        writers.append((root / KEY).open("wb", buffering=0))
        writers[0].write(b"half")

    store = opened(root, Between(2, begin), grace=GRACE)
    with pytest.raises(Conflict):
        store.put(KEY, b"new", store.get(KEY).revision)
    foreign_put(root, b"another edit")
    assert store.displaced(KEY) == []
    with store.watch(KEY) as watch:
        writers[0].write(b" and half")
        writers[0].close()
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
    assert store.displaced(KEY) == [b"half and half"]


def test_a_writer_that_writes_nothing_leaves_nothing_behind(root):
    store = opened(root)
    with store.watch("robots/arm") as watch:
        foreign = (root / KEY).open("ab")
        store.put(KEY, b"new")
        assert len(displaced_files(root)) == 1
        foreign.close()
        store.put("robots/arm/marker", b"")  # heard after the close
        assert wait_for_change(watch, "robots/arm/marker")
        assert displaced_files(root) == []
        assert not store.displaced(KEY)


@pytest.mark.parametrize("expect", ["any", "revision"])
def test_a_program_held_up_between_finding_the_file_and_opening_it_is_heard(root, expect):
    store = opened(root, grace=GRACE)
    found = os.open(root / KEY, os.O_PATH)  # it has looked the name up …
    with store.watch(KEY) as watch:
        store.put(KEY, b"new", ANY if expect == "any" else store.get(KEY).revision)
        with open(f"/proc/self/fd/{found}", "ab") as foreign:  # … and goes on only now
            foreign.write(b" late")
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
    os.close(found)
    assert store.displaced(KEY) == [b"old late"]


def test_a_second_late_writer_is_heard_after_the_first_was_handed_out(root):
    store = opened(root, grace=GRACE)
    found = os.open(root / KEY, os.O_PATH)
    with store.watch(KEY) as watch:
        store.put(KEY, b"new")
        for words in (b"one ", b"one two "):
            with open(f"/proc/self/fd/{found}", "ab") as foreign:
                foreign.write(words[-4:])
            assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
            assert store.displaced(KEY) == [b"old" + words]
            assert not store.displaced(KEY)
    os.close(found)


def test_a_writer_that_comes_before_the_first_was_handed_out_is_waited_for(root):
    store = opened(root, grace=GRACE)
    found = os.open(root / KEY, os.O_PATH)
    with store.watch(KEY) as watch:
        store.put(KEY, b"new")
        with open(f"/proc/self/fd/{found}", "ab") as foreign:
            foreign.write(b" one")
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
        with open(f"/proc/self/fd/{found}", "ab") as foreign:
            assert store.displaced(KEY) == []
            foreign.write(b" two")
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
        assert store.displaced(KEY) == [b"old one two"]
    os.close(found)


def test_what_was_held_back_goes_with_a_later_replacement(root):
    store = opened(root, grace=GRACE)
    for turn in range(5):
        store.put(KEY, b"%d" % turn)
    assert len(displaced_files(root)) == 5
    store.aside.grace = 0
    store.put(KEY, b"last")
    assert displaced_files(root) == []


def test_readers_do_not_hold_a_replaced_file(root):
    store = opened(root)
    with (root / KEY).open("rb"):
        store.put(KEY, b"new")
        assert displaced_files(root) == []


def test_two_late_writers_are_both_heard_in_order(root):
    store = opened(root)
    first = (root / KEY).open("ab")
    store.put(KEY, b"new")
    second = (root / KEY).open("ab")
    store.put(KEY, b"newer")
    second.write(b" second")
    second.close()
    first.write(b" first")
    first.close()
    assert store.displaced(KEY) == [b"old first", b"new second"]


def test_late_edits_survive_a_restart(root):
    store = opened(root)
    foreign = (root / KEY).open("ab")
    store.put(KEY, b"new")
    store.close()
    foreign.write(b" late")
    foreign.close()
    store = opened(root)
    with store.watch(KEY) as watch:
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
    assert store.displaced(KEY) == [b"old late"]


def test_another_process_that_watches_hears_of_it_too(root):
    kernel, command = opened(root), opened(root)
    with kernel.watch(KEY) as watch:
        foreign = (root / KEY).open("ab")
        command.put(KEY, b"new")
        foreign.write(b"!")
        foreign.close()
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
        assert kernel.displaced(KEY) == [b"old!"]


def test_a_late_writer_of_a_deleted_file_is_heard(root):
    store = opened(root)
    foreign = (root / KEY).open("ab")
    store.delete(KEY)
    foreign.write(b" late")
    foreign.close()
    assert store.displaced(KEY) == [b"old late"]


def rename_over(root, data):
    def act():
        (root / "foreign").write_bytes(data)
        os.rename(root / "foreign", root / KEY)

    return act


@pytest.mark.parametrize("nth", [1, 2])
def test_a_foreign_rename_between_compare_and_exchange_is_a_conflict_and_stays(root, nth):
    store = opened(root, Between(nth, rename_over(root, b"foreign")))
    with pytest.raises(Conflict):
        store.put(KEY, b"new", store.get(KEY).revision)
    assert (root / KEY).read_bytes() == b"foreign"
    assert displaced_files(root) == []


def test_a_foreign_rename_before_an_unconditional_replacement_is_handed_out(root):
    store = opened(root, Between(2, rename_over(root, b"foreign")))
    with store.watch(KEY) as watch:
        store.put(KEY, b"new")
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
    assert (root / KEY).read_bytes() == b"new"
    assert store.displaced(KEY) == [b"foreign"]


def test_a_second_foreign_rename_before_the_exchange_back_is_not_lost(root):
    disk = Between(2, rename_over(root, b"foreign one"))
    plain = disk.rename

    def rename(source, target, how):
        if how == "swap" and disk.renames >= 2:
            rename_over(root, b"foreign two")()
        plain(source, target, how)

    disk.rename = rename
    store = opened(root, disk)
    with pytest.raises(Conflict):
        store.put(KEY, b"new", store.get(KEY).revision)
    assert (root / KEY).read_bytes() == b"foreign one"
    assert store.displaced(KEY) == [b"foreign two"]


def test_what_is_written_to_ours_before_the_exchange_back_is_not_lost(root):
    opened_ours = []
    disk = Between(2, rename_over(root, b"foreign"))
    plain = disk.rename

    def rename(source, target, how):
        if how == "swap" and disk.renames >= 2:
            opened_ours.append((root / KEY).open("ab", buffering=0))
        plain(source, target, how)

    disk.rename = rename
    store = opened(root, disk)
    with store.watch(KEY) as watch:
        with pytest.raises(Conflict):
            store.put(KEY, b"new", store.get(KEY).revision)
        for foreign in opened_ours:
            foreign.write(b" late")
            foreign.close()
        assert wait_for_change(watch, KEY, StoreChangeKind.DISPLACED)
    assert (root / KEY).read_bytes() == b"foreign"
    assert store.displaced(KEY) == [b"new late"]


@pytest.mark.parametrize("expect", ["any", "revision"])
def test_a_foreign_removal_between_compare_and_exchange(root, expect):
    store = opened(root, Between(2, lambda: os.unlink(root / KEY)))
    if expect == "any":
        store.put(KEY, b"new")
        assert (root / KEY).read_bytes() == b"new"
    else:
        with pytest.raises(Conflict):
            store.put(KEY, b"new", store.get(KEY).revision)
        assert not (root / KEY).exists()
    assert os.listdir(root / ".paos" / "drafts") == displaced_files(root) == []


def test_a_foreign_rename_before_a_deletion_is_a_conflict_and_stays(root):
    store = opened(root, Between(1, rename_over(root, b"foreign")))
    with pytest.raises(Conflict):
        store.delete(KEY, store.get(KEY).revision)
    assert (root / KEY).read_bytes() == b"foreign"


def test_a_link_renamed_into_place_in_the_last_moment_is_put_back(root):
    def act():
        os.symlink("/etc/passwd", root / "foreign")
        os.rename(root / "foreign", root / KEY)

    store = opened(root, Between(2, act))
    with pytest.raises(Conflict):
        store.put(KEY, b"new", store.get(KEY).revision)
    assert (root / KEY).is_symlink()


def test_folders_behind_another_mount_keep_their_drafts_beside_them(root):
    class Mounted(Disk):
        def rename(self, source, target, how):
            if source.folder.id != target.folder.id:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            super().rename(source, target, how)

    store = opened(root, Mounted())
    revision = store.put("robots/arm/x", b"1")
    assert store.put("robots/arm/x", b"2", revision)
    with pytest.raises(Conflict):
        store.put("robots/arm/x", b"3", revision)
    store.put(KEY, b"new")
    store.delete("robots/arm/x")
    store.delete(KEY)
    assert store.list("robots/arm") == []
    assert os.listdir(root / "robots" / "arm") == []


def test_appending_editors_and_the_store_lose_nothing_together(root):
    """Foreign programs append lines; we take them out by compare-and-swap, as the kernel does with a sheet."""
    (root / KEY).write_bytes(b"")
    store = opened(root)
    taken, done = set(), threading.Event()

    def edit(writer):
        for turn in range(100):
            with (root / KEY).open("ab", buffering=0) as file:
                file.write(b"%d-%d\n" % (writer, turn))

    def take():
        with store.watch(KEY) as watch:
            while not done.is_set():
                watch.read(0.2)
                take_all(store, taken)
            take_all(store, taken)

    editors = [threading.Thread(target=edit, args=(writer,)) for writer in range(2)]
    taker = threading.Thread(target=take)
    for thread in (taker, *editors):
        thread.start()
    for thread in editors:
        thread.join()
    done.set()
    taker.join()
    assert taken == {b"%d-%d\n" % (writer, turn) for writer in range(2) for turn in range(100)}


def take_all(store, taken):
    """A displaced copy begins with what was taken already: lines are told apart by what they say."""
    for late in store.displaced(KEY):
        taken.update(late.splitlines(keepends=True))
    found = store.get(KEY)
    if found.data:
        try:
            store.put(KEY, b"", found.revision)
        except Conflict:
            return
        taken.update(found.data.splitlines(keepends=True))


def test_a_group_creates_only_what_is_not_there(tmp_path):
    store = DiskStore(tmp_path, guarded={"new.json"})
    (tmp_path / "new.json").write_bytes(b"theirs")
    with pytest.raises(Exists):
        store.swap_many([("new.json", b"ours", ABSENT)])
    (tmp_path / "new.json").unlink()
    drafts = store.prepare_many([("new.json", b"ours", ABSENT)])
    (tmp_path / "new.json").write_bytes(b"theirs")  # created while ours was being written
    with pytest.raises(Exists):
        store.place_many(drafts)
    assert (tmp_path / "new.json").read_bytes() == b"theirs"


def test_an_old_file_that_cannot_be_read_now_is_not_taken_for_an_edit(tmp_path, monkeypatch):
    store = DiskStore(tmp_path, guarded={"a.json"})
    store.put("a.json", b"first")
    store.put("a.json", b"second", store.get("a.json").revision)
    opened = store.root.open_with_stat

    def broken(place):
        if place.path.startswith(".paos/displaced"):
            raise OSError(errno.EIO, "Input/output error")
        return opened(place)

    monkeypatch.setattr(store.root, "open_with_stat", broken)
    assert store.displaced("a.json") == []
    monkeypatch.undo()
    assert store.displaced("a.json") == []
    assert store.get("a.json").data == b"second"
