"""The realm: what one server serves. The only place that assembles plane, calls, workspace and namespaces."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from worldfs.ground.clock import Clock, SystemClock
from worldfs.ground.errors import BadInput
from worldfs.plane.caller import Caller
from worldfs.plane.plane import Plane
from worldfs.tree.binding import MOTHER, Binding
from worldfs.tree.feed import Feed
from worldfs.tree.leaf import Behaviour

from . import visibility
from .attached import Attached
from .bodies import SERVICE, Bodies
from .home import Home
from .layout import table
from .located import Sources as Ground
from .namespace import Namespace
from .news import WorkspaceNews
from .policy import Policies
from .ports import Exported
from .rooms.agents import Agents
from .seat import Make, Seat
from .services.node import Far
from .services.services import Services
from .sight import Sources
from .views.debug import Desk
from .views.fixed import Literal
from .views.readme import Readmes
from .world import PROJECT, World

if TYPE_CHECKING:
    from worldfs.tree.tree import Rooms

SELF: Final = "self"  # no agent's name: it stands for whoever asks


class Reached(Exported, Far, Protocol):
    """A node on the other end of a tunnel: its files, and its services (`worldfs.exports.remote_fs.RemoteFs`)."""


class Hub(Protocol):
    """The nodes that can be reached now (`worldfs.exports.hub.Hub`)."""

    def mounted(self, node: str) -> Reached | None: ...


class Realm:
    """`open` it, ask it for namespaces, `close` it. Usable from many threads."""

    def __init__(
        self,
        home: Path,
        plane: Plane,
        clock: Clock,
        feed: Feed,
        *,
        world: World | None,
        agents: Agents,
        owned: bool,
        memory_only: bool,
    ) -> None:
        """Use `open`."""
        self.home, self.plane, self.clock, self.feed, self.world = home, plane, clock, feed, world
        self.hub: Hub | None = None  # set by who holds the tunnels
        self.services = Services.open(
            home,
            world=world,
            agents=agents.root,
            clock=clock,
            feed=feed,
            environ=os.environ,
            reach=self._mounted,
            may=self._may,
            stop=self._stop,
            memory_only=memory_only,
            held=True,  # what an earlier process left queued asks for rights and nodes, which are not here yet
        )
        self._agents = agents
        self._news = WorkspaceNews(world, feed) if world is not None else None
        self._owned = owned  # is the workspace's world ours to close?
        self._bodies = Bodies(world) if world is not None else None
        self._lock = threading.Lock()
        self._namespaces: dict[Binding, Namespace] = {}
        self._desk = Desk(plane, self._control, clock, feed)
        rows = table()
        rooms: dict[str, Rooms] = {"mind": agents}
        behaviours: dict[str, Behaviour] = dict(agents.behaviours())
        if world is not None:
            rooms["workspace"] = world.workspace
            behaviours = {**world.behaviours, **behaviours}
        else:
            from .files import meta_pages

            behaviours.update(meta_pages())
        self._ground = Ground(rows, Readmes(rows), Literal(rows), rooms, behaviours)
        self._sources = Sources(
            plane=plane,
            policies=Policies(home),
            agents=self.agents,
            bodies=self._bodies.all if self._bodies is not None else dict,
            online=self._bodies.online if self._bodies is not None else bool,
            stamp=self._bodies.stamp if self._bodies is not None else int,
            gathering=self._gathering,
            home=PROJECT if world is not None else "",
            glance=self._glance,
        )
        if world is not None:
            ids = world.node_ids()
            plane.set_local_nodes(ids)
            plane.ensure_project(PROJECT, PROJECT, ids)
        self.services.begin()

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        world: World | None = None,
        clock: Clock | None = None,
        agents: Path | None = None,
        memory_only: bool = False,
    ) -> Realm:
        """The realm of a home directory. `world`: its workspace where somebody has opened it (`paos up`); else it is
        opened here to read and submit, if there is one. `agents`: the state root of agents, else HOME/agents.
        `memory_only`: the control plane and the calls leave nothing on the disk.

        Raises `Busy` when another process serves this home.
        """
        clock, feed = clock or SystemClock(), Feed()
        root = agents if agents is not None else home / "agents"
        plane = Plane.open(None if memory_only else home / ".paos" / "plane", clock, feed)
        owned = world is None
        try:
            place = Home(home).workspace
            if world is None and place.is_dir():
                world = World.open(place, config=Home(home).config(os.environ), agents=root, clock=clock)
            minds = world.agents if world is not None and world.agents.root == root else Agents(root)
            return cls(home, plane, clock, feed, world=world, agents=minds, owned=owned, memory_only=memory_only)
        except BaseException:
            plane.close()
            raise

    def close(self) -> None:
        if self._news is not None:
            self._news.close()
        self.services.close()
        if self.world is None or self.world.agents is not self._agents:
            self._agents.close()
        if self.world is not None and self._owned:
            self.world.close()
        self.plane.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    # -- who there is -------------------------------------------------------------------------------------------------

    def agents(self) -> list[str]:
        """The primary agent first, then those with a directory, sorted."""
        from worldfs.agents.names import names

        return [MOTHER, *(name for name in names(self._agents.root) if name not in (MOTHER, SELF))]

    def agents_seen(self, binding: Binding) -> Sequence[str]:
        """Those that are there for a binding, in its tree and wherever else they are told of."""
        return visibility.agents_seen(binding, self._sources.policies.of(binding), self.agents())

    def ensure_agent(self, name: str) -> None:
        """Idempotent. Raises `BadInput` for a name that no agent may have."""
        from worldfs.agents.names import new_name

        if new_name(self._agents.root, name) == SELF:
            raise BadInput(f"{SELF!r} stands for whoever asks", op="agent", expected="another name")
        (self._agents.root / name).mkdir(parents=True, exist_ok=True)

    # -- what they see ------------------------------------------------------------------------------------------------

    def namespace(self, binding: Binding) -> Namespace:
        """The tree of a binding: one that is kept, shared by everybody who is bound alike."""
        found = self._namespaces.get(binding)
        if found is None:
            with self._lock:
                found = self._namespaces.get(binding)
                if found is None:
                    found = self._namespaces[binding] = self._namespace(binding)
        return found

    def attach(self, binding: Binding, alive: Callable[[], bool] = lambda: True) -> Attached:
        """The tree of a binding as one connection has it: what it waits for is its own, and goes on with the next one
        when it is no longer `alive`."""
        since = self.services.calls.number()
        return Attached(
            self.namespace(binding),
            lambda: self._namespace(binding, lambda bound, readable: self.services.acts(bound, readable, since, alive)),
        )

    def _namespace(self, binding: Binding, acts: Make | None = None) -> Namespace:
        return Namespace(
            binding, self._ground, Seat(binding, self._sources, self._mounted, self._desk, acts or self.services.acts)
        )

    # -- inside -------------------------------------------------------------------------------------------------------

    def _may(self, binding: Binding, node: str) -> bool:
        """May it command a body? Whoever sees the body's service may."""
        return self.namespace(binding).sees(node, SERVICE)

    def _stop(self, binding: Binding) -> None:
        """Every robot that it sees; whoever sees one may stop it."""
        seen = self.namespace(binding)
        if self.world is not None:
            nodes = [id for id in self.world.node_ids() if seen.readable(f"/nodes/{id}/stop")]
            self.world.stops.stop(nodes, f"agent {binding.agent}")

    def _glance(self) -> Mapping[str, Any]:
        if self.world is None or self._news is None:
            return {}
        self._news.begin()  # whoever looks once may wait for the next change
        return self.world.status()

    def _mounted(self, node: str) -> Reached | None:
        hub = self.hub
        return hub.mounted(node) if hub is not None else None

    def _control(self, op: str, payload: dict[str, Any], binding: Binding, correlation: str) -> dict[str, Any]:
        return self.plane.call(op, payload, Caller(binding, correlation))

    def _gathering(self) -> object:
        try:
            return os.stat(self._agents.root).st_mtime_ns
        except OSError:
            return 0
