"""The port of policies: an observation and words in, a chunk of actions out, whatever the protocol."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from worldfs.base.clock import Clock
from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec
from worldfs.base.plugin_values import UNKNOWN, WrongField, rule
from worldfs.base.restricting_fields import bounds, restricts

Array = NDArray[Any]


class PolicyError(WorldError):
    """An unreachable policy, or an invalid answer. `code`: POLICY_CONNECTION | POLICY_PROTOCOL | POLICY_TIMEOUT
    | POLICY_CLIENT; an exception, because the provider failed and not the skill."""

    code = "POLICY_CLIENT"


@dataclass(frozen=True, slots=True)
class PolicyInfo:
    """A server's description of its policy: name, version, observations and actions."""

    name: str = ""
    version: str = ""
    observations: Mapping[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)  # empty: not described
    representation: str = ""  # a key of target_adapter.ACTIONS; "": not described
    action_dim: int = 0
    horizon: int = 0  # actions in one chunk; 0: unknown
    extra: Mapping[str, object] = field(default_factory=dict)
    # the target's name of a picture → its height and width, where the policy takes one size alone
    picture_sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)


MOST_MS: Final = 1e9  # that an answer may have taken; a call ends long before


@dataclass(frozen=True, slots=True)
class ActionChunk:
    """`actions` float32 (H, D), H ≥ 1; `server_ms`: as the server measured it, NaN if it did not."""

    actions: Array
    server_ms: Annotated[float, UNKNOWN] = float("nan")
    extra: Mapping[str, object] = field(default_factory=dict)


@rule(ActionChunk)
def chunk_has_actions(chunk: ActionChunk) -> WrongField | None:
    """At least one action of at least one number, and nothing beside them that holds them back."""
    shape = chunk.actions.shape
    if len(shape) != 2 or 0 in shape or chunk.actions.dtype.kind not in "fiu":
        return WrongField("actions", str(tuple(shape)), coded("session.rows_of", dim="D"))
    return held_back(chunk)


def held_back(chunk: ActionChunk) -> WrongField | None:
    """What is said beside the actions and would hold them back or limit them: no client reads it."""
    for name, value in chunk.extra.items():
        # figures of the model may have such names (`max_logit`): flags, words and limits of motion count
        if restricts(name, value) and (isinstance(value, bool | str) or bounds(name)):
            found = coded("file.holds_back", name=name[:80], value=str(value)[:80])
            return WrongField(name[:80], found, coded("session.actions_as_given"))
    return None


class PolicyClient(Protocol):
    """A connection to one policy. Used from one thread at a time; every call raises `PolicyError`."""

    spec: PolicySpec

    def connect(self, timeout_s: float) -> PolicyInfo: ...

    def reset(self) -> None:
        """A new episode begins."""
        ...

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk: ...

    def close(self) -> None: ...


ClientFactory = Callable[[PolicySpec, Clock], PolicyClient]


def holds_boolean(value: object) -> bool:
    """Whether True or False is among the numbers of an array, or of lists in lists."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "b")
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, bool | np.bool_):
            return True
        if isinstance(one, list | tuple):
            left += one
    return False


def server_time(took: object, where: object) -> float:
    """The milliseconds that a server says an answer took; NaN if it says none. Raises `PolicyError` for an impossible
    number. `where`: the endpoint."""
    if isinstance(took, bool) or not isinstance(took, int | float) or (isinstance(took, float) and math.isnan(took)):
        return float("nan")
    if not 0 <= took <= MOST_MS:
        raise PolicyError(
            coded("session.odd_time", text=repr(took)[:40]), path=str(where), expected=coded("session.time_ms"),
            code="POLICY_PROTOCOL", fix=coded("session.see_protocol"),
        )  # fmt: skip
    return float(took)


def chunk_of(actions: object, *, dim: int = 0, where: str = "actions") -> ActionChunk:
    """A chunk from what came over a wire. Raises `PolicyError` naming the shape found for anything but (D,) or (H, D)
    of finite numbers, or for a D that is not `dim` (0: any)."""

    try:
        if holds_boolean(actions):
            raise ValueError("bool")
        array = np.asarray(actions, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise PolicyError(
            coded("session.not_numbers", where=where, why=str(error)),
            expected=coded("session.rows_of", dim=dim or "D"),
            code="POLICY_PROTOCOL",
            fix=coded("session.see_protocol"),
        ) from None
    if array.ndim == 1:
        array = array[None, :]
    shape: Sequence[int] = array.shape
    if array.ndim != 2 or 0 in shape or (dim and shape[1] != dim):
        raise PolicyError(
            coded("session.of_shape", where=where, shape=str(tuple(shape))),
            expected=coded("session.rows_of", dim=dim or "D"),
            code="POLICY_PROTOCOL",
            fix=coded("session.other_robot"),
        )
    if not np.isfinite(array).all():
        raise PolicyError(
            coded("session.not_finite", where=where), expected=coded("session.only_finite"), code="POLICY_PROTOCOL",
            fix=coded("session.diverged"),
        )  # fmt: skip
    return ActionChunk(array)
