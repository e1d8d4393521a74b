"""Orders to nodes: to one of this home's workspace through its sheet and the critic, to any other over its tunnel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from worldfs.access.roles import PLANNER
from worldfs.base.errors import Busy, MissingRequirement, NotFound, WorldError
from worldfs.base.json_text import compact_json, parse_json
from worldfs.base.json_values import as_text
from worldfs.base.messages import render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.model import Cause, Json, Order, Outcome, Scene
from worldfs.base.standard_operations import EXECUTE_TEXT
from worldfs.planning.model_judge import CarriedOut
from worldfs.planning.planner import SubmittedOrder
from worldfs.runtime.grace import SAFE_STOP_S
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.instruction_opinion import InstructionJudge

from .service_tool import ToolError, tool_outcome

if TYPE_CHECKING:
    from worldfs.base.chat_model import ConfiguredModel
    from worldfs.base.model import JobStatus

    from ..world import World


class NodeInvocation(Protocol):
    """As `worldfs.plugins.node_fs.invocation.Invoked`."""

    @property
    def state(self) -> str: ...

    @property
    def result(self) -> bytes: ...

    @property
    def cause(self) -> str:
        """Of a failed one: timeout | cancelled | any other word: an error."""
        ...

    @property
    def error(self) -> str: ...


class InvocableNode(Protocol):
    """Invocation of a node on the other end of a tunnel (`worldfs.plugins.node_fs.remote_fs.RemoteFs`)."""

    def services(self) -> tuple[str, ...]: ...

    def invoke(self, service: str, payload: bytes, timeout: float = ...) -> NodeInvocation: ...


WORDS = EXECUTE_TEXT.parameters[0].name  # of an order that carries an instruction
NodeLookup = Callable[[str], "InvocableNode | None"]  # by node id; None: it has no tunnel now


class NodeTool:
    """The tool of every node's services. The job's parameters name node and service."""

    def __init__(
        self,
        world: World | None,
        reach: NodeLookup,
        judge: Callable[[str], ConfiguredModel | None] = lambda agent: None,
    ) -> None:
        """`judge`: for an agent, the model that may doubt what an instruction was measured to have reached, if one is
        configured."""
        self._world, self._reach, self._judge = world, reach, judge

    def invoke(self, tool: str, args: Json, run: AgentJobContext) -> Json:
        node, service = str(run.params["node"]), str(run.params["service"])
        if self._world is not None and node in self._world.node_ids():
            return self._here(self._world, node, tool, args, run)
        far = self._reach(node)
        if far is not None:
            return self._far(far, node, service, run)
        raise no_driver_error(service, node)

    # -- a local node ------------------------------------------------------------------------------------------------

    def _here(self, world: World, node: str, op: str, args: Json, run: AgentJobContext) -> Json:
        try:
            world.demand_kernel()  # before the submit: the order would run whenever a kernel starts
        except MissingRequirement as error:
            raise ToolError("not_running", f"no kernel runs orders to {node}: {error.fix}") from None
        # The job's id keeps it different from an id that a planner makes at the same moment, and from other attempts.
        own = run.id if run.attempt == 1 else f"{run.id}_{run.attempt}"
        order = Order("", node, op, args, priority=run.priority, timeout_s=max(1.0, run.left()))
        words = ""
        if any(spec.id == node for spec in world.specs):
            words = as_text(args.get(WORDS))
            id = f"act_{world.clock.now():%Y%m%d_%H%M%S}_{own}"
        else:  # a target: its ops are skills, its orders sessions
            id, order = f"sess_{op}_{world.clock.now():%Y%m%d%H%M%S}_{own}", replace(order, sheet="SESSIONS.md")
        order = replace(order, id=id, orderer=run.binding.actor)
        before = world.planner_port(node).scene() if words else Scene()
        world.submit(order, PLANNER)
        run.log("job", job=id, node=node, op=op)
        status = self._awaited(world, id, run)
        outcome = status.outcome
        if outcome is None:
            raise ToolError("not_stopped", f"{id} was asked to stop and has not ended", evidence={"job": id})
        if not outcome.ok:
            raise body_job_error(id, outcome)
        value: Json = {"job": id, "node": node, "op": op, "message": outcome.message, "evidence": outcome.evidence}
        return value if not words else self._with_opinion(value, words, SubmittedOrder(id, order, status), before, run)

    def _with_opinion(self, value: Json, words: str, ran: SubmittedOrder, before: Scene, run: AgentJobContext) -> Json:
        """The end of an instruction, and what a model adds to it. The end is durable before the model is asked."""
        if self._world is None or (model := self._judge(run.binding.agent)) is None:
            return value
        port = self._world.planner_port(ran.order.node)
        judge = InstructionJudge(self._world, model)
        judge.note_end(CarriedOut(words, port.robot_id, (), (ran,), before, port.scene(), port.profile()))
        run.seal(tool_outcome(value))
        opinion = judge.ask(run.stop)
        warning = {} if opinion.finding is None else {"warning": render(opinion.finding.found, language_of(words))}
        return {**value, **warning, "opinion": opinion.as_json()}

    def _awaited(self, world: World, id: str, run: AgentJobContext) -> JobStatus:
        """The end of the job; after a stop request the robot stops safely first."""
        status = world.await_job(id, run.stop)
        if status.state.terminal:
            return status
        world.cancel(id, PLANNER)
        return world.wait_job(id, timeout=SAFE_STOP_S)

    # -- a remote node -----------------------------------------------------------------------------------------------

    def _far(self, far: InvocableNode, node: str, service: str, run: AgentJobContext) -> Json:
        payload = str(run.params["payload"]).encode()
        try:
            if service not in far.services():
                raise no_driver_error(service, node)
            # The node's deadline is before our own, so that it can report how far it was.
            ended = far.invoke(service, payload, max(1.0, run.left() - 1.0))
        except NotFound:
            raise no_driver_error(service, node) from None
        except Busy as error:
            raise ToolError("busy", str(error)) from None
        except WorldError as error:
            code = error.code if error.code.islower() else "execution_failed"
            raise ToolError(code, f"node {node}: {error}") from None
        found = _value(ended.result)
        if ended.state != "done":
            cause = {"timeout": Cause.TIMEOUT, "cancelled": Cause.CANCELLED}.get(ended.cause, Cause.ERROR)
            said = ended.error or f"{service} failed"
            raise ToolError("execution_failed", said, cause=cause, evidence=_evidence(found))
        return found if isinstance(found, dict) else {"result": found}


def body_job_error(id: str, outcome: Outcome) -> ToolError:
    """The error of a failed robot job, with the findings of the critic or the driver."""
    evidence: dict[str, object] = {"job": id, **outcome.evidence}
    message = outcome.message or outcome.code
    code = outcome.code.lower() or "execution_failed"
    return ToolError(code, message, cause=outcome.cause or Cause.ERROR, findings=outcome.findings, evidence=evidence)


def no_driver_error(service: str, node: str) -> ToolError:
    return ToolError("rejected", f"no driver for service {service} on node {node}", cause=Cause.REJECTED)


def _value(data: bytes) -> object:
    """The output of a service: JSON, else its text."""
    try:
        return parse_json(data)
    except ValueError:
        return data.decode("utf-8", "replace").strip()


def _evidence(found: object) -> dict[str, object]:
    if not found:
        return {}
    return found if isinstance(found, dict) and len(compact_json(found)) < 1 << 20 else {"result": found}
