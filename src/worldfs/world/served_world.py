"""The world that one server serves: assembles control plane, agents' jobs, workspace and namespaces."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, Self

from worldfs.access.binding import MOTHER, Binding
from worldfs.access.caller import Caller
from worldfs.access.judge import judge
from worldfs.access.things import RobotName
from worldfs.access.verb import Verb
from worldfs.access.visibility_policy import PolicyCache
from worldfs.base.agent_names import agent_exists, check_new_name, list_agents
from worldfs.base.clock import Clock, SystemClock
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.control.control_plane import ControlPlane
from worldfs.namespace.binding_context import ActionsFactory, BindingContext
from worldfs.namespace.binding_namespace import BindingNamespace, NamespaceSources
from worldfs.namespace.connection_tree import ConnectionTree
from worldfs.namespace.mounts.agent_mounts import AgentMounts
from worldfs.namespace.namespace_ports import NodeExports, ServiceEndpoint
from worldfs.namespace.views.fixed_files import LiteralFile
from worldfs.namespace.views.pairing_files import PairingControl
from worldfs.namespace.views.readme_pages import ReadmePages
from worldfs.namespace.visible_state import VisibleStateSources
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.virtual_file import FileBehaviour

from .computed_files import meta_pages
from .home import Home
from .home_world import open_home_world
from .layout import names_below_a_node, served_table
from .layout.agent_rows import CONTRACT, OWN
from .local_nodes import LocalNodes
from .services.agent_services import AgentServices
from .services.node_tool import InvocableNode
from .world import PROJECT, World

if TYPE_CHECKING:
    from worldfs.namespace.tree import Mounts

SELF: Final = "self"  # reserved: it stands for the caller's agent


class ReachableNode(NodeExports, InvocableNode, Protocol):
    """A node on the other end of a tunnel: its files, and its services (`plugins.node_fs.remote_fs.RemoteFs`)."""


class NodeHub(Protocol):
    """The nodes that can be reached now (`worldfs.plugins.node_fs.tunnel_hub.TunnelHub`)."""

    def mounted(self, node: str) -> ReachableNode | None: ...


class ServedWorld:
    """`open` it, ask it for namespaces, `close` it. Usable from many threads."""

    def __init__(
        self,
        home: Path,
        plane: ControlPlane,
        clock: Clock,
        feed: ChangeFeed,
        *,
        world: World | None,
        agents: AgentMounts,
        owned: bool,
        memory_only: bool,
    ) -> None:
        """Use `open`."""
        self.home, self.plane, self.clock, self.feed, self.world = home, plane, clock, feed, world
        self.hub: NodeHub | None = None  # set by the owner of the tunnels
        self.services = AgentServices.open(
            home,
            world=world,
            agents=agents.root,
            clock=clock,
            feed=feed,
            environ=os.environ,
            reach=self._mounted,
            may=self._may,
            stop=self._stop,
            robots=self._stoppable,
            attach=self.attach,
            memory_only=memory_only,
            held=True,  # queued jobs of an earlier process need rights and nodes, which are not ready yet
        )
        self._agents = agents
        self._owned = owned  # whether `close` also closes the workspace's world
        self._bodies = LocalNodes(world) if world is not None else None
        self._lock = threading.Lock()
        self._namespaces: dict[Binding, BindingNamespace] = {}
        self._pairing = PairingControl(plane, self._control, clock, feed)
        rows = served_table()
        mounts: dict[str, Mounts] = {"mind": agents}
        behaviours: dict[str, FileBehaviour] = dict(agents.behaviours())
        if world is not None:
            mounts["workspace"] = world.workspace
            behaviours = {**world.behaviours, **behaviours}
        else:
            behaviours.update(meta_pages())
        self._namespace_sources = NamespaceSources(rows, ReadmePages(rows), LiteralFile(rows), mounts, behaviours)
        self._sources = VisibleStateSources(
            plane=plane,
            feed=feed,
            clock=clock,
            policies=PolicyCache(home),
            agents=self.agents,
            bodies=self._bodies.all if self._bodies is not None else dict,
            online=self._bodies.online if self._bodies is not None else bool,
            stamp=self._bodies.stamp if self._bodies is not None else int,
            gathering=self._gathering,
            home=PROJECT if world is not None else "",
            own_services=_own_services(),
            reserved=names_below_a_node(),
            status=self._status,
        )
        self._local: list[str] | None = None  # the workspace's nodes as the plane knows them
        self._note_nodes()
        self.services.start()

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        world: World | None = None,
        clock: Clock | None = None,
        agents: Path | None = None,
        memory_only: bool = False,
    ) -> ServedWorld:
        """The served world of a home directory. `world`: its workspace if it is open already (`paos up`); else it is
        opened here to read and submit, if there is one. `agents`: the state root of agents, else HOME/agents.
        `memory_only`: the control plane and the calls leave nothing on the disk.

        Raises `Busy` when another process serves this home.
        """
        clock, feed = clock or SystemClock(), world.feed if world is not None else ChangeFeed()
        root = agents if agents is not None else home / "agents"
        plane = ControlPlane.open(None if memory_only else home / ".paos" / "plane", clock, feed)
        owned = world is None
        try:
            if world is None:
                config = Home(home).config(os.environ)
                if (place := Home(home).root(config)).is_dir():
                    world = open_home_world(place, config, agents=root, clock=clock, feed=feed)
            minds = world.agents if world is not None and world.agents.root == root else AgentMounts(root)
            return cls(home, plane, clock, feed, world=world, agents=minds, owned=owned, memory_only=memory_only)
        except BaseException:
            plane.close()
            raise

    def close(self) -> None:
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

    # -- agents -------------------------------------------------------------------------------------------------------

    def agents(self) -> list[str]:
        """The primary agent first, then those with a directory, sorted."""

        return [MOTHER, *(name for name in list_agents(self._agents.root) if name not in (MOTHER, SELF))]

    def agents_seen(self, binding: Binding) -> Sequence[str]:
        """The agents that a binding sees, in its tree and in every other listing."""
        return self.namespace(binding).rights.agents

    def ensure_agent(self, name: str) -> None:
        """Idempotent. Raises `BadInput` for a name that no agent may have."""
        if name == SELF:
            raise BadInput(coded("world.caller", name=SELF), op="agent", expected=coded("world.another_name"))
        if not agent_exists(self._agents.root, name):
            place = self._agents.root / check_new_name(self._agents.root, name)
            place.mkdir(parents=True, exist_ok=True)
            self.feed.publish("/agents")

    # -- namespaces ---------------------------------------------------------------------------------------------------

    def namespace(self, binding: Binding) -> BindingNamespace:
        """The tree of a binding, cached and shared by all connections of the same binding."""
        found = self._namespaces.get(binding)
        if found is None:
            with self._lock:
                found = self._namespaces.get(binding)
                if found is None:
                    found = self._namespaces[binding] = self._namespace(binding)
        return found

    def attach(self, binding: Binding, alive: Callable[[], bool] = lambda: True) -> ConnectionTree:
        """The tree of a binding for one connection: its wait is its own, and continues in the next connection
        once it is no longer `alive`."""
        self._note_nodes()
        since = self.services.calls.number()
        return ConnectionTree(
            self.namespace(binding),
            lambda: self._namespace(
                binding, lambda bound, readable: self.services.actions(bound, readable, since, alive)
            ),
        )

    def _namespace(self, binding: Binding, actions: ActionsFactory | None = None) -> BindingNamespace:
        return BindingNamespace(
            binding,
            self._namespace_sources,
            BindingContext(binding, self._sources, self._mounted, self._pairing, actions or self.services.actions),
        )

    # -- inside -------------------------------------------------------------------------------------------------------

    def _note_nodes(self) -> None:
        """Robots and targets of the workspace come and go: a new connection sees those that are there."""
        if self.world is None or (ids := self.world.node_ids()) == self._local:
            return
        self.plane.set_local_nodes(ids)
        self.plane.ensure_project(PROJECT, PROJECT, ids)
        self._local = ids

    def _may(self, binding: Binding, node: str) -> bool:
        return bool(judge(self.namespace(binding).rights, Verb.COMMAND, RobotName(node)))

    def _stop(self, binding: Binding) -> None:
        """Stop every robot that the binding sees."""
        if self.world is not None:
            self.world.robot_stops.stop(self._stoppable(binding), binding.actor)

    def _stoppable(self, binding: Binding) -> list[str]:
        if self.world is None:
            return []
        rights = self.namespace(binding).rights
        return [id for id in self.world.node_ids() if judge(rights, Verb.STOP, RobotName(id))]

    def _status(self) -> Mapping[str, object]:
        if self.world is None:
            return {}
        self.world.changes.start()  # a reader may wait for the next change
        return self.world.status()

    def _mounted(self, node: str) -> ReachableNode | None:
        hub = self.hub
        return hub.mounted(node) if hub is not None else None

    def _control(self, op: str, payload: dict[str, object], binding: Binding, correlation: str) -> dict[str, object]:
        return self.plane.call(op, payload, Caller(binding, correlation))

    def _gathering(self) -> object:
        try:
            return os.stat(self._agents.root).st_mtime_ns
        except OSError:
            return 0


def _own_services() -> dict[str, ServiceEndpoint]:
    """The services that every agent has: at their own paths, then as contracts."""
    found = {}
    for kind, directory, described in (("", "", OWN), ("contract:", "services/contracts/", CONTRACT)):
        for service, files in described.items():
            ops, runtime = files["OPS"], files["RUNTIME"]
            assert isinstance(ops, dict)
            assert isinstance(runtime, dict)
            found[kind + service] = ServiceEndpoint(directory + service, service, "", ops["operations"], runtime)
    return found
