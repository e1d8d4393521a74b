"""Orders that others have given wait while `paos do` answers or works: it begins none of them and ends none."""

from __future__ import annotations

import json

import pytest

from worldfs.interfaces.cli.driver_factories import factories
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.home import Home
from worldfs.world.home_world import open_home_world

WAITING = (
    {"action_id": "lift", "action_type": "pick_up", "params": {"object_id": "apple_01"}},
    {"action_id": "drop", "action_type": "place", "params": {"target": "basket_01"}},
)
ANSWERED = {
    "where is the apple?": 0,
    "put the unicorn into the basket": 2,
    "put the apple at x=5 y=3": 1,
    "put the table into the basket": 1,
    "flurb the glorp": 2,
    "don't clear the table": 2,
    "put the cube or so there": 2,
    "put the apple on the table": 0,
}


@pytest.fixture(scope="module")
def table(onboarded):
    """The five kinds on a table; two orders are written into ACTION.md, and no kernel runs."""
    pytest.importorskip("mujoco")
    place = onboarded()
    assert place.up("--seed", "7").code == 0
    place.queue(*WAITING)
    return place


def without_locks(place) -> dict[str, bytes]:
    return {name: data for name, (data, _) in place.bytes().items() if "lock" not in name}


@pytest.mark.parametrize("saying", ANSWERED)
def test_what_is_answered_from_the_files_opens_no_driver(table, saying: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_drivers(*args: object, **options: object) -> None:
        raise AssertionError("a driver was asked for")

    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", no_drivers)
    before = without_locks(table)
    said = table.paos("do", saying)
    assert said.code == ANSWERED[saying], said
    assert said.out.strip()
    assert without_locks(table) == before


def test_an_instruction_leaves_the_orders_of_others_to_a_kernel_that_serves(onboarded) -> None:
    pytest.importorskip("mujoco")
    place = onboarded()
    assert place.up("--seed", "7").code == 0
    place.queue(*WAITING)
    said = place.do("put the can into the basket")
    assert said.code == 0, said
    assert ("in", "basket_01") in place.where("can_01")
    assert ("in", "basket_01") not in place.where("apple_01")
    assert f"orders that wait for paos --home {place.root.parent} up: 2\n" in said.out
    assert {order["action_id"]: place.entry(order["action_id"])["status"] for order in WAITING} == {
        "lift": "pending",
        "drop": "pending",
    }
    assert {id for id, job in place.ended().items() if job.order.op == "pick_up"} & {"lift"} == set()
    assert place.do("put the cube into the basket").code == 0  # they have been accepted meanwhile
    assert place.do("where is the apple?").code == 0
    assert ("in", "basket_01") not in place.where("apple_01")
    assert {place.entry("lift")["status"], place.entry("drop")["status"]} == {"pending"}
    assert place.up().code == 0
    assert ("in", "basket_01") in place.where("apple_01")
    assert {place.entry("lift")["status"], place.entry("drop")["status"]} == {"completed"}


def test_an_order_that_was_cancelled_while_it_waited_ends_so_and_no_other_does(onboarded) -> None:
    pytest.importorskip("mujoco")
    place = onboarded()
    assert place.up("--seed", "7").code == 0
    place.queue(*WAITING)
    assert place.do("go home").code == 0
    sheet = place.value("ACTION.md")
    for entry in sheet["queue"]:
        if entry["action_id"] == "drop":
            entry["status"] = "cancelled"
    place.put("ACTION.md", json.dumps(sheet))
    assert place.do("go home").code == 0
    assert place.entry("lift")["status"] == "pending"
    assert place.ended()["drop"].status.outcome.code == "CANCELLED"


def test_an_instruction_does_not_order_of_the_kernel_of_another_one(table) -> None:
    home = Home(table.root.parent)
    bodies = factories("simulation", seed=None, cameras=False)
    with (
        open_home_world(
            table.root, home.config({}), agents=home.path / "agents", serve=True, own_orders=True, drivers=bodies
        ) as world,
        KernelThread(world),
    ):
        do = table.spawn("do", "go home", "--no-cameras")
        assert do.stdout is not None
        assert "waiting: another instruction" in do.stdout.readline()
        jobs = [job.id for job in world.kernel.open_jobs()]
        assert sorted(jobs) == ["drop", "lift"]
    out, err = do.communicate(timeout=PATIENCE_S)
    assert do.returncode == 0, (out, err)
    assert {table.entry(id)["status"] for id in ("lift", "drop")} == {"pending"}


def test_a_workspace_that_was_never_measured_says_so(onboarded) -> None:
    place = onboarded()
    said = place.do("what is on the table?")
    assert said.code == 2
    assert "nothing was measured here yet" in said.out
    assert place.text("ENVIRONMENT.md") == ""


def test_a_mission_waits_as_well(onboarded) -> None:
    pytest.importorskip("mujoco")
    place = onboarded()
    assert place.up("--seed", "7").code == 0
    assert place.paos("mission", "add", "put the apple into the basket").code == 0
    said = place.do("put the can into the basket")
    assert said.code == 0, said
    assert ("in", "basket_01") not in place.where("apple_01")
    assert f"missions that wait for paos --home {place.root.parent} up: 1\n" in said.out
    assert place.up().code == 0
    assert ("in", "basket_01") in place.where("apple_01")
