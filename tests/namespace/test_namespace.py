"""One binding's tree: what is where, what a write does, what a read waits for, and where links lead."""

import json

import pytest
from tests.world.conftest import Served, service

from worldfs.base.errors import BadInput, Exists, NotFound, NotPermitted, UserError
from worldfs.namespace.binding_context import LOOK_S
from worldfs.testing.cost import calls
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.tree.verb_values import Stat
from worldfs.world.home import Home
from worldfs.world.onboard import onboard
from worldfs.world.world import World


def every(tree, path="/"):
    """All paths, directories with a "/" at their end."""
    if not tree.stat(path).directory:
        yield path
        return
    yield path.rstrip("/") + "/"
    for name in tree.list(path):
        yield from every(tree, path.rstrip("/") + "/" + name)


def said(tree, path):
    return json.loads(tree.read(path).data)


# -- shape -------------------------------------------------------------------------------------------------------------


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


# -- agents ------------------------------------------------------------------------------------------------------------


def test_what_an_agent_keeps_is_below_self_beside_its_memory_service(served):
    served.realm.ensure_agent("alice")
    (served.home / "agents/alice/memory.md").write_text("# Memory\n\n## Patterns\n- look twice\n")
    tree = served.user("alice", served.project())
    names = tree.list("/agents/self")
    assert {"memory", "memory.md"} <= set(names)
    assert b"look twice" in tree.read("/agents/self/memory.md").data
    assert tree.stat("/agents/self/memory.md").writable


def test_another_agents_memory_is_not_there_but_its_letterbox_is(served):
    for name in ("alice", "bob"):
        served.realm.ensure_agent(name)
        (served.home / f"agents/{name}/memory.md").write_text("# Memory\n")
        (served.home / f"agents/{name}/agent_policy.json").write_text('{"visible_agents": ["alice", "bob"]}')
    letter = {"id": "l1", "from": "alice", "to": "bob", "type": "flag", "subject": "s", "body": "b"}
    letter |= {"created_at": "2026-01-02T03:04:05Z", "priority": "normal"}
    tree = served.user("alice", served.project())
    assert "memory.md" not in tree.list("/agents/bob")
    with pytest.raises(NotFound):
        tree.read("/agents/bob/memory.md")
    tree.write("/agents/bob/inbox/l1.json", json.dumps(letter).encode())
    with pytest.raises(NotFound):
        tree.read("/agents/bob/inbox/l1.json")
    own = served.user("bob", served.project())
    assert [name for name in own.list("/agents/self/inbox") if name != "README.md"]


def test_a_peer_is_a_link_and_oneself_by_name_is_self(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project())
    assert tree.read("/agents/alice/LINK.txt").data == b"/agents/self\n"
    assert "LINK.txt" not in tree.list("/agents/self")
    with pytest.raises(NotFound):
        tree.stat("/agents/mother")


def test_no_agent_can_be_called_self(served):
    with pytest.raises(BadInput):
        served.realm.ensure_agent("self")


# -- what is set going -------------------------------------------------------------------------------------------------


def test_a_letter_to_the_chat_becomes_a_job_that_a_read_waits_for(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project())
    written = tree.write("/agents/self/chat/control/input", b"hello", correlation="c1")
    job = written.extra["job"]
    assert written.n == 5
    assert written.extra["result_path"] == f"/agents/self/jobs/{job}/result.txt"
    assert tree.read("/agents/self/chat/control/input").data == b""
    until(lambda: said(tree, f"/agents/self/jobs/{job}/status.json")["state"] in ("done", "failed"))
    assert tree.walk(f"/agents/self/jobs/{job}/status.json").wait() is None
    assert said(tree, f"/agents/self/jobs/{job}/status.json")["correlation_id"] == "c1"
    assert not tree.stat(f"/agents/self/jobs/{job}/status.json").writable
    assert job in tree.list("/agents/self/jobs")
    with pytest.raises(NotFound):
        served.user("bob", served.project()).stat(f"/agents/self/jobs/{job}")


