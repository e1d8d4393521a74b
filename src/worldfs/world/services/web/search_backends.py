"""The search backends by name: the built-in ones, and those of other packages by the entry point `worldfs.web_search`.

[project.entry-points."worldfs.web_search"]
mine = "my_package.search:make"        # make(settings: SearchSettings) -> SearchBackend
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.plugin_calls import called, checked, plugin_name
from worldfs.base.plugin_faults import is_ours
from worldfs.base.plugin_registry import PluginGroup
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.services.service_tool import ToolError

from .search_backend import SearchBackend, SearchResult, SearchSettings, tidied

BACKENDS: Final = PluginGroup[Callable[[SearchSettings], SearchBackend]](
    "worldfs.web_search",
    {
        "searxng": f"{__package__}.searxng:SearXNG",
        "brave": f"{__package__}.brave:Brave",
        "tavily": f"{__package__}.tavily:Tavily",
        "ddgs": f"{__package__}.keyless:Keyless",
    },
)
KEY_ENV: Final[Mapping[str, str]] = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}
"""Backends that need a key, and the environment variable that usually holds it."""


def make_backend(settings: SearchSettings) -> SearchBackend:
    """Raises `ToolError` not_configured for an unknown name, and for a missing key or address."""
    if settings.name in KEY_ENV and not settings.key:
        fix = f"set {KEY_ENV[settings.name]}, or webSearch.apiKeyFile to a file of mode 0600"
        raise ToolError("not_configured", f"{settings.name} needs a key: {fix}")
    try:
        make = BACKENDS.get(settings.name)
    except BadInput as error:
        raise ToolError("not_configured", str(error)) from None
    if make is not None:
        made = called(lambda: make(settings), plugin_name(make))
        return made if is_ours(made) else _OfPackage(checked(made, SearchBackend))
    raise ToolError(
        "not_configured",
        f"no backend of web_search is called {settings.name!r}: webSearch.backend is one of {backend_list()}",
    )


class _OfPackage:
    """A package's backend: its results are parsed and tidied."""

    def __init__(self, backend: SearchBackend) -> None:
        self._backend = backend

    def search(self, query: str, limit: int, run: AgentJobContext) -> Sequence[SearchResult]:
        return tidied(self._backend.search(query, limit, run), limit)


def backend_list() -> str:
    return ", ".join(BACKENDS)
