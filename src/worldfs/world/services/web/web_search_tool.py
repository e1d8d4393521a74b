"""The tool `web_search`: sends the query to the configured backend and returns its results (acheron D29)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from worldfs.base.errors import BadInput, UserError
from worldfs.base.model import Json
from worldfs.base.secret_file import header_secret, read_secret_file
from worldfs.formats.config import MASK
from worldfs.formats.config_services import WebSearch
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.services.service_tool import ToolArguments, ToolError

from . import search_backends
from .search_backend import SearchResult, SearchSettings

LIMIT: Final = 10
MOST: Final = 50
QUERY_MOST: Final = 2_000  # characters
_KEY_FILE: Final = "the file of webSearch.apiKeyFile"  # whose path is not shown to the agents that search
KEY_LEAST: Final = 6  # characters of what is masked: a shorter one stands in ordinary words


class WebSearchTool:
    """Reads its settings at each search, so that a changed config.json counts at once."""

    def __init__(self, home: Path, settings: Callable[[], WebSearch], environ: Mapping[str, str]) -> None:
        self._home, self._settings, self._environ = home, settings, environ

    def invoke(self, tool: str, args: Json, run: AgentJobContext) -> Json:
        if tool != "web_search":
            raise ToolError("tool_not_found", "tool not found")
        words = ToolArguments(tool, args)
        query, limit = words.text("query").strip(), words.count("limit", LIMIT, MOST)
        if not query:
            raise ToolError("invalid_args", "web_search requires 'query'")
        if len(query) > QUERY_MOST:
            raise ToolError("invalid_args", f"web_search 'query' has more than {QUERY_MOST} characters")
        settings = self._made()
        found = search_backends.make_backend(settings).search(query, limit, run) if limit else ()
        return {"results": [SearchResult(*(_without(text, settings.key) for text in one))._asdict() for one in found]}

    def _made(self) -> SearchSettings:
        try:
            found = self._settings()
        except UserError as error:
            raise ToolError("not_configured", str(error)) from None
        if not found.backend:
            raise ToolError(
                "not_configured",
                f"web_search is not configured: set webSearch.backend in the home's config.json "
                f"to one of {search_backends.backend_list()}",
            )
        return SearchSettings(found.backend, found.url, self._key(found), found.timeout_s, found.more)

    def _key(self, found: WebSearch) -> str:
        """The key from the named file, else from the environment."""
        try:
            if found.api_key_file:
                file = self._home / Path(found.api_key_file).expanduser()
                return header_secret(read_secret_file(file, _KEY_FILE), _KEY_FILE)
            name = found.api_key_env or search_backends.KEY_ENV.get(found.backend, "")
            key = self._environ.get(name, "").strip()
            return header_secret(key, name) if key else ""
        except BadInput as error:
            raise ToolError("not_configured", str(error)) from None


def _without(text: str, key: str) -> str:
    """What a peer says, which may say again the key that it was sent."""
    return text.replace(key, MASK) if len(key) >= KEY_LEAST else text
