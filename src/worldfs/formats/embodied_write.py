"""EMBODIED.md rendered from a profile: what a body declares of itself (workspace §3.8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from worldfs.base.model import Operation, Parameter, Profile


def write(profile: Profile) -> bytes:
    """The page in English. `embodied.read` gives the same profile back."""
    return ("\n".join(_lines(profile)) + "\n").encode()


def _actions_table(operations: Sequence[Operation]) -> list[str]:
    """Supported Actions as a table: one operation a row."""
    rows = [
        ("Action Type", "Description", "Parameters"),
        *((op.name, _cell(op.description), ", ".join(map(_parameter, op.parameters)) or "—") for op in operations),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    cells = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], f"|{'|'.join('-' * (width + 2) for width in widths)}|", *lines[1:]]


def _lines(profile: Profile) -> Iterator[str]:
    yield f"# EMBODIED — {profile.name or profile.model}"
    yield from ("", "## Identity")
    words = (
        ("Robot Model", profile.model), ("DOF", profile.dof), ("End Effector", profile.end_effector),
        ("Type", profile.type), ("Driver", profile.driver), ("Perception", profile.perception),
    )  # fmt: skip
    yield from (f"- **{word}**: {value}" for word, value in words if value not in ("", None))
    yield from ("", "## Sensors")
    yield from (f"- [{'x' if ticked else ' '}] {text}" for text, ticked in profile.sensors)
    yield from ("", "## Supported Actions", *_actions_table(profile.ops))
    yield from ("", "## Physical Constraints")
    limits = (
        ("Max Reach", profile.max_reach, "m"), ("Max Payload", profile.max_payload, "kg"),
        ("Max Grip Width", profile.max_grip_width, "m"), ("Min Grip Width", profile.min_grip_width, "m"),
        ("Max Frame Age", profile.max_frame_age, "s"),
    )  # fmt: skip
    yield from (f"- **{word}**: {value} {unit}" for word, value, unit in limits if value is not None)
    if profile.bounds:
        ranges = (f"{axis} ∈ [{low}, {high}]" for axis, (low, high) in zip("xyz", profile.bounds, strict=False))
        frame = f", {profile.bounds_frame} frame" if profile.bounds_frame else ""
        yield f"- **Workspace Bounds**: {', '.join(ranges)} (metres{frame})"


def _parameter(parameter: Parameter) -> str:
    mark, unit = "?" if parameter.optional else "", f" ({parameter.unit})" if parameter.unit else ""
    return f"{parameter.name}{mark}{f': {parameter.type}' if parameter.type else ''}{unit}"


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")
