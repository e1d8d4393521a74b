"""The JSON Schemas of Agent State v1 by document, printed from the tables that check the documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from . import document_schemas
from .object_schema import schema

Json = dict[str, Any]

SCHEMAS: Final[Mapping[str, Callable[[], Json]]] = MappingProxyType(
    {
        "report": partial(schema, document_schemas.REPORT),
        "tasks": partial(schema, document_schemas.TASKS),
        "session": partial(schema, document_schemas.SESSION),
        "message": partial(schema, document_schemas.MESSAGE),
        "metrics": partial(schema, document_schemas.METRICS),
        "journal": partial(schema, document_schemas.ENTRY),  # of one line
    }
)
"""Every schema says what its file holds (JSON Schema 2020-12); a new object at each call."""
