"""What config.json says of safety while the kernel runs: it holds from the next order on, or that is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.model import JobState
from worldfs.formats import config
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import until
from worldfs.testing.workspace_fixture import action, order
from worldfs.world.home import Home
from worldfs.world.live_config import AGAIN_S, LiveConfig, is_unserved
from worldfs.world.onboard import onboard
from worldfs.world.world import World

from .test_fleet_changes import FIRST, RunningFleet


class Place(RunningFleet):
    """A fleet, or a single workspace."""

    def __init__(self, path: Path, *, fleet: bool) -> None:
        if fleet:
            super().__init__(path)
        else:
            self.home, self.bodies, self.peers = Home(path), {}, False
            onboard(self.home)
        self.sheet = FIRST if fleet else "workspace"

    def edit(self, change: Callable[[dict[str, Any]], object]) -> None:
        """By hand: nothing tells the kernel."""
        document = json.loads(self.home.config_path.read_bytes())
        change(document)
        self.home.config_path.write_text(json.dumps(document, indent=1))


@pytest.fixture(params=["fleet", "single"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path / "home", fleet=request.param == "fleet")


def executed(place: Place) -> list[str]:
    return [one.id for one in place.bodies[FIRST].executed]


def codes(world: World) -> set[str]:
    assert world.kernel is not None
    return {finding.code for finding in world.kernel.alert.now().values()}


@pytest.mark.slice(5)
@pytest.mark.parametrize("before", ["never", None])
@pytest.mark.parametrize("after", ["always", {"default": "always"}, {FIRST: "always"}, "alwyas"])
def test_approval_that_is_made_stricter_is_asked_for_from_the_next_order_on(
    place: Place, before: str | None, after: object
) -> None:
    place.edit(lambda document: document.update({"approval": {"default": before}} if before else {}))
    with place.up() as world:
        world.submit(order("one", FIRST))
        until(lambda: world.jobs.load("one").status.state is JobState.SUCCEEDED)
        place.edit(lambda document: document.update(approval=after))
        world.submit(order("two", FIRST))
        until(world.approvals.requests)
        assert [item.job for item in world.approvals.requests()] == ["two"]
        assert executed(place) == ["one"]
        until(lambda: world.approvals.rule(FIRST).policy == "always")  # planners ask for whole plans, too
        place.edit(lambda document: document.update(approval="never"))
        place.put(place.sheet, action("three", FIRST))
        until(lambda: "three" in executed(place) and "two" in executed(place))


def test_a_key_of_safety_that_cannot_be_read_makes_all_ask(place: Place) -> None:
    with place.up() as world:
        place.edit(lambda document: document.update(safety_limits={"max_speed": 0.1}))
        world.submit(order("one", FIRST))
        until(world.approvals.requests)
        assert not executed(place)
        until(lambda: "FIELD_UNREAD" in codes(world))


@pytest.mark.parametrize("change", [{"driver": "other"}, {"profileName": "other"}, {"robotId": "other"}])
def test_no_order_goes_to_a_robot_whose_entry_says_another_body(place: Place, change: dict[str, str]) -> None:
    with place.up() as world:
        body = place.bodies[FIRST]
        place.edit(lambda document: document["embodiments"]["instances"][0].update(change))
        world.submit(order("one", FIRST))
        place.put(place.sheet, action("two", FIRST))
        seen = ("one", "two") if place.sheet != FIRST else ("one",)  # the sheet of a robot that left is read no more
        until(lambda: all(world.jobs.known(id) and world.jobs.load(id).status.state.terminal for id in seen))
        assert place.sheet == FIRST or "CONFIG_CHANGED" in codes(world)
    assert not body.executed


def test_a_configuration_that_cannot_be_read_is_named_and_changes_nothing(place: Place) -> None:
    with place.up() as world:
        whole = place.home.config_path.read_text()
        place.home.config_path.write_text(whole[:-20])
        world.submit(order("one", FIRST))
        until(lambda: world.jobs.load("one").status.state is JobState.SUCCEEDED)
        assert world.kernel is not None
        alert = world.kernel.alert
        until(lambda: any("config.json" in name for name in alert.now()))
        place.home.config_path.write_text(whole)
        world.submit(order("two", FIRST))
        until(lambda: not any("config.json" in name for name in alert.now()))


def test_a_configuration_that_its_editor_has_emptied_to_write_it_changes_nothing(place: Place) -> None:
    with place.up() as world:
        whole = place.home.config_path.read_text()
        place.home.config_path.write_text("")
        world.submit(order("one", FIRST))
        until(lambda: world.jobs.load("one").status.state is JobState.SUCCEEDED)
        assert not codes(world)
        place.home.config_path.write_text(whole)
        world.submit(order("two", FIRST))
        until(lambda: world.jobs.load("two").status.state is JobState.SUCCEEDED)
        assert not codes(world)


def test_another_workspace_is_served_from_the_next_start_on_and_nothing_moves_until_then(place: Place) -> None:
    with place.up() as world:
        mode = "single" if place.sheet == FIRST else "fleet"
        place.edit(lambda document: document["embodiments"].update(mode=mode))
        world.submit(order("one", FIRST))
        until(lambda: world.jobs.load("one").status.state.terminal)
        assert "CONFIG_CHANGED" in codes(world) and not executed(place)


class Written:
    """A home whose config.json says which of its robots are disabled; `next`: what is written while it is read."""

    def __init__(self, path: Path) -> None:
        self.config_path, self.next, self.changes = path / "config.json", list[str](), list[str]()

    def disable(self, *robots: str) -> None:
        instances = [{"robotId": id, "enabled": id not in robots} for id in ("one", "two", "three")]
        self.config_path.write_text(json.dumps({"embodiments": {"instances": instances}}))

    def config(self, environ: object) -> config.Config:
        read = config.read(self.config_path.read_bytes())
        if self.next:
            self.disable(self.next.pop())
        return read


@pytest.fixture
def written(tmp_path: Path) -> Written:
    written = Written(tmp_path)
    written.disable()
    return written


def live_config(written: Written, clock: ManualClock) -> LiveConfig:
    started = config.read(written.config_path.read_bytes())
    return LiveConfig(written, {}, clock, started, lambda: written.changes.append("changed"))  # type: ignore[arg-type]


def test_what_is_being_written_is_read_once_it_is_there(written: Written) -> None:
    live = live_config(written, ManualClock())
    assert live.disabled() == frozenset() and not written.changes, "the kernel was started by it"
    written.disable("one")
    written.next = ["three"]
    assert live.disabled() == frozenset() and not written.changes
    assert live.disabled() == live.disabled() == {"three"} and len(written.changes) == 1


def test_while_a_robot_is_disabled_it_is_looked_now_and_then_whether_it_still_is(written: Written) -> None:
    clock = ManualClock()
    live = live_config(written, clock)
    assert live.patience() is None
    written.disable("one")
    assert live.disabled() == {"one"} and live.patience() == AGAIN_S
    written.disable()
    live.begin()
    assert live.patience() == AGAIN_S
    clock.advance(AGAIN_S)
    live.begin()
    assert live.patience() is None and len(written.changes) == 2


def fleet(mode: str = "fleet", shared: str = "shared", **robots: str) -> config.Config:
    instances = [{"robotId": id, "driver": driver} for id, driver in robots.items()]
    embodiments = {"mode": mode, "sharedWorkspace": shared, "instances": instances}
    return config.read(json.dumps({"embodiments": embodiments}).encode())


@pytest.mark.parametrize(
    ("served", "now", "unserved"),
    [
        (fleet(one="a"), fleet(one="b"), True),
        (fleet(one="a"), fleet(two="a"), True),
        (fleet(one="a"), fleet(one="a", two="b"), False),
        (fleet(two="a"), fleet(one="a", two="a"), False),
        (fleet(one="a"), fleet(one="b", shared="other"), False),
        (fleet("single", one="a"), fleet("single", one="b"), False),
    ],
)
def test_a_change_of_a_robot_s_entry_is_unserved_until_the_kernel_of_its_fleet_has_it(
    served: config.Config, now: config.Config, unserved: bool
) -> None:
    assert is_unserved(served, now, "one") is unserved
