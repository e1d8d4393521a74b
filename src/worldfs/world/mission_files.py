"""The files of missions in the tree: ORCHESTRATOR.md as a sheet, missions.json, and the control that adds and asks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import reduce
from typing import TYPE_CHECKING, Final

from worldfs.access.standing import shown_actor
from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.json_text import KeyTwice, each_key_once, parse_json
from worldfs.base.json_values import as_list, as_object, as_text
from worldfs.base.messages import coded, render
from worldfs.base.messages.message_rendering import finding_message
from worldfs.base.restricting_fields import resembles, says_nothing, unread
from worldfs.tree.verb_values import WriteContext
from worldfs.tree.virtual_file import Names, VirtualFile

# what reads missions is imported when a mission is read: most commands on files need none
if TYPE_CHECKING:
    from worldfs.fleet.mission import Mission
    from worldfs.fleet.mission_store import MissionFiles

    from .world import World

PATH: Final = "ORCHESTRATOR.md"
_ADDED: Final[Mapping[str, type]] = {
    "text": str, "id": str, "requires": list, "robot": str, "priority": str, "after": list, "confirm": str,
}  # fmt: skip
_ASKED: Final[Mapping[str, type]] = {"mission": str, "request": str, "value": str}


class OrchestratorFile(VirtualFile):
    """ORCHESTRATOR.md: reading gives the dashboard, writing submits rows that are new and obeys `cancelled`."""

    def __init__(self, world: World) -> None:
        self.world = world

    def read(self, names: Names) -> bytes:
        return self.world.content(PATH)

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        """Durable when it returns. Rows that make missions are accepted even if others are refused."""
        from worldfs.fleet.mission_sheet import take_in
        from worldfs.formats import orchestrator

        files, rows = self.world.missions, orchestrator.read(data)
        found = [item for item in take_in(rows, files, open_missions(files), ask.name) if not item.warning]
        if found:
            said = reduce(
                lambda one, more: coded("world.and_then", one=one, more=more), map(finding_message, found[:5])
            )
            message = coded("mission.row_refused", n=len(found), said=said)
            raise BadInput(message, path=PATH, op="write", actor=ask.actor, code=found[0].code)


class MissionsFile(VirtualFile):
    """missions.json: the open missions and the latest ended ones, each with its state, its reason and its bids."""

    def __init__(self, world: World) -> None:
        self.world = world

    def read(self, names: Names) -> bytes:
        files = self.world.missions
        waiting = open_missions(files)  # first: one that ends meanwhile is found among the ended
        listed = {mission.id for mission in waiting}
        latest = [id for id in files.latest_ids() if id not in listed]
        ended = [mission for id in latest if (mission := _load(files, id)) is not None]
        missions = [*sorted(waiting, key=lambda mission: mission.rank), *reversed(ended)]
        value = {"missions": [self._value(mission) for mission in missions]}
        return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()

    def _value(self, mission: Mission) -> dict[str, object]:
        status = {name: found for name, found in asdict(mission.status).items() if found}
        language = self.world.language()
        status |= {"state": mission.status.state.value, "reason": render(mission.status.reason, language)}
        if mission.status.waits:
            status["waits"] = render(mission.status.waits, language)
        if mission.status.held:
            status["held"] = [item.as_json() for item in mission.status.held]
        order = {name: found for name, found in asdict(mission.order).items() if found}
        return {**order, **status, "priority": mission.priority}


class MissionFile(VirtualFile):
    """`mission`: writing adds a mission, or asks for a change of one; reading names the forms."""

    def __init__(self, world: World) -> None:
        self.world = world

    def read(self, names: Names) -> bytes:
        return (coded("mission.payload") + "\n").encode()

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        said = _members(data)
        if "mission" in said and "request" in said:
            refuse_unread_members(said, _ASKED, ask.actor)
            mission, what, value = (as_text(said.get(key)) for key in ("mission", "request", "value"))
            self.world.missions.request(mission, what, shown_actor(ask.name), value)
        elif said.get("task") is True:
            refuse_unread_members(said, {"task": bool}, ask.actor)
            self._add_task(ask.name)
        elif "text" in said:
            refuse_unread_members(said, _ADDED, ask.actor)
            self._add(said, ask.name)
        else:
            raise BadInput(
                coded("mission.bad_payload"), path="mission", op="write", expected=coded("mission.payload"),
                actor=ask.actor,
            )  # fmt: skip

    def _add_task(self, actor: str) -> None:
        """A mission for each pending row of TASK.md: its device is the robot, and it comes after what it depends on.

        A row that is a mission already is left alone, so that the same table may be added again.
        """
        from worldfs.fleet.mission import MissionOrder
        from worldfs.formats import entry_ids, task

        data = self.world.content(task.PATH)
        if rows := task.unfinished_rows(data):
            found, fix = coded("mission.part_of_row", row=rows[0][:80]), coded("mission.correct_row")
            raise BadInput(found, path=task.PATH, op="add", expected=coded("mission.all_cells"), fix=fix)
        files, robots, table = self.world.missions, self.world.node_ids(), task.read(data)
        ids = {
            step.id: f"task_{entry_ids.digest([table.goal, step.id, step.action, step.target])[:16]}"
            for step in table.steps
            if step.status == "pending"
        }
        unknown = sorted({step.target for step in table.steps if step.id in ids} - {*robots, ""})
        if unknown:
            there = coded("common.one_of", names=robots)
            raise NotFound(
                coded("mission.no_such_robot", robot=unknown[0][:80]), path=task.PATH, op="add", expected=there
            )
        over = {step.id for step in table.steps if step.status in ("done", "skipped")}
        open_rows = [id for step in table.steps if step.id in ids for id in step.depends_on if id not in {*over, *ids}]
        if open_rows:
            expected = coded("mission.rows_done")
            raise BadInput(
                coded("mission.row_open", row=open_rows[0][:80]), path=task.PATH, op="add", expected=expected
            )
        for step in table.steps:
            if step.id in ids:
                after = tuple(ids[id] for id in step.depends_on if id in ids)
                title = f"{step.id}. {step.action}"
                order = MissionOrder(
                    ids[step.id], step.action, title, (), step.target, after=after, asker=actor, step=step.id
                )
                files.add(order)

    def _add(self, said: dict[str, object], actor: str) -> None:
        from worldfs.base.stop_words import is_stop
        from worldfs.fleet.mission import MissionOrder
        from worldfs.fleet.mission_sheet import unique_title
        from worldfs.formats import prose

        files, robots = self.world.missions, self.world.node_ids()
        robot, text = as_text(said.get("robot")), prose.one_line(as_text(said.get("text")))
        if is_stop(text, lambda: robots):
            found, expected = coded("mission.a_stop", text=text), coded("mission.a_text")
            raise BadInput(found, op="add", expected=expected, fix=coded("mission.to_stop"))
        after = tuple(as_text(id) for id in as_list(said.get("after")))
        if robot and robot not in robots:
            there = coded("common.one_of", names=robots)
            raise NotFound(coded("mission.no_such_robot", robot=robot[:80]), op="add", expected=there)
        for id in after:
            if not files.known(id):
                fix = coded("mission.list_them")
                raise NotFound(coded("mission.no_such_mission", id=id[:80]), op="add", fix=fix)
        order = MissionOrder(
            as_text(said.get("id")) or files.new_id(),
            text,
            unique_title(text, open_missions(files)),
            tuple(word for item in as_list(said.get("requires")) if (word := prose.one_line(as_text(item)))),
            robot,
            as_text(said.get("priority")) or "normal",
            after,
            asker=actor,
            confirm=_confirmed(said),
        )
        files.add(order)


def behaviours(world: World) -> dict[str, VirtualFile]:
    return {"orchestrator": OrchestratorFile(world), "missions": MissionsFile(world), "mission": MissionFile(world)}


def read_mission_confirmation(data: bytes) -> str:
    """The code of a model's reading that a write to `mission` confirms, "" for none."""
    return _confirmed(_members(data))


