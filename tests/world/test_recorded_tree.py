"""A walk of our tree beside a recorded walk of the reference server's, for the same state.

Every recorded path is here with the shape that it had, prose apart. What differs is what the reference page lists as a
decision; the test prints those differences (`pytest -s`), each with its row.
"""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import pytest

from worldfs.access.binding import ADMIN, Binding

RECORDED = Path(__file__).parents[1] / "fixtures" / "acheron" / "tree_admin_carol.json"
PROSE = ("*/README.md", "*/send.txt")
# Decision → paths (or "path#pointer" of a JSON document) in which we differ from the reference on purpose.
DECISIONS = {
    "D12 sorted": ["/agents/self/services/SERVICES.json"],
    "D19 workspace_root": ["*workspace_status.json#/workspace_root"],
    "D24 invoke paths are walkable": ["/nodes/node-2/tool/*", "/nodes/node-2/secure/*"],
    "D25 fs links name their export": ["*/contracts.json#/links/fs"],
    "D21 README, SCHEMA and CAPS where there were none": [
        "/README.md",
        "/SCHEMA.json",
        "/CAPS.json",
        "/agents/self/README.md",
        "/agents/self/SCHEMA.json",
        "/agents/self/CAPS.json",
        "/agents/self/chat/control/README.md",
        "/agents/self/chat/examples/README.md",
        "/nodes/*/README.md",
    ],
    "D22 MOUNTS.json of memory and web_search": [
        "/agents/self/memory/MOUNTS.json",
        "/agents/self/web_search/MOUNTS.json",
    ],
    "the reconciler's own times and phase": ["*#/*reconcile_state", "*#/last_*_ms", "*#/at_ms"],
    "an agent's inbox, where anybody may leave a letter (agent state)": ["/agents/*/inbox", "/agents/*/inbox/*"],
    "extra keys are allowed (1.3)": ["/meta/SCHEMA.json#/files"],
    "2026-11-23-history: the past is in the tree": ["/at", "/at/README.md", "/versions", "/versions/README.md"],
}


def explained(where: str) -> str | None:
    return next((why for why, rows in DECISIONS.items() if any(fnmatch.fnmatchcase(where, row) for row in rows)), None)


def walk(tree, path="/"):
    """Path (directories end in "/") → (stat, bytes)."""
    stat = tree.stat(path)
    if not stat.directory:
        yield path, stat, tree.read(path).data
        return
    yield path.rstrip("/") + "/", stat, b""
    for name in tree.list(path):
        yield from walk(tree, path.rstrip("/") + "/" + name)


def pointers(recorded, ours, at=""):
    """Where ours says something else; keys that only we have count when asked for."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        for key in recorded.keys() | ours.keys():
            if key not in ours or key not in recorded:
                yield f"{at}/{key}"
            else:
                yield from pointers(recorded[key], ours[key], f"{at}/{key}")
    elif isinstance(recorded, list) and isinstance(ours, list) and len(recorded) == len(ours):
        for index, (one, other) in enumerate(zip(recorded, ours, strict=True)):
            yield from pointers(one, other, f"{at}/{index}")
    elif type(recorded) is not type(ours) or recorded != ours:
        yield at or "/"


def steady(value):
    """Without times and what is drawn by lot."""
    if isinstance(value, dict):
        return {
            key: "…" if key.endswith("_ms") or key in ("request_id", "fs_url") else steady(item)
            for key, item in value.items()
        }
    return [steady(item) for item in value] if isinstance(value, list) else value


@pytest.fixture
def recorded():
    return json.loads(RECORDED.read_text("utf-8"))


@pytest.fixture
def carol(served, recorded):
    """The state in which the reference was walked."""
    for agent in ("alice", "bob", "carol"):
        served.realm.ensure_agent(agent)
    policy = {
        "show_debug": True,
        "nodes": [
            {
                "id": "local",
                "resources": {"fs": True, "camera": True, "screen": True, "user": True},
                "terminals": ["1", "2"],
            },
            {"id": "ghost"},
        ],
        "visible_agents": ["alice", "bob"],
        "project_links": [{"node_id": "ghost"}, {"name": "cam", "node_id": "local", "resource": "camera"}],
    }
    (served.home / "agents/carol/agent_policy.json").write_text(json.dumps(policy))
    served.join("spiderweb-local")
    edge = served.join("edge-1")
    served.upsert(
        edge,
        [given(recorded, line) for line in said(recorded, "/nodes/node-2/services/SERVICES.json")],
        platform=said(recorded, "/nodes/node-2/NODE.json")["node"]["platform"],
    )
    west = served.join("desktop-west")
    served.upsert(west, None, platform=said(recorded, "/nodes/node-3/NODE.json")["node"]["platform"])
    served.control("node_join_request", node_name="u1")
    projects = [served.project("one"), served.project("two")]
    assert projects == ["proj-1", "proj-2"]
    return served.realm.namespace(Binding(ADMIN, "carol", "proj-2"))


def said(recorded, path):
    return json.loads(recorded[path][1])


def given(recorded, line):
    """S of a recorded service."""
    at = f"/nodes/node-2/services/{line['service_id']}"
    names = {"capabilities": "CAPS", "mounts": "MOUNTS", "ops": "OPS", "runtime": "RUNTIME", "schema": "SCHEMA"}
    parts = {key: said(recorded, f"{at}/{name}.json") for key, name in names.items()}
    permissions = said(recorded, f"{at}/PERMISSIONS.json")
    endpoint = {"endpoints": [line["endpoint"]], "permissions": permissions}
    return {"service_id": line["service_id"], "kind": line["kind"], "state": line["state"], **endpoint, **parts}


def compared(recorded, ours):
    """(what, where) of every difference."""
    for path in recorded:
        if path not in ours:
            yield "missing", path
    for path, (stat, data) in ours.items():
        if path not in recorded:
            yield "added", path.rstrip("/")
            continue
        if stat.directory:
            continue
        theirs, text = recorded[path]
        if theirs["writable"] != stat.writable:
            yield "writable", path
        if text is None or any(fnmatch.fnmatchcase(path, row) for row in PROSE):
            continue
        if not path.endswith(".json"):
            if data.decode() != text:
                yield "text", path
            continue
        if not text or not data:
            if data.decode() != text:
                yield "text", path
            continue
        one, other = steady(json.loads(text)), steady(json.loads(data))
        if path.endswith("self/services/SERVICES.json"):
            order = ("scope", "node_id", "service_id")
            one, other = (sorted(lines, key=lambda line: [line[k] for k in order]) for lines in (one, other))
        for pointer in pointers(one, other):
            yield "value", f"{path}#{pointer}"


def test_every_recorded_path_and_shape_is_here_and_only_decisions_differ(recorded, carol):
    ours = {path: (stat, data) for path, stat, data in walk(carol)}
    found = sorted(compared(recorded, ours))
    for what, where in found:
        print(f"{what:9} {where}: {explained(where) or 'UNEXPLAINED'}")
    assert [(what, where) for what, where in found if what in ("missing", "writable", "text")] == []
    assert [(what, where) for what, where in found if explained(where) is None] == []


def test_what_a_stat_says_is_what_a_read_gives(carol):
    for path, stat, data in walk(carol):
        assert stat.directory or stat.size == len(data), path


def test_ids_are_stable_and_those_of_one_walk_are_all_different(carol):
    first = {path: stat.id for path, stat, _ in walk(carol)}
    assert first == {path: stat.id for path, stat, _ in walk(carol)}
    assert first["/"] == 1
    assert len(set(first.values())) == len(first)
    assert max(first.values()) < 2**53
