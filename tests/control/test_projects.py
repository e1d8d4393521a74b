"""Projects: who may do what, with which token; what is mounted where; what one may not see is not there."""

from __future__ import annotations

from typing import Any

import pytest
from tests.control.conftest import OPERATOR, Site, user

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, USER, Binding
from worldfs.control import Caller, ControlPlane, PlaneConfig, PlaneError

ADMIN_ALICE = Caller(Binding(ADMIN, "alice", "proj-1"), "c1")


def locked(site: Site, **fields: Any) -> tuple[str, str]:
    project = site.project(**fields)
    return project, site.call("project_token_rotate", project_id=project)["project_token"]


def test_a_locked_project_asks_for_its_present_token(site: Site) -> None:
    project, old = locked(site)
    new = site.call("project_token_rotate", project_id=project)["project_token"]
    assert site.refused("project_get", user(), project_id=project) == "missing_field"
    for wrong in (old, "", "proj-" + "0" * 32, new + "x"):
        assert site.refused("project_get", user(), project_id=project, project_token=wrong) == "project_auth_failed"
    assert site.refused("project_get", user(), project_id=project, project_token=5) == "invalid_payload"
    assert site.call("project_get", user(), project_id=project, project_token=new)["token_locked"] is True
    assert site.plane.holds_token(Binding(USER, "alice", project, new))
    assert not site.plane.holds_token(Binding(USER, "alice", project, old))


def test_the_bound_token_reads_but_does_not_change(site: Site) -> None:
    project, token = locked(site)
    bound = user("alice", project, token)
    assert site.call("workspace_status", bound)["project_id"] == project
    assert site.call("project_get", bound, project_id=project)["project_id"] == project
    assert site.refused("project_update", bound, project_id=project, name="x") == "missing_field"
    assert site.call("project_update", bound, project_id=project, name="x", project_token=token)["name"] == "x"


def test_a_revoked_token_hides_at_once(site: Site) -> None:
    project, token = locked(site, access_policy={"actions": {"read": "token", "observe": "token"}})
    binding = Binding(USER, "alice", project, token)
    assert site.plane.allows(binding, "read")
    assert site.plane.holds_token(binding)
    assert site.plane.status(binding) is not None
    site.call("project_token_revoke", project_id=project)
    assert not site.plane.allows(binding, "read")  # token is asked for, and there is none
    assert not site.plane.holds_token(binding)
    assert site.plane.status(binding) is None
    assert not site.plane.holds_token(Binding(USER, "alice", project, ""))


def test_another_projects_token_opens_nothing(site: Site) -> None:
    one, _ = locked(site)
    _, token = locked(site, name="Other")
    assert site.refused("project_get", user(), project_id=one, project_token=token) == "project_auth_failed"
    assert not site.plane.allows(Binding(USER, "alice", one, token), "read")


@pytest.mark.parametrize(
    ("mode", "code"),
    [("open", ""), ("allow", ""), ("admin", "project_policy_forbidden"), ("admin-only", "project_policy_forbidden"),
     ("deny", "project_policy_forbidden"), ("disabled", "project_policy_forbidden"),
     ("token", "missing_field"), ("token_or_admin", "missing_field"), ("token-required", "missing_field")],
)  # fmt: skip
def test_every_mode_of_the_policy(site: Site, mode: str, code: str) -> None:
    project = site.project(access_policy={"actions": {"watch": mode}, "agents": {"bob": {"observe": "open"}}})
    asked = {"project_id": project}
    if code:
        assert site.refused("workspace_status", user("alice", project), **asked) == code
    else:
        assert site.call("workspace_status", user("alice", project), **asked)["project_id"] == project
    assert site.plane.allows(Binding(USER, "alice", project), "observe") is not bool(code)
    assert site.plane.allows(Binding(USER, "bob", project), "observe")
    assert site.plane.allows(Binding(ADMIN, "alice", project), "observe")


