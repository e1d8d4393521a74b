"""Things that a person has moved in ENVIRONMENT.md while a simulation is served: it follows at its next start.

Until then the measured places count. The alert `EDITED_ELSEWHERE` has them, so that other processes plan and answer by
them too.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.errors import UserError
from worldfs.base.json_values import as_floats, as_list, as_text
from worldfs.base.messages import CodedText, coded, parts
from worldfs.base.model import Finding, Scene, Thing, Vec
from worldfs.base.stated_places import BORNE, stated_by_status
from worldfs.robots.displacements import built_elsewhere, moved_by
from worldfs.runtime.job_store import ALERTS
from worldfs.storage.lease import KERNEL_LEASE

from .computed_files import read_alerts

if TYPE_CHECKING:
    from .world import World

EDITED: Final = "ENVIRONMENT.md edited"  # where the alert names them


class EditedThing(NamedTuple):
    """`told`: where the document has it (m)."""

    told: Vec
    measured: Thing
    moved: str = ""  # in words


def edited_things(document: Scene, simulated: Scene) -> tuple[EditedThing, ...]:
    found: list[EditedThing] = []
    for line in built_elsewhere(document, simulated):
        told, measured = document.thing(line["id"]), simulated.thing(line["id"])
        if told is not None and measured is not None:
            found.append(EditedThing(told.position, measured, moved_by(line)))
    return tuple(found)


def edited_text(edits: Iterable[EditedThing]) -> CodedText:
    """What the alert says has been found; `read_back` reads it."""
    return coded("world.edited_elsewhere", moved=[*map(_as_text, edits)])


def _as_text(edit: EditedThing) -> CodedText:
    thing = edit.measured
    turn, told, at = ([*values] for values in (thing.orientation, edit.told, thing.position))
    placed = coded("world.edited_thing", moved=edit.moved, told=told, at=at, turn=turn)
    if "opening" not in thing.extra:
        return placed
    return coded("world.edited_piece", moved=placed, status=thing.status, opening=thing.extra["opening"])


def alerted(world: World, robot: str) -> tuple[EditedThing, ...]:
    """Those of the world that a kernel serves now with this robot, here or in another process."""
    own = world.kernel
    finding = own.alert.now().get(EDITED) if own is not None else _stored(world, robot)
    return read_back(finding.found) if finding is not None else ()


def read_back(said: str) -> tuple[EditedThing, ...]:
    """Those of an `edited_text`."""
    moved = said.args.get("moved") if isinstance(said, CodedText) else ()
    return tuple(one for text in as_list(moved) if isinstance(text, str) and (one := _read_back(text)) is not None)


def _read_back(text: str) -> EditedThing | None:
    args = {name: value for part in parts(text) for name, value in part.args.items()}  # the inner ones last
    told, at, turn = (tuple(as_floats(args.get(key))) for key in ("told", "at", "turn"))
    opening = {"opening": args["opening"]} if "opening" in args else {}
    thing = Thing(as_text(args.get("id")), "", "", at, turn, status=as_text(args.get("status")), extra=opening)
    return EditedThing(told, thing) if len(at) == 3 else None


def _stored(world: World, robot: str) -> Finding | None:
    with suppress(UserError):  # an alert file that is no file is named as an odd entry
        alerts = world.stores.robot(robot).get(ALERTS)
        finding = read_alerts(alerts.data).get(EDITED) if alerts is not None else None
        if finding is not None and world.store.lease(KERNEL_LEASE).holder() is not None:
            return finding
    return None


def as_measured(scene: Scene, edits: Iterable[EditedThing]) -> Scene:
    """The document's scene with those things where they are measured; `edited` in it has them as the document does.
    An order that has moved a thing since has written it."""
    moved = {edit.measured.id: edit for edit in edits}
    told = tuple(
        thing
        for thing in (*scene.objects, *scene.furniture)
        if thing.id in moved and thing.position == moved[thing.id].told
    )
    if not told:
        return scene
    ids = {thing.id for thing in told}

    def measured(thing: Thing) -> Thing:
        if thing.id not in ids:
            return thing
        now = moved[thing.id].measured
        placed = stated_by_status(thing, scene) is not None
        status = now.status if "opening" in now.extra else "" if placed else thing.status
        turn, extra = now.orientation or thing.orientation, {**thing.extra, **now.extra}
        return replace(thing, position=now.position, orientation=turn, status=status, extra=extra)

    return replace(
        scene,
        objects=tuple(map(measured, scene.objects)),
        furniture=tuple(map(measured, scene.furniture)),
        relations=tuple(one for one in scene.relations if one.subject not in ids or one.relation not in BORNE),
        contradicted=tuple(one for one in scene.contradicted if not ids & {one.subject, one.object}),
        edited=told,
    )
