"""The search backends by name: the built-in ones, and those of other packages by the entry point `worldfs.web_search`.

[project.entry-points."worldfs.web_search"]
mine = "my_package.search:make"        # make(settings: SearchSettings) -> SearchBackend
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Final, NamedTuple

from worldfs.world.services.service_tool import ToolError

from .brave import Brave
from .keyless import Keyless
from .search_backend import SearchBackend, SearchSettings
from .searxng import SearXNG
from .tavily import Tavily

GROUP: Final = "worldfs.web_search"


class BackendEntry(NamedTuple):
    make: type[SearXNG] | type[Brave] | type[Tavily] | type[Keyless]
    key_env: str = ""  # the usual environment variable of its key
    needs_key: bool = False


BUILT_IN: Final[Mapping[str, BackendEntry]] = {
    "searxng": BackendEntry(SearXNG),
    "brave": BackendEntry(Brave, "BRAVE_API_KEY", True),
    "tavily": BackendEntry(Tavily, "TAVILY_API_KEY", True),
    "ddgs": BackendEntry(Keyless),
}


def backend_names() -> list[str]:
    """The built-in ones first, then those of other packages."""
    return [*BUILT_IN, *sorted({point.name for point in entry_points(group=GROUP)} - set(BUILT_IN))]


def make_backend(settings: SearchSettings) -> SearchBackend:
    """Raises `ToolError` not_configured for an unknown name, and for a missing key or address."""
    known = BUILT_IN.get(settings.name)
    if known is not None:
        if known.needs_key and not settings.key:
            fix = f"set {known.key_env}, or webSearch.apiKeyFile to a file of mode 0600"
            raise ToolError("not_configured", f"{settings.name} needs a key: {fix}")
        return known.make(settings)
    for point in entry_points(group=GROUP, name=settings.name):
        made: SearchBackend = point.load()(settings)
        return made
    raise ToolError(
        "not_configured",
        f"no backend of web_search is called {settings.name!r}: webSearch.backend is one of {backend_list()}",
    )


def backend_list() -> str:
    return ", ".join(backend_names())
