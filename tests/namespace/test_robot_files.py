"""The files of a home's robots in a binding's tree: orders, stops, and who sees them."""

import json

import pytest
from tests.namespace.conftest import said
from tests.world.conftest import Served

from worldfs.base.errors import NotFound, NotPermitted
from worldfs.namespace.binding_context import LOOK_S
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import until
from worldfs.world.home import Home
from worldfs.world.onboard import onboard
from worldfs.world.world import World


@pytest.fixture
def robot(tmp_path):
    """A home whose workspace is carried out here by a body that only remembers."""
    onboard(Home(tmp_path), profile="", language="en", robot_id="")
    executed = []
    world = World.open(
        tmp_path / "workspace",
        config=Home(tmp_path).config({}),
        agents=tmp_path / "agents",
        serve=True,
        threads=False,
        drivers={"simulation": lambda seat: NullDriver(executed=executed)},
    )
    served = Served(tmp_path, world=world)
    served.world, served.executed = world, executed
    yield served
    served.realm.close()
    world.close()


def test_a_body_is_a_node_with_a_service_of_its_profiles_ops(robot):
    tree = robot.admin()
    assert said(tree, "/nodes/franka_001/STATUS.json")["online"] is True
    ops = said(tree, "/nodes/franka_001/services/body/OPS.json")["operations"]
    assert "move_to" in ops
    line = next(x for x in said(tree, "/agents/self/services/SERVICES.json") if x["node_id"] == "franka_001")
    assert line["invoke_path"] == "/nodes/franka_001/body/control/invoke.json"
    assert tree.stat(line["invoke_path"]).writable
    assert set(tree.list("/nodes/franka_001/body/control")) == {
        "README.md",
        "invoke.json",
        *(f"{op}.json" for op in ops),
    }


def test_an_order_to_a_body_moves_it_and_its_result_is_what_was_measured(robot):
    robot.realm.ensure_agent("alice")
    tree = robot.user("alice", "main")
    order = {"tool": "move_to", "arguments": {"target_pose": [0.4, 0.0, 0.4, 0.0, 0.0, 0.0]}}
    written = tree.write("/nodes/franka_001/body/control/invoke.json", json.dumps(order).encode())
    until(lambda: (robot.world.tick(), written.until.ready())[1])
    assert [one.op for one in robot.executed] == ["move_to"]
    assert said(tree, "/nodes/franka_001/body/status.json")["state"] == "done"
    assert said(tree, "/nodes/franka_001/body/result.json")["op"] == "move_to"
    with pytest.raises(NotFound):
        robot.user("alice", robot.project("other")).stat("/nodes/franka_001/body/control/invoke.json")


def test_a_place_that_takes_orders_says_how(robot):
    text = robot.admin().read("/nodes/franka_001/body/control/README.md").data.decode()
    assert text.startswith("# Control of body") and '{"op": "move_to", "args": {…}}' in text
    assert "`pick_up.json`" in text and "/nodes/franka_001/services/body/SCHEMA.json" in text
    memory = robot.admin().read("/agents/self/memory/control/README.md").data.decode()
    assert '{"kind": "note", "content": any JSON' in memory


def test_an_order_that_the_critic_refuses_moves_nothing_and_says_why(robot):
    tree = robot.admin()
    written = tree.write("/nodes/franka_001/body/control/move_to.json", b'{"position": [9, 9, 9]}')
    until(lambda: (robot.world.tick(), written.until.ready())[1])
    assert robot.executed == []
    assert said(tree, "/nodes/franka_001/body/status.json")["state"] == "failed"
    assert said(tree, "/nodes/franka_001/body/result.json")["error"]["code"] == "rejected"


def test_whoever_may_not_invoke_moves_nothing_by_any_file(robot):
    """The sheet and the body's service are two ways to one arm: one right."""
    deny = {"actions": {}, "agents": {"alice": {"invoke": "deny"}}}
    robot.control("project_update", project_id="main", access_policy=deny)
    tree, sheet = robot.user("alice", "main"), "/nodes/franka_001/ACTION.md"
    assert not tree.stat(sheet).writable and tree.read(sheet).data
    for path in (sheet, "/nodes/franka_001/film", "/nodes/franka_001/jobs/job-1/cancel"):
        with pytest.raises((NotPermitted, NotFound)):
            tree.write(path, b"x")
    assert robot.user("bob", "main").stat(sheet).writable
    assert robot.admin().stat(sheet).writable


