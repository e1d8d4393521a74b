"""The context of one binding: what it sees now, kept fresh, and the actions that it may start."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

from worldfs.access.binding import Binding
from worldfs.access.judge import judge
from worldfs.access.things import Realm
from worldfs.access.verb import Verb

from .namespace_ports import ActionsPort, ExportsLookup
from .views.pairing_files import PairingControl
from .visible_state import Views, VisibleState, VisibleStateSources

LOOK_S: Final = 0.1  # what is changed past the server (a manifest, an agent's directory) is seen after so long
Readable = Callable[[str], bool]
ActionsFactory = Callable[[Binding, Readable], ActionsPort]


class BindingContext:
    """Call `refresh` once for each operation; the whole operation then uses one `VisibleState`."""

    def __init__(
        self,
        binding: Binding,
        sources: VisibleStateSources,
        mounted: ExportsLookup,
        pairing: PairingControl,
        actions: ActionsFactory,
    ) -> None:
        self.binding = binding
        self._all_agents = judge(binding, Verb.SEE, Realm.EVERY_AGENT)
        self.mounted = mounted
        self.pairing = pairing
        self._sources = sources
        self._make = actions
        self.readable: Readable = lambda path: False  # set by the namespace: whether the binding may read a path
        self._views: Views = {}
        self._changes = (0, 0)  # of the control plane and of the feed, at the last look
        self._until = 0.0
        self.visible = self._look()

    def refresh(self) -> VisibleState:
        """What the binding sees now: another object once it may see something else."""
        sources = self._sources
        changes, now = (sources.plane.version, sources.feed.seq), sources.clock.monotonic()
        if changes == self._changes and now < self._until:
            return self.visible
        visible = self.visible
        if visible.version != self._version() or visible.policy is not sources.policies.policy(self.binding):
            self.visible = visible = self._look()
        self._changes, self._until = changes, now + LOOK_S
        return visible

    @cached_property
    def actions(self) -> ActionsPort:
        return self._make(self.visible.project_binding, self.readable)

    def _look(self) -> VisibleState:
        # The version is read before the state: the next refresh sees a change made meanwhile.
        sources, version = self._sources, self._version()
        if len(self._views) > 2 * len(sources.plane.node_ids()) + 64:
            self._views = {}  # most of them are of nodes that have gone
        return VisibleState(self.binding, sources, sources.policies.policy(self.binding), version, self._views)

    def _version(self) -> object:
        """Only the primary agent, which sees all agents, checks for new ones."""
        sources = self._sources
        gathering = sources.gathering() if self._all_agents else 0
        return sources.plane.version, sources.stamp(), gathering
