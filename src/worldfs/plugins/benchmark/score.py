"""The score: successes with Wilson's interval, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from worldfs.base.json_values import as_float, as_int, as_object
from worldfs.base.model import Json
from worldfs.skills.success_rate import SuccessRate, success_rate

ATTEMPTS: Final = 3  # at a goal
Ranges = Mapping[str, tuple[float, float]]  # of the factors that worlds were drawn from
UNCHANGED: Final[Ranges] = MappingProxyType({})


def results_table(
    lines: Sequence[Json], names: Sequence[str], families: Sequence[str], ranges: Ranges = UNCHANGED
) -> str:
    """Markdown: a row for each method. `lines`: finished trials as they stand in trials.jsonl."""
    lines, changed = [line for line in lines if not line.get("world")], _with_good_twin(lines)
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
        + (_worlds(changed, names, families, ranges) if ranges else "")
    )


def _worlds(lines: Sequence[Json], names: Sequence[str], families: Sequence[str], ranges: Ranges) -> str:
    """Markdown: the same in the drawn worlds, and each factor's lower and upper half by itself."""
    rows = [["contestant", *families, "all"], ["---"] * (len(families) + 2)]
    halves = [["factor", "drawn from", *(f"{name}, {half}" for name in names for half in ("low half", "high half"))]]
    halves.append(["---"] * len(halves[0]))
    for name in names:
        own = [line for line in lines if line["contestant"] == name]
        rows.append([name, *(str(_of(own, family)) for family in families), str(_of(own))])
    for factor, (low, high) in ranges.items():
        shares = []
        for name in names:
            own = [line for line in lines if line["contestant"] == name]
            shares += [str(_of(line for line in own if part(_level(line, factor)))) for part in _parts(low, high)]
        halves.append([factor, f"{low:g}" if low == high else f"{low:g} to {high:g}", *shares])
    first, second = ("\n".join(f"| {' | '.join(row)} |" for row in table) for table in (rows, halves))
    return (
        "\n## Honest worlds\n\nThe same trials where something is not as the robot was told, drawn from the seed; each "
        "line of trials.jsonl has its `world`. Counted are those whose benign twin, the trial above of the same seed, "
        f"succeeded.\n\n{first}\n\nAll factors were drawn at once; by the half of its range that one was in:\n\n"
        f"{second}\n"
    )


def _parts(low: float, high: float) -> tuple[Callable[[float], bool], Callable[[float], bool]]:
    middle = (low + high) / 2
    return (lambda level: level < middle or low == high), (lambda level: level >= middle and low < high)


def _level(line: Json, factor: str) -> float:
    return as_float(as_object(line["world"])[factor])


def _with_good_twin(lines: Sequence[Json]) -> list[Json]:
    """The lines of changed worlds whose trial also succeeded with nothing changed."""
    good = {_trial(line) for line in lines if line["ok"] and not line.get("world")}
    return [line for line in lines if line.get("world") and _trial(line) in good]


def _trial(line: Json) -> tuple[object, ...]:
    return line["contestant"], line["mark"], line["family"], line["seed"]


def summary(lines: Sequence[Json], names: Sequence[str], families: Sequence[str], ranges: Ranges = UNCHANGED) -> Json:
    """As JSON: method → family → good, tried, rate, low, high, median seconds; and the failures, each with why. With
    `ranges` also `worlds`: the same of the drawn worlds, of those whose benign twin succeeded."""
    benign = [line for line in lines if not line.get("world")]
    told: Json = {"confidence": 0.95, "interval": "wilson", "contestants": _contestants(benign, names, families)}
    if ranges:
        told["ranges"] = {factor: list(span) for factor, span in ranges.items()}
        told["worlds"] = _contestants(_with_good_twin(lines), names, families)
    return told


def _contestants(lines: Sequence[Json], names: Sequence[str], families: Sequence[str]) -> Json:
    contestants: Json = {}
    for name in names:
        own = [line for line in lines if line["contestant"] == name]
        by = {family: _summary([line for line in own if line["family"] == family]) for family in families}
        contestants[name] = {
            "spec": own[-1]["mark"] if own else "", "families": by, "all": _summary(own),
            "failures": [
                {key: line[key] for key in ("family", "seed", "why", "disturbed", "world") if key in line}
                for line in own if not line["ok"]
            ],
        }  # fmt: skip
    return contestants


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
