"""`paos mission`: add missions, list them, and change them; here or over --connect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_objects, as_text
from worldfs.base.messages import coded

from .command_spec import ArgumentSpec, CommandSpec
from .command_tree import CommandTree, open_tree

if TYPE_CHECKING:
    from .command_context import CommandContext

_MISSION = ArgumentSpec(("mission",), "help.mission_id", "MISSION")
_PRIORITIES = ("high", "normal", "low")
_ENDED = ("succeeded", "failed", "cancelled")

MISSION_COMMANDS = (
    CommandSpec(
        "mission add",
        "help.mission_add",
        "mission_commands:add",
        (
            ArgumentSpec(("instruction",), "help.mission_text", "TEXT", many="*"),
            ArgumentSpec(("--robot",), "help.mission_robot", "NODE"),
            ArgumentSpec(("--require",), "help.mission_require", "WORD", many="*"),
            ArgumentSpec(("--priority",), "help.mission_priority_of", choices=_PRIORITIES, default="normal"),
            ArgumentSpec(("--after",), "help.mission_after", "MISSION", many="*"),
            ArgumentSpec(("--confirm",), "help.mission_confirm", "CODE"),
            ArgumentSpec(("--task",), "help.mission_task", takes="switch"),
        ),
        "help.mission_add_more",
        remote="mission_commands:add",
    ),
    CommandSpec(
        "mission list", "help.mission_list", "mission_commands:show", remote="mission_commands:show", reads=True
    ),
    CommandSpec(
        "mission pause", "help.mission_pause", "mission_commands:pause", (_MISSION,), remote="mission_commands:pause"
    ),
    CommandSpec(
        "mission resume",
        "help.mission_resume",
        "mission_commands:resume",
        (_MISSION,),
        remote="mission_commands:resume",
    ),
    CommandSpec(
        "mission cancel",
        "help.mission_cancel",
        "mission_commands:cancel",
        (_MISSION,),
        remote="mission_commands:cancel",
    ),
    CommandSpec(
        "mission release",
        "help.mission_release",
        "mission_commands:release",
        (_MISSION,),
        remote="mission_commands:release",
    ),
    CommandSpec(
        "mission priority",
        "help.mission_priority",
        "mission_commands:priority",
        (_MISSION, ArgumentSpec(("value",), "help.mission_value", choices=_PRIORITIES)),
        remote="mission_commands:priority",
    ),
)


def add(context: CommandContext) -> int:
    text = " ".join(context["instruction"]).strip()
    if bool(text) == context["task"]:
        raise BadInput(coded("mission.empty"), op="mission add", expected=coded("mission.a_text"))
    wanted = {"requires": context["require"] or [], "after": context["after"] or []}
    value: dict[str, object] = {
        "text": text,
        "robot": context["robot"] or "",
        "priority": context["priority"],
        "confirm": context["confirm"] or "",
        **wanted,
    }
    if context["task"]:
        value = {"task": True}
    with open_tree(context) as tree:
        before = {as_text(item.get("id")) for item in _missions(tree)}
        tree.write(f"{_project(tree)}/mission", json.dumps(value).encode())
        new = [item for item in _missions(tree) if as_text(item.get("id")) not in before]
    for item in new if context["task"] else [item for item in new if item.get("text") == text][:1]:
        context.output.report(coded("mission.added", id=item["id"], text=as_text(item.get("text"))), item, "good")
    return 0


def show(context: CommandContext) -> int:
    with open_tree(context) as tree:
        missions = _missions(tree)
    context.output.value({"missions": missions})
    for item in missions:
        words = {name: as_text(item.get(name)) or "—" for name in ("id", "state", "priority", "robot", "text")}
        waits = as_text(item.get("waits"))
        words |= {"state": "waiting"} if waits else {}
        context.output.line(coded("mission.line", **words), "warn" if waits else "")
        if reason := waits or as_text(item.get("reason")):
            context.output.line(coded("mission.because", reason=reason), "warn" if waits else "dim")
    if not missions:
        context.output.line(coded("mission.none"))
    return 0


def pause(context: CommandContext) -> int:
    return _ask(context, "pause")


def resume(context: CommandContext) -> int:
    return _ask(context, "resume")


def cancel(context: CommandContext) -> int:
    return _ask(context, "cancel")


def release(context: CommandContext) -> int:
    return _ask(context, "release")


def priority(context: CommandContext) -> int:
    return _ask(context, "priority", context["value"])


def _ask(context: CommandContext, what: str, value: str = "") -> int:
    said = {"mission": context["mission"], "request": what, "value": value}
    with open_tree(context) as tree:
        states = {as_text(item.get("id")): as_text(item.get("state")) for item in _missions(tree)}
        tree.write(f"{_project(tree)}/mission", json.dumps(said).encode())
    state = states.get(context["mission"], "")  # as it was: what follows is the work of this request
    if what != "release" and state in _ENDED:
        over = coded("mission.has_ended", id=context["mission"], state=state)
        context.output.report(over, {**said, "state": state}, "warn")
    else:
        context.output.report(coded("mission.asked", id=context["mission"], what=what), said, "good")
    return 0


def _missions(tree: CommandTree) -> list[dict[str, object]]:
    return as_objects(as_object(parse_json(tree.read(f"{_project(tree)}/missions.json"))).get("missions"))


def _project(tree: CommandTree) -> str:
    """The project that has missions. Raises `NotFound` where the caller sees none."""
    for entry in tree.entries("/projects"):
        if entry.directory and any(item.name == "missions.json" for item in tree.entries(entry.path)):
            return entry.path
    raise NotFound(coded("mission.none"), path="/projects", op="mission")
