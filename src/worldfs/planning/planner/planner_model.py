"""A language model as the planner may use it: how to open it, and how the person is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from worldfs.base.chat_model import RecordingModel
from worldfs.base.clock import Clock


class AnsweredQuestion(NamedTuple):
    """What a model asked the person about an instruction, and what the person answered."""

    question: str
    answer: str


def nobody(question: str) -> str:
    """There is no person to ask: every question stays without an answer."""
    return ""


@dataclass(frozen=True, slots=True)
class PlannerModel:
    """`open` is called for the first instruction that the grammar does not understand.

    `ask`: a question to the person who gave the instruction, and the answer; "" for none. `confirmed`: the hash of a
    reading that this person has confirmed before. `answered`: what this person was asked about the instruction before.
    """

    open: Callable[[], RecordingModel]
    clock: Clock
    ask: Callable[[str], str] = nobody
    confirmed: str = ""
    answered: tuple[AnsweredQuestion, ...] = ()
