"""The critic comes first, and a package's reviewer can only refuse more: never accept, never change an order."""

from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.driver import PluginContext, Run
from worldfs.base.model import Cause, Finding, JobState, Order, Scene
from worldfs.planning.reviewers import FAILED, ReviewerChain, refuses
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.workspace_fixture import WorkspaceFixture, order

ORDER = Order("1", "arm_1", "move_to", {"target_pose": [0.4, 0.0, 0.5], "deep": {"speed": 1}})
CONTEXT = PluginContext(ManualClock())
RUN = Run(ManualClock(), inf)


def finding(code: str, *, warning: bool = False) -> Finding:
    return Finding(code, "a field", "x", "y", "z", warning=warning)


class Says:
    """A reviewer that answers with what it was made with, and does its worst with what it is given."""

    def __init__(self, *answer: object, then: Callable[[Order], object] = lambda order: None) -> None:
        self.answer, self.then, self.seen = answer, then, 0

    def review(self, order, scene, profile):
        self.seen += 1
        self.then(order)
        return list(self.answer)


def chain(critic, **added):
    return ReviewerChain(critic, CONTEXT, {name: lambda context, one=one: one for name, one in added.items()})


findings = st.lists(st.builds(finding, st.sampled_from("AB"), warning=st.booleans()), max_size=3)


@given(critic=findings, added=st.lists(findings, max_size=3))
def test_whatever_reviewers_say_a_refusal_of_the_critic_stands_and_comes_first(critic, added):
    others = {f"r{number}": Says(*answer) for number, answer in enumerate(added)}
    found = chain(Says(*critic), **others).review(ORDER, Scene(), None, RUN)
    assert found[: len(critic)] == critic
    assert refuses(found) == (refuses(critic) or any(map(refuses, added)))


def test_a_reviewer_that_changes_the_order_changes_a_copy():
    def rob(order: Order) -> None:
        order.params["target_pose"] = [9.0, 9.0, 9.0]
        order.params["deep"]["speed"] = 99

    assert not refuses(chain(Says(), thief=Says(then=rob)).review(ORDER, Scene(), None, RUN))
    assert ORDER.params == {"target_pose": [0.4, 0.0, 0.5], "deep": {"speed": 1}}


def test_reviewers_are_not_asked_about_what_the_critic_refuses():
    late = Says()
    chain(Says(finding("A")), late=late).review(ORDER, Scene(), None, RUN)
    assert late.seen == 0


@pytest.mark.parametrize(
    "broken", [Says(then=lambda order: 1 / 0), Says("go"), Says(None), object()], ids=["raises", "text", "none", "no"]
)
def test_one_that_breaks_refuses_and_is_named(broken):
    (found,) = chain(Says(), broken=broken).review(ORDER, Scene(), None, RUN)
    assert found.code == FAILED and not found.warning and found.field.endswith(" broken") and found.job == "1"


KITCHEN = """
from worldfs.base.model import Finding

class Kitchen:
    def __init__(self, context):
        self.language = context.language

    def review(self, order, scene, profile):
        if order.params.get("note") == "hot":
            return [Finding("TOO_HOT", "ACTION.md params.note", "a cold pan", "a hot one", "wait until it is cold")]
        order.params.clear()
        return []
"""


@pytest.fixture
def site(tmp_path: Path) -> WorkspaceFixture:
    return WorkspaceFixture(tmp_path, ("arm_1",))


def ended(site: WorkspaceFixture, *orders: Order):
    with site.open() as world:
        for one in orders:
            world.submit(one)
        site.run_until_idle(world)
        return [world.jobs.load(one.id).status for one in orders]


def test_a_package_s_reviewer_joins_by_an_entry_point_and_refuses_with_a_lesson(site, install):
    install("kitchen", {"worldfs.reviewers": {"kitchen": "kitchen_rules:Kitchen"}}, kitchen_rules=KITCHEN)
    cold, hot, far = (
        order("cold"),
        order("hot", params={"note": "hot"}),
        order("far", params={"target_pose": [9, 9, 9]}),
    )
    done = ended(site, cold, hot, far)
    assert done[0].state is JobState.SUCCEEDED and site.executed[0].params["target_pose"] == cold.params["target_pose"]
    assert [status.outcome.cause for status in done[1:]] == [Cause.REJECTED, Cause.REJECTED]
    assert done[1].outcome.findings[-1].code == "TOO_HOT" and done[2].outcome.findings[0].code != "TOO_HOT"
    assert len(site.executed) == 1 and "a hot one" in site.read("LESSONS.md").decode()


def test_one_that_cannot_be_loaded_stops_no_kernel_and_moves_no_robot(site, install):
    install(
        "kitchen", {"worldfs.reviewers": {"kitchen": "kitchen_rules:Kitchen"}}, kitchen_rules="import no_such_rules"
    )
    (status,) = ended(site, order("cold"))
    assert status.outcome.cause is Cause.REJECTED and not site.executed
    (found,) = status.outcome.findings
    assert found.code == FAILED and "kitchen 1.0: ModuleNotFoundError" in found.found