@pytest.mark.parametrize(
    "policy",
    ["x", [], {"actions": {"invoke": "sometimes"}}, {"actions": {"fly": "open"}}, {"actions": {"invoke": 1}},
     {"actions": []}, {"agents": {"a/b": {}}}, {"agents": {"..": {}}}, {"agents": {"a": {"invoke": "x"}}},
     {"agents": {"x" * 65: {}}}, {"agents": {f"a{n}": {} for n in range(257)}}],
)  # fmt: skip
def test_a_policy_that_is_none_is_refused(site: Site, policy: object) -> None:
    assert site.refused("project_create", name="x", access_policy=policy) == "invalid_payload"


def test_who_has_no_project_is_allowed_nothing(site: Site) -> None:
    for binding in (Binding(USER, "alice"), Binding(USER, "alice", "proj-9"), Binding("node", ""), Binding("", "x")):
        assert not site.plane.allows(binding, "invoke")
        assert site.plane.status(binding) is None
    assert site.plane.allows(Binding(ADMIN, "alice", "proj-9"), "invoke")


def test_system_is_the_primary_agents_in_an_admins_hands(site: Site) -> None:
    thief = Binding(USER, MOTHER, SYSTEM, "")
    assert not site.plane.allows(thief, "read")
    assert site.plane.status(thief) is None
    for op in ("project_get", "workspace_status", "project_mount_list", "project_update", "project_token_rotate"):
        assert site.refused(op, Caller(thief, "c"), project_id=SYSTEM) == "project_not_found"
    for op in ("project_activate", "project_up"):
        assert site.refused(op, Caller(thief, "c"), project_id=SYSTEM) == "project_assignment_forbidden"
        assert site.refused(op, ADMIN_ALICE, project_id=SYSTEM) == "project_assignment_forbidden"
    assert site.refused("workspace_status", ADMIN_ALICE, project_id=SYSTEM) == "project_assignment_forbidden"
    for op in ("project_delete", "project_token_rotate", "project_token_revoke"):
        assert site.refused(op, project_id=SYSTEM) == "project_protected"
    assert site.refused("project_update", project_id=SYSTEM, name="x") == "project_protected"
    assert site.refused("project_up", project_id=SYSTEM, desired_mounts=[]) == "project_protected"
    assert site.call("project_activate", project_id=SYSTEM)["project_id"] == SYSTEM
    assert site.call("workspace_status")["project_id"] == SYSTEM
    assert site.call("project_get", project_id=SYSTEM)["mounts"] == []


def test_an_attach_is_checked_with_the_codes_of_the_protocol(site: Site) -> None:
    project, token = locked(site)
    denied = site.project("No", access_policy={"agents": {"alice": {"read": "deny"}}})
    cases = [
        (Binding(USER, "alice", "proj-9"), "project_not_found"),
        (Binding(USER, "alice", SYSTEM), "project_assignment_forbidden"),
        (Binding(ADMIN, "alice", SYSTEM), "project_assignment_forbidden"),
        (Binding(USER, "alice", project), "missing_field"),
        (Binding(USER, "alice", project, "proj-x"), "project_auth_failed"),
        (Binding(USER, "alice", denied), "project_not_found"),
    ]
    for binding, code in cases:
        assert site.plane.attachable(binding).code == code
    for binding in (Binding(USER, "alice", project, token), Binding(ADMIN, "bob", project), OPERATOR.binding):
        assert site.plane.attachable(binding)


def test_a_list_shows_what_one_may_read(site: Site) -> None:
    site.project("Open")
    project, token = locked(site, name="Locked")

    def ids(caller: Caller) -> list[str]:
        return [row["project_id"] for row in site.call("project_list", caller)["projects"]]

    assert ids(OPERATOR) == ["proj-1", "proj-2", SYSTEM]
    assert ids(user()) == ["proj-1"]
    assert ids(user("alice", project, token)) == ["proj-1", "proj-2"]


