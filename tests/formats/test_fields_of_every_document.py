"""A field that nothing reads, in each kind of document that orders motion, at each level: refused, or harmless."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from worldfs.base.errors import UserError
from worldfs.base.model import Order
from worldfs.base.restricting_fields import harmless, unread
from worldfs.formats import action, orchestrator
from worldfs.formats.action import ParsedSheet
from worldfs.formats.runtime import sessions, skill_file, skills, targets
from worldfs.planning import nested_orders
from worldfs.plugins.rekep.program_sources import of_mapping, written_program
from worldfs.policies.policy_client import ActionChunk, chunk_has_actions
from worldfs.world.mission_files import refuse_unread_members
from worldfs.world.services.tool_order import AcceptedTools, parse_tool_order

HOLDING: Final[list[tuple[str, Any]]] = [
    ("dry_run", True), ("dryRun", True), ("hold", True), ("paused", True), ("enabled", False), ("is_enabled", False),
    ("status", "cancelled"), ("state", "on hold"), ("mode", "dry-run"), ("depends_upon", ["x"]), ("only_if", "never"),
    ("if", "never"), ("when", "never"), ("requires_approval", True), ("approval", "required"), ("reviewed", False),
    ("approved", False), ("not_before", "2999-01-01"), ("do_not_run", True), ("max_speed", 0.01), ("max_force", 1),
    ("should_wait", True), ("tested", "no"), ("velocity", 0.01), ("avoid", ["cup"]), ("keep_clear", True),
    ("gentle", True), ("run", False), ("暂停", True), ("已审核", False), ("仅当", "x"),
    ("速度上限", 0.1), ("禁止", "x"),
]  # fmt: skip
REDIRECTING: Final[list[tuple[str, Any]]] = [
    ("robot", "other"), ("node", "other"), ("agent", "other"), ("defaults", {"speed": 1}), ("tolerance", 0.1),
    ("workspace", [0, 1]), ("slowness", 2), ("confirm", True), ("zone_id", "a"), ("arm_id", "left"), ("at", "10:00"),
]  # fmt: skip
TELLING: Final = (
    "link", "links", "issue", "kind", "timestamp", "etag", "category", "version", "schema_version", "locale", "author",
    "updated_at", "created_by", "url", "comment", "comments", "labels", "tags", "title", "source", "trace_id",
    "description", "reasoning", "notes", "summary", "ticket", "revision", "language", "x_shelf", "x-shop", "_line",
    "request_id", "correlation_id", "documentation", "project", "team", "owner", "checksum", "platform", "epic",
    "备注", "标题", "标签", "来源", "作者", "说明", "编号", "版本", "链接", "类别", "时间戳",
    "更新时间", "创建者", "负责人",
)  # fmt: skip
HARMLESS: Final[list[tuple[str, Any]]] = [
    *((name, "a word of it") for name in TELLING), ("metadata", {"author": "x", "deep": [{"v": 1}]}),
    ("labels", {"team": "a"}), ("tags", ["urgent", "kitchen"]), ("x_status", "shipped"), ("x_mode", "fast"),
    ("reviewed", True), ("reviewed_by", "ada"), ("dry_run", False), ("enabled", True),
    ("only_if", ""), ("note", "stop"),
]  # fmt: skip
DEEP: Final[list[Callable[[str, Any], dict[str, Any]]]] = [
    lambda name, value: {"metadata": {name: value}},
    lambda name, value: {"metadata": {"a": {"b": [{"c": {name: value}}]}}},
    lambda name, value: {"labels": {name: value}},
    lambda name, value: {"x_tool": {"own": {name: value}}},
    lambda name, value: {"元数据": [{name: value}]},
    lambda name, value: {f"x_{name}": value},
    lambda name, value: {"metadata": {f"x_{name}": value}},
]  # fmt: skip
SAID: Final = (
    {"tags": ["kitchen", "dry-run"]}, {"labels": "hold"}, {"x_flags": ["DO NOT RUN"]}, {"kind": "simulation"},
    {"metadata": {"a": {"b": "on hold"}}}, {"x_status": "cancelled"}, {"x_mode": "dry_run"}, {"metadata": ["paused"]},
)  # fmt: skip
ENTRY: Final = {"action_id": "a", "action_type": "pick_up", "params": {"object_id": "cup"}}
SESSION: Final = {"session_id": "a", "target_ref": "t", "skill_ref": "s"}
TARGET: Final = {"id": "t", "type": "sim", "backend": "mujoco"}
SKILL: Final = {"id": "s", "runtime": "BuiltinSkillRuntime"}
PROGRAM: Final = """keypoints = ["cup.centre"]
grasp_keypoints = [-1]
release_keypoints = [-1]


