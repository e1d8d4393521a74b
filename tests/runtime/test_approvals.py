"""Approval: what asks, who may answer, and that an answer holds for its plan alone, once, and for a time."""

import hashlib
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from worldfs.base.errors import BadInput, Exists, NotFound, NotPermitted
from worldfs.base.model import ApprovalPolicy, ApprovalRule, Cause, JobState, Operation, Order
from worldfs.runtime.approvals import APPROVALS, APPROVED, REFUSED, TOLERANCE, VALID_S, Approvals
from worldfs.runtime.instruction_turns import InstructionTurn
from worldfs.runtime.job_store import job_key
from worldfs.storage.store_interface import StoreChange, StoreChangeKind
from worldfs.testing.manual_clock import ManualClock

ALWAYS = ApprovalRule(ApprovalPolicy.ALWAYS)


@pytest.fixture
def approvals(bench):
    return Approvals(bench.store, bench.clock)


@pytest.fixture
def asking(bench):
    """A kernel whose only node asks always."""
    bench.rules = {"arm": ALWAYS}
    return bench


@pytest.fixture
def turn(bench):
    """An instruction that has its turn at the arm; `turn.set_job` names the job that it waits for."""
    held = InstructionTurn(bench.store, "arm", "two poses", bench.clock)
    assert held.try_acquire() is None
    yield held
    held.release()


def order(id="one", asker="planner", node="arm", **params):
    return Order(id, node, "move_to", params, asker=asker)


def state(bench, id):
    return bench.jobs.load(id).status.state


def started(bench):
    return [line.split()[1] for line in bench.trace if line.startswith("execute")]


def carry_out(bench, turn, step):
    turn.set_job(step.id)
    bench.submit(step)
    bench.until(lambda: state(bench, step.id).terminal)


# -- what asks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "operation", "asks"),
    [
        (ApprovalRule(ApprovalPolicy.NEVER, real=True), Operation("grasp"), False),
        (ApprovalRule(ApprovalPolicy.RISKY), Operation("grasp", undoable=True), False),
        (ApprovalRule(ApprovalPolicy.RISKY), Operation("pour"), True),
        (ApprovalRule(ApprovalPolicy.RISKY, real=True), Operation("grasp", undoable=True), True),
        (ApprovalRule(ApprovalPolicy.RISKY, real=True), Operation("look", moves=False), False),
        (ApprovalRule(ApprovalPolicy.ALWAYS), Operation("grasp", undoable=True), True),
        (ApprovalRule(ApprovalPolicy.ALWAYS), Operation("look", moves=False), False),
        (ApprovalRule(ApprovalPolicy.ALWAYS), None, True),
        (ApprovalRule(ApprovalPolicy.RISKY), None, True),
    ],
)
def test_what_an_operation_declares_decides_whether_it_asks(rule, operation, asks):
    assert rule.asks(operation) is asks


def test_a_job_that_asks_stays_pending_until_another_actor_approves_it(asking, approvals):
    asking.start()
    asking.submit(order())
    asking.drain()
    (request,) = approvals.requests()
    assert (request.node, request.job, request.asker, request.answer) == ("arm", "one", "planner", None)
    assert state(asking, "one") is JobState.PENDING
    assert not started(asking)
    approvals.answer(request.plan, APPROVED, "operator")
    asking.until(lambda: state(asking, "one").terminal)
    evidence = asking.jobs.load("one").status.outcome.evidence["approval"]
    assert (evidence["plan"], evidence["by"]) == (request.plan, "operator")
    asking.drain()
    assert not asking.store.list(APPROVALS)


def test_an_approval_outlasts_a_kernel_that_does_not_begin_its_job(asking, approvals):
    asking.start()
    asking.submit(order())
    asking.drain()
    (request,) = approvals.requests()
    asking.kernel.close()
    approvals.answer(request.plan, APPROVED, "operator")
    asking.ours = lambda id: False
    asking.start()
    asking.drain()
    asking.kernel.close()
    assert [item.plan for item in approvals.requests()] == [request.plan]
    assert state(asking, "one") is JobState.PENDING
    asking.ours = lambda id: True
    asking.start()
    asking.until(lambda: state(asking, "one").terminal)
    assert started(asking) == ["one"]


