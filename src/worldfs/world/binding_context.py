"""A seat: one binding's present sight, kept fresh, and what it may set going."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from worldfs.tree.binding import Binding

from .namespace_ports import ActionsPort, ExportsLookup
from .views.pairing_files import PairingControl
from .visible_state import Views, VisibleState, VisibleStateSources

Readable = Callable[[str], bool]
ActionsFactory = Callable[[Binding, Readable], ActionsPort]


class BindingContext:
    """`refresh` once an operation; everything else of that operation then looks at one sight."""

    def __init__(
        self,
        binding: Binding,
        sources: VisibleStateSources,
        mounted: ExportsLookup,
        desk: PairingControl,
        acts: ActionsFactory,
    ) -> None:
        self.binding = binding
        self.mounted = mounted
        self.desk = desk
        self._sources = sources
        self._make = acts
        self.readable: Readable = lambda path: False  # may the binding read that path? The namespace says
        self._views: Views = {}
        self.sight = self._look()

    def refresh(self) -> None:
        sight = self.sight
        if sight.version != self._version() or sight.policy is not self._sources.policies.of(self.binding):
            self.sight = self._look()

    @cached_property
    def acts(self) -> ActionsPort:
        return self._make(self.sight.bound, self._readable)

    def _readable(self, path: str) -> bool:
        return self.readable(path)

    def _look(self) -> VisibleState:
        # The version is taken before what it stands for is looked at: a change meanwhile is seen by the next look.
        sources, version = self._sources, self._version()
        if len(self._views) > 2 * len(sources.plane.node_ids()) + 64:
            self._views = {}  # most of them are of nodes that have gone
        return VisibleState(self.binding, sources, sources.policies.of(self.binding), version, self._views)

    def _version(self) -> object:
        """Only who sees all agents need look whether there are others."""
        sources = self._sources
        gathering = sources.gathering() if self.binding.primary else 0
        return sources.plane.version, sources.stamp(), gathering
