"""A workspace whose directory is replaced while its kernel runs: stops reach it, it ends, and no second one begins."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import PATIENCE_S

pytest.importorskip("mujoco")

THERE, BACK = ([x, 0.0, 0.45, 3.1416, 0.0, 0.0] for x in (0.4, 0.55))
STEPS = [{"action_type": "move_to", "params": {"target_pose": pose}} for pose in (THERE, BACK) * 60]
LONG = {"action_id": "long", "action_type": "strategy", "params": {"name": "steps", "steps": STEPS}}


@pytest.fixture
def kernel(table) -> Iterator[subprocess.Popen[str]]:
    """A `paos up` of its own process, at work for long."""
    process = table.spawn("up", "--driver", "simulation", "--no-cameras")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("kernel running")
    table.queue(LONG)
    assert "long" in process.stdout.readline()
    yield process
    for sign in (signal.SIGCONT, signal.SIGINT):
        if process.poll() is None:
            process.send_signal(sign)
    process.communicate(timeout=PATIENCE_S)


def exchange(place: Path) -> Path:
    """Another copy of the workspace is there at once (`mv --exchange`); where the first one is now."""
    other = place.with_name("restored")
    shutil.copytree(place, other, ignore=shutil.ignore_patterns("sockets"))
    assert ctypes.CDLL(None).renameat2(-100, os.fsencode(place), -100, os.fsencode(other), 2) == 0
    return other


def test_the_kernel_of_the_directory_that_was_there_is_asked(table, kernel: subprocess.Popen[str]) -> None:
    freeze(kernel.pid)  # so that it neither sees the exchange nor answers
    exchange(table.root)
    said = table.paos("stop")
    assert said.code == 1 and f"process {kernel.pid}" in said.out and "no kernel runs" not in said.out, said


@pytest.mark.slice(2)
@pytest.mark.parametrize("how", ["exchanged", "removed", "moved"])
def test_a_kernel_whose_directory_has_gone_from_its_path_ends(table, kernel: subprocess.Popen[str], how: str) -> None:
    place = table.root
    if how == "exchanged":
        exchange(place)
    else:
        place.rename(place.with_name("away"))
    if how == "removed":
        shutil.rmtree(place.with_name("away"), ignore_errors=True)
    out, err = kernel.communicate(timeout=PATIENCE_S)
    assert kernel.returncode not in (0, -signal.SIGKILL), out
    assert "moved, removed or replaced" in out + err and "Traceback" not in out + err, out + err


def test_no_second_kernel_begins_while_the_first_lives(table, kernel: subprocess.Popen[str]) -> None:
    freeze(kernel.pid)
    exchange(table.root)
    said = table.paos("up")
    assert said.code != 0 and f"process {kernel.pid}" in said.err and "Traceback" not in said.err, said
    kernel.kill()
    kernel.communicate(timeout=PATIENCE_S)
    assert table.up().code == 0


def test_a_mirror_that_replaces_each_file_loses_no_kernel(table, kernel: subprocess.Popen[str]) -> None:
    """`rsync -aI --delete`: the directory is the same, its files are others, and the sockets have gone."""
    place = table.root
    for file in [*place.glob(".paos/*.lock")]:
        shutil.copy(file, place / "copy")
        (place / "copy").rename(file)
    shutil.rmtree(place / ".paos/sockets")
    said = table.paos("up")
    assert said.code != 0 and f"{kernel.pid}" in said.err, said
    stop = table.paos("--json", "stop")
    assert stop.code == 0 and stop.values[0]["confirmed"] is True, stop
    assert kernel.poll() is None


@pytest.mark.parametrize("how", ["exchanged", "a link that leads elsewhere"])
def test_a_stop_that_the_kernel_does_not_hear_holds_when_its_directory_is_put_back(table, how: str) -> None:
    place, away = table.root, table.root.with_name("away")
    if how != "exchanged":
        place.rename(away)
        place.symlink_to(away)
    kernel = table.spawn("up", "--driver", "simulation", "--no-cameras")
    assert kernel.stdout is not None and kernel.stdout.readline().startswith("kernel running")
    freeze(kernel.pid)
    if how == "exchanged":
        place.rename(away)
    else:
        place.unlink()
    place.mkdir()
    said = table.paos("stop")
    kernel.kill()
    kernel.communicate(timeout=PATIENCE_S)
    shutil.rmtree(place)
    if how == "exchanged":
        away.rename(place)
    else:
        place.symlink_to(away)

    def stopped() -> bool:
        return all(node["stopped"] for node in table.paos("--json", "status").values[0]["nodes"])

    assert said.code == 1 and stopped(), said
    assert table.up().code == 0 and stopped()
    assert table.paos("resume").code == 0 and not stopped()
    assert table.up().code == 0 and not stopped(), "it does not come back"


@pytest.mark.slice(4)
@pytest.mark.parametrize("then", ["served where it lies now", "put back", "a copy is put there"])
@pytest.mark.parametrize("heard", ["", "by the kernel", "by none that runs"])
def test_a_stop_after_the_workspace_was_moved_away_is_in_force_at_the_next_start(
    table, kernel: subprocess.Popen[str], then: str, heard: str
) -> None:
    place, away, copy = table.root, table.root.with_name("away"), table.root.with_name("copy")
    kernel.send_signal(signal.SIGSTOP)  # it writes nothing meanwhile
    shutil.copytree(place, copy, ignore=shutil.ignore_patterns("sockets"))
    place.rename(away)
    if heard:
        kernel.send_signal(signal.SIGCONT)
    if heard == "by none that runs":
        kernel.communicate(timeout=PATIENCE_S)
    stop = table.paos("stop")
    assert stop.code == 1
    if not heard:
        kernel.kill()
    if kernel.poll() is None:
        kernel.communicate(timeout=PATIENCE_S)
    if then != "served where it lies now":
        (away if then == "put back" else copy).rename(place)
    options = ("--workspace", str(place if place.exists() else away))
    served = type(table)(place if place.exists() else away, options)

    def stopped() -> bool:
        return all(node["stopped"] for node in served.paos("--json", "status").values[0]["nodes"])

    assert stopped(), stop
    assert served.up().code == 0 and stopped(), "queued orders wait"
    assert served.paos("resume").code == 0 and not stopped()
    assert served.up().code == 0 and not stopped(), "it does not come back"
