"""Approval at the command line: the plan is shown, nothing moves before another actor has approved exactly it."""

from __future__ import annotations

import json
import re
import signal

import pytest

pytest.importorskip("mujoco")

from worldfs.base.model import ApprovalPolicy
from worldfs.formats.config import Config
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.kernel_assembly import approval_rule

from .test_stop import HOME, kernel, line_with

PLAN = re.compile(r"paos approve ([0-9a-f]{16})")


@pytest.fixture
def careful(onboarded):
    """A table whose robot asks always."""
    place = onboarded()
    config = place.root.parent / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "approval": "always"}))
    assert place.up("--seed", "7").code == 0
    return place


def asked(process) -> str:
    found = PLAN.search(line_with(process, "paos approve"))
    assert found
    return found[1]


def waiting(table) -> list:
    return table.paos("--json", "approve").values[0]["requests"]


def test_an_instruction_shows_its_plan_and_moves_nothing_until_it_is_approved(careful) -> None:
    with kernel(careful):
        before = careful.text("ENVIRONMENT.md")
        do = careful.spawn("do", "put the red apple in the basket")
        plan = asked(do)
        status = careful.paos("status").out
        assert plan in status
        assert "pick_up" in status
        assert "jobs       none" in status
        assert careful.text("ENVIRONMENT.md") == before
        own = careful.paos("--as", "planner", "approve", plan)
        assert own.code == 2, own
        assert careful.paos("approve", plan).code == 0
        out, err = do.communicate(timeout=PATIENCE_S)
        assert do.returncode == 0, (out, err)
        until(lambda: not waiting(careful))
    jobs = careful.ended().values()  # a kernel that runs moves the files of jobs that ended in groups
    assert {job.order.op for job in jobs} == {"pick_up", "place"}
    assert {job.status.outcome.evidence["approval"]["plan"] for job in jobs} == {plan}


def test_a_refused_plan_ends_the_instruction_and_nothing_has_moved(careful) -> None:
    with careful.running():
        do = careful.spawn("do", "put the red apple in the basket")
        plan = asked(do)
        assert careful.paos("approve", "--refuse", plan).code == 0
        out, err = do.communicate(timeout=PATIENCE_S)
        assert do.returncode == 1, (out, err)
        assert f"plan {plan} was refused by operator" in out
        assert not careful.ended()


def test_an_instruction_that_is_interrupted_takes_its_request_along(careful) -> None:
    with careful.running():
        do = careful.spawn("do", "put the red apple in the basket")
        plan = asked(do)
        do.send_signal(signal.SIGINT)
        do.communicate(timeout=PATIENCE_S)
        until(lambda: not waiting(careful))
        late = careful.paos("approve", plan)
        assert late.code == 2
        assert plan in late.err
        assert not careful.ended()


def test_an_action_written_into_the_file_waits_pending_in_the_sheet(careful) -> None:
    with careful.running():
        careful.queue(HOME)
        until(lambda: len(waiting(careful)) == 1)
        (request,) = waiting(careful)
        assert (request["job"], request["steps"][0]["op"]) == ("home", "strategy")
        assert careful.entry("home")["status"] == "pending"
        assert careful.paos("approve", request["plan"]).code == 0
        assert careful.answers("home")[0]["status"] == "completed"


def test_the_only_person_approves_an_order_of_their_own_with_its_hash_alone(careful) -> None:
    with careful.running():
        said = careful.paos("write", "ACTION.md", stdin=json.dumps({"queue": [HOME]}).encode())
        assert said.code == 0, said
        until(lambda: len(waiting(careful)) == 1)
        plan = waiting(careful)[0]["plan"]
        answer = json.dumps({"plan": plan, "answer": "approved"}).encode()
        refused = careful.paos("write", "/nodes/franka_001/approve", stdin=answer)
        assert refused.code == 2, refused
        assert "operator ordered this plan" in refused.err and "type its hash" in refused.err
        shown = careful.paos("approve", plan)
        assert shown.code == 0 and 'name="home"' in shown.out
        until(lambda: "home" in careful.ended())
    assert careful.ended()["home"].status.outcome.evidence["approval"]["plan"] == plan


