"""A letter to an agent, and an order to a node, move the simulated arm; answers and results hold what was measured."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("mujoco")

from worldfs.access.binding import ADMIN, USER, Binding
from worldfs.base.clock import SystemClock
from worldfs.robots.driver_registry import BodyCatalogue
from worldfs.testing.call_fixtures import StaticEndpoint
from worldfs.testing.waiting import PATIENCE_S
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Wait, WriteContext
from worldfs.world.services.agent_services import AgentServices
from worldfs.world.world import World

OPERATOR, GUEST = Binding(ADMIN, "mother", "main"), Binding(USER, "alice", "main")
BODY = StaticEndpoint(
    "/nodes/franka_001/body", "body", "franka_001", {op: op for op in ("move_to", "pick_up", "place")}
)
FIVE = ("apple_01", "cube_01", "can_01", "bar_01", "brick_01")


class Table:
    """The five kinds on a table, a kernel that carries out what is asked, and the services of the home."""

    def __init__(self, place: Any) -> None:
        self.place = place
        bodies = BodyCatalogue(seed=7, cameras=False)
        self.world = World.open(place.root, serve=True, drivers=bodies)
        self.feed, self.stop = ChangeFeed(), threading.Event()
        self.thread = threading.Thread(target=lambda: self.world.run(stop=self.stop), daemon=True)
        self.thread.start()
        self.services = AgentServices.open(
            place.root.parent,
            world=self.world,
            agents=place.root.parent / "agents",
            clock=SystemClock(),
            feed=self.feed,
            environ={},
            may=lambda binding, node: binding.admin,
        )

    def waited(self, wait: Wait | None) -> None:
        """As a door waits: woken by the feed."""
        if wait is None:
            return
        woken = threading.Event()
        end = self.feed.listen(lambda seq, topics: woken.set())
        while not wait.ready():
            assert woken.wait(wait.timeout)
            woken.clear()
        end()

    def say(self, text: str, binding: Binding = OPERATOR) -> tuple[Any, str]:
        actions = self.services.actions(binding)
        job = actions.chat.send(text.encode(), WriteContext("user")).extra["job"]
        self.waited(actions.jobs.wait(job))
        return json.loads(actions.jobs.file(job, "status")), actions.jobs.file(job, "result").decode()

    def order(self, file: str, payload: Any) -> tuple[Any, Any]:
        actions = self.services.actions(OPERATOR)
        controls = actions.endpoint(BODY)
        self.waited(
            actions.jobs.wait(controls.write(file, json.dumps(payload).encode(), WriteContext("user")).extra["job"])
        )
        return json.loads(controls.status()), json.loads(controls.result())

    def close(self) -> None:
        self.services.close()
        self.stop.set()
        self.world.wake()
        self.thread.join(PATIENCE_S)
        self.world.close()


@pytest.fixture
def table(onboarded: Callable[..., Any]) -> Iterator[Table]:
    place = onboarded()
    assert place.up("--seed", "7").code == 0
    table = Table(place)
    yield table
    table.close()


@pytest.mark.proof
def test_a_letter_is_carried_out_and_its_answer_holds_the_evidence(table: Table) -> None:
    status, told = table.say("put the apple and the cube in the basket")
    assert status["state"] == "done", told
    two = ("apple_01", "cube_01")
    assert {id for id in FIVE if table.place.where(id) == {("in", "basket_01")}} == {*two}
    assert told.count("evidence: {") >= len(two)
    assert all(id in told for id in two)
    status, told = table.say("把苹果从篮子里拿出来放到桌上")
    assert (status["state"] == "done") == (table.place.where("apple_01") == {("on", "table_01")}), told
    status, told = table.say("what is in the basket?")
    assert status["state"] == "done" and "cube" in told.lower()


def test_a_letter_of_who_may_not_command_the_arm_moves_nothing(table: Table) -> None:
    status, told = table.say("put the apple in the basket", GUEST)
    assert status["state"] == "failed"
    assert told == "rejected: agent 'alice' has no robot that it may command"
    assert table.place.where("apple_01") == {("on", "table_01")}


def test_orders_to_the_node_pick_and_place_and_the_result_is_measured(table: Table) -> None:
    status, result = table.order("pick_up.json", {"object_id": "apple_01"})
    assert status["state"] == "done", result
    assert result["evidence"] and result["op"] == "pick_up"
    status, result = table.order("invoke.json", {"tool": "move_to", "arguments": {"target_pose": [9, 9, 9, 0, 0, 0]}})
    assert (status["state"], result["error"]["code"]) == ("failed", "rejected")
    assert result["error"]["findings"]
