"""LangGraph's SqliteSaver: one checkpoint an operation (WAL, synchronous FULL: its defaults)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver
from turns import serve

CONFIG = {"configurable": {"thread_id": "bench", "checkpoint_ns": ""}}


class Checkpoints:
    def __init__(self, saver: SqliteSaver) -> None:
        self.saver = saver

    def item(self, key: str, text: str) -> Any:
        return {**empty_checkpoint(), "channel_values": {key: text}}

    def put(self, item: Any) -> None:
        self.saver.put(CONFIG, item, {"source": "loop", "step": 1}, {})

    def count(self) -> int:
        return sum(1 for _ in self.saver.list(CONFIG))


with SqliteSaver.from_conn_string(str(Path(sys.argv[1]) / "checkpoints.sqlite")) as opened:
    opened.setup()
    serve(Checkpoints(opened))
