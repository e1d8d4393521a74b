"""The tree of an admin attached as carol, path by path beside the recorded one: every path and every shape is there.

Prose apart: of a README.md only its first line's form counts. A path that only ours has needs a decision as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .compared import ABSENT, Difference, Names, compare
from .recorded import PLACE, say_control
from .stand import Json, Served, Wire, served
from .test_replay import Reason, joined_first, replay

POLICY: Json = {
    "show_debug": True,
    "nodes": [
        {
            "id": "local",
            "resources": {"fs": True, "camera": True, "screen": True, "user": True},
            "terminals": ["1", "2"],
        },
        {"id": "ghost", "resources": {"fs": True}},
    ],
    "visible_agents": ["alice", "bob"],
    "project_links": [
        {"node_id": "ghost", "resource": "fs"},
        {"name": "cam", "node_id": "local", "resource": "camera"},
    ],
}

OTHER = (
    Reason("§4.1", "one sample line, in our own words", ".*/chat/examples/send.txt", "content"),
    Reason("§3.3", "reconcile has run by now, or has not", ".*", r"content(\.health)?\.reconcile_state", always=False),
    Reason("D5", "the gated user's request to join was taken", "/debug/pairing/pending.json", r"content\.pending\[.*"),
    Reason("D19", "workspace_root is a path of the tree", ".*/workspace_status.json", r"content\.workspace_root"),
    Reason("D25", "links to a node's files say the export", ".*/meta/contracts.json", r"content\.links\.fs"),
)
MORE = (
    Reason("D21", "README.md everywhere", ".*/README.md", "path"),
    Reason("D21", "SCHEMA and CAPS at the root and at self", "(/agents/self)?/(SCHEMA|CAPS).json", "path"),
    Reason("D22", "MOUNTS.json of memory and web_search", "/agents/self/(memory|web_search)/MOUNTS.json", "path"),
    Reason("D24", "invoke paths of nodes are there", "/nodes/node-2/(secure|tool/main)/.*", "path"),
    Reason("003", "an agent's room has an inbox", "/agents/[a-z]+/inbox/", "path"),
    Reason("past", "2026-11-23-history: the past is in the tree", "/(at|versions)/", "path"),
)


@pytest.fixture
def names() -> Names:
    return Names()


@pytest.fixture
def tree(tmp_path: Path, names: Names) -> Iterator[Served]:
    """The state that the recorded control operations leave behind, and carol's policy."""
    home = tmp_path / "home"
    (home / "agents/carol").mkdir(parents=True)
    (home / "agents/carol/agent_policy.json").write_text(json.dumps(POLICY))
    with served(home) as server:
        with server.wire() as admin, server.wire(server.user) as user:
            joined_first(admin)
            wires = {"admin": admin, "user-gated": user, "user": user}
            replay("control.jsonl", names, lambda said: say_control(wires[said.label], said, names))
        yield server


def test_every_recorded_path_is_there_with_its_shape(tree: Served, names: Names) -> None:
    recorded: dict[str, Any] = json.loads((PLACE / "tree_admin_carol.json").read_text())
    found: list[tuple[str, Difference]] = []
    with tree.wire() as wire:
        wire.greet(agent="carol", project="proj-2")
        ours = dict(_walk(wire, "/"))
        for path, theirs in recorded.items():
            if path not in ours:
                found.append((path, Difference("path", theirs, ABSENT)))
                continue
            stat, content = theirs if isinstance(theirs, list) else (theirs, None)
            mine = ours[path]
            shape = {key: stat[key] for key in ("kind", "mode", "name", "writable")}
            found += [(path, one) for one in compare(shape, mine, names)]
            if content is None:
                continue
            text = wire.read(path).decode()
            if path.endswith("next.json") or path.endswith("README.md"):
                # A service's own help stands there verbatim (section 4.2).
                assert not path.endswith("README.md") or re.match(r"# \S.*\n", text) or text == "FS export", path
                continue
            # The size is the true one, else a reader through a mount is cut off.
            assert _true_size(wire, path), path
            found += [(path, one) for one in compare(content, text, names, "content")]
    _explained(found, OTHER)
    _explained([(path, Difference("path", ABSENT, ours[path])) for path in ours if path not in recorded], MORE)
    ids = [stat["id"] for stat in ours.values()]
    assert len(set(ids)) == len(ids) and all(0 < id < 2**53 for id in ids) and ours["/"]["id"] == 1


def _true_size(wire: Wire, path: str) -> bool:
    """A file of the moment may change between the two looks, not every time."""
    return any(wire.stat(path)["size"] == len(wire.read(path)) for _ in range(5))


def _walk(wire: Wire, path: str) -> Iterator[tuple[str, Json]]:
    """Paths as recorded: a directory ends in a slash."""
    stat = wire.stat(path)
    if stat["kind"] != "dir":
        yield path, stat
        return
    yield path.rstrip("/") + "/", stat
    text = wire.read(path).decode()
    listed = text.split("\n") if text else []
    assert listed == sorted(listed, key=str.encode), path
    for name in listed:
        yield from _walk(wire, f"{path.rstrip('/')}/{name}")


def _explained(found: list[tuple[str, Difference]], reasons: tuple[Reason, ...]) -> None:
    unexplained, used = [], set()
    for path, difference in found:
        reason = next(
            (row for row in reasons if re.fullmatch(row.asked, path) and re.fullmatch(row.where, difference.where)),
            None,
        )
        if reason is None:
            unexplained.append(f"{path} {difference}")
        else:
            used.add(reason)
            print(f"{reason.row:5} {reason.why}: {path} {difference}")
    assert not unexplained, "not explained by the reference page:\n" + "\n".join(unexplained)
    stale = [reason for reason in reasons if reason.always and reason not in used]
    assert not stale, f"these explain nothing any more: {stale}"
