"""A fleet meets the limits of the system: open files and inotify. It is told before anything moves, or it works."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.open_file_limit import OF_PROCESS, OF_ROBOT

PAOS = (sys.executable, "-m", "worldfs.interfaces.cli.main")
SRC = str(Path(__file__).resolve().parents[2] / "src")
BODY = """
from worldfs.base.model import Operation, Outcome, Parameter, RobotState, Scene


class Cart:
    operations = (Operation("move_to", "Drive", (Parameter("target_pose", "[x,y,z]"),), undoable=True),)

    def __init__(self, context):
        self.robot, self.pose = context.robot_id, (0.0, 2.0 * int(context.robot_id[-3:]) - 14.0, 0.0)

    def open(self, scene):
        pass

    def observe(self):
        return Scene((RobotState(self.robot, self.pose),))

    def review(self, order):
        return ()

    def execute(self, order, run):
        self.pose = tuple(float(value) for value in order.params["target_pose"][:3])
        return Outcome.success("there")

    def close(self):
        pass
"""


class Fleet:
    """Carts with directories of their own."""

    def __init__(self, place: Path, count: int, plug: Path) -> None:
        self.home, self.count = place / "home", count
        (self.home / "shared_workspace").mkdir(parents=True)
        robots = [
            {
                "robotId": f"cart_{n:03d}",
                "driver": "cart",
                "profileName": "wheeled_carrier",
                "workspace": f"cart_{n:03d}",
            }
            for n in range(count)
        ]
        fleet = {"mode": "fleet", "sharedWorkspace": "shared_workspace", "instances": robots}
        (self.home / "config.json").write_text(json.dumps({"embodiments": fleet, "approval": "never"}))
        (self.home / "config.json").chmod(0o600)
        self.environ = {**os.environ, "PAOS_HOME": str(self.home), "PYTHONPATH": os.pathsep.join((SRC, str(plug)))}

    def paos(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*PAOS, *words], env=self.environ, capture_output=True, text=True, check=False)

    def up(self, *words: str, files: int, hard: int, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["sh", "-c", f'ulimit -Sn {files} && ulimit -Hn {hard} && exec "$0" "$@"', *before, *PAOS, "up", *words],
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def reached(self, missions: int) -> bool:
        listed = json.loads(self.paos("--json", "mission", "list").stdout)["missions"]
        return sum(item["state"] == "succeeded" for item in listed) == missions


@pytest.fixture
def fleet(tmp_path, install):
    plug = install("carts", {"worldfs.bodies": {"cart": "cart_of_limits:Cart"}}, cart_of_limits=BODY)
    return lambda count: Fleet(tmp_path, count, plug)


def test_a_fleet_that_would_need_more_open_files_than_allowed_is_refused_with_the_number(fleet):
    found = fleet(100)
    needed = OF_PROCESS + 100 * OF_ROBOT
    process = found.up("--until-idle", files=256, hard=256)
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2, said
    assert f"ulimit -n {needed}" in said and "Traceback" not in said
    assert not [path for path in found.home.iterdir() if path.name.startswith("cart_")]  # nothing was begun


def test_the_limit_is_raised_as_far_as_the_system_allows(fleet):
    found = fleet(3)
    process = found.up(files=OF_PROCESS, hard=OF_PROCESS + 3 * OF_ROBOT)
    assert process.stdout is not None and "kernel running" in process.stdout.readline()
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    row = next(line for line in limits.splitlines() if line.startswith("Max open files"))
    assert row.split()[3] == str(OF_PROCESS + 3 * OF_ROBOT)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said


NAMESPACE = ("unshare", "--user", "--map-root-user", "sh", "-c")
LIMITED = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$0" "$@"'


@pytest.mark.slice(2)
@pytest.mark.parametrize("watched", [True, False])
def test_fifteen_robots_work_with_256_open_files_and_no_inotify_and_end_at_an_interrupt(fleet, watched):
    before: tuple[str, ...] = () if watched else (*NAMESPACE, LIMITED)
    if not watched:
        tried = subprocess.run([*before, "true"], capture_output=True, text=True, check=False)
        if tried.returncode:
            pytest.skip(f"no namespace with a limit of its own here: {tried.stderr.strip()}")
    found = fleet(15)
    home = ("--home", str(found.home))
    process = found.up(files=256, hard=256, before=before)
    assert process.stdout is not None
    assert "kernel running" in process.stdout.readline()
    for n in range(15):
        assert main([*home, "mission", "add", "--robot", f"cart_{n:03d}", f"go to (4, {2 * n - 14})"]) == 0
    until(lambda: found.reached(15))
    opened = [os.readlink(fd) for fd in Path(f"/proc/{process.pid}/fd").iterdir() if fd.is_symlink()]
    assert len(opened) <= 60 + 15 * OF_ROBOT
    assert opened.count("anon_inode:inotify") == watched
    alerts = json.loads(found.paos("--json", "status").stdout)["alerts"]
    assert [alert["code"] for alert in alerts if alert["code"] == "INOTIFY_LIMIT"] == (
        [] if watched else ["INOTIFY_LIMIT"]
    )
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0 and "Traceback" not in said, said