def stage1_subgoal_constraint1(end_effector, keypoints):
    return 0.0
"""
TOOLS: Final = AcceptedTools({"pick": "pick_up"})

Fields = dict[str, Any]


def _sheet(sheet: ParsedSheet) -> str:
    (entry,) = sheet.entries
    return entry.finding.field + entry.finding.found if entry.finding is not None and not entry.finding.warning else ""


def _text(error: UserError) -> str:
    return f"{error.path} {error} {error.expected}"


def _in_action(more: Fields) -> str:
    return _sheet(action.read(json.dumps({"queue": [{**ENTRY, **more}]}).encode(), node="arm"))


def _beside_queue(more: Fields) -> str:
    return _sheet(action.read(json.dumps({"queue": [ENTRY], **more}).encode(), node="arm"))


def _beside_actions(more: Fields) -> str:
    entry = {"id": "a", "action_type": "pick_up", "parameters": {"object_id": "cup"}}
    return _sheet(action.read(json.dumps({"schema_version": "1", "actions": [entry], **more}).encode()))


def _front_matter(more: Fields) -> str:
    front = f"---\n{json.dumps(more, ensure_ascii=False)}\n---\n# ACTION\n\n"
    return _sheet(action.read(f"{front}```json\n{json.dumps({'queue': [ENTRY]})}\n```\n".encode()))


def _in_session(more: Fields) -> str:
    return _sheet(sessions.read(json.dumps({"sessions": [{**SESSION, **more}]}).encode()))


def _in_execution(more: Fields) -> str:
    return _in_session({"execution": more})


def _in_routing(more: Fields) -> str:
    return _in_session({"routing": more})


def _beside_sessions(more: Fields) -> str:
    return _sheet(sessions.read(json.dumps({"version": "runtime_sessions_v1", "sessions": [SESSION], **more}).encode()))


def _beside_targets(more: Fields) -> str:
    return "" if targets.read(json.dumps({"targets": [TARGET], **more}).encode()).entries else "no entry"


def _beside_skills(more: Fields) -> str:
    return "" if skills.read(json.dumps({"skills": [SKILL], **more}).encode()).entries else "no entry"


def _beside_step(more: Fields) -> str:
    order = Order("o", "arm", "strategy", {"steps": [{**ENTRY, **more}]})
    return " ".join(found.field + found.found for found in nested_orders.review_nested(order))


def _beside_nested_step(more: Fields) -> str:
    inner = {"action_type": "strategy", "params": {"steps": [{**ENTRY, **more}]}}
    order = Order("o", "arm", "strategy", {"steps": [inner]})
    return " ".join(found.field + found.found for found in nested_orders.review_nested(order))


def _in_mission(more: Fields) -> str:
    refuse_unread_members({"text": "wave", **more}, {"text": str}, "operator")
    return ""


def _beside_arguments(more: Fields) -> str:
    parse_tool_order(json.dumps({"tool": "pick_up", "arguments": {}, **more}).encode(), "invoke.json", TOOLS)
    return ""


def _beside_program(more: Fields) -> str:
    of_mapping({"program": PROGRAM, **more}, "skills/s.md")
    return ""


def _in_skill_file(more: Fields) -> str:
    """Only names of Python can stand there."""
    values = [
        f"{name} = {value!r}" for name, value in more.items() if name.isidentifier() and not keyword.iskeyword(name)
    ]
    file = "\n".join(["# Wave", "```python", PROGRAM, *values, "```"])
    written_program(skill_file.read(file.encode(), "s"))
    return "" if len(values) == len(more) else str(more)


ORDERS: Final[dict[str, Callable[[Fields], str]]] = {
    "an entry of ACTION.md": _in_action,
    "ACTION.md": _beside_queue,
    "ACTION.md of q1": _beside_actions,
    "front matter": _front_matter,
    "a session": _in_session,
    "execution": _in_execution,
    "routing": _in_routing,
    "SESSIONS.md": _beside_sessions,
    "TARGETS.md": _beside_targets,
    "SKILLS.md": _beside_skills,
    "a step": _beside_step,
    "a step of a step": _beside_nested_step,
    "a mission": _in_mission,
    "arguments of a service": _beside_arguments,
    "a program of constraints": _beside_program,
    "a skill file": _in_skill_file,
}

CANCELLED: Final = ("an entry of ACTION.md", "a session")  # which read `status`


def refusal(place: str, more: Fields) -> str:
    """What the document says against the fields; "" if it takes them."""
    try:
        return ORDERS[place](more)
    except UserError as error:
        return _text(error)


@pytest.mark.parametrize("place", ORDERS)
def test_what_may_hold_back_limit_or_redirect_is_refused_by_name(place: str) -> None:
    for name, value in (*HOLDING, *REDIRECTING):
        if place in CANCELLED and name == "status":
            continue
        assert name in refusal(place, {name: value}), name


@pytest.mark.parametrize("place", ORDERS)
def test_the_same_deeper_or_as_another_tool_s_is_refused_by_name(place: str) -> None:
    for name, value in HOLDING:
        for deep in DEEP:
            more = deep(name, value)
            assert next(iter(more)) in refusal(place, more), more
    for more in SAID:
        assert next(iter(more)) in refusal(place, more), more


@pytest.mark.parametrize("place", ORDERS)
def test_what_only_tells_of_an_order_passes_everywhere(place: str) -> None:
    for name, value in HARMLESS:
        own = (place, name) == ("a program of constraints", "metadata")  # which it reads
        if not own and (place != "a skill file" or name.isidentifier()):
            assert refusal(place, {name: value}) == "", name


def test_the_names_that_pass_are_those_of_the_one_table() -> None:
    assert [name for name in TELLING if not harmless(name)] == []
    assert [*unread(dict(HARMLESS))] == []


@pytest.mark.parametrize(("name", "value"), HOLDING)
def test_a_column_of_a_waiting_mission_that_holds_it_back_is_refused(name: str, value: Any) -> None:
    cell = "no" if value is False else str(value)
    head, line = f"| Mission | Requirements | Priority | {name} |", f"| wave | arm | normal | {cell} |"
    text = f"# Orchestrator Dashboard\n\n## Pending Queue\n\n{head}\n|---|---|---|---|\n{line}\n"
    parsed = orchestrator.read(text.encode())
    assert [name in finding.found for _, finding in parsed.refused] == [True] or not parsed.dashboard.queue


@pytest.mark.parametrize("more", [{"hold": True}, {"dry_run": "yes"}, {"stop": True}, {"max_speed": 0.1}, {"safe": 1}])
def test_an_answer_of_a_policy_that_holds_its_actions_back_is_no_answer(more: Fields) -> None:
    actions = np.zeros((1, 7), np.float32)
    found = chunk_has_actions(ActionChunk(actions, extra=more))
    assert (found is not None and next(iter(more)) in str(found)) or "safe" in more
    assert chunk_has_actions(ActionChunk(actions, extra={"max_logit": 3.0, "state": [1.0], "done": True})) is None


@pytest.mark.parametrize("name", ["dry_run", "robot_id", "max_speed"])
def test_a_document_whose_orders_are_over_is_read(name: str) -> None:
    ended = {**ENTRY, "status": "completed"}
    assert action.read(json.dumps({"queue": [ended], name: "x"}).encode()).entries[0].state == "terminal"


def test_the_robot_beside_the_entries_is_that_of_each_of_them() -> None:
    for robot, entries, node, refused in (
        ("arm", [ENTRY], "arm", False), ("other", [ENTRY], "arm", True), ("arm", [ENTRY], "", True),
        ("arm", [{**ENTRY, "robot_id": "arm"}], "", False), ("arm", [{**ENTRY, "robot_id": "other"}], "", True),
    ):  # fmt: skip
        data = json.dumps({"robot_id": robot, "queue": entries}).encode()
        try:
            assert action.read(data, node=node).entries[0].order and not refused
        except UserError as error:
            assert refused and "robot_id" in _text(error)
