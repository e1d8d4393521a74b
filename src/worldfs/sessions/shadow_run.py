"""Shadow runs: a session of a real target is carried out in simulation first, and only then asks for approval.

TARGETS.md of the real target has `config.shadow: SIM`; each of its sessions then depends on one of the same skill,
parameters and words on SIM. It waits for that one's success before it asks for approval, and fails with it. SIM has
`config.scene: environment`: each of its sessions begins with the things of ENVIRONMENT.md, as they were perceived or
declared, its robot stands where the real one stands, and what it does there is written nowhere: it is no observation of
the world. What of the scene could not be built, lies elsewhere there or was added is said in the session's message.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_text
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Finding, Job, Json, Order, Outcome, Scene, Target, Thing, execution_of
from worldfs.formats import environment

SHADOW: Final = "shadow"
SCENE: Final = "scene"
PERCEIVED: Final = "environment"
ELSEWHERE: Final = 0.005  # m: a thing of the twin that lies farther from its place in the file is named


class SceneCopy(NamedTuple):
    """What of a perceived scene a twin has otherwise: ids."""

    missing: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def is_rehearsal(target: Target | None) -> bool:
    """Whether its world is a copy of ENVIRONMENT.md, made for each session."""
    return target is not None and target.config.get(SCENE) == PERCEIVED


def real_of(twin: str, targets: Iterable[Target]) -> str:
    """The target whose shadow runs are carried out on this one; "" where none or several are."""
    found = [target.id for target in targets if target.config.get(SHADOW) == twin]
    return found[0] if len(found) == 1 else ""


def perceived_scene(document: Json, twin: str, real: str) -> Scene:
    """The scene of ENVIRONMENT.md's present value, with the twin's robot where the real one stands.

    Raises `BadInput` where it has nothing: a twin would make up a scene of its own.
    """
    scene = environment.read(json.dumps(document).encode()).scene if document else Scene()
    if not scene.objects and not scene.furniture:
        raise BadInput(
            coded("common.nothing"), path="ENVIRONMENT.md", op="open", expected=coded("session.things_to_copy"),
            fix=coded("session.look_first"), code="SHADOW_EMPTY",
        )  # fmt: skip
    others = tuple(robot for robot in scene.robots if robot.robot_id not in (twin, real))
    own = scene.robot(real)
    return replace(scene, robots=(*others, replace(own, robot_id=twin)) if own is not None else others)


def copied(perceived: Scene, built: Scene) -> SceneCopy:
    """How the scene that a twin built differs from the perceived one."""
    there = {thing.id: thing for thing in (*built.objects, *built.furniture)}
    wanted = {thing.id: thing for thing in (*perceived.objects, *perceived.furniture)}
    return SceneCopy(
        tuple(id for id in wanted if id not in there),
        tuple(id for id in wanted if id in there and _apart(wanted[id], there[id]) > ELSEWHERE),
        tuple(id for id in there if id not in wanted),
    )


def _apart(one: Thing, other: Thing) -> float:
    return math.dist(one.position, other.position) if len(one.position) == len(other.position) else math.inf


def with_copy(outcome: Outcome, copy: SceneCopy) -> Outcome:
    """The end of a session on a twin, with what its scene had otherwise."""
    message: CodedText | str = outcome.message
    if copy.missing:
        message = coded("session.twin_missing", said=message, names=[*copy.missing])
    if copy.moved:
        message = coded("session.twin_moved", said=message, names=[*copy.moved])
    if copy.added:
        message = coded("session.twin_added", said=message, names=[*copy.added])
    kept = {name: [*ids] for name, ids in copy._asdict().items() if ids}
    return replace(outcome, message=message, evidence={**outcome.evidence, "twin": kept}) if kept else outcome


def not_built(order: Order, copy: SceneCopy) -> Iterator[Finding]:
    """A finding for each thing that the session names and the twin could not build."""
    named = {as_text(value) for value in order.params.values()}
    for id in copy.missing:
        if id in named:
            yield Finding(
                "SHADOW_NOT_BUILT", f"ENVIRONMENT.md {id}", coded("session.thing_to_copy"),
                coded("session.no_place", id=id), coded("session.look_first"), order.id,
            )  # fmt: skip


def missing_shadow(job: Job, target: Target | None, dependencies: Sequence[Job]) -> list[Finding]:
    """What stands against a session of a target with `config.shadow`: no shadow run, another one's, or an old one.

    One that had ended before this session was accepted is of another scene, and does not count.
    """
    twin, order = "" if target is None else str(target.config.get(SHADOW) or ""), job.order
    if not twin:
        return []
    found: str = coded("common.none")
    for other in dependencies:
        if other.order.node != twin:
            continue
        if _asks(other.order) != _asks(order):
            found = coded("session.shadow_other", id=other.id)
        elif other.status.completed_at and other.status.completed_at < job.status.accepted_at:
            found = coded("session.shadow_old", id=other.id)
        else:
            return []
    return [
        Finding(
            "SHADOW_MISSING", f"SESSIONS.md {order.id} depends_on",
            coded("session.shadow", target=twin, skill=order.op), found,
            coded("session.shadow_first", target=twin), order.id,
        )
    ]  # fmt: skip


def _asks(order: Order) -> tuple[str, str, str]:
    """What a session is to do, wherever."""
    return order.op, json.dumps(order.params, sort_keys=True), execution_of(order).instruction
