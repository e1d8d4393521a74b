"""What the names in 20,000 generated sentences come to, and that the whole kernel with the simulated arm does the same.

The scenes, the sentences and their truth are drawn by `worldfs.testing.naming`. A refusal of everything moves nothing
wrongly: so both figures are bounded, what went wrong and what was refused or asked about without need.
"""

from __future__ import annotations

import math
from collections import Counter

import pytest

from worldfs.base.clock import SystemClock
from worldfs.planning.planner import OneThing, Planner, QuestionIntent, RefusedIntent, which_thing
from worldfs.plugins.benchmark.instruction_world import InstructionWorld
from worldfs.robots.mujoco.arm import Arm
from worldfs.testing.naming import KINDS, Case, Tried, Verdict, attempt, case, judge, tally

pytestmark = pytest.mark.proof

SENTENCES, SEED = 20_000, 2026
NOUNS = 9_300
WHOLE, WHOLE_SEED = 2 * len(KINDS), 411  # each kind, in English and in Chinese
MOVED_M = 0.03


def test_the_whole_kernel_with_the_simulated_arm_gets_the_same_verdict():
    """The orders are what the arm does: every verdict of the fast judge is that of the physics."""
    other, verdicts = [], Counter()
    for number in range(WHOLE):
        one = case(WHOLE_SEED, (number % len(KINDS)) + len(KINDS) * (2 * (number // len(KINDS))))
        fast, whole = judge(one, attempt(one)), judge(one, with_the_arm(one))
        verdicts[whole.verdict] += 1
        if fast.verdict is not whole.verdict:
            other.append(f"{one.number} {one.kind}: {one.text}: {fast.verdict}, {whole.verdict}: {whole.tried.reply}")
    print(f"\n  {WHOLE} sentences with the whole kernel: {dict(verdicts)}, {len(other)} verdicts differ")
    assert not other


def test_twenty_thousand_sentences_move_nothing_that_a_careful_person_would_not_move():
    found = tally(SEED, range(SENTENCES))
    print(f"\n  {SENTENCES:,} sentences of {len(KINDS)} kinds", end="")
    for name, counted in (("", found.all), *((f"{name} ", found.by_language[name]) for name in ("en", "zh"))):
        shares = {verdict: counted[verdict] / counted.total() for verdict in Verdict}
        print(f"\n  {name}{counted[Verdict.WRONG]} wrong motions, {shares[Verdict.RIGHT]:.1%} right, ", end="")
        print(f"{shares[Verdict.NEEDLESS]:.1%} needless, {shares[Verdict.UNTRUE]:.2%} untrue", end="")
    print("", *found.lines(), sep="\n  ")
    assert found.all[Verdict.WRONG] == 0
    assert found.share(Verdict.UNTRUE) <= 0.003
    assert found.share(Verdict.NEEDLESS) <= 0.08
    assert found.share(Verdict.RIGHT) >= 0.92


def test_the_noun_of_a_sentence_alone_means_the_same_thing():
    """What sessions and other parts ask: which thing do these words name?"""
    bad, asked, tried = [], 0, 0
    for number in range(NOUNS):
        one = case(SEED + 1, number)
        truth = one.truth
        if not truth.noun:
            continue
        tried += 1
        found = which_thing(truth.noun, one.scene())
        if isinstance(found, OneThing):
            if not any(set(end) == {found.id} for end in truth.ends):
                bad.append(f"{number} {one.kind}: {truth.noun!r}: {found.id}")
        elif not (truth.ask or truth.must_ask):
            asked += 1
    print(f"\n  {tried} nouns alone: {len(bad)} mean another thing, {asked} asked about without need")
    assert not bad
    assert asked <= 0.08 * tried


def with_the_arm(one: Case) -> Tried:
    """The case in the kernel. What moved is measured in the simulation."""
    with InstructionWorld(one.scene(), one.language, SystemClock()) as world:
        report = Planner(world.port).run(one.text)
        question = isinstance(report.intent, QuestionIntent)
        refused = isinstance(report.intent, RefusedIntent)
        after = world.port.scene()
        ordered = [str(job.order.params["object_id"]) for job in report.jobs if "object_id" in job.order.params]
        if ordered:
            world.rest(0.5)
            moved = displaced(world.arm, one)
            assert moved <= set(ordered), f"{one.number}: {moved - set(ordered)} moved without an order"
            reached = {id for id in ordered if id in moved}
            ordered = [id for id in dict.fromkeys(ordered) if id in reached or after.robots[0].holding == id]
        return Tried(tuple(ordered), after, report.reason, report.ok, question, refused)


def displaced(arm: Arm, one: Case) -> set[str]:
    """The things that are not where the scene had them."""
    positions = {
        item.id: arm.simulation.data.xpos[arm.rig.body[item.id]][:2] for item in one.things if item.id in arm.rig.body
    }
    return {item.id for item in one.things if math.dist(positions[item.id], item.position) > MOVED_M}
