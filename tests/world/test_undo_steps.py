"""The steps that undo goes back over: noted as they are submitted, so that no job of the past is listed for them."""

from __future__ import annotations

import pytest

from worldfs.base.model import Job, JobState, JobStatus, Order, Outcome, Scene, Thing
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world import tree_planner_port
from worldfs.world.tree_planner_port import TreePlannerPort, forget_steps
from worldfs.world.world import World


@pytest.fixture
def port(tmp_path):
    with World.open(WorkspaceFixture(tmp_path, robots=["arm_1"]).root) as world:
        port = TreePlannerPort(world, "main", "arm_1")
        port.scene = Scene
        yield port


def carry_out(port, second, *things):
    """An instruction of so many steps, each of which lifted a thing at x = `second`."""
    for number, thing in enumerate(things, 1):
        order = Order(f"act_20261122_1000{second:02d}_000_{number:02d}", "arm_1", "pick_up", {"object_id": thing})
        port.submit(order)
        before = {"object": {"id": thing, "position": [float(second), 0.0, 0.0]}}
        status = JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome.success("", before=before))
        port.world.jobs.end(Job(order, status))


def places(port):
    scene = port.earlier()
    return {} if scene is None else {thing.id: thing.position[0] for thing in scene.objects}


@pytest.fixture
def unlisted(port, monkeypatch):
    def refuse():
        raise AssertionError("every job of the past was listed")

    monkeypatch.setattr(port.world.jobs, "done_ids", refuse)


@pytest.mark.usefixtures("unlisted")
def test_undo_lists_no_job_of_the_past(port):
    carry_out(port, 1, "cup")
    carry_out(port, 2, "can", "box")
    assert places(port) == {"can": 2.0, "box": 2.0}


@pytest.mark.usefixtures("unlisted")
def test_a_step_that_was_noted_and_never_submitted_is_passed_over(port):
    carry_out(port, 1, "cup")
    port.world.store.put(f"{tree_planner_port.STEPS}/arm_1", b"act_20261122_100001_000_01 act_20261122_100009_000_01")
    assert places(port) == {"cup": 1.0}


def test_what_was_done_before_the_kernel_started_is_found_in_the_history(port):
    carry_out(port, 1, "cup")
    carry_out(port, 2, "can", "box")
    forget_steps(port.world.store)
    assert places(port) == {"can": 2.0, "box": 2.0}
    order = Order("act_20261122_100003_000_01", "arm_1", "home")
    port.submit(order)  # it moves nothing: the instruction before it is the last that did
    port.world.jobs.end(Job(order, JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome.success())))
    assert places(port) == {"can": 2.0, "box": 2.0}


@pytest.mark.usefixtures("unlisted")
def test_the_note_does_not_grow_with_the_history(port, monkeypatch):
    monkeypatch.setattr(tree_planner_port, "NOTED", 3)
    for second in range(1, 9):
        carry_out(port, second, "cup")
    assert len(port.world.store.get(f"{tree_planner_port.STEPS}/arm_1").data.split()) == 3
    assert places(port) == {"cup": 8.0}


@pytest.mark.parametrize(("bearer", "told"), [("saucer", ["saucer"]), ("drawer_01", []), ("", []), (None, [])])
def test_what_bore_a_thing_is_told_as_the_job_measured_it(port, bearer, told):
    drawer = Thing("drawer_01", "drawer", "furniture", shape="drawer")  # what is in it, how far it is open tells
    port.scene = lambda: Scene(objects=(Thing("dice", "dice", "dice"),), furniture=(drawer,))
    order = Order("act_20261122_100001_000_01", "arm_1", "pick_up", {"object_id": "dice"})
    port.submit(order)
    before = {"object": {"id": "dice", "position": [0.4, 0.1, 0.03], **({} if bearer is None else {"on": bearer})}}
    port.world.jobs.end(Job(order, JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome.success("", before=before))))
    assert [edge.object for edge in port.earlier().relations] == told


@pytest.mark.parametrize("broken", [b"", b"\xff\xfe", b"../../x act_1", b"{}"])
def test_a_broken_note_is_as_none(port, broken):
    carry_out(port, 1, "cup")
    port.world.store.put(f"{tree_planner_port.STEPS}/arm_1", broken)
    assert places(port) == {"cup": 1.0}