def test_a_user_hears_nothing_of_what_is_wrong_elsewhere(site: Site) -> None:
    mine = site.project("Mine")
    secret, _ = locked(site, name="Secret")
    site.join(ttl=1000)
    site.call("project_mount_set", project_id=secret, node_id="node-1", export_name="w", mount_path="/hidden")
    site.pass_by(10)
    site.pass_by(1)
    for shown in (
        site.call("reconcile_status", user("alice", mine)),
        site.call("workspace_status", user("alice", mine)),
        site.call("workspace_status", user("alice")),
        site.plane.status(Binding(USER, "alice", mine)),
    ):
        assert "hidden" not in str(shown)
        assert secret not in str(shown)
    assert "hidden" in str(site.call("reconcile_status"))


def test_secrets_are_for_the_primary_agent_in_an_admins_hands(site: Site) -> None:
    node, project = site.join(), site.project()
    site.call("project_mount_set", project_id=project, node_id="node-1", export_name="w", mount_path="/src")
    asked = {"project_id": project}
    for caller in (user(MOTHER, project), user("alice", project), ADMIN_ALICE):
        shown = site.call("workspace_status", caller, **asked)
        assert node["node_secret"] not in str(shown)
        assert shown["mounts"][0]["fs_auth_token"] is None
    shown = site.call("workspace_status", **asked)
    for key in ("mounts", "desired_mounts", "actual_mounts"):
        assert shown[key][0]["fs_auth_token"] == node["node_secret"]
    status = site.plane.status(Binding(ADMIN, MOTHER, project))
    assert status is not None and status["mounts"][0]["fs_auth_token"] == node["node_secret"]


def test_no_list_and_no_trail_shows_a_secret(site: Site) -> None:
    node, (project, token) = site.join(), locked(site)
    site.refused("node_lease_refresh", node_id="node-1", node_secret="secret-guess")
    shown = str([
        site.call("node_list"), site.call("node_get", node_id="node-1"), site.call("project_list"),
        site.call("project_get", project_id=project), site.call("audit_tail"), site.call("metrics"),
        site.plane.node("node-1"), site.plane.project(project), site.call("node_service_get", node_id="node-1"),
    ])  # fmt: skip
    for secret in (node["node_secret"], node["lease_token"], token, "secret-guess"):
        assert secret not in shown


@pytest.mark.parametrize(
    ("path", "kept"), [("docs/api/", "/docs/api"), ("/", "/"), ("//a//b", "/a/b"), ("/a b/é", "/a b/é")]
)
def test_a_mount_path_is_normal(site: Site, path: str, kept: str) -> None:
    site.join()
    asked = {"project_id": site.project(), "node_id": "node-1", "export_name": "work"}
    assert site.call("project_mount_set", **asked, mount_path=path)["mounts"][0]["mount_path"] == kept


@pytest.mark.parametrize("path", ["/a/../b", "..", "/./a", "/a\0", "/a\nb", 5, "/" + "x" * 2000])
def test_a_mount_path_that_is_none_is_refused(site: Site, path: object) -> None:
    site.join()
    asked = {"project_id": site.project(), "node_id": "node-1", "export_name": "work"}
    assert site.refused("project_mount_set", **asked, mount_path=path) == "invalid_payload"


def test_mounts_may_not_lie_in_each_other(site: Site) -> None:
    site.join()
    asked = {"project_id": site.project(), "node_id": "node-1", "export_name": "work"}
    site.call("project_mount_set", **asked, mount_path="/a/b")
    for path in ("/a", "/a/b/c", "/"):
        assert site.refused("project_mount_set", **asked, mount_path=path) == "mount_conflict"
    for path in ("/a/bc", "/a/c", "/a/b"):
        site.call("project_mount_set", **asked, mount_path=path)
    assert len(site.call("project_mount_list", project_id="proj-1")["mounts"]) == 3


