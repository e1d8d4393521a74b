"""The score of the instructions: outcomes with Wilson's interval, cost and seconds, as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from worldfs.base.model import Json
from worldfs.skills.success_rate import SuccessRate, success_rate

from .instruction_list import KINDS
from .instruction_run import GOOD, OUTCOMES, InstructionResult


def instructions_table(results: Sequence[InstructionResult]) -> str:
    """Markdown: a row for each contestant; below it what each made of each kind of instruction."""
    names = list(dict.fromkeys(result.contestant for result in results))
    head = ["contestant", "as it should be", *OUTCOMES, "tokens", "cost (US $)", "seconds, median", "seconds, in all"]
    rows, kinds = [head, ["---"] * len(head)], [["contestant", *KINDS, "English", "Chinese"]]
    kinds.append(["---"] * len(kinds[0]))
    for name in names:
        own = [result for result in results if result.contestant == name]
        counts, cost, times = Counter(one.outcome for one in own), _cost(own), sorted(one.seconds for one in own)
        rows.append([
            name, str(_good(own)), *(_cell(counts[word], len(own), word) for word in OUTCOMES),
            f"{sum(one.tokens for one in own):,}", "not known" if cost is None else f"{cost:.4f}",
            f"{times[len(times) // 2]:.2f}", f"{sum(times):.0f}",
        ])  # fmt: skip
        split = [[one for one in own if one.kind == kind] for kind in KINDS]
        split += [[one for one in own if one.language == language] for language in ("en", "zh")]
        kinds.append([name, *(str(_good(part)) for part in split)])
    return "\n\n".join("\n".join(f"| {' | '.join(row)} |" for row in part) for part in (rows, kinds)) + "\n"


def instructions_summary(results: Sequence[InstructionResult]) -> Json:
    """As JSON: contestant → its outcomes, each with Wilson's interval, and what did not go as it should."""
    found: Json = {}
    for name in dict.fromkeys(result.contestant for result in results):
        own = [result for result in results if result.contestant == name]
        counts, cost = Counter(one.outcome for one in own), _cost(own)
        rates = {word: success_rate(counts[word], len(own)) for word in OUTCOMES} | {"as it should be": _good(own)}
        found[name] = {
            "instructions": len(own),
            "outcomes": {
                word: {"count": rate.good, "low": round(rate.low, 4), "high": round(rate.high, 4)}
                for word, rate in rates.items()
            },
            "tokens": sum(one.tokens for one in own), "cost_usd": cost,
            "seconds": round(sum(one.seconds for one in own), 2),
            "not_as_it_should_be": [one.as_json() for one in own if one.outcome not in GOOD],
        }  # fmt: skip
    return {"confidence": 0.95, "interval": "wilson", "contestants": found}


def _good(results: Sequence[InstructionResult]) -> SuccessRate:
    return success_rate(sum(one.outcome in GOOD for one in results), len(results))


def _cell(count: int, of: int, word: str) -> str:
    """What must never happen is shown with its interval: none of a few says little."""
    return str(success_rate(count, of)) if word in ("wrong", "false success") else str(count)


def _cost(results: Sequence[InstructionResult]) -> float | None:
    costs = [one.cost_usd for one in results]
    return None if None in costs else round(sum(cost for cost in costs if cost is not None), 6)
