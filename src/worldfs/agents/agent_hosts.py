"""Agents of several hosts: which there are on the engine of a root, and letters to them from any host."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from worldfs.base.agent_names import agent_exists, check_agent_name, is_agent_name, list_agents, no_agent
from worldfs.base.clock import Clock
from worldfs.base.durable import Root
from worldfs.base.errors import Exists, NotFound, WorldError
from worldfs.storage.engine_record import SCHEMES, record_engine, shared_engine
from worldfs.storage.open_store import open_store
from worldfs.storage.store_interface import ABSENT

from .host_record import HOME_KEY, RECORD_KEY, host_number, read_home

if TYPE_CHECKING:
    from pathlib import Path

    from worldfs.base.model import Message
    from worldfs.storage.shared_store import SharedStore

    from .host_mirror import HostMirror

AGENTS: Final = "agents"  # of the bucket


def keep_agents_on(root: Path, engine: str, *, clock: Clock | None = None) -> None:
    """The agents of a root are kept on this engine from now on; those that are there live on this host."""
    from .agent_directory import AgentDirectory

    if not engine.startswith(SCHEMES) and not shared_engine(root):
        return
    Root.build(root, 0o700)
    record_engine(root, engine)
    for name in list_agents(root) if engine.startswith(SCHEMES) else ():
        if not os.path.exists(root / name / RECORD_KEY):
            AgentDirectory(root, name, clock=clock).close()


def open_mirror(
    root: str | os.PathLike[str], name: str, engine: str, *, take: bool = False, clock: Clock | None = None
) -> HostMirror:
    """Raises `NotFound` naming the agents there are, `Busy` if `take` would be from a host where it works."""
    from .host_mirror import HostMirror

    mirror = HostMirror(os.fspath(root), name, host_number(root), lambda: _part(engine, name, clock))
    try:
        mirror.open(take=take)
    except BaseException as error:
        mirror.close()
        if isinstance(error, NotFound):
            raise no_agent(name, known_agents(root), path=os.fspath(root)) from None
        raise
    return mirror


def known_agents(root: str | os.PathLike[str]) -> list[str]:
    """The agents below a root, and those of its engine's other hosts."""
    engine = shared_engine(root)
    if not engine:
        return list_agents(root)
    store = _part(engine, "", None)
    try:
        found = {name.rstrip("/") for name in store.list("")}
    finally:
        store.close()
    return sorted({*list_agents(root), *filter(is_agent_name, found)})


def lives_elsewhere(root: str | os.PathLike[str], name: str) -> bool:
    """Whether another host has an agent of this name: then none is made here."""
    engine = shared_engine(root)
    if not engine or os.path.exists(os.path.join(root, name, RECORD_KEY)):
        return False
    store = _part(engine, name, None)
    try:
        return store.stored(HOME_KEY) is not None
    finally:
        store.close()


def deposit_on(
    root: str | os.PathLike[str], engine: str, to: str, message: Message, *, clock: Clock | None = None
) -> tuple[Message, bool]:
    """The message on the engine, durable when it returns, whether its host is up or not; and whether it is new."""
    from worldfs.formats.agent import documents

    from .agent_directory import AgentDirectory
    from .inbox import named_message
    from .message_names import DEAD, done_key, file_key
    from .mirrored_paths import MAIL

    check_agent_name(to)
    store = _part(engine, to, clock)
    try:
        home = read_home(store.get(HOME_KEY))
        if home is None and not agent_exists(root, to):
            raise no_agent(to, known_agents(root), path=os.fspath(root))
        name, message = named_message(message, to, store.clock)
        known = (done_key(message.id), file_key(name), f"{DEAD}/{name}")
        new = all(store.stored(key) is None for key in known)
        if new:
            try:
                store.put(f"{MAIL}/{name}", documents.message_write(message), ABSENT)
            except Exists:
                new = False
    finally:
        store.close()
    if home is None or home.host == host_number(root):  # into the inbox at once, for who looks there past us
        with suppress(WorldError):
            AgentDirectory(root, to, clock=clock).close()
    return message, new


def _part(engine: str, name: str, clock: Clock | None) -> SharedStore:
    below = f"{AGENTS}/{name}" if name else AGENTS
    return cast("SharedStore", open_store("nats", engine, below=below, clock=clock))
