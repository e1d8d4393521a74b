"""Nodes are let in by writing files."""

import json

import pytest
from tests.namespace.conftest import said

from worldfs.base.errors import BadInput


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
