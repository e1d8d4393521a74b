"""Robots that may still move since a kernel that has them no more: by what is written, not by the configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from worldfs.base.messages import coded

if TYPE_CHECKING:
    from worldfs.base.model import Finding, Target
    from worldfs.runtime.job_store import JobStore
    from worldfs.runtime.stop_log import MayMove, StopLog


def left_robots(
    jobs: JobStore, stops: StopLog, simulated: Callable[[], Collection[str]], unserved: Callable[[str], bool]
) -> dict[str, MayMove]:
    """Those of which the log says so, and those that carry an order out by its file, and that no kernel serves.

    `simulated`: by the configuration; asked for orders that do not say which driver had them.
    """
    from worldfs.runtime.left_moving import left_moving  # few commands ask

    found = {id: one for id, one in left_moving(jobs).items() if unserved(id) and one.job not in stops.state(id).words}
    known = simulated() if any(one.simulated is None for one in found.values()) else ()
    real = {id: one for id, one in found.items() if not (id in known if one.simulated is None else one.simulated)}
    return {**real, **stops.moving()}


def is_another(left: MayMove, target: Target | None) -> bool:
    """Whether the target of sessions that has its id now is not what was left moving."""
    return target is not None and left.driver not in ("", target.adapter)


def has_driver(id: str, left: MayMove, robots: Collection[str], targets: Mapping[str, Target]) -> bool:
    """Whether the next kernel has a driver of it."""
    return id in robots or (id in targets and not is_another(left, targets[id]))


def left_finding(node: str, left: MayMove, *, served: bool) -> Finding:
    """The alert of such a robot, where no kernel raises it. `served`: the next kernel has a driver of it."""
    from worldfs.base.model import Finding  # few commands have one to tell

    text = coded("stop.left_moving_idle", node=node, driver=left.named)
    if left.job:
        text = coded("stop.left_moving", node=node, driver=left.named, job=left.job)
    fix = coded("stop.left_fix") if served else coded("stop.left_word", node=node)
    return Finding("STOP_UNCONFIRMED", f"stop {node}", coded("stop.standing"), text, fix)
