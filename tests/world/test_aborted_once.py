"""A robot that was aborted once is sent again; what its body refused stays refused while that is measured to be so."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager

from worldfs.base.measured_facts import fact
from worldfs.base.model import Cause, Finding, Outcome
from worldfs.planning.planner import Planner
from worldfs.testing.null_driver import NullDriver
from worldfs.world.world import World

OPS = frozenset(("target_navigation", "open_fixture"))
SCENE = {
    "schema_version": "v2.0",
    "scene_graph": {
        "nodes": [
            {"id": "dock", "type": "region", "position": [2, 0, 0], "shape": "region"},
            {"id": "drawer_01", "type": "furniture", "name": "drawer", "shape": "drawer", "position": [0.5, 0, 0.1]},
        ],
        "edges": [],
    },
    "robots": [{"robot_id": "cart_1", "pose": [0, 0, 0]}],
    "objects": [],
}


class AbortedOnce(NullDriver):
    """Its first motion is aborted; it opens no drawer that is jammed."""

    def execute(self, order, run):
        self.executed.append(order)
        if len(self.executed) == 1:
            return Outcome.failure(Cause.ERROR, "NAVIGATION_FAILED", "status 6: aborted at [2.0, 0.0, 0.0]")
        return Outcome.success("done")

    def review(self, order):
        if order.op != "open_fixture":
            return ()
        jammed = (fact("drawer_01", "status", "jammed"),)
        found = Finding(
            "CRITIC_REFUSED", "the drawer", "one that moves", "drawer_01 is jammed", "free it", condition=jammed
        )
        return (found,) if self.jammed else ()


class Cart:
    def __init__(self, place):
        self.place, self.executed = place, []
        (place / "ENVIRONMENT.md").write_text(json.dumps(SCENE))
        (place / "EMBODIED.md").write_text(
            "# Cart\n\n## Identity\n\n- **Type**: mobile\n\n## Sensors\n\n- [x] RGB camera\n\n## Supported Actions\n\n"
            "| Action Type | Description | Parameters |\n|---|---|---|\n"
            "| target_navigation | go | target_label: string |\n| open_fixture | open | object_id: string |\n"
        )

    def say(self, text, status="closed"):
        """One instruction, in a kernel of its own."""
        scene = json.loads(json.dumps(SCENE))
        scene["scene_graph"]["nodes"][1]["status"] = status
        (self.place / "ENVIRONMENT.md").write_text(json.dumps(scene))
        with self.up(status == "jammed") as world:
            return Planner(world.planner_port("cart_1")).run(text)

    @contextmanager
    def up(self, jammed):
        body = AbortedOnce(ops=OPS, executed=self.executed)
        body.jammed = jammed
        stop = threading.Event()
        with World.open(self.place, serve=True, drivers={"simulation": lambda context: body}) as world:
            kernel = threading.Thread(target=world.run, kwargs={"stop": stop})
            kernel.start()
            try:
                yield world
            finally:
                stop.set()
                world.wake()
                kernel.join()

    def lessons(self):
        return (self.place / "LESSONS.md").read_text()


def test_a_motion_that_was_aborted_is_asked_for_again(tmp_path):
    cart = Cart(tmp_path)
    first = cart.say("go to the dock")
    assert len(cart.executed) == 2 and first.ok, first.reason  # at once, in the same instruction
    assert "status 6" in cart.lessons() and "Holds While" not in cart.lessons()
    assert cart.say("go to the dock").ok and len(cart.executed) == 3


def test_what_a_body_refused_is_refused_while_it_is_so_and_no_longer(tmp_path):
    cart = Cart(tmp_path)
    cart.executed.append(None)  # nothing is aborted
    for tried in range(3):
        report = cart.say("open the drawer", "jammed")
        assert not report.ok and "drawer_01 is jammed" in report.reason, report.reason
        assert len(report.jobs) == (0 if tried else 1)
    assert "- **Holds While**: drawer_01 status = jammed\n" in cart.lessons()
    assert cart.lessons().count("\n## ") == 1
    report = cart.say("open the drawer", "closed")
    assert len(report.jobs) >= 1 and "jammed" not in report.reason
