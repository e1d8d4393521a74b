"""A robot's library, imported when it is wanted, and the members of a target's `config`."""

from __future__ import annotations

import math
from importlib import import_module
from types import ModuleType
from typing import TypeVar

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Target

T = TypeVar("T")


def import_library(name: str, at: str, install: str) -> ModuleType:
    """Raises `MissingRequirement` saying what to install; also where the library is there and does not load.
    `at`: the place in a document that asks for it."""
    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        absent = error.name is not None and error.name.partition(".")[0] == top
        found = coded("common.not_installed", name=top) if absent else coded("common.no_load", name=top, why=str(error))
        raise MissingRequirement(found, path=at, fix=install) from error


def driver_place(target: Target) -> str:
    """Where TARGETS.md names the driver of a target."""
    return f"TARGETS.md {target.id} adapter.driver"


def config_member(target: Target, name: str, kind: type[T], default: T | None = None) -> T:
    """`config.NAME` of that kind. Raises `BadInput`; without a default also where it is not there."""
    value = target.config.get(name)
    if value is None and default is not None:
        return default
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, float) and not math.isfinite(value)):
        raise BadInput(
            "nothing" if value is None else f"{value!r}", path=f"TARGETS.md {target.id} config.{name}",
            expected={"str": "a text", "float": "a number", "dict": "a mapping", "bool": "true or false"}.get(
                kind.__name__, kind.__name__
            ),
        )  # fmt: skip
    return value
