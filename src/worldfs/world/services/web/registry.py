"""The backends that there are, by name: ours, and what other packages bring by the entry point `worldfs.web_search`.

[project.entry-points."worldfs.web_search"]
mine = "my_package.search:make"        # make(settings: Settings) -> Backend
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Final, NamedTuple

from ..tool import ToolError
from .backend import Backend, Settings
from .brave import Brave
from .keyless import Keyless
from .searxng import SearXNG
from .tavily import Tavily

GROUP: Final = "worldfs.web_search"


class Known(NamedTuple):
    make: type[SearXNG] | type[Brave] | type[Tavily] | type[Keyless]
    key_env: str = ""  # the usual environment variable of its key
    needs_key: bool = False


BUILT_IN: Final[Mapping[str, Known]] = {
    "searxng": Known(SearXNG),
    "brave": Known(Brave, "BRAVE_API_KEY", True),
    "tavily": Known(Tavily, "TAVILY_API_KEY", True),
    "ddgs": Known(Keyless),
}


def names() -> list[str]:
    """Ours first, then those that other packages bring."""
    return [*BUILT_IN, *sorted({point.name for point in entry_points(group=GROUP)} - set(BUILT_IN))]


def make(settings: Settings) -> Backend:
    """Raises `ToolError` not_configured for a name that is none, and for a key or an address that is missing."""
    known = BUILT_IN.get(settings.name)
    if known is not None:
        if known.needs_key and not settings.key:
            fix = f"set {known.key_env}, or webSearch.apiKeyFile to a file of mode 0600"
            raise ToolError("not_configured", f"{settings.name} needs a key: {fix}")
        return known.make(settings)
    for point in entry_points(group=GROUP, name=settings.name):
        made: Backend = point.load()(settings)
        return made
    raise ToolError(
        "not_configured",
        f"no backend of web_search is called {settings.name!r}: webSearch.backend is one of {listed()}",
    )


def listed() -> str:
    return ", ".join(names())
