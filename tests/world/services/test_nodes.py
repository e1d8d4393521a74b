"""Orders to nodes: a body of this home moves through its sheet and its critic; a node elsewhere by its tunnel."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from worldfs.access.binding import ADMIN, OWNER, Binding
from worldfs.access.roles import OPERATOR, PLANNER
from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, Busy, NotFound, NotPermitted
from worldfs.base.model import ApprovalPolicy, ApprovalRule, JobState, Json
from worldfs.testing.call_fixtures import ALICE, StaticEndpoint, open_calls, wait_for_call, wait_until
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import POSE, WorkspaceFixture
from worldfs.world.agent_jobs.agent_jobs import AgentJobs
from worldfs.world.services.endpoint_orders import EndpointOrders
from worldfs.world.services.node_tool import NodeLookup, NodeTool
from worldfs.world.world import World

ARM = StaticEndpoint(
    "/nodes/arm_1/body", "body", "arm_1", {"move_to": "move_to", "pick_up": "pick_up"}, {"type": "driver"}
)


class Served:
    """A world whose kernel runs in a thread, and the places over it."""

    def __init__(self, root: Path, *, kernel: bool = True) -> None:
        self.site = WorkspaceFixture(root, robots=["arm_1"], clock=SystemClock())
        self.world = self.site.open(threads=True) if kernel else World.open(root)
        self.calls = AgentJobs.open(None, SystemClock())
        self.orders = EndpointOrders(self.calls, {}, NodeTool(self.world, lambda node: None))
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(kernel,), daemon=True)
        self.thread.start()

    def _run(self, kernel: bool) -> None:
        if kernel:
            self.world.run(stop=self.stop)

    def ask(self, payload: Json, file: str = "invoke.json") -> tuple[str, Any]:
        """status.json's state and result.json at the end."""
        place = self.orders.endpoint(ALICE, ARM)
        wait_for_call(self.calls, place.write(file, json.dumps(payload).encode()).extra["job"])
        return json.loads(place.status())["state"], json.loads(place.result())

    def close(self) -> None:
        self.calls.close()
        self.stop.set()
        self.world.wake()
        self.thread.join(PATIENCE_S)
        self.world.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path / "workspace")
    yield served
    served.close()


def test_an_order_moves_the_body_and_its_evidence_is_the_result(served: Served) -> None:
    state, result = served.ask({"op": "move_to", "args": {"target_pose": POSE}})
    assert (state, result["op"], result["node"], result["message"]) == ("done", "move_to", "arm_1", "done")
    assert [order.op for order in served.site.executed] == ["move_to"]
    job = served.world.jobs.load(result["job"])
    assert (job.status.state, job.order.params) == (JobState.SUCCEEDED, {"target_pose": POSE})
    assert b"job-1" in served.calls.log(ALICE, "job-1")
    # The sheet is rendered after the end was told.
    planner = served.world.namespace(PLANNER)
    wait_until(lambda: result["job"].encode() in planner.read("/nodes/arm_1/ACTION.md").data)


def test_a_file_of_an_op_takes_the_bare_arguments(served: Served) -> None:
    assert served.ask({"target_pose": POSE}, "move_to.json")[0] == "done"


def test_what_the_critic_refuses_is_rejected_with_its_findings_and_nothing_moves(served: Served) -> None:
    state, result = served.ask({"target_pose": [9.0, 9.0, 9.0, 0, 0, 0]}, "move_to.json")
    error = result["error"]
    assert (state, error["code"]) == ("failed", "rejected")
    assert error["message"].startswith("rejected: ")
    assert error["findings"][0]["code"] and error["findings"][0]["fix"]
    assert served.site.executed == []
    assert served.world.jobs.load(error["evidence"]["job"]).status.state is JobState.FAILED


def test_a_body_that_fails_says_why(served: Served) -> None:
    state, result = served.ask({"target_pose": POSE, "fail": "the gripper slipped"}, "move_to.json")
    assert (state, result["error"]["message"]) == ("failed", "the gripper slipped")
    assert result["error"]["code"] == "runtime_error"


def test_each_attempt_is_a_job_of_its_own_with_the_orders_priority(served: Served) -> None:
    order = {"op": "move_to", "args": {"target_pose": POSE, "fail": "slipped"}}
    state, result = served.ask({**order, "priority": "high", "retry": {"max_attempts": 2}})
    assert (state, result["error"]["message"]) == ("failed", "slipped")
    assert [(order.priority, order.attempts) for order in served.site.executed] == [("high", 1)] * 2
    assert len({order.id for order in served.site.executed}) == 2


def test_two_orders_of_one_instant_are_two_jobs(served: Served) -> None:
    place = served.orders.endpoint(ALICE, ARM)
    data = json.dumps({"target_pose": POSE}).encode()
    ids = [place.write("move_to.json", data).extra["job"] for _ in range(3)]
    for id in ids:
        wait_for_call(served.calls, id)
    assert len({order.id for order in served.site.executed}) == 3


