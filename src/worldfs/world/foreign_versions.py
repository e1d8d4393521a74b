"""What other programs make of a document is kept as a version once the kernel sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from worldfs.base.errors import WorldError
from worldfs.storage.versioned_files import VersionedFiles

from .layout.versioned_rows import VERSIONED

if TYPE_CHECKING:
    from worldfs.tree.workspace_stores import WorkspaceStores

Watched = Mapping[str, Callable[[], bool]]


def noting_versions(stores: WorkspaceStores, watched: Watched) -> Watched:
    """The same callbacks, each after its file was noted. All are noted now: they may have changed while none ran."""
    for key in watched:
        _note(stores, key)

    def noted(key: str, callback: Callable[[], bool]) -> Callable[[], bool]:
        def run() -> bool:
            _note(stores, key)
            return callback()

        return run

    return {key: noted(key, callback) for key, callback in watched.items()}


def _note(stores: WorkspaceStores, key: str) -> None:
    """Never a failure: the next replacement notes it, too."""
    node, _, name = key[1:].partition("/") if key.startswith("@") else ("", "", key)
    store = stores.robot(node)
    if name in VERSIONED and isinstance(store, VersionedFiles):
        with suppress(WorldError):
            store.see_version(name)
