"""A fleet of config.json: served as it stands, each file in its directory; what cannot be served is refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from worldfs.formats import action as action_format
from worldfs.interfaces.cli.main import main
from worldfs.storage.directory_lease import directory_lease
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.open_store import open_store
from worldfs.testing.workspace_fixture import action, sheet
from worldfs.world.check import check
from worldfs.world.home import Home

BODY = """
from worldfs.testing.null_driver import NullDriver

def still(context):
    return NullDriver()
"""


class FleetHome:
    """A home whose config.json has upstream's fleet form; its bodies move nothing."""

    def __init__(self, path: Path) -> None:
        path.mkdir()
        self.home, self.shared = Home(path), path / "shared_workspace"

    def configure(self, *robots: dict[str, Any], **more: Any) -> None:
        common = {"driver": "still", "enabled": True, "profileName": "franka_panda"}
        bodies = {
            "mode": "fleet",
            "sharedWorkspace": str(self.shared),
            "instances": [{**common, **robot} for robot in robots],
        }
        self.home.config_path.write_text(json.dumps({"embodiments": bodies, **more}))
        self.home.config_path.chmod(0o600)

    def robot(self, name: str, place: str = "") -> dict[str, Any]:
        return {"robotId": name, "workspace": str(self.home.path / (place or name))}

    def paos(self, *words: str) -> int:
        return main(["--home", str(self.home.path), *words])

    def order(self, place: str, id: str, robot: str) -> None:
        folder = self.home.path / place
        folder.mkdir(exist_ok=True)
        (folder / "ACTION.md").write_bytes(sheet([action(id, robot)]))

    def queue(self, place: str) -> dict[str, str]:
        found, _ = action_format.locate((self.home.path / place / "ACTION.md").read_text())
        assert found is not None
        return {entry["action_id"]: entry["status"] for entry in action_format.entries_of(found.value)}

    def wrong(self) -> list[str]:
        """The fields of what `check` finds, without warnings."""
        return [item.field for item in check(self.home) if not item.warning]


@pytest.fixture
def fleet(tmp_path: Path, install: Callable[..., Path]) -> FleetHome:
    install("still_bodies", {"worldfs.bodies": {"still": "still_bodies:still"}}, still_bodies=BODY)
    return FleetHome(tmp_path / "home")


def names(place: Path) -> list[str]:
    return sorted(item.name for item in place.iterdir() if item.name != ".paos")