def test_a_mount_is_taken_away_by_place_node_or_export(site: Site) -> None:
    site.join(), site.join()
    project = site.project()
    for node in ("node-1", "node-2"):
        site.call("project_mount_set", project_id=project, node_id=node, export_name="work", mount_path="/src")
    asked = {"project_id": project, "mount_path": "/src"}
    assert site.refused("project_mount_remove", **asked, node_id="node-3") == "mount_not_found"
    assert site.refused("project_mount_remove", **asked, export_name="other") == "mount_not_found"
    left = site.call("project_mount_remove", **asked, node_id="node-1")["mounts"]
    assert [mount["node_id"] for mount in left] == ["node-2"]
    assert site.call("project_mount_remove", **asked)["mounts"] == []


def test_up_is_all_or_nothing(site: Site) -> None:
    site.join()
    before = site.plane.image()
    mounts = [
        {"mount_path": "/a", "node_id": "node-1", "export_name": "w"},
        {"mount_path": "/a/b", "node_id": "node-1", "export_name": "w"},
    ]
    assert site.refused("project_up", name="x", desired_mounts=mounts) == "mount_conflict"
    mounts[1]["mount_path"], mounts[1]["node_id"] = "/b", "node-9"
    assert site.refused("project_up", name="x", desired_mounts=mounts) == "node_not_found"
    assert site.refused("project_up", name="x", activate="yes") == "invalid_payload"
    assert site.plane.image() == before
    assert site.call("project_up", name="x", desired_mounts=mounts[:1])["created"] is True
    again = site.call("project_up", name="x", vision="v", desired_mounts=[], activate=False)
    assert (again["created"], again["project_id"], again["workspace"]["mounts"]) == (False, "proj-1", [])


def test_up_does_not_hand_out_a_token(site: Site) -> None:
    project, token = locked(site, name="x", access_policy={"actions": {"admin": "open", "read": "open"}})
    assert site.call("project_up", user(), name="x")["project_token"] is None
    assert site.call("project_up", user(), name="x", project_token=token)["project_token"] == token
    assert site.call("project_up", project_id=project)["project_token"] == token


def test_up_by_the_name_of_a_project_that_one_may_not_see_makes_ones_own(site: Site) -> None:
    hidden, token = locked(site, name="x")
    mine = site.call("project_up", user(), name="x")
    assert (mine["created"], mine["project_id"]) == (True, "proj-2")
    assert site.call("project_up", user(), name="x", project_token=token)["project_id"] == hidden


def test_a_deleted_project_is_nobodys_active_one(site: Site) -> None:
    project = site.project()
    site.call("project_activate", user("alice", project), project_id=project)
    assert site.call("metrics")["projects"]["active_bindings"] == 1
    site.call("project_delete", project_id=project)
    assert site.call("workspace_status", user("alice"))["project_id"] is None
    assert site.call("metrics")["projects"]["active_bindings"] == 0
    assert site.project() == "proj-2"


def test_the_realms_own_project_keeps_its_policy_and_its_members(site: Site) -> None:
    site.plane.set_local_nodes(["franka_001"])
    site.plane.ensure_project("main", "Main", ["franka_001"])
    assert site.plane.members("main") == ["franka_001"]
    assert site.refused("project_delete", project_id="main") == "project_protected"
    token = site.call("project_token_rotate", project_id="main")["project_token"]
    plane = site.reopen()
    plane.ensure_project("main", "Main", ["franka_001", "go2_001"])
    assert plane.holds_token(Binding(USER, "alice", "main", token))
    assert plane.members("main") == ["franka_001", "go2_001"]
    assert plane.node_ids() == [] and plane.node("franka_001") is None
    for name in (SYSTEM, "..", "a/b"):
        with pytest.raises(PlaneError):
            plane.ensure_project(name, "x", [])


def test_ids_given_by_the_realm_are_not_given_again(site: Site) -> None:
    site.plane.ensure_project("proj-1", "x", [])
    site.plane.set_local_nodes(["node-1"])
    assert site.project() == "proj-2"
    assert site.join()["node_id"] == "node-2"


