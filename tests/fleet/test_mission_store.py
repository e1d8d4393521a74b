"""The latest missions that ended: found at the cost of one reading, however many have ended."""

import json
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from worldfs.base.clock import stamp
from worldfs.fleet.mission import Mission, MissionOrder, MissionState
from worldfs.fleet.mission_store import DONE, LATEST, LATEST_KEPT, OPEN, MissionFiles
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.crashes import enumerate_crashes
from worldfs.testing.manual_clock import ManualClock
from worldfs.world.mission_files import MissionsFile


class Counted(MemoryStore):
    """Counts what is read and listed."""

    def __init__(self):
        super().__init__()
        self.read = []

    def get(self, key):
        self.read.append(key)
        return super().get(key)

    def list(self, prefix):
        self.read.append(f"{prefix}/")
        return super().list(prefix)


@pytest.fixture
def files():
    return MissionFiles(Counted(), ManualClock())


def end(files, *ids):
    for id in ids:
        files.clock.advance(1.0)
        assert files.add(MissionOrder(id, id))
        mission = files.load(id)
        ended = replace(mission.status, state=MissionState.SUCCEEDED, at=stamp(files.clock.now()))
        files.write(Mission(mission.order, ended))


def shown(files):
    world = SimpleNamespace(missions=files, language=lambda: "en")
    return [item["id"] for item in json.loads(MissionsFile(world).read({}))["missions"]]


@pytest.mark.parametrize("first", [LATEST_KEPT, 1000])
def test_missions_json_reads_as_much_after_a_thousand_missions_as_after_fifty(files, first):
    end(files, *(f"m{n:04d}" for n in range(first)))
    files.store.read.clear()
    assert shown(files) == [f"m{n:04d}" for n in reversed(range(first - LATEST_KEPT, first))]
    assert len(files.store.read) == 2 + LATEST_KEPT  # the open ones listed, the list, and those that are shown
    assert f"{DONE}/" not in files.store.read
    files.store.read.clear()
    end(files, "last")
    assert f"{DONE}/" not in files.store.read


def test_a_root_from_before_the_list_shows_its_missions_and_makes_it_at_the_next_start(files):
    end(files, "a", "b", "c")
    files.store.delete(LATEST)
    assert shown(files) == ["c", "b", "a"]
    files.count_ended()
    assert files.latest_ids() == ["a", "b", "c"]
    files.store.delete(LATEST)
    end(files, "d")
    assert files.latest_ids() == ["a", "b", "c", "d"]


def test_a_power_cut_that_loses_a_line_of_the_list_is_mended_at_the_next_start(files):
    end(files, "a", "b")
    before = files.store.get(LATEST).data
    end(files, "c")
    files.store.put(LATEST, before)
    files.count_ended()
    assert files.latest_ids() == ["a", "b", "c"]


def test_one_that_has_ended_and_was_not_moved_is_shown_once(files):
    end(files, "a", "b")
    files.store.move(f"{DONE}/b.jsonl", f"{OPEN}/b.jsonl")
    assert sorted(shown(files)) == ["a", "b"]
    files.archive("b")
    assert files.latest_ids() == ["a", "b"]
    files.count_ended()
    assert shown(files) == ["b", "a"]


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"ids": 3}', b'{"ended": "x", "ids": [1, null]}'])
def test_a_list_that_somebody_broke_is_made_again(files, broken):
    end(files, "a", "b")
    files.store.put(LATEST, broken)
    shown(files)
    files.count_ended()
    assert files.latest_ids() == ["a", "b"]


@pytest.mark.parametrize("removed", [False, True])
def test_a_power_cut_undoes_neither_a_request_nor_its_removal(removed):
    def ask(files):
        assert files.add(MissionOrder("m1", "wave"))
        files.request("m1", "pause", "operator")

    def prepare(path):
        if removed:
            with closing(DiskStore(path)) as store:
                ask(MissionFiles(store, ManualClock()))

    def operate(path, disk, ack):
        with closing(DiskStore(path, disk)) as store:
            files = MissionFiles(store, ManualClock())
            if removed:
                files.remove(next(files.requests()))
            else:
                ask(files)
            ack("done")

    def check(path, acked):
        with closing(DiskStore(path)) as store:
            found = [request.what for request in MissionFiles(store, ManualClock()).requests()]
        assert not acked or found == ([] if removed else ["pause"])

    assert enumerate_crashes(prepare, operate, check).states > 5
