"""The recorded exchanges said again to our server: every difference is one that the reference page decided.

Each difference is printed with the row of the page (D1 … D49, or its section) that explains it. One that no row
explains fails, and so does a row that explains nothing any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .compared import Difference, Names, compare
from .recorded import PLACE, Exchange, exchanges, mended, say_control, say_namespace
from .stand import Served, Wire, served


class Reason(NamedTuple):
    """Why ours differs, at which exchanges (their names, as a pattern) and where in the answer (a pattern)."""

    row: str
    why: str
    asked: str
    where: str
    always: bool = True  # False: whether ours differs depends on the moment


CONTROL = (
    Reason("D5", "a user without a project may ping and ask to join", "ping|node_join_request", "type|ok|error"),
    Reason("D13", "valid JSON", "metrics", "INVALID_JSON"),
    Reason("D17", "the project system is not shown to users", "project_list", r"payload\.projects\[system\]"),
    Reason("D19", "workspace_root is a path of the tree", "workspace_status|project_.*", r".*\bworkspace_root"),
    Reason(
        "D48", "no built-in export", "workspace_status", r"payload\.((desired_|actual_)?mounts\[\d\]|availability\..*)"
    ),
    Reason("D48", "no built-in mounts", "project_list", r"payload\.projects\[system\]\.mount_count"),
    Reason("D48", "no built-in mounts", "reconcile_status", r"payload\.projects\[system\]\.\w*mounts"),
    Reason("D48", "the node in its place joined by an invite", "metrics", r"payload\.(invites|nodes|projects)\.\w+"),
    Reason("D48", "the node in its place joined by an invite", "audit_tail", r"payload\.audit\[0\]"),
    Reason(
        "§1.2", "the primary agent is configured: mother", "agent_list", r"payload\.agents\[0\]\.(id|name|description)"
    ),
)
NAMESPACE = (
    Reason(
        "D30", "an agent begins without built-in entries", ".*/memory/.*", r"result\.json\.results\[<EOT>.*core.*\]"
    ),
    Reason(
        "§1.3", "a client that waits for its tag is answered", "bogus type|bad b64|neg fid", r"channel|type|error\.code"
    ),
    Reason("§2", "the message says more", ".*", r"(write\.)?error\.message"),
    Reason("§6", "no brain is configured here, no key there", ".*", r"\[0\](\.(job\.)?(error|result|message))?|error"),
    Reason("D31", "the files of a job are read-only", "/agents/self/jobs/.*", r"\[1\]\.(mode|writable)"),
    Reason("D31", "the files of a job are read-only", "write job status.*", "type|ok|payload"),
    Reason("D12", "listings are sorted by bytes; D27: invokes are jobs too", "jobs dir", ""),
    Reason("D43", "a job that ended before the wait is told", "next.json", "waiting|timeout|waited_ms"),
    Reason("D12", "ids are of the path", "t_walk", r"payload\.qid\.path"),
    Reason("D12", "listings are sorted by bytes; D21: the trio at /", "t_read", r"payload\.(data_b64|n)"),
    Reason("D29", "web_search is real", ".*/web_search/.*", r"(status|result)\.json\.error(\.code|\.message)?"),
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "home") as found:
        yield found


def test_the_control_operations_answer_as_recorded(server: Served) -> None:
    names = Names()
    with server.wire() as admin, server.wire(server.user) as user:
        joined_first(admin)
        wires = {"admin": admin, "user-gated": user, "user": user}
        found = replay("control.jsonl", names, lambda said: say_control(wires[said.label], said, names))
    explained(found, CONTROL)


def test_the_namespace_answers_as_recorded(server: Served) -> None:
    names = Names()
    with server.wire() as admin:
        admin.done("version", {"protocol": "unified-v2"})
        admin.done("project_create", {"name": "Demo"})
    with server.wire(server.user) as wire:
        _greeted(wire)
        # One line of the record is an answer that was lost in recording.
        found = replay("namespace.jsonl", names, lambda said: say_namespace(wire, said, names), skip=(91,))
    explained(found, NAMESPACE)


def joined_first(admin: Wire) -> None:
    """Their server brings an export of its own as node-1 (D48): here a node joins in its place."""
    admin.done("version", {"protocol": "unified-v2"})
    invite = admin.done("node_invite_create")
    joining = {"invite_token": invite["invite_token"], "node_name": "spiderweb-local"}
    admin.done("node_join", {**joining, "fs_url": "ws://127.0.0.1:28790/v2/fs"})


def _greeted(wire: Wire) -> None:
    wire.greet(agent="alice", project="proj-1")


def replay(
    file: str, names: Names, say: Callable[[Exchange], Any], skip: tuple[int, ...] = ()
) -> list[tuple[Exchange, Difference]]:
    found: list[tuple[Exchange, Difference]] = []
    for exchange in exchanges(file):
        if exchange.at in skip:
            continue
        ours = say(exchange)
        if "INVALID_JSON" in (exchange.answered or {}):
            found.append((exchange, Difference("INVALID_JSON", exchange.answered["INVALID_JSON"], ours)))
        found += [(exchange, one) for one in compare(mended(exchange.answered), ours, names) if not _own(one)]
    return found


def _own(difference: Difference) -> bool:
    """Numbers of a run: what a tag counted to, how long a look took, the size of a file that holds our words."""
    return difference.where in ("tag", "id", "[1]", "[1].id", "[1].size")


def explained(found: list[tuple[Exchange, Difference]], reasons: tuple[Reason, ...]) -> None:
    used: set[Reason] = set()
    unexplained: list[str] = []
    for exchange, difference in found:
        reason = next((reason for reason in reasons if _fits(reason, exchange, difference)), None)
        line = f"{exchange.at:3} {exchange.label} {exchange.name}: {difference}"
        if reason is None:
            unexplained.append(line)
        else:
            used.add(reason)
            print(f"{reason.row:5} {reason.why}: {line}")
    assert not unexplained, "not explained by the reference page:\n" + "\n".join(unexplained)
    stale = [reason for reason in reasons if reason not in used]
    assert not stale, f"these explain nothing any more: {stale}"


def _fits(reason: Reason, exchange: Exchange, difference: Difference) -> bool:
    return bool(re.fullmatch(reason.asked, exchange.name) and re.fullmatch(reason.where, difference.where))


def test_every_recording_says_where_it_comes_from() -> None:
    said = (PLACE / "ATTRIBUTION.md").read_text()
    assert "MIT License" in said and "Permission is hereby granted" in said
    for file in PLACE.iterdir():
        assert file.name == "ATTRIBUTION.md" or f"`{file.name}`" in said, file.name
