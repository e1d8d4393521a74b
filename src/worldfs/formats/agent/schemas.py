"""The JSON Schemas of Agent State v1 by document, printed from the tables that check the documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from . import tables
from .fields import schema

Json = dict[str, Any]

SCHEMAS: Final[Mapping[str, Callable[[], Json]]] = MappingProxyType(
    {
        "report": partial(schema, tables.REPORT),
        "tasks": partial(schema, tables.TASKS),
        "session": partial(schema, tables.SESSION),
        "message": partial(schema, tables.MESSAGE),
        "metrics": partial(schema, tables.METRICS),
        "journal": partial(schema, tables.ENTRY),  # of one line
    }
)
"""Every schema says what its file holds (JSON Schema 2020-12); a new object at each call."""
