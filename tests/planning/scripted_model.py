"""A model whose answers a test gives."""

from __future__ import annotations

from typing import Any

from worldfs.base.chat_model import ModelCall, ModelReply
from worldfs.base.driver import Run


class ScriptedModel:
    """Each answer once, the last one for ever."""

    name = "tiny"

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked, self.calls, self.runs = answers, list[Any](), list[ModelCall](), list[Run]()

    def reply(self, messages: Any, tools: Any, run: Run) -> ModelReply:
        self.asked.append(messages)
        self.runs.append(run)
        self.calls.append(ModelCall("tiny", "0" * 64, 100, 10, 0.001, 0.5))
        found = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(found, Exception):
            raise found
        return found
