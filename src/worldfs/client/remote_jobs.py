"""Jobs of a remote agent: chats, invocations, and their results."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int
from worldfs.base.messages import coded

from .remote_errors import RequestTimeout
from .remote_tree import is_control
from .remote_types import JobResult, Json, RemoteToolResult

if TYPE_CHECKING:
    from .remote_world import RemoteWorld

CHAT: Final = "/agents/self/chat/control/input"
JOBS: Final = "/agents/self/jobs"
ENDED: Final = frozenset(("done", "failed"))
_LOOK_S: Final = 30.0  # s of one blocking read of a status; a server may answer earlier
_POLL_S: Final = 0.1  # s between two reads of a status that does not block


class RemoteJob:
    """A job by its id. Reading its state never blocks, waiting for its end does."""

    def __init__(self, world: RemoteWorld, id: str, correlation_id: str = "") -> None:
        self._world = world
        self.id, self.correlation_id = id, correlation_id
        self.path = f"{JOBS}/{id}"

    async def state(self) -> str:
        """queued, running, done or failed. Raises `NotFound`."""
        return str((await self._status(0))["state"])

    async def result(self, timeout: float | None = None) -> JobResult:
        """Wait for the result. Raises `RequestTimeout`; the job goes on."""
        now = asyncio.get_running_loop().time
        deadline = None if timeout is None else now() + timeout
        while True:
            left = _LOOK_S if deadline is None else min(_LOOK_S, deadline - now())
            if left <= 0:
                raise RequestTimeout(coded("access.not_ended", s=timeout), path=self.path, op="wait")
            status = await self._status(left)
            if status.get("state") in ENDED:
                break
        text = (await self._world.read(f"{self.path}/result.txt", wait=0)).decode("utf-8", "replace")
        correlation = str(status.get("correlation_id") or "")
        ok = status["state"] == "done"
        return JobResult(
            self.id, ok, text, str(status.get("error") or ""), correlation, as_int(status.get("updated_at_ms"))
        )

    async def cancel(self) -> None:
        """Ask the job to stop; `result` returns how it ended. Raises `NotFound` where the server cannot cancel."""
        await self._world.write(f"{self.path}/cancel", "cancel\n")

    async def progress(self) -> AsyncIterator[Json]:
        """The lines of its log as they come, until it has ended."""
        from .remote_watch import changes

        told = 0
        async with changes(self._world, self.path) as until_next:
            while True:
                over = await self.state() in ENDED  # read first: what is logged before the end is in the log below
                log = await self.log()
                for line in log[told:]:
                    yield line
                told = len(log)
                if over:
                    return
                await until_next(_LOOK_S)

    async def log(self) -> list[Json]:
        """The entries of its log, one object per line."""
        text = (await self._world.read(f"{self.path}/log.txt")).decode("utf-8", "replace")
        return [parse_json(line) for line in text.splitlines() if line.strip()]

    async def _status(self, wait: float) -> Json:
        return parse(await self._world.read(f"{self.path}/status.json", wait=wait), self.path)


async def chat(world: RemoteWorld, text: str, correlation: str) -> RemoteJob:
    written = await world.write(CHAT, text, correlation=correlation)
    if not written.job:
        raise BadInput(coded("access.blank"), path=CHAT, op="chat")
    return RemoteJob(world, written.job, str(written.extra.get("correlation_id") or ""))


async def invoke(world: RemoteWorld, path: str, tool: str, args: Json, timeout: float) -> RemoteToolResult:
    """Through control/invoke.json with the tool's name, or, for a path that is a control file, with the bare arguments
    when no tool is given. The answer is the job's own where the server names a job, else the service's latest."""
    control = path if is_control(path) else f"{path.rstrip('/')}/control/invoke.json"
    payload = {"tool_name": tool, "arguments": args} if tool else args
    try:
        async with asyncio.timeout(timeout):
            return await _invoke(world, control, json.dumps(payload, ensure_ascii=False))
    except RequestTimeout:
        raise
    except TimeoutError:
        raise RequestTimeout(coded("access.goes_on", s=timeout), path=path, op="invoke") from None


async def _invoke(world: RemoteWorld, control: str, payload: str) -> RemoteToolResult:
    written = await world.write(control, payload)
    if written.job:
        job = RemoteJob(world, written.job)
        return (await _result_of(job, await job.result()))._replace(job=job.id)
    home = control.partition("/control/")[0]
    status = parse(await world.read(f"{home}/status.json"), home)
    while status.get("state") == "running":
        await asyncio.sleep(_POLL_S)
        status = parse(await world.read(f"{home}/status.json"), home)
    return _invoked(parse(await world.read(f"{home}/result.json"), home), status.get("state") == "done")


async def _result_of(job: RemoteJob, ended: JobResult) -> RemoteToolResult:
    """From the job's own files, so that two invocations of one service do not mix up their answers."""
    if ended.ok:
        try:
            return _invoked(parse_json(ended.text), True)
        except ValueError:
            return RemoteToolResult(True, ended.text)
    told = next((line for line in reversed(await job.log()) if line.get("type") == "error"), {})
    message = str(told.get("message") or ended.error or ended.text)
    return RemoteToolResult(False, None, str(told.get("code") or "failed"), message)


def _invoked(found: object, ok: bool) -> RemoteToolResult:
    error = found.get("error") if isinstance(found, dict) else None
    if isinstance(error, dict):
        return RemoteToolResult(False, found, str(error.get("code", "")), str(error.get("message", "")))
    return RemoteToolResult(ok, found)


def parse(data: bytes, path: str) -> Json:
    try:
        found = parse_json(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        found, expected = coded("common.given", text=data[:60].decode(errors="replace")), coded("file.json_object")
        raise WorldError(found, path=path, expected=expected, code="PROTOCOL")
    return found
