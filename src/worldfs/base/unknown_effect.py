"""Whether what an order did, and still does, is known: the one predicate of the kernel, of missions and of plans."""

from __future__ import annotations

from typing import Final

from worldfs.base.messages.coded_text import parts
from worldfs.base.model import Cause, Outcome

STOP_CONFIRMED: Final = (
    "stop_confirmed"  # of an outcome's evidence: False where the robot was to stop and may still move
)
MAY_MOVE: Final = "runtime.may_move"  # of the message of an order after which the kernel could not see a standstill
NO_REPEAT: Final = "no_repeat"  # of an outcome's evidence: True where a person must look before anything is tried again
_LOST: Final = frozenset(("STOP_UNCONFIRMED", "LOST"))
_SILENT: Final = frozenset(("runtime.timed_out", "runtime.did_not_stop"))  # ends without a word of the driver


def unknown_effect(outcome: Outcome) -> bool:
    """Whether the robot's driver was not heard when the order ended, or its robot may still move, whatever the code."""
    return is_silent(outcome) or outcome.cause is Cause.LOST or outcome.code in _LOST or is_unstopped(outcome)


def may_move_on(outcome: Outcome) -> bool:
    """Whether the kernel, not the driver, says that the robot may still move: another controller may have a robot of
    which its driver says so."""
    told = any(part.code == MAY_MOVE for part in parts(outcome.message))
    return told or is_silent(outcome) or outcome.cause is Cause.LOST


def bars_repeat(outcome: Outcome) -> bool:
    """Whether a person must look first: neither the order nor another one in its place may be tried, by any robot."""
    return unknown_effect(outcome) or bars_attempt(outcome)


def bars_attempt(outcome: Outcome) -> bool:
    """Whether the order itself is not tried once more, also when a driver that was silent has returned."""
    return is_unstopped(outcome) or outcome.evidence.get(NO_REPEAT) is True


def is_silent(outcome: Outcome) -> bool:
    """Whether the order ended without its driver, which has not returned yet."""
    return any(part.code in _SILENT for part in parts(outcome.message))


def is_unstopped(outcome: Outcome) -> bool:
    """Whether its driver says that the robot was to stop, and has not confirmed that it did."""
    return outcome.evidence.get(STOP_CONFIRMED) is False
