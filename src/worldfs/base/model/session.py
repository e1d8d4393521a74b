"""What a session's order says of its execution beside its parameters and limits: keys of SESSIONS.md, parsed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .base import Json
from .job import Order

CHUNK_MODES: Final = ("chunk_buffer", "open_loop", "single_step")  # how much of a policy's answer is used


@dataclass(frozen=True, slots=True)
class Routing:
    """The session's own choice of adapter and runtime; "" where it makes none."""

    target_adapter: str = ""
    skill_runtime: str = ""
    unusable: str = ""  # what stands for the adapter and is no name


@dataclass(frozen=True, slots=True)
class Execution:
    """How a skill is carried out; 0, "" and None where the order says nothing that can be used."""

    instruction: str = ""  # what a policy is prompted with
    control_hz: float = 0.0
    max_steps: int = 0
    replan_every: int = 0  # actions of a chunk that are used before the next inference
    chunk_mode: str = ""
    seed: int | None = None
    real_time: bool = False  # a simulation runs at the pace of the clock
    record: bool = False  # the pictures of each step are kept, for a dataset


def routing_of(order: Order) -> Routing:
    given = _mapping(order, "routing")
    adapter, runtime = given.get("target_adapter"), str(given.get("skill_runtime") or "")
    if adapter is None or (isinstance(adapter, str) and adapter):
        return Routing(adapter or "", runtime)
    return Routing("", runtime, str(adapter) or "nothing")


def execution_of(order: Order) -> Execution:
    given, seed = _mapping(order, "execution"), _mapping(order, "execution").get("seed")
    return Execution(
        str(order.extra.get("task_description") or order.params.get("instruction") or ""),
        _positive(given.get("control_hz")),
        int(_positive(given.get("max_steps"))),
        int(_positive(given.get("replan_every_steps", given.get("replan_every")))),
        str(given.get("action_chunk_mode") or ""),
        seed if type(seed) is int else None,
        given.get("real_time") is True,
        given.get("record") is True,
    )


def _mapping(order: Order, key: str) -> Json:
    found = order.extra.get(key)
    return found if isinstance(found, dict) else {}


def _positive(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0.0