def test_scope_tokens_are_asked_for_where_they_are_configured() -> None:
    site = Site(None)
    config = PlaneConfig(operator_token="op", node_scope_token="no", project_scope_token="pr")
    site.plane = ControlPlane.open(None, site.clock, site.feed, config)
    for op, key, token in (
        ("node_invite_create", "node_scope_token", "no"),
        ("node_join_pending_list", "operator_token", "op"),
        ("project_create", "project_scope_token", "pr"),
    ):
        assert site.refused(op, name="x") == "missing_field"
        assert site.refused(op, name="x", **{key: "wrong"}) == "operator_auth_failed"
        assert site.refused(op, name="x", **{key: ["op"]}) == "operator_auth_failed"
        site.call(op, name="x", **{key: token})


def test_an_unknown_operation_and_a_payload_that_is_none_are_refused(site: Site) -> None:
    assert site.refused("node_explode") == "unsupported"
    with pytest.raises(PlaneError) as error:
        site.plane.call("node_list", [], OPERATOR)  # type: ignore[arg-type]
    assert error.value.code == "invalid_payload"


def test_the_trail_is_filtered_and_short(site: Site) -> None:
    for _ in range(3):
        site.project()
    site.call("project_create", user("bob"), name="x")
    assert [line["agent_id"] for line in site.call("audit_tail", limit=2)["audit"]] == [MOTHER, "bob"]
    assert [line["id"] for line in site.call("audit_tail", agent_id=MOTHER)["audit"]] == [1, 2, 3]
    assert site.call("audit_tail", limit=0)["audit"] == []
    assert site.refused("audit_tail", limit=-1) == "invalid_payload"
    memory = Site(None)
    for _ in range(2100):
        memory.refused("project_create")
    assert len(memory.plane._state.audit) == 2048
    assert len(memory.call("audit_tail", limit=9999)["audit"]) == 500


CHANGES = [
    ("project_update", {"access_policy": {"actions": {"read": "deny"}}}),
    ("project_update", {"name": "mine"}),
    ("project_token_rotate", {}),
    ("project_token_revoke", {}),
    ("project_delete", {}),
    ("project_mount_set", {"node_id": "node-1", "export_name": "w", "mount_path": "/x"}),
    ("project_mount_remove", {"mount_path": "/src"}),
    ("project_up", {"vision": "mine"}),
    ("project_up", {"desired_mounts": []}),
    ("project_up", {"access_policy": {"actions": {"read": "deny"}}}),
]


@pytest.mark.parametrize(("op", "fields"), CHANGES)
def test_what_the_realm_made_is_its_operators_to_change(site: Site, op: str, fields: dict[str, Any]) -> None:
    node = site.join()["node_id"]
    site.plane.ensure_project("main", "main", [])
    site.call("project_mount_set", project_id="main", node_id=node, export_name="w", mount_path="/src")
    before = site.call("project_get", project_id="main")
    for caller in (user(), user("alice", "main"), user("mother", "main")):
        assert site.refused(op, caller, project_id="main", **fields) == "project_policy_forbidden"
    assert site.call("project_get", project_id="main") == before
    assert site.call("project_get", user("alice", "main"), project_id="main")["token_locked"] is False


def test_a_user_may_read_activate_and_enter_what_the_realm_made(site: Site) -> None:
    site.plane.ensure_project("main", "main", [])
    alice = user("alice", "main")
    assert site.call("project_activate", alice, project_id="main")["project_id"] == "main"
    for named in ({"project_id": "main"}, {"name": "main"}):
        entered = site.call("project_up", alice, **named)
        assert (entered["project_id"], entered["created"]) == ("main", False)
    assert site.call("workspace_status", alice)["project_id"] == "main"


def test_the_operator_may_hand_his_project_over(site: Site) -> None:
    site.plane.ensure_project("main", "main", [])
    policy = {"agents": {"alice": {"admin": "open"}}}
    site.call("project_update", project_id="main", access_policy=policy)
    assert site.call("project_update", user(), project_id="main", vision="ours")["vision"] == "ours"
    assert site.refused("project_update", user("bob"), project_id="main", vision="x") == "project_policy_forbidden"


