"""What a stream must be to keep a bucket: nothing that was acknowledged is forgotten, and nothing else is let in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

LARGEST: Final = 1 << 20  # bytes of a message, headers included: what a server takes unless it is told otherwise
# Beside what we ask for ourselves. A limit of bytes is none of them: a full stream refuses, and forgets nothing.
DEMANDED: Final[Mapping[str, object]] = {
    "max_age": 0, "max_msgs": -1, "discard_new_per_subject": False, "no_ack": False, "sealed": False, "mirror": None,
    "sources": None, "subject_transform": None,
}  # fmt: skip
OURS: Final = frozenset({"num_replicas", "subjects", "name"})  # compared elsewhere, or below


def demand_stream(bucket: str, name: str, found: Mapping[str, object], asked: Mapping[str, object]) -> None:
    """Raises `BadInput` for a stream that is another than `asked` in what matters: it says in which."""
    for member, value in {**DEMANDED, **{key: asked[key] for key in asked.keys() - OURS}}.items():
        # The server leaves out what is false, or not set.
        said = found.get(member, -1 if value == -1 else type(value)() if value is not None else None)
        if said != value or type(said) is not type(value):
            raise _other(bucket, name, f"{member}={_shown(said)}", f"{member}={_shown(value)}")
    size = found.get("max_msg_size", -1)
    if not isinstance(size, int) or 0 <= size < LARGEST:
        raise _other(bucket, name, f"max_msg_size={_shown(size)}", f"max_msg_size={LARGEST}")
    subjects, wanted = found.get("subjects"), asked["subjects"]
    if subjects != wanted:
        raise _other(bucket, name, f"subjects={_shown(subjects)}", f"subjects={_shown(wanted)}")


def _other(bucket: str, name: str, found: str, expected: str) -> BadInput:
    return BadInput(
        coded("engine.other_stream", stream=name, found=found), op="open a store", path=bucket, expected=expected,
        fix=coded("engine.edit_stream", stream=name), code="ENGINE_STREAM",
    )  # fmt: skip


def _shown(value: object) -> str:
    return f"{value}"[:80]
