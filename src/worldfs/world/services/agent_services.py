"""Assembles the services of one home: jobs, chat, events, and the endpoints that take orders.

`ServedWorld` makes one of these and asks it for the actions of each binding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.access.binding import Binding
from worldfs.agents.model_calls import AgentModelCalls
from worldfs.base.clock import Clock
from worldfs.base.errors import MissingRequirement, NotFound
from worldfs.base.messages import coded
from worldfs.formats.config_models import JUDGE
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Wait, WriteContext, Written
from worldfs.world.agent_jobs.agent_jobs import AgentJobs
from worldfs.world.agent_jobs.chat import Chat, Responder
from worldfs.world.agent_jobs.chat_context import ChatContext
from worldfs.world.agent_jobs.event_selector import Alive, EventSelector, Readable, SavedWaits
from worldfs.world.agent_jobs.responders import Responders
from worldfs.world.configured_model import configured_model
from worldfs.world.instruction_model import planner_model

from ..home import Home
from .endpoint_orders import BoundEndpoint, EndpointAddress, EndpointOrders
from .memory_tools import MemoryTools
from .node_tool import NodeLookup, NodeTool
from .service_tool import ServiceTool
from .web import WebSearchTool

if TYPE_CHECKING:
    from worldfs.base.chat_model import ConfiguredModel, ModelCall
    from worldfs.formats.config import Config
    from worldfs.namespace.connection_tree import ConnectionTree
    from worldfs.planning.planner import PlannerModel
    from worldfs.storage.dated_versions import DatedVersions

    from ..world import World

NodePermission = Callable[[Binding, str], bool]


def unattached(binding: Binding) -> ConnectionTree:
    """Services that are opened without a served world have no tree."""
    raise MissingRequirement(coded("model.no_tree"), op="attach", fix=coded("model.serve"))


class AgentServices:
    """`open` it, ask it for `acts`, `close` it. Thread-safe."""

    def __init__(
        self,
        calls: AgentJobs,
        chat: Chat,
        orders: EndpointOrders,
        memory: MemoryTools,
        watched: Callable[[], None] = lambda: None,
    ) -> None:
        """Use `open`."""
        self.calls, self.chat, self.orders, self._memory = calls, chat, orders, memory
        self.watched = watched  # makes the changes of the workspace's files be published
        self.waits = SavedWaits()

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        world: World | None,
        agents: Path,
        clock: Clock,
        feed: ChangeFeed,
        environ: Mapping[str, str],
        reach: NodeLookup = lambda node: None,
        may: NodePermission = lambda binding, node: False,
        stop: Callable[[Binding], object] = lambda binding: None,
        robots: Callable[[Binding], Iterable[str]] = lambda binding: (),
        attach: Callable[[Binding], ConnectionTree] = unattached,
        memory_only: bool = False,
        held: bool = False,
    ) -> AgentServices:
        """`world`: the home's workspace. `agents`: the state root. `reach`: a node by its tunnel.

        `stop`: stops every robot that the binding sees; `robots`: the names of those robots.
        `may`: whether this binding may command that node, checked when an instruction runs, not when it is accepted;
        by default no binding may.
        `attach`: the tree of a binding, for a chat backend that looks into it.
        `held`: nothing runs before `start`, neither queued jobs of an earlier process nor new ones: for a caller not
        ready for `reach` and `may` yet.
        """

        def config() -> Config:
            return Home(home).config(environ)

        metered = AgentModelCalls(agents, clock)

        def counted(agent: str) -> Callable[[str, ModelCall], None]:
            return partial(metered.add, agent)

        def model(confirmed: str, agent: str) -> PlannerModel | None:
            return planner_model(config(), home, environ, clock, confirmed=confirmed, log=counted(agent))

        def judge(agent: str) -> ConfiguredModel | None:
            return configured_model(config(), home, environ, clock, JUDGE, log=counted(agent))

        calls = AgentJobs.open(None if memory_only else home, clock, feed, held=held, after=metered.count)
        memory = MemoryTools(agents, clock)
        tools: dict[str, ServiceTool] = {
            "memory": memory,
            "web_search": WebSearchTool(home, lambda: config().web_search, environ),
        }
        orders = EndpointOrders(calls, tools, NodeTool(world, reach, judge))

        def context(agent: Path, planner: Responder | None) -> ChatContext:
            return ChatContext(
                clock,
                agent=agent,
                model=partial(configured_model, config(), home, environ, clock, log=counted(agent.name)),
                attach=attach,
                feed=feed,
                turns=calls.turns,
                planner=planner,
            )

        responders = Responders(
            config, world, agents, clock, may, context=context, model=model, judge=judge, robots=robots
        )  # fmt: skip
        chat = Chat(calls, responders, stop, robots)
        return cls(calls, chat, orders, memory, (lambda: None) if world is None else world.changes.start)

    def actions(
        self,
        binding: Binding,
        readable: Readable = lambda path: False,
        since: int | None = None,
        alive: Alive = lambda: True,
    ) -> BindingActions:
        """The actions of this binding. One for each attach: it records which events were delivered.

        `since`: the number of the last change before the attach (`AgentJobs.number`), where that was earlier than now.
        `alive`: whether the connection still exists.
        """
        return BindingActions(self, binding, readable, since, alive)

    def start(self) -> None:
        """Run the queued jobs, after an open with `held`."""
        self.calls.start()

    def close(self) -> None:
        self.calls.close()
        self._memory.close()


class BindingActions:
    """The actions of one binding (`worldfs.namespace.namespace_ports.ActionsPort`)."""

    def __init__(
        self, services: AgentServices, binding: Binding, readable: Readable, since: int | None, alive: Alive
    ) -> None:
        self._services, self._binding = services, binding
        self.selector = EventSelector(
            services.calls, binding, readable, since, waits=services.waits, alive=alive, watched=services.watched
        )

    @cached_property
    def jobs(self) -> BindingJobs:
        return BindingJobs(self._services.calls, self._binding, self.selector)

    @cached_property
    def chat(self) -> BindingChat:
        return BindingChat(self._services.chat, self._binding, self.selector)

    def endpoint(self, place: EndpointAddress) -> BindingOrders:
        """The endpoint where orders to this service are written."""
        return BindingOrders(self._services.orders.endpoint(self._binding, place))


class BindingJobs:
    """The jobs of a binding's agent in its project, as files."""

    def __init__(self, calls: AgentJobs, binding: Binding, selector: EventSelector) -> None:
        self._calls, self._binding, self._selector = calls, binding, selector

    def ids(self) -> Sequence[str]:
        return self._calls.ids(self._binding)

    def has(self, job: str) -> bool:
        return self._calls.known(self._binding, job)

    def file(self, job: str, name: str) -> bytes:
        """`name`: status | result | log | message. Raises `NotFound`."""
        calls = self._calls
        look = {"status": calls.status, "result": calls.result, "log": calls.log, "message": calls.message}.get(name)
        if look is None:
            raise NotFound(coded("world.no_job_file", name=name), path=job, op="read")
        return look(self._binding, job)

    def past(self, job: str, name: str) -> DatedVersions:
        return self._calls.past(self._binding, job, name)

    def wait(self, job: str) -> Wait | None:
        """Until it ends, as long as the last wait.json says; None: it has ended."""
        return None if self._calls.ended(job) else self._calls.wait(job, self._selector.patience())

    def cancel(self, job: str) -> None:
        self._calls.cancel(self._binding, job)


class BindingChat:
    """Chat and events."""

    def __init__(self, chat: Chat, binding: Binding, selector: EventSelector) -> None:
        self._chat, self._binding, self._selector = chat, binding, selector

    def send(self, text: bytes, ask: WriteContext) -> Written:
        return self._chat.send(self._binding, text, ask.correlation)

    def selector(self) -> bytes:
        return self._selector.payload()

    def select(self, data: bytes) -> None:
        self._selector.set(data)

    def next(self) -> bytes:
        return self._selector.render()

    def wait(self) -> Wait | None:
        return self._selector.next()


class BindingOrders:
    """One endpoint that takes orders, for one binding."""

    def __init__(self, place: BoundEndpoint) -> None:
        self._place = place
        self.control, self.status, self.result = place.control, place.status, place.result

    def write(self, file: str, data: bytes, ask: WriteContext) -> Written:
        return self._place.write(file, data, ask.correlation)
