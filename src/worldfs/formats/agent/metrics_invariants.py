"""What must hold between the figures of one document (reference, ambiguity 9)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from worldfs.base.messages import coded

from .object_schema import finding

if TYPE_CHECKING:
    from worldfs.base.model import Finding

_WITHIN: Final = (("sessions", "sessions_total"), ("sources_archived",) * 2, ("claims_proposed",) * 2)
_REFOLD: Final = "count it anew from the journal: paos check --fix"
_ROUNDED: Final = 0.0051  # averages are written with two decimals


def metrics(value: dict[str, Any], file: str) -> Iterator[Finding]:
    """Of a metrics.json that its table accepts. Figures that are not there are not judged."""
    life, rolling = value["lifetime"], value.get("rolling_30d") or {}

    def wrong(pointer: str, expected: str, found: Any) -> Finding:
        return finding("WRONG_TOTAL", file, pointer, expected=expected, found=str(found), fix=_REFOLD)

    ended = [life.get(f"sessions_{how}") for how in ("completed", "timeout", "error")]
    total = life.get("sessions_total")
    if total is not None and None not in ended and total != sum(ended):
        yield wrong("/lifetime/sessions_total", coded("file.sum_ended", n=sum(ended)), total)
    decided = [life.get(f"claims_{how}") for how in ("accepted", "challenged", "rejected")]
    proposed = life.get("claims_proposed")
    if proposed is not None and None not in decided and proposed < sum(decided):
        least = sum(decided)
        yield wrong("/lifetime/claims_proposed", coded("file.sum_decided", n=least), proposed)
    tries, hits = life.get("disconfirmation_attempts"), life.get("disconfirmation_hits")
    if tries is not None and hits is not None and hits > tries:
        yield wrong("/lifetime/disconfirmation_hits", coded("file.most_attempts", n=tries), hits)
    for part, whole in _WITHIN:
        if part in rolling and whole in life and rolling[part] > life[whole]:
            yield wrong(f"/rolling_30d/{part}", f"at most lifetime/{whole}, {life[whole]}", rolling[part])
    rate = rolling.get("acceptance_rate")
    if rate is not None and rate > 1:
        yield wrong("/rolling_30d/acceptance_rate", coded("file.rate"), rate)
    sessions, sources = rolling.get("sessions"), rolling.get("sources_archived")
    mean = rolling.get("avg_sources_per_session")
    if mean is not None and sessions and sources is not None and abs(mean - sources / sessions) > _ROUNDED:
        yield wrong("/rolling_30d/avg_sources_per_session", f"{sources} / {sessions} = {sources / sessions:.2f}", mean)
