"""Which engine keeps a root, a workspace or the agents: its directory itself, or what `paos up --store` named."""

from __future__ import annotations

import json
import os
from typing import Final

from worldfs.base.durable import Root
from worldfs.base.errors import WorldError
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_text

from .revision import PRIVATE_DIR

DISK: Final = "disk"
VARIABLE: Final = "PAOS_STORE"
SCHEMES: Final = ("nats://", "tls://")  # of engines that several hosts share
RECORD: Final = f"{PRIVATE_DIR}/store.json"  # private: an address may hold a password


def engine_of(root: str | os.PathLike[str]) -> str:
    """The address of a root's engine: $PAOS_STORE, else what was recorded, else `disk`."""
    if given := os.environ.get(VARIABLE):
        return given
    try:
        data = read_given_file(os.path.join(root, RECORD), op="open a store")
        return as_text(as_object(parse_json(data)).get("store")) or DISK
    except (WorldError, ValueError):
        return DISK


def shared_engine(root: str | os.PathLike[str]) -> str:
    """The address of a root's engine if several hosts share it, else ""."""
    engine = engine_of(root)
    return engine if engine.startswith(SCHEMES) else ""  # a server of our own has no other hosts


def record_engine(root: str | os.PathLike[str], address: str) -> None:
    """For every later command on this root."""
    if address == engine_of(root):
        return
    home = Root(root)
    try:
        home.replace(RECORD, json.dumps({"store": address}).encode() + b"\n", private=True)
    finally:
        home.close()
