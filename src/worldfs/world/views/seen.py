"""Who looks: what a view of the served tree is handed when it is asked for a binding."""

from __future__ import annotations

from typing import Protocol

from worldfs.tree.leaf import Leaf

from ..ports import Acts, Mounted
from ..sight import Sight


class Seer(Protocol):
    """One binding's place in the tree. `sight` is what it sees now; it is replaced, never changed."""

    sight: Sight

    @property
    def acts(self) -> Acts: ...

    @property
    def mounted(self) -> Mounted: ...


class Seen(Leaf):
    """A view that one binding has."""

    light = True

    def __init__(self, seer: Seer) -> None:
        self.seer = seer
