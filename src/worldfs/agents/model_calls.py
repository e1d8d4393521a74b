"""The calls of language models in the name of agents: entries of their journals, which their metrics count."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from worldfs.base.agent_names import agent_exists
from worldfs.base.chat_model import ModelCall
from worldfs.base.clock import Clock
from worldfs.base.errors import WorldError

from .agent_state import AgentState
from .metrics_reducer import MODEL_CALL


class AgentModelCalls:
    """Of the agents below a state root. Thread-safe. Calls for an agent without a directory are not kept.

    A call is durable in the journal when `add` returns. metrics.json has it after `count`, or after whatever else
    counts that agent's journal: a message has many calls, and not each of them needs a version of metrics.json.
    """

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root, self._clock = root, clock
        self._uncounted: set[str] = set()  # agents

    def add(self, agent: str, use: str, call: ModelCall) -> None:
        """`use`: the model's name in `models` of config.json. A figure that cannot be written keeps no model from
        answering: it is lost."""
        if not agent_exists(self._root, agent):
            return
        with suppress(WorldError, OSError), AgentState.open(agent, self._root, clock=self._clock) as state:
            state.append({"event": MODEL_CALL, "use": use, **call.as_json()})
            self._uncounted.add(agent)

    def count(self, agent: str) -> None:
        """Bring the agent's metrics.json up to its journal, if a call was added since the last time."""
        if agent not in self._uncounted:
            return
        self._uncounted.discard(agent)  # first: a call that is added meanwhile is counted here or by the next
        with suppress(WorldError, OSError), AgentState.open(agent, self._root, clock=self._clock) as state:
            state.count()
