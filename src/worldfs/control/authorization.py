"""Authorization of every request before its operation."""

from __future__ import annotations

from worldfs.access.caller import Caller, PlaneConfig
from worldfs.access.judge import judge
from worldfs.access.things import OperationCall
from worldfs.access.verb import Verb
from worldfs.formats.wire.frames import Json

from .control_operations import OpRow
from .plane_error import PlaneError


def authorize(row: OpRow, payload: Json, caller: Caller, config: PlaneConfig) -> None:
    """Raises `PlaneError`: forbidden, correlation_required, missing_field, operator_auth_failed."""
    key, token = config.asked(row.scope)
    decision = judge(caller, Verb.CALL, OperationCall(row, token, payload.get(key)))
    if not decision:
        raise PlaneError.of(decision, correlated=row.correlated or decision.code == "correlation_required")
