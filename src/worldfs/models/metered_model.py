"""A model with a deadline, a budget and bounded retries; each call is recorded."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from typing import Final

from worldfs.base.chat_model import ChatModel, ModelCall, ModelMessage, ModelReply, ModelTool, ModelUnavailable
from worldfs.base.driver import Run
from worldfs.base.messages import coded
from worldfs.formats.config_models import ModelConfig

POLL_S: Final = 0.05  # how long a stop may go unseen while a call is under way
LEAVE_S: Final = 2.0  # for a stopped call to end by itself; then it is left behind
BACKOFF_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
LONGEST_WAIT_S: Final = 30.0  # that an endpoint may ask for before a retry
BYTES_A_TOKEN: Final = 4  # where the endpoint does not count
IMAGE_TOKENS: Final = 1_500  # of a picture of 640 × 480, before the endpoint has counted
RETRIED: Final = frozenset(("MODEL_UNREACHABLE",))


class MeteredModel:
    """A `ChatModel` around one. Its budgets are for its lifetime: one instruction. `logs`: are given each call."""

    def __init__(self, model: ChatModel, config: ModelConfig, logs: Sequence[Callable[[ModelCall], None]] = ()) -> None:
        self._model, self.config, self._logs = model, config, logs
        self.calls: list[ModelCall] = []

    @property
    def name(self) -> str:
        return self.config.model or self.config.kind

    @property
    def tokens(self) -> int:
        return sum(call.input_tokens + call.output_tokens for call in self.calls)

    @property
    def cost(self) -> float | None:
        """US dollars; None if any call's price is not known."""
        costs = [call.cost_usd for call in self.calls]
        return None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None)

    def reply(self, messages: Sequence[ModelMessage], tools: Sequence[ModelTool], run: Run) -> ModelReply:
        messages = [_sound(message) for message in messages]
        prompt = _prompt(messages, tools)
        estimate = len(prompt) // BYTES_A_TOKEN + IMAGE_TOKENS * sum(len(message.images) for message in messages)
        for attempt in range(self.config.retries + 1):
            self._check_budget(estimate)
            began = run.clock.monotonic()
            try:
                reply = self._ask(messages, tools, run)
            except ModelUnavailable as error:
                self._record(prompt, ModelReply("", (), estimate), began, run, error.code)
                if error.code not in RETRIED or attempt == self.config.retries:
                    raise
                wait = min(error.retry_after_s or BACKOFF_S[min(attempt, len(BACKOFF_S) - 1)], LONGEST_WAIT_S)
                run.clock.wait(run.cancel, min(wait, run.deadline - run.clock.monotonic()))
                continue
            if not reply.input_tokens + reply.output_tokens:
                said = len(reply.text) + len(json.dumps(reply.calls, default=str))
                reply = reply._replace(input_tokens=estimate, output_tokens=said // BYTES_A_TOKEN)
            self._record(prompt, reply, began, run)
            return reply
        raise AssertionError("the last attempt returns or raises")

    def _check_budget(self, estimate: int) -> None:
        """Raises before a call that would go beyond a budget; a price that is not known spends all of it."""
        found = ""
        if self.tokens + estimate + self.config.max_tokens > self.config.token_budget:
            found = coded("model.tokens_used", used=self.tokens, of=self.config.token_budget)
        elif (limit := self.config.cost_budget) is not None and self.calls:
            if (cost := self.cost) is None:
                found = coded("model.no_price")
            elif cost >= limit:
                found = coded("model.spent", cost=cost, limit=limit)
        if found:
            raise self._unavailable(found, "MODEL_BUDGET", coded("model.within"), coded("model.raise_budget"))

    def _ask(self, messages: Sequence[ModelMessage], tools: Sequence[ModelTool], run: Run) -> ModelReply:
        """One attempt, in a thread of its own: a model that does not look at `run.stop` is left behind."""
        clock = run.clock
        inner = Run(clock, min(run.deadline, clock.monotonic() + self.config.timeout_s), run.attempt, None, run.cancel)
        box: list[ModelReply | ModelUnavailable] = []
        done = threading.Event()

        def ask() -> None:
            try:
                box.append(self._model.reply(messages, tools, inner))
            except ModelUnavailable as error:
                box.append(error)
            except Exception as error:  # whatever a package's model raises
                box.append(self._unavailable(f"{type(error).__name__}: {error}"[:300], "MODEL_ANSWER"))
            finally:
                done.set()

        threading.Thread(target=ask, daemon=True, name=f"model {self.config.name}").start()
        while not done.wait(POLL_S):
            if inner.stop:
                done.wait(LEAVE_S)
                break
        if why := inner.stop:
            if why == "cancelled":
                raise self._unavailable(coded("model.stopped"), "MODEL_STOPPED")
            found = coded("model.no_answer", s=self.config.timeout_s)
            raise self._unavailable(found, "MODEL_TIMEOUT", coded("model.in_time"), coded("model.raise_timeout"))
        if isinstance(box[0], ModelUnavailable):
            raise box[0]
        return box[0]

    def _record(self, prompt: bytes, reply: ModelReply, began: float, run: Run, error: str = "") -> None:
        cost, prices = reply.cost, (self.config.input_price, self.config.output_price)
        if prices[0] is not None and prices[1] is not None:
            cost = (reply.input_tokens * prices[0] + reply.output_tokens * prices[1]) / 1e6
        elif error and cost is None:
            cost = 0.0 if error in RETRIED else None  # nothing was answered, so nothing is charged
        digest, latency = _sha256(prompt), round(run.clock.monotonic() - began, 3)
        call = ModelCall(self.name, digest, reply.input_tokens, reply.output_tokens, cost, latency, error)
        self.calls.append(call)
        for log in self._logs:
            log(call)

    def _unavailable(self, found: str, code: str, expected: str = "", fix: str = "") -> ModelUnavailable:
        where = f"config.json models.{self.config.name}"
        return ModelUnavailable(found, path=where, op="ask a model", expected=expected, fix=fix, code=code)


def _sound(message: ModelMessage) -> ModelMessage:
    """Half a surrogate pair, which JSON can express, has no bytes in which a model could be asked."""
    return message._replace(text=message.text.encode("utf-8", "replace").decode())


def _prompt(messages: Sequence[ModelMessage], tools: Sequence[ModelTool]) -> bytes:
    """What is hashed: of an image its own hash."""
    said = [[message.role, message.text, *map(_sha256, message.images)] for message in messages]
    return json.dumps([said, tools], ensure_ascii=False, sort_keys=True, default=str).encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
