"""Agent State: one entry of the journal an operation ("event"), or one task more in tasks.json ("task")."""

from __future__ import annotations

import sys
from typing import Any

from turns import serve

from worldfs.agents.agent_state import AgentState


class Events:
    def __init__(self, state: AgentState) -> None:
        self.state = state

    def item(self, key: str, text: str) -> Any:
        return {"key": key, "text": text}

    def put(self, item: Any) -> None:
        self.state.event("noted", **item)

    def count(self) -> int:
        return sum(entry["event"] == "noted" for _, entry in self.state.journal.lines())


class Tasks:
    def __init__(self, state: AgentState) -> None:
        self.state = state

    def item(self, key: str, text: str) -> Any:
        return key, text

    def put(self, item: Any) -> None:
        key, text = item
        self.state.add_task(text, id=key)

    def count(self) -> int:
        return len(self.state.tasks())


with AgentState.open("bench", sys.argv[1], create=True) as opened:
    serve({"event": Events, "task": Tasks}[sys.argv[2]](opened))