def test_whoever_sees_a_robot_may_stop_it_and_only_who_may_order_it_may_resume(robot):
    deny = {"actions": {}, "agents": {"alice": {"invoke": "deny"}}}
    robot.control("project_update", project_id="main", access_policy=deny)
    alice, bob = robot.user("alice", "main"), robot.user("bob", "main")
    stop, resume = "/nodes/franka_001/stop", "/nodes/franka_001/resume"
    assert alice.stat(stop).writable
    assert not alice.stat(resume).writable
    alice.write(stop, b"stop")
    assert said(alice, stop)["stopped"] is True
    with pytest.raises(NotPermitted):
        alice.write(resume, b"resume")
    assert said(bob, stop)["stopped"] is True
    bob.write(resume, b"resume")
    assert said(alice, stop)["stopped"] is False
    stranger = robot.user("alice", robot.project("other"))
    with pytest.raises(NotFound):
        stranger.write(stop, b"stop")


def test_a_letter_that_says_stop_stops_the_robots_that_its_writer_sees_before_any_queue(robot):
    deny = {"actions": {}, "agents": {"alice": {"invoke": "deny"}}}
    robot.control("project_update", project_id="main", access_policy=deny)
    for agent in ("alice", "bob"):
        robot.realm.ensure_agent(agent)
    other = robot.project("other")
    robot.user("bob", other).write("/agents/self/chat/control/input", b"stop")
    assert said(robot.admin(), "/nodes/franka_001/stop")["stopped"] is False
    robot.user("alice", "main").write("/agents/self/chat/control/input", "停！".encode())
    found = said(robot.admin(), "/nodes/franka_001/stop")
    assert (found["stopped"], found["by"]) == (True, "agent alice")


def test_a_token_that_was_revoked_hides_the_home_s_own_documents_and_bodies_at_once(robot):
    token = robot.control("project_token_rotate", project_id="main")["project_token"]
    tree = robot.user("alice", "main", token)
    assert tree.stat("/nodes/franka_001/ACTION.md").writable and tree.read("/projects/main/ENVIRONMENT.md")
    robot.control("project_token_rotate", project_id="main")
    assert "franka_001" not in tree.list("/nodes")
    assert "ENVIRONMENT.md" not in tree.list("/projects/main")
    for path in ("/nodes/franka_001/ACTION.md", "/projects/main/ENVIRONMENT.md", "/projects/main/TASK.md"):
        with pytest.raises(NotFound):
            tree.stat(path)
        with pytest.raises(NotFound):
            tree.write(path, b"x")
    assert robot.admin().stat("/projects/main/TASK.md")


def test_a_body_called_like_the_node_of_a_missing_manifest_is_not_everybodys(tmp_path):
    onboard(Home(tmp_path), profile="", language="en", robot_id="local")
    served = Served(tmp_path)
    tree = served.user("alice", served.project("lab"))
    assert said(tree, "/nodes/local/STATUS.json")["source"] == "policy"
    assert "body" not in tree.list("/nodes/local/services")
    assert "ACTION.md" not in tree.list("/nodes/local")
    with pytest.raises(NotFound):
        tree.write("/nodes/local/ACTION.md", b"{}")
    assert "body" in served.user("alice", "main").list("/nodes/local/services")
    (tmp_path / "agents/alice").mkdir(parents=True)
    (tmp_path / "agents/alice/agent_policy.json").write_text('{"nodes": [{"id": "local"}]}')
    served.clock.advance(LOOK_S)
    assert "body" in tree.list("/nodes/local/services")  # now a manifest names it
    served.realm.close()


def test_the_home_s_own_project_has_both_its_documents_and_what_every_project_has(robot):
    tree = robot.user("alice", "main")
    names = set(tree.list("/projects/main"))
    assert {"ENVIRONMENT.md", "TASK.md", "README.md", "fs", "nodes", "agents", "meta"} <= names
    assert tree.stat("/projects/main/TASK.md").writable
    assert tree.read("/projects/main/nodes/franka_001").data == b"/nodes/franka_001\n"
    assert "main" in robot.admin().list("/projects")
    assert "main" not in robot.admin("carol", robot.project("lab")).list("/projects")
