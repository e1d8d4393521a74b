"""An endpoint that takes orders: its control files, status.json and result.json.

Only refusals are kept here: a control's content, the status and the result are those of the newest accepted
job of the endpoint, so they survive a restart.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, Protocol

from worldfs.access.binding import Binding
from worldfs.base.errors import BadInput
from worldfs.base.json_text import compact_json
from worldfs.base.model import Json, Outcome
from worldfs.tree.verb_values import Written
from worldfs.world.agent_jobs.agent_job import AgentJob, AgentJobContext, epoch_ms
from worldfs.world.agent_jobs.agent_jobs import AgentJobs

from . import service_tool, tool_order
from .service_tool import ServiceTool, ToolError
from .tool_order import AcceptedTools

KIND: Final = "invoke"
PATIENCE_S: Final = 5.0  # the write is answered when the job has ended, or after so long (acheron D27)
REFUSALS_MOST: Final = 1_024  # endpoints whose last refusal is kept
IDLE_STATUS: Final = b'{"state":"idle","tool":null,"updated_at_ms":0,"error":null}'
IDLE_RESULT: Final = b'{"ok":false,"result":null,"error":null}'


class EndpointAddress(Protocol):
    """An endpoint as the tree names it."""

    @property
    def place(self) -> str:
        """Its directory: "memory", "services/contracts/memory", or "/nodes/<id>/<mount>"."""
        ...

    @property
    def service(self) -> str: ...

    @property
    def node(self) -> str:
        """ "" for the agent's own services."""
        ...

    @property
    def ops(self) -> Mapping[str, str]:
        """Name of an op's file: its tool."""
        ...

    @property
    def runtime(self) -> Mapping[str, object]: ...


class EndpointOrders:
    """All endpoints of a home: a write becomes a job, which a tool executes."""

    def __init__(self, calls: AgentJobs, tools: Mapping[str, ServiceTool], node: ServiceTool) -> None:
        """`tools`: by the name of the agent's own service. `node`: the tool of all nodes."""
        self.calls = calls
        self._tools, self._node = tools, node
        self._lock = threading.Lock()
        self._refused: OrderedDict[tuple[str, str, str], dict[str, object]] = OrderedDict()
        calls.register(KIND, self._run, lane=_lane)

    def endpoint(self, binding: Binding, where: EndpointAddress) -> BoundEndpoint:
        return BoundEndpoint(self, binding, where)

    def _run(self, run: AgentJobContext) -> Outcome:
        params = run.params
        node = str(params.get("node", ""))
        found = self._node if node else self._tools.get(str(params.get("service", "")))
        if found is None:
            return ToolError("tool_not_found", "tool not found").outcome()
        try:
            return service_tool.tool_outcome(found.invoke(run.op, tool_order.arguments(str(params["payload"])), run))
        except ToolError as error:
            return error.outcome()

    # -- refusals ----------------------------------------------------------------------------------------------------

    def refuse(self, key: tuple[str, str, str], error: BadInput) -> None:
        told = {"code": error.code, "message": error.found} | ({"found": error.expected} if error.expected else {})
        with self._lock:
            self._refused[key] = {**told, "at_ms": epoch_ms(self.calls.clock.now())}
            self._refused.move_to_end(key)
            while len(self._refused) > REFUSALS_MOST:
                self._refused.popitem(last=False)

    def accept(self, key: tuple[str, str, str]) -> None:
        with self._lock:
            self._refused.pop(key, None)

    def refused(self, key: tuple[str, str, str]) -> dict[str, object] | None:
        return self._refused.get(key)


class BoundEndpoint:
    """One endpoint for one binding. The caller checks the rights of the binding."""

    def __init__(self, orders: EndpointOrders, binding: Binding, where: EndpointAddress) -> None:
        self._orders, self._binding, self._where = orders, binding, where
        self._accepts = AcceptedTools.of(where.ops, where.runtime)
        self._key = binding.agent, binding.project, where.place

    def write(self, file: str, data: bytes, correlation: str = "") -> Written:
        """The order is durable when it returns. Refused: `BadInput`, and nothing changes but `last_error` of status.

        `file`: the control's name, "invoke.json" or "<op>.json".
        """
        where, calls = self._where, self._orders.calls
        try:
            order = tool_order.parse_tool_order(data, file, self._accepts)
            params: Json = {"service": where.service, "node": where.node, "payload": order.text}
            written = {"correlation": correlation, "place": where.place, "file": file}
            id = calls.submit(self._binding, KIND, order.tool, params, **written, terms=order.terms)
        except BadInput as error:
            self._orders.refuse(self._key, error)
            raise
        self._orders.accept(self._key)
        return Written(len(data), {"job": id}, calls.wait(id, PATIENCE_S))

    def control(self, file: str) -> bytes:
        """The payload of the last accepted order of this control."""
        call = self._latest(file)
        return b"" if call is None else str(self._orders.calls.job(call.id).order.params["payload"]).encode()

    def status(self) -> bytes:
        """status.json of the latest order; `last_error` is of one that was refused since."""
        call, refused = self._latest(), self._orders.refused(self._key)
        if call is None and refused is None:
            return IDLE_STATUS
        told: dict[str, object] = {
            "state": "idle" if call is None else call.word if call.over else "running",
            "tool": None if call is None else call.op,
            "updated_at_ms": 0 if call is None else call.updated_ms,
            "error": None if call is None else call.error or None,
        }
        return compact_json({**told, "last_error": refused} if refused else told)

    def result(self) -> bytes:
        """result.json of the latest order; the empty one while that runs, and before the first."""
        call = self._latest()
        outcome = None if call is None else self._orders.calls.outcome(call)
        return IDLE_RESULT if outcome is None else service_tool.result_json(outcome)

    def _latest(self, file: str = "") -> AgentJob | None:
        return self._orders.calls.latest(self._binding, self._where.place, file)


def _lane(call: AgentJob) -> str:
    """One agent's memory, and one service of a node, run one order at a time; web searches run in parallel."""
    if call.op.startswith("memory_"):
        return f"memory:{call.agent}"
    return call.place if call.place.startswith("/") else ""
