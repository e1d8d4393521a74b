"""The agent's waiting messages that one job has taken: acknowledged with its answer, else they wait again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.inbox import Inbox
from worldfs.base.clock import Clock
from worldfs.base.errors import WorldError
from worldfs.base.model import Json
from worldfs.interfaces.mcp import bounded_content
from worldfs.interfaces.mcp.places import SELF
from worldfs.interfaces.mcp.tool_spec import ToolCall, ToolSpec
from worldfs.world.agent_jobs.agent_job import AgentJobContext

INBOX: Final = f"{SELF}/inbox"
SHOWN: Final = 9_000  # bytes of messages at once; the others wait
ONE: Final = 3_000  # bytes of one; the rest is read from its file


class TakenMessages:
    """Claimed for the job as long as it may run: no session and no other job works on them meanwhile."""

    def __init__(self, agent: Path, clock: Clock, run: AgentJobContext) -> None:
        self._agent, self._clock, self._run = agent, clock, run
        self._shown: set[str] = set()

    @property
    def tool(self) -> ToolSpec:
        return ToolSpec(
            "take_messages", "Take messages", "Take the messages that other agents have sent you: work that was handed "
            "over, and answers to yours. They count as read once you have answered the asker.", self._take,
        )  # fmt: skip

    async def _take(self, call: ToolCall) -> Json:
        """Each is read with the asker's rights; a refusal leaves all as they were."""
        told: list[Json] = []
        with self._inbox() as inbox:
            inbox.claim_all(self._run.id, token=self._run.id, lease_s=self._run.left())
            found = [one for one in inbox.claimed(self._run.id) if one.message.id not in self._shown]
            size = 0
            try:
                for claimed in found:
                    path = f"{INBOX}/{Path(claimed.path).name}"
                    shown = bounded_content.piece((await call.tree.read(path)).data, 0, ONE)
                    size += len(str(shown["text"]))
                    if size > SHOWN:
                        break
                    told.append({"path": path, **shown})
                    self._shown.add(claimed.message.id)
            except WorldError:
                inbox.return_all(self._run.id)
                raise
        return {"messages": told, "waiting": len(found) - len(told)}

    def settle(self, *, answered: bool) -> None:
        """`answered`: those that were shown are done with, and all others wait again."""
        if self._shown:
            with self._inbox() as inbox:
                inbox.ack_all(self._run.id, only=self._shown if answered else ())

    @contextmanager
    def _inbox(self) -> Iterator[Inbox]:
        place = AgentDirectory(self._agent.parent, self._agent.name, clock=self._clock)
        with place as directory, closing(Inbox(directory)) as inbox:
            yield inbox
