"""A disk store keeps what its files were: every answer is what a copy taken then says, or says that it is not known."""

import os
import random
import threading

import pytest

from worldfs.base.clock import epoch_ns
from worldfs.base.disk import Disk
from worldfs.base.errors import StorageError, UserError
from worldfs.base.messages import coded
from worldfs.storage import displaced_files, file_versions, version_log
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.store_interface import ABSENT
from worldfs.storage.versioned_files import PastKind
from worldfs.testing.manual_clock import ManualClock


class Everything:
    def __contains__(self, key):
        return not key.startswith(".paos/")


class SettableClock(ManualClock):
    def set(self, seconds):
        self._passed = seconds


@pytest.fixture
def clock():
    return SettableClock()


@pytest.fixture
def store(tmp_path, clock):
    store = DiskStore(tmp_path, versioned=Everything(), guarded={"guarded"}, clock=clock)
    yield store
    store.close()


def now(store):
    return epoch_ns(store.clock.now())


def said(store, key, at):
    past = store.version_at(key, at)
    return past.data if past.kind is PastKind.FOUND else past.kind


def test_any_moment_is_what_a_copy_taken_then_says(tmp_path, monkeypatch):
    monkeypatch.setattr(version_log, "SEGMENT", 4000)
    lot = random.Random(3)
    store = other = DiskStore(tmp_path, versioned=Everything(), guarded={"guarded"})
    second = DiskStore(tmp_path, versioned=Everything(), guarded={"guarded"})  # as another process
    keys, copies, changed = ("plain", "guarded", "deep/one"), [], 0
    for turn in range(400):
        other = lot.choice((store, second))
        key = lot.choice(keys)
        found = other.get(key)
        match lot.randrange(8):
            case 0 if found is not None:
                other.delete(key)
            case 1:
                data = b"foreign %d " % turn * 9
                os.makedirs(tmp_path / "deep", exist_ok=True)
                _let_the_file_system_s_clock_pass(tmp_path / "draft", copies[-1][0] if copies else 0)
                (tmp_path / "draft").write_bytes(data)
                os.rename(tmp_path / "draft", tmp_path / key)
                assert other.see_version(key) and not other.see_version(key)
            case 2 if found is not None:
                other.put(key, b"swapped %d" % turn, found.revision)
            case 3 if found is None:
                other.put(key, b"made %d" % turn, ABSENT)
            case _:
                data = b"text %d " % lot.randrange(9) * lot.randrange(1, 99)
                other.put(key, data)
                changed += len(data)
        copies.append((now(store), {key: None if (one := store.get(key)) is None else one.data for key in keys}))
    third = DiskStore(tmp_path, versioned=Everything())
    for at, copy in lot.choices(copies, k=1000):
        for key in keys:
            assert said(third, key, at) == (PastKind.ABSENT if copy[key] is None else copy[key]), (key, at)
    assert third.history.size() < 1.3 * changed
    for one in (store, second, third):
        one.close()


def _let_the_file_system_s_clock_pass(file, moment):
    """It is behind ours by as much as a tick, and dates what other programs write."""
    file.touch()
    while os.stat(file).st_ctime_ns <= moment:
        file.touch()


def test_nothing_is_known_of_a_foreign_file_before_it_was_seen(store, tmp_path):
    (tmp_path / "page").write_bytes(b"by hand")
    since = os.stat(tmp_path / "page").st_ctime_ns
    assert said(store, "page", since - 1) is PastKind.UNKNOWN
    assert said(store, "page", since) == b"by hand"
    assert store.version_at("nothing", since).kind is PastKind.ABSENT


def test_what_another_program_wrote_is_kept_when_it_is_replaced(store, clock, tmp_path):
    clock.set(3.2e9)  # later than the file system's clock
    store.put("page", b"ours")
    first = now(store)
    (tmp_path / "page").write_bytes(b"theirs")
    clock.advance(5)
    store.put("page", b"ours again")
    found = [revision for _, revision in store.versions("page")]
    assert len(found) == 3
    assert said(store, "page", first) == b"theirs"  # the file system says no more than that it was later
    assert said(store, "page", now(store)) == b"ours again"


