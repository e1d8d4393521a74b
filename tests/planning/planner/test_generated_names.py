"""A few hundred of the generated sentences of `make proof`: what moves is what the names mean."""

from __future__ import annotations

from worldfs.testing.naming import KINDS, Verdict, tally

SEED = 37
SLICE = 2  # sentences of each kind


def test_generated_names_move_nothing_wrongly_and_are_mostly_understood():
    found = tally(SEED, range(SLICE * len(KINDS)), workers=0)
    told = "\n".join(f"{one.case.number} {one.case.kind}: {one.case.text}" for one in found.failures)
    assert not found.all[Verdict.WRONG], told
    assert found.share(Verdict.RIGHT) >= 0.92, told
    assert found.share(Verdict.NEEDLESS) <= 0.08 and found.share(Verdict.UNTRUE) <= 0.003, told
