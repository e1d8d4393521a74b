"""A stop while something is broken: the driver hears it, or the answer says that nothing is known; no false word."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import pytest
from tests.command_run import run_command

from worldfs.base.errors import MissingRequirement, StorageError
from worldfs.runtime.stop_log import ALL
from worldfs.storage.engine_record import record_engine
from worldfs.storage.store_interface import Store
from worldfs.testing.free_port import free_port
from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world.workspace_engine import open_engine
from worldfs.world.world import World

pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
ROBOT = "arm_1"
HARDWARE = "use the robot's hardware stop"


class KernelProcess:
    """tests/proof/stop_kernel_process.py at work at an order."""

    def __init__(self, root: Path, *words: str, at_work: bool = True) -> None:
        self.root, self.said = root, SimpleQueue[str]()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.proof.stop_kernel_process", str(root), *words], cwd=ROOT,
            env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()
        self.hears("ready")
        with World.open(root, store=open_engine(root)) as world:
            world.submit(order(f"long_{self.process.pid}", ROBOT))
        if at_work:
            self.hears("moving")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.put(line.strip())

    def hears(self, text: str) -> None:
        while self.said.get(timeout=PATIENCE_S) != text:
            pass

    def heard_nothing(self) -> bool:
        """Whether the driver's stop was not called by now."""
        said = []
        with suppress(Empty):
            while True:
                said.append(self.said.get_nowait())
        return "heard" not in said

    def brings(self, trouble: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{trouble}\n")
        self.process.stdin.flush()
        self.hears(f"{trouble} begun")

    def freeze(self) -> None:
        freeze(self.process.pid)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return WorkspaceFixture(tmp_path / "lab", (ROBOT,)).root


@pytest.fixture
def kernel() -> Iterator[Callable[..., KernelProcess]]:
    made: list[KernelProcess] = []

    def start(root: Path, *words: str, **more: Any) -> KernelProcess:
        made.append(KernelProcess(root, *words, **more))
        return made[-1]

    yield start
    for one in made:
        one.close()


class Stopped(NamedTuple):
    """How `paos stop` ended. `robot`: what it says of the robot; `rest`: every other value that it printed."""

    code: int
    robot: dict[str, Any]
    rest: list[dict[str, Any]]


def values(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def stopped(code: int, out: str) -> Stopped:
    said = values(out)
    robots = [value for value in said if value.get("node") == ROBOT]
    assert all(type(robot["confirmed"]) is bool for robot in robots), said
    return Stopped(code, robots[0] if robots else {}, [one for one in said if one not in robots])


def stop(root: Path) -> Stopped:
    """`paos stop` in this process, as it answers a program."""
    said = run_command("--json", "--workspace", str(root), "stop")
    return stopped(said.returncode, said.stdout)


def state(root: Path) -> dict[str, Any]:
    said = run_command("--workspace", str(root), "cat", f"/nodes/{ROBOT}/stop")
    return dict(json.loads(said.stdout))


def is_confirmed(found: Stopped) -> bool:
    return (found.code, found.robot.get("confirmed")) == (0, True) and not found.rest


def is_unknown(found: Stopped, why: str) -> bool:
    """The answer says that the standstill is not known, and why."""
    return (found.code, found.robot.get("confirmed")) == (1, False) and why in found.robot["why"]


# -- nothing is broken ---------------------------------------------------------------------------------------------


def test_a_driver_that_measures_a_standstill_confirms_the_stop(kernel, lab: Path) -> None:
    one = kernel(lab)
    found = stop(lab)
    assert is_confirmed(found), found
    one.hears("heard")
    until(lambda: state(lab)["confirmed"])
    assert json.loads(run_command("--json", "--workspace", str(lab), "status").stdout)["nodes"][0]["stopped"][
        "confirmed"
    ]


# -- storage -------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MiB. Skips where this process may not mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", place], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no disk can be mounted here: {made.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(place: Path) -> None:
    for size in (1 << 16, 1):
        with suppress(OSError), (place / f"full{size}").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(size))


@pytest.mark.slice(0)
def test_a_full_disk_keeps_no_stop_from_the_driver_and_the_next_start_is_stopped(kernel, small_disk: Path) -> None:
    lab = WorkspaceFixture(small_disk / "lab", (ROBOT,)).root
    one = kernel(lab)
    fill(small_disk)
    found = stop(lab)
    one.hears("heard")
    assert found.robot["confirmed"] is True, found
    assert state(lab)["stopped"] is True  # into the room that was kept for it
    one.close()
    for file in small_disk.glob("full*"):
        file.unlink()
    two = kernel(lab, at_work=False)
    assert json.loads(run_command("--json", "--workspace", str(lab), "status").stdout)["jobs"] == {
        "pending": 1,
        "running": 0,
    }
    assert two.heard_nothing()


@pytest.mark.slice(3)
@pytest.mark.parametrize("trouble", ["full", "read-only"])
def test_what_the_kernel_cannot_write_is_in_force_and_said_to_be_unstored(kernel, lab: Path, trouble: str) -> None:
    """The sender cannot write either: it may only read the home."""
    one = kernel(lab)
    one.brings(trouble)
    found = stopped(*reader_stops(lab))
    one.hears("heard")
    assert found.robot["confirmed"] is True, found
    assert found.code == 1 and found.rest[0]["stored"] is False and found.rest[0]["why"], found


@pytest.mark.slice(0)
def test_a_kernel_without_a_free_descriptor_stores_the_stop_with_those_that_it_kept(kernel, lab: Path) -> None:
    one = kernel(lab)
    one.brings("descriptors")
    assert is_confirmed(found := stopped(*reader_stops(lab))), found
    one.close()
    with World.open(lab) as world:
        assert world.stops.state(ROBOT).stopped


@pytest.mark.slice(0)
@pytest.mark.parametrize("trouble", ["full", "read-only"])
def test_what_the_kernel_cannot_write_is_stored_by_who_sent_it(kernel, lab: Path, trouble: str) -> None:
    one = kernel(lab)
    one.brings(trouble)
    assert is_confirmed(found := stop(lab)), found
    one.close()
    with World.open(lab) as world:
        assert world.stops.state(ROBOT).stopped and not world.stops.pending.all()


def reader_stops(lab: Path) -> tuple[int, str]:
    """`paos stop` of a process for which the home is read-only. Skips where that cannot be had."""
    paos = f"{sys.executable} -m worldfs.interfaces.cli.main"
    command = f"mount --bind {lab} {lab} && mount -o remount,bind,ro {lab} && exec {paos}"
    words = ["unshare", "--mount", "sh", "-c", f'{command} "$@"', "-", "--json", "--workspace", str(lab), "stop"]
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"no mount of its own for a process: {tried.stderr.decode().strip()}")
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}
    )
    assert done.stdout, done.stderr
    return done.returncode, done.stdout


