"""Links of projects, the exports that they lead to, and the views of a project's mounts."""

import json

import pytest
from tests.namespace.conftest import said
from tests.world.conftest import service

from worldfs.base.errors import BadInput, Exists, NotFound, NotPermitted
from worldfs.tree.verb_values import Stat


class Disk:
    """The exports of a node, here a dictionary."""

    def __init__(self, files):
        self.files = files

    def dir_entry(self, path):
        if path in self.files:
            return Stat(False, len(self.files[path]), True)
        return Stat(True) if any(name.startswith(path + "/") for name in self.files) else None

    def list(self, path):
        depth = path + "/" if path else ""
        below = [name[len(depth) :] for name in self.files if name.startswith(depth)]
        return sorted({name.split("/")[0] + ("/" if "/" in name else "") for name in below})

    def dir_entries(self, path):
        base = path + "/" if path else ""
        return {name: self.dir_entry(base + name) for name in (one.rstrip("/") for one in self.list(path))}

    def read(self, path):
        return self.files[path]

    def write(self, path, data, offset):
        self.files[path] = self.files[path][:offset] + data
        return len(data)

    def replace(self, path, data):
        self.files[path] = data

    def create(self, path):
        self.files[path] = b""

    def mkdir(self, path):
        self.files[path + "/x"] = b""

    def remove(self, path):
        del self.files[path]

    def rename(self, old, new):
        self.files[new] = self.files.pop(old)

    def services(self):
        return ()

    def invoke(self, service, payload, timeout=30.0):
        raise AssertionError


class Hub:
    def __init__(self, **nodes):
        self.nodes = nodes

    def mounted(self, node):
        return self.nodes.get(node)


@pytest.fixture
def mounted(served):
    node = served.join("edge", [service("fs", kind="fs", permissions={"default": "deny"})])
    project = served.project("lab")
    for export, path in (("work", "/src"), ("docs", "/docs/api")):
        served.control(
            "project_mount_set", project_id=project, node_id=node["node_id"], export_name=export, mount_path=path
        )
    served.disk = Disk({"work/a.txt": b"one", "work/sub/b.txt": b"two", "docs/c.md": b"three", "home/key": b"secret"})
    served.realm.hub = Hub(**{node["node_id"]: served.disk})
    served.tree = served.user("alice", project)
    served.at = f"/projects/{project}"
    return served


def test_the_entries_of_a_directory_are_the_stats_of_its_names(mounted):
    for tree in (mounted.tree, mounted.admin()):
        for path in (
            "/",
            "/agents/self",
            "/agents/self/jobs",
            "/nodes/node-1",
            "/nodes/node-1/fs",
            "/nodes/node-1/fs/work",
        ):
            base = path.rstrip("/")
            assert tree.walk(path).entries() == [tree.stat(f"{base}/{name}") for name in tree.list(path)], path
    assert [one.name for one in mounted.tree.walk(f"{mounted.at}/fs/mount::src/sub").entries()] == ["b.txt"]
    with pytest.raises(BadInput):
        mounted.tree.walk("/README.md").entries()


def test_what_is_there_with_its_first_write_is_promised(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project("lab"))
    found = tree.walk("/agents/self/inbox").create("m.json").stat()
    assert (found.name, found.size, found.writable, found.directory) == ("m.json", 0, True, False)
    letter = {"id": "m-1", "from": "alice", "to": "alice", "subject": "s", "body": "b"}
    assert "m.json" not in tree.list("/agents/self/inbox")
    tree.write("/agents/self/inbox/m.json", json.dumps(letter).encode())
    assert len([name for name in tree.list("/agents/self/inbox") if name.endswith(".json")]) == 1
    memory = tree.walk("/agents/self").create("memory.md")
    assert memory.promised and memory.writable()
    memory.write(b"# Memory\n")
    assert not memory.promised and memory.read().data == b"# Memory\n"
    with pytest.raises(Exists):
        tree.promise("/agents/self/memory.md")
    for path in ("/new", "/nodes/x", "/agents/self/chat/control/x", "/agents/bob/inbox/m.json", "/README.md"):
        with pytest.raises((NotPermitted, Exists)):
            tree.promise(path)


def test_a_mount_is_a_link_that_names_its_export_and_is_walked_through(mounted):
    tree, at = mounted.tree, mounted.at
    assert tree.read(f"{at}/fs/mount::src").data == b"/nodes/node-1/fs/work\n"
    assert tree.read(f"{at}/fs/mount::docs::api").data == b"/nodes/node-1/fs/docs\n"
    assert not tree.stat(f"{at}/fs/mount::src").directory
    assert tree.read(f"{at}/fs/mount::src/sub/b.txt").data == b"two"
    assert tree.list(f"{at}/fs/mount::src/sub") == ["b.txt"]
    assert tree.list("/nodes/node-1/fs/work") == ["a.txt", "sub"]
    assert tree.write(f"{at}/fs/mount::src/a.txt", b"ONE").n == 3
    assert mounted.disk.files["work/a.txt"] == b"ONE"


