"""The members of a written order that say how it is carried out: priority, limits, retries, dependencies."""

from __future__ import annotations

import json

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.formats import sheet_members
from worldfs.formats.sheet_members import TERMS, EntryRefused, OrderTerms


def read_terms(order: Json) -> OrderTerms:
    """As an entry of ACTION.md has them beside its parameters. Raises `BadInput`, which names the member."""
    try:
        return sheet_members.terms(order, "")
    except EntryRefused as bad:
        said = coded("world.bad_member", name=bad.pointer[1:], value=str(bad.found)[:80], expected=bad.expected)
        raise BadInput(said, op="write", code="invalid") from None


def split_message(text: str) -> tuple[str, Json]:
    """A message and its members: `{"text": …}` with at least one member and no other key. Else all of it is text."""
    if not text.lstrip().startswith("{"):
        return text, {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text, {}
    said = found.pop("text", None)
    return (said, found) if isinstance(said, str) and found and found.keys() <= set(TERMS) else (text, {})
