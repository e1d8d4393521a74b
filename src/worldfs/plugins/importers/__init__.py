"""Bringing over what other tools left: `plan` says what would come from a place, `run_import` brings it.

    made = plan("~/collective", "rio")
    print(*made.words(), sep="\\n")
    report = run_import(made, AgentState.open("rio"))

`import_types` is what a further importer needs, `importer_registry` how it joins (docs/import.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .agent_transfer import adopt, export
    from .import_plan import ImportPlan, plan
    from .import_report import ImportReport
    from .import_run import run_import
    from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
    from .importer_registry import Importer, ImporterRegistry, load

__all__ = [
    "ImportItem",
    "ImportPlan",
    "ImportReport",
    "ImportSource",
    "Importer",
    "ImporterRegistry",
    "ParsedSource",
    "SkippedItem",
    "adopt",
    "export",
    "load",
    "plan",
    "run_import",
]  # fmt: skip

_MODULE_OF = {
    "ParsedSource": "import_types", "ImportItem": "import_types", "SkippedItem": "import_types",
    "ImportSource": "import_types", "Importer": "importer_registry", "ImportPlan": "import_plan",
    "ImporterRegistry": "importer_registry", "ImportReport": "import_report", "adopt": "agent_transfer",
    "run_import": "import_run", "export": "agent_transfer", "load": "importer_registry", "plan": "import_plan",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """Modules of the importers load when they are used: a command that only reads pays nothing for them."""
    from importlib import import_module

    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