@pytest.mark.slice(0)
def test_a_log_of_stops_that_is_broken_keeps_no_stop_from_the_driver(kernel, lab: Path) -> None:
    one = kernel(lab)
    place = lab / ALL
    place.unlink(missing_ok=True)
    place.mkdir(parents=True)
    found = stop(lab)
    one.hears("heard")
    assert found.robot["confirmed"] is True and found.code == 1, found
    assert found.rest[0]["stored"] is False
    place.rmdir()
    until(lambda: state(lab)["stopped"])  # it is written as soon as it can be


# -- the kernel ----------------------------------------------------------------------------------------------------


def test_of_a_frozen_kernel_nothing_is_known_until_it_goes_on(kernel, lab: Path) -> None:
    one = kernel(lab)
    one.freeze()
    found = stop(lab)
    assert is_unknown(found, "does not answer") and one.heard_nothing(), found
    assert state(lab)["stopped"] is True and state(lab)["confirmed"] is False
    one.process.send_signal(signal.SIGCONT)
    one.hears("heard")
    until(lambda: state(lab)["confirmed"])
    log = (lab / ALL).read_text().splitlines()
    assert sum('"stop"' in line for line in log) == 1  # it came by the socket and by the log


@pytest.mark.slice(0)
def test_of_a_kernel_whose_interpreter_is_kept_by_foreign_code_nothing_is_known(kernel, lab: Path) -> None:
    one = kernel(lab)
    one.brings("compute")
    assert is_unknown(stop(lab), "does not answer")
    assert state(lab)["stopped"] is True


