"""Brave Search, by its web search API: api-dashboard.search.brave.com/documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.services.service_tool import ToolError

from .search_backend import SearchResult, SearchSettings, search_results
from .web_request import WebRequest, fetch_json

URL: Final = "https://api.search.brave.com/res/v1/web/search"
COUNT_MOST: Final = 20


class Brave:
    """Needs a key."""

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings

    def search(self, query: str, limit: int, run: AgentJobContext) -> Sequence[SearchResult]:
        words: dict[str, str | int] = {"q": query, "count": max(1, min(limit, COUNT_MOST)), "text_decorations": "false"}
        words |= {key: str(value) for key, value in self._settings.more.items() if key in ("country", "safesearch")}
        headers = {"X-Subscription-Token": self._settings.key, "Cache-Control": "no-cache"}
        try:
            answer = fetch_json(self._settings, WebRequest(self._settings.url or URL, words, headers), run)
        except ToolError as error:
            if error.peer_code == "SUBSCRIPTION_TOKEN_INVALID":  # it says so with 422
                error.code = "unauthorized"
            raise
        if not isinstance(answer, dict):
            raise ToolError("bad_answer", "brave answered with no JSON object")
        web = answer.get("web")  # absent when nothing was found
        if web is None and answer.get("type") == "search":
            return ()
        return search_results(
            "brave",
            web.get("results") if isinstance(web, dict) else None,
            SearchResult("title", "url", "description"),
            limit,
        )
