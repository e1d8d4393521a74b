"""`scene/`: who may read it, what it says without a kernel, and what it said at a time."""

import json

import pytest

from worldfs.base.clock import epoch_ns
from worldfs.base.errors import UserError
from worldfs.namespace.past_time import time_name
from worldfs.robots.pose_frames import decode_frame
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.world import World

SCENE = "/projects/main/scene"
ENVIRONMENT = "/projects/main/ENVIRONMENT.md"


@pytest.fixture
def world(tmp_path):
    WorkspaceFixture(tmp_path)
    with World.open(tmp_path, agents=tmp_path / "agents") as world:
        yield world


def moment(world):
    return time_name(epoch_ns(world.store.clock.now()))


def test_it_is_read_by_those_who_read_the_environment(world):
    for role in ("planner", "critic", "operator", "watchdog"):
        tree = world.namespace(role)
        readable = {"geometry.json", "poses", "plan.json", "contacts.json"} <= set(
            tree.list(SCENE) if "scene" in tree.list("/projects/main") else ()
        )
        assert readable == ("ENVIRONMENT.md" in tree.list("/projects/main")), role


def test_without_a_kernel_it_is_drawn_from_the_document(world):
    tree = world.namespace("planner")
    geometry = json.loads(tree.read(f"{SCENE}/geometry.json").data)
    frame = decode_frame(tree.read(f"{SCENE}/poses").data)
    assert frame.revision == geometry["revision"]
    assert len(frame.poses) == len(geometry["bodies"])
    assert json.loads(tree.read(f"{SCENE}/plan.json").data) == {"robots": [], "reserved": []}


def test_the_past_has_the_poses_of_its_document(world):
    tree, watchdog = world.namespace("planner"), world.namespace("watchdog")
    text = tree.read(ENVIRONMENT).data
    watchdog.write(ENVIRONMENT, text)
    before = moment(world)
    watchdog.write(ENVIRONMENT, b"# Environment\n\nnothing here\n")
    old = tree.read(f"/at/{before}{SCENE}/geometry.json").data
    assert len(json.loads(old)["bodies"]) > len(json.loads(tree.read(f"{SCENE}/geometry.json").data)["bodies"])
    frame = decode_frame(tree.read(f"/at/{before}{SCENE}/poses").data)
    assert frame.revision == json.loads(old)["revision"]
    assert "poses" in tree.list(f"/at/{before}{SCENE}") and "plan.json" not in tree.list(f"/at/{before}{SCENE}")
    with pytest.raises(UserError):
        tree.read(f"/at/1d{SCENE}/poses")
