"""SearXNG: a metasearch engine that one runs oneself. Its search API: docs.searxng.org/dev/search_api.html."""

from __future__ import annotations

from collections.abc import Sequence

from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.services.service_tool import ToolError

from .search_backend import SearchResult, SearchSettings, search_results
from .web_request import WebRequest, fetch_json


class SearXNG:
    """`url`: the instance. It must allow the format json (settings.yml, search.formats), else it answers 403."""

    def __init__(self, settings: SearchSettings) -> None:
        if not settings.url:
            raise ToolError("not_configured", "searxng needs webSearch.url: the address of the instance")
        base = settings.url.rstrip("/")
        self._settings = settings
        self._url = base if base.endswith("/search") else f"{base}/search"

    def search(self, query: str, limit: int, run: AgentJobContext) -> Sequence[SearchResult]:
        words: dict[str, str | int] = {"q": query, "format": "json"}
        words |= {key: str(value) for key, value in self._settings.more.items() if key in ("language", "categories")}
        headers = {"Authorization": f"Bearer {self._settings.key}"} if self._settings.key else {}
        try:
            answer = fetch_json(self._settings, WebRequest(self._url, words, headers), run)
        except ToolError as error:
            if error.code == "forbidden":
                error.message += "; the instance must allow json: search.formats in its settings.yml"
            raise
        if not isinstance(answer, dict):
            raise ToolError("bad_answer", "searxng answered with no JSON object")
        found = search_results("searxng", answer.get("results"), SearchResult("title", "url", "content"), limit)
        mute = answer.get("unresponsive_engines")
        if not found and isinstance(mute, list) and mute:
            names = ", ".join(str(one[0] if isinstance(one, list) and one else one)[:40] for one in mute[:5])
            raise ToolError("no_engine", f"no engine of searxng answered: {names}")
        return found
