"""The port of language models: messages and operations in, words and calls of those operations out.

    [project.entry-points."worldfs.models"]
    mine = "my_package.model:Mine"         # (settings, PluginContext) -> ChatModel

What a model asks for is a proposal: it becomes an order like any other, which the critic and the driver judge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from .driver import PluginContext, Run
from .errors import UserError
from .model import Json, Operation
from .plugin_registry import PluginGroup


class ModelMessage(NamedTuple):
    role: str  # system | user | assistant | tool
    text: str


class RequestedCall(NamedTuple):
    operation: str
    arguments: Json


class ModelReply(NamedTuple):
    text: str
    calls: tuple[RequestedCall, ...] = ()
    input_tokens: int = 0  # 0: not counted
    output_tokens: int = 0


class ModelUnavailable(UserError):
    """A model that is not configured, cannot be reached or gives no valid answer. Never holds a key."""

    code = "MODEL_UNREACHABLE"


class ChatModel(Protocol):
    """One model. Called from one thread at a time."""

    def reply(self, messages: Sequence[ModelMessage], tools: Sequence[Operation], run: Run) -> ModelReply:
        """The answer, before `run.stop` says to end. `tools` are described by `Operation.json_schema`.

        Raises `ModelUnavailable`.
        """
        ...


MODELS: Final = PluginGroup[Callable[[Mapping[str, object], PluginContext], ChatModel]]("worldfs.models", {})