def test_a_job_whose_request_is_refused_ends_as_rejected_and_moves_nothing(asking, approvals):
    asking.start()
    asking.submit(order())
    asking.drain()
    approvals.answer(approvals.requests()[0].plan, REFUSED, "operator")
    asking.until(lambda: state(asking, "one").terminal)
    outcome = asking.jobs.load("one").status.outcome
    assert (outcome.cause, outcome.code) == (Cause.REJECTED, "APPROVAL_REFUSED")
    assert not started(asking)
    assert not asking.hooks.lessons  # a person's no is no limit of the body


def test_an_answer_is_reported_even_when_its_asker_removes_the_request_at_once(bench, approvals):
    request = approvals.ask("arm", [order()], "planner", "two poses")
    with pytest.MonkeyPatch.context() as patch:
        put = bench.store.put

        def put_and_seen(key, data, *rest, **more):
            put(key, data, *rest, **more)
            approvals.remove(request.plan)

        patch.setattr(bench.store, "put", put_and_seen)
        answered = approvals.answer(request.plan, REFUSED, "operator")
    assert (answered.plan, answered.answer.answer, answered.answer.by) == (request.plan, REFUSED, "operator")


def test_a_node_that_never_asks_is_not_held_up_by_one_that_does(asking):
    asking.nodes["leg"] = type(asking.body)(asking.trace)
    asking.start()
    asking.submit(order("held"), order("free", node="leg"))
    asking.until(lambda: state(asking, "free").terminal)
    assert started(asking) == ["free"]


def test_a_cancelled_job_takes_its_request_along(asking, approvals):
    asking.start()
    asking.submit(order())
    asking.drain()
    asking.jobs.request_cancel("one", "operator")
    asking.until(lambda: state(asking, "one").terminal)
    asking.drain()
    assert not approvals.requests()


# -- who may answer ------------------------------------------------------------------------------------------------


AGENTS = ("planner", "critic", "operator/mother", "operator/rio", "planner/rio", "operator/mother/operator/model", "")
ADA, OWNER = "operator/mother/ada", "operator/mother/operator"


@pytest.mark.parametrize("persons", [{"operator"}, {"operator", "ada"}])
@pytest.mark.parametrize("orderer", ["", "planner", "operator/rio", "operator/mother", "operator", OWNER])
@pytest.mark.parametrize("confirmed", [False, True])
def test_no_agent_and_no_model_approves(bench, orderer, persons, confirmed):
    approvals = Approvals(bench.store, bench.clock, lambda: frozenset(persons))
    plan = approvals.ask("arm", [order()], "planner", "move", orderer=orderer).plan
    for actor in AGENTS:
        with pytest.raises(NotPermitted):
            approvals.answer(plan, APPROVED, actor, confirmed=confirmed)
    assert approvals.load(plan).answer is None


@pytest.mark.parametrize("orderer", ["", "planner", "operator/rio", "operator/mother"])
def test_any_person_approves_what_no_person_ordered(bench, orderer):
    approvals = Approvals(bench.store, bench.clock, lambda: frozenset({"operator", "ada"}))
    for actor in ("operator", OWNER, ADA):
        plan = approvals.ask("arm", [order()], "planner", f"move {actor}", orderer=orderer).plan
        answer = approvals.answer(plan, APPROVED, actor).answer
        assert (answer.by, answer.confirmed) == (actor.rpartition("/")[2], False)


