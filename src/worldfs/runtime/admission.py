"""Admission: the checks of an order when it is accepted, which need no driver."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Job, Order
from worldfs.base.stop_words import has_stop_word, is_stop

_NO_WORD: Final = re.compile(r"[\W_]+")  # between the words of an operation's name


def admit(
    order: Order,
    nodes: Collection[str],
    known: Callable[[str], bool],
    jobs: Mapping[str, Job] | None = None,
    off: Collection[str] = (),
    *,
    asks: bool = False,
    refused: Callable[[str], Finding | None] = lambda node: None,
) -> list[Finding]:
    """All findings against an order: an unknown or disabled node, a value that nobody can be shown, an unknown
    dependency, a dependency cycle.

    `jobs`: the open jobs, the order's own among them. `off`: robots that are declared and disabled.
    `asks`: the order waits for approval. `refused`: why the entry that declares a node was refused.
    """
    findings = []
    if order.node in off:
        findings.append(
            Finding(
                "ROBOT_DISABLED",
                f"{order.sheet} {order.id} robot_id",
                coded("runtime.enabled_robot"),
                coded("runtime.disabled", node=order.node),
                coded("runtime.enable_robot"),
                order.id,
            )
        )
    elif order.node not in nodes and (why := refused(order.node)) is not None:
        findings.append(replace(why, job=order.id))
    elif order.node not in nodes:
        findings.append(
            Finding(
                "NODE_UNKNOWN",
                f"{order.sheet} {order.id} robot_id",
                coded("common.one_of", names=sorted(nodes) or coded("runtime.no_nodes")),
                order.node or coded("runtime.no_robot_id"),
                coded("runtime.name_robot"),
                order.id,
            )
        )
    if asks and (bad := _unwritable(order)) is not None:
        findings.append(
            Finding(
                "SCHEMA_VALIDATION",
                f"{order.sheet} {order.id} {bad[0]}",
                coded("runtime.plain_json"),
                bad[1],
                coded("runtime.write_plain_json"),
                order.id,
            )
        )
    for other in order.depends_on:
        if other == order.id or not known(other):
            findings.append(
                Finding(
                    "DEPENDENCY_FAILED",
                    f"{order.sheet} {order.id} depends_on",
                    coded("runtime.known_jobs"),
                    other,
                    coded("runtime.submit_first"),
                    order.id,
                )
            )
    if not findings and has_cycle(order, jobs or {}):
        findings.append(
            Finding(
                "DEPENDENCY_FAILED",
                f"{order.sheet} {order.id} depends_on",
                coded("runtime.no_cycle"),
                coded("runtime.cycle"),
                coded("runtime.break_cycle"),
                order.id,
            )
        )
    return findings


def means_stop(order: Order) -> list[Finding]:
    """The finding against an order that is to stop a robot: it would wait behind the job that it is to end."""
    words = _NO_WORD.sub(" ", order.op)
    if not (is_stop(words) or has_stop_word(words)):
        return []
    fix = coded("runtime.stop_by_command", node=order.node)
    expected, found = coded("runtime.an_operation"), coded("runtime.stop_in_queue", op=order.op)
    return [Finding("OP_NOT_IN_PROFILE", f"{order.sheet} {order.id} action_type", expected, found, fix, order.id)]


def _unwritable(order: Order) -> tuple[str, str] | None:
    """The member of an order that JSON or UTF-8 cannot express, and what it holds: shown, it would be another order."""
    for name, value in (("params", order.params), ("action", order.op), ("request", order.request)):
        try:
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            return name, coded("runtime.half_character", code=f"U+{ord(error.object[error.start]):04X}")
        except ValueError:
            return name, coded("file.not_finite")
    return None


def has_cycle(order: Order, jobs: Mapping[str, Job]) -> bool:
    """Whether the order depends on itself, through any number of other jobs."""
    seen: set[str] = set()
    ahead = list(order.depends_on)
    while ahead:
        id = ahead.pop()
        if id == order.id:
            return True
        if id not in seen and id in jobs:
            seen.add(id)
            ahead.extend(jobs[id].order.depends_on)
    return False
