"""The published schemas: valid by the standard's own metaschema, and of one opinion with `check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.formats.agent import document_schemas
from worldfs.formats.agent.json_schemas import SCHEMAS
from worldfs.formats.agent.object_schema import Field, ObjectSchema, check, pointer

ROOT = Path(__file__).resolve().parents[3]
OF = {
    "report": document_schemas.REPORT, "tasks": document_schemas.TASKS, "session": document_schemas.SESSION,
    "message": document_schemas.MESSAGE, "metrics": document_schemas.METRICS, "journal": document_schemas.ENTRY,
}  # fmt: skip
JUDGES = {name: jsonschema.Draft202012Validator(schema()) for name, schema in SCHEMAS.items()}

TIMES = st.sampled_from(
    (
        "2026-03-31T22:00:00Z", "2026-03-31t22:00:00.25+08:00", "2026-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "",
        "2026-04-31T00:00:00Z", "2026-03-31", "2026-03-31T24:00:00Z", "2026-03-31T22:00:00", "2026-03-31T22:00:00Z\n",
        "2026-03-31 22:00:60z", "now", "٢٠٢٦-03-31T22:00:00Z",
    )
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from((8.0, 0.5, -0.0, 1e300, 2**70, -(2**70))),
    st.text(max_size=4), TIMES,
)  # fmt: skip
ANY = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.text(max_size=3), SCALARS, max_size=2))


def documents(table: ObjectSchema) -> st.SearchStrategy[Any]:
    """Values near the table: mostly right, with every member now and then absent, of another kind or another word."""
    own = st.fixed_dictionaries({}, optional={field.name: _member(field) for field in table.fields})
    return st.one_of(
        own, st.builds(lambda a, b: {**b, **a}, own, st.dictionaries(st.text(max_size=3), ANY, max_size=2))
    )


def _member(field: Field) -> st.SearchStrategy[Any]:
    kinds: list[st.SearchStrategy[Any]] = [SCALARS]
    if field.words:
        kinds += [st.sampled_from(field.words)] * 3
    if field.time:
        kinds += [TIMES] * 3
    if isinstance(field.item, ObjectSchema):
        inner = documents(field.item)
        kinds += [st.lists(st.one_of(inner, SCALARS), max_size=3) if list in field.kinds else inner] * 3
    elif field.item is not None:
        kinds.append(st.lists(st.one_of(st.text(max_size=3), SCALARS), max_size=3))
    return st.one_of(kinds)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one_by_the_metaschema_of_2020_12(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name]())


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_default_is_a_value_that_its_own_member_allows(name: str) -> None:
    def members(schema: dict[str, Any]) -> Any:
        for member in schema.get("properties", {}).values():
            yield member
            yield from members(member)
            yield from members(member.get("items", {}))

    for member in members(SCHEMAS[name]()):
        if "default" in member:
            jsonschema.Draft202012Validator(member).validate(member["default"])


@pytest.mark.slice(3)
@pytest.mark.parametrize("name", SCHEMAS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_check_and_jsonschema_find_the_same_places(name: str, data: st.DataObject) -> None:
    value = data.draw(st.one_of(documents(OF[name]), documents(OF[name]), ANY))
    ours = {finding.field.removeprefix("file#") for finding in check(OF[name], value, "file")}
    theirs = {_place(error) for error in JUDGES[name].iter_errors(value)}
    assert ours == theirs


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_page_is_the_schema(name: str) -> None:
    assert json.loads((ROOT / f"docs/schema/{name}.json").read_text("utf-8")) == SCHEMAS[name]()


def _place(error: jsonschema.ValidationError) -> str:
    """The pointer of what jsonschema means; of a missing member, where it should be."""
    path: Any = ()
    for step in error.absolute_path:
        path = (path, step)
    if error.validator == "required":
        path = (path, error.message.split("'")[1])
    return pointer(path)
