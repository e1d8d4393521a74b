"""Tavily, a search made for agents: docs.tavily.com/documentation/api-reference/endpoint/search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...calls.call import Run
from ..tool import ToolError
from .backend import Finding, Settings, findings
from .http import Ask, ask

URL: Final = "https://api.tavily.com/search"
COUNT_MOST: Final = 20


class Tavily:
    """Needs a key."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def search(self, query: str, limit: int, run: Run) -> Sequence[Finding]:
        body: dict[str, object] = {"query": query, "max_results": max(1, min(limit, COUNT_MOST))}
        more = self._settings.more
        body |= {
            name: more[name.replace("_", "")] for name in ("search_depth", "topic") if name.replace("_", "") in more
        }
        headers = {"Authorization": f"Bearer {self._settings.key}"}
        answer = ask(self._settings, Ask(self._settings.url or URL, {}, headers, body), run)
        if not isinstance(answer, dict):
            raise ToolError("bad_answer", "tavily answered with no JSON object")
        return findings("tavily", answer.get("results"), Finding("title", "url", "content"), limit)
