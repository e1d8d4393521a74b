"""The OpenAI Agents SDK's SQLiteSession: one item of a conversation an operation (WAL, synchronous FULL)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from agents import SQLiteSession
from turns import serve


class Conversation:
    def __init__(self, session: SQLiteSession, runner: asyncio.Runner) -> None:
        self.session, self.runner = session, runner

    def item(self, key: str, text: str) -> Any:
        return {"role": "user", "content": f"{key} {text}"}

    def put(self, item: Any) -> None:
        self.runner.run(self.session.add_items([item]))

    def count(self) -> int:
        return len(self.runner.run(self.session.get_items()))


with asyncio.Runner() as loop:
    serve(Conversation(SQLiteSession("bench", Path(sys.argv[1]) / "conversation.sqlite"), loop))
