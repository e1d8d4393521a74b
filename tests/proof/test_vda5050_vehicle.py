"""A vehicle that others wrote: the virtual one of the published library vda-5050-lib 1.4.0, over a real broker."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.model import ApprovalPolicy, Cause, Outcome
from worldfs.formats.config import Config, Instance
from worldfs.runtime.stop_log import StopLog
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.profiles import profile_text
from worldfs.world.world import World

from .npm_package import installed

subscribe = pytest.importorskip("paho.mqtt.subscribe")
pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
PINNED = Path(__file__).parent / "vda5050_vehicle"
MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
ME = "amr_001"


@pytest.fixture(scope="session")
def library() -> Path:
    """node_modules of the pinned library. Skips, saying so, where it cannot be had."""
    return installed(PINNED, "vda5050-vehicle", "node_modules/vda-5050-lib") / "node_modules"


@pytest.fixture
def port(library: Path, tmp_path: Path) -> Iterator[int]:
    """Of a broker on which that vehicle has come up."""
    if MOSQUITTO is None:
        pytest.skip("mosquitto is not installed (apt-get install mosquitto)")
    port = free_port()
    lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", *(["user root"] if os.geteuid() == 0 else [])]
    (tmp_path / "mosquitto.conf").write_text("\n".join(lines) + "\n")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    broker = subprocess.Popen([MOSQUITTO, "-c", str(tmp_path / "mosquitto.conf")], **quiet)  # type: ignore[call-overload]  # of Popen
    until(lambda: _answers(port))
    vehicle = subprocess.Popen(
        ["node", str(PINNED / "vehicle.js"), str(port), str(library)], stdout=subprocess.PIPE, text=True
    )
    assert vehicle.stdout is not None
    assert vehicle.stdout.readline() == "up\n"
    yield port
    for process in (vehicle, broker):
        process.kill()
        process.wait()
    vehicle.stdout.close()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _far(port: int) -> float:
    """How far the vehicle has come, by its next report."""
    message = subscribe.simple("uagv/v2/acme/amr-7/visualization", hostname="127.0.0.1", port=port)
    return float(json.loads(message.payload)["agvPosition"]["x"])


def _opened(root: Path, port: int, *goals: list[float]) -> World:
    root.mkdir()
    settings: dict[str, Any] = {"broker": f"mqtt://127.0.0.1:{port}", "manufacturer": "acme", "serial": "amr-7"}
    adapter = {"class": "RealRobotTargetAdapter", "driver": "vda5050"}
    target = {"id": ME, "type": "real_robot", "adapter": adapter, "config": settings}
    (root / "TARGETS.md").write_text(json.dumps({"targets": [target]}))
    (root / "EMBODIED.md").write_bytes(profile_text("generic_amr", "en") or b"")
    queue = [{"action_id": f"a{n}", "action_type": "move_to", "params": {"target_pose": goal}, "status": "pending"}
             for n, goal in enumerate(goals)]  # fmt: skip
    (root / "ACTION.md").write_text(json.dumps({"queue": queue}))
    config = Config(approval={"": ApprovalPolicy.NEVER}, instances=(Instance(ME, "vda5050"),))
    return World.open(root, config=config, serve=True)


def _outcomes(world: World) -> list[Outcome]:
    return [world.jobs.load(id).status.outcome for id in sorted(world.jobs.done_ids())]


def test_a_vehicle_of_others_drives_to_its_goals_and_complains_of_nothing(port: int, tmp_path: Path) -> None:
    with _opened(tmp_path / "lab", port, [4.0, 1.0, 0.0, 0.0, 0.0, 1.5], [0.0, 0.0, 0.0]) as world:
        world.run(stop=threading.Event(), until_idle=True)
        outcomes = _outcomes(world)
    assert [outcome.ok for outcome in outcomes] == [True, True], outcomes
    assert not any("vehicle_errors" in outcome.evidence for outcome in outcomes)


def test_a_vehicle_of_others_is_stopped_on_its_way(port: int, tmp_path: Path) -> None:
    with _opened(tmp_path / "lab", port, [150.0, 0.0, 0.0]) as world:
        thread = threading.Thread(target=lambda: world.run(stop=threading.Event(), until_idle=True))
        thread.start()
        until(lambda: _far(port) > 1.0)  # on its way
        StopLog(world.store, world.clock).stop([ME], "operator")
        thread.join(PATIENCE_S)
        (outcome,) = _outcomes(world)
    assert outcome.cause is Cause.CANCELLED and outcome.evidence["stop_confirmed"] is True, outcome
