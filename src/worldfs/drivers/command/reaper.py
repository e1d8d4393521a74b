"""The end of every process of a tree: asked first, killed after a while, until none is left."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from . import proc
from .proc import Proc

GRACE: Final = 1.0  # s between the asking and the killing
LIMIT: Final = 1.9  # s for both: nothing is left two seconds after it was decided
STEP: Final = 0.02  # s between two looks
CLOSELY: Final = 64  # processes

Word = Literal["", "gone", "hurry"]


class Named(NamedTuple):
    """A process as people are told of it."""

    pid: int
    words: str


class Swept(NamedTuple):
    met: tuple[Named, ...]  # alive when it began
    survivors: tuple[Named, ...]  # still alive at the limit: stuck in the system, or not ours to end


def sweep(
    find: Callable[[], Iterable[Proc]],
    wait: Callable[[float], Word],
    *,
    grace: float = GRACE,
    limit: float = LIMIT,
    now: Callable[[], float] = time.monotonic,
) -> Swept:
    """End all that `find` finds: TERM to each once, newcomers too; after `grace` KILL, again and again.

    `wait(s)` passes at most `s` seconds and says "gone" when nothing is left, "hurry" when the grace is over at once.
    Each is signalled alone, never by its group: who takes a second TERM for "now!" must not get two.
    """
    begun = now()
    asked: set[tuple[int, int]] = set()
    met: dict[tuple[int, int], Named] = {}

    def name(one: Proc) -> None:
        if one.id not in met:  # of a great many only the first are looked at closely: the others go on breeding
            met[one.id] = Named(one.pid, proc.words(one) if len(met) < CLOSELY else f"[{one.name}]")

    def ask() -> None:
        for one in find():
            if one.id in asked or one.dead:
                continue
            asked.add(one.id)
            name(one)
            _try(one, signal.SIGTERM)
            _try(one, signal.SIGCONT)  # a stopped process takes no TERM

    ask()
    word = wait(0)
    while not word and (rest := begun + grace - now()) > 0:
        word = wait(min(rest, STEP))
        ask()
    while word != "gone":
        left = [one for one in find() if not one.dead]
        for one in left:
            name(one)
            _try(one, signal.SIGKILL)
        word = wait(STEP)
        if word != "gone" and now() - begun > max(limit, grace):
            return Swept(tuple(met.values()), tuple(met[one.id] for one in left))
    return Swept(tuple(met.values()), ())


def _try(one: Proc, number: int) -> None:
    with suppress(PermissionError):  # it became somebody else (sudo, su): a survivor, which is said
        proc.strike(one, number)
