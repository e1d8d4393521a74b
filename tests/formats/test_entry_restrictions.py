"""What would hold an entry back or limit it, and that nothing reads, refuses it: of either sheet, at every level."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from worldfs.base.model import Operation
from worldfs.base.order_parameters import unread_parameters
from worldfs.base.restricting_fields import harmless, restricts, unread
from worldfs.formats import action
from worldfs.formats.action import SheetEntry
from worldfs.formats.runtime import sessions

HOLDING: list[tuple[str, Any]] = [
    ("dry_run", True), ("dryRun", True), ("DRY-RUN", "yes"), ("dry_rn", True), ("simulate", True), ("Enabled", False),
    ("enabeld", False), ("ENABLED", 0), ("disabled", True), ("hold", True), ("paused", True), ("requires_approval", 1),
    ("approval", "required"), ("aproval", "required"), ("not_before", "2999-01-01T00:00:00Z"), ("start_at", "2999"),
    ("expires_at", "2001"), ("max_duration", 0.001), ("blocked_by", ["nope"]), ("after", ["nope"]), ("mode", "dry-run"),
    ("requires", ["nope"]), ("dependencies", ["nope"]), ("only_if", "never"), ("when", "never"), ("max_speed", 0.01),
    ("state", "on hold"), ("options", {"dry_run": True}), ("limits", {"speed": 1}), ("暂停", True), ("启用", False),
    ("SAFETY", {"joint_speed": 0.1}), ("stop", True), ("speed_limit", 0.1), ("skip", True), ("sim_only", True),
]  # fmt: skip
# What tells of an order and says nothing of how it is carried out
FOREIGN: list[tuple[str, Any]] = [
    ("shop_id", 7), ("trace_id", "x"), ("run_id", "r1"), ("tags", ["a"]), ("metadata", {"author": "x", "v": 1}),
    ("updatedAt", "2026"), ("startedAt", "2026"), ("finished_at", "2026"), ("requested_by", "ada"), ("cause", "x"),
    ("mode", "auto"), ("state", "new"), ("dry_run", False), ("enabled", True), ("paused", False), ("labels", {"a": 1}),
    ("not_before", None), ("only_if", ""), ("after", []), ("tool_call_id", "c1"), ("parentSpanId", "s"),
    ("x_speed_note", "fast"), ("x-shop", {"shelf": 3}), ("_line", 4), ("why", "breakfast"), ("reasoning", "2"),
    ("备注", "早餐"), ("创建时间", "2026"), ("velocity", None), ("avoid", []), ("model_version", "2"), ("note2", "x"),
]  # fmt: skip
# Of an entry of SESSIONS.md, as the specification shows it
PLANNED: list[tuple[str, Any]] = [
    ("runtime_hints", {"perception_queries": ["cup"], "force_environment_refresh": True}),
    ("verification", {"mode": "enforce", "goal": "x", "constraints": ["y"]}),
    ("gateway_action", {"action_type": "x", "source": "chat", "inputs": {}}), ("safety_profile", {"profile": "usual"}),
]  # fmt: skip
# That no list of words for holding back knows, or that says how
UNREAD: list[tuple[str, Any]] = [
    ("velocity", 0.01), ("force", 1), ("avoid", ["cup"]), ("keep_clear", True), ("no_go", "left"), ("bounds", [0, 1]),
    ("workspace", [0, 1]), ("constraints", ["slow"]), ("tolerance", 0.01), ("height", 0.1), ("gentle", True),
    ("slowly", True), ("confirm", True), ("test", True), ("approved_by", "alice"), ("mode", "careful"), ("phase", 2),
    ("run", False), ("execute", False), ("avoid_object_id", "cup"), ("arm_id", "left"), ("zone_id", "a"), ("on", "x"),
    ("at", "10:00"), ("time", "10:00"), ("instruction", "slowly"), ("order_number", 2), ("x_dry_run", True),
    ("metadata", {"dry_run": True}), ("轻拿轻放", True), ("runtime_hints", {"speed": 1}), ("max_v", 0.1),
]  # fmt: skip


def in_action(**more: Any) -> SheetEntry:
    entry = {"action_id": "a", "action_type": "move_to", "params": {"target_pose": [0, 0, 0]}, **more}
    return action.read(json.dumps({"queue": [entry]}).encode(), node="arm").entries[0]


def in_sessions(**more: Any) -> SheetEntry:
    entry = {"session_id": "a", "target_ref": "t", "skill_ref": "s", **more}
    return sessions.read(json.dumps({"sessions": [entry]}).encode()).entries[0]


@pytest.mark.parametrize(("name", "value"), HOLDING)
def test_what_holds_back_refuses_an_entry_of_either_sheet_and_is_named(name: str, value: Any) -> None:
    places: list[tuple[SheetEntry, str]] = [
        (in_action(**{name: value}), f"/queue/0/{name}"), (in_sessions(**{name: value}), f"/sessions/0/{name}"),
        (in_sessions(execution={name: value}), f"/sessions/0/execution/{name}"),
        (in_sessions(routing={name: value}), f"/sessions/0/routing/{name}"),
    ]  # fmt: skip
    for entry, where in places:
        assert entry.order is None and entry.finding is not None and not entry.finding.warning, where
        assert entry.finding.code == "FIELD_UNREAD" and entry.finding.field.endswith(where)
        assert entry.finding.expected and name in entry.finding.found and entry.finding.fix
    for ended in (in_action(**{name: value, "status": "completed"}), in_sessions(**{name: value, "status": "failed"})):
        assert ended.state == "terminal"  # what is over is history


@pytest.mark.parametrize(("name", "value"), FOREIGN)
def test_what_other_tools_write_for_themselves_is_kept(name: str, value: Any) -> None:
    for entry in (in_action(**{name: value}), in_sessions(**{name: value}), in_sessions(execution={name: value})):
        assert entry.order is not None and entry.finding is None, entry.finding


@pytest.mark.parametrize(("name", "value"), PLANNED)
def test_a_session_keeps_what_the_specification_shows_beside_it(name: str, value: Any) -> None:
    assert in_sessions(**{name: value}).finding is None
    assert in_sessions(**{name: {"dry_run": True}}).order is None


@pytest.mark.parametrize(("name", "value"), UNREAD)
def test_whatever_else_nothing_reads_refuses_a_session_by_name_at_every_level(name: str, value: Any) -> None:
    if name == "runtime_hints":
        return  # the specification's, beside a session
    for entry in (
        in_sessions(**{name: value}),
        in_sessions(execution={name: value}),
        in_sessions(routing={name: value}),
    ):
        assert entry.order is None and entry.finding is not None and entry.finding.code == "FIELD_UNREAD", entry
        assert name in entry.finding.found and entry.finding.fix and not entry.finding.warning
    assert in_sessions(**{name: value, "status": "succeeded"}).state == "terminal"


@pytest.mark.parametrize(("name", "value"), UNREAD)
def test_whatever_else_nothing_reads_refuses_an_action_by_name(name: str, value: Any) -> None:
    entry = in_action(**{name: value})
    assert entry.order is None and entry.finding is not None and entry.finding.code == "FIELD_UNREAD"
    assert name in entry.finding.found and entry.finding.fix and not entry.finding.warning
    assert in_action(**{name: value, "status": "completed"}).state == "terminal"
    own = Operation("wave")  # a row that lists no parameters, and has no meaning of its own
    assert unread_parameters(own, {name: value}) == [name]


@given(st.text("abcdefghijklmnopqrstuvwxyz_", min_size=3, max_size=12), st.sampled_from([1, "x", True, [1], {"a": 1}]))
def test_a_name_is_harmless_or_refuses(name: str, value: Any) -> None:
    assume(name not in action._KNOWN)  # it draws words of our sources, too
    assert (in_action(**{name: value}).order is None) == (name in [*unread({name: value})])
    assert harmless("x_" + name) or any(restricts("x_" + name, said) for said in (True, False))


@pytest.mark.parametrize("name", ["sesion", "Session", "total", "x"])
def test_a_time_limit_that_nothing_reads_is_no_time_limit(name: str) -> None:
    for entry in (in_action(timeouts={name: 0.1}), in_sessions(timeouts={name: 0.1})):
        assert entry.order is None and entry.finding is not None and name in entry.finding.found
    assert in_sessions(timeouts={"session": 1, name: None}).order is not None


@pytest.mark.parametrize("name", ["max_step", "maxsteps", "MaxSteps", "max_stpes", "control_hertz", "control-hz"])
def test_a_misspelt_figure_of_the_execution_is_refused(name: str) -> None:
    entry = in_sessions(execution={name: 1})
    assert entry.order is None and entry.finding is not None and name in entry.finding.found


WORDS = ["dry_run", "disabled", "simulate", "requires_approval", "not_before", "blocked_by", "dependencies", "schedule"]


@given(st.sampled_from(WORDS), st.integers(0, 30), st.sampled_from(["drop", "swap", "add", "change"]), st.data())
def test_any_slip_of_one_letter_is_refused(word: str, at: int, slip: str, data: st.DataObject) -> None:
    at %= len(word)
    letter = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz"))
    typed = {
        "drop": word[:at] + word[at + 1 :], "add": word[:at] + letter + word[at:],
        "change": word[:at] + letter + word[at + 1 :], "swap": word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
    }[slip]  # fmt: skip
    assume(typed not in ("scheduler",))  # a name of its own
    assert restricts(typed, True) and restricts(typed.upper(), True) and restricts(typed.replace("_", "-"), True)
    assert in_action(**{typed: True}).order is None and in_sessions(**{typed: True}).order is None
