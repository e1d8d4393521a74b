"""The refusals of the critic: one row per reason, with its code and its field (workspace §5: code, field, expected,
found, fix). Its texts are in the catalogue."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import NamedTuple

from worldfs.base.messages import coded
from worldfs.base.messages.coded_text import vector_text
from worldfs.base.model import Finding
from worldfs.formats import embodied_limits
from worldfs.formats.prose import one_line

LIMITS = "EMBODIED.md Physical Constraints"


EXAMPLES = {  # how each limit is written
    "max_reach": "critic.example_max_reach",
    "max_payload": "critic.example_max_payload",
    "max_grip_width": "critic.example_max_grip_width",
    "min_grip_width": "critic.example_min_grip_width",
    "max_frame_age": "critic.example_max_frame_age",
    "bounds": "critic.example_bounds",
    "perception": "critic.example_perception",
}


class RefusalReason(NamedTuple):
    code: str
    field: str
    warning: bool = False


REASONS: dict[str, RefusalReason] = {
    "critic.no_profile": RefusalReason("OP_NOT_IN_PROFILE", "EMBODIED.md"),
    "critic.op": RefusalReason("OP_NOT_IN_PROFILE", "EMBODIED.md Supported Actions"),
    "critic.missing": RefusalReason("SCHEMA_VALIDATION", "ACTION.md params / {name}"),
    "critic.type": RefusalReason("SCHEMA_VALIDATION", "ACTION.md params / {name}"),
    "critic.extra": RefusalReason("SCHEMA_VALIDATION", "ACTION.md params / {name}", warning=True),
    "critic.not_read": RefusalReason("UNKNOWN_PARAMETER", "ACTION.md params / {name}"),
    "critic.finite": RefusalReason("SCHEMA_VALIDATION", "ACTION.md params / {name}"),
    "critic.sensor": RefusalReason("REQUIRED_SENSOR_MISSING", "EMBODIED.md Sensors"),
    "critic.unknown": RefusalReason("UNKNOWN_OBJECT", "ENVIRONMENT.md objects"),
    "critic.unseen": RefusalReason("UNKNOWN_OBJECT", "ENVIRONMENT.md objects", warning=True),
    "critic.furniture": RefusalReason("CRITIC_REFUSED", "ENVIRONMENT.md objects / {id}"),
    "critic.place": RefusalReason("SCHEMA_VALIDATION", "ENVIRONMENT.md objects / {id} / position"),
    "critic.astray": RefusalReason("SCHEMA_VALIDATION", "ACTION.md params / target_position"),
    "critic.round": RefusalReason("CRITIC_REFUSED", "ENVIRONMENT.md objects / {id} / shape"),
    "critic.steep": RefusalReason("CRITIC_REFUSED", "ENVIRONMENT.md objects / {id} / orientation"),
    "critic.unsteady": RefusalReason("CRITIC_REFUSED", "ENVIRONMENT.md objects / {id} / size"),
    "critic.reach_unchecked": RefusalReason("REACH_UNCHECKED", f"{LIMITS} / Max Reach", warning=True),
    "critic.payload": RefusalReason("PROFILE_LIMIT", f"{LIMITS} / Max Payload"),
    "critic.mass_unknown": RefusalReason("MASS_UNKNOWN", f"{LIMITS} / Max Payload", warning=True),
    "critic.grip": RefusalReason("PROFILE_LIMIT", f"{LIMITS} / Max Grip Width"),
    "critic.small": RefusalReason("PROFILE_LIMIT", f"{LIMITS} / Min Grip Width"),
    "critic.width_unknown": RefusalReason("WIDTH_UNKNOWN", f"{LIMITS} / Max Grip Width", warning=True),
    "critic.holding": RefusalReason("HOLDING", "ENVIRONMENT.md robots / {node} / holding"),
    "critic.empty": RefusalReason("NOT_HOLDING", "ENVIRONMENT.md robots / {node} / holding"),
    "critic.other_held": RefusalReason("HOLDING", "ENVIRONMENT.md robots / {node} / holding"),
    "critic.held_elsewhere": RefusalReason("HELD_ELSEWHERE", "ENVIRONMENT.md robots / {other} / holding"),
    "critic.too_deep": RefusalReason("SCHEMA_VALIDATION", "ACTION.md params / steps"),
    "critic.unread": RefusalReason("LIMIT_UNREAD", LIMITS),
}


def finding(key: str, job: str, given: tuple[str, ...] = (), **words: object) -> Finding:
    """The finding of one reason, its blanks filled. Values are data: they are put in, never read as a template.
    `given`: the measured facts that it comes from; () where the order alone is wrong."""
    reason = REASONS[key]
    expected, found, fix = (coded(f"{key}.{part}", **words) for part in ("expected", "found", "fix"))
    field = one_line(reason.field.format(**words), 200)
    return Finding(reason.code, field, expected, found, fix, job, reason.warning, given)


def unread_limit(line: str, job: str = "") -> Finding:
    """A line of EMBODIED.md that is a limit, or resembles one, and cannot be read; its fix shows that limit."""
    example = coded(EXAMPLES.get(embodied_limits.resembled(line), "critic.example_other"))
    return finding("critic.unread", job, line=one_line(line, 600), example=example)


def display_value(value: object) -> str:
    """A value for a message: short, on one line, control characters escaped."""
    if isinstance(value, str):
        return one_line(value, 80) or '""'
    form = reprlib.Repr()
    form.maxlist, form.maxtuple, form.maxlevel, form.maxstring, form.maxother = 8, 8, 3, 60, 60
    try:
        return one_line(form.repr(value), 120)
    except ValueError:  # an integer of thousands of digits has no text in Python
        return f"a {type(value).__name__} too long to print"


def vector(values: Sequence[float]) -> str:
    """A position, to the millimetre: `[1.2, 0.75, 0.8]`."""
    return vector_text(values[:3])


def short_list(items: Sequence[str]) -> str:
    """A list that stays short."""
    shown = ", ".join(one_line(item, 60) for item in items[:8])
    more = len(items) - 8
    if more > 0:
        shown += f" … (+{more})"
    return shown or coded("common.nothing")
