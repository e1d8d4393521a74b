"""Frames and control payloads that nobody meant: each is answered with a known code, and the server stays up.

A slice runs with the tests; `make proof` runs the long one. A failure prints the seed: PAOS_FUZZ_SEED says it again.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest

from worldfs.formats.wire.error_codes import CODES

from .stand import Json, Served, served
from .test_attacks import code

OPS = [
    "version",
    "connect",
    "ping",
    "metrics",
    "auth_status",
    "audit_tail",
    "agent_list",
    "agent_get",
    "agent_ensure",
    "node_invite_create",
    "node_join",
    "node_join_request",
    "node_join_pending_list",
    "node_join_approve",
    "node_join_deny",
    "node_lease_refresh",
    "node_list",
    "node_get",
    "get_node",
    "node_delete",
    "node_service_upsert",
    "node_service_get",
    "node_service_watch",
    "node_service_unwatch",
    "project_create",
    "project_update",
    "project_get",
    "project_list",
    "project_delete",
    "project_mount_set",
    "project_mount_remove",
    "project_mount_list",
    "project_token_rotate",
    "project_token_revoke",
    "project_activate",
    "project_up",
    "workspace_status",
    "reconcile_status",
    "session_attach",
    "session_status",
    "session_resume",
    "session_list",
    "session_close",
    "session_restore",
    "session_history",
    "debug_subscribe",
    "debug_unsubscribe",
]

CONTROL_CODES = {
    "invalid_envelope",
    "protocol_mismatch",
    "unsupported",
    "forbidden",
    "correlation_required",
    "invalid_payload",
    "missing_field",
    "operator_auth_failed",
    "invite_not_found",
    "invite_expired",
    "invite_redeemed",
    "node_not_found",
    "node_auth_failed",
    "agent_not_found",
    "pending_join_not_found",
    "project_not_found",
    "project_auth_failed",
    "project_protected",
    "project_assignment_forbidden",
    "project_policy_forbidden",
    "mount_conflict",
    "mount_not_found",
    "session_busy",
    "session_not_found",
    "not_found",
    "storage_error",
    "control_plane_error",
    "provisioning_required",
    "last_target_invalid",
}
TREE_CODES = {row.word for row in CODES} | {"session_not_found", "queue_saturated", "provisioning_required"}

KEYS = [
    "protocol",
    "agent_id",
    "node_id",
    "node_secret",
    "invite_token",
    "request_id",
    "project_id",
    "project_token",
    "session_key",
    "node_name",
    "fs_url",
    "lease_ttl_ms",
    "expires_in_ms",
    "limit",
    "replay_limit",
    "platform",
    "labels",
    "services",
    "name",
    "vision",
    "status",
    "access_policy",
    "mount_path",
    "export_name",
    "desired_mounts",
    "activate",
    "role",
    "operator_token",
    "heartbeat",
]

FILES = (
    "/agents/self/chat/control/input",
    "/agents/self/events/control/wait.json",
    *(f"/agents/self/memory/control/{op}.json" for op in ("create", "load", "versions", "mutate", "evict", "search")),
    "/agents/self/memory/control/invoke.json",
    "/agents/self/web_search/control/search.json",
    "/agents/self/services/contracts/memory/control/invoke.json",
    "/debug/pairing/control/approve.json",
    "/debug/pairing/control/deny.json",
    "/debug/pairing/control/refresh",
    "/debug/pairing/invites/control/create.json",
    "/debug/pairing/invites/control/refresh",
)
FILE_KEYS = [
    "tool",
    "tool_name",
    "op",
    "arguments",
    "args",
    "kind",
    "name",
    "content",
    "mem_id",
    "version",
    "limit",
    "query",
    "paths",
    "timeout_ms",
    "since",
    "request_id",
    "lease_ttl_ms",
    "expires_in_ms",
    "include_redeemed",
    "include_expired",
    "write_protected",
    "unevictable",
]


class Noise:
    """Values of every kind, ever so often one that means something."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)

    def text(self) -> str:
        pick = self.random.choice
        return str(
            pick(
                (
                    "", "x", "alice", "mother", "system", "node-1", "proj-1", "main", "memory_search", "memory_create",
                    "../..", "/", "/nodes/node-1/fs", "a/b", "\x00", "\n", "é世界", "\ud800", "x" * 200, "x" * 5000,
                    "<EOT>alice:primary:n:1<EOT>", "<EOT><EOT>", "inv-" + "0" * 32, "/agents/self/chat/control/input",
                    "-1", "1e9", "null", "{}", "%s%n", "' OR 1=1 --", "$(id)", "latest",
                )
            )
        )  # fmt: skip

    def value(self, depth: int = 0) -> Any:
        kind = self.random.randrange(9 if depth < 3 else 7)
        match kind:
            case 0:
                return self.random.choice((None, True, False))
            case 1:
                return self.random.choice((0, 1, -1, 7, 2**31, 2**53, 2**63, -(2**63), 2**64, 10**30))
            case 2:
                return self.random.choice((0.5, -0.0, 1e300, 1e-300, 3.0))
            case 3 | 4 | 5 | 6:
                return self.text()
            case 7:
                return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
            case _:
                return self.object(KEYS, depth + 1)

    def object(self, keys: tuple[str, ...] | list[str], depth: int = 0) -> Json:
        names = [self.random.choice((*keys, self.text())) for _ in range(self.random.randrange(6))]
        return {name: self.value(depth) for name in names}

    def service(self) -> Json:
        keys = "service_id kind version state endpoints capabilities mounts ops runtime permissions schema help_md"
        good: Json = {"service_id": "s", "kind": "s", "state": "online", "endpoints": ["/nodes/node-1/s"]}
        return {**good, **{key: self.value() for key in self.random.sample(keys.split(), 3)}}

    def bytes(self) -> bytes:
        """A payload of a Control: an object, nearly one, or anything."""
        if self.random.random() < 0.7:
            whole = json.dumps(self.object(FILE_KEYS)).encode("utf-8", "replace")
        else:
            whole = self.random.randbytes(self.random.randrange(64))
        if whole and self.random.random() < 0.2:
            at = self.random.randrange(len(whole))
            whole = whole[:at] + self.random.randbytes(1) + whole[at + self.random.randrange(3) :]
        return whole


