"""Removing an agent with a way back: its directory moves into .removed/ below the state root, whole, and returns whole.

Nothing is deleted. A removed agent has no name among the agents: it is not listed, gets no messages, and runs nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from worldfs.base.agent_names import REMOVED, check_agent_name, check_new_name, list_agents
from worldfs.base.clock import Clock, SystemClock
from worldfs.base.durable import Root
from worldfs.base.errors import Exists, NotFound, from_os
from worldfs.base.messages import coded

from .agent_directory import AgentDirectory

_PLACE: Final = re.compile(r"(.+)-(\d{8}-\d{6})-[0-9a-f]{4}")


class RemovedAgent(NamedTuple):
    """An agent that was removed. `at`: YYYYMMDD-HHMMSS, UTC; `path`: where it is now."""

    agent: str
    at: str
    path: str


def remove_agent(root: str | os.PathLike[str], name: str, *, clock: Clock | None = None) -> RemovedAgent:
    """Durable when it returns. `NotFound` names the agents there are; `Busy` names the process that runs a session."""
    clock = clock or SystemClock()
    agent_dir = AgentDirectory(root, name, clock=clock)
    try:
        with agent_dir.runner_lease("removal"):
            at = clock.now().strftime("%Y%m%d-%H%M%S")
            folder = f"{REMOVED}/{name}-{at}-{os.urandom(2).hex()}"
            _move(root, name, folder)
            if agent_dir.mirror is not None:
                agent_dir.mirror.remove()
    finally:
        agent_dir.close()
    return RemovedAgent(name, at, os.path.join(os.path.abspath(root), folder))


def removed_agents(root: str | os.PathLike[str]) -> list[RemovedAgent]:
    """What was removed and not restored, oldest first."""
    return sorted(_removed(root), key=lambda item: (item.at, item.path))


def restore_agent(root: str | os.PathLike[str], name: str) -> RemovedAgent:
    """The one of this name that was removed last is an agent again.

    `NotFound` names what was removed; `Exists`: the name is taken.
    """
    check_agent_name(name)
    found = [item for item in removed_agents(root) if item.agent == name]
    if not found:
        there = ", ".join(dict.fromkeys(item.agent for item in removed_agents(root)))
        raise NotFound(
            coded("agent.no_removed", name=name),
            path=os.fspath(root),
            op="restore",
            expected=there or coded("agent.none_removed"),
        )
    if name in list_agents(root):
        found_name, fix = coded("agent.taken", name=name), coded("agent.remove_first", name=name)
        raise Exists(found_name, path=os.fspath(root), op="restore", fix=fix)
    check_new_name(root, name)
    _move(root, f"{REMOVED}/{os.path.basename(found[-1].path)}", name)
    return found[-1]._replace(path=os.path.join(os.path.abspath(root), name))


def _removed(root: str | os.PathLike[str]) -> Iterator[RemovedAgent]:
    folder = os.path.join(os.path.abspath(root), REMOVED)
    try:
        listed = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in listed:
        match = _PLACE.fullmatch(entry)
        if match is not None:
            yield RemovedAgent(match[1], match[2], os.path.join(folder, entry))


def _move(root: str | os.PathLike[str], source: str, target: str) -> None:
    house = Root(root)
    try:
        there = house.ensure_parent(target, private=True)
        here = house.ensure_parent(source)
        house.rename(here, there, "new")
        house.sync(there, here)
    except FileExistsError:
        raise Exists(coded("agent.name_exists"), path=target, op="move") from None
    except OSError as error:
        raise from_os(error, path=source, op="move") from error
    finally:
        house.close()
