"""Room in an open box: whether a thing can lie in it, and where, beside what lies there and with room for two fingers.

Metres, world frame. A box is given by its outer size. A thing keeps the side on which it lies, and may be turned about
the vertical. Planners and bodies ask the same functions, so that a body finds the room that a plan claims.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .footprint import ROUNDING, LyingOutline, LyingShape, lying
from .model import Thing

WALL_M: Final = 0.008  # of a box; also its bottom
CLEAR_M: Final = 0.004  # between a thing and a wall, or another thing
FINGER_M: Final = 0.031  # of an opening finger, beside each of the two sides by which a thing is held
FINGER_WIDE_M: Final = 0.022
DEPTH_M: Final = 0.030  # a thing is held so far below its top, a low one in its middle
TIP_M: Final = 0.012  # and the fingers reach so much farther down
PALM_M: Final = 0.037  # from where it is held up to the hand, which stays above the rim
STEPS_M: Final = (0.012, 0.006)  # between two places that are tried, and where none of those will do
TURNS: Final = tuple(math.radians(5 * n) for n in range(36))


class RestSpot(NamedTuple):
    """`x`, `y`: the centre. `turn` (rad): of its sides without fingers; the fingers are across."""

    x: float
    y: float
    turn: float


class _Inside(NamedTuple):
    """The space between the walls: its middle, half of its sides, its turn, its floor and its rim."""

    x: float
    y: float
    half: tuple[float, float]
    turn: float
    floor: float
    rim: float

    def lay(
        self, at: Sequence[float], along: float, across: float, turn: float, *, round: bool = False
    ) -> LyingOutline:
        """A thing of these sides at a point of the box, from its middle, turned against it."""
        cos, sin = math.cos(self.turn), math.sin(self.turn)
        x, y = self.x + at[0] * cos - at[1] * sin, self.y + at[0] * sin + at[1] * cos
        return LyingOutline.at(x, y, LyingShape(along, across, 0.0, self.turn + turn, round))


def _inside(box: Thing) -> _Inside:
    shape, bottom = lying(box), box.position[2] - box.size[2] / 2
    half = (shape.along / 2 - WALL_M, shape.across / 2 - WALL_M)
    return _Inside(box.position[0], box.position[1], half, shape.turn, bottom + WALL_M, bottom + box.size[2])


def fits(thing: Thing, box: Thing) -> bool:
    """Whether it can lie or stand between the walls of the box if that is empty. Sizes that are not known fit."""
    if len(thing.size) < 3 or len(box.size) < 3:
        return True
    return next(_turns(_flat(thing), _inside(box)), None) is not None


def _flat(thing: Thing) -> Thing:
    """The same as a box or a disc that lies on its bottom."""
    shape = lying(thing)
    sides = (shape.along, shape.across, shape.height)
    return Thing(thing.id, shape="cylinder" if shape.round else "box", size=sides)


def _turns(flat: Thing, inside: _Inside) -> Iterator[float]:
    """The turns against the box with which it lies between the walls, the square ones first."""
    along, across = flat.size[:2]
    for turn in (0.0,) if flat.shape == "cylinder" else (0.0, math.pi / 2, *TURNS):
        half = _half(along, across, 0.0 if flat.shape == "cylinder" else turn)
        if half[0] + CLEAR_M <= inside.half[0] and half[1] + CLEAR_M <= inside.half[1]:
            yield turn


def _half(along: float, across: float, turn: float) -> tuple[float, float]:
    """Half of the sides of the rectangle round a turned one."""
    cos, sin = abs(math.cos(turn)), abs(math.sin(turn))
    return (along * cos + across * sin) / 2, (along * sin + across * cos) / 2


def spots(
    thing: Thing, box: Thing, there: Sequence[Thing], *, widest: float = math.inf, held: bool = False
) -> Iterator[RestSpot]:
    """Places on the floor of the box where the thing lies clear of the walls and of what is `there`, and where two
    fingers that let go of it have room: from one corner on, row by row, so that the next thing finds room as well.

    `widest`: across what the gripper can close; a thing that is narrower both ways may be held either way. `held`: it
    is held already, across its second side.
    """
    found = False
    for step in STEPS_M:
        for spot in _spots(thing, box, there, step, widest=widest, held=held):
            found = True
            yield spot
        if found:
            return


def _spots(
    thing: Thing, box: Thing, there: Sequence[Thing], step: float, *, widest: float, held: bool
) -> Iterator[RestSpot]:
    inside, flat = _inside(box), _flat(thing)
    tips, round = _tips(flat.size[2], inside), flat.shape == "cylinder"
    around = [LyingOutline.of(other) for other in there]
    high = [other.position[2] + lying(other).height / 2 > tips for other in there]
    standing = [shape for shape, is_high in zip(around, high, strict=True) if is_high]
    walls = inside.half if inside.rim > tips else (math.inf, math.inf)
    for turn in [turn for turn, _ in zip(_turns(flat, inside), range(2), strict=False)]:
        half = _half(flat.size[0], flat.size[1], 0.0 if round else turn)
        hands = [(turn, flat.size[1])] if held else _held_ways(flat, turn, widest)
        for u in _steps(inside.half[0] - half[0] - CLEAR_M, step):
            for v in _steps(inside.half[1] - half[1] - CLEAR_M, step):
                laid = inside.lay((u, v), flat.size[0], flat.size[1], turn, round=round)
                if not _clear(laid, around, CLEAR_M):
                    continue
                for hand, width in hands:
                    if all(
                        _within(at, hand, walls)
                        and _clear(inside.lay(at, FINGER_WIDE_M, FINGER_M, hand), standing, ROUNDING)
                        for at in _fingers((u, v), hand, width)
                    ):
                        yield RestSpot(laid.x, laid.y, inside.turn + hand)
                        break


def _steps(reach: float, step: float) -> list[float]:
    """Places from one end to the other, both ends among them."""
    count = max(1, math.ceil(2 * reach / step))
    return [-reach + 2 * reach * n / count for n in range(count + 1)] if reach > 0 else [0.0]


def _clear(one: LyingOutline, others: Sequence[LyingOutline], least: float) -> bool:
    """Whether each gap is at least so wide; by the circles alone where they tell."""
    for other in others:
        away = math.hypot(one.x - other.x, one.y - other.y)
        if away - one.outer - other.outer >= least:
            continue
        if away - one.inner - other.inner < least or one.gap(other) < least:
            return False
    return True


def _tips(height: float, inside: _Inside) -> float:
    """How high the fingertips are when they let go of a thing on the floor."""
    grasp = height / 2 if height <= 2 * (DEPTH_M - TIP_M / 2) else height - DEPTH_M
    return inside.floor + max(0.0, grasp - TIP_M, inside.rim - inside.floor - PALM_M - TIP_M)


def _held_ways(flat: Thing, turn: float, widest: float) -> list[tuple[float, float]]:
    """The turns of the hand about a thing so turned, and across what it closes: the narrower side first."""
    along, across = flat.size[:2]
    if flat.shape == "cylinder":
        ways = [(n * math.pi / 4, across) for n in range(4)]
    else:
        ways = sorted(((turn, across), (turn + math.pi / 2, along)), key=lambda way: way[1])
    return [way for way in ways if way[1] <= widest]


def _fingers(at: tuple[float, float], hand: float, width: float) -> Iterator[tuple[float, float]]:
    """Where the two fingers are; they close across a width."""
    away = (width + FINGER_M) / 2
    for side in (away, -away):
        yield at[0] - side * math.sin(hand), at[1] + side * math.cos(hand)


def _within(at: tuple[float, float], hand: float, walls: tuple[float, float]) -> bool:
    half = _half(FINGER_WIDE_M, FINGER_M, hand)
    return abs(at[0]) + half[0] <= walls[0] and abs(at[1]) + half[1] <= walls[1]
