"""The one exception of the control plane: a code of the protocol, and the same code in CamelCase.

Source: acheron §3.1 ("Codes").
"""

from __future__ import annotations

from typing import Final

from worldfs.access.decision import Decision
from worldfs.base.errors import UserError

CODES: Final = frozenset({
    "control_plane_error", "correlation_required", "forbidden", "invalid_payload", "invite_expired", "invite_not_found",
    "invite_redeemed", "missing_field", "mount_conflict", "mount_not_found", "node_auth_failed", "node_not_found",
    "operator_auth_failed", "pending_join_not_found", "project_assignment_forbidden", "project_auth_failed",
    "project_not_found", "project_policy_forbidden", "project_protected", "storage_error", "unsupported",
})  # fmt: skip


class PlaneError(UserError):
    """Refused. `correlated`: whether the reply names the correlation id (it does for operations of the plane)."""

    def __init__(self, code: str, message: str = "", *, correlated: bool = True) -> None:
        assert code in CODES, code
        self.message = message or "".join(word.capitalize() for word in code.split("_"))
        self.correlated = correlated
        super().__init__(self.message, code=code)

    @classmethod
    def of(cls, decision: Decision, *, correlated: bool = True) -> PlaneError:
        """A refusal of the judge."""
        return cls(decision.code, decision.reason, correlated=correlated)
