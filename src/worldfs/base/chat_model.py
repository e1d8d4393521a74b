"""The port of language models: messages and tools in, words and calls of those tools out.

    [project.entry-points."worldfs.models"]
    mine = "my_package.model:Mine"         # (settings, PluginContext) -> ChatModel

What a model asks for is a proposal: it becomes an order like any other, which the critic and the driver judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from .driver import Run
from .errors import UserError
from .messages import coded
from .model import Json
from .plugin_values import WrongField, rule


class ModelMessage(NamedTuple):
    role: str  # system | user | assistant
    text: str
    images: tuple[bytes, ...] = ()  # PNG files that a user message shows, for models that see


class ModelTool(NamedTuple):
    """Something that a model may call; `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: Json


class RequestedCall(NamedTuple):
    tool: str
    arguments: Json


class ModelReply(NamedTuple):
    text: str
    calls: tuple[RequestedCall, ...] = ()
    input_tokens: int = 0  # 0: not counted
    output_tokens: int = 0
    cost: float | None = None  # US dollars; None: not known


@rule(ModelReply)
def counts_are_counts(reply: ModelReply) -> WrongField | None:
    """What is below nothing would lift a budget."""
    counted = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens, "cost": reply.cost or 0.0}
    low = next((name for name, value in counted.items() if value < 0), None)
    return None if low is None else WrongField(low, f"{counted[low]:g}", coded("plugin.no_less_than_0"))


class ModelUnavailable(UserError):
    """A model that is not configured, cannot be reached or gives no valid answer. Never holds a key.

    Codes: MODEL_CONFIG, MODEL_KEY (settings), MODEL_UNREACHABLE, MODEL_TIMEOUT, MODEL_REFUSED (the endpoint says no),
    MODEL_ANSWER (not usable), MODEL_BUDGET, MODEL_STOPPED (the caller no longer wants it).
    """

    code = "MODEL_UNREACHABLE"
    retry_after_s: float | None = None  # what the endpoint asks for


class ModelCall(NamedTuple):
    """One request to a model, as it is recorded. Neither prompt nor answer: they may hold what others may not see."""

    model: str
    prompt_sha256: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None  # None: the price is not known
    latency_s: float
    error: str = ""  # the code of a call that gave no answer

    def as_json(self) -> Json:
        return {key: value for key, value in self._asdict().items() if value not in (None, "")}


class ChatModel(Protocol):
    """One model. Called from one thread at a time."""

    def reply(self, messages: Sequence[ModelMessage], tools: Sequence[ModelTool], run: Run) -> ModelReply:
        """The answer, before `run.stop` says to end. With tools, the model must call at least one of them.

        Raises `ModelUnavailable`.
        """
        ...


class RecordingModel(ChatModel, Protocol):
    """A model that keeps a record of its calls."""

    @property
    def name(self) -> str: ...

    @property
    def calls(self) -> Sequence[ModelCall]: ...


class ConfiguredModel(NamedTuple):
    """A model of config.json. Each one that is opened has its budgets to itself."""

    open: Callable[[], RecordingModel]  # raises `ModelUnavailable` or `MissingRequirement`, naming the setting
    timeout_s: float = 60.0  # of one call
    required: bool = False  # what asks it does not go on without its answer
