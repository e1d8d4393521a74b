"""A hundred head-on cases in one lane and a hundred of shared things, each through missions, kernel and files."""

from __future__ import annotations

import pytest

from worldfs.testing.fleet_traffic import head_on, shared_objects

CASES = 100


@pytest.mark.proof
@pytest.mark.parametrize("make", [head_on, shared_objects])
def test_nobody_meets_and_nobody_waits_for_ever(tmp_path, make, capsys):
    wrong, moves, waits, asides = [], 0, 0, 0
    for seed in range(CASES):
        case = make(tmp_path / str(seed), seed)
        case.run()
        if case.judge() or case.deadlock or case.failed:
            wrong.append((seed, case.judge(), case.deadlock, case.failed))
        moves += len(case.floor.moves)
        waits += sum("held by" in said for said in case.log)
        asides += sum("steps aside" in said for said in case.log)
    assert wrong == []
    with capsys.disabled():
        name = make.__name__.replace("_", " ")
        print(f"{name}: {CASES} cases, {moves} moves, {waits} waits, {asides} stepped aside, 0 met, 0 deadlocks")
    assert waits > CASES / 2 and (asides > 10 or make is shared_objects), "the cases are no test of traffic"
