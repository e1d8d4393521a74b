"""Which store keeps a workspace: its directory itself, or an engine that `paos up --store` named."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from worldfs.base.durable import Root
from worldfs.base.json_values import as_object, as_text
from worldfs.base.model import Finding
from worldfs.storage.open_store import open_store
from worldfs.storage.revision import PRIVATE_DIR
from worldfs.storage.store_interface import Store

DISK: Final = "disk"
VARIABLE: Final = "PAOS_STORE"
RECORD: Final = f"{PRIVATE_DIR}/store.json"  # private: an address may hold a password
SERVER: Final = f"{PRIVATE_DIR}/engine"  # the directory of a server of our own


@runtime_checkable
class CheckedEngine(Protocol):
    """Optional interface of a store: what `paos check` says of its engine."""

    def findings(self) -> Sequence[Finding]: ...


def engine_of(root: Path) -> str:
    """The address of the workspace's engine: $PAOS_STORE, else what was recorded, else `disk`."""
    if given := os.environ.get(VARIABLE):
        return given
    try:
        with open(root / RECORD, encoding="utf-8") as file:
            return as_text(as_object(json.load(file)).get("store")) or DISK
    except (OSError, ValueError):
        return DISK


def record_engine(root: Path, address: str) -> None:
    """For every later command on this workspace."""
    if address == engine_of(root):
        return
    home = Root(root)
    try:
        home.replace(RECORD, json.dumps({"store": address}).encode() + b"\n", private=True)
    finally:
        home.close()


def open_engine(
    root: Path, engine: str = "", *, robot: str = "", folder: Path | None = None, guarded: Container[str] = frozenset()
) -> Store:
    """The store of a workspace, or of a robot of its fleet, whose own directory is `folder`. Raises as `open_store`."""
    engine, place = engine or engine_of(root), folder or root
    if engine == DISK:
        return open_store("disk", place, guarded=guarded)
    return open_store("nats", engine, str(root / SERVER), files=str(place), robot=robot)
