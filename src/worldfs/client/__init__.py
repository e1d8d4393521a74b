"""Clients of a served world: typed and asynchronous (`connect`), blocking (`blocking.connect`), fsspec (acheron://).

async with connect("ws://127.0.0.1:18790", agent="alice", project="proj-1") as world:
    print(await world.list("/nodes"))
    job = await world.chat("clear the table")
    print((await job.result()).text)
"""

from __future__ import annotations

from worldfs.tree.verb_values import Stat, Written

from .connection import connect
from .remote_errors import ConnectionLost, RequestTimeout
from .remote_jobs import RemoteJob
from .remote_tree import RemoteFile
from .remote_types import NEVER_RETRY, BoundSession, JobResult, PushFrame, RemoteToolResult, RetryPolicy, WatchEvent
from .remote_world import RemoteWorld

__all__ = [
    "NEVER_RETRY",
    "BoundSession",
    "ConnectionLost",
    "JobResult",
    "PushFrame",
    "RemoteFile",
    "RemoteJob",
    "RemoteToolResult",
    "RemoteWorld",
    "RequestTimeout",
    "RetryPolicy",
    "Stat",
    "WatchEvent",
    "Written",
    "connect",
]
