"""The shape of a binding's tree: directories, their pages, paths, hostile manifests, what a look costs."""

import json

import pytest
from tests.namespace.conftest import every
from tests.world.conftest import service

from worldfs.base.errors import BadInput, NotFound, NotPermitted, UserError
from worldfs.testing.cost import calls
from worldfs.testing.waiting import PATIENCE_S


def test_every_directory_has_a_readme_that_begins_with_a_title(served):
    served.join("edge", [service("t", capabilities={"invoke": True}, ops={"operations": {"go": "go"}})])
    tree = served.admin()
    directories = [path for path in every(tree) if path.endswith("/")]
    assert len(directories) > 40
    for path in directories:
        assert tree.read(path + "README.md").data.startswith(b"# "), path


def test_listings_are_sorted_by_bytes(served):
    for name in ("zoo", "Zoo", "z.o"):
        served.join(name)
    for path in every(served.admin()):
        if path.endswith("/"):
            names = served.admin().list(path)
            assert names == sorted(names, key=lambda name: name.encode())


def test_every_json_file_is_json(served):
    tree = served.admin()
    for path in every(tree):
        data = tree.read(path).data if path.endswith(".json") else b""
        if data:
            json.loads(data)


@pytest.mark.parametrize("path", ["/../etc/passwd", "/nodes/../../x", "/a\nb", "/nodes/\0", "/" + "x" * 3000])
def test_a_path_that_climbs_or_is_no_path_is_refused(served, path):
    tree = served.admin()
    for ask in (tree.stat, tree.read, tree.list, tree.light, tree.walk, lambda p: tree.write(p, b"")):
        with pytest.raises(UserError):
            ask(path)


def test_reading_a_directory_and_listing_a_file_say_so_in_the_protocols_words(served):
    tree = served.admin()
    with pytest.raises(BadInput) as directory:
        tree.read("/nodes")
    with pytest.raises(BadInput) as file:
        tree.list("/nodes/CAPS.json")
    assert (directory.value.code, file.value.code) == ("eisdir", "enotdir")


def test_a_view_takes_no_write(served):
    with pytest.raises(NotPermitted):
        served.admin().write("/nodes/CAPS.json", b"{}")
    assert not served.admin().stat("/nodes/CAPS.json").writable


def test_a_lookup_from_memory_is_light_and_one_of_the_disk_is_not(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project())
    assert tree.light("/")
    assert tree.light("/nodes")
    assert tree.light("/nodes/local/services/SERVICES.json")
    assert tree.light("/agents/self/events/next.json")
    for path in ("/agents/self/tasks.json", "/agents/self/inbox", "/agents", "/nodes/local/fs", "/nodes/local/fs/x"):
        assert not tree.light(path), path


class Told:
    """A control plane that repeats whatever a node said, unchecked."""

    def __init__(self, plane, services):
        self._plane, self._services = plane, services

    def __getattr__(self, name):
        return getattr(self._plane, name)

    def catalog(self, node_id):
        return self._services


@pytest.mark.parametrize(
    "bad",
    [
        {"service_id": "../../etc"},
        {"service_id": "a\nb"},
        {"service_id": 7},
        {"service_id": "s", "endpoints": ["/nodes/node-1/../../root"]},
        {"service_id": "s", "endpoints": "x", "mounts": "y", "capabilities": [], "ops": 3, "permissions": {}},
        {"service_id": "s", "mounts": [None, {"mount_path": 4}, {"mount_path": "/nodes/node-1/services/x"}]},
        {"service_id": "s", "endpoints": ["/nodes/other/x"], "capabilities": {"invoke": True}},
        {"service_id": "s", "capabilities": {"invoke": True}, "ops": {"operations": {"../x": "y", "a/b": "c"}}},
        {"service_id": "s", "mounts": [{"mount_path": "/nodes/node-1/fs"}], "capabilities": {"invoke": True}},
        {"service_id": "s", "help_md": "x" * (1 << 20)},
        {"service_id": "s", "kind": None, "state": 5, "schema": "\ud800"},
    ],
)
def test_whatever_a_manifest_says_the_tree_stays_a_tree(served, bad):
    served.join("edge", [])
    sources = served.realm._sources
    served.realm._sources = sources._replace(plane=Told(served.plane, [bad]))
    tree = served.admin()
    paths = list(every(tree))
    assert len(paths) == len(set(paths))
    for path in paths:
        assert ".." not in path
        if not path.endswith("/"):
            assert len(tree.read(path).data) == tree.stat(path).size


def test_an_index_of_a_thousand_nodes_is_made_once_a_version(served):
    for number in range(300):
        node = served.join(f"n{number}")
        served.upsert(node, [service(f"s{k}", node["node_id"]) for k in range(5)])
    tree = served.admin()
    tree.read("/agents/self/services/SERVICES.json")
    again = calls(lambda: tree.read("/agents/self/services/SERVICES.json"))
    assert again < 100  # of 1,500 services


def test_many_threads_may_look_while_the_world_changes(served):
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import suppress

    tree, done = served.admin(), []

    def look():
        while not done:
            for path in every(tree, "/nodes"):
                with suppress(NotFound):  # a node may go between its listing and this look
                    stat = tree.stat(path)
                    assert stat.directory or stat.size or not tree.read(path).data
        return True

    def looking():
        while not done:
            with suppress(NotFound):
                look()
        return True

    with ThreadPoolExecutor(3) as pool:
        looks = [pool.submit(looking) for _ in range(3)]
        try:
            for number in range(10):
                node = served.join(f"n{number}", [])
                served.upsert(node, [service("s", node["node_id"], capabilities={"invoke": True})])
                if number % 2:
                    served.control("node_delete", node_id=node["node_id"])
        finally:
            done.append(True)
        assert all(look.result(PATIENCE_S) for look in looks)
    assert len([name for name in tree.list("/nodes") if name.startswith("node-")]) == 5


def test_the_pages_about_the_layout_are_rendered_once(served):
    tree = served.admin()
    schema = tree.walk("/meta/SCHEMA.json")
    assert schema.light and json.loads(schema.read().data)
    assert calls(schema.read) < 20
    other = served.user("alice").walk("/meta/SCHEMA.json")
    assert calls(other.read) < 20 and other.read().data is schema.read().data


def test_a_read_of_a_projects_summary_renders_the_status_of_the_project_once(served):
    project = served.project("lab")
    summary = served.user("alice", project).walk(f"/projects/{project}/meta/summary.json")
    summary.read()
    assert calls(summary.read) < 150