@pytest.mark.parametrize(
    ("asker", "orderer"), [("operator", ""), ("planner", "operator"), ("planner", OWNER), ("planner", f"{OWNER}/model")]
)
def test_the_only_person_confirms_an_order_of_their_own_a_second_time(asking, approvals, asker, orderer):
    asking.start()
    asking.submit(replace(order(asker=asker), orderer=orderer))
    asking.drain()
    (request,) = approvals.requests()
    assert request.ordered_by == "operator"
    asking.kernel.close()
    asking.start()  # the job and its request say so to the next kernel, too
    asking.drain()
    for actor in ("operator", OWNER):
        with pytest.raises(NotPermitted) as refusal:
            approvals.answer(request.plan, APPROVED, actor)
        assert refusal.value.code == "UNCONFIRMED"
    assert not started(asking)
    answer = approvals.answer(request.plan, APPROVED, "operator", confirmed=True).answer
    assert (answer.by, answer.confirmed) == ("operator", True)
    assert approvals.load(request.plan).answer == answer
    asking.until(lambda: state(asking, "one").terminal)
    assert started(asking) == ["one"]


def test_another_person_is_needed_where_there_is_one(asking):
    persons = {"operator", "ada"}
    approvals = Approvals(asking.store, asking.clock, lambda: frozenset(persons))
    asking.start()
    asking.submit(replace(order(), orderer=ADA))
    asking.drain()
    (request,) = approvals.requests()
    with pytest.raises(NotPermitted, match="another person: operator"):
        approvals.answer(request.plan, APPROVED, ADA, confirmed=True)
    persons.remove("operator")  # nobody else is left
    with pytest.raises(NotPermitted):
        approvals.answer(request.plan, APPROVED, ADA)
    persons.add("operator")
    assert approvals.answer(request.plan, APPROVED, "operator").answer.by == "operator"
    asking.until(lambda: state(asking, "one").terminal)


@pytest.mark.parametrize("actor", ["operator", ADA, "operator/rio"])
def test_every_writer_may_refuse(bench, actor):
    approvals = Approvals(bench.store, bench.clock, lambda: frozenset({"operator", "ada"}))
    plan = approvals.ask("arm", [order()], "planner", "move", orderer=ADA).plan
    assert approvals.answer(plan, REFUSED, actor).answer.answer == REFUSED


def test_the_first_answer_counts(approvals):
    request = approvals.ask("arm", [order()], "planner", "move")
    approvals.answer(request.plan, REFUSED, "operator")
    with pytest.raises(Exists):
        approvals.answer(request.plan, APPROVED, "operator")
    assert approvals.load(request.plan).answer.answer == REFUSED


@pytest.mark.parametrize("plan", ["", "0" * 16, "../../config", "a/b", "*", "a" * 300])
def test_a_plan_that_is_not_there_is_refused_by_name(approvals, plan):
    with pytest.raises(NotFound):
        approvals.answer(plan, APPROVED, "operator")


# -- for what it holds ---------------------------------------------------------------------------------------------


def test_an_approved_plan_lets_its_own_steps_begin_once_each_and_no_other(asking, approvals, turn):
    asking.start()
    steps = [order(pose=[0.4, 0, 0.4]), order(pose=[0.5, 0, 0.4])]
    plan = approvals.ask("arm", steps, "planner", "two poses").plan
    approvals.answer(plan, APPROVED, "operator")
    carry_out(asking, turn, replace(steps[1], id="second"))
    for wrong in (replace(steps[1], id="again"), order("other", pose=[0.9, 0, 0.4])):
        turn.set_job(wrong.id)
        asking.submit(wrong)
        asking.drain()
        assert [item.job for item in approvals.requests() if item.job] == [wrong.id]
        asking.jobs.request_cancel(wrong.id, "planner")
        asking.drain()
    assert started(asking) == ["second"]
    turn.release()
    asking.drain()
    assert not approvals.requests()


def test_an_order_from_before_the_instruction_does_not_use_a_step_of_its_plan(asking, approvals):
    asking.start()
    asking.submit(order("foreign", asker="watchdog", pose=[0.4, 0, 0.4]))
    asking.drain()
    asking.clock.advance(1.0)
    turn = InstructionTurn(asking.store, "arm", "a pose", asking.clock)
    assert turn.try_acquire() is None
    plan = approvals.ask("arm", [order(pose=[0.4, 0, 0.4])], "planner", "a pose").plan
    approvals.answer(plan, APPROVED, "operator")
    asking.drain()
    assert not started(asking)
    turn.release()


