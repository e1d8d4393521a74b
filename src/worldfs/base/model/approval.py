"""When a robot asks for approval before it moves: the policy of a workspace and its robots."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from .operation import Operation


class ApprovalPolicy(StrEnum):
    """What config.json `approval` may say."""

    NEVER = "never"
    RISKY = "risky"
    ALWAYS = "always"


class ApprovalRule(NamedTuple):
    """The policy of one node. `real`: its body is no simulation."""

    policy: ApprovalPolicy = ApprovalPolicy.NEVER
    real: bool = False

    def asks(self, operation: Operation | None) -> bool:
        """Whether the operation needs approval; None: one that nothing is known of.

        Risky is what moves a real body, and what no other operation can undo.
        """
        if self.policy is ApprovalPolicy.NEVER or (operation is not None and not operation.moves):
            return False
        return self.policy is ApprovalPolicy.ALWAYS or self.real or operation is None or not operation.undoable


MAY_MOVE: Final = ApprovalRule()  # without asking
