"""Shadow runs: a session of a real target is carried out in simulation first, and only then asks for approval.

TARGETS.md of the real target has `config.shadow: SIM`; each of its sessions then depends on one of the same skill,
parameters and words on SIM. It waits for that one's success before anybody is asked, and fails with it. SIM has
`config.scene: environment`: each of its sessions begins with the things of ENVIRONMENT.md, as they were perceived or
declared, and what it does there is written nowhere: it is no observation of the world.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Job, Json, Order, Scene, Target, execution_of
from worldfs.formats import environment

SHADOW: Final = "shadow"
SCENE: Final = "scene"
PERCEIVED: Final = "environment"


def is_rehearsal(target: Target | None) -> bool:
    """Whether its world is a copy of ENVIRONMENT.md, made anew for each session."""
    return target is not None and target.config.get(SCENE) == PERCEIVED


def perceived_scene(document: Json) -> Scene:
    """The scene of ENVIRONMENT.md's present value."""
    return environment.read(json.dumps(document).encode()).scene if document else Scene()


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
