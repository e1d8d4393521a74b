"""A stop that the log does not take outlives the process that has it: it is kept where the machine takes a file."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.disk import Disk
from worldfs.base.errors import WorldError
from worldfs.base.model import JobState
from worldfs.runtime import stops_aside
from worldfs.runtime.stop_log import StopLog
from worldfs.runtime.stops_aside import ASIDE, StopsAside
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.lease import LEASE_LOST
from worldfs.testing.waiting import until
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world.world import World

ROBOT = "arm_1"


class NoLog(Disk):
    """A disk that takes no line of the log of stops while `number` says why."""

    def __init__(self, number: int) -> None:
        super().__init__(self._refuse)
        self.number = number

    def _refuse(self, name: str, path: str) -> None:
        if self.number and path.startswith(".paos/stops"):
            raise OSError(self.number, os.strerror(self.number), path)


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands for /var/tmp."""
    place = tmp_path / "var"
    place.mkdir()
    monkeypatch.setattr(StopsAside.__init__, "__defaults__", ((str(place),),))
    return place


def kept(root: Path, shared: Path) -> list[Path]:
    return [*root.glob(f"{ASIDE}/*.json"), *shared.glob("*/*/*.json")]


@pytest.mark.slice(5)
@pytest.mark.parametrize("end", ["abandon", "close"])
@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EMFILE])
@pytest.mark.parametrize("every", [True, False])
def test_the_next_start_begins_stopped_where_the_log_did_not_take_a_stop(
    tmp_path: Path, shared: Path, number: int, end: str, every: bool
) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    disk = NoLog(number)
    world = lab.open(disk)
    report = world.stop(None if every else ROBOT)
    assert report.unstored and str(kept(lab.root, shared)[0]) in report.unstored
    getattr(world, end)()
    with World.open(lab.root) as reader:
        assert reader.stops.state(ROBOT).stopped
        reader.submit(order("later", ROBOT))
    with lab.open() as world:
        for _ in range(5):
            world.tick()
        assert world.stops.state(ROBOT).stopped and not lab.executed
        world.resume()
        lab.run_until_idle(world)
        assert lab.job("later").status.state is JobState.SUCCEEDED
    assert not kept(lab.root, shared)
    with lab.open() as world:
        assert not world.stops.state(ROBOT).stopped


def test_a_process_without_a_kernel_resumes_what_an_earlier_one_kept(tmp_path: Path, shared: Path) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    world = lab.open(NoLog(errno.EROFS))
    world.stop(ROBOT)
    world.abandon()
    with World.open(lab.root) as first:
        assert first.resume() == [ROBOT]
    with World.open(lab.root) as second:
        assert not second.stops.state(ROBOT).stopped and second.stops.state(ROBOT).number == 1


def test_a_resume_that_cannot_be_written_says_so(tmp_path: Path, shared: Path) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    world = lab.open(NoLog(errno.EROFS))
    world.stop(ROBOT)
    world.abandon()
    store = DiskStore(lab.root, NoLog(errno.EROFS))
    with World.open(lab.root, store=store) as reader:
        with pytest.raises(WorldError):
            reader.resume()
        assert reader.stops.state(ROBOT).stopped


def test_a_workspace_that_takes_no_file_keeps_it_outside(tmp_path: Path, shared: Path) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    (lab.root / ASIDE).parent.mkdir(parents=True, exist_ok=True)
    (lab.root / ASIDE).write_text("a file has the directory's name")
    world = lab.open(NoLog(errno.EROFS))
    world.stop()
    world.abandon()
    (found,) = kept(lab.root, shared)
    assert found.is_relative_to(shared) and found.stat().st_mode & 0o077 == 0
    with World.open(lab.root) as reader:
        assert reader.stops.state(ROBOT).stopped


