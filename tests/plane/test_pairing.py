"""Invites, requests, approvals: who gets in, once."""

from __future__ import annotations

import re

import pytest
from tests.plane.conftest import OPERATOR, Site, machine, user

from worldfs.testing.cost import calls


def test_an_invite_works_once_and_for_any_role(site: Site) -> None:
    token = site.call("node_invite_create")["invite_token"]
    assert site.plane.invite_valid(token)
    joined = site.call("node_join", user(), invite_token=token)
    assert joined["node_name"] == joined["node_id"] == "node-1"
    assert re.fullmatch(r"secret-[0-9a-f]{32}", joined["node_secret"])
    assert site.refused("node_join", invite_token=token) == "invite_redeemed"
    assert not site.plane.invite_valid(token)


def test_an_invite_that_ran_out_is_expired_for_a_day_and_then_unknown(site: Site) -> None:
    token = site.call("node_invite_create", expires_in_ms=1000)["invite_token"]
    site.pass_by(1)
    assert site.refused("node_join", invite_token=token) == "invite_expired"
    assert site.plane.invites() == []
    assert [(one["redeemed"], one["expired"]) for one in site.plane.invites(expired=True)] == [(False, True)]
    site.pass_by(86_400)
    assert site.refused("node_join", invite_token=token) == "invite_not_found"
    assert site.plane.invites(True, True) == []


@pytest.mark.parametrize("value", [-1, 0, True, "1000", 1.5])
def test_a_time_that_is_none_is_refused(site: Site, value: object) -> None:
    assert site.refused("node_invite_create", expires_in_ms=value) == "invalid_payload"
    token = site.call("node_invite_create")["invite_token"]
    assert site.refused("node_join", invite_token=token, lease_ttl_ms=value) == "invalid_payload"
    assert site.plane.invite_valid(token)


def test_nothing_is_granted_for_longer_than_a_month(site: Site) -> None:
    invite = site.call("node_invite_create", expires_in_ms=2**60)
    assert invite["expires_at_ms"] - invite["created_at_ms"] == 30 * 86_400_000


def test_a_secret_of_another_kind_is_no_invite(site: Site) -> None:
    assert site.refused("node_join", invite_token=site.join()["node_secret"]) == "invite_not_found"


@pytest.mark.parametrize("name", ["bad name!", "..", ".", "a/b", "x" * 129, 7, "é"])
def test_a_name_that_is_none_joins_nobody_and_uses_up_nothing(site: Site, name: object) -> None:
    token = site.call("node_invite_create")["invite_token"]
    assert site.refused("node_join", invite_token=token, node_name=name) == "invalid_payload"
    assert site.plane.invite_valid(token)


@pytest.mark.parametrize(
    "url", ["http://x", "file:///etc/passwd", "ws://a b", "ws://x\r\nHost: y", 5, "ws://" + "x" * 3000]
)
def test_an_address_that_is_no_websocket_is_refused(site: Site, url: object) -> None:
    assert site.refused("node_join_request", fs_url=url) == "invalid_payload"


def test_who_asked_collects_the_approval_once(site: Site) -> None:
    asked = site.call("node_join_request", user(), node_name="edge")["request_id"]
    assert re.fullmatch(r"pending-join-[0-9a-f]{16}", asked)
    assert site.refused("node_join_approve", user(), request_id=asked) == "forbidden"
    given = site.call("node_join_approve", request_id=asked)
    assert site.plane.pending() == []
    assert site.refused("node_join_approve", request_id=asked) == "pending_join_not_found"
    site.reopen()
    assert site.call("node_join_approve", user(), request_id=asked) == given
    assert site.refused("node_join_approve", user(), request_id=asked) == "pending_join_not_found"


def test_what_was_denied_or_never_asked_is_not_found(site: Site) -> None:
    asked = site.call("node_join_request", user())["request_id"]
    assert site.call("node_join_deny", request_id=asked) == {"denied": True, "request_id": asked}
    for key in (asked, "pending-join-1"):
        assert site.refused("node_join_approve", user(), request_id=key) == "pending_join_not_found"
        assert site.refused("node_join_deny", request_id=key) == "pending_join_not_found"


def test_an_approval_whose_node_was_deleted_is_not_collected(site: Site) -> None:
    asked = site.call("node_join_request")["request_id"]
    node = site.call("node_join_approve", request_id=asked)
    site.call("node_delete", node_id=node["node_id"])
    assert site.refused("node_join_approve", user(), request_id=asked) == "pending_join_not_found"


def test_requests_pile_up_only_so_far(site: Site) -> None:
    memory = Site(None)
    for _ in range(1024):
        memory.call("node_join_request", user())
    assert memory.refused("node_join_request", user()) == "control_plane_error"
    memory.pass_by(7 * 86_400)
    assert memory.plane.pending() == []
    memory.call("node_join_request", user())


def test_polling_for_an_approval_leaves_no_trail(site: Site) -> None:
    asked = site.call("node_join_request", user())["request_id"]
    site.refused("node_join_approve", user(), request_id=asked)
    site.refused("node_join_deny", user(), request_id=asked)
    assert [line["error_code"] for line in site.call("audit_tail")["audit"]] == ["forbidden"]


def test_a_node_by_its_secret_may_do_four_things_to_itself_only(site: Site) -> None:
    one, other = site.join(), site.join()
    me = machine("node-1")
    assert site.plane.node_of_secret(one["node_secret"]) == "node-1"
    assert site.call("node_lease_refresh", me, node_id="node-1")["lease_token"] != one["lease_token"]
    assert site.call("node_service_get", me, node_id="node-1")["services"] == []
    site.call("node_service_upsert", me, node_id="node-1", services=[])
    for op in ("node_lease_refresh", "node_service_get", "node_service_upsert", "node_delete"):
        assert site.refused(op, me, node_id="node-2") == "node_auth_failed"
        assert site.refused(op, me, node_id="node-2", node_secret=one["node_secret"]) == "node_auth_failed"
        assert site.refused(op, me, node_id="node-9", node_secret=one["node_secret"]) == "node_auth_failed"
        assert site.refused(op, user(), node_id="node-2") == "forbidden"
    for op in ("node_list", "node_get", "project_list", "node_join_request", "workspace_status", "audit_tail"):
        assert site.refused(op, me, node_id="node-1") == "forbidden"
    assert site.call("node_delete", user(), node_id="node-2", node_secret=other["node_secret"])["deleted"]


def test_an_admin_may_delete_without_the_secret_but_not_with_a_wrong_one(site: Site) -> None:
    site.join()
    assert site.refused("node_delete", node_id="node-1", node_secret="secret-wrong") == "node_auth_failed"
    assert site.call("node_delete", OPERATOR, node_id="node-1") == {"deleted": True, "node_id": "node-1"}
    assert site.refused("node_delete", node_id="node-1") == "node_not_found"
    assert site.refused("node_lease_refresh", node_id="node-1") == "missing_field"


def test_ten_thousand_invites_stay_cheap(site: Site) -> None:
    def cost(count: int) -> int:
        memory = Site(None)
        tokens = [memory.call("node_invite_create", expires_in_ms=1000 + n)["invite_token"] for n in range(count)]

        def use() -> None:
            for token in tokens[:200]:
                memory.call("node_join", invite_token=token)
            memory.pass_by(0.5)
            for _ in range(200):
                memory.plane.invite_valid(tokens[-1])
                memory.plane.tick()

        spent = calls(use)
        assert len(memory.plane.invites()) == count - 200
        return spent

    few, many = cost(1_000), cost(10_000)
    assert many < 1.1 * few  # nothing here looks at all of them