def test_a_directory_that_a_node_exports_goes_with_the_node_s_disk(mounted):
    tree, at = mounted.tree, mounted.at
    kept = [tree.walk(path) for path in ("/nodes/node-1/fs/work/sub", f"{at}/fs/mount::src/sub")]
    assert all(node.stat().directory for node in kept)
    del mounted.disk.files["work/sub/b.txt"]
    for node in kept:
        with pytest.raises(NotFound):
            node.stat()
        with pytest.raises(NotFound):
            tree.stat(node.path)


def test_of_a_node_s_exports_a_user_sees_those_that_the_project_mounts(mounted):
    assert mounted.tree.list("/nodes/node-1/fs") == ["README.md", "docs", "work"]
    for path in ("/nodes/node-1/fs/home", "/nodes/node-1/fs/home/key"):
        with pytest.raises(NotFound):
            mounted.tree.stat(path)
        with pytest.raises(NotFound):
            mounted.tree.read(path)
    assert mounted.admin().read("/nodes/node-1/fs/home/key").data == b"secret"


def test_names_are_made_and_unmade_in_exports_and_nowhere_else(mounted):
    tree = mounted.tree
    made = tree.walk(f"{mounted.at}/fs/mount::src").create("new.txt")
    assert not made.directory
    made.replace(b"new")
    work = tree.walk("/nodes/node-1/fs/work")
    work.rename("new.txt", work, "old.txt")
    with pytest.raises(NotFound):
        made.read()
    assert tree.read("/nodes/node-1/fs/work/old.txt").data == b"new"
    work.remove("old.txt")
    assert "work/old.txt" not in mounted.disk.files
    for path in ("/nodes/x", "/projects/main/y", "/agents/self/chat/z", "/nodes/node-1/fs/home/new"):
        with pytest.raises((NotPermitted, NotFound)):
            tree.walk(path.rpartition("/")[0] or "/").create(path.rpartition("/")[2])


def test_a_node_that_cannot_be_reached_exports_an_empty_directory(mounted):
    mounted.realm.hub = None
    assert mounted.tree.stat("/nodes/node-1/fs").directory
    assert mounted.tree.list("/nodes/node-1/fs") == ["README.md"]
    with pytest.raises(NotFound):
        mounted.tree.read("/nodes/node-1/fs/work/a.txt")


def test_two_mounts_of_one_name_keep_both(served):
    node = served.join("edge")
    project = served.project("lab")
    for path in ("/a/b", "/a::b"):
        served.control(
            "project_mount_set", project_id=project, node_id=node["node_id"], export_name="x", mount_path=path
        )
    names = served.user("alice", project).list(f"/projects/{project}/fs")
    assert {"mount::a::b", "mount::a::b~2"} <= set(names)


def test_a_lapsed_lease_shows_in_every_view_of_the_project(mounted):
    tree, at = mounted.tree, mounted.at
    assert said(tree, f"{at}/meta/health.json")["state"] == "healthy"
    mounted.clock.advance(3600)
    mounted.plane.tick()
    assert said(tree, "/nodes/node-1/STATUS.json")["state"] == "degraded"
    assert said(tree, f"{at}/meta/nodes.json") == [{"node_id": "node-1", "state": "degraded", "mounts": 2}]
    assert said(tree, f"{at}/meta/availability.json")["degraded"] == 2
    assert "degraded_mounts" in [alert["id"] for alert in said(tree, f"{at}/meta/alerts.json")]
    assert said(tree, "/meta/workspace_health.json")["state"] == "degraded"
    mounted.control("node_delete", node_id="node-1")
    assert said(tree, f"{at}/meta/health.json")["state"] == "missing"
    assert said(tree, "/nodes/node-1/STATUS.json")["source"] == "workspace_discovery"


def test_sources_say_where_the_views_come_from(served, mounted):
    live = said(mounted.tree, f"{mounted.at}/meta/sources.json")
    assert set(live.values()) == {mounted.at.rsplit("/", 1)[1], "control_plane", "workspace_mounts"}
    denied = served.control(
        "project_update",
        project_id=live["project_id"],
        access_policy={"actions": {"observe": "deny", "read": "deny"}, "agents": {}},
    )
    assert denied
    policy = said(mounted.tree, f"{mounted.at}/meta/sources.json")
    assert policy["workspace_status"] == "policy"
    assert said(mounted.tree, f"{mounted.at}/meta/workspace_status.json")["source"] == "policy"
    assert "node-1" not in mounted.tree.list("/nodes")
