"""The recorded control exchanges, said again to the plane: every difference is a decision of the reference page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, USER, Binding
from worldfs.control import OPS, Caller, ControlPlane, PlaneError
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.change_feed import ChangeFeed

RECORDED = Path(__file__).parents[1] / "fixtures/acheron/control.jsonl"
SECRET = re.compile(r"(inv|secret|lease|proj)-[0-9a-f]{32}|0x[0-9a-f]{16}")
REQUEST = re.compile(r"pending-join-[0-9a-f]{16}")

# Whose reply differs, and by which decisions: nothing else may, and each of these must.
DIFFERENT = {
    "admin c4": {"D13", "D48"},
    "admin c8": {"D48"},
    "admin c10": {"D19", "D48"},
    "admin c11": {"D48"},
    "admin c16": {"D48"},
    "admin c17": {"D48"},
    "admin c22": {"D15"},
    "admin c23": {"D15"},
    "admin c25": {"D15"},
    "admin c28": {"D15"},
    "admin c57": {"D48"},
    "admin c58": {"D19"},
    "admin c63": {"D19"},
    "admin c64": {"D19"},
    "admin c65": {"D48"},
    "admin c66": {"D19"},
    "user c12": {"D15"},
    "user c13": {"D19"},
    "user c14": {"D17"},
}


class Step(NamedTuple):
    name: str
    op: str
    payload: Any
    theirs: Any  # the payload, or {"error": …}
    label: str


def steps() -> Iterator[Step]:
    """The exchanges that the plane answers; those of the connection are the door's."""
    for line in RECORDED.read_text().splitlines():
        row = json.loads(line)
        request, reply = row["req"], row["res"]
        if row["label"] == "user-gated" or not isinstance(request, dict) or request.get("control") not in OPS:
            continue
        if "INVALID_JSON" in reply:
            theirs = {"D13": json.loads(reply["INVALID_JSON"] + "}")["payload"]}
        else:
            theirs = reply["payload"] if reply["ok"] else {"error": reply["error"]}
        yield Step(f"{row['label']} {reply['id']}", request["control"], request["payload"], theirs, row["label"])


