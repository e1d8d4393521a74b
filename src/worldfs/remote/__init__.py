"""Clients of a served world: typed and asynchronous (`connect`), blocking (`blocking.connect`), fsspec (acheron://).

async with connect("ws://127.0.0.1:18790", agent="alice", project="proj-1") as world:
    print(await world.list("/nodes"))
    job = await world.chat("clear the table")
    print((await job.result()).text)
"""

from __future__ import annotations

from .attached import File
from .connecting import connect
from .errors import Lost, TimedOut
from .jobs import Job
from .nouns import NEVER, Bound, Ended, Event, Invoked, Place, Push, Retry, Written
from .world import World

__all__ = [
    "NEVER",
    "Bound",
    "Ended",
    "Event",
    "File",
    "Invoked",
    "Job",
    "Lost",
    "Place",
    "Push",
    "Retry",
    "TimedOut",
    "World",
    "Written",
    "connect",
]
