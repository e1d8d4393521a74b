"""A bound node: asked by every verb, and looked up again only when what the binding sees has changed."""

import json

import pytest
from tests.world.conftest import Served, service

from worldfs.base.errors import NotFound, NotPermitted
from worldfs.namespace.binding_context import LOOK_S
from worldfs.namespace.tree import Tree
from worldfs.testing.null_driver import NullDriver
from worldfs.world.home import Home
from worldfs.world.onboard import onboard
from worldfs.world.world import World


@pytest.fixture
def looked_up(monkeypatch):
    """The paths that were resolved."""
    found = []
    inner = Tree.resolve

    def resolve(self, parts, actor):
        found.append("/" + "/".join(parts))
        return inner(self, parts, actor)

    monkeypatch.setattr(Tree, "resolve", resolve)
    return found


@pytest.fixture
def home(tmp_path):
    """A home with a workspace, served."""
    onboard(Home(tmp_path), profile="", language="en", robot_id="")
    world = World.open(
        tmp_path / "workspace", config=Home(tmp_path).config({}), agents=tmp_path / "agents",
        serve=True, threads=False, drivers={"simulation": lambda seat: NullDriver()},
    )  # fmt: skip
    served = Served(tmp_path, world=world)
    yield served
    served.realm.close()
    world.close()


def test_a_bound_node_is_looked_up_once_while_the_binding_sees_the_same(served, looked_up):
    served.join("edge", [service("t")])
    node = served.admin().walk("/nodes/node-1/services/SERVICES.json")
    looked_up.clear()
    for _ in range(3):
        assert json.loads(node.read().data)[0]["service_id"] == "t"
        assert node.stat().size == len(node.read().data)
        assert node.wait() is None and not node.writable()
    assert looked_up == []
    served.join("other")
    node.read()
    assert looked_up == [node.path], "what is seen has changed: once more, and once only"
    node.read()
    assert looked_up == [node.path]


def test_a_bound_file_on_the_disk_is_looked_up_once_and_read_each_time(home, looked_up):
    node = home.admin(project="main").walk("/projects/main/TASK.md")
    page = home.home / "workspace/TASK.md"
    looked_up.clear()
    assert node.read().data == page.read_bytes()
    page.write_bytes(b"# Task\n\nedited by hand\n")
    assert node.read().data.endswith(b"edited by hand\n") and node.stat().size == page.stat().st_size
    assert looked_up == []


def test_a_bound_file_that_is_removed_is_gone_and_comes_back(home):
    tree = home.admin(project="main")
    node, page = tree.walk("/projects/main/TASK.md"), home.home / "workspace/TASK.md"
    data = page.read_bytes()
    page.unlink()
    for ask in (node.read, node.stat, lambda: tree.walk(node.path)):
        with pytest.raises(NotFound):
            ask()
    page.write_bytes(data)
    assert node.read().data == data and node.stat().size == len(data)


def test_a_node_whose_path_is_hidden_meanwhile_is_gone(served):
    (served.home / "projects/lab").mkdir(parents=True)
    manifest = served.home / "projects/lab/project_policy.json"
    manifest.write_text('{"nodes": [{"id": "edge"}]}')
    tree = served.user("alice", "lab")
    seen, root = tree.walk("/nodes/edge/STATUS.json"), tree.walk("/nodes")
    assert seen.read().data and "edge" in root.list()
    manifest.write_text('{"nodes": [{"id": "other"}]}')
    served.clock.advance(LOOK_S)
    with pytest.raises(NotFound):
        seen.read()
    with pytest.raises(NotFound):
        seen.stat()
    assert "edge" not in root.list() and "other" in root.list()


def test_what_is_changed_past_the_server_is_seen_after_a_moment_and_what_it_does_itself_at_once(served):
    tree = served.admin()
    root = tree.walk("/agents")
    assert "bob" not in root.list()
    served.realm.ensure_agent("bob")
    assert "bob" in root.list()
    (served.home / "agents/carol").mkdir()
    served.clock.advance(LOOK_S)
    assert "carol" in root.list()


def test_what_a_fixed_file_says_changes_with_what_is_seen(served):
    node = served.admin().walk("/agents/self/services/SERVICES.json")
    before = node.read().data
    assert node.read().data is before
    served.join("edge", [service("t")])
    assert b'"t"' in node.read().data and node.stat().size == len(node.read().data)


def test_a_node_says_what_it_is_whatever_was_written_through_another(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project("lab"))
    memory = tree.walk("/agents/self").create("memory.md")
    with pytest.raises(NotFound):
        tree.walk(memory.path)
    memory.write(b"# Memory\n")
    other = tree.walk(memory.path)
    other.write(b"# Memory\n\n## Patterns\n- look\n")
    assert memory.read().data == other.read().data
    with pytest.raises(NotPermitted):
        tree.walk("/README.md").write(b"x")


def test_a_directory_of_a_service_is_looked_up_once_and_goes_with_its_service(served, looked_up):
    edge = served.join("edge", [service("t", capabilities={"invoke": True})])
    tree = served.admin()
    looked_up.clear()
    for _ in range(3):
        assert tree.stat("/nodes/node-1/t/control").directory
        assert "invoke.json" in tree.list("/nodes/node-1/t/control")
    assert looked_up == ["/nodes/node-1/t/control"]
    node = tree.walk("/nodes/node-1/t/control")
    served.upsert(edge, [service("u", capabilities={"invoke": True})])
    with pytest.raises(NotFound):
        node.stat()
    assert tree.stat("/nodes/node-1/u/control").directory


def test_a_stat_in_one_call_looks_its_path_up_once(served, looked_up):
    served.join("edge", [service("t", capabilities={"invoke": True})])
    tree, path = served.admin(), "/nodes/node-1/t/status.json"
    looked_up.clear()
    assert tree.stat(path).size
    assert looked_up == [path]
    node = tree.walk(path)
    node.stat()
    assert looked_up == [path] * 3  # a node that is kept asks again: what the file says may be new