@pytest.mark.parametrize(("written_s", "from_ns"), [(4, 4 * 10**9), (99, 10 * 10**9 - 1), (-99, 0)])
def test_what_another_program_wrote_counts_from_when_it_says_but_between_the_versions_beside_it(
    store, clock, tmp_path, written_s, from_ns
):
    store.put("page", b"ours")
    first = now(store)
    (tmp_path / "page").write_bytes(b"theirs")
    os.utime(tmp_path / "page", ns=(first, first + written_s * 10**9))
    clock.advance(10)
    store.put("page", b"ours again")
    before = b"ours" if from_ns else PastKind.ABSENT
    assert said(store, "page", first + from_ns - 1) == before
    assert said(store, "page", first + from_ns) == b"theirs"
    assert said(store, "page", first + 10 * 10**9 - 1) == b"theirs"
    assert said(store, "page", first + 10 * 10**9) == b"ours again"


def test_what_another_program_removed_was_there_until_that_was_seen(store, clock, tmp_path):
    store.put("page", b"ours")
    first = now(store)
    os.unlink(tmp_path / "page")
    clock.advance(10)
    assert store.see_version("page")
    times = (first, first + 10 * 10**9 - 1, first + 10 * 10**9)
    assert [said(store, "page", at) for at in times] == [b"ours", b"ours", PastKind.ABSENT]


def test_two_writes_in_one_moment_stay_two_and_the_later_counts(store):
    for text in (b"one", b"two", b"three"):
        store.put("page", text)
    assert [said(store, "page", at) for at, _ in store.versions("page")] == [b"three", b"two", b"one"]
    assert said(store, "page", now(store) + 999) == b"three"
    assert said(store, "page", now(store) - 1) is PastKind.ABSENT


def test_a_clock_that_goes_back_hides_nothing_that_came_later(store, clock):
    for seconds, text in ((1000, b"1"), (2000, b"2"), (1500, b"3"), (1600, b"4"), (90, b"5")):
        clock.set(seconds)
        store.put("page", text)
    clock.set(0)
    base = now(store)
    at = {seconds: said(store, "page", base + seconds * 10**9) for seconds in (50, 95, 1550, 5000)}
    assert at == {50: PastKind.ABSENT, 95: b"5", 1550: b"5", 5000: b"5"}


def test_a_clock_that_was_ahead_for_once_does_not_hide_the_present(store, clock):
    for seconds, text in ((1000, b"1"), (9e8, b"ahead"), (1001, b"2"), (1002, b"3")):
        clock.set(seconds)
        store.put("page", text)
    moment = now(store)
    assert [said(store, "page", moment + step * 10**9) for step in (-2, -1, 0, 5)] == [b"1", b"2", b"3", b"3"]