def test_what_another_user_made_there_is_neither_written_nor_read(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside, value = StopsAside(tmp_path / "nowhere", (str(shared),)), {"id": "a1", "keys": [".paos/stops/all"]}
    assert aside.keep("a1", value)
    assert list(StopsAside(tmp_path / "nowhere", (str(shared),)).read()) == [value]
    own = stops_aside.os.lstat

    def lstat(path: Any) -> Any:
        info = list(own(path))
        info[4] += 4711  # st_uid
        return os.stat_result(info)

    monkeypatch.setattr(stops_aside.os, "lstat", lstat)
    assert not list(StopsAside(tmp_path / "nowhere", (str(shared),)).read())
    assert not StopsAside(tmp_path / "nowhere", (str(shared),)).keep("b2", value)


def test_what_went_away_with_its_directory_is_kept_again(tmp_path: Path, shared: Path) -> None:
    root, value = tmp_path / "lab", {"id": "a1", "keys": [".paos/stops/all"]}
    aside = StopsAside(root, (str(shared),))
    for _ in range(2):
        root.mkdir()
        place = Path(aside.keep("a1", value))
        assert place.is_relative_to(root) and json.loads(place.read_text()) == value
        shutil.rmtree(root)


def test_what_is_no_stop_in_such_a_file_stops_nothing_and_breaks_nothing(tmp_path: Path, shared: Path) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    (lab.root / ASIDE).mkdir(parents=True)
    keys = (".paos/stops/../x.jsonl", "ENVIRONMENT.md", 5)
    texts = ("", "[", "[]", '{"id": 3}', json.dumps({"id": "4", "keys": keys}), "\0")
    for n, text in enumerate(texts):
        (lab.root / ASIDE / f"{n}.json").write_text(text)
    with lab.open() as world:
        assert not world.stops.state(ROBOT).stopped


@pytest.mark.slice(3)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("copy", [True, False])
def test_a_stop_is_kept_for_the_path_whose_directory_is_replaced(
    tmp_path: Path, shared: Path, when: str, copy: bool
) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    new = WorkspaceFixture(tmp_path / "new", (ROBOT,))
    world = lab.open(threads=True)

    def stop() -> None:
        report = world.stop()
        assert not report.unstored or str(kept(lab.root, shared)[0]) in report.unstored

    if when == "before":
        stop()
    lab.root.rename(tmp_path / "old")
    if copy:
        new.root.rename(lab.root)
    if when == "after":
        stop()
        assert kept(lab.root, shared), "a stop whose report says that it is kept outlives a kill"
    with pytest.raises(WorldError) as lost:
        world.run(stop=threading.Event())
    assert lost.value.code == LEASE_LOST and kept(lab.root, shared)
    world.abandon()
    if not copy:
        new.root.rename(lab.root)
    with lab.open() as world:
        assert world.stops.state(ROBOT).stopped
        world.resume()
    assert not kept(lab.root, shared)
    with World.open(lab.root) as reader:
        assert not reader.stops.state(ROBOT).stopped


def test_a_kernel_that_ends_before_it_has_seen_the_exchange_keeps_every_robot_of_a_stop(
    tmp_path: Path, shared: Path
) -> None:
    """SIGTERM, in the second between two looks at its path."""
    robots = (ROBOT, "arm_2")
    lab, new = WorkspaceFixture(tmp_path / "lab", robots), WorkspaceFixture(tmp_path / "new", robots)
    world = lab.open(threads=True)
    world.robot_stops.stop(robots, "operator")
    lab.root.rename(tmp_path / "old")
    new.root.rename(lab.root)
    world.close()
    with World.open(lab.root) as reader:
        assert [robot for robot in robots if reader.stops.state(robot).stopped] == [*robots]


@pytest.mark.parametrize("resumed", ["", "by the kernel's process", "by another", "after the kill"])
def test_a_stop_outlives_a_kernel_that_is_killed_before_it_has_seen_the_exchange(
    tmp_path: Path, shared: Path, resumed: str
) -> None:
    robots = (ROBOT, "arm_2")
    lab, new = WorkspaceFixture(tmp_path / "lab", robots), WorkspaceFixture(tmp_path / "new", robots)
    world = lab.open(threads=True)
    world.robot_stops.stop(robots, "operator", every=bool(resumed))
    until(lambda: list(shared.glob("*/*/*.json")))
    with World.open(lab.root) as reader:
        assert reader.stops.state(ROBOT).number == 1  # once, though the log has it too
        if resumed == "by another":
            reader.resume()
    assert resumed == "by another" or kept(lab.root, shared), "a reader takes nothing of a kernel that lives"
    if resumed == "by the kernel's process":
        world.resume()
    if resumed in ("by another", "by the kernel's process"):
        until(lambda: not kept(lab.root, shared))
    world.abandon()
    if resumed == "after the kill":
        with World.open(lab.root) as reader:
            reader.resume()
    lab.root.rename(tmp_path / "old")
    new.root.rename(lab.root)
    for _ in range(2):
        with lab.open() as world:
            stopped = [robot for robot in robots if world.stops.state(robot).stopped]
            assert stopped == ([] if resumed else [*robots])
            assert world.stops.state(ROBOT).number == (0 if resumed else 1)
    assert not kept(lab.root, shared)


def test_a_copy_that_was_asked_for_before_a_resume_is_none_after_it(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    world = lab.open(threads=True)
    assert world.kernel is not None
    world.stop()
    until(lambda: kept(lab.root, shared))
    begun, resumed, copy_aside = threading.Event(), threading.Event(), StopLog.copy_aside
    asking = threading.Thread(target=world.kernel.stopping._copy_aside)

    def late(log: StopLog, stops: Any) -> None:
        if threading.current_thread() is asking:
            begun.set()
            assert resumed.wait(30)
        copy_aside(log, stops)

    monkeypatch.setattr(StopLog, "copy_aside", late)
    asking.start()
    assert begun.wait(30)
    world.resume()
    resumed.set()
    asking.join()
    assert not kept(lab.root, shared)
    world.abandon()


@pytest.mark.parametrize("when", ["before the kernel", "beside it"])
def test_a_stop_that_only_the_log_has_told_the_kernel_outlives_the_exchange_too(
    tmp_path: Path, shared: Path, when: str
) -> None:
    lab, new = WorkspaceFixture(tmp_path / "lab", (ROBOT,)), WorkspaceFixture(tmp_path / "new", (ROBOT,))

    def stop() -> None:
        with World.open(lab.root) as other:
            other.stops.stop([ROBOT], "operator")

    if when == "before the kernel":
        stop()
    world = lab.open(threads=True)
    if when == "beside it":
        stop()
    until(lambda: list(shared.glob("*/*/*.json")))
    world.abandon()
    lab.root.rename(tmp_path / "old")
    new.root.rename(lab.root)
    with World.open(lab.root) as reader:
        assert reader.stops.state(ROBOT).stopped


def test_a_kernel_that_ends_as_it_should_leaves_no_copy_of_a_stop(tmp_path: Path, shared: Path) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    with lab.open(threads=True) as world:
        world.stop()
        until(lambda: kept(lab.root, shared))
    assert not kept(lab.root, shared)
    with World.open(lab.root) as reader:
        assert reader.stops.state(ROBOT).stopped


def test_a_stop_that_comes_with_the_replaced_directory_is_not_there_twice(tmp_path: Path, shared: Path) -> None:
    lab = WorkspaceFixture(tmp_path / "lab", (ROBOT,))
    world = lab.open(threads=True)
    world.stop()
    shutil.copytree(lab.root, tmp_path / "new", ignore=shutil.ignore_patterns("sockets"))
    lab.root.rename(tmp_path / "old")
    (tmp_path / "new").rename(lab.root)
    with pytest.raises(WorldError):
        world.run(stop=threading.Event())
    world.abandon()
    with World.open(lab.root) as reader:
        assert reader.stops.state(ROBOT).stopped and reader.stops.state(ROBOT).number == 1
    assert not kept(lab.root, shared)


@pytest.mark.parametrize("put", [False, True])
def test_a_moved_workspace_has_the_stops_of_its_former_path_while_nothing_is_there(
    tmp_path: Path, shared: Path, *, put: bool
) -> None:
    lab, away = WorkspaceFixture(tmp_path / "lab", (ROBOT,)), tmp_path / "away"
    lab.open().close()
    lab.root.rename(away)
    value = {"id": "a1", "by": "operator", "keys": [".paos/stops/all"]}
    assert StopsAside(lab.root).keep("a1", value)
    if put:
        WorkspaceFixture(lab.root, (ROBOT,))
    lab.root = away
    with lab.open() as world:
        assert world.stops.state(ROBOT).stopped is not put
        world.resume()
    assert kept(lab.root, shared), "a workspace that is put there has it too"
    with World.open(away) as reader:
        assert not reader.stops.state(ROBOT).stopped
