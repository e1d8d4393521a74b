"""The one place that opens stores: of a kind, by name; kinds of packages register in `worldfs.stores`."""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Final, Literal, overload

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.plugin_registry import PluginGroup

from .store_interface import Store

if TYPE_CHECKING:
    from worldfs.base.durable import Disk

    from .disk_store import DiskStore

STORES: Final[PluginGroup[Callable[..., Store]]] = PluginGroup(
    "worldfs.stores",
    {"disk": "worldfs.storage.disk_store:DiskStore", "memory": "worldfs.storage.memory_store:MemoryStore"},
)


@overload
def open_store(
    kind: Literal["disk"],
    name: str | os.PathLike[str],
    *,
    disk: Disk | None = None,
    guarded: Container[str] = frozenset(),
    versioned: Container[str] = frozenset(),
    few_files: bool = False,
) -> DiskStore: ...
@overload
def open_store(kind: str, *name: str | os.PathLike[str], **options: object) -> Store: ...
def open_store(kind: str, *name: str | os.PathLike[str], **options: object) -> Store:
    """The store of a kind. `name`, options: what that kind asks for (disk: a directory; memory: none).

    Raises `BadInput` for an unknown kind, and what opening it raises.
    """
    made = STORES.get(kind)
    if made is None:
        raise BadInput(
            coded("tree.no_store_kind", kind=kind), op="open a store", expected=coded("common.one_of", names=[*STORES])
        )
    return made(*name, **options)