@pytest.mark.proof
def test_a_mission_of_the_only_person_waits_for_approval_and_says_so(careful) -> None:
    with kernel(careful):
        assert careful.paos("mission", "add", "put the red apple in the basket").code == 0
        until(lambda: len(waiting(careful)) == 1)
        says = f"the approval of operator: paos approve {waiting(careful)[0]['plan']}"
        until(lambda: f"waiting: {says}" in careful.text("ORCHESTRATOR.md"))
        assert "| waiting " in careful.text("ORCHESTRATOR.md").partition("Robot Pool")[2]
        assert "waiting" in (listed := careful.paos("mission", "list").out) and says in listed
        assert f"waits: {says}" in careful.paos("status").out
        assert careful.paos("approve", waiting(careful)[0]["plan"]).code == 0
        until(lambda: careful.paos("--json", "mission", "list").values[-1]["missions"][0]["state"] == "succeeded")


def test_a_run_until_idle_does_not_wait_for_the_person_whose_approval_a_mission_waits_for(careful) -> None:
    assert careful.paos("mission", "add", "put the red apple in the basket").code == 0
    ended = careful.up()
    assert ended.code == 1 and "put the red apple in the basket waits: the approval of operator" in ended.out, ended
    assert "interrupted" in careful.text("ORCHESTRATOR.md")


def test_with_a_second_person_the_first_one_does_not_approve_an_order_of_their_own(careful) -> None:
    assert careful.paos("token", "add", "ada", "--person").code == 0
    with careful.running():
        careful.paos("write", "ACTION.md", stdin=json.dumps({"queue": [HOME]}).encode())
        until(lambda: len(waiting(careful)) == 1)
        plan = waiting(careful)[0]["plan"]
        refused = careful.paos("approve", plan)
        assert refused.code == 2 and "another person: ada" in refused.err, refused
        assert careful.paos("token", "revoke", "ada").code == 0
        assert careful.paos("approve", plan).code == 0


def test_a_kernel_that_ends_when_it_is_idle_ends_with_what_waits_for_approval(careful) -> None:
    careful.queue(HOME)
    first = careful.up()
    assert first.code == 1, first
    assert "home waits: franka_001 asks for approval: paos" in first.out
    assert careful.paos("approve", waiting(careful)[0]["plan"]).code == 0
    assert careful.up().code == 0
    assert careful.answers("home")[0]["status"] == "completed"


@pytest.mark.parametrize("text", ["", "yes", "{}", '{"plan": 3, "answer": "approved"}', '{"plan": "x"}'])
def test_an_answer_that_is_none_is_refused_and_says_what_is_expected(careful, text) -> None:
    said = careful.paos("write", "/nodes/franka_001/approve", stdin=text.encode())
    assert said.code == 2, said
    assert '"answer"' in said.err


@pytest.mark.slice(4)
@pytest.mark.parametrize("said", ["sometimes", False, [], {"franka_001": 0}])
def test_a_policy_that_cannot_be_read_asks_for_everything(careful, said) -> None:
    config = careful.root.parent / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "approval": said}))
    with kernel(careful):
        until(lambda: "never, risky or always" in careful.paos("status").out)
        careful.queue(HOME)
        until(lambda: len(waiting(careful)) == 1)


@pytest.mark.parametrize(("real", "asks"), [(True, "always"), (False, "never")])
def test_real_bodies_ask_always_and_simulated_ones_never_unless_the_file_says_so(real, asks) -> None:
    assert approval_rule(None, "lab", real) == (asks, real)
    said = Config(approval={"lab": ApprovalPolicy.RISKY})
    assert approval_rule(said, "lab", real) == ("risky", real)


def test_a_real_robot_that_is_run_in_the_simulation_does_not_ask(careful) -> None:
    """The body counts that is there, and not the one that a profile names."""
    config = careful.root.parent / "config.json"
    value = json.loads(config.read_text())
    del value["approval"]
    value["embodiments"]["instances"][0]["driver"] = "franka"
    config.write_text(json.dumps(value))
    careful.queue(HOME)
    assert careful.up().code == 0
    assert careful.answers("home")[0]["status"] == "completed"
    assert careful.do("put the red apple in the basket", "--driver", "simulation", "--no-cameras").code == 0


def test_a_policy_of_an_unknown_robot_is_named_by_the_check_and_at_the_start(careful) -> None:
    config = careful.root.parent / "config.json"
    said = {"default": "always", "franka_001": "never", "franka001": "always", "_note": "mine"}
    config.write_text(json.dumps({**json.loads(config.read_text()), "approval": said}))
    found = careful.paos("check")
    assert found.code == 1, found
    assert "approval.franka001" in found.out
    assert "franka_001" in found.out.partition("approval.franka001")[2]
    assert "approval.franka_001 " not in found.out
    assert "_note" not in found.out
    with kernel(careful):
        until(lambda: "approval.franka001" in careful.paos("status").out)
        careful.queue(HOME)
        until(lambda: "home" in careful.ended())
        assert not waiting(careful)
