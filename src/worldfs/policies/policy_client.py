"""The port of policies: an observation and words in, a chunk of actions out, whatever the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from worldfs.base.clock import Clock
from worldfs.base.errors import WorldError
from worldfs.base.model import PolicySpec

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


@dataclass(frozen=True, slots=True)
class ActionChunk:
    """`actions` float32 (H, D), H ≥ 1; `server_ms`: as the server measured it, NaN if it did not."""

    actions: Array
    server_ms: float = float("nan")
    extra: Mapping[str, object] = field(default_factory=dict)


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


def chunk_of(actions: object, *, dim: int = 0, where: str = "actions") -> ActionChunk:
    """A chunk from what came over a wire. Raises `PolicyError` naming the shape found for anything but (D,) or (H, D)
    of finite numbers, or for a D that is not `dim` (0: any)."""

    try:
        array = np.asarray(actions, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise PolicyError(
            f"{where} are no numbers: {error}", expected=f"(H, {dim or 'D'}) numbers", code="POLICY_PROTOCOL",
            fix="is policy_client.type the protocol of this server?",
        ) from None  # fmt: skip
    if array.ndim == 1:
        array = array[None, :]
    shape: Sequence[int] = array.shape
    if array.ndim != 2 or 0 in shape or (dim and shape[1] != dim):
        raise PolicyError(
            f"{where} of shape {tuple(shape)}", expected=f"(H, {dim or 'D'})", code="POLICY_PROTOCOL",
            fix="is it the policy for this robot?",
        )  # fmt: skip
    if not np.isfinite(array).all():
        raise PolicyError(
            f"{where} hold NaN or infinity", expected="finite numbers", code="POLICY_PROTOCOL",
            fix="the policy diverged, or got an observation unlike its training: see its log",
        )  # fmt: skip
    return ActionChunk(array)
