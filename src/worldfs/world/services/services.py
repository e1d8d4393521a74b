"""The services of one home put together: calls, chat, events, and every place where orders are written.

The realm makes one of these and asks it for what a binding may set going.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.ground.clock import Clock
from worldfs.ground.errors import NotFound
from worldfs.tree.binding import Binding
from worldfs.tree.feed import Feed
from worldfs.tree.leaf import Ask, Wait, Written

from ..calls.brains import Brains
from ..calls.calls import Calls
from ..calls.chat import Chat
from ..calls.selector import Alive, Readable, Selector, Waits
from ..home import Home
from .memory import Memory
from .node import Nodes, Reach
from .place import Orders, Place, Where
from .tool import Tool
from .web import WebSearchTool

if TYPE_CHECKING:
    from worldfs.formats.config import Config

    from ..world import World

May = Callable[[Binding, str], bool]


def only_admins(binding: Binding, node: str) -> bool:
    """Who may command a node as long as nobody has said more: default deny."""
    return binding.admin


class Services:
    """`open` it, ask it for `acts`, `close` it. Usable from many threads."""

    def __init__(self, calls: Calls, chat: Chat, orders: Orders, memory: Memory) -> None:
        """Use `open`."""
        self.calls, self.chat, self.orders, self._memory = calls, chat, orders, memory
        self.waits = Waits()

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        world: World | None,
        agents: Path,
        clock: Clock,
        feed: Feed,
        environ: Mapping[str, str],
        reach: Reach = lambda node: None,
        may: May = only_admins,
        stop: Callable[[Binding], object] = lambda binding: None,
        memory_only: bool = False,
        held: bool = False,
    ) -> Services:
        """`world`: the home's workspace. `agents`: the state root. `reach`: a node by its tunnel.

        `stop`: stops every robot that the binding sees.
        `may`: may this binding command that node? Asked when an instruction is carried out, not when it is accepted.
        `held`: what an earlier process left queued, and everything else, waits for `begin`: for who must first be
        ready to answer `reach` and `may`.
        """

        def config() -> Config:
            return Home(home).config(environ)

        calls = Calls.open(None if memory_only else home, clock, feed, held=held)
        memory = Memory(agents, clock)
        tools: dict[str, Tool] = {
            "memory": memory,
            "web_search": WebSearchTool(home, lambda: config().web_search, environ),
        }
        orders = Orders(calls, tools, Nodes(world, reach))
        chat = Chat(calls, Brains(config, world, agents, clock, may), stop)
        return cls(calls, chat, orders, memory)

    def acts(
        self,
        binding: Binding,
        readable: Readable = lambda path: False,
        since: int | None = None,
        alive: Alive = lambda: True,
    ) -> Acts:
        """What this binding may set going. One for each attach: it knows which events that was given.

        `since`: the number of the last change before the attach (`Calls.number`), where that was earlier than now.
        `alive`: is the connection still there?
        """
        return Acts(self, binding, readable, since, alive)

    def begin(self) -> None:
        """Carry out what waits, when it was opened `held`."""
        self.calls.begin()

    def close(self) -> None:
        self.calls.close()
        self._memory.close()


class Acts:
    """The calls of one binding (`worldfs.world.ports.Acts`)."""

    def __init__(
        self, services: Services, binding: Binding, readable: Readable, since: int | None, alive: Alive
    ) -> None:
        self._services, self._binding = services, binding
        self.selector = Selector(services.calls, binding, readable, since, waits=services.waits, alive=alive)

    @cached_property
    def jobs(self) -> JobFiles:
        return JobFiles(self._services.calls, self._binding, self.selector)

    @cached_property
    def talk(self) -> Talk:
        return Talk(self._services.chat, self._binding, self.selector)

    def at(self, place: Where) -> Controls:
        """The place where orders to this service are written."""
        return Controls(self._services.orders.at(self._binding, place))


class JobFiles:
    """The jobs of a binding's agent in its project, as files."""

    def __init__(self, calls: Calls, binding: Binding, selector: Selector) -> None:
        self._calls, self._binding, self._selector = calls, binding, selector

    def ids(self) -> Sequence[str]:
        return self._calls.ids(self._binding)

    def has(self, job: str) -> bool:
        return self._calls.known(self._binding, job)

    def file(self, job: str, name: str) -> bytes:
        """`name`: status | result | log. Raises `NotFound`."""
        look = {"status": self._calls.status, "result": self._calls.result, "log": self._calls.log}.get(name)
        if look is None:
            raise NotFound(f"no file {name!r} of a job", path=job, op="read")
        return look(self._binding, job)

    def wait(self, job: str) -> Wait | None:
        """Until it ends, as long as the last wait.json says; None: it has ended."""
        return None if self._calls.ended(job) else self._calls.wait(job, self._selector.patience())

    def cancel(self, job: str) -> None:
        self._calls.cancel(self._binding, job)


class Talk:
    """Chat and what is waited for."""

    def __init__(self, chat: Chat, binding: Binding, selector: Selector) -> None:
        self._chat, self._binding, self._selector = chat, binding, selector

    def say(self, text: bytes, ask: Ask) -> Written:
        return self._chat.say(self._binding, text, ask.correlation)

    def selector(self) -> bytes:
        return self._selector.payload()

    def select(self, data: bytes) -> None:
        self._selector.set(data)

    def next(self) -> bytes:
        return self._selector.render()

    def wait(self) -> Wait | None:
        return self._selector.next()


class Controls:
    """One place that takes orders, for one binding."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.control, self.status, self.result = place.control, place.status, place.result

    def write(self, file: str, data: bytes, ask: Ask) -> Written:
        return self._place.write(file, data, ask.correlation)
