"""`paos robot`: robots of a fleet added, removed and listed; a kernel that runs takes the change up at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from worldfs.base.messages import coded

from .command_output import columns

if TYPE_CHECKING:
    from .command_context import CommandContext


def add(context: CommandContext) -> int:
    """Raises `BadInput` for a robot that could not be served."""
    from worldfs.world.robot_registry import add_robot

    directory = os.path.abspath(os.path.expanduser(context["dir"])) if context["dir"] else ""
    made = add_robot(context.home, context["robot"], context["profile"], directory, context.environ)
    said = coded("fleet.robot_added", id=made.id, directory=made.directory)
    context.output.report(said, {"robot": made.id, "directory": made.directory, "added": True}, "good")
    return 0


def remove(context: CommandContext) -> int:
    """Raises `Busy` for a robot with open jobs, unless they are to be cancelled."""
    from worldfs.world.robot_registry import remove_robot

    gone = remove_robot(context.home, context["robot"], cancel=context["cancel_jobs"], environ=context.environ)
    said = coded("fleet.robot_removed", id=gone.id, directory=gone.directory)
    facts = {"robot": gone.id, "directory": gone.directory, "removed": True,
             "cancelled": list(gone.cancelled), "ended": dict(gone.ended), "unended": list(gone.unended),
             "unconfirmed": list(gone.unconfirmed)}  # fmt: skip
    context.output.report(said, facts, "good")
    if ending := [job for job in gone.cancelled if job not in gone.unended]:
        context.output.line(coded("fleet.jobs_end", jobs=ending))
    for job, how in gone.ended.items():
        context.output.line(coded("fleet.job_ended", job=job, how=how))
    if gone.unended:
        context.output.notice(coded("fleet.jobs_unended", id=gone.id, jobs=list(gone.unended)))
    if gone.unconfirmed:
        context.output.notice(coded("fleet.not_standing", id=gone.id, jobs=list(gone.unconfirmed)))
    return 1 if gone.unended or gone.unconfirmed else 0


def list_robots(context: CommandContext) -> int:
    config = context.home.config(context.environ)
    rows = [
        {
            "robot": item.robot_id,
            "driver": item.driver,
            "profile": item.profile,
            "directory": item.workspace or str(context.home.root(config)),
            "state": state if item.enabled else "disabled",
        }
        for state, items in (("enabled", config.instances), ("refused", config.refused))
        for item in items
    ]
    context.output.value({"robots": rows})
    for line in columns([tuple(map(str, row.values())) for row in rows]):
        context.output.line(line)
    if not rows:
        context.output.line(coded("fleet.no_robots"))
    return 0