def test_cancelling_the_call_stops_the_body_first(served: Served) -> None:
    place = served.orders.endpoint(ALICE, ARM)
    data = json.dumps({"target_pose": POSE, "hang": True}).encode()
    id = place.write("move_to.json", data).extra["job"]
    wait_until(lambda: len(served.site.executed) == 1)
    served.calls.cancel(ALICE, id)
    wait_for_call(served.calls, id)
    status = json.loads(place.status())
    assert status["error"].startswith("cancelled: ")
    job = json.loads(place.result())["error"]["evidence"]["job"]
    assert served.world.jobs.load(job).status.state is JobState.FAILED


def test_without_a_kernel_nothing_is_left_to_be_done_later(tmp_path: Path) -> None:
    served = Served(tmp_path / "workspace", kernel=False)
    state, result = served.ask({"target_pose": POSE}, "move_to.json")
    assert (state, result["error"]["code"]) == ("failed", "not_running")
    assert "paos up" in result["error"]["message"]
    assert served.world.jobs.open_ids() == []
    served.close()


@pytest.mark.parametrize("binding", [OWNER, Binding(ADMIN, "rio", "proj-1"), ALICE])
def test_the_person_who_ordered_an_operation_confirms_it_a_second_time(served: Served, binding: Binding) -> None:
    assert served.world.kernel is not None
    served.world.kernel.nodes["arm_1"].approval = ApprovalRule(ApprovalPolicy.ALWAYS)
    place = served.orders.endpoint(binding, ARM)
    id = place.write("move_to.json", json.dumps({"target_pose": POSE}).encode()).extra["job"]
    wait_until(lambda: bool(served.world.approvals.requests()))
    (request,) = served.world.approvals.requests()
    assert (request.asker, request.orderer) == (PLANNER, binding.actor)
    answer, path = {"plan": request.plan, "answer": "approved"}, "/nodes/arm_1/approve"
    both = json.dumps(answer).replace('"answer"', '"answer": "refused", "answer"')
    with pytest.raises(BadInput, match="answer is written twice"):
        served.world.namespace(OPERATOR).write(path, both.encode())
    if binding.person:
        with pytest.raises(NotPermitted):
            served.world.namespace(OPERATOR).write(path, json.dumps(answer).encode())
        assert served.site.executed == []
        answer["confirm"] = request.plan
    served.world.namespace(OPERATOR).write(path, json.dumps(answer).encode())
    wait_for_call(served.calls, str(id))
    assert len(served.site.executed) == 1


# -- a node elsewhere ------------------------------------------------------------------------------------------------


class Answer(NamedTuple):
    state: str
    result: bytes
    cause: str = ""
    error: str = ""


class Far:
    """A node at the end of a tunnel."""

    def __init__(self, answer: Answer | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[str, bytes]] = []

    def services(self) -> tuple[str, ...]:
        return ("drill",)

    def invoke(self, service: str, payload: bytes, timeout: float = 30.0) -> Answer:
        assert 0 < timeout < 300
        self.asked.append((service, payload))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def far_result(reach: NodeLookup, service: str = "drill") -> tuple[Any, Any]:
    calls = open_calls(None)
    place = EndpointOrders(calls, {}, NodeTool(None, reach)).endpoint(
        ALICE, StaticEndpoint(f"/nodes/n/{service}", service, "n", {"run": "run"})
    )
    wait_for_call(calls, place.write("invoke.json", b' {"depth": 3}').extra["job"])
    calls.close()
    return json.loads(place.status()), json.loads(place.result())


def test_a_node_gets_the_payload_as_it_was_written_and_its_result_is_ours() -> None:
    far = Far(Answer("done", b'{"holes": 2}'))
    status, result = far_result(lambda node: far if node == "n" else None)
    assert far.asked == [("drill", b'{"depth": 3}')]
    assert (status["state"], status["tool"], result) == ("done", "run", {"holes": 2})


@pytest.mark.parametrize(
    ("printed", "result"), [(b"[1, 2]", [1, 2]), (b"two holes\n", "two holes"), (b"", ""), (b"\xff", "\ufffd")]
)
def test_what_is_no_object_is_wrapped(printed: bytes, result: object) -> None:
    assert far_result(lambda node: Far(Answer("done", printed)))[1] == {"result": result}


def test_without_a_tunnel_or_an_export_there_is_no_driver() -> None:
    for reach, service in ((lambda node: None, "drill"), (lambda node: Far(Answer("done", b"")), "saw"),
                           (lambda node: Far(NotFound("gone")), "drill")):  # fmt: skip
        status, result = far_result(reach, service)
        message = f"rejected: no driver for service {service} on node n"
        assert (status["state"], status["error"]) == ("failed", message)
        assert result == {"error": {"code": "rejected", "message": message}}


def test_a_service_that_fails_there_fails_here_with_what_it_printed() -> None:
    status, result = far_result(lambda node: Far(Answer("failed", b'{"rpm": 0}', "error", "timeout: the bit broke")))
    said = "timeout: the bit broke"  # its own words, which decide nothing
    assert status["error"] == said
    assert result["error"] == {"code": "execution_failed", "message": said, "evidence": {"rpm": 0}}
    for cause in ("timeout", "cancelled"):
        status, result = far_result(lambda node, cause=cause: Far(Answer("failed", b"", cause, "by 299 s")))
        assert (status["error"], result["error"]["code"]) == (f"{cause}: by 299 s", cause)
    status, result = far_result(lambda node: Far(Busy("somebody drills")))
    assert (status["error"], result["error"]["code"]) == ("somebody drills", "busy")
