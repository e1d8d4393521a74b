"""The files of an agent's job at any time: by the lines of its own file, each of which carries one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from worldfs.base.json_text import parse_json
from worldfs.base.model import Job
from worldfs.runtime.job_codec import JobVersion, read_job_versions
from worldfs.storage.dated_versions import DatedVersion, DatedVersions

from .agent_job import agent_job_of, error_line, message_text, result_text
from .job_log import log_lines

Render = Callable[[Job], bytes]


def past_file(name: str, data: bytes, key: str) -> DatedVersions | None:
    """`name`: status | result | log | message; None: there is no such file. `data`: of the job's file, `key`."""
    versions = read_job_versions(data, key)
    if name == "log":
        return DatedVersions(_log_versions(versions, log_lines(data)))
    render = _RENDERS.get(name)
    if render is None:
        return None
    return DatedVersions([_version(one, render) for one in versions])


def _version(one: JobVersion, render: Render) -> DatedVersion:
    return DatedVersion(one.at_ns, partial(render, one.job) if one.known else None)


def _status(job: Job) -> bytes:
    return agent_job_of(job).status()


def _log_versions(versions: list[JobVersion], lines: list[bytes]) -> list[DatedVersion]:
    """Empty at first, then longer by a line at a time; the last line of a failed job says why."""
    found, text, end, at_ns = [DatedVersion(versions[0].at_ns, bytes)], b"".join(lines), 0, versions[0].at_ns
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            at_ns = int(parse_json(line)["timestamp"]) * 1_000_000
        end += len(line)
        found.append(DatedVersion(at_ns, partial(_first, text, end)))
    last = versions[-1].job
    outcome = last.status.outcome
    if last.status.state.terminal and outcome is not None and not outcome.ok:
        text += error_line(last.id, outcome, agent_job_of(last).updated_ms)
        found.append(DatedVersion(versions[-1].at_ns, partial(bytes, text)))
    return found


def _first(text: bytes, end: int) -> bytes:
    return text[:end]


_RENDERS: Final[Mapping[str, Render]] = {
    "status": _status,
    "result": lambda job: result_text(job.status.outcome if job.status.state.terminal else None),
    "message": lambda job: message_text(job.order),
}