def test_each_robot_works_from_its_own_directory(fleet: FleetHome, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.configure(fleet.robot("arm_1"), fleet.robot("arm_2", "robots/second"))
    (fleet.home.path / "robots").mkdir()
    fleet.order("arm_1", "for_1", "arm_1")
    fleet.order("robots/second", "for_2", "arm_2")
    assert fleet.paos("up", "--until-idle") == 0
    assert fleet.queue("arm_1") == {"for_1": "completed"} and fleet.queue("robots/second") == {"for_2": "completed"}
    for place in ("arm_1", "robots/second"):
        assert names(fleet.home.path / place) == ["ACTION.md", "EMBODIED.md"]
    assert not {"ACTION.md", "EMBODIED.md"} & set(names(fleet.shared))
    assert not (fleet.home.path / "workspace").exists()
    assert fleet.wrong() == []
    capsys.readouterr()
    assert fleet.paos("--json", "status") == 0
    status = json.loads(capsys.readouterr().out)
    assert [node["id"] for node in status["nodes"]] == ["arm_1", "arm_2"]
    assert sorted(job["id"] for job in status["recent"]) == ["for_1", "for_2"]  # the sheets of both
    assert status["workspace"] == str(fleet.shared)
    assert fleet.paos("stop", "--node", "arm_2") == 1  # no kernel of ours knows where a body of a package is
    assert fleet.paos("cat", "ROBOTS.md") == 0
    robots = capsys.readouterr().out
    assert str(fleet.home.path / "robots/second") in robots


def test_an_instruction_is_carried_out_by_the_robot_that_is_named(
    fleet: FleetHome, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.configure(fleet.robot("arm_1"), fleet.robot("arm_2"))
    assert fleet.paos("up", "--until-idle") == 0
    assert fleet.paos("do", "clear", "the", "table") == 2
    assert "arm_1, arm_2" in capsys.readouterr().err
    assert fleet.paos("do", "what", "is", "on", "the", "table?") == 2  # nothing was measured yet
    (fleet.shared / "ENVIRONMENT.md").write_text('{"objects": [{"id": "table_01", "type": "table", "name": "table"}]}')
    assert fleet.paos("do", "--node", "arm_2", "what", "is", "on", "the", "table?") == 0
    assert fleet.paos("do", "what", "is", "on", "the", "table?") == 0


def test_directories_that_are_not_named_lie_in_the_home(fleet: FleetHome) -> None:
    bodies = {"mode": "fleet", "instances": [{"robotId": "arm_1", "driver": "still", "profileName": "franka_panda"}]}
    fleet.home.config_path.write_text(json.dumps({"embodiments": bodies}))
    assert fleet.paos("up", "--until-idle") == 0
    assert names(fleet.home.path / "workspaces") == ["arm_1", "shared"]
    assert names(fleet.home.path / "workspaces/arm_1") == ["EMBODIED.md"]


TWICE = ("arm_1", "a"), ("arm_1", "b")
SAME = ("arm_1", "a"), ("arm_2", "./x/../a")
NESTED = ("arm_1", "a"), ("arm_2", "a/b")
SHARED = ("arm_1", "shared_workspace"), ("arm_2", "shared_workspace/x")


@pytest.mark.slice(2)
@pytest.mark.parametrize("places", [TWICE, SAME, NESTED, SHARED], ids=["twice", "same", "nested", "shared"])
def test_robots_that_cannot_be_told_apart_are_refused_and_the_others_work(
    fleet: FleetHome, places: tuple[tuple[str, str], ...], capsys: pytest.CaptureFixture[str]
) -> None:
    bad = [fleet.robot(name, place) for name, place in places]
    fleet.configure(*bad)
    assert fleet.paos("up", "--until-idle") == 2
    said = capsys.readouterr().err
    assert "config.json embodiments.instances" in said and "Traceback" not in said
    assert names(fleet.home.path) in (["config.json"], ["config.json", "shared_workspace"])  # no directory of a robot
    fleet.configure(*bad, fleet.robot("good"))
    if places[0][1] == "a":
        fleet.order("a", "in_a", places[0][0])
    fleet.order("good", "g", "good")
    assert fleet.paos("up", "--until-idle") == 0
    assert fleet.queue("good") == {"g": "completed"}
    if places[0][1] == "a":
        assert fleet.queue("a") == {"in_a": "pending"}  # neither of the two has it
    ids = {name for name, _ in places}
    assert all(any(id in field or "robotId" in field for field in fleet.wrong()) for id in ids)
    capsys.readouterr()
    assert fleet.paos("--json", "status") == 0
    status = json.loads(capsys.readouterr().out)
    assert {node["id"]: node["state"].split(":")[0] for node in status["nodes"]} == {
        "good": "offline",
        **dict.fromkeys(ids, "refused"),
    }
    assert any("embodiments.instances" in alert["field"] for alert in status["alerts"])


def test_a_disabled_robot_may_name_any_directory(fleet: FleetHome) -> None:
    fleet.configure(fleet.robot("arm_1", "a"), {**fleet.robot("spare", "a"), "enabled": False})
    fleet.order("a", "x", "arm_1")
    assert fleet.paos("up", "--until-idle") == 0
    assert fleet.queue("a") == {"x": "completed"} and fleet.wrong() == []


def test_a_missing_profile_keeps_one_robot_from_working(fleet: FleetHome, capsys: pytest.CaptureFixture[str]) -> None:
    lost = {**fleet.robot("arm_1"), "profileName": "nobody"}
    fleet.configure(lost)
    assert fleet.paos("up", "--until-idle") == 2
    assert "nobody" in capsys.readouterr().err
    fleet.configure(lost, fleet.robot("arm_2"))
    fleet.order("arm_1", "one", "arm_1")
    fleet.order("arm_2", "two", "arm_2")
    assert fleet.paos("up", "--until-idle") == 0
    assert "nobody" in capsys.readouterr().out
    assert fleet.queue("arm_1") == {"one": "failed"} and fleet.queue("arm_2") == {"two": "completed"}
    assert any("arm_1" in field for field in fleet.wrong())


def test_a_directory_that_is_none_keeps_one_robot_from_working(fleet: FleetHome) -> None:
    (fleet.home.path / "arm_1").write_text("no directory")
    (fleet.home.path / "link").symlink_to(fleet.home.path / "nowhere")
    fleet.configure(fleet.robot("arm_1"), fleet.robot("arm_2"), fleet.robot("arm_3", "link/below"))
    fleet.order("arm_2", "two", "arm_2")
    assert fleet.paos("up", "--until-idle") == 0
    assert fleet.queue("arm_2") == {"two": "completed"}
    assert (fleet.home.path / "arm_1").read_text() == "no directory"
    assert any("arm_1" in field for field in fleet.wrong())


def test_a_robot_with_a_workspace_of_its_own_needs_its_address(
    fleet: FleetHome, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.configure({**fleet.robot("arm_1"), "driver": "workspace"}, fleet.robot("arm_2"))
    fleet.order("arm_1", "one", "arm_1")
    fleet.order("arm_2", "two", "arm_2")
    assert fleet.paos("up", "--until-idle") == 0
    assert "nats://HUB:4222/arm_1?domain=arm_1" in capsys.readouterr().out
    assert fleet.queue("arm_1") == {"one": "failed"} and fleet.queue("arm_2") == {"two": "completed"}
    assert [item.code for item in check(fleet.home) if "arm_1 store" in item.field] == ["DRIVER_MISSING"]


def test_a_second_fleet_on_a_directory_names_the_holder(fleet: FleetHome, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.configure(fleet.robot("arm_1"), fleet.robot("arm_2"))
    assert fleet.paos("up", "--until-idle") == 0
    for held in (fleet.shared, fleet.home.path / "arm_2"):
        with closing(open_store("disk", held)) as store, store.lease(KERNEL_LEASE, "kernel"):
            holder = directory_lease(held).holder()
            assert holder is not None
            capsys.readouterr()
            assert fleet.paos("up", "--until-idle") == 2
            said = capsys.readouterr().err
            assert f"process {holder['pid']}" in said and str(held) in said


def test_onboard_makes_a_shared_workspace_and_a_directory_for_each_robot(fleet: FleetHome) -> None:
    fleet.shared.mkdir()
    (fleet.shared / "TASK.md").write_text("# Task: mine\n")
    assert fleet.paos("onboard", "--fleet") == 0
    assert names(fleet.home.path) == ["config.json", "franka_001", "franka_002", "shared_workspace"]
    assert names(fleet.shared) == ["ENVIRONMENT.md", "LESSONS.md", "TASK.md"]
    assert names(fleet.home.path / "franka_002") == ["ACTION.md", "EMBODIED.md"]
    assert (fleet.shared / "TASK.md").read_text() == "# Task: mine\n"
    assert fleet.wrong() == []
    before = fleet.home.config_path.read_bytes()
    assert fleet.paos("onboard", "--fleet") == 0 and fleet.paos("onboard") == 0  # again: nothing is made or lost
    assert fleet.home.config_path.read_bytes() == before and not fleet.home.workspace.exists()
    assert fleet.home.config({}).mode == "fleet"
    fleet.order("franka_001", "one", "franka_001")
    assert fleet.paos("up", "--until-idle", "--driver", "still") == 0
    assert fleet.queue("franka_001") == {"one": "completed"}


def test_a_home_with_one_workspace_is_made_no_fleet(fleet: FleetHome, capsys: pytest.CaptureFixture[str]) -> None:
    assert fleet.paos("onboard", "--fleet", "--robot-id", "arm") == 2 and names(fleet.home.path) == []
    assert fleet.paos("onboard") == 0
    before = fleet.home.config_path.read_bytes()
    assert fleet.paos("onboard", "--fleet") == 2
    assert "sharedWorkspace" in capsys.readouterr().err
    assert fleet.home.config_path.read_bytes() == before and names(fleet.home.path) == ["config.json", "workspace"]


def test_the_directories_of_another_program_open_and_run(fleet: FleetHome) -> None:
    """Upstream's: snake_case keys, an empty ACTION.md, an ENVIRONMENT.md of its own form, a registry of its own."""
    place = fleet.home.path / "robots|1"
    place.mkdir()
    (place / "ACTION.md").touch()
    fleet.shared.mkdir()
    scene = {"schema_version": "v1", "robot": {"robot_id": "arm_1", "pose": [0.0, 0.0, 0.0]}, "objects": [], "mine": 1}
    (fleet.shared / "ENVIRONMENT.md").write_text(f"# Environment\n\n```json\n{json.dumps(scene)}\n```\n")
    (fleet.shared / "ROBOTS.md").write_text("# Robot Registry\n")
    common = {"driver": "still", "profile_name": "franka_panda", "workspace": str(place)}
    instances = [{"robot_id": "arm_1", **common}, {"robot_id": "spare", **common, "enabled": False}]
    bodies = {"mode": "fleet", "shared_workspace": str(fleet.shared), "instances": instances}
    fleet.home.config_path.write_text(json.dumps({"embodiments": bodies, "agents": {"defaults": {"workspace": "~/x"}}}))
    fleet.home.config_path.chmod(0o600)
    assert fleet.paos("up", "--until-idle") == 0
    assert fleet.wrong() == []
    fleet.order("robots|1", "one", "arm_1")
    assert fleet.paos("up", "--until-idle") == 0 and fleet.queue("robots|1") == {"one": "completed"}
    page = (fleet.shared / "ENVIRONMENT.md").read_text()
    assert page.startswith("# Environment\n") and '"mine": 1' in page
    rows = [line for line in (fleet.shared / "ROBOTS.md").read_text().splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]
    assert [len(row) for row in cells] == [9, 9, 9] and [row[5].strip() for row in cells] == ["Enabled", "yes", "no"]
    assert [row[4].strip() for row in cells[1:]] == [f"`{place}`".replace("|", "\\|")] * 2


@pytest.mark.parametrize("options", [(), ("--fleet",)])
def test_onboard_names_each_file_once(
    tmp_path: Path, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Mutant: a home of one workspace is gone through twice, and its files are "written" and then "kept"."""
    home = str(tmp_path / "家 a")
    for word in ("written", "kept"):
        assert main(["--home", home, "onboard", *options]) == 0
        told = [line.split(maxsplit=1) for line in capsys.readouterr().out.split("\n\n")[0].splitlines()]
        assert {said for said, _ in told} == {word} and len({path for _, path in told}) == len(told) >= 6


def test_onboard_names_robots_by_their_profile(tmp_path: Path) -> None:
    for profile, options, ids in (
        ("", (), ["franka_001"]),
        ("go2_edu", (), ["go2_edu_001"]),
        ("wheeled_carrier", ("--fleet",), ["wheeled_carrier_001", "wheeled_carrier_002"]),
        ("go2_edu", ("--robot-id", "dog"), ["dog"]),
    ):
        home = Home(tmp_path / f"home_{ids[0]}")
        words = ["--profile", profile] if profile else []
        assert main(["--home", str(home.path), "onboard", *words, *options]) == 0
        assert [item.robot_id for item in home.config({}).instances] == ids
