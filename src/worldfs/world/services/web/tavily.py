"""Tavily, a search made for agents: docs.tavily.com/documentation/api-reference/endpoint/search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.services.service_tool import ToolError

from .search_backend import SearchResult, SearchSettings, search_results
from .web_request import WebRequest, fetch_json

URL: Final = "https://api.tavily.com/search"
COUNT_MOST: Final = 20


class Tavily:
    """Needs a key."""

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings

    def search(self, query: str, limit: int, run: AgentJobContext) -> Sequence[SearchResult]:
        body: dict[str, object] = {"query": query, "max_results": max(1, min(limit, COUNT_MOST))}
        more = self._settings.more
        body |= {
            name: more[name.replace("_", "")] for name in ("search_depth", "topic") if name.replace("_", "") in more
        }
        headers = {"Authorization": f"Bearer {self._settings.key}"}
        answer = fetch_json(self._settings, WebRequest(self._settings.url or URL, {}, headers, body), run)
        if not isinstance(answer, dict):
            raise ToolError("bad_answer", "tavily answered with no JSON object")
        return search_results("tavily", answer.get("results"), SearchResult("title", "url", "content"), limit)
