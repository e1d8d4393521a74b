"""A lease that runs out degrades, a node deleted is missing, a node that returns heals."""

from __future__ import annotations

from tests.control.conftest import OPERATOR, Site, user


def mounted(site: Site) -> str:
    """A project with /src on two nodes, of which the first has the longer lease."""
    return mounted_with_secrets(site)[0]


def mounted_with_secrets(site: Site) -> tuple[str, str, str]:
    """The same, and the secrets of the two nodes."""
    one, two = site.join("one", ttl=20_000), site.join("two", ttl=10_000)
    project = site.project()
    for node in ("node-1", "node-2"):
        site.call("project_mount_set", project_id=project, node_id=node, export_name="work", mount_path="/src")
    return project, one["node_secret"], two["node_secret"]


def test_leases_that_run_out_show_as_degraded_and_deleted_nodes_as_missing(site: Site) -> None:
    project = mounted(site)
    site.pass_by(9)
    assert site.plane.online("node-2") == "online"
    site.pass_by(1)
    assert [site.plane.online(node) for node in ("node-1", "node-2", "node-3")] == ["online", "degraded", "missing"]
    site.pass_by(10)
    status = site.call("workspace_status", project_id=project)
    assert status["availability"] == {"mounts_total": 1, "online": 0, "degraded": 1, "missing": 0}
    assert status["mounts"][0]["state"] == "degraded"
    assert status["drift"]["items"][0]["kind"] == "node_offline"
    assert status["queue_depth"] == 1
    site.call("node_delete", node_id="node-1")
    site.call("node_delete", node_id="node-2")
    status = site.call("workspace_status", project_id=project)
    assert [mount["state"] for mount in status["desired_mounts"]] == ["missing", "missing"]
    assert status["drift"]["items"] == [
        {
            "mount_path": "/src",
            "kind": "missing_node",
            "severity": "error",
            "selected_node_id": "node-1",
            "desired_node_id": "node-1",
            "message": "selected node is missing",
        }
    ]


def test_a_mount_fails_over_and_comes_back(site: Site) -> None:
    project, secret, other = mounted_with_secrets(site)
    site.call("node_lease_refresh", node_id="node-2", node_secret=other, lease_ttl_ms=50_000)
    site.pass_by(30)
    status = site.call("workspace_status", project_id=project)
    assert [mount["node_id"] for mount in status["mounts"]] == ["node-2"]
    assert [item["kind"] for item in status["drift"]["items"]] == ["failover_active"]
    assert status["queue_depth"] == 0
    site.call("node_lease_refresh", node_id="node-1", node_secret=secret, lease_ttl_ms=60_000)
    status = site.call("workspace_status", project_id=project)
    assert [mount["node_id"] for mount in status["mounts"]] == ["node-1"]
    assert status["drift"] == {"count": 0, "items": []}


def test_the_reconciler_tells_what_is_wrong_and_recovers(site: Site) -> None:
    project, secret, _ = mounted_with_secrets(site)
    assert site.call("reconcile_status")["reconcile_state"] == "pending"
    site.pass_by(0.25)
    assert site.call("reconcile_status")["reconcile_state"] == "idle"
    site.pass_by(30)
    site.pass_by(1)
    shown = site.call("reconcile_status")
    line = f"project={project} mount=/src node=node-1 offline"
    assert (shown["reconcile_state"], shown["last_error"], shown["failed_ops"]) == ("degraded", line, [line])
    assert shown["projects"][0]["degraded_mounts"] == 1
    site.call("node_lease_refresh", node_id="node-1", node_secret=secret)
    site.pass_by(1)
    shown = site.call("reconcile_status")
    assert (shown["reconcile_state"], shown["last_error"], shown["queue_depth"]) == ("idle", None, 0)
    assert site.refused("reconcile_status", project_id="proj-9") == "project_not_found"
    assert [row["project_id"] for row in site.call("reconcile_status", project_id=project)["projects"]] == [project]


def test_the_feed_hears_of_a_lease_that_ran_out_in_the_node_and_in_its_workspaces(site: Site) -> None:
    project = mounted(site)
    site.pass_by(1)
    site.topics.clear()
    version = site.plane.version
    site.pass_by(9)
    assert set(site.topics) == {"/nodes", "/nodes/node-2", f"/projects/{project}"}
    assert site.plane.version > version
    site.topics.clear()
    site.pass_by(1)
    assert site.topics == []


def test_tick_says_when_it_is_wanted(site: Site) -> None:
    site.pass_by(1)
    assert 0 < site.plane.tick() <= 5
    site.join(ttl=500)
    site.pass_by(0.3)
    assert site.plane.tick() == 0.2


def test_a_refresh_keeps_the_address_unless_one_is_given(site: Site) -> None:
    node = site.join()
    known = {"node_id": node["node_id"], "node_secret": node["node_secret"]}
    assert site.call("node_lease_refresh", user(), **known)["fs_url"] == node["fs_url"]
    assert site.call("node_lease_refresh", user(), **known, fs_url="")["fs_url"] == ""
    assert site.refused("node_lease_refresh", user(), **known, fs_url="gopher://x") == "invalid_payload"


def test_a_node_heard_of_is_seen(site: Site) -> None:
    site.join()
    site.clock.advance(5)
    site.plane.touch_node("node-1")
    site.plane.touch_node("node-9")
    node = site.call("node_get", OPERATOR, node_id="node-1")["node"]
    assert node["last_seen_ms"] - node["joined_at_ms"] == 5000
    assert site.call("get_node", node_id="node-1")["node"] == node == site.plane.node("node-1")