def test_the_budget_drops_the_oldest_and_says_so(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(version_log, "SEGMENT", 3000)
    store = DiskStore(tmp_path, versioned=Everything(), clock=clock, history_bytes=20_000)
    copies = []
    for turn in range(300):
        clock.advance(1)
        data = random.Random(turn).randbytes(300)
        store.put("page", data)
        copies.append((now(store), data))
    assert store.history.size() < 24_000
    answers = [said(store, "page", at) for at, _ in copies]
    dropped = answers.count(PastKind.THINNED)
    assert answers == [PastKind.THINNED] * dropped + [data for _, data in copies[dropped:]]
    assert 200 < dropped < 270
    store.close()


def test_a_look_up_reads_a_fixed_number_of_files(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(version_log, "SEGMENT", 1000)
    store = DiskStore(tmp_path, versioned=Everything(), clock=clock)
    for turn in range(300):
        clock.advance(1)
        store.put("page", b"%d " % turn * 100)
    store.close()
    cold = DiskStore(tmp_path, versioned=Everything(), clock=clock)
    assert said(cold, "page", now(store) - 200 * 10**9) == b"99 " * 100
    log = cold.history._log("page")
    assert len(log.segments()) > 15 and len(log._indexes) <= 3
    log._indexes.clear()
    assert log.at(0) is not None and log.at(-1) is None and len(log._indexes) == 1  # what is older than all is in none
    cold.close()


def test_damage_in_the_middle_is_named_and_never_answered_with_another_version(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(version_log, "SEGMENT", 1000)
    store = DiskStore(tmp_path, versioned=Everything(), clock=clock)
    times = []
    for turn in range(40):
        clock.advance(1)
        store.put("page", random.Random(turn).randbytes(200))
        times.append(now(store))
    right = [said(store, "page", at) for at in times]
    store.close()
    home = tmp_path / ".paos" / "versions" / "page"
    second = home / sorted(os.listdir(home))[1]
    data = bytearray(second.read_bytes())
    data[len(data) // 2] ^= 1
    second.write_bytes(data)
    damaged = DiskStore(tmp_path, versioned=Everything(), clock=clock)
    found = [said(damaged, "page", at) for at in times]
    wrong = [one for one, other in zip(found, right, strict=True) if one != other]
    assert wrong and set(wrong) == {PastKind.LOST}
    damaged.close()


def test_a_long_content_is_named_but_not_kept(store):
    store.put("page", b"x" * (1 << 20))
    store.put("page", os.urandom((1 << 20) + 1))
    between = now(store)
    store.put("page", b"short")
    kinds = [store.version_at("page", at).kind for at, _ in store.versions("page")]
    assert kinds == [PastKind.FOUND, PastKind.LOST, PastKind.FOUND] and between


def test_a_file_that_was_moved_has_its_past_at_both_names(store, clock):
    store.put("skills/one/a.md", b"text")
    before = now(store)
    clock.advance(1)
    store.move("skills/one", "skills/two")
    assert said(store, "skills/one/a.md", before) == b"text"
    assert said(store, "skills/one/a.md", now(store)) is PastKind.ABSENT
    assert said(store, "skills/two/a.md", before) is PastKind.ABSENT
    assert said(store, "skills/two/a.md", now(store)) == b"text"
    assert store.versioned_keys() == ["skills/one/a.md", "skills/two/a.md"]


def test_what_goes_away_while_it_is_moved_has_no_past_at_the_other_name(store, tmp_path, monkeypatch):
    store.put("page", b"text")
    lstat = store.root.lstat
    monkeypatch.setattr(store.root, "lstat", lambda place: ((tmp_path / "page").unlink(), lstat(place))[1])
    with pytest.raises(UserError):
        store.move("page", "there")
    assert store.versioned_keys() == ["page"]


def test_what_the_store_keeps_for_itself_is_moved_without_a_look_at_what_it_says(store, monkeypatch):
    store.put(".paos/jobs/open/a", b"text")
    monkeypatch.setattr(store.history, "_root", None)
    store.move(".paos/jobs/open", ".paos/jobs/done")
    assert store.get(".paos/jobs/done/a").data == b"text"


def test_a_first_version_makes_its_write_wait_for_nothing_more(tmp_path):
    synced = []
    disk = Disk(lambda name, path: synced.append(path) if name.startswith("fsync") else None)
    store = DiskStore(tmp_path, disk, versioned=Everything())
    store.put("page", b"one")
    assert store.versioned_keys() == ["page"]
    assert synced and not [path for path in synced if path.startswith(".paos/versions")]
    store.close()


def test_a_file_of_a_log_is_durable_before_the_next_one_begins(tmp_path, clock, monkeypatch):
    """A later sync asks for the newest one only."""
    monkeypatch.setattr(version_log, "SEGMENT", 1000)
    unsynced = set()
    append, sync = version_log.LogFile.append, version_log.LogFile.sync
    monkeypatch.setattr(
        version_log.LogFile, "append", lambda log, data, **how: (unsynced.add(log.path), append(log, data, **how))
    )
    monkeypatch.setattr(version_log.LogFile, "sync", lambda log: (unsynced.discard(log.path), sync(log)))
    store = DiskStore(tmp_path, versioned=Everything(), clock=clock)
    for turn in range(10):
        clock.set(turn if turn != 5 else 1)  # then, too, another one begins
        store.put("page", random.Random(turn).randbytes(300))
        assert len(unsynced) <= 1
    log = store.history._log("page")
    assert len(log.segments()) > 3
    log.sync()
    assert not unsynced
    store.close()


def test_a_version_whose_file_is_dropped_while_it_is_read_is_lost(store):
    store.put("page", b"one")
    log = store.history._log("page")
    found = log.at(now(store))
    assert log.content(found) == b"one"
    log.drop(found.segment)
    assert log.content(found) is None


def test_what_another_process_added_to_a_log_is_read_from_where_it_was_known(tmp_path, clock, monkeypatch):
    stores = [DiskStore(tmp_path, versioned=Everything(), clock=clock) for _ in range(2)]
    for one in stores:
        one.put("page", b"%d" % id(one))
    log = stores[0].history._log("page")
    monkeypatch.setattr(log, "segments", lambda: pytest.fail("its files are listed again"))
    assert log.tip().revision == stores[1].get("page").revision
    for one in stores:
        one.close()


def test_a_history_keeps_few_files_open_and_none_when_it_is_closed(tmp_path, clock, monkeypatch):
    def open_logs():
        there = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
        return [path for fd in there if (path := _target(fd)).startswith(f"{tmp_path}/.paos/versions/")]

    monkeypatch.setattr(file_versions, "_OPEN", 3)
    store = DiskStore(tmp_path, versioned=Everything(), clock=clock)
    for turn in range(5):
        store.put(f"page-{turn}", b"text")
        assert said(store, f"page-{turn}", now(store)) == b"text"
    files = [path for path in open_logs() if os.path.isfile(path)]
    assert len(set(files)) == len(files) == 3
    store.close()
    assert not open_logs()


def _target(fd):
    try:
        return os.readlink(fd)
    except FileNotFoundError:  # of the listing itself
        return ""


def test_a_full_history_disk_does_not_stop_the_write(store, clock, monkeypatch):
    store.put("page", b"one")
    monkeypatch.setattr(version_log.LogFile, "append", _full)
    clock.advance(1)
    store.put("page", b"two")
    monkeypatch.undo()
    clock.advance(1)
    store.put("page", b"three")
    assert [said(store, "page", at) for at, _ in store.versions("page")] == [b"three", b"two", b"one"]


def _full(self, data, *, durable=True):
    raise OSError(28, "No space left on device")


def test_a_move_that_cannot_be_noted_is_refused_for_its_past_stands_nowhere_else(store, clock, monkeypatch):
    store.put("page", b"one")
    clock.advance(1)
    with monkeypatch.context() as full:
        full.setattr(version_log.LogFile, "append", _full)
        store.put("page", b"two")
        clock.advance(1)
        with pytest.raises(StorageError):
            store.move("page", "there")
    assert store.get("page").data == b"two" and store.get("there") is None
    moment = now(store)
    clock.advance(1)
    store.move("page", "there")
    past = [said(store, "page", moment - ago * 10**9) for ago in (2, 1, 0, -1)]
    assert past == [b"one", b"two", b"two", PastKind.ABSENT]
    assert said(store, "there", now(store)) == b"two"


def test_what_cannot_be_settled_fails_no_write_and_is_settled_by_the_next_process(store, clock, tmp_path, monkeypatch):
    monkeypatch.setattr(version_log.VersionLog, "sync", _broken)
    for turn in range(30):
        clock.advance(1)
        store.put("page", b"%d" % turn)
    old = tmp_path / ".paos" / "replaced"
    assert len(os.listdir(old)) == 29  # their lines are nowhere known to be durable
    monkeypatch.undo()
    store.close()
    after = DiskStore(tmp_path, versioned=Everything(), clock=clock)
    for _ in range(2):
        clock.advance(1)
        after.put("page", b"30")
    assert len(os.listdir(old)) <= 1
    assert [said(after, "page", at) for at, _ in after.versions("page")][2:] == [b"%d" % n for n in range(29, -1, -1)]
    after.close()


def test_what_the_log_lacks_is_added_before_the_old_file_that_says_so_is_given_up(store, clock, tmp_path, monkeypatch):
    store.put("page", b"one")
    clock.advance(1)
    with monkeypatch.context() as full:
        full.setattr(version_log.LogFile, "append", _full)
        store.put("page", b"two")
    moment = now(store)
    for turn in range(2 * file_versions.TOGETHER):
        clock.advance(1)
        store.put("other", b"%d" % turn)
    old = [name for home in ("displaced", "replaced") for name in os.listdir(tmp_path / ".paos" / home)]
    assert not [name for name in old if name.endswith(".page")]
    (tmp_path / "draft").write_bytes(b"theirs")
    os.rename(tmp_path / "draft", tmp_path / "page")  # now nothing but the log has it
    assert said(store, "page", moment) == b"two"


def test_old_files_whose_versions_are_in_the_log_are_given_up_without_a_look_for_others(store, clock, monkeypatch):
    store.put("guarded", b"-1")
    monkeypatch.setattr(store.history, "_replaced", lambda *which: pytest.fail("all old files are listed"))
    for turn in range(6 * file_versions.TOGETHER):
        store.put("guarded", b"%d" % turn)
        if turn % file_versions.TOGETHER == 0:
            clock.advance(2)
    monkeypatch.undo()
    found = [said(store, "guarded", at) for at, _ in store.versions("guarded")]
    assert found == [b"%d" % turn for turn in range(6 * file_versions.TOGETHER - 1, -2, -1)]


def test_a_log_that_makes_room_for_another_is_closed_by_no_thread_while_one_writes_to_it(store, clock, monkeypatch):
    store.put("page", b"one")
    log, append, still_open = store.history._log("page"), version_log.LogFile.append, []
    closing = threading.Thread(target=log.close)

    def beside_one_that_closes(self, data, *, durable=True):
        closing.start()
        closing.join(0.1)  # it waits for us
        still_open.append(log._file is self)
        append(self, data, durable=durable)

    monkeypatch.setattr(version_log.LogFile, "append", beside_one_that_closes)
    clock.advance(1)
    store.put("page", b"two")
    monkeypatch.undo()
    closing.join()
    store.put("page", b"three")
    assert still_open == [True]
    assert [said(store, "page", at) for at, _ in store.versions("page")] == [b"three", b"two", b"one"]


def _broken(self):
    raise StorageError(coded("tree.disk_full"), path="page", op="sync")


def test_where_nobody_knows_who_still_writes_a_spare_file_goes_when_its_version_is_durable(store, monkeypatch):
    monkeypatch.setattr(displaced_files, "has_writer", lambda fd: None)
    told, drop, sync = [], store.root.drop, store.history.sync
    monkeypatch.setattr(store.root, "drop", lambda place: (told.append(f"drop {place.path}"), drop(place)))
    monkeypatch.setattr(store.history, "sync", lambda key: (told.append(f"sync {key}"), sync(key)))
    for turn in range(displaced_files.KEEP + 3):
        store.put("page", b"%d" % turn)
    drops = [place for place, one in enumerate(told) if one.startswith("drop")]
    assert len(drops) >= 2
    assert all(told[place - 1] == "sync page" for place in drops)