def open_missions(files: MissionFiles) -> list[Mission]:
    return [mission for id in files.open_ids() if (mission := _load(files, id)) is not None]


def _members(data: bytes) -> dict[str, object]:
    """What is written to `mission`; {} for what is no object. Raises `BadInput` for a key that is written twice."""
    try:
        return as_object(parse_json(data, object_pairs_hook=each_key_once))
    except KeyTwice as error:
        raise error.refusal(path="mission", op="write") from None
    except ValueError:
        return {}


def refuse_unread_members(said: dict[str, object], kinds: Mapping[str, type], actor: str) -> None:
    """Raises `BadInput` for a member that nothing reads and that may hold the mission back or name its robot, or that
    is one of `kinds` but for its spelling."""
    refused = {*unread(said, kinds)}
    for name, value in said.items():
        likely = resembles(name, kinds) if name not in kinds else ""
        if says_nothing(value) or (name not in kinds and name not in refused and not likely):
            continue
        if name not in kinds:
            raise BadInput(
                coded("session.unread", name=name[:80]), path="mission", op="write", actor=actor, code="FIELD_UNREAD",
                expected=coded("mission.payload"),
                fix=coded("world.did_you_mean", likely=likely) if likely else coded("mission.take_out"),
            )  # fmt: skip
        if not isinstance(value, kinds[name]) or not all(isinstance(one, str) for one in as_list(value)):
            raise BadInput(
                coded("mission.bad_member", name=name, value=str(value)[:80]), path="mission", op="write", actor=actor,
                expected=coded("mission.payload"),
            )  # fmt: skip


def _confirmed(said: dict[str, object]) -> str:
    return as_text(said.get("confirm"))


def _load(files: MissionFiles, id: str) -> Mission | None:
    try:
        return files.load(id)
    except UserError:  # named by an alert
        return None
