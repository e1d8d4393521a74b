"""metrics.json as it follows from the reducer of the journal and from the figures that were there before us.

- The last 30 days are the UTC day of `now` and the 29 before it. One day ahead is counted too (clocks differ); an
  entry from further in the future is counted when its day has come.
- Figures found in an imported metrics.json are added as they are. It is not known on which of their 30 days its rolling
  figures fell, so they leave the window evenly over the 30 days after its `updated_at`. Until something of ours has
  been counted the document stays as it was found.
- The invariants hold whatever was recorded: sessions_total is the sum of the three outcomes; a claim that was decided
  had been proposed, and what was hit had been attempted, even if no entry says so.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final

from worldfs.base.clock import parse_stamp, stamp
from worldfs.base.json_values import as_float
from worldfs.base.model import Json
from worldfs.base.model.agent import Metrics

from .metrics_reducer import (
    EVENTS,
    FIGURES,
    FOUND,
    LIFETIME,
    SESSIONS,
    WINDOW,
    MetricsReducer,
    RecentTotals,
    as_count,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


__all__ = [
    "EVENTS",
    "FIGURES",
    "FOUND",
    "LIFETIME",
    "SESSIONS",
    "WINDOW",
    "MetricsReducer",
    "RecentTotals",
    "lifetime_totals",
    "project",
    "recover_reducer",
]

COSTS: Final = {
    "tokens_used": ("tokens_used", 1),
    "cost_usd": ("cost_micro_usd", 1_000_000),
    "model_calls": ("model_calls", 1),
    "model_calls_unpriced": ("model_calls_unpriced", 1),
    "model_latency_s": ("model_latency_us", 1_000_000),
}
"""Of `lifetime`, once there is any: the reducer's figure, and how many of its units are one."""
_ROLLING: Final = ("sessions", "sources_archived", "claims_proposed", "acceptance_rate", "avg_sources_per_session")
_WITHIN: Final = {
    "sessions": "sessions_total",
    "sources_archived": "sources_archived",
    "claims_proposed": "claims_proposed",
}


def project(fold: MetricsReducer, agent: str, now: datetime) -> Metrics:
    """The document, lifetime and rolling_30d in the order of 003; unknown keys of what was found are kept.

    `acceptance_rate` is accepted / proposed of the window (at most 1: what is accepted now may have been proposed
    before it), null when nothing was proposed; `avg_sources_per_session` null when there was no session; both to two
    places.
    """
    found = fold.baseline or {}
    old, rolling = _dict(found, "lifetime"), _dict(found, "rolling_30d")
    extra = {key: item for key, item in found.items() if key not in Metrics._fields}
    if fold.blank and old:
        return Metrics(agent, _text(found.get("updated_at")), old, rolling, extra)
    return Metrics(
        agent,
        stamp(now.replace(microsecond=0)),
        {
            **lifetime_totals(fold),
            **{key: item for key, item in old.items() if key not in LIFETIME},
            **{key: item for key, item in _costs(fold).items() if fold.totals.get(COSTS[key][0])},
        },
        {**_rolling(fold, now), **{key: item for key, item in rolling.items() if key not in _ROLLING}},
        extra,
    )


def lifetime_totals(fold: MetricsReducer) -> dict[str, int]:
    """What was found and what was counted."""
    return _sound(_raw(fold))


def _costs(fold: MetricsReducer) -> dict[str, float]:
    """What sessions and models' calls cost; what was found before is added."""
    old, totals = _dict(fold.baseline, "lifetime"), fold.totals
    return {
        key: _amount(old, key) + totals.get(figure, 0)
        if unit == 1
        else round(_amount(old, key) + totals.get(figure, 0) / unit, 6)
        for key, (figure, unit) in COSTS.items()
    }


def _amount(lifetime: Json, key: str) -> float:
    """What a document says that something cost, 0 for anything that is no amount."""
    value = lifetime.get(key)
    return as_count(value) or 0 if COSTS[key][1] == 1 else max(0.0, as_float(value))


def _raw(fold: MetricsReducer) -> dict[str, int]:
    return _add(_found(fold.baseline), fold.totals)


