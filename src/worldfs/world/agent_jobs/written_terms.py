"""The members of a written order: priority, limits, retries, dependencies; of a message also the answers about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.json_text import KeyTwice, each_key_once, parse_json
from worldfs.base.json_values import as_objects, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.formats import sheet_members
from worldfs.formats.sheet_members import TERMS, EntryRefused, OrderTerms
from worldfs.planning.planner.model_reading import QUESTIONS
from worldfs.planning.planner.planner_model import AnsweredQuestion

ANSWERS: Final = "answers"


def read_terms(order: Json) -> OrderTerms:
    """As an entry of ACTION.md has them beside its parameters. Raises `BadInput`, which names the member."""
    try:
        return sheet_members.terms(order, "")
    except EntryRefused as bad:
        said = coded("world.bad_member", name=bad.pointer[1:], value=str(bad.found)[:80], expected=bad.expected)
        raise BadInput(said, op="write", code="invalid") from None


def split_message(text: str) -> tuple[str, Json]:
    """A message and its members: `{"text": …}` with at least one member and no other key. Else all of it is text.

    Raises `BadInput` for an object in which a key is written twice.
    """
    if not text.lstrip().startswith("{"):
        return text, {}
    try:
        found = parse_json(text, object_pairs_hook=each_key_once)
    except KeyTwice as error:
        raise error.refusal(op="write", code="invalid") from None
    except ValueError:
        return text, {}
    said = found.pop("text", None)
    return (said, found) if isinstance(said, str) and found and found.keys() <= {*TERMS, ANSWERS} else (text, {})


def join_message(text: str, members: Json) -> str:
    """What `split_message` splits into these two."""
    return json.dumps({"text": text, **members}, ensure_ascii=False) if members else text


def answers_json(answers: Sequence[AnsweredQuestion]) -> list[Json]:
    """The member `answers` of a message."""
    return [one._asdict() for one in answers]


def read_answers(message: Json) -> tuple[AnsweredQuestion, ...]:
    """What a model asked about the message, and what the person answered. Raises `BadInput`."""
    given = message.get(ANSWERS, [])
    items = as_objects(given)
    found = tuple(AnsweredQuestion(as_text(one.get("question")), as_text(one.get("answer"))) for one in items)
    if not isinstance(given, list) or len(found) != len(given) or len(found) > QUESTIONS or not all(map(all, found)):
        expected = coded("world.answers", n=QUESTIONS)
        said = coded("world.bad_member", name=ANSWERS, value=str(given)[:80], expected=expected)
        raise BadInput(said, op="write", code="invalid")
    return found
