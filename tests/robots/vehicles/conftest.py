"""A real MQTT broker on loopback, and a workspace whose robot is a vehicle."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.model import ApprovalPolicy, Outcome
from worldfs.formats.config import Config, Instance
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import until
from worldfs.world.profiles import profile_text
from worldfs.world.world import World

ME = "amr_001"
TRUSTED = Config(approval={"": ApprovalPolicy.NEVER}, instances=(Instance(ME, "vda5050"),))
MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")


class Broker:
    """mosquitto of this machine. `more`: lines of its configuration."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.folder, self.more = folder, more
        self.port = free_port()

    def start(self) -> None:
        file = self.folder / "mosquitto.conf"
        lines = [f"listener {self.port} 127.0.0.1", *(self.more or ("allow_anonymous true",))]
        file.write_text("\n".join(lines) + "\n")
        assert MOSQUITTO is not None
        self.process = subprocess.Popen(
            [MOSQUITTO, "-c", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until(self.answers, "mosquitto does not take connections")

    def answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def broker_of(tmp_path: Path) -> Iterator[Callable[..., Broker]]:
    if MOSQUITTO is None:
        pytest.skip("mosquitto is not installed (apt-get install mosquitto)")
    started: list[Broker] = []

    def start(*more: str) -> Broker:
        folder = tmp_path / f"broker{len(started)}"
        folder.mkdir()
        if os.geteuid() == 0:
            more = (*(more or ("allow_anonymous true",)), "user root")
        started.append(Broker(folder, *more))
        started[-1].start()
        return started[-1]

    yield start
    for broker in started:
        broker.stop()


@pytest.fixture
def broker(broker_of: Callable[..., Broker]) -> Broker:
    return broker_of()


def settings(port: int, **more: Any) -> dict[str, Any]:
    return {"broker": f"mqtt://127.0.0.1:{port}", "manufacturer": "acme", "serial": "amr-7",
            "places": {"dock": [4.0, 1.0, 1.5]}} | more  # fmt: skip


def lab(root: Path, config: dict[str, Any], *orders: tuple[str, dict[str, Any]], driver: str = "vda5050") -> Path:
    root.mkdir(exist_ok=True)
    adapter = {"class": "RealRobotTargetAdapter", "driver": driver}
    target = {"id": ME, "type": "real_robot", "adapter": adapter, "config": config}
    (root / "TARGETS.md").write_text(json.dumps({"targets": [target]}))
    profile = profile_text("generic_amr", "en") or b""
    (root / "EMBODIED.md").write_bytes(profile.replace(b"vda5050", driver.encode()))
    shelf = {"id": "shelf_01", "type": "shelf", "position": [6.0, 0.0, 0.5], "size": [1.0, 1.0, 1.0]}
    page = {"schema_version": "v2.0", "robots": [{"robot_id": ME}], "objects": [], "map": {"zones": [{"name": "dock"}]},
            "scene_graph": {"nodes": [shelf], "edges": []}}  # fmt: skip
    (root / "ENVIRONMENT.md").write_text(json.dumps(page))
    queue = [{"action_id": f"act_{number}", "action_type": op, "params": params, "status": "pending"}
             for number, (op, params) in enumerate(orders)]  # fmt: skip
    (root / "ACTION.md").write_text(json.dumps({"queue": queue}))
    return root


def opened(root: Path, driver: str = "vda5050", **more: Any) -> World:
    return World.open(root, config=TRUSTED._replace(instances=(Instance(ME, driver),)), serve=True, **more)


def ended(root: Path, driver: str = "vda5050") -> list[Outcome]:
    with opened(root, driver) as world:
        world.run(stop=threading.Event(), until_idle=True)
        return [world.jobs.load(id).status.outcome for id in sorted(world.jobs.done_ids())]


def page(root: Path) -> Any:
    return json.loads((root / "ENVIRONMENT.md").read_text())