def seeds(count: int) -> list[int]:
    given = os.environ.get("PAOS_FUZZ_SEED")
    return [int(given)] if given else list(range(count))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("fuzz") / "home") as found:
        with found.wire() as admin:
            admin.done("version", {"protocol": "unified-v2"})
            admin.done("project_create", {"name": "Demo"})
            invite = admin.done("node_invite_create")["invite_token"]
            admin.done("node_join", {"invite_token": invite, "node_name": "n"})
        yield found


def _controls(server: Served, seed: int, rounds: int) -> None:
    noise = Noise(seed)
    node_secret = _secret(server, noise)
    with server.wire() as wire:
        wire.done("version", {"protocol": "unified-v2"})
        for _ in range(rounds):
            op = noise.random.choice([name for name in OPS if name != "version"])
            payload = noise.object(KEYS)
            if op == "node_service_upsert" and noise.random.random() < 0.7:
                payload |= {"node_id": "node-1", "node_secret": node_secret, "services": [noise.service()]}
            found = wire.control(op, payload)
            told = f"seed {seed}: {op} {payload!r}: {found!r}"
            assert found.get("ok") or code(found) in CONTROL_CODES or found["type"] == "debug.event", told
        assert wire.done("ping") == {}


def _secret(server: Served, noise: Noise) -> str:
    """A node of this run's own; its secret."""
    with server.wire() as admin:
        admin.done("version", {"protocol": "unified-v2"})
        invite = admin.done("node_invite_create")["invite_token"]
        return str(admin.done("node_join", {"invite_token": invite})["node_secret"])


def _payloads(server: Served, seed: int, rounds: int) -> None:
    noise = Noise(seed)
    with server.wire() as wire:
        wire.greet()
        for _ in range(rounds):
            path, data = noise.random.choice(FILES), noise.bytes()
            refused = wire.code(path, data, offset=noise.random.choice((0, 0, 0, 1, 2**40)))
            assert refused == "" or refused in TREE_CODES, f"seed {seed}: {path} {data!r}: {refused}"
        # Whatever it was, what can be read still is what it says it is.
        for file in (
            "/agents/self/memory/status.json",
            "/agents/self/memory/result.json",
            "/debug/pairing/pending.json",
        ):
            wire.json(file)
        assert wire.done("ping") == {}


def _frames(server: Served, seed: int, rounds: int) -> None:
    """Whole frames, with every field of any kind; whole bytes, flipped."""
    noise = Noise(seed)
    fields = [
        "tag",
        "fid",
        "newfid",
        "count",
        "msize",
        "oldtag",
        "offset",
        "wait_ms",
        "node",
        "h",
        "mode",
        "version",
        "path",
        "data",
        "data_b64",
        "session_key",
    ]
    ops = ["version", "attach", "walk", "open", "read", "write", "stat", "clunk", "flush", "fs_hello", "remove"]
    with server.wire() as wire:
        wire.greet()
        for at in range(rounds):
            frame: Json = {"channel": "acheron", "type": f"acheron.t_{noise.random.choice(ops)}"}
            for name in noise.random.sample(fields, noise.random.randrange(7)):
                frame[name] = noise.random.choice((1, 2, 7, noise.random.randrange(2**32), noise.value()))
            if frame["type"] == "acheron.t_version":
                frame["version"] = "acheron-1"
            frame["wait_ms"] = 0
            text = json.dumps(frame)
            if at % 5 == 0:
                cut = noise.random.randrange(len(text))
                text = text[:cut] + noise.random.choice('{}[]",:0\\x') + text[cut + 1 :]
            wire.say(text)
            found = wire.hear()
            told = f"seed {seed}: {text!r}: {found!r}"
            if code(found) == "protocol_mismatch":
                # A version that is none ends the connection, as it should, and only that one.
                assert "t_version" in text and wire.ended(), told
                break
            assert found.get("ok") or code(found) in TREE_CODES | {"invalid_envelope", "unsupported"}, told
        with server.wire() as other:
            assert other.greet().done("ping") == {}


@pytest.mark.slice(3)
@pytest.mark.parametrize("seed", seeds(3))
@pytest.mark.parametrize("kind", [_controls, _payloads, _frames], ids=lambda kind: kind.__name__.strip("_"))
def test_noise_is_answered(server: Served, kind: Any, seed: int) -> None:
    kind(server, seed, 150)
    assert server.alive()


@pytest.mark.proof
@pytest.mark.parametrize("seed", seeds(8))
@pytest.mark.parametrize("kind", [_controls, _payloads, _frames], ids=lambda kind: kind.__name__.strip("_"))
def test_long_noise_is_answered(server: Served, kind: Any, seed: int) -> None:
    kind(server, 1000 + seed, 1000)
    assert server.alive()