PROBES = [
    ("project_get", {}),
    ("project_get", {"project_token": "proj-x"}),
    ("project_update", {"name": "x"}),
    ("project_delete", {}),
    ("project_mount_set", {"node_id": "node-1", "export_name": "w", "mount_path": "/x"}),
    ("project_mount_remove", {"mount_path": "/x"}),
    ("project_mount_list", {}),
    ("project_token_rotate", {}),
    ("project_token_revoke", {"project_token": "proj-x"}),
    ("project_activate", {}),
    ("project_up", {}),
    ("workspace_status", {}),
    ("reconcile_status", {}),
]


@pytest.mark.parametrize("mode", ["deny", "admin"])
@pytest.mark.parametrize(("op", "fields"), PROBES)
def test_a_hidden_project_answers_as_one_that_is_not_there(
    site: Site, mode: str, op: str, fields: dict[str, Any]
) -> None:
    hidden = site.project("Secret", access_policy={"actions": {"read": mode}})
    for caller in (user(), user("alice", hidden)):
        assert site.refused(op, caller, project_id=hidden, **fields) == "project_not_found"
        assert site.refused(op, caller, project_id="proj-77", **fields) == "project_not_found"


def test_the_name_of_a_hidden_project_is_free_to_others(site: Site) -> None:
    hidden = site.project("Secret", access_policy={"actions": {"read": "deny"}})
    for more in ({}, {"project_token": "proj-x"}):
        made = site.call("project_up", user(), name="Secret", **more)
        assert made["created"] is True and made["project_id"] != hidden
        site.call("project_delete", project_id=made["project_id"])


def test_what_fails_in_one_project_is_nothing_to_another(site: Site) -> None:
    node = site.join()
    sick, well = site.project("Sick"), site.project("Well")
    site.call("project_mount_set", project_id=sick, node_id=node["node_id"], export_name="w", mount_path="/src")
    site.call("node_delete", node_id=node["node_id"], node_secret=node["node_secret"])
    site.clock.advance(10)
    site.plane.tick()
    for caller in (user("alice", well), OPERATOR):
        status = site.call("workspace_status", caller, project_id=well)
        assert (status["reconcile_state"], status["last_error"], status["queue_depth"]) == ("idle", None, 0)
        assert status["last_success_ms"] == status["last_reconcile_ms"]
        assert site.call("workspace_status", caller, project_id=sick)["reconcile_state"] == "degraded"
        found = site.call("reconcile_status", caller, project_id=well)
        assert (found["reconcile_state"], found["failed_ops_total"], found["failed_ops"]) == ("idle", 0, [])
    assert site.call("reconcile_status")["reconcile_state"] == "degraded", "all of them together"
    nowhere = site.call("workspace_status", user("zoe"))
    assert (nowhere["project_id"], nowhere["reconcile_state"]) == (None, "idle")


def test_a_user_mounts_what_a_project_shows_him_and_nothing_else(site: Site) -> None:
    seen, unseen = site.join("seen")["node_id"], site.join("unseen")["node_id"]
    shared = site.project("Shared")
    site.call("project_mount_set", project_id=shared, node_id=seen, export_name="work", mount_path="/src")
    mine = site.call("project_create", user(), name="Mine")["project_id"]

    def mount(node: str, export: str) -> dict[str, Any]:
        return {"node_id": node, "export_name": export, "mount_path": "/x"}

    for node, export in ((unseen, "work"), (seen, "home"), ("node-77", "work")):
        fields = mount(node, export)
        assert site.refused("project_mount_set", user(), project_id=mine, **fields) == "node_not_found"
        assert site.refused("project_up", user(), project_id=mine, desired_mounts=[fields]) == "node_not_found"
    made = site.call("project_mount_set", user(), project_id=mine, **mount(seen, "work"))
    assert [one["node_id"] for one in made["mounts"]] == [seen]
    site.call("project_update", project_id=shared, access_policy={"actions": {"read": "deny"}})
    site.call("project_mount_remove", user(), project_id=mine, mount_path="/x")
    assert site.refused("project_mount_set", user(), project_id=mine, **mount(seen, "work")) == "node_not_found"
