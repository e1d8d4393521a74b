"""The score: successes with Wilson's interval, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from worldfs.base.json_values import as_float, as_int
from worldfs.base.model import Json
from worldfs.skills.success_rate import SuccessRate, success_rate

ATTEMPTS: Final = 3  # at a goal


def results_table(lines: Sequence[Json], names: Sequence[str], families: Sequence[str]) -> str:
    """Markdown: a row for each method. `lines`: finished trials as they stand in trials.jsonl."""
    seeds = sorted({as_int(line["seed"]) for line in lines})
    head = ["contestant", *families, "all", "at the first attempt", "attempts a goal"]
    rows = [head, ["---"] * len(head)]
    for name in names:
        own = [line for line in lines if line["contestant"] == name]
        shares = [str(_of(own, family)) for family in families]
        rows.append([name, *shares, str(_of(own)), str(_of(own, key="first")), _attempts(own)])
    about = f"Seeds {seeds[0]} to {seeds[-1]}" if seeds else "No seeds"
    text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (
        f"# Tabletop\n\n{about}; successes of trials, with Wilson's interval of 95 %. A goal has up to {ATTEMPTS} "
        f"attempts; at the first attempt: nothing was tried again, no grasp either.\n\n{text}\n"
    )


def summary(lines: Sequence[Json], names: Sequence[str], families: Sequence[str]) -> Json:
    """As JSON: method → family → good, tried, rate, low, high, median seconds; and the failures, each with why."""
    contestants: Json = {}
    for name in names:
        own = [line for line in lines if line["contestant"] == name]
        by = {family: _summary([line for line in own if line["family"] == family]) for family in families}
        contestants[name] = {
            "spec": own[-1]["mark"] if own else "", "families": by, "all": _summary(own),
            "failures": [
                {key: line[key] for key in ("family", "seed", "why", "disturbed")} for line in own if not line["ok"]
            ],
        }  # fmt: skip
    return {"confidence": 0.95, "interval": "wilson", "contestants": contestants}


def _of(lines: Iterable[Json], family: str = "", key: str = "ok") -> SuccessRate:
    kept = [bool(line[key]) for line in lines if family in ("", line["family"])]
    return success_rate(sum(kept), len(kept))


def _attempts(lines: Sequence[Json]) -> str:
    goals = sum(as_int(line["goals"]) for line in lines)
    return f"{sum(as_int(line['attempts']) for line in lines) / goals:.2f}" if goals else "–"


def _summary(lines: Sequence[Json]) -> Json:
    found, first = _of(lines), _of(lines, key="first")
    times = sorted(as_float(line["sim_s"]) for line in lines if line["ok"])
    return {
        "good": found.good, "tried": found.tried, "rate": round(found.rate, 4) if found.tried else None,
        "low": round(found.low, 4), "high": round(found.high, 4),
        "first": first.good, "first_rate": round(first.rate, 4) if first.tried else None,
        "attempts": sum(as_int(line["attempts"]) for line in lines),
        "goals": sum(as_int(line["goals"]) for line in lines),
        "median_sim_s": times[len(times) // 2] if times else None,
    }  # fmt: skip
