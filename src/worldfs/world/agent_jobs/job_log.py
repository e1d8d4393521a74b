"""The log of one job: lines of JSON beside the statuses in its file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.runtime.job_store import JobStore, job_key
from worldfs.tree.change_feed import ChangeFeed

from .agent_job import epoch_ms, log_line

LOG_MOST: Final = 1_000  # lines of one job
_BEGIN: Final = b'{"log":'


class JobLog:
    """Appends lines while `alive` says that the job runs. A line is not durable."""

    def __init__(self, jobs: JobStore, feed: ChangeFeed, id: str, agent: str, alive: Callable[[], bool]) -> None:
        self._jobs, self._feed, self._id, self._agent, self._alive = jobs, feed, id, agent, alive
        self._count = 0

    def __call__(self, type: str, **fields: object) -> None:
        self._count += 1
        if self._count > LOG_MOST or not self._alive():
            return
        if self._count == LOG_MOST:
            type, fields = "cut", {"message": f"no more than {LOG_MOST} lines are kept"}
        line = log_line(type, epoch_ms(self._jobs.clock.now()), request=self._id, **fields)
        with suppress(WorldError):
            self._jobs.store.append(job_key(self._id), _BEGIN + line[:-1] + b"}\n", durable=False)
            self._feed.publish(f"/agents/{self._agent}/jobs/{self._id}/log.txt", kind="log", actor=self._agent)


def log_lines(data: bytes) -> list[bytes]:
    """The log lines in a job's file."""
    return [
        line[len(_BEGIN) : -1] + b"\n" for line in data.split(b"\n") if line.startswith(_BEGIN) and line[-2:] == b"}}"
    ]
