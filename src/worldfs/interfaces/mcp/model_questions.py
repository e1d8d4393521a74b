"""What the planner's model asks about an instruction, put to the person at the client: its questions, and its plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.model import Json
from worldfs.base.stop_words import is_stop
from worldfs.planning.planner import AnsweredQuestion
from worldfs.planning.planner.model_reading import QUESTIONS, YES
from worldfs.world.agent_jobs.responders.planner_responder import PLAN, QUESTION, VERDICT
from worldfs.world.agent_jobs.written_terms import ANSWERS, answers_json, join_message

from . import bounded_content, places
from .actor_tree import ActorTree
from .agent_orders import ended, order
from .tool_spec import ToolCall

ASKED: Final = QUESTIONS  # of the model's, for one order
CONFIRM_S: Final = 25.0  # for a model to ask or to propose something, before `do` answers with the job alone
_REPLY: Final = re.compile("confirm [0-9a-f]{16}: ")  # and the instruction


class ModelOrder(NamedTuple):
    """The job that an instruction has come to. `proposal`: what the person has said yes to. `question`: what has no
    answer. `stopped`: the person said stop, and the robots are stopped."""

    job: str
    proposal: str = ""
    question: str = ""
    stopped: bool = False


async def ask_for_model(call: ToolCall, job: str, text: str, members: Json) -> ModelOrder:
    """Puts each question of the model to the person, at most `ASKED`, and orders the instruction once more with the
    answer; the plan that the model proposes at last is done once the person has said yes. `members`: of the message
    that was the first order; every further one has them too."""
    answers: list[AnsweredQuestion] = []
    while True:
        end = await ended(call.tree, f"{places.JOBS}/{job}", CONFIRM_S)
        question = await _logged(call.tree, job, QUESTION) if end.ended else ""
        if not question:
            break
        asks = f"{render(coded('model.asks', question=question), language_of(text))} ({len(answers) + 1}/{ASKED})"
        about = "what you mean; none: nothing is ordered"
        said = await _ask(call, asks, about) if len(answers) < ASKED else _Said()
        if said.stopped or not said.words:
            return ModelOrder(job, question=question, stopped=said.stopped)
        answers.append(AnsweredQuestion(question, said.words))
        job = await _ordered_once(call, f"answer {len(answers)}", _message(text, members, answers))
    proposal, _, reply = end.text.rpartition("\nTo do it, answer: ")
    if _REPLY.fullmatch(reply.removesuffix(text)) is None:
        return ModelOrder(job)
    shown = bounded_content.line(proposal, 1_500)
    said = await _ask(call, shown, "yes: do exactly this; anything else: nothing")
    if said.stopped or said.words.strip().casefold() not in YES:
        return ModelOrder(job, stopped=said.stopped)
    plan = await _logged(call.tree, job, PLAN)
    return ModelOrder(await order(call.person, places.CHAT, _message(reply, members, answers)), plan or shown)


class _Said(NamedTuple):
    """The person's words, "" for none. `stopped`: they were a stop."""

    words: str = ""
    stopped: bool = False


async def _ask(call: ToolCall, question: str, about: str) -> _Said:
    """A stop is no answer to any question: it stops the robots."""
    said = await call.asker.ask(question, "answer", about) or ""
    robots = [] if is_stop(said) else await places.robots(call.tree)
    if is_stop(said, lambda: robots):
        await order(call.person, places.CHAT, said)
        return _Said(stopped=True)
    return _Said(said)


async def _ordered_once(call: ToolCall, name: str, message: str) -> str:
    """The job, also where the client makes this call once more."""
    kept = call.asker.kept
    if name not in kept:
        kept[name] = await order(call.person, places.CHAT, message)
    return kept[name]


async def _logged(tree: ActorTree, job: str, type: str) -> str:
    """What the last attempt of a job logged as this type after its verdict, "" for nothing."""
    message = ""
    for line in map(_log_line, (await tree.read(f"{places.JOBS}/{job}/log.txt")).data.splitlines()):
        if line.get("type") == VERDICT:
            message = ""
        elif line.get("type") == type:
            message = as_text(line.get("message"))
    return message


def _log_line(line: bytes) -> dict[str, object]:
    try:
        return as_object(parse_json(line))
    except ValueError:
        return {}


def _message(text: str, members: Json, answers: Sequence[AnsweredQuestion]) -> str:
    """A message with the answers to what was asked about it."""
    return join_message(text, {**members, ANSWERS: answers_json(answers)} if answers else members)
