"""The context of one binding: what it sees now, kept fresh, and the actions that it may start."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from worldfs.access.binding import Binding

from .namespace_ports import ActionsPort, ExportsLookup
from .views.pairing_files import PairingControl
from .visible_state import Views, VisibleState, VisibleStateSources

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
        self.mounted = mounted
        self.pairing = pairing
        self._sources = sources
        self._make = actions
        self.readable: Readable = lambda path: False  # set by the namespace: whether the binding may read a path
        self._views: Views = {}
        self.visible = self._look()

    def refresh(self) -> None:
        visible = self.visible
        if visible.version != self._version() or visible.policy is not self._sources.policies.policy(self.binding):
            self.visible = self._look()

    @cached_property
    def actions(self) -> ActionsPort:
        return self._make(self.visible.project_binding, self._readable)

    def _readable(self, path: str) -> bool:
        return self.readable(path)

    def _look(self) -> VisibleState:
        # The version is read before the state: the next refresh sees a change made meanwhile.
        sources, version = self._sources, self._version()
        if len(self._views) > 2 * len(sources.plane.node_ids()) + 64:
            self._views = {}  # most of them are of nodes that have gone
        return VisibleState(self.binding, sources, sources.policies.policy(self.binding), version, self._views)

    def _version(self) -> object:
        """Only the primary agent, which sees all agents, checks for new ones."""
        sources = self._sources
        gathering = sources.gathering() if self.binding.primary else 0
        return sources.plane.version, sources.stamp(), gathering
