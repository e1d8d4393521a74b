"""Opinions of `models.judge`, by the last job of the instruction that each is about.

.paos/opinions/<job>    what the model answered, and every call of it
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import UserError
from worldfs.base.json_text import compact_json, parse_json
from worldfs.base.json_values import as_object

if TYPE_CHECKING:
    from worldfs.base.model import Json
    from worldfs.storage.store_interface import Store

OPINIONS: Final = ".paos/opinions"


def keep_opinion(store: Store, job: str, opinion: Json) -> None:
    store.put(f"{OPINIONS}/{job}", compact_json(opinion) + b"\n")


def kept_opinion(store: Store, job: str) -> Json:
    """{} where there is none, or where its file is broken."""
    with suppress(UserError, ValueError):
        if (stored := store.get(f"{OPINIONS}/{job}")) is not None:
            return as_object(parse_json(stored.data))
    return {}
