"""Ctrl-C, cancel, a kernel that goes away, and a second one that comes: everything ends with a word."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import threading

import pytest

from worldfs.base.driver import Run, Standstill
from worldfs.base.model import Order, Outcome
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.storage.disk_store import LOCK
from worldfs.testing.freezing import freeze
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.home import Home
from worldfs.world.home_world import open_home_world

pytest.importorskip("mujoco")


class Hanging(NullDriver):
    """Never done with a pick_up, and says when it has begun."""

    def __init__(self, begun: threading.Event) -> None:
        super().__init__()
        self.begun = begun

    def execute(self, order: Order, run: Run) -> Outcome:
        self.begun.set()
        params = {"hang": True} if order.op == "pick_up" else {}
        return super().execute(Order(order.id, order.node, order.op, params), run)


def rows(table) -> list[list[str]]:
    lines = [line for line in table.text("TASK.md").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_ctrl_c_stops_a_do_that_serves_itself(table, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()
    bodies = {"simulation": lambda seat: Hanging(begun)}
    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", lambda name, **options: bodies)

    def interrupt() -> None:
        assert begun.wait(PATIENCE_S)
        os.kill(os.getpid(), signal.SIGINT)

    hand = threading.Thread(target=interrupt)
    hand.start()
    said = table.paos("do", "clear the table")
    hand.join()
    assert said.code == 130
    assert "stopping safely" in said.err
    assert said.out.endswith("Interrupted: none of its jobs runs any more\n")
    [job] = table.ended().values()
    assert (job.status.state, job.status.outcome.cause) == ("failed", "cancelled")
    assert rows(table)[0][3].endswith("failed")
    assert "cancelled" in rows(table)[0][5]
    assert all(row[3].endswith(("skipped", "failed")) for row in rows(table))
    assert table.entry(job.id)["error"]["cause"] == "cancelled"
    assert table.paos("--json", "status").values[0]["kernel"] is None


class MovesOn(Hanging):
    """It measures that its robot moves, whatever it is told."""

    def standstill(self, since: float) -> Standstill:
        return Standstill(False, "0.1 m/s")


@pytest.mark.slice(3, 1)
@pytest.mark.parametrize("word", ["interrupted", "timeout", "cancelled"])
def test_a_robot_that_moves_on_after_its_end_is_named(table, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    begun = threading.Event()
    bodies = {"simulation": lambda seat: MovesOn(begun)}
    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", lambda name, **options: bodies)

    def end() -> None:
        assert begun.wait(PATIENCE_S)
        if word == "interrupted":
            os.kill(os.getpid(), signal.SIGINT)

    hand = threading.Thread(target=end)
    if word != "cancelled":
        hand.start()
        said = table.paos("do", "pick up the can", *(["--timeout", "1"] if word == "timeout" else []))
        hand.join()
        assert said.code != 0 and "may still move" in said.out and "hardware stop" in said.out
    else:
        home = Home(table.root.parent)
        how = {"config": home.config({}), "agents": home.path / "agents", "serve": True, "drivers": bodies}
        with open_home_world(table.root, **how) as world, KernelThread(world):
            do = table.spawn("do", "pick up the can")
            assert begun.wait(PATIENCE_S)
            [job] = [id for id in world.jobs.open_ids() if world.jobs.load(id).status.state == "running"]
            said = table.paos("cancel", job)
            do.communicate(timeout=PATIENCE_S)
            assert said.code == 1 and "may still move" in said.out
    found = table.paos("--json", "status").values[0]
    assert found["nodes"][0]["may_move"] is True
    assert [one["code"] for one in found["alerts"] if one["field"].startswith("stop ")] == ["STOP_UNCONFIRMED"]


def test_a_time_limit_ends_a_do_and_its_job(table, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()
    bodies = {"simulation": lambda seat: Hanging(begun)}

    class CountedFromTheMotion(threading.Timer):
        """So that the limit ends a job that runs, however long a busy machine takes to begin it."""

        def run(self) -> None:
            begun.wait(PATIENCE_S)
            super().run()

    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", lambda name, **options: bodies)
    monkeypatch.setattr("worldfs.interfaces.cli.do_command.threading.Timer", CountedFromTheMotion)
    said = table.paos("--json", "do", "pick up the can", "--timeout", "0.3")
    assert said.code == 1
    assert said.values[-1]["verdict"] == "timeout"
    assert said.values[-1]["message"] == "Timed out after 0.3 s: none of its jobs runs any more"
    assert [job.status.outcome.cause for job in table.ended().values()] == ["cancelled"]


@pytest.mark.proof
def test_ctrl_c_of_a_do_leaves_the_kernel_at_work(table, kernel: subprocess.Popen[str]) -> None:
    do = table.spawn("do", "clear the table")
    assert do.stdout is not None
    assert "Grasp" in do.stdout.readline()
    do.send_signal(signal.SIGINT)
    out, err = do.communicate(timeout=PATIENCE_S)
    assert do.returncode == 130, (out, err)
    assert "stopping safely" in err
    assert out.strip().endswith("Interrupted: none of its jobs runs any more")
    assert len(table.ended()) < 10
    assert "running" not in table.text("TASK.md")
    assert kernel.poll() is None
    counts = table.paos("--json", "status").values[0]["jobs"]
    assert (counts["pending"], counts["running"]) == (0, 0)
    assert table.paos("do", "go home").code == 0  # the body is well, and obeys


def test_cancel_stops_what_runs_and_the_next_one_goes_on(table, kernel: subprocess.Popen[str]) -> None:
    there, back = ([x, 0.0, 0.45, 3.1416, 0.0, 0.0] for x in (0.4, 0.55))
    steps = [{"action_type": "move_to", "params": {"target_pose": pose}} for pose in (there, back) * 200]
    long = {"action_id": "long", "action_type": "strategy", "params": {"name": "steps", "steps": steps}}
    home = {"action_id": "home", "action_type": "strategy", "params": {"name": "home"}}
    table.queue(long, home)
    assert kernel.stdout is not None
    assert "long" in kernel.stdout.readline()  # it tells that the job is under way
    assert table.paos("cancel", "long").code == 0
    stopped, next_one = table.answers("long", "home")
    assert (stopped["status"], stopped["error"]["cause"]) == ("failed", "cancelled")
    assert next_one["status"] == "completed"


def test_a_sheet_that_says_cancelled_is_obeyed(table) -> None:
    home = {"action_type": "strategy", "params": {"name": "home"}}
    with table.running():
        table.queue({"action_id": "one", **home}, {"action_id": "two", **home, "status": "cancelled"})
        assert table.answers("one")[0]["status"] == "completed"
        until(lambda: set(table.ended()) == {"one"})  # its file moves out of the way a moment after it is told
        assert table.entry("two")["status"] == "cancelled"


def test_a_kernel_that_goes_away_is_said_and_not_waited_for(table, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = table.spawn("up", "--driver", "simulation", "--no-cameras")
    assert kernel.stdout is not None
    kernel.stdout.readline()
    freeze(kernel.pid)  # it takes the order and does nothing with it
    do = table.spawn("do", "clear the table")
    assert do.stdout is not None
    assert "Grasp" in do.stdout.readline()
    kernel.kill()
    kernel.communicate(timeout=PATIENCE_S)
    _, err = do.communicate(timeout=PATIENCE_S)
    assert do.returncode == 2
    assert "kernel" in err
    assert "paos up" in err
    assert "⏳" not in table.text("TASK.md")


def test_a_second_up_is_refused_and_names_the_first(table, kernel: subprocess.Popen[str]) -> None:
    before = table.bytes()
    said = table.paos("up")
    assert (said.code, said.out) == (2, "")
    assert str(kernel.pid) in said.err
    assert table.bytes() == before
    assert kernel.poll() is None
    refused = table.paos("--json", "up")
    assert (refused.code, refused.values[0]["error"]["code"]) == (2, "BUSY")


def test_ctrl_c_of_up_is_a_proper_end(table, kernel: subprocess.Popen[str]) -> None:
    kernel.send_signal(signal.SIGINT)
    out, err = kernel.communicate(timeout=PATIENCE_S)
    assert (kernel.returncode, err) == (0, "")
    assert out.strip().endswith("kernel stopped")
    assert table.up().code == 0  # and the root is free


def test_a_do_beside_a_running_kernel_goes_through_it(table, kernel: subprocess.Popen[str]) -> None:
    said = table.paos("do", "put the apple in the basket", "--seed", "9")
    assert said.code == 0, said
    assert "a kernel runs already, so --seed was ignored" in said.err
    assert table.where("apple_01") == {("in", "basket_01")}
    assert json.loads(table.paos("--json", "status").out)["kernel"]["pid"] == kernel.pid


@pytest.mark.slice(2)
@pytest.mark.parametrize(("ended_by", "locked"), [("SIGINT", True), ("SIGTERM", False)])
def test_a_do_ends_while_the_kernel_is_frozen_and_says_that_the_robot_may_still_move(
    table, kernel: subprocess.Popen[str], ended_by: str, locked: bool
) -> None:
    """`locked`: the kernel holds the lock of the store when it is frozen."""
    do = table.spawn("--json", "do", "clear the table")
    assert do.stdout is not None
    first = do.stdout.readline()
    lock = os.open(table.root / LOCK, os.O_RDWR)
    if locked:
        fcntl.flock(lock, fcntl.LOCK_EX)
    freeze(kernel.pid)
    try:
        do.send_signal(signal.Signals[ended_by])
        out, err = do.communicate(timeout=PATIENCE_S)
    finally:
        os.close(lock)
        kernel.send_signal(signal.SIGCONT)
    assert do.returncode == 130, (out, err)
    said = json.loads((first + out).splitlines()[-1])
    assert (said["verdict"], said["confirmed"]) == ("interrupted", False)
    assert f"the kernel (process {kernel.pid}) does not answer: the robot may still move" in said["message"]
    assert "hardware stop" in said["message"]


def test_of_a_frozen_kernel_the_status_says_that_nothing_is_known(table, kernel: subprocess.Popen[str]) -> None:
    def silent() -> list[object]:
        return [
            alert for alert in json.loads(table.paos("--json", "status").out)["alerts"] if alert["field"] == "kernel"
        ]

    freeze(kernel.pid)
    try:
        (alert,) = silent()
        said = table.paos("status").out
        stop = table.paos("--json", "stop")
        assert stop.code == 1 and '"delivered": false' in stop.out, stop
        refused = table.paos("do", "clear the table")
    finally:
        kernel.send_signal(signal.SIGCONT)
    assert refused.code == 1 and "stop NOT delivered" in refused.out and "hardware stop" in refused.out, refused
    assert alert["code"] == "KERNEL_SILENT"
    assert f"the kernel (process {kernel.pid}) does not answer: what its robots do is not known" in said
    assert until(lambda: not silent())


def test_a_kernel_that_ends_names_the_robots_that_may_still_move(table, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = {"simulation": lambda seat: MovesOn(threading.Event())}
    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", lambda name, **options: bodies)
    home = Home(table.root.parent)
    with open_home_world(table.root, config=home.config({}), agents=home.path / "agents") as world:
        node = next(iter(world.node_ids()))
        world.submit(Order("a", node, "pick_up", {"object_id": "can_01"}, timeout_s=0.2))
    said = table.paos("up", "--until-idle")
    assert f"May still move: {node}" in said.out and said.out.rstrip().endswith("kernel stopped")
