"""Where an agent lives: the record of the engine, and what this host knows of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.durable import Root
from worldfs.base.errors import Exists
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int, as_object, as_text
from worldfs.storage.revision import PRIVATE_DIR

if TYPE_CHECKING:
    from worldfs.storage.store_interface import StoredValue

HOME_KEY: Final = f"{PRIVATE_DIR}/home.json"  # of an agent's part of the engine
RECORD_KEY: Final = f"{PRIVATE_DIR}/host.json"  # of its directory
HOST_KEY: Final = f"{PRIVATE_DIR}/host"  # of a root of agents: the number of this host


class AgentHome(NamedTuple):
    """`host`: its number. `name`, `root`: for people. `turn`: grows when the agent moves. `revision`: of the record."""

    host: str
    name: str
    root: str
    turn: int
    revision: str = ""

    def dump(self) -> bytes:
        return json.dumps({key: value for key, value in self._asdict().items() if key != "revision"}).encode() + b"\n"


class HostRecord(NamedTuple):
    """`turn`: as of which the directory is what the engine has. `clean`: all of it had been sent when its last process
    ended. `agreed`: revisions of visible files that both sides had."""

    host: str = ""
    turn: int = 0
    clean: bool = False
    agreed: Mapping[str, str] = {}

    def dump(self) -> bytes:
        return json.dumps(self._asdict()).encode() + b"\n"


def read_home(stored: StoredValue | None) -> AgentHome | None:
    if stored is None:
        return None
    found = as_object(parse_json(stored.data))
    host, name, root = (as_text(found.get(key)) for key in ("host", "name", "root"))
    return AgentHome(host, name, root, as_int(found.get("turn")), stored.revision)


def read_record(data: bytes | None) -> HostRecord:
    """Of nothing, or of what a power cut tore: an empty one."""
    try:
        found = as_object(parse_json(data or b"{}"))
    except ValueError:
        return HostRecord()
    agreed = {key: as_text(value) for key, value in as_object(found.get("agreed") or {}).items()}
    return HostRecord(as_text(found.get("host")), as_int(found.get("turn")), found.get("clean") is True, agreed)


def host_number(root: str | os.PathLike[str]) -> str:
    """The number of this host, made at the first call. A copy of the directory elsewhere is another host."""
    home = Root(root)
    try:
        while (found := home.read(HOST_KEY)) is None:
            try:
                home.create(HOST_KEY, os.urandom(8).hex().encode() + b"\n", private=True)
            except Exists:  # another process was faster
                continue
        return f"{found.decode('ascii', 'replace').strip()}:{os.path.realpath(root)}"
    finally:
        home.close()