def test_the_next_instruction_does_not_use_the_approval_of_the_last(asking, approvals, turn):
    asking.start()
    plan = approvals.ask("arm", [order(pose=[0.4, 0, 0.4])], "planner", "a pose").plan
    approvals.answer(plan, APPROVED, "operator")
    asking.drain()
    asking.clock.advance(1.0)
    turn.release()
    following = InstructionTurn(asking.store, "arm", "the same", asking.clock)
    assert following.try_acquire() is None
    following.set_job("next")
    asking.submit(order("next", pose=[0.4, 0, 0.4]))
    asking.drain()
    assert not started(asking)
    assert [item.job for item in approvals.requests()] == ["next"]
    following.release()


def test_nobody_is_asked_for_an_order_whose_answer_is_not_reported_yet(asking, approvals, turn):
    asking.start()
    asking.drain()
    plan = approvals.ask("arm", [order(pose=[0.4, 0, 0.4])], "planner", "a pose").plan
    approvals.answer(plan, APPROVED, "operator")
    turn.set_job("one")
    asking.submit(order(pose=[0.4, 0, 0.4]))
    asking.kernel.tick([StoreChange(job_key("one"), StoreChangeKind.PUT)])
    assert [item.plan for item in approvals.requests()] == [plan]
    asking.until(lambda: state(asking, "one").terminal)
    assert started(asking) == ["one"]


def test_a_request_that_is_reported_before_its_turn_is_kept(asking, approvals):
    asking.start()
    asking.drain()
    turn = InstructionTurn(asking.store, "arm", "a pose", asking.clock)
    assert turn.try_acquire() is None
    plan = approvals.ask("arm", [order()], "planner", "a pose").plan
    asking.kernel.tick([StoreChange(f"{APPROVALS}/{plan}.json", StoreChangeKind.PUT)])
    assert [item.plan for item in approvals.requests()] == [plan]
    turn.release()
    asking.drain()
    assert not approvals.requests()


@pytest.mark.parametrize(
    ("params", "covered"),
    [
        ({"pose": [0.4, 0.0, 0.4], "object_id": "can"}, True),
        ({"pose": [0.4 + TOLERANCE / 2, 0.0, 0.4], "object_id": "can"}, True),
        ({"pose": [0.4 + TOLERANCE * 2, 0.0, 0.4], "object_id": "can"}, False),
        ({"pose": [0.4, 0.0], "object_id": "can"}, False),
        ({"pose": [0.4, 0.0, 0.4], "object_id": "cup"}, False),
        ({"pose": [0.4, 0.0, 0.4], "object_id": "can", "speed": 9}, False),
        ({"pose": [0.4, 0.0, 0.4]}, False),
        ({"pose": [True, 0.0, 0.4], "object_id": "can"}, False),
        ({"pose": [10**400, 0.0, 0.4], "object_id": "can"}, False),
    ],
)
def test_a_step_is_the_approved_one_if_only_its_numbers_differ_a_little(approvals, params, covered):
    request = approvals.ask("arm", [order(pose=[0.4, 0, 0.4], object_id="can")], "planner", "")
    assert bool(list(request.step_of(replace(order(), params=params)))) is covered


class Names:
    """Documents that say where names are; `own` is what the robot has moved."""

    def __init__(self, **at):
        self.at, self.own = at, set()

    def places(self, order):
        return {name: self.at[name] for name in order.params.values() if name in self.at}

    def moved(self, node, steps):
        return self.own if steps else ()


@pytest.fixture
def named(asking):
    asking.names = Names(dock={"x": 1.0, "y": 2.0}, cup={"x": 0.4, "y": 0.1})
    asking.start()
    return asking