class Replay:
    """Our plane, and what the recording calls the things that ours calls otherwise."""

    def __init__(self) -> None:
        self.plane = ControlPlane.open(None, ManualClock(), ChangeFeed())
        self.ours: dict[str, str] = {}
        operator = Caller(Binding(ADMIN, MOTHER, SYSTEM), "c0")
        # The reference makes a node of itself (D48: ours does not); one that joins by hand stands in for it.
        invite = self.plane.call("node_invite_create", {}, operator)["invite_token"]
        url = "ws://127.0.0.1:28790/v2/fs"
        join = {"invite_token": invite, "node_name": "spiderweb-local", "fs_url": url, "lease_ttl_ms": 899_000}
        self.plane.call("node_join", join, operator)
        self.token = ""

    def say(self, step: Step) -> Any:
        binding = Binding(ADMIN, MOTHER, SYSTEM)
        if step.label == "user":
            binding = Binding(USER, "alice", "proj-1", self.token)
        caller = Caller(binding, step.name.split()[1])
        try:
            return self.plane.call(step.op, self.translate(step.payload), caller)
        except PlaneError as error:
            said = {"code": error.code, "message": error.message}
            return {"error": {**said, "correlation_id": caller.correlation} if error.correlated else said}

    def translate(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.translate(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.translate(item) for item in value]
        return self.ours.get(value, value) if isinstance(value, str) else value

    def differences(self, theirs: Any, ours: Any, where: str) -> Iterator[str]:
        """The decision behind each difference, or the difference itself."""
        if isinstance(theirs, dict) and "D13" in theirs:
            yield "D13"
            yield from self.differences(theirs["D13"], ours, where)
        elif isinstance(theirs, dict) and isinstance(ours, dict):
            if list(theirs) != list(ours):
                yield f"{where}: keys {list(theirs)} are {list(ours)}"
            for key in theirs.keys() & ours.keys():
                yield from self.differences(theirs[key], ours[key], f"{where}.{key}")
        elif isinstance(theirs, list) and isinstance(ours, list):
            yield from self.lists(theirs, ours, where)
        elif type(theirs) is not (str if isinstance(ours, str) else type(ours)):  # a message is a text
            yield f"{where}: {theirs!r} is {ours!r}"
        elif isinstance(theirs, str):
            yield from self.words(theirs, ours, where)
        elif theirs != ours and not where.endswith("_ms") and "cycles_total" not in where:
            yield "D48" if where in SYSTEM_COUNTS else f"{where}: {theirs} is {ours}"

    def lists(self, theirs: list[Any], ours: list[Any], where: str) -> Iterator[str]:
        if where == ".projects":  # D12: sorted by id, where the reference has the order of a hash
            theirs = sorted(theirs, key=lambda row: row["project_id"])
            if len(theirs) > len(ours) and theirs[-1]["project_id"] == SYSTEM:
                yield "D17"
                theirs = theirs[:-1]
            for one, other in zip(theirs, ours, strict=True):
                where_row = ".system" if one["project_id"] == SYSTEM else where
                yield from self.differences(one, other, where_row)
            return
        if where == ".nodes":
            theirs = sorted(theirs, key=lambda row: row["node_id"])
        if where.endswith("mounts") and theirs and theirs[0].get("export_name") == "system-meta":
            yield "D48"
            return
        if where == ".audit" and len(ours) == len(theirs) + 1:
            yield "D48"  # the stand-in was invited
        elif len(theirs) != len(ours):
            yield f"{where}: {len(theirs)} are {len(ours)}"
        for one, other in zip(theirs, ours, strict=False):
            yield from self.differences(one, other, where)

    def words(self, theirs: str, ours: str, where: str) -> Iterator[str]:
        if theirs == ours:
            return
        if theirs.startswith("pending-join-") and REQUEST.fullmatch(ours):
            self.ours[theirs] = ours
            yield "D15"
        elif SECRET.fullmatch(theirs) and SECRET.fullmatch(ours) and theirs[:2] == ours[:2]:
            assert self.ours.setdefault(theirs, ours) == ours, "one secret there, two here"
        elif where == ".reconcile_state" and {theirs, ours} == {"idle", "pending"}:
            return  # a matter of milliseconds
        elif where == ".invite_id":
            yield "D48"  # the stand-in used one
        elif where.endswith(".workspace_root") and theirs == f"/spiderweb/projects/{ours.split('/')[2]}/workspace":
            yield "D19"
        else:
            yield f"{where}: {theirs!r} is {ours!r}"


SYSTEM_COUNTS = {
    ".system.mount_count", ".system.mounts", ".system.selected_mounts", ".system.online_mounts",
    ".availability.mounts_total", ".availability.online",
    ".nodes.ensured_total", ".nodes.joins_total", ".invites.created_total", ".invites.redeemed_total",
    ".projects.mounts_total", ".projects.mount_sets_total",
}  # fmt: skip


def test_every_recorded_reply_is_ours_but_for_the_decisions() -> None:
    replay, found = Replay(), dict[str, set[str]]()
    said = 0
    for step in steps():
        said += 1
        reply = replay.say(step)
        if step.name == "admin c62":
            replay.token = reply["project_token"]
        if differences := set(replay.differences(step.theirs, reply, "")):
            found[step.name] = differences
            print(step.name, step.op, *sorted(differences))
        replay.plane._clock.advance(0.1)  # type: ignore[attr-defined]  # as far apart as they were recorded
    assert said > 60
    assert found == DIFFERENT


def test_a_mutation_without_a_correlation_id_is_refused_with_the_recorded_words() -> None:
    recorded = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    theirs = next(row["res"]["error"] for row in recorded if row["req"] == "project_create without id/correlation")
    try:
        Replay().plane.call("project_create", {"name": "x"}, Caller(Binding(ADMIN, MOTHER, SYSTEM)))
    except PlaneError as error:
        assert {"code": error.code, "message": error.message, "correlation_id": None} == theirs
        assert error.correlated
    else:
        raise AssertionError("not refused")