def test_memory_is_kept_by_its_control_files(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project())
    written = tree.write("/agents/self/memory/control/create.json", b'{"kind": "note", "content": "apples float"}')
    until(written.until.ready)
    assert said(tree, "/agents/self/memory/status.json")["state"] == "done"
    created = said(tree, "/agents/self/memory/result.json")
    tree.write("/agents/self/memory/control/invoke.json", b'{"op": "memory_search", "args": {"query": "apples"}}')
    until(lambda: said(tree, "/agents/self/memory/status.json")["state"] == "done")
    assert said(tree, "/agents/self/memory/result.json")["results"][0]["mem_id"] == created["mem_id"]
    assert said(tree, "/agents/self/services/contracts/memory/status.json")["state"] == "idle"


def test_what_a_connection_waits_for_is_its_own(served):
    served.realm.ensure_agent("alice")
    binding = served.user("alice", served.project()).binding
    one, other = served.realm.attach(binding), served.realm.attach(binding)
    one.write("/agents/self/events/control/wait.json", b'{"paths": ["/agents/self/chat/control/input"]}')
    assert said(other, "/agents/self/events/next.json")["configured"] is False
    job = one.write("/agents/self/chat/control/input", b"hello").extra["job"]
    wait = one.walk("/agents/self/events/next.json").wait()
    until(lambda: wait is None or wait.ready())
    assert said(one, "/agents/self/events/next.json")["job"]["job_id"] == job
    other.write("/agents/self/events/control/wait.json", b'{"paths": ["/agents/self/chat/control/input"]}')
    assert said(other, "/agents/self/events/next.json")["job"]["job_id"] == job  # ended since it was attached


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


# -- links and exports -------------------------------------------------------------------------------------------------


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


# -- meta --------------------------------------------------------------------------------------------------------------


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


# -- hostile manifests -------------------------------------------------------------------------------------------------


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


# -- pairing -----------------------------------------------------------------------------------------------------------


def test_a_node_is_let_in_by_writing_a_file_and_its_secrets_are_not_shown(served):
    tree, desk = served.admin(), "/debug/pairing"
    served.control("node_join_request", node_name="shy")
    request = said(tree, f"{desk}/pending.json")["pending"][0]["request_id"]
    tree.write(f"{desk}/control/approve.json", json.dumps({"request_id": request}).encode())
    result = said(tree, f"{desk}/last_result.json")
    assert (result["ok"], result["action"]) == (True, "approve")
    assert result["response"]["node_secret"] is None
    assert result["response"]["lease_token"] is None
    assert said(tree, f"{desk}/last_error.json") is None
    assert said(tree, f"{desk}/pending.json") == {"pending": []}
    assert tree.read(f"{desk}/control/approve.json").data == b""


@pytest.mark.parametrize(
    ("control", "payload", "error"),
    [
        ("control/approve.json", b'{"request_id": "nobody"}', "PendingJoinNotFound"),
        ("control/approve.json", b"{}", "MissingField"),
        ("control/deny.json", b"{", "SyntaxError"),
        ("control/deny.json", b"[]", "InvalidPayload"),
        ("invites/control/create.json", b'{"expires_in_ms": -1}', "InvalidPayload"),
    ],
)
def test_a_refused_decision_fails_and_both_files_say_why(served, control, payload, error):
    tree, desk = served.admin(), "/debug/pairing"
    with pytest.raises(BadInput, match=error) as refused:
        tree.write(f"{desk}/{control}", payload)
    assert refused.value.code == "invalid"
    queue = f"{desk}/invites" if control.startswith("invites") else desk
    for name in ("last_result", "last_error"):
        assert said(tree, f"{queue}/{name}.json")["error"] == error


def test_invites_are_made_and_listed_by_files(served):
    tree, desk = served.admin(), "/debug/pairing/invites"
    tree.write(f"{desk}/control/create.json", b"")
    assert len(said(tree, f"{desk}/active.json")["invites"]) == 1
    served.control("node_join", invite_token=said(tree, f"{desk}/active.json")["invites"][0]["invite_token"])
    assert said(tree, f"{desk}/active.json")["invites"] == []
    tree.write(f"{desk}/control/refresh", b'{"include_redeemed": true}')
    assert said(tree, f"{desk}/active.json")["invites"][0]["redeemed"] is True
    tree.write(f"{desk}/control/refresh", b"whatever")
    assert said(tree, f"{desk}/active.json")["invites"] == []


# -- what it costs, counted --------------------------------------------------------------------------------------------


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
