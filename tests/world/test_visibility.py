"""Who sees which service, node and agent: the rules one by one, and what is hidden is not there at all."""

import json

import pytest
from tests.world.conftest import service

from worldfs.access.binding import ADMIN, USER, Binding
from worldfs.access.visibility import is_service_visible
from worldfs.base.errors import NotFound

ALICE = Binding(USER, "alice", "proj-1")
ROOT = Binding(ADMIN, "mother", "system")


@pytest.mark.parametrize(
    ("permissions", "token", "seen"),
    [
        ({}, False, True),
        ({"allow_roles": ["admin", "user"]}, False, True),
        ({"allow_roles": ["*"]}, False, True),
        ({"allow_roles": ["all"]}, False, True),
        ({"allow_roles": ["admin"]}, False, False),
        ({"allow_roles": []}, False, False),
        ({"allow_roles": [["user"]]}, False, False),
        ({"default": "deny"}, False, False),
        ({"default": "deny-by-default"}, False, False),
        ({"default": "deny-by-default", "allow_roles": ["user"]}, False, True),
        ({"default": "allow-by-default"}, False, True),
        ({"require_project_token": True}, False, False),
        ({"require_project_token": True}, True, True),
        ({"project_token_required": True}, False, False),
        ({"require_project_token": False, "project_token_required": True}, False, True),
        ({"allow_roles": ["*"], "require_project_token": True}, False, False),
        (None, True, False),
        ("open", True, False),
        ([], True, False),
    ],
)
def test_a_user_sees_a_service_by_its_permissions(permissions, token, seen):
    assert is_service_visible(permissions, ALICE, invoke=True, token=token) is seen
    assert is_service_visible(permissions, ALICE, invoke=False, token=token) is False
    assert is_service_visible(permissions, ROOT, invoke=False, token=False) is True


def test_below_self_one_is_the_agent_and_elsewhere_what_one_came_as():
    assert ALICE.role_at(("agents", "self", "jobs")) == "agent"
    assert ALICE.role_at(("agents", "alice")) == "planner"
    assert ROOT.role_at(("nodes",)) == "operator"
    assert Binding("node", "", "").role_at(("agents", "self")) == ""


def index(tree):
    return {line["service_id"] for line in json.loads(tree.read("/agents/self/services/SERVICES.json").data)}


@pytest.fixture
def lab(served):
    """A node with an open service, a closed one and one for who has the token, mounted in a project."""
    node = served.join(
        "edge",
        [
            service("open", capabilities={"invoke": True}),
            service("closed", permissions={"default": "deny-by-default"}),
            service("keyed", permissions={"require_project_token": True}),
        ],
    )
    project = served.project("lab")
    served.control(
        "project_mount_set", project_id=project, node_id=node["node_id"], export_name="work", mount_path="/src"
    )
    served.lab = project
    return served


def test_what_is_hidden_has_no_directory_no_line_and_no_root(lab):
    tree = lab.user(project=lab.lab)
    assert "open" in index(tree)
    assert index(tree) & {"closed", "keyed"} == set()
    assert not {"closed", "keyed"} & set(tree.list("/nodes/node-1/services"))
    assert not {"closed", "keyed"} & set(tree.list("/nodes/node-1"))
    for path in ("/nodes/node-1/services/closed/CAPS.json", "/nodes/node-1/closed", "/nodes/node-1/services/closed"):
        with pytest.raises(NotFound):
            tree.stat(path)
    assert {"open", "closed", "keyed"} <= index(lab.admin())


def test_a_token_shows_what_asks_for_it_and_a_revoked_one_hides_it_at_once(lab):
    token = lab.control("project_token_rotate", project_id=lab.lab)["project_token"]
    tree = lab.user(project=lab.lab, token=token)
    assert "keyed" in index(tree)
    assert index(lab.user(project=lab.lab, token="proj-wrong")) & {"open", "keyed"} == set()
    lab.control("project_token_rotate", project_id=lab.lab)
    assert index(tree) & {"open", "keyed"} == set()
    with pytest.raises(NotFound):
        tree.stat("/nodes/node-1/services/keyed")


def test_a_policy_that_denies_invoke_hides_the_services_and_ones_own_from_the_index(lab):
    lab.control(
        "project_update", project_id=lab.lab, access_policy={"agents": {"alice": {"invoke": "deny"}}, "actions": {}}
    )
    tree = lab.user(project=lab.lab)
    assert index(tree) == set()
    assert not tree.stat("/agents/self/memory/control/create.json").writable
    assert index(lab.user("bob", lab.lab)) >= {"open", "memory"}


def test_another_project_and_its_nodes_do_not_exist_for_a_user(lab):
    other = lab.project("other")
    tree = lab.user(project=other)
    assert "node-1" not in tree.list("/nodes")
    assert tree.list("/projects") == ["CAPS.json", "README.md", "SCHEMA.json", other]
    for path in ("/nodes/node-1", "/nodes/node-1/NODE.json", f"/projects/{lab.lab}", f"/projects/{lab.lab}/meta"):
        with pytest.raises(NotFound):
            tree.stat(path)
    assert "node-1" in lab.admin("carol", other).list("/nodes")


def test_debug_is_for_an_admin_whose_policy_shows_it_and_for_nobody_else(lab):
    place = lab.home / "agents/alice"
    place.mkdir(parents=True)
    (place / "agent_policy.json").write_text('{"show_debug": true}')
    assert "debug" not in lab.user(project=lab.lab).list("/")
    with pytest.raises(NotFound):
        lab.user(project=lab.lab).read("/debug/pairing/invites/active.json")
    assert "debug" in lab.admin("alice", lab.lab).list("/")
    assert "debug" not in lab.admin("bob", lab.lab).list("/")


def test_a_deleted_node_is_gone_on_the_next_read(lab):
    tree = lab.admin()
    assert "node-1" in tree.list("/nodes")
    lab.control("node_delete", node_id="node-1")
    assert "node-1" not in tree.list("/nodes")
    with pytest.raises(NotFound):
        tree.read("/nodes/node-1/NODE.json")


def test_secrets_are_only_in_the_hands_of_the_primary_agent(lab):
    served = lab.admin("mother", lab.lab).read(f"/projects/{lab.lab}/meta/mounts.json").data
    assert json.loads(served)[0]["fs_auth_token"]
    for tree in (lab.admin("carol", lab.lab), lab.user(project=lab.lab)):
        for name in ("mounts", "desired_mounts", "actual_mounts", "workspace_status"):
            assert b"secret-" not in tree.read(f"/projects/{lab.lab}/meta/{name}.json").data
