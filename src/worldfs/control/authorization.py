"""Authorization of every request before its operation: role, correlation, scope token."""

from __future__ import annotations

from worldfs.access.binding import NODE
from worldfs.access.caller import Caller, PlaneConfig
from worldfs.formats.wire.frames import Json

from .control_operations import OpRow
from .payload_fields import secrets_equal
from .plane_error import ADMIN_ONLY, UNCORRELATED, PlaneError


def authorize(row: OpRow, payload: Json, caller: Caller, config: PlaneConfig) -> None:
    """Raises `PlaneError`: forbidden, correlation_required, missing_field, operator_auth_failed.

    A row with `own` passes for every role here: its operation then checks the secret that gives the right.
    """
    role, correlated = caller.binding.role, row.correlated
    if role == NODE and not row.node:
        raise PlaneError("forbidden", ADMIN_ONLY, correlated=correlated)
    if row.admin and not caller.binding.admin and not row.own:
        raise PlaneError("forbidden", ADMIN_ONLY, correlated=correlated)
    if row.mutation and not caller.correlation:
        raise PlaneError("correlation_required", UNCORRELATED)
    if row.own and not caller.binding.admin:
        return
    key, token = config.asked(row.scope)
    if not token:
        return
    given = payload.get(key)
    if given is None:
        raise PlaneError("missing_field")
    if not isinstance(given, str) or not secrets_equal(given, token):
        raise PlaneError("operator_auth_failed")
