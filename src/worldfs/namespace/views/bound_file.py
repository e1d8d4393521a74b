"""The context of a computed file: the binding that it is rendered for."""

from __future__ import annotations

from typing import Protocol

from worldfs.tree.virtual_file import VirtualFile

from ..namespace_ports import ActionsPort, ExportsLookup
from ..visible_state import VisibleState


class ViewContext(Protocol):
    """One binding's context. `visible` is what it sees now; it is replaced, never changed."""

    visible: VisibleState

    @property
    def actions(self) -> ActionsPort: ...

    @property
    def mounted(self) -> ExportsLookup: ...


class BoundFile(VirtualFile):
    """A computed file of one binding."""

    light = True

    def __init__(self, context: ViewContext) -> None:
        self.context = context
