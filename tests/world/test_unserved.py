"""What a configuration asks for is served as written, or refused by name: by `check`, and when a kernel starts."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.driver import Driver, PluginContext
from worldfs.base.model import Cause
from worldfs.formats import config, robots
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world.check import check
from worldfs.world.home import Home
from worldfs.world.world import World

ARM = {"robotId": "arm_1", "driver": "simulation"}


def opened(site: WorkspaceFixture, settings: config.Config | None) -> World:
    def make(seat: PluginContext) -> Driver:
        return NullDriver()

    return World.open(
        site.root, config=settings, clock=site.clock, serve=True, threads=False, drivers={"simulation": make}
    )


def read(embodiments: dict[str, Any], **more: Any) -> config.Config:
    return config.read(json.dumps({"embodiments": embodiments, **more}).encode())


@pytest.fixture
def site(tmp_path: Path) -> WorkspaceFixture:
    return WorkspaceFixture(tmp_path / "home" / "workspace", ("arm_1", "arm_2"))


ELSEWHERE = [
    (read({"instances": [{**ARM, "workspace": "arm 甲"}]}), "embodiments.instances[0].workspace (arm_1)"),
    (read({"instances": [ARM], "sharedWorkspace": "/srv/s"}), "embodiments.sharedWorkspace"),
    (read({"instances": [ARM]}, agents={"defaults": {"workspace": "~/x"}}), "agents.defaults.workspace"),
    (read({"instances": [{**ARM, "sharedEnvironment": False}]}), "embodiments.instances[0].sharedEnvironment"),
]


@pytest.mark.parametrize(("settings", "field"), ELSEWHERE, ids=[row[1] for row in ELSEWHERE])
def test_a_place_that_is_not_served_is_named_and_the_robots_are_served_from_the_one_workspace(
    site: WorkspaceFixture, settings: config.Config, field: str
) -> None:
    with opened(site, settings) as world:
        assert world.kernel is not None
        (finding,) = [item for item in world.kernel.alert.now().values() if item.code == "CONFIG_UNSERVED"]
        assert finding.field == f"config.json {field}" and finding.warning and finding.fix
        pasted = shlex.split(finding.fix.partition("with: ")[2])
        assert pasted[1:] in ([], ["--workspace", str(Path(finding.found).expanduser()), "up"])
        world.submit(order("a"))
        site.run_until_idle(world)
        assert world.jobs.load("a").status.outcome.ok  # type: ignore[union-attr]
    home = Home(site.root.parent)
    home.config_path.write_text(json.dumps(settings.raw))
    home.config_path.chmod(0o600)
    assert any(item.field == f"config.json {field}" for item in check(home))


@pytest.mark.parametrize("written", ["workspace", "./workspace", "{root}"])
def test_the_workspace_itself_may_be_named_in_any_spelling(site: WorkspaceFixture, written: str) -> None:
    place = written.format(root=site.root)
    settings = read({"instances": [{**ARM, "workspace": place}]}, agents={"defaults": {"workspace": place}})
    with opened(site, settings) as world:
        assert world.kernel is not None
        assert not [item for item in world.kernel.alert.now().values() if item.code == "CONFIG_UNSERVED"]


def test_a_disabled_robot_is_listed_and_its_orders_are_refused_by_name(site: WorkspaceFixture) -> None:
    settings = read({"instances": [ARM, {"robotId": "arm_2", "driver": "go2_edu", "enabled": False}]})
    with opened(site, settings) as world:
        text = world.namespace("planner").read("/projects/main/ROBOTS.md").data.decode()
        assert "| arm_1 | simulation |" in text and robots.read_disabled_robots(text.encode()) == ["arm_2"]
        refused(site, world, "arm_2")


def test_a_robot_that_the_robots_page_of_a_workspace_switches_off_is_not_started(site: WorkspaceFixture) -> None:
    head = "| Robot ID | Driver | Enabled |\n|---|---|---|\n"
    site.put("ROBOTS.md", f"# Robot Registry\n\n{head}| arm_1 | simulation | yes |\n| arm_2 | x | no |\n".encode())
    with opened(site, None) as world:
        assert [spec.id for spec in world.specs] == ["arm_1"]
        refused(site, world, "arm_2")


def refused(site: WorkspaceFixture, world: World, robot: str) -> None:
    world.jobs.accept([order("a", robot), order("b", "arm_1")])
    site.run_until_idle(world)
    outcome = world.jobs.load("a").status.outcome
    assert outcome is not None and (outcome.cause, outcome.code) == (Cause.REJECTED, "ROBOT_DISABLED")
    assert robot in outcome.message
    assert world.jobs.load("b").status.outcome.ok  # type: ignore[union-attr]


def test_a_driver_that_nobody_brings_keeps_no_other_robot_from_working(site: WorkspaceFixture) -> None:
    settings = read({"instances": [ARM, {"robotId": "arm_2", "driver": "warp"}]})
    with opened(site, settings) as world:
        assert world.kernel is not None
        assert world.kernel.alert.now()["/nodes/arm_2"].code == "DRIVER_MISSING"
        world.jobs.accept([order("a", "arm_2"), order("b", "arm_1")])
        site.run_until_idle(world)
        outcome = world.jobs.load("a").status.outcome
        assert outcome is not None and outcome.code == "DRIVER_MISSING" and "simulation" in outcome.message
        assert world.jobs.load("b").status.outcome.ok  # type: ignore[union-attr]