@pytest.mark.parametrize(
    ("to", "asks"), [({"x": 1.04, "y": 1.96}, False), ({"x": 1.06, "y": 2.0}, True), ({"x": 1.0}, True), (None, True)]
)
def test_a_step_whose_name_means_another_place_is_asked_for_again(named, approvals, turn, to, asks):
    step = order(target_label="dock")
    plan = approvals.ask("arm", [step], "planner", "to the dock", places=named.names.places)
    assert plan.steps[0]["places"] == {"dock": {"x": 1.0, "y": 2.0}}
    approvals.answer(plan.plan, APPROVED, "operator")
    named.names.at = {"dock": to} if to is not None else {}
    turn.set_job(step.id)
    named.submit(step)
    named.drain()
    if asks:
        assert not started(named)
        (again,) = [item for item in approvals.requests() if item.job]
        assert again.steps[0].get("places", {}) == named.names.at
        approvals.answer(again.plan, APPROVED, "operator")
    named.until(lambda: state(named, step.id).terminal)
    assert started(named) == [step.id]


def test_an_order_that_waits_is_asked_for_again_if_its_place_was_edited_before_the_answer(named, approvals):
    named.submit(order(target_label="dock"))
    named.drain()
    (first,) = approvals.requests()
    named.names.at["dock"] = {"x": 9.0, "y": 2.0}
    approvals.answer(first.plan, APPROVED, "operator")
    named.until(lambda: [item.plan for item in approvals.requests()] not in ([], [first.plan]))
    (again,) = approvals.requests()
    assert again.steps[0]["places"]["dock"]["x"] == 9.0 and not started(named)


def test_what_the_plan_itself_has_moved_is_not_asked_for_again(named, approvals, turn):
    steps = [order("pick", object_id="cup"), order("put", object_id="cup", target="dock")]
    plan = approvals.ask("arm", steps, "planner", "the cup to the dock", places=named.names.places)
    approvals.answer(plan.plan, APPROVED, "operator")
    carry_out(named, turn, steps[0])
    named.names.at["cup"], named.names.own = {"x": 1.0, "y": 2.0}, {"cup"}
    carry_out(named, turn, steps[1])
    assert started(named) == ["pick", "put"]


def test_another_operation_is_not_the_approved_one(approvals):
    request = approvals.ask("arm", [order()], "planner", "")
    assert not list(request.step_of(replace(order(), op="drop")))


@pytest.mark.parametrize(
    "other",
    [
        {"extra": {"task_description": "pour the acid"}},
        {"extra": {}},
        {"extra": {"task_description": "pour the tea", "routing": {"skill_runtime": "Other"}}},
        {"attempts": 3},
    ],
)
def test_an_approval_holds_for_the_whole_request_of_a_session(approvals, other):
    asked = replace(order(), extra={"task_description": "pour the tea"})
    request = approvals.ask("arm", [asked], "planner", "")
    assert list(request.step_of(asked)) == [0]
    assert not list(request.step_of(replace(asked, **other)))


def test_what_decides_the_order_is_edited_after_its_approval_and_asked_for_again(asking, approvals):
    present, given = {"SKILLS.md pour": "1"}, []
    asking.body.on_execute = lambda order, run: given.append(run.approval)
    asking.body.sources = lambda order: dict(present)
    asking.start()
    asking.submit(order())
    asking.drain()
    (first,) = approvals.requests()
    assert first.steps[0]["sources"] == {"SKILLS.md pour": "1"}
    approvals.answer(first.plan, APPROVED, "operator")
    present["SKILLS.md pour"] = "2"
    asking.drain()
    (second,) = approvals.requests()
    assert second.answer is None
    assert second.steps[0]["sources"] == {"SKILLS.md pour": "2"}
    assert not started(asking)
    approvals.answer(second.plan, APPROVED, "operator")
    asking.until(lambda: state(asking, "one").terminal)
    assert [asking.outcome("one").evidence["approval"]] == given  # the driver is told what was approved
    assert (given[0]["plan"], given[0]["sources"]) == (second.plan, {"SKILLS.md pour": "2"})


