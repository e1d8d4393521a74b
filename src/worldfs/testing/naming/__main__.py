"""`python -m worldfs.testing.naming --seed 7 --count 1000`: the figures by kind, and the failures in full."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from .generator import KINDS, Case
from .naming_judge import Judged, Verdict
from .naming_run import Tally, judged


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m worldfs.testing.naming", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="how many sentences")
    parser.add_argument("--number", type=int, action="append", help="only this case; may be given several times")
    parser.add_argument("--kind", help="only kinds whose name contains this")
    parser.add_argument("--language", choices=("en", "zh"))
    parser.add_argument(
        "--show", default="wrong,untrue", help="verdicts to print in full: wrong, untrue, needless, right"
    )
    parser.add_argument("--most", type=int, default=5, help="at most so many of each kind and verdict")
    parser.add_argument("--workers", type=int, help="processes; 0: none but this")
    given = parser.parse_args(arguments)
    shown = set(given.show.split(",")) if given.show else set()
    unknown = shown - {*Verdict, "all"}
    if unknown:
        parser.error(f"--show: found {', '.join(sorted(unknown))}; expected some of {', '.join(Verdict)}, all")
    kinds = list(KINDS)
    numbers = given.number or [
        n for n in range(given.count * (1 if given.kind is None else len(kinds)))
        if given.kind is None or given.kind in kinds[n % len(kinds)]
    ][: given.count]  # fmt: skip
    if not numbers:
        parser.error(f"--kind: no kind has {given.kind!r} in its name; there are: {', '.join(kinds)}")
    found, told = Tally(), Counter[tuple[str, Verdict]]()
    for one in judged(given.seed, numbers, 0 if given.workers is None and len(numbers) < 400 else given.workers):
        found.add(one)
        told[one.case.kind, one.verdict] += 1
        fits = given.language in (None, one.case.language) and shown & {one.verdict, "all"}
        if fits and told[one.case.kind, one.verdict] <= given.most:
            print(described(one, given.seed))
    print("\n".join(found.lines()))
    return 0


def described(one: Judged, seed: int) -> str:
    """A case and what became of it, as a person reads it, with what runs it again."""
    case, tried = one.case, one.tried
    return "\n".join((
        f"{one.verdict.upper()} · {case.kind} · --seed {seed} --number {case.number}",
        f"  said:    {case.text}",
        f"  things:  {_things(case)}",
        f"  places:  {', '.join(f'{p.shown or p.name.text} ({p.id})' for p in case.places)}",
        f"  right:   {_right(case)}",
        f"  moved:   {', '.join(tried.touched) or 'nothing'}",
        f"  reply:   {' '.join(tried.reply.split())[:300]}",
        "",
    ))  # fmt: skip


def _things(case: Case) -> str:
    told = [
        (i, [i.id, *filter(None, (i.colour, i.category)), *([f"in {i.inside}"] if i.inside else [])])
        for i in case.things
    ]
    return ", ".join(f"{i.shown or i.name.text} ({', '.join(facts)})" for i, facts in told)


def _right(case: Case) -> str:
    truth = case.truth
    if truth.answer is not None:
        return str(truth.answer)
    ways = [" + ".join(f"{id} → {'|'.join(sorted(where))}" for id, where in end.items()) for end in truth.ends]
    return " or ".join([*ways[:4], *(["…"] if len(ways) > 4 else []), *(["ask"] if truth.ask or not ways else [])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
