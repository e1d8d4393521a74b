"""Laws: whatever is asked in whatever order, the plane keeps its invariants and is the same after it was opened again.

And whatever a payload holds, the answer is a reply or a refusal with a code of the protocol.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from tests.control.conftest import OPERATOR, Site, machine, user

from worldfs.access.binding import ADMIN, MOTHER, USER, Binding
from worldfs.control import OPS, ControlPlane, PlaneError
from worldfs.control.mount_selection import overlaps
from worldfs.control.plane_error import CODES
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.change_feed import ChangeFeed

PATHS = st.sampled_from(["/", "/src", "/src/sub", "docs/api/", "/docs"])
NAMES = st.sampled_from(["a", "b", "c"])


class Life(RuleBasedStateMachine):
    """Operators, nodes and users over a plane that is closed and opened again at any moment."""

    nodes = Bundle("nodes")
    invites = Bundle("invites")
    requests = Bundle("requests")
    projects = Bundle("projects")

    def __init__(self) -> None:
        super().__init__()
        self.place = tempfile.mkdtemp()
        self.site = Site(Path(self.place) / "plane")
        self.ids: set[str] = set()
        self.version = 0

    def teardown(self) -> None:
        self.site.plane.close()
        shutil.rmtree(self.place)

    def ask(self, op: str, caller: Any = OPERATOR, **payload: Any) -> dict[str, Any] | None:
        """The reply, or None for a refusal, which must have changed nothing."""
        before = self.site.plane.image()
        try:
            return self.site.call(op, caller, **payload)
        except PlaneError as error:
            assert error.code in CODES
            assert self.site.plane.image() == before
            return None

    def fresh(self, name: str) -> str:
        assert name not in self.ids
        self.ids.add(name)
        return name

    @rule(target=invites, lasts=st.integers(1, 5000))
    def invite(self, lasts: int) -> Any:
        return self.site.call("node_invite_create", expires_in_ms=lasts)["invite_token"]

    @rule(target=nodes, token=invites, lasts=st.integers(1, 5000))
    def join(self, token: str, lasts: int) -> Any:
        valid = self.site.plane.invite_valid(token)
        reply = self.ask("node_join", user(), invite_token=token, lease_ttl_ms=lasts)
        assert (reply is not None) == valid
        if reply is None:
            return multiple()
        self.fresh(reply["node_id"])
        return (reply["node_id"], reply["node_secret"])

    @rule(target=requests, name=NAMES)
    def request(self, name: str) -> Any:
        return self.fresh(self.site.call("node_join_request", user(), node_name=name)["request_id"])

    @rule(target=nodes, request=requests)
    def approve(self, request: str) -> Any:
        reply = self.ask("node_join_approve", request_id=request)
        return multiple() if reply is None else (self.fresh(reply["node_id"]), reply["node_secret"])

    @rule(request=consumes(requests))
    def collect_or_deny(self, request: str) -> None:
        if self.ask("node_join_approve", user(), request_id=request) is None:
            self.ask("node_join_deny", request_id=request)
        assert self.ask("node_join_approve", user(), request_id=request) is None

    @rule(node=nodes, lasts=st.integers(1, 5000))
    def refresh(self, node: tuple[str, str], lasts: int) -> None:
        known = self.site.plane.node(node[0]) is not None
        reply = self.ask("node_lease_refresh", user(), node_id=node[0], node_secret=node[1], lease_ttl_ms=lasts)
        assert (reply is not None) == known
        assert not known or self.site.plane.online(node[0]) == "online"

    @rule(node=nodes, names=st.lists(NAMES, unique=True), version=NAMES)
    def upsert(self, node: tuple[str, str], names: list[str], version: str) -> None:
        services = [
            {"service_id": name, "kind": "k", "state": "on", "endpoints": ["/x"], "version": version} for name in names
        ]
        before = self.site.plane.catalog(node[0])
        reply = self.ask("node_service_upsert", machine(node[0]), node_id=node[0], services=services)
        if reply is not None:
            kept = self.site.plane.catalog(node[0])
            assert kept is not None and [one["service_id"] for one in kept] == names
            delta = reply["service_delta"]
            was = {one["service_id"] for one in before or ()}
            assert was - {one["service_id"] for one in delta["removed"]} | {
                one["service_id"] for one in delta["added"]
            } == set(names)

    @rule(node=consumes(nodes))
    def delete_node(self, node: tuple[str, str]) -> None:
        self.ask("node_delete", user(), node_id=node[0], node_secret=node[1])
        assert self.site.plane.online(node[0]) == "missing"
        assert self.site.plane.catalog(node[0]) is None

    @rule(target=projects, name=NAMES)
    def create(self, name: str) -> Any:
        return self.fresh(self.site.project(name))

    @rule(project=projects, node=nodes, path=PATHS, activates=st.booleans())
    def mount(self, project: str, node: tuple[str, str], path: str, activates: bool) -> None:
        mount = {"node_id": node[0], "export_name": "w", "mount_path": path}
        if activates:
            self.ask("project_up", project_id=project, desired_mounts=[mount])
        else:
            self.ask("project_mount_set", project_id=project, **mount)

    @rule(project=projects, path=PATHS)
    def unmount(self, project: str, path: str) -> None:
        self.ask("project_mount_remove", project_id=project, mount_path=path)

    @rule(project=projects, locks=st.booleans())
    def lock(self, project: str, locks: bool) -> None:
        reply = self.ask("project_token_rotate" if locks else "project_token_revoke", project_id=project)
        if reply is not None:
            bound = Binding(USER, "alice", project, reply["project_token"] or "")
            assert self.site.plane.holds_token(bound) is locks
            assert self.site.plane.allows(Binding(USER, "alice", project), "read") is not locks

    @rule(project=consumes(projects))
    def delete_project(self, project: str) -> None:
        self.ask("project_delete", project_id=project)
        assert self.site.plane.project(project) is None
        assert not self.site.plane.allows(Binding(USER, "alice", project), "read")

    @rule(seconds=st.sampled_from([0.1, 1, 6, 90_000, 700_000]))
    def time(self, seconds: float) -> None:
        self.site.pass_by(seconds)

    @rule()
    def open_again(self) -> None:
        self.site.plane.tick()
        before, audit = self.site.plane.image(), self.site.call("audit_tail", limit=500)
        status = [self.site.plane.project(key) for key in self.site.plane.project_ids()]
        self.site.reopen()
        self.version = 0
        assert self.site.plane.image() == before
        assert self.site.call("audit_tail", limit=500) == audit
        assert [self.site.plane.project(key) for key in self.site.plane.project_ids()] == status

    @invariant()
    def everything_fits(self) -> None:
        plane = self.site.plane
        state = plane._state
        assert set(state.catalogs) <= set(state.nodes)
        assert {active.project_id for active in state.actives.values()} <= set(state.projects)
        for key, project in state.projects.items():
            assert len(set(project.mounts)) == len(project.mounts)
            paths = {mount.mount_path for mount in project.mounts}
            assert not any(overlaps(one, other) for one in paths for other in paths)
            for mount in project.mounts:
                assert key in state.mounted[mount.node_id]
            shown = plane.status(Binding(ADMIN, MOTHER, key))
            assert shown is not None
            counted = shown["availability"]
            assert (
                counted["mounts_total"] == len(shown["mounts"]) == len({one["mount_path"] for one in shown["mounts"]})
            )
            assert counted["mounts_total"] == counted["online"] + counted["degraded"] + counted["missing"]
            for mount in shown["desired_mounts"]:
                assert mount["state"] == plane.online(mount["node_id"])
        for node_id, held in state.mounted.items():
            for key in held:
                assert node_id in plane.members(key)
        for key, node in state.nodes.items():
            assert plane.node_of_secret(node.secret) == key
        secrets = len(state.nodes) + len(state.invites)
        assert len(state._by_secret) == secrets
        assert plane.version >= self.version
        self.version = plane.version


Life.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None, derandomize=True)
TestLife = Life.TestCase

KEYS = ["project_id", "project_token", "node_id", "node_secret", "invite_token", "request_id", "name", "vision",
        "status", "access_policy", "mount_path", "export_name", "services", "labels", "platform", "fs_url",
        "node_name", "lease_ttl_ms", "expires_in_ms", "limit", "agent_id", "replay_limit", "desired_mounts",
        "activate"]  # fmt: skip
WORDS = ["proj-1", "node-1", "system", "/src", "..", "a", "\0", "open", "ws://x"]
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.sampled_from(WORDS))
SOME_KEY = st.one_of(st.text(max_size=5), st.sampled_from([*KEYS, "actions", "agents"]))
JSON: Any = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(SOME_KEY, inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    op=st.sampled_from(sorted(OPS)),
    payload=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6),
    caller=st.sampled_from([OPERATOR, user("alice", "proj-1"), machine("node-1")]),
)
def test_any_payload_is_answered_or_refused_with_a_code(op: str, payload: dict[str, Any], caller: Any) -> None:
    place = tempfile.mkdtemp()
    try:
        site = Site(Path(place) / "plane")
        good = {**site.join(), "project_id": site.project(), "name": "x", "mount_path": "/src", "export_name": "w"}
        good["invite_token"] = site.call("node_invite_create")["invite_token"]
        good["request_id"] = site.call("node_join_request")["request_id"]
        payload = {**good, **payload}  # so that most of them get far
        before = site.plane.image()
        try:
            reply = site.plane.call(op, payload, caller)
            assert isinstance(reply, dict)
        except PlaneError as error:
            assert error.code in CODES - {"storage_error"}
            assert site.plane.image() == before
        kept = site.plane.image()
        site.plane.close()
        again = ControlPlane.open(site.root, ManualClock(), ChangeFeed())
        assert again.image() == kept
        again.close()
    finally:
        shutil.rmtree(place)
