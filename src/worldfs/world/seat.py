"""A seat: one binding's present sight, kept fresh, and what it may set going."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from worldfs.tree.binding import Binding

from .ports import Acts, Mounted
from .sight import Sight, Sources
from .views.debug import Desk


class Seat:
    """`refresh` once an operation; everything else of that operation then looks at one sight."""

    def __init__(
        self, binding: Binding, sources: Sources, mounted: Mounted, desk: Desk, acts: Callable[[Sight], Acts]
    ) -> None:
        self.binding = binding
        self.mounted = mounted
        self.desk = desk
        self._sources = sources
        self._make = acts
        self.sight = self._look()

    def refresh(self) -> None:
        sources, sight = self._sources, self.sight
        if (
            sight.policy is not sources.policies.of(self.binding)
            or sight.version != sources.plane.version
            or sight.stamp != sources.stamp()
        ):
            self.sight = self._look()

    @cached_property
    def acts(self) -> Acts:
        return self._make(self.sight)

    def _look(self) -> Sight:
        # The versions are taken before what they stand for is looked at: a change meanwhile is seen by the next look.
        sources = self._sources
        version, stamp = sources.plane.version, sources.stamp()
        return Sight(self.binding, sources, sources.policies.of(self.binding), version, stamp)
