"""What people, programs and disks do wrong: a clear word, nothing accepted lost, and everybody else is served."""

from __future__ import annotations

import errno
import json
import os
import resource
import time
from contextlib import suppress
from pathlib import Path

import pytest

from worldfs.base.durable import Disk
from worldfs.base.errors import StorageError, UserError, WorldError
from worldfs.base.model import Cause
from worldfs.testing.faulty_disk import CountingDisk, FailingDisk
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import WorkspaceFixture, action, order, sheet
from worldfs.world.world import World


@pytest.fixture
def site(tmp_path: Path) -> WorkspaceFixture:
    return WorkspaceFixture(tmp_path / "w")


def still_serves(site: WorkspaceFixture, world: World, id: str = "served") -> None:
    """Whatever lies around, an order through the tree is carried out."""
    world.submit(order(id))
    site.run_until_idle(world)
    outcome = site.job(id).status.outcome
    assert outcome is not None and outcome.ok, outcome


def memory_mb() -> float:
    """The most that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def million(count: int) -> bytes:
    one = json.dumps({"action_id": "a%07d", "action_type": "move_to", "params": {}})
    return ('{"queue": [' + ",".join(one % n for n in range(count)) + "]}").encode()


@pytest.mark.parametrize("count", [110_000, pytest.param(1_000_000, marks=pytest.mark.proof)])
def test_a_queue_without_measure_is_refused_quickly_and_others_are_served(site: WorkspaceFixture, count: int) -> None:
    data, before = million(count), memory_mb()
    with site.open() as world:
        site.put("ACTION.md", data)
        began = time.monotonic()
        world.tick()
        took = time.monotonic() - began
        still_serves(site, world)
        assert world.kernel is not None
        finding = world.kernel.alert.now()["ACTION.md"]
    assert "at most" in finding.expected and site.read("ACTION.md") == data
    print(f"{count:,} entries, {len(data) / 2**20:.0f} MB: {took:.2f} s, {memory_mb() - before:.0f} MB, {finding}")
    assert memory_mb() - before < 2000


def test_an_environment_of_fifty_megabytes_is_refused_by_name_and_left_alone(site: WorkspaceFixture) -> None:
    text = (
        b'{"objects": [' + b",".join(b'{"id": "o%d", "name": "%s"}' % (n, b"x" * 1000) for n in range(50_000)) + b"]}"
    )
    site.put("ENVIRONMENT.md", text)
    with site.open() as world:
        assert world.kernel is not None
        world.tick()
        assert any("at most 8,388,608" in item.expected for item in world.kernel.alert.now().values())
    assert (site.root / "ENVIRONMENT.md").read_bytes() == text


@pytest.mark.parametrize("name", ["ACTION.md", "LESSONS.md"])
def test_a_link_out_of_the_workspace_is_not_followed_and_stops_nothing(
    site: WorkspaceFixture, tmp_path: Path, name: str
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_bytes(sheet([action("stolen")]))
    with site.open() as world:
        (site.root / name).symlink_to(secret)
        world.submit(order("refused", params={"refuse": "for a lesson"}))
        still_serves(site, world)
        assert world.kernel is not None
        assert any(item.code == "UNSAFE_PATH" for item in world.kernel.alert.now().values())
        assert "stolen" not in site.jobs() and secret.read_bytes() == sheet([action("stolen")])
        (site.root / name).unlink()
        still_serves(site, world, "afterwards")


def test_a_linked_environment_is_refused_in_words(site: WorkspaceFixture, tmp_path: Path) -> None:
    (site.root / "ENVIRONMENT.md").rename(tmp_path / "elsewhere.md")
    (site.root / "ENVIRONMENT.md").symlink_to(tmp_path / "elsewhere.md")
    with site.open() as world:
        world.submit(order("a", "franka_001"))
        site.run_until_idle(world)
        outcome = site.job("a").status.outcome
        assert site.starts("a") == 0 and outcome is not None and outcome.code == "UNSAFE_PATH", outcome
        assert world.kernel is not None and "ENVIRONMENT.md" in str(world.kernel.alert.now()["ENVIRONMENT.md#"])


def test_an_environment_that_becomes_unreadable_lets_nothing_move(site: WorkspaceFixture) -> None:
    with site.open() as world:
        good = site.read("ENVIRONMENT.md")
        site.put("ENVIRONMENT.md", good[: len(good) // 2])
        world.submit(order("a"))
        site.run_until_idle(world)
        assert site.starts("a") == 0 and site.job("a").status.outcome.cause is Cause.REJECTED  # type: ignore[union-attr]
        assert site.read("ENVIRONMENT.md") == good[: len(good) // 2]
        site.put("ENVIRONMENT.md", good)
        still_serves(site, world)


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "1e999", '"here"', "null", "[]"])
def test_a_pose_that_is_no_number_moves_nothing_and_has_a_lesson(site: WorkspaceFixture, bad: str) -> None:
    entry = '{"action_id": "a", "action_type": "move_to", "robot_id": "arm_1", "params": {"target_pose": [0, 0, %s]}}'
    with site.open() as world:
        site.put("ACTION.md", ('{"queue": [' + entry % bad + "]}").encode())
        still_serves(site, world)
        assert site.starts("a") == 0
        (shown,) = [one for one in site.entries() if one["action_id"] == "a"]
        assert shown["status"] == "failed" and shown["error"]["message"]


@pytest.mark.slice(2)
@pytest.mark.parametrize("id", ["../../etc/passwd", "a/b", "..", "a\\b", "a\nb", "", "x" * 300])
def test_an_id_that_is_a_path_becomes_no_file(site: WorkspaceFixture, tmp_path: Path, id: str) -> None:
    with site.open() as world:
        site.put("ACTION.md", sheet([action(id), action("good")]))
        site.run_until_idle(world)
        with suppress(UserError):
            world.submit(order(id))
        site.run_until_idle(world)
    assert site.starts("good") == 1 and {one.name for one in tmp_path.iterdir()} == {"w"}
    assert all(one.id != id or id == "" for one in site.executed)


def test_orders_of_another_process_are_carried_out(site: WorkspaceFixture) -> None:
    with site.open() as world, World.open(site.root) as other:
        other.submit(order("a"))
        site.run_until_idle(world)
        assert other.wait_job("a", timeout=PATIENCE_S).state.terminal
        other.submit(order("b", params={"takes": 5}))
        other.cancel("b")
        site.run_until_idle(world)
        assert site.job("b").status.outcome.cause is Cause.CANCELLED  # type: ignore[union-attr]


# -- disks ---------------------------------------------------------------------------------------------------------


def play(site: WorkspaceFixture, world: World, told: set[str]) -> None:
    for id, params in (("a", {}), ("b", {"fail": "no"}), ("c", {"refuse": "no"}), ("d", {})):
        world.submit(order(id, params=params))
        told.add(id)
        site.run_until_idle(world)


class FullFrom(FailingDisk):
    """A disk that has room for so many boundaries, and then for nothing that takes room."""

    def __init__(self, number: int, room: int, at: frozenset[str]) -> None:
        super().__init__(number, at)
        self.room = room

    def _note(self, name: str, path: str) -> None:
        self.broken = len(self.seen) >= self.room
        super()._note(name, path)

    def _half(self, fd: int, data: bytes, name: str) -> None:
        self.broken = len(self.seen) >= self.room
        super()._half(fd, data, name)


TAKES_ROOM = frozenset({"write", "append", "mkdir", "rename", "fsync", "fsync_dir"})


def full_and_mended(root: Path, number: int, room: int, at: frozenset[str]) -> None:
    site, told = WorkspaceFixture(root), set[str]()
    world = None
    try:
        world = site.open(FullFrom(number, room, at))
        play(site, world, told)
        world.close()
    except WorldError as error:
        assert isinstance(error, StorageError | UserError) and os.strerror(number) in str(error), error
        assert "Traceback" not in str(error)
        if world is not None:
            with suppress(WorldError):
                world.close()
            world.abandon()
    site.check_files()
    with site.open(Disk()) as world:
        site.run_until_idle(world)
        jobs = site.jobs()
        assert told <= jobs.keys(), f"told and lost: {told - jobs.keys()}"
        assert all(job.status.state.terminal for job in jobs.values())
        assert all(site.starts(id) <= 1 for id in jobs)
        still_serves(site, world)


@pytest.fixture(scope="module")
def boundaries(tmp_path_factory: pytest.TempPathFactory) -> int:
    site, disk = WorkspaceFixture(tmp_path_factory.mktemp("whole")), CountingDisk()
    with site.open(disk) as world:
        play(site, world, set())
    return len(disk.seen)


@pytest.mark.slice(7)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize(
    "at",
    [TAKES_ROOM, *map(frozenset, (("write",), ("fsync",), ("rename",), ("mkdir",)))],
    ids=lambda names: "+".join(sorted(names)),  # a set has another order in each worker
)
def test_a_disk_that_gives_way_at_some_moment(tmp_path: Path, boundaries: int, number: int, at: frozenset[str]) -> None:
    for room in (0, boundaries // 3, 2 * boundaries // 3):
        full_and_mended(tmp_path / str(room), number, room, at)


@pytest.mark.proof
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_a_disk_that_gives_way_at_any_moment(tmp_path: Path, boundaries: int, number: int) -> None:
    for room in range(boundaries):
        full_and_mended(tmp_path / str(room), number, room, TAKES_ROOM)
    print(f"{boundaries} moments of {errno.errorcode[number]}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_told(site: WorkspaceFixture) -> None:
    site.root.chmod(0o555)
    try:
        with pytest.raises(UserError) as refused:
            site.open()
        assert refused.value.fix
    finally:
        site.root.chmod(0o755)
