"""The table of a document, derived from the declaration of its record."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_origin

from worldfs.base.model.agent import AgentRecord

from .object_schema import LIST, NULL, NUMBER, OBJECT, TEXT, WHOLE, Field, Kinds, ObjectSchema

_KINDS: dict[object, Kinds] = {str: TEXT, int: WHOLE, float: NUMBER, NoneType: NULL, tuple: LIST, dict: OBJECT}


class Member(NamedTuple):
    """What the record itself does not say of one of its members; the words are those of `Field`."""

    about: str
    words: tuple[str, ...] = ()
    required: bool = False
    time: bool = False
    least: int | None = None
    item: ObjectSchema | None = None
    name: str = ""  # in the file, if it is another


def record_schema(
    record: type[AgentRecord],
    name: str,
    title: str,
    about: str,
    members: Mapping[str, Member],
    *,
    more: tuple[Field, ...] = (),
) -> ObjectSchema:
    """The table of `record`: its members in their order, then `more`. `members` names each of them but `extra`."""
    declared = {field: kind for field, kind in record.__annotations__.items() if field != "extra"}
    if declared.keys() != members.keys():
        raise TypeError(f"{record.__name__} and its table differ: {declared.keys() ^ members.keys()}")
    fields = (_field(field, declared[field], record._field_defaults.get(field), members[field]) for field in declared)
    return ObjectSchema(name, title, about, (*fields, *more))


def _field(name: str, kind: object, default: Any, member: Member) -> Field:
    """What must be there has no default, and neither has a list or an object: what is absent is empty."""
    kinds, items = _kinds(kind)
    return Field(
        member.name or name, kinds, member.about, member.words, member.required, member.time, member.least,
        member.item or items, None if member.required or isinstance(default, tuple | dict) else default,
    )  # fmt: skip


@cache
def _kinds(kind: object) -> tuple[Kinds, Kinds | None]:
    """The kinds of an annotation, and of a tuple those of its elements; a record within a record is an object."""
    choices = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    kinds = frozenset[type]().union(*(_KINDS.get(get_origin(one) or one, OBJECT) for one in choices))
    return kinds, _kinds(get_args(kind)[0])[0] if kinds == LIST else None
