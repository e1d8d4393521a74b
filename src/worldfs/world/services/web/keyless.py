"""ddgs: a library that asks public engines and needs no key (the extra `search`). Slow, and often refused by them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from worldfs.base.errors import MissingRequirement
from worldfs.base.extras import require
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.services.service_tool import ToolError

from .search_backend import SearchResult, SearchSettings, search_results


class Keyless:
    def __init__(self, settings: SearchSettings) -> None:
        try:
            require("search")
        except MissingRequirement as missing:
            raise ToolError("not_configured", str(missing)) from None
        self._settings = settings

    def search(self, query: str, limit: int, run: AgentJobContext) -> Sequence[SearchResult]:
        ddgs = import_module("ddgs")
        seconds = max(1, round(min(self._settings.timeout_s, run.left())))
        try:
            found = ddgs.DDGS(timeout=seconds).text(query, max_results=limit)
        except Exception as error:  # its own errors have no common parent in all of its versions
            name = type(error).__name__
            if "no results" in str(error).lower():
                return ()
            code = "rate_limited" if "Ratelimit" in name else "timeout" if "Timeout" in name else "http_error"
            raise ToolError(code, f"ddgs: {name}: {str(error)[:200]}") from None
        return search_results("ddgs", list(found), SearchResult("title", "href", "body"), limit)
