"""Bringing over what other tools left: `plan` says what would come from a place, `carry` brings it.

    made = plan("~/collective", "rio")
    print(*made.words(), sep="\\n")
    report = carry(made, AgentState.open("rio"))

`nouns` is what a further importer needs, `registry` how it joins (docs/import.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .carrying import carry
    from .nouns import Imported, Item, Left, Source
    from .planning import Plan, plan
    from .registry import Importer, Registry, load
    from .report import Report
    from .whole import adopt, export

__all__ = [
    "Imported", "Importer", "Item", "Left", "Plan", "Registry", "Report", "Source", "adopt", "carry", "export", "load",
    "plan",
]  # fmt: skip

_HOME = {
    "Imported": "nouns", "Item": "nouns", "Left": "nouns", "Source": "nouns", "Importer": "registry",
    "Plan": "planning", "Registry": "registry", "Report": "report", "adopt": "whole", "carry": "carrying",
    "export": "whole", "load": "registry", "plan": "planning",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Modules of the importers load when they are used: a command that only reads pays nothing for them."""
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