def test_an_order_that_nobody_can_be_shown_is_refused_and_not_held_for_ever(asking, approvals):
    asking.start()
    asking.submit(order(object_id="can\ud800"), order("two", pose=[float("nan")]))
    asking.drain()
    assert [asking.outcome(id).cause for id in ("one", "two")] == [Cause.REJECTED] * 2
    assert not approvals.requests()
    assert not started(asking)


def test_an_approval_expires_and_is_asked_for_again(asking, approvals):
    asking.start()
    asking.submit(order())
    asking.drain()
    first = approvals.requests()[0].plan
    asking.clock.advance(1.0)
    approvals.answer(first, APPROVED, "operator")
    asking.clock.advance(VALID_S + 1)
    asking.drain()
    (second,) = approvals.requests()
    assert second.plan != first
    assert second.answer is None
    assert not started(asking)


def test_a_clock_that_was_set_back_renews_no_approval(approvals, bench):
    request = approvals.ask("arm", [order()], "planner", "")
    answered = approvals.answer(request.plan, APPROVED, "operator")
    assert approvals.is_valid(answered)
    for back in (VALID_S + 1, 86400 * 365.0):
        earlier = ManualClock(bench.clock.now() - timedelta(seconds=back))
        assert not Approvals(bench.store, earlier).is_valid(answered)


def test_a_request_that_was_changed_on_disk_approves_nothing(asking, approvals):
    asking.start()
    asking.submit(order(pose=[0.4, 0, 0.4]))
    asking.drain()
    plan = approvals.requests()[0].plan
    key = f"{APPROVALS}/{plan}.json"
    value = json.loads(asking.store.get(key).data)
    value["steps"][0]["params"] = {"pose": [0.9, 0, 0.4]}
    asking.store.put(key, json.dumps(value).encode())
    with pytest.raises(BadInput):
        approvals.answer(plan, APPROVED, "operator")
    assert not started(asking)


@pytest.mark.parametrize("found", [b"", b"{", b"[]", b"\xff"])
def test_a_request_that_cannot_be_read_is_not_listed(approvals, bench, found):
    bench.store.put(f"{APPROVALS}/{hashlib.sha256(found).hexdigest()[:16]}.json", found)
    assert not [item for item in approvals.requests() if item.steps]


@pytest.mark.parametrize("found", [b"", b"{", b"[]", b'{"answer": true}', b"\xff", b'{"answer": "approve"}'])
def test_an_answer_that_cannot_be_read_approves_nothing(asking, approvals, found):
    asking.start()
    asking.submit(order())
    asking.drain()
    asking.store.put(f"{APPROVALS}/{approvals.requests()[0].plan}.answer.json", found)
    asking.drain()
    assert not started(asking)


# -- over a crash --------------------------------------------------------------------------------------------------


def test_a_started_step_is_durable_before_the_job_is_running(asking, approvals):
    asking.start()
    asking.submit(order())
    asking.drain()
    plan = approvals.requests()[0].plan
    approvals.answer(plan, APPROVED, "operator")
    asking.until(lambda: state(asking, "one").terminal)
    step = next(i for i, line in enumerate(asking.trace) if "started.jsonl" in line)
    running = next(i for i, line in enumerate(asking.trace) if "/one" in line and line.endswith("running"))
    assert step < running


def test_what_was_asked_approved_and_begun_is_known_to_the_next_kernel(asking, approvals, turn):
    steps = [order(pose=[0.4, 0, 0.4]), order(pose=[0.5, 0, 0.4])]
    asking.start()
    plan = approvals.ask("arm", steps, "planner", "two poses").plan
    approvals.answer(plan, APPROVED, "operator")
    carry_out(asking, turn, replace(steps[0], id="first"))
    asking.kernel.close()
    asking.start()
    turn.set_job("twice")
    asking.submit(replace(steps[0], id="twice"))
    asking.drain()
    carry_out(asking, turn, replace(steps[1], id="second"))
    assert started(asking) == ["first", "second"]
