"""The actor of a home on this disk, by a role: its tree, with the services of an agent for as long as it is open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from worldfs.access.binding import binding_of_role
from worldfs.base.clock import Clock
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import PROJECT

from .namespace_tree import NamespaceTree

_THREADS: Final = 8


@asynccontextmanager
async def local_actor(home: Path, agents: Path, role: str, agent: str, clock: Clock) -> AsyncIterator[NamespaceTree]:
    """Beside any other process that uses the home. Its jobs are kept in memory and end with the block; what robots are
    ordered is durable, as everywhere."""
    own = binding_of_role(role, agent, PROJECT)
    binding = own.of_model
    with (
        ServedWorld.open(home, clock=clock, agents=agents, memory_only=True) as realm,
        ThreadPoolExecutor(_THREADS, "mcp") as threads,
    ):
        if agent:
            realm.ensure_agent(agent)
        yield NamespaceTree(binding, realm.attach(binding), realm.feed, threads, (own, realm.attach(own)))