@pytest.mark.slice(4)
@pytest.mark.parametrize(
    ("word", "why"),
    [("hang", "has not returned"), ("lock", "has not returned"), ("deaf", "long"), ("blind", "cannot measure")],
)
def test_a_driver_that_does_not_do_as_it_is_told_has_confirmed_nothing(kernel, lab: Path, word: str, why: str) -> None:
    one = kernel(lab, word)
    found = stop(lab)
    one.hears("heard")
    assert is_unknown(found, why), found
    alerts = until(lambda: json.loads(run_command("--workspace", str(lab), "cat", "/meta/alerts.json").stdout))
    assert alerts[f"stop {ROBOT}"]["code"] == "STOP_UNCONFIRMED" and "hardware stop" in alerts[f"stop {ROBOT}"]["fix"]


@pytest.mark.slice(0)
def test_a_second_stop_reaches_the_driver_whose_first_one_hangs(kernel, lab: Path) -> None:
    one = kernel(lab, "hang")
    for _ in range(2):
        stop(lab)
        one.hears("heard")


@pytest.mark.slice(0)
def test_while_a_plan_is_made_the_driver_hears_the_stop(kernel, lab: Path) -> None:
    one = kernel(lab)
    one.brings("plan")
    assert is_confirmed(stop(lab))
    one.hears("heard")


@pytest.mark.slice(0)
def test_of_a_motion_that_waits_for_a_policy_nothing_is_known_until_it_has_returned(kernel, lab: Path) -> None:
    one = kernel(lab, "policy")
    found = stop(lab)
    one.hears("heard")
    assert is_unknown(found, "has not returned"), found


@pytest.mark.slice(0)
def test_while_a_job_waits_for_an_approval_its_driver_hears_the_stop(kernel, lab: Path) -> None:
    one = kernel(lab, "approval", at_work=False)
    assert is_confirmed(stop(lab))
    one.hears("heard")


def test_without_a_kernel_a_real_robot_may_still_move_and_a_simulated_one_is_not_there(lab: Path) -> None:
    assert is_confirmed(stop(lab))
    profile = (lab / "EMBODIED.md").read_bytes()
    (lab / "EMBODIED.md").write_bytes(profile.replace(b"simulation", b"lerobot"))
    assert is_unknown(stop(lab), "no kernel runs")


@pytest.mark.slice(0)
def test_a_kernel_that_ends_before_it_has_stored_the_stop_takes_it_not_along(kernel, lab: Path) -> None:
    one = kernel(lab, "hang")
    asked = subprocess.Popen(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", "--json", "--workspace", str(lab), "stop"],
        stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    one.hears("heard")
    one.close()
    out, _ = asked.communicate(timeout=PATIENCE_S)
    assert stopped(asked.returncode, out).robot
    assert state(lab)["stopped"] is True


# -- the network ---------------------------------------------------------------------------------------------------


@pytest.mark.slice(0)
def test_a_hub_that_is_cut_off_keeps_no_stop_from_a_robot_of_this_machine(kernel, lab: Path, tmp_path: Path) -> None:
    pytest.importorskip("nats", reason="the client of NATS is not installed (worldfs[fleet])")
    from tests.nats_store.server_group import ServerGroup

    group = ServerGroup(tmp_path / "servers")
    try:
        record_engine(lab, group.address())
        with closing(until(lambda: opened(lab))) as store:
            for name in ("ENVIRONMENT.md", "EMBODIED.md"):
                store.put(name, (lab / name).read_bytes())
        one = kernel(lab)
        for index in range(3):
            group.freeze(index)
        found = stop(lab)
        one.hears("heard")
        assert found.robot["confirmed"] is True, found
        assert found.code == 1 and found.rest[0]["stored"] is False, found
        for index in range(3):
            group.thaw(index)
        until(lambda: state(lab)["stopped"])
    finally:
        group.close()


def opened(lab: Path) -> Store | None:
    """Its store; None while the servers start."""
    with suppress(MissingRequirement, StorageError):
        return open_engine(lab)
    return None


def test_a_server_that_is_away_is_told_as_not_delivered() -> None:
    port = free_port()
    said = run_command("--json", "--connect", f"ws://127.0.0.1:{port}", "stop", environ={"PAOS_TOKEN": "x" * 24})
    (value,) = values(said.stdout)
    assert (said.returncode, value["delivered"], value["confirmed"]) == (1, False, False)
    said = run_command("--connect", f"ws://127.0.0.1:{port}", "stop", environ={"PAOS_TOKEN": "x" * 24})
    assert "NOT delivered" in said.stdout and HARDWARE in said.stdout
