"""The importers that there are: ours by a table, others by the entry point group `worldfs.importers`.

A package joins with two lines of its pyproject.toml, and needs nothing else of us than `import_types`:

    [project.entry-points."worldfs.importers"]
    notebooks = "their_package.notebooks:Notebooks"

Nothing is loaded before an import runs. A plugin that does not load is named, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple, Protocol, runtime_checkable

from worldfs.base.errors import BadInput

from .import_types import ImportSource, ParsedSource

GROUP: Final = "worldfs.importers"

BUILT_IN: Final = {
    "agent-state": "agent_state_v1:AgentStateV1",
    "ops-sessions": "ops_sessions:OpsSessions",
    "ops-queue": "ops_queue:OpsQueue",
    "flags": "flags:Flags",
    "research-journal": "research_journal:ResearchJournal",
    "claude-memory": "claude_memory:ClaudeMemory",
    "claude-inbox": "claude_inbox:ClaudeInbox",
    "claude-tasks": "claude_tasks:ClaudeTasks",
    "instructions": "instructions:Instructions",
    "codex": "codex_rollouts:CodexRollouts",
    "mcp-memory": "mcp_memory:McpMemory",
    "beads": "beads:Beads",
}
"""Name: module below this package and class in it, in the order in which things are brought over."""


@runtime_checkable
class Importer(Protocol):
    """Knows one kind of foreign state. Both calls only read."""

    name: str  # as in the registry: lower case, digits and dashes
    about: str  # one line for people: what it brings over, and to what

    def finds(self, place: Path) -> list[ImportSource]:
        """The sources of this kind at a place, a directory or a file; cheap: lists, reads at most a few kilobytes.

        Raises `WorldError` for a place that cannot be listed.
        """
        ...

    def read(self, source: ImportSource) -> ParsedSource:
        """What a source holds. What is not understood is in `left`; an error only if nothing can be read."""
        ...


class BrokenImporter(NamedTuple):
    """An importer of an installed plugin that cannot be used."""

    name: str
    origin: str  # the package that brings it
    reason: str


class ImporterRegistry(NamedTuple):
    importers: dict[str, Importer]
    broken: tuple[BrokenImporter, ...] = ()
    foreign: frozenset[str] = frozenset()  # names of those that are not ours

    def chosen(self, names: Iterable[str] = ()) -> dict[str, Importer]:
        """Those that are named, or all. `BadInput` for a name that is none, with those there are."""
        names = tuple(names)
        for name in names:
            if name not in self.importers:
                broken = next((item for item in self.broken if item.name == name), None)
                raise BadInput(
                    f"no importer {name!r}" + (f": {broken.reason}" if broken else ""),
                    op="import",
                    expected=", ".join(self.importers),
                )
        return {name: item for name, item in self.importers.items() if not names or name in names}


def load(*, plugins: bool = True) -> ImporterRegistry:
    """Every importer, ready to use. Never fails because of a plugin."""
    found: dict[str, Importer] = {}
    for name, target in BUILT_IN.items():
        module, _, attribute = target.partition(":")
        found[name] = getattr(import_module(f".{module}", __package__), attribute)()
    broken: list[BrokenImporter] = []
    foreign = set()
    for name, origin, made in _plugins() if plugins else ():
        if isinstance(made, Exception):
            broken.append(BrokenImporter(name, origin, f"{type(made).__name__}: {made}"))
        elif name in found:
            broken.append(BrokenImporter(name, origin, "there is an importer of that name already"))
        elif not isinstance(made, Importer):
            broken.append(
                BrokenImporter(name, origin, "no importer: it needs name, about, finds(place) and read(source)")
            )
        else:
            found[name] = made
            foreign.add(name)
    return ImporterRegistry(found, tuple(broken), frozenset(foreign))


def _plugins() -> list[tuple[str, str, object]]:
    """(name, package, the importer or why there is none) of each entry point."""
    from importlib.metadata import entry_points

    found: list[tuple[str, str, object]] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        origin = point.dist.name if point.dist is not None else point.value
        try:
            made = point.load()
            found.append((point.name, origin, made() if isinstance(made, type) else made))
        except Exception as error:  # whatever a foreign package raises, the others still import
            found.append((point.name, origin, error))
    return found
