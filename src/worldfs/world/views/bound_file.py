"""Who looks: what a view of the served tree is handed when it is asked for a binding."""

from __future__ import annotations

from typing import Protocol

from worldfs.tree.virtual_file import VirtualFile
from worldfs.world.namespace_ports import ActionsPort, ExportsLookup
from worldfs.world.visible_state import VisibleState


class ViewContext(Protocol):
    """One binding's place in the tree. `sight` is what it sees now; it is replaced, never changed."""

    sight: VisibleState

    @property
    def acts(self) -> ActionsPort: ...

    @property
    def mounted(self) -> ExportsLookup: ...


class BoundFile(VirtualFile):
    """A view that one binding has."""

    light = True

    def __init__(self, seer: ViewContext) -> None:
        self.seer = seer
