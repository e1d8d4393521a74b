"""The importers that there are: ours by a table, others by the entry point group `worldfs.importers`.

A package joins with two lines of its pyproject.toml, and needs nothing else of us than `import_types`:

    [project.entry-points."worldfs.importers"]
    notebooks = "their_package.notebooks:Notebooks"

Nothing is loaded before an import runs. A plugin that does not load is named, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, Protocol, runtime_checkable

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.base.plugin_calls import checked
from worldfs.base.plugin_registry import PluginGroup

from .import_types import ImportSource, ParsedSource


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


def _made(loaded: object) -> Importer:
    made = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(made, Importer):
        raise TypeError("no importer: it needs name, about, finds(place) and read(source)")
    return checked(made, Importer)


IMPORTERS: Final = PluginGroup[Importer](
    "worldfs.importers",
    {  # in the order in which things are brought over
        "agent-state": f"{__package__}.agent_state_v1:AgentStateV1",
        "ops-sessions": f"{__package__}.ops_sessions:OpsSessions",
        "ops-queue": f"{__package__}.ops_queue:OpsQueue",
        "flags": f"{__package__}.flags:Flags",
        "research-journal": f"{__package__}.research_journal:ResearchJournal",
        "claude-memory": f"{__package__}.claude_memory:ClaudeMemory",
        "claude-inbox": f"{__package__}.claude_inbox:ClaudeInbox",
        "claude-tasks": f"{__package__}.claude_tasks:ClaudeTasks",
        "instructions": f"{__package__}.instructions:Instructions",
        "codex": f"{__package__}.codex_rollouts:CodexRollouts",
        "mcp-memory": f"{__package__}.mcp_memory:McpMemory",
        "beads": f"{__package__}.beads:Beads",
    },
    _made,
)


class ImporterRegistry(NamedTuple):
    importers: dict[str, Importer]
    broken: tuple[Finding, ...] = ()  # plug-ins of packages that cannot be used
    foreign: frozenset[str] = frozenset()  # names of those that are not ours

    def chosen(self, names: Iterable[str] = ()) -> dict[str, Importer]:
        """Those that are named, or all. `BadInput` for a name that is none, with those there are."""
        names = tuple(names)
        for name in names:
            if name not in self.importers:
                broken = next((item for item in self.broken if item.field.endswith(f" {name}")), None)
                found: str = coded("plugin.no_importer", name=name)
                if broken:
                    found = coded("file.at", where=found, found=broken.found)
                raise BadInput(found, op="import", expected=", ".join(self.importers))
        return {name: item for name, item in self.importers.items() if not names or name in names}


def load() -> ImporterRegistry:
    """Every importer, ready to use. Never fails because of a plugin."""
    plugins, broken = IMPORTERS.load_all()
    return ImporterRegistry(plugins, broken, frozenset(plugins) - {*IMPORTERS.built_in})
