"""An order for what is so already is refused, and leaves no lesson; any other refusal leaves one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from worldfs.base.already_so import ALREADY_SO, was_already_so
from worldfs.base.model import Cause, Finding, Order, Outcome
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.testing.workspace_fixture import order as order_named
from worldfs.world.world import World

SO = Finding(ALREADY_SO, "ACTION.md params", "an open drawer", "it is closed already", "leave it")
REFUSED = Outcome.failure(Cause.REJECTED, ALREADY_SO, "it is closed already", findings=(SO,))


@pytest.mark.parametrize(
    ("outcome", "so"),
    [
        (REFUSED, True),
        (replace(REFUSED, findings=(SO, replace(SO, code="ODD", warning=True))), True),
        (replace(REFUSED, findings=(SO, replace(SO, code="ODD"))), False),
        (replace(REFUSED, findings=(replace(SO, warning=True),)), False),
        (replace(REFUSED, findings=()), False),
        (replace(REFUSED, cause=Cause.ERROR), False),
    ],
)
def test_only_a_refusal_for_that_alone_says_that_it_is_so_already(outcome: Outcome, so: bool) -> None:
    assert was_already_so(outcome) is so


@pytest.mark.parametrize(("code", "lessons"), [(ALREADY_SO, 0), ("CRITIC_REFUSED", 1)])
def test_only_a_refusal_that_says_what_is_wrong_leaves_a_lesson(tmp_path: Path, code: str, lessons: int) -> None:
    class Shut(NullDriver):
        def review(self, order: Order) -> list[Finding]:
            return [Finding(code, "ACTION.md params", "an open drawer", "it is closed already", "leave it", order.id)]

    site = WorkspaceFixture(tmp_path, ("arm_1",))
    drivers = {"simulation": lambda context: Shut(executed=site.executed)}
    with World.open(site.root, clock=site.clock, serve=True, drivers=drivers, threads=False) as world:
        world.submit(order_named("one"))
        site.run_until_idle(world)
        outcome = world.jobs.load("one").status.outcome
    assert outcome is not None and (outcome.cause, outcome.code) == (Cause.REJECTED, code) and not site.executed
    page = site.root / "LESSONS.md"
    assert (page.read_text("utf-8") if page.exists() else "").count("it is closed already") == lessons
