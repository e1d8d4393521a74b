"""Twenty-seven attacks on visibility, tokens, paths and pairing, against a real server; each is refused.

What may not be seen is not there (`enoent`, decision D47), never "forbidden"; and after each the server is up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldfs.access.tokens import TokenStore

from .stand import Json, Served, Wire, served

TOOL: Json = {"service_id": "tool", "kind": "tool", "state": "online", "endpoints": ["/nodes/{n}/tool"]}
INVOKE = {"tool_name": "memory_search", "arguments": {"query": "x"}}


class Ground:
    """A server with two nodes, three projects and three agents; who attacks is a user attached as alice."""

    def __init__(self, server: Served) -> None:
        self.server = server
        self.admin = server.wire().greet()
        self.secrets: dict[str, str] = {}
        self.mine = self.join("mine")
        self.other = self.join("other")
        self.open = self.project("open")
        self.locked = self.project("locked")
        self.denied = self.project("denied", {"actions": {"invoke": "deny"}})
        self.token = str(self.rotate())
        for project in (self.open, self.locked, self.denied):
            self.admin.done("project_mount_set", _mount(project, self.mine, "/src"))
        self.upsert(
            self.mine,
            [
                self.tool("tool", capabilities={"invoke": True}, permissions={}),
                self.tool("secret", capabilities={"invoke": True}, permissions={"default": "deny-by-default"}),
                self.tool("tok", permissions={"allow_roles": ["*"], "require_project_token": True}),
            ],
        )
        self.upsert(self.other, [{**TOOL, "endpoints": [f"/nodes/{self.other}/tool"]}])

    def tool(self, name: str, **more: object) -> Json:
        return {**TOOL, "service_id": name, "endpoints": [f"/nodes/{self.mine}/{name}"], **more}

    def join(self, name: str) -> str:
        invite = self.admin.done("node_invite_create")["invite_token"]
        joined = self.admin.done("node_join", {"invite_token": invite, "node_name": name, "fs_url": "ws://127.0.0.1:1"})
        self.secrets[joined["node_id"]] = joined["node_secret"]
        return str(joined["node_id"])

    def project(self, name: str, policy: Json | None = None) -> str:
        more = {"access_policy": policy} if policy else {}
        return str(self.admin.done("project_create", {"name": name, **more})["project_id"])

    def rotate(self) -> str:
        return str(self.admin.done("project_token_rotate", {"project_id": self.locked})["project_token"])

    def upsert(self, node: str, services: list[Json]) -> None:
        secret = self.secrets[node]
        self.admin.done("node_service_upsert", {"node_id": node, "node_secret": secret, "services": services})

    def user(self, agent: str = "alice", project: str = "", token: str = "") -> Wire:
        return self.server.wire(self.server.user).greet(agent, project or self.open, token)

    def attach(self, wire: Wire, **payload: str) -> str:
        """The code with which a session_attach is refused."""
        return code(wire.control("session_attach", {"session_key": "main", **payload}))


def _mount(project: str, node: str, path: str) -> Json:
    return {"project_id": project, "node_id": node, "export_name": "work", "mount_path": path}


def code(found: Json) -> str:
    return "" if found.get("ok") else str((found.get("error") or {}).get("code", ""))


def _version(wire: Wire) -> Wire:
    wire.done("version", {"protocol": "unified-v2"})
    return wire


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    home = tmp_path_factory.mktemp("attacks") / "home"
    (home / "agents/alice").mkdir(parents=True)
    (home / "agents/alice/agent_policy.json").write_text(json.dumps({"show_debug": True}))
    (home / "agents/bob").mkdir()
    (home / "agents/bob/journal.jsonl").write_text("")
    with served(home) as server:
        found = Ground(server)
        yield found
        found.admin.close()


# --- visibility


def a_hidden_service_is_asked_for_by_name(ground: Ground) -> None:
    with ground.user() as wire:
        for path in (f"/nodes/{ground.mine}/services/secret", f"/nodes/{ground.mine}/secret"):
            for below in ("", "/STATUS.json", "/control/invoke.json"):
                assert wire.code(path + below) == "enoent", path + below
                assert wire.code(path + below, INVOKE) == "enoent", path + below


def a_hidden_service_is_looked_for_in_every_index(ground: Ground) -> None:
    with ground.user() as wire:
        node = f"/nodes/{ground.mine}"
        assert wire.names(f"{node}/services")[-1] == "tool" and "secret" not in wire.names(f"{node}/services")
        indexes = (f"{node}/services/SERVICES.json", "/agents/self/services/SERVICES.json")
        for index in indexes:
            found = [row["service_id"] for row in wire.json(index) if row.get("node_id", ground.mine) == ground.mine]
            assert found == ["tool"], index
        assert not {"secret", "tok"} & set(wire.names(node))


def a_node_of_nobodys_project_is_reached_for(ground: Ground) -> None:
    with ground.user() as wire:
        assert ground.other not in wire.names("/nodes")
        for path in (f"/nodes/{ground.other}", f"/nodes/{ground.other}/NODE.json"):
            assert wire.code(path) == "enoent", path


def another_project_is_reached_for(ground: Ground) -> None:
    with ground.user() as wire:
        assert ground.locked not in wire.names("/projects")
        for path in (ground.locked, f"{ground.locked}/meta/mounts.json", "system", "system/meta/mounts.json"):
            assert wire.code(f"/projects/{path}") == "enoent", path
        assert all(row["project_id"] != "system" for row in wire.done("project_list")["projects"])


def a_policy_that_shows_debug_is_given_to_a_user(ground: Ground) -> None:
    with ground.user() as wire:
        assert "debug" not in wire.names("/")
        for path in ("", "/stream.log", "/pairing/pending.json", "/pairing/invites/active.json"):
            assert wire.code(f"/debug{path}") == "enoent", path
        assert wire.code("/debug/pairing/invites/control/create.json", "{}") == "enoent"
        assert wire.code("/debug/pairing/control/approve.json", {"request_id": "x"}) == "enoent"
        assert wire.json(f"/projects/{ground.open}/meta/paths.json")["global"]["debug"] is None


def a_denied_agent_invokes_all_the_same(ground: Ground) -> None:
    with ground.user(project=ground.denied) as wire:
        for place in ("/agents/self/memory", "/agents/self/services/contracts/memory"):
            assert wire.code(f"{place}/control/invoke.json", INVOKE) == "eperm", place
            assert wire.stat(f"{place}/control/invoke.json")["writable"] is False
            assert wire.json(f"{place}/status.json")["state"] == "idle"
        assert wire.code(f"/nodes/{ground.mine}/tool/control/invoke.json", INVOKE) == "enoent"


def the_secret_of_a_mount_is_looked_for(ground: Ground) -> None:
    meta = f"/projects/{ground.open}/meta"
    admin_as_other = ground.server.wire().greet("carol", ground.open)
    with ground.user() as user, admin_as_other as carol:
        for wire in (user, carol):
            for file in ("mounts", "desired_mounts", "actual_mounts", "workspace_status"):
                text = wire.read(f"{meta}/{file}.json").decode()
                assert '"fs_auth_token":null' in text and "secret-" not in text, file
            status = wire.done("workspace_status", {"project_id": ground.open})
            assert [mount["fs_auth_token"] for mount in status["mounts"]] == [None]
        assert ground.secrets[ground.mine] not in user.read(f"/nodes/{ground.mine}/STATUS.json").decode()


def a_service_that_wants_a_token_is_used_without_a_valid_one(ground: Ground) -> None:
    path = f"/nodes/{ground.mine}/services/tok/STATUS.json"
    with ground.user() as without:
        assert without.code(path) == "enoent"
    with ground.user(token="proj-" + "0" * 32) as made_up:
        assert made_up.code(path) == "enoent"


# --- tokens


def no_token_or_nearly_the_right_one(ground: Ground) -> None:
    right = ground.server.admin
    for token in ("", "x", right[:-1], right + "A", right.upper(), right.replace("admin", "user"), "sw-admin_", "\t"):
        wire = ground.server.wire(token)
        first = wire.hear()
        assert (first["type"], first["code"], first["message"]) == ("error", "provider_auth_failed", "forbidden")
        assert wire.ended(), token
        wire.close()


def a_user_becomes_mother_or_joins_system(ground: Ground) -> None:
    with _version(ground.server.wire(ground.server.user)) as wire:
        assert ground.attach(wire, agent_id="mother", project_id="system") == "forbidden"
        assert ground.attach(wire, agent_id="mother", project_id=ground.open) == "forbidden"
        assert ground.attach(wire, agent_id="alice", project_id="system") in (
            "forbidden",
            "project_assignment_forbidden",
        )
        assert code(wire.control("agent_ensure", {"agent_id": "mother"})) == "forbidden"


def a_user_says_the_words_of_an_admin(ground: Ground) -> None:
    words = (
        "metrics auth_status auth_rotate node_invite_create node_join_pending_list node_join_deny node_list node_get "
        "node_service_watch audit_tail"
    )
    with ground.user() as wire:
        for op in words.split():
            payload = {"node_id": ground.mine, "request_id": "pending-join-1", "role": "admin"}
            assert code(wire.control(op, payload)) == "forbidden", op
        for op in ("node_lease_refresh", "node_service_upsert", "node_delete"):
            payload = {"node_id": ground.mine, "node_secret": "secret-" + "0" * 32}
            assert code(wire.control(op, payload)) in ("forbidden", "node_auth_failed"), op
        assert code(wire.control("node_service_get", {"node_id": ground.other})) in ("forbidden", "node_auth_failed")


def a_locked_project_is_entered_without_its_token(ground: Ground) -> None:
    asked = {"agent_id": "alice", "project_id": ground.locked}
    with ground.user() as wire:
        assert ground.attach(wire, **asked) == "missing_field"
        for wrong in ("x", ground.token[:-1], ground.token + "0", "proj-" + "0" * 32):
            assert ground.attach(wire, **asked, project_token=wrong) == "project_auth_failed", wrong
        for op in ("workspace_status", "project_activate", "project_mount_list", "project_token_rotate"):
            refused = code(wire.control(op, {"project_id": ground.locked}))
            assert refused in ("missing_field", "project_auth_failed", "forbidden", "project_policy_forbidden"), op
        # The old binding is what it was.
        assert ground.open in wire.names("/projects")


def the_token_of_another_project_is_shown(ground: Ground) -> None:
    other = ground.project("other-locked")
    token = str(ground.admin.done("project_token_rotate", {"project_id": other})["project_token"])
    with ground.user() as wire:
        refused = ground.attach(wire, agent_id="alice", project_id=ground.locked, project_token=token)
        assert refused == "project_auth_failed"


def a_revoked_token_goes_on_being_used(ground: Ground) -> None:
    path = f"/nodes/{ground.mine}/services/tok/STATUS.json"
    with ground.user(project=ground.locked, token=ground.token) as wire:
        assert wire.code(path) == ""
        assert wire.json(f"/projects/{ground.locked}/meta/mounts.json") != []
        assert wire.code("/agents/self/memory/control/search.json", {"query": "x"}) == ""
        ground.token = ground.rotate()
        assert wire.code(path) == "enoent"
        # The bound project stays where it was, and tells nothing: the placeholder of policy (section 5.1).
        meta = f"/projects/{ground.locked}/meta"
        assert wire.json(f"{meta}/sources.json")["workspace_status"] == "policy"
        assert wire.json(f"{meta}/mounts.json") == [] and wire.json(f"{meta}/workspace_status.json")["mounts"] == []
        assert ground.mine not in wire.names("/nodes")
        assert wire.code("/agents/self/memory/control/search.json", {"query": "x"}) in ("eperm", "enoent")


def a_rotated_role_token_goes_on_being_used(ground: Ground) -> None:
    old = ground.server.user
    with ground.user() as wire:
        assert wire.code("/meta/protocol.json") == ""
        new = ground.admin.done("auth_rotate", {"role": "user"})["token"]
        assert new != old and ground.server.user == new
    late = ground.server.wire(old)
    assert late.hear()["code"] == "provider_auth_failed"
    late.close()
    masked = json.dumps(ground.admin.done("auth_status"))
    assert new not in masked and ground.server.admin not in masked


def a_node_reaches_beyond_itself(ground: Ground) -> None:
    secret = ground.secrets[ground.other]
    with ground.server.wire(secret) as wire:
        _version(wire)
        assert code(wire.acheron("t_version", msize=65536, version="acheron-1")) != ""
    with ground.server.wire(secret) as wire:
        _version(wire)
        assert code(wire.control("node_lease_refresh", {"node_id": ground.other, "node_secret": secret})) == ""
        for op in ("node_lease_refresh", "node_service_upsert", "node_delete"):
            for shown in (secret, "wrong"):
                payload = {"node_id": ground.mine, "node_secret": shown}
                assert code(wire.control(op, payload)) in ("node_auth_failed", "forbidden"), op
        for op in ("node_list", "project_list", "project_create", "node_invite_create", "session_attach", "audit_tail"):
            asked = {"name": "x", "session_key": "main", "agent_id": "alice", "project_id": ground.open}
            assert code(wire.control(op, asked)) == "forbidden", op


# --- paths


def a_walk_leaves_the_tree(ground: Ground) -> None:
    with ground.user() as wire:
        for up in (["..", ".."], ["agents", "..", "..", ".."], ["."] * 50 + [".."] * 50):
            found = wire.acheron("t_walk", fid=1, newfid=9, path=up)
            assert code(found) in ("", "enoent")
            if found["ok"]:
                assert found["payload"]["qid"] == {"path": 1, "type": "dir"}
        for names in (
            ["..", "..", "etc", "passwd"],
            ["nodes/../../etc/passwd"],
            ["../../../etc/passwd"],
            ["agents\\..\\.."],
            ["%2e%2e", "etc"],
            ["agents\x00", "self"],
            ["agents", "self\x00/../bob"],
            ["auth_tokens.json"],
            [".paos"],
            ["agents", "self", "..", "..", "auth_tokens.json"],
            [""],
            ["x" * 100_000],
            ["x"] * 10_000,
        ):
            assert code(wire.acheron("t_walk", fid=1, newfid=9, path=names)) in ("enoent", "invalid"), names[:3]


def a_peers_room_is_read(ground: Ground) -> None:
    with ground.user() as wire:
        for file in ("journal.jsonl", "memory.md", "tasks.json", "agent_policy.json", "memory", "jobs", "chat"):
            for path in (f"/agents/bob/{file}", f"/agents/self/../bob/{file}"):
                assert wire.code(path) == "enoent", path


def a_manifest_places_things_outside_its_node(ground: Ground) -> None:
    before = ground.admin.names("/")
    good = ground.admin.done("node_service_get", {"node_id": ground.other})["services"]
    hostile: list[Json] = [
        {**TOOL, "service_id": "../../../agents/self"},
        {**TOOL, "service_id": "a/b"},
        {**TOOL, "service_id": ".."},
        {**TOOL, "service_id": "nul\x00"},
        {**TOOL, "service_id": "line\nfeed"},
        {**TOOL, "service_id": ""},
        {**TOOL, "service_id": "x" * 129},
        {**TOOL, "endpoints": ["relative/../.."]},
        {**TOOL, "endpoints": []},
        {**TOOL, "mounts": [{"mount_id": "m", "mount_path": "../../etc"}]},
        {**TOOL, "ops": []},
        {**TOOL, "help_md": 5},
    ]
    secret = ground.secrets[ground.other]
    for service in hostile:
        asked = {"node_id": ground.other, "node_secret": secret, "services": [service]}
        assert code(ground.admin.control("node_service_upsert", asked)) in ("invalid_payload", "missing_field"), service
    assert ground.admin.done("node_service_get", {"node_id": ground.other})["services"] == good
    # These are well formed and mean no place of this node: they make none anywhere.
    odd = [
        f"/nodes/{ground.other}/../../agents/x",
        f"/nodes/{ground.mine}/taken",
        "/etc/passwd",
        f"/nodes/{ground.other}/..",
        f"/nodes/{ground.other}/services",
        f"/nodes/{ground.other}/NODE.json",
        f"/nodes/{ground.other}/a\tb",
    ]
    for at, endpoint in enumerate(odd):
        service = {**TOOL, "service_id": f"odd-{at}", "endpoints": [endpoint]}
        service["mounts"] = [{"mount_id": "m", "mount_path": endpoint}]
        asked = {"node_id": ground.other, "node_secret": secret, "services": [service]}
        ground.admin.control("node_service_upsert", asked)
        assert ground.admin.names("/") == before
        assert "taken" not in ground.admin.names(f"/nodes/{ground.mine}")
        names = ground.admin.names(f"/nodes/{ground.other}")
        assert len(names) == len(set(names)) and not {"..", "."} & set(names)
        assert ground.admin.json(f"/nodes/{ground.other}/NODE.json")["node"]["node_id"] == ground.other
    ground.upsert(ground.other, good)


def what_is_read_only_is_written(ground: Ground) -> None:
    with ground.user() as wire:
        for path in (
            "/README.md",
            "/meta/protocol.json",
            "/agents/self/services/SERVICES.json",
            "/agents/self/memory/status.json",
            "/agents/self/memory/result.json",
            "/agents/self/events/next.json",
            f"/projects/{ground.open}/agents/self",
            f"/projects/{ground.open}/meta/mounts.json",
            f"/nodes/{ground.mine}/STATUS.json",
        ):
            assert wire.code(path, "x") == "eperm", path
            assert code(wire.acheron("t_open", fid=7, mode="rw")) == "eperm", path
        assert wire.code("/agents/self", "x") == "eisdir"


def a_name_is_a_way_out_of_the_home(ground: Ground) -> None:
    with _version(ground.server.wire()) as wire:
        for name in ("../evil", "a/b", "..", ".", "", "a\x00b", "x" * 65, "a b", "-" * 70):
            found = code(wire.control("agent_ensure", {"agent_id": name}))
            assert found in ("invalid_payload", "missing_field", "storage_error"), name
            assert ground.attach(wire, agent_id=name, project_id=ground.open) in ("invalid_payload", "missing_field"), (
                name
            )
            assert ground.attach(wire, agent_id="alice", project_id=name or "/") != "", name
    home = ground.server.home
    assert not (home / "evil").exists() and not (home.parent / "evil").exists()
    assert sorted(path.name for path in home.parent.iterdir()) == ["home"]


# --- pairing


def an_invite_is_used_again_late_or_guessed(ground: Ground) -> None:
    used = ground.admin.done("node_invite_create")["invite_token"]
    joined = ground.admin.done("node_join", {"invite_token": used})
    ground.admin.done("node_delete", {"node_id": joined["node_id"], "node_secret": joined["node_secret"]})
    late = ground.admin.done("node_invite_create", {"expires_in_ms": 1})["invite_token"]
    with ground.user() as wire:
        for token, refused in (
            (used, "invite_redeemed"),
            (late, "invite_expired"),
            ("inv-" + "0" * 32, "invite_not_found"),
        ):
            assert code(wire.control("node_join", {"invite_token": token})) == refused
            assert code(ground.admin.control("node_join", {"invite_token": token})) == refused
    # As a Bearer neither opens the door.
    for token in (used, late):
        stranger = ground.server.wire(token)
        assert stranger.hear()["code"] == "provider_auth_failed"
        stranger.close()


def a_request_to_join_approves_itself_or_is_collected_twice(ground: Ground) -> None:
    with ground.user() as wire, ground.user("bob") as stranger:
        asked = wire.done("node_join_request", {"node_name": "sneaky"})["request_id"]
        first = wire.control("node_join_approve", {"request_id": asked})
        assert code(first) == "forbidden" and "waiting" in first["error"]["message"]
        assert code(wire.control("node_join_deny", {"request_id": asked})) == "forbidden"
        # Guessing the others' is no way in.
        for guess in ("pending-join-1", "pending-join-2", "pending-join-" + "0" * 16):
            assert code(stranger.control("node_join_approve", {"request_id": guess})) == "pending_join_not_found"
        ground.admin.done("node_join_approve", {"request_id": asked})
        joined = wire.done("node_join_approve", {"request_id": asked})
        assert joined["node_secret"].startswith("secret-")
        assert code(wire.control("node_join_approve", {"request_id": asked})) == "pending_join_not_found"
        assert code(stranger.control("node_join_approve", {"request_id": asked})) == "pending_join_not_found"
    ground.admin.done("node_delete", {"node_id": joined["node_id"], "node_secret": joined["node_secret"]})


def the_files_of_pairing_and_the_audit_are_searched_for_secrets(ground: Ground) -> None:
    with ground.user() as wire:
        asked = wire.done("node_join_request", {"node_name": "watched"})["request_id"]
    ground.admin.write("/debug/pairing/control/approve.json", {"request_id": asked})
    result = ground.admin.json("/debug/pairing/last_result.json")
    assert (result["ok"], result["action"]) == (True, "approve")
    assert result["response"]["node_secret"] is None and result["response"]["lease_token"] is None
    tail = json.dumps(ground.admin.done("audit_tail", {"limit": 500}))
    log = (ground.server.home / "serve.log").read_text()
    for text in (tail, log, json.dumps(ground.admin.pushed)):
        for secret in (*ground.secrets.values(), ground.token, ground.server.admin, ground.server.user):
            assert secret not in text
    for path in Path(ground.server.home).rglob("*"):
        if path.is_file() and any(secret in path.read_bytes() for secret in _bytes(ground)):
            assert path.stat().st_mode & 0o077 == 0, f"{path} holds a secret and others may read it"


def _bytes(ground: Ground) -> list[bytes]:
    return [text.encode() for text in (*ground.secrets.values(), ground.server.admin, ground.server.user)]


def a_hidden_agent_is_told_from_one_that_is_not_there(ground: Ground) -> None:
    with ground.user() as wire:
        assert [row["id"] for row in wire.done("agent_list")["agents"]] == ["alice"]
        assert wire.done("agent_get", {"agent_id": "alice"})["agent"]["id"] == "alice"
        said = [wire.control("agent_get", {"agent_id": name})["error"] for name in ("bob", "mother", "nobody")]
        assert {(error["code"], error["message"]) for error in said} == {("agent_not_found", "AgentNotFound")}
    listed = {row["id"] for row in ground.admin.done("agent_list")["agents"]}
    assert {"mother", "alice", "bob"} <= listed


def a_hidden_project_is_told_from_one_that_is_not_there(ground: Ground) -> None:
    hidden = ground.project("hidden", {"actions": {"read": "deny"}})
    with ground.user() as wire:
        for op, more in (
            ("project_get", {}),
            ("project_update", {"name": "x"}),
            ("project_mount_list", {}),
            ("project_activate", {}),
            ("workspace_status", {}),
            ("session_attach", {"session_key": "k", "agent_id": "alice"}),
        ):
            said = []
            for id in (hidden, "proj-404"):
                error = wire.control(op, {**more, "project_id": id})["error"]
                said.append((error["code"], error["message"]))
            assert said[0] == said[1] == ("project_not_found", "ProjectNotFound"), op


def a_token_of_one_agent_is_used_for_another(ground: Ground) -> None:
    _, token = TokenStore.open(ground.server.home).add("alice")
    with ground.server.wire(token).greet("alice", ground.open) as wire:
        for name in ("bob", "mother", "new"):
            for op in ("session_attach", "agent_ensure"):
                payload = {"session_key": "k", "agent_id": name, "project_id": ground.open}
                assert code(wire.control(op, payload)) == "forbidden", (op, name)
        assert wire.done("session_list")["sessions"][0]["agent_id"] == "alice"
        assert wire.code("/agents/bob/memory/notes.json") == "enoent"
        for path in (ground.server.home / "auth_tokens.json", ground.server.home / "serve.log"):
            assert token.encode() not in path.read_bytes()


ATTACKS: tuple[Callable[[Ground], None], ...] = (
    a_hidden_service_is_asked_for_by_name,
    a_hidden_service_is_looked_for_in_every_index,
    a_node_of_nobodys_project_is_reached_for,
    another_project_is_reached_for,
    a_policy_that_shows_debug_is_given_to_a_user,
    a_denied_agent_invokes_all_the_same,
    the_secret_of_a_mount_is_looked_for,
    a_service_that_wants_a_token_is_used_without_a_valid_one,
    no_token_or_nearly_the_right_one,
    a_user_becomes_mother_or_joins_system,
    a_user_says_the_words_of_an_admin,
    a_locked_project_is_entered_without_its_token,
    the_token_of_another_project_is_shown,
    a_revoked_token_goes_on_being_used,
    a_rotated_role_token_goes_on_being_used,
    a_node_reaches_beyond_itself,
    a_walk_leaves_the_tree,
    a_peers_room_is_read,
    a_manifest_places_things_outside_its_node,
    what_is_read_only_is_written,
    a_name_is_a_way_out_of_the_home,
    an_invite_is_used_again_late_or_guessed,
    a_request_to_join_approves_itself_or_is_collected_twice,
    the_files_of_pairing_and_the_audit_are_searched_for_secrets,
    a_hidden_agent_is_told_from_one_that_is_not_there,
    a_hidden_project_is_told_from_one_that_is_not_there,
    a_token_of_one_agent_is_used_for_another,
)


@pytest.mark.parametrize(
    "attack",
    ATTACKS,
    ids=lambda attack: attack.__name__,
)
def test_refused(attack: Callable[[Ground], None], ground: Ground) -> None:
    attack(ground)
    assert ground.server.alive() and ground.admin.done("ping") == {}


def test_there_are_twenty_seven() -> None:
    assert len(set(ATTACKS)) == 27