def recover_reducer(found: Json | None, lines: Iterable[tuple[int, Json]]) -> MetricsReducer:
    """The reducer of an agent whose state is not there: never made, lost, or torn with the power.

    `found`: its metrics.json. `lines`: its whole journal, as far as it is kept. What the document says beyond what the
    journal had come to when it was written is a baseline: an imported document whole, of one of ours the part that
    comes from an import or from segments that are gone.
    """
    fold = MetricsReducer()
    said = _dict(found, "lifetime")
    written = _text((found or {}).get("updated_at"))
    before = at_end = None  # what the journal had come to: at that time, and with the last entry that it has of it
    within = False
    for seq, entry in lines:
        at = _text(entry.get("ts"))
        if within and at > written:
            before = _counted(fold)
        within = at <= written
        fold.apply(seq, entry)
        if at == written and _fits(counted := _counted(fold), said):
            at_end = counted
    figures, costs = at_end or (_counted(fold) if within else before) or _counted(MetricsReducer())
    beyond = {key: max(0, (as_count(said.get(key)) or 0) - figures[key]) for key in LIFETIME}
    dearer = {key: max(0, round(_amount(said, key) - costs[key], 6)) for key in COSTS}
    if found is None or not said:
        return fold
    if not any((*figures.values(), *costs.values())):
        fold.baseline = found
    elif any((*beyond.values(), *dearer.values())):
        base = fold.baseline or {key: item for key, item in found.items() if key not in ("rolling_30d", "updated_at")}
        kept = {key: item for key, item in _dict(base, "lifetime").items() if key not in COSTS}
        before_us = _dict(fold.baseline, "lifetime")
        spent = {key: total for key, more in dearer.items() if (total := round(_amount(before_us, key) + more, 6))}
        fold.baseline = {**base, "lifetime": {**kept, **_add(_found(fold.baseline), beyond), **spent}}
    return fold


def _fits(counted: tuple[dict[str, int], dict[str, float]], lifetime: Json) -> bool:
    """Whether a document with this `lifetime` may have been written when this much was counted."""
    figures, costs = counted
    return all(count <= (as_count(lifetime.get(key)) or 0) for key, count in figures.items()) and all(
        cost <= _amount(lifetime, key) for key, cost in costs.items()
    )


def _counted(fold: MetricsReducer) -> tuple[dict[str, int], dict[str, float]]:
    return _raw(fold), _costs(fold)


def _found(baseline: Json | None) -> dict[str, int]:
    """The lifetime of an imported document. Sessions whose outcome it does not name are given the outcome it lacks."""
    if not baseline:
        return dict.fromkeys(LIFETIME, 0)
    old = _dict(baseline, "lifetime")
    figures = {key: as_count(old.get(key)) or 0 for key in LIFETIME}
    unnamed = figures["sessions_total"] - sum(figures[key] for key in SESSIONS[1:])
    lacking = [
        key for key in ("sessions_completed", "sessions_error", "sessions_timeout") if as_count(old.get(key)) is None
    ]
    if unnamed > 0 and lacking:
        figures[lacking[0]] += unnamed
    figures["sessions_total"] = sum(figures[key] for key in SESSIONS[1:])
    return figures


def _add(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {key: count + other.get(key, 0) for key, count in one.items()}


def _sound(figures: dict[str, int]) -> dict[str, int]:
    decided = sum(figures[f"claims_{how}"] for how in ("accepted", "challenged", "rejected"))
    figures["sessions_total"] = sum(figures[key] for key in SESSIONS[1:])
    figures["claims_proposed"] = max(figures["claims_proposed"], decided)
    figures["disconfirmation_attempts"] = max(figures["disconfirmation_attempts"], figures["disconfirmation_hits"])
    return figures


def _rolling(fold: MetricsReducer, now: datetime) -> Json:
    own, old = fold.recent(now), _left(fold.baseline, now)
    sessions, sources = own.sessions + old["sessions"], own.sources + old["sources_archived"]
    judged, accepted = own.proposed, float(own.accepted)
    rate = _dict(fold.baseline, "rolling_30d").get("acceptance_rate")
    if isinstance(rate, int | float) and 0 <= rate <= 1:
        judged += old["claims_proposed"]
        accepted += rate * old["claims_proposed"]
    return {
        "sessions": sessions,
        "sources_archived": sources,
        "claims_proposed": own.proposed + old["claims_proposed"],
        "acceptance_rate": round(min(1.0, accepted / judged), 2) if judged else None,
        "avg_sources_per_session": round(sources / sessions, 2) if sessions else None,
    }


def _left(baseline: Json | None, now: datetime) -> dict[str, int]:
    """What is left of an imported window: as much as there are days of it that are still inside ours."""
    if not baseline:
        return dict.fromkeys(_WITHIN, 0)
    try:
        moment = parse_stamp(_text((baseline or {}).get("updated_at")))
    except OverflowError:  # the year 1, and a zone
        moment = None
    days = 0
    if moment is not None:
        days = max(0, min(WINDOW, WINDOW - (now.astimezone(UTC).date() - moment.date()).days))
    found, whole = _dict(baseline, "rolling_30d"), _found(baseline)
    return {
        key: min(round((as_count(found.get(key)) or 0) * days / WINDOW), whole[total]) for key, total in _WITHIN.items()
    }


def _dict(value: Json | None, key: str) -> Json:
    item = (value or {}).get(key)
    return item if type(item) is dict else {}


def _text(value: object) -> str:
    return value if type(value) is str else ""
