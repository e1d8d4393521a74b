"""The nouns that plug-ins answer with: how they are parsed, what must hold within them, how a job ends without."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from .messages import coded
from .model import Cause, Finding, Outcome, RobotState, Scene, Thing
from .plugin_faults import PluginFault, error_line
from .plugin_values import WrongField, WrongValue, parse, parsed, rule

TRACEBACK_MOST: Final = 100_000  # characters, the last ones
CHAINED_MOST: Final = 20  # errors of which one came of the next


def parse_outcome(value: object, where: str) -> Outcome:
    """How an attempt ended. Raises `WrongValue`."""
    return parsed(Outcome, value, where)


def parse_findings(value: object, where: str) -> Sequence[Finding]:
    """Raises `WrongValue`."""
    found: Sequence[Finding] = parse(Sequence[Finding], value, where)  # type: ignore[assignment]  # that is what it parses
    return found


def plugin_failure(error: WrongValue | PluginFault) -> Outcome:
    """The end of a job whose plug-in answered with what its port does not have: which, where, and what it should be."""
    finding = Finding(error.code, error.path, error.expected, error.found, error.fix)
    said = coded("plugin.failed", where=error.path, found=error.found)
    if isinstance(error, WrongValue):
        said = coded("plugin.wrong_value", where=error.path, found=error.found, expected=error.expected)
    text = "" if error.__cause__ is None else traceback_text(error.__cause__)
    return Outcome.failure(Cause.ERROR, error.code, said, traceback=text, findings=(finding,))


def traceback_text(error: BaseException) -> str:
    """Where it was raised, and what it came of, the first one first. Unlike Python's own, which looks for a better
    spelling in the objects of an `AttributeError`, it asks a package's objects nothing."""
    parts: list[str] = []
    one: BaseException | None = error
    while one is not None and len(parts) < CHAINED_MOST:
        places = "".join(traceback.format_tb(vars(BaseException)["__traceback__"].__get__(one)))
        parts.append(f"Traceback (most recent call last):\n{places}{error_line(one)}\n")
        one = _came_of(one)
    return "\n".join(reversed(parts)).encode("utf-8", "replace").decode()[-TRACEBACK_MOST:]


def _came_of(error: BaseException) -> BaseException | None:
    """What Python keeps of it, whatever its class has by that name."""
    cause, context, hidden = (
        vars(BaseException)[name].__get__(error) for name in ("__cause__", "__context__", "__suppress_context__")
    )
    found: BaseException | None = context if cause is None and not hidden else cause
    return found


@rule(Outcome)
def outcome_is_one(outcome: Outcome) -> WrongField | None:
    """A success has no cause and no code of a failure."""
    if outcome.ok and outcome.cause is not None:
        return WrongField("cause", f"{outcome.cause}", coded("plugin.no_cause"))
    return None


@rule(Scene)
def things_once(scene: Scene) -> WrongField | None:
    """Each robot and each thing has an id of its own."""
    for field, ids in (
        ("robots", [robot.robot_id for robot in scene.robots]),
        ("objects", [thing.id for thing in (*scene.objects, *scene.furniture)]),
    ):
        if twice := _twice(ids):
            return WrongField(field, coded("plugin.id_twice", id=twice[:60]), coded("file.own_id"))
    return None


@rule(Thing)
def thing_is_somewhere(thing: Thing) -> WrongField | None:
    """A place has three numbers, or none where it is not known; a size that is known is more than nothing."""
    return (
        _named(thing.id, "id")
        or _sides(thing.position, "position", (0, 3))
        or _sides(thing.orientation, "orientation", (0, 4))
        or _sides(thing.size, "size", (0, 1, 2, 3))
        or _positive("size", (side for side in thing.size))
        or _positive("mass", (thing.mass,))
    )


@rule(RobotState)
def robot_is_somewhere(robot: RobotState) -> WrongField | None:
    return _named(robot.robot_id, "robot_id") or _sides(robot.pose, "pose", (0, 2, 3, 4, 6, 7))


def _twice(ids: Sequence[str]) -> str:
    return next((id for id, count in Counter(ids).items() if count > 1), "")


def _named(id: str, field: str) -> WrongField | None:
    return None if id.strip() else WrongField(field, repr(id), coded("plugin.an_id"))


def _sides(numbers: Sequence[float], field: str, sizes: Sequence[int]) -> WrongField | None:
    if len(numbers) in sizes:
        return None
    found = coded("plugin.n_values", n=len(numbers))
    return WrongField(field, found, coded("plugin.n_values", n=" / ".join(map(str, sizes))))


def _positive(field: str, numbers: Iterable[float]) -> WrongField | None:
    low = next((number for number in numbers if number < 0), None)
    return None if low is None else WrongField(field, f"{low:g}", coded("plugin.no_less_than_0"))
