"""Constraints of a plan: what must not be touched, and what an execution has learned so far."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from worldfs.base.model import Profile, Vec


@dataclass(frozen=True, slots=True)
class PlanConstraints:
    """Constraints of a plan: `protected` is never touched, `abandoned` neither (id → why), `spots` have failed."""

    protected: Collection[str] = ()
    abandoned: Mapping[str, str] = field(default_factory=dict)
    spots: Mapping[str, Sequence[Vec]] = field(default_factory=dict)
    late: Sequence[str] = ()  # things tried before without success: after all others
    dig: Mapping[str, Sequence[str]] = field(default_factory=dict)  # id in a container → neighbours to lift out
    profile_of: Callable[[str], Profile | None] | None = None  # of another robot; None: partners are not judged
