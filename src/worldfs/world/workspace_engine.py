"""Which store keeps a workspace: its directory itself, or an engine that `paos up --store` named."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from worldfs.storage.engine_record import DISK, engine_of
from worldfs.storage.open_store import open_store
from worldfs.storage.revision import PRIVATE_DIR
from worldfs.storage.store_interface import Store

if TYPE_CHECKING:
    from worldfs.base.model import Finding

SERVER: Final = f"{PRIVATE_DIR}/engine"  # the directory of a server of our own


@runtime_checkable
class CheckedEngine(Protocol):
    """Optional interface of a store: what `paos check` says of its engine."""

    def findings(self) -> Sequence[Finding]: ...


def open_engine(
    root: Path,
    engine: str = "",
    *,
    robot: str = "",
    folder: Path | None = None,
    guarded: Container[str] = frozenset(),
    versioned: Container[str] = frozenset(),
) -> Store:
    """The store of a workspace, or of a robot of its fleet, whose own directory is `folder`. Raises as `open_store`."""
    engine, place = engine or engine_of(root), folder or root
    if engine == DISK:
        return open_store("disk", place, guarded=guarded, versioned=versioned, few_files=bool(robot))
    return open_store("nats", engine, str(root / SERVER), files=str(place), robot=robot)
