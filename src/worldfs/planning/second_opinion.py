"""A language model agrees, or objects with a reason, by one call of one of two tools."""

from __future__ import annotations

from typing import Final

from worldfs.base.chat_model import ChatModel, ModelCall, ModelMessage, ModelTool, ModelUnavailable, RecordingModel
from worldfs.base.driver import Run
from worldfs.base.messages import coded, render
from worldfs.base.model import Json
from worldfs.formats.prose import one_line

TRIES: Final = 2  # answers that cannot be used, before the model is left
REASON_MOST: Final = 300  # characters


def objection(
    model: ChatModel, rules: str, question: ModelMessage, tools: tuple[ModelTool, ModelTool], within: Run
) -> str:
    """Why the model objects, "" if it agrees. All its answers together have the time of `within`.

    `tools`: to agree, and to object, which takes one text, `reason`. Raises `ModelUnavailable`.
    """
    agree, objects = tools
    messages, problem = [ModelMessage("system", rules), question], ""
    for _ in range(TRIES):
        try:
            reply = model.reply(tuple(messages), tools, within)
        except ModelUnavailable as error:
            if error.code != "MODEL_ANSWER":
                raise
            problem = error.found
            continue
        names = [call.tool for call in reply.calls]
        if names == [agree.name]:
            return ""
        said = reply.calls[0].arguments.get("reason") if names == [objects.name] else None
        if isinstance(said, str) and (reason := one_line(said, REASON_MOST)):
            return reason
        found = one_line(", ".join(names), 100) or "a text"
        problem = render(coded("model.opinion_unusable", agree=agree.name, objects=objects.name, found=found), "en")
        messages.append(ModelMessage("user", problem))
    raise ModelUnavailable(problem, op="review", code="MODEL_ANSWER")


def recorded_calls(model: RecordingModel | None) -> list[Json]:
    """Its calls as evidence; none of a model that could not be opened."""
    return list(map(ModelCall.as_json, model.calls)) if model is not None else []
