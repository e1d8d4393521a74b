"""Ends every process of a tree: TERM first, KILL after the grace period, until none is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from worldfs.base import proc
from worldfs.base.proc import ProcessEntry

GRACE: Final = 1.0  # s between the asking and the killing
KILLING: Final = 0.9  # s for the killing: nothing is left two seconds after it was decided
STEP: Final = 0.02  # s between two checks
CLOSELY: Final = 64  # processes whose command line is read
BREEDING: Final = 200  # more processes than got the TERM: they are not about to end

Interruption = Literal["", "gone", "hurry"]


class ProcessLabel(NamedTuple):
    """A process as it is reported to people."""

    pid: int
    words: str


class ReapResult(NamedTuple):
    reaped: tuple[ProcessLabel, ...] = ()  # alive when it began, or since
    survivors: tuple[ProcessLabel, ...] = ()  # still alive at the limit: stuck in the kernel, or owned by another user


def reap(
    find: Callable[[], Iterable[ProcessEntry]],
    wait: Callable[[float], Interruption],
    *,
    now: Callable[[], float],
    grace: float = GRACE,
    limit: float = GRACE + KILLING,
    groups: bool = False,
) -> ReapResult:
    """End all that `find` finds: TERM to each once; after `grace` KILL to whatever is there, again and again.

    A process that starts after the TERM gets none: it may be part of a cleanup. Only a great many shorten the grace.

    `wait(s)` passes at most `s` seconds and returns "gone" when nothing is left, "hurry" when the grace is over.
    TERM goes to each process, never to a group: a second TERM means "now!" to many programs. `groups`: the groups
    of what is found consist of nothing else, so that KILL may go to them: no fork slips through that (kill(2)).
    """
    begun = now()
    met: dict[tuple[int, int], ProcessLabel] = {}

    def name(one: ProcessEntry) -> None:
        if one.id not in met:
            met[one.id] = ProcessLabel(one.pid, proc.command_text(one) if len(met) < CLOSELY else f"[{one.name}]")

    targets = [one for one in find() if not one.dead]
    for one in targets:
        name(one)
        _try(one, signal.SIGTERM)
        _try(one, signal.SIGCONT)  # a stopped process takes no TERM
    word = wait(0)
    while not word and (rest := begun + grace - now()) > 0:
        word = wait(min(rest, STEP))
        if not word and sum(not one.dead for one in find()) > len(targets) + BREEDING:
            word = "hurry"
    while word != "gone":
        left = [one for one in find() if not one.dead]
        killed = {group for group, one in {one.group: one for one in left}.items() if groups and _kill_group(one)}
        for one in left:
            if one.group not in killed:
                _try(one, signal.SIGKILL)
            name(one)
        word = wait(STEP / 4)
        if word != "gone" and now() - begun > max(limit, grace):
            return ReapResult(tuple(met.values()), tuple(met[one.id] for one in left))
    return ReapResult(tuple(met.values()), ())


def _kill_group(member: ProcessEntry) -> bool:
    there = proc.find_process(member.pid)  # the group's number is the group's as long as a member lives
    if there is None or there[:4] != member[:4] or there.start != member.start or member.group in (0, 1, os.getpgrp()):
        return False
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(member.group, signal.SIGKILL)
        return True
    return False


def _try(one: ProcessEntry, number: int) -> None:
    with suppress(PermissionError):  # it changed its user (sudo, su): reported as a survivor
        proc.send_signal(one, number)
