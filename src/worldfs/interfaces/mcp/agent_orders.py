"""Orders of an agent: a Control takes one object, becomes a job, and the job's own files say how it ended."""

from __future__ import annotations

import asyncio
import json
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .actor_tree import ActorTree
from .places import JOBS

ENDED: Final = frozenset({"done", "failed", "succeeded"})


class JobProgress(NamedTuple):
    """`text`: the result of a job that ended, "" before."""

    state: str
    error: str = ""
    text: str = ""

    @property
    def ended(self) -> bool:
        return self.state in ENDED


async def order(tree: ActorTree, control: str, payload: Json | str) -> str:
    """The job that an order became. Raises what the tree says against it."""
    data = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    written = await tree.write(control, data.encode())
    if not written.job:
        raise BadInput(coded("mcp.no_job"), path=control, op="order")
    return written.job


async def job_state(tree: ActorTree, place: str) -> JobProgress:
    """How the job in a directory stands now."""
    found = json_object((await tree.read(f"{place}/status.json")).data, place)
    outcome = found.get("outcome")
    error = as_text(found.get("error")) or as_text(outcome.get("message") if isinstance(outcome, dict) else "")
    state = JobProgress(as_text(found.get("state")), error)
    if not state.ended:
        return state
    result = (await tree.read(f"{place}/result.txt")).data.decode("utf-8", "replace")
    return state._replace(text=result)


async def ended(tree: ActorTree, place: str, seconds: float) -> JobProgress:
    """The job's end, or how it stands after so many seconds."""
    now = asyncio.get_running_loop().time
    over = now() + seconds
    async with tree.changes(place) as until_next:
        while True:
            state = await job_state(tree, place)
            left = over - now()
            if state.ended or left <= 0:
                return state
            await until_next(left)


async def answer(tree: ActorTree, control: str, payload: Json, seconds: float) -> Json:
    """The answer of a service of the agent. Raises `WorldError` where it fails, or gives none in time."""
    id = await order(tree, control, payload)
    state = await ended(tree, f"{JOBS}/{id}", seconds)
    if not state.ended:
        raise WorldError(
            coded("mcp.no_answer", seconds=seconds), path=control, fix=coded("mcp.wait_for", job=id), code="TIMEOUT"
        )
    if state.state == "failed":
        raise BadInput(state.error or state.text or coded("mcp.failed"), path=control, op="order", code="FAILED")
    return json_object(state.text.encode(), control)


def json_object(data: bytes, path: str) -> Json:
    try:
        found = parse_json(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise WorldError(
            coded("common.given", text=data[:60].decode("utf-8", "replace")),
            path=path,
            expected=coded("mcp.an_object"),
            code="PROTOCOL",
        )
    return found
