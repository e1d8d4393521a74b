"""A table has its names, types and defaults from the record; it adds nothing and leaves out nothing."""

from typing import NamedTuple

import pytest

from worldfs.base.model.base import Json
from worldfs.formats.agent import document_schemas
from worldfs.formats.agent.object_schema import (
    LIST,
    NUMBER_OR_NULL,
    OBJECT,
    OBJECT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    WHOLE,
    Field,
)
from worldfs.formats.agent.record_schema import Member, record_schema

EMPTY: Json = {}


class Inner(NamedTuple):
    id: str
    extra: Json = EMPTY


class Toy(NamedTuple):
    sender: str
    count: int = 3
    cost: float | None = None
    words: tuple[str, ...] = ()
    inner: Inner | None = None
    facts: Json = EMPTY
    note: str = ""
    kind: str = "plain"
    extra: Json = EMPTY


INNER = record_schema(Inner, "inner", "inner", "an inner one", {"id": Member("its id", required=True)})
MEMBERS = {
    "kind": Member("what kind", ("plain", "odd"), required=True),
    "sender": Member("from whom", name="from", required=True),
    "count": Member("how many", least=0),
    "cost": Member("what it cost"),
    "words": Member("what was said"),
    "inner": Member("another", item=INNER),
    "facts": Member("anything"),
    "note": Member("when", time=True),
}


def test_names_types_and_defaults_are_the_record_s():
    more = Field("version", WHOLE, "of the form")
    assert record_schema(Toy, "toy", "toy.json", "a toy", MEMBERS, more=(more,)).fields == (
        Field("from", TEXT, "from whom", required=True),
        Field("count", WHOLE, "how many", least=0, default=3),
        Field("cost", NUMBER_OR_NULL, "what it cost"),
        Field("words", LIST, "what was said", item=TEXT),
        Field("inner", OBJECT_OR_NULL, "another", item=INNER),
        Field("facts", OBJECT, "anything"),
        Field("note", TEXT, "when", time=True, default=""),
        Field("kind", TEXT, "what kind", ("plain", "odd"), required=True),
        more,
    )


@pytest.mark.parametrize(
    "members",
    [{name: MEMBERS[name] for name in MEMBERS if name != "cost"}, {**MEMBERS, "price": Member("what it costs")}],
)
def test_a_table_that_does_not_name_the_members_of_its_record_is_refused(members):
    with pytest.raises(TypeError, match=r"Toy and its table differ: .*'(cost|price)'"):
        record_schema(Toy, "toy", "toy.json", "a toy", members)


def test_a_null_is_what_the_record_says():
    fields = {field.name: field for field in document_schemas.TASK.fields}
    assert fields["outcome"].kinds == TEXT_OR_NULL and fields["context"].kinds == TEXT
