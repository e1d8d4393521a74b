"""What `status` says of a stopped robot whose kernel does not answer: never that it stands."""

from __future__ import annotations

from pathlib import Path

from worldfs.base.json_values import as_objects
from worldfs.formats import config
from worldfs.interfaces.cli.status_command import status_lines
from worldfs.runtime.grace import BODY
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.world import World

ARM = "arm_1"


def test_a_stop_that_nothing_confirms_is_never_told_as_a_standstill(tmp_path: Path) -> None:
    site, clock = WorkspaceFixture(tmp_path / "w", (ARM,)), ManualClock()
    settings = config.read(config.template(ARM))
    with site.open(), World.open(site.root, config=settings, clock=clock) as world:  # a kernel that does nothing
        world.stops.stop([ARM], "operator")
        said = [str(text) for text, _ in status_lines(world.status())]
        assert any("stop sent, NOT confirmed" in text and "hardware stop" in text for text in said), said
        assert not any("nothing moves" in text for text in said)
        clock.advance(BODY.stop_s + 0.1)
        status = world.status()
        (alert,) = as_objects(status["alerts"])
        assert (alert["code"], alert["field"]) == ("STOP_UNCONFIRMED", f"stop {ARM}")
        (node,) = as_objects(status["nodes"])
        assert node["may_move"] is True
        world.stops.confirm({ARM: 1})
        status = world.status()
        assert not status["alerts"] and any("nothing moves" in text for text, _ in status_lines(status))
