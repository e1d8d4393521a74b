"""The port of web search: settings and results of a backend."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.services.service_tool import ToolError

TEXT_MOST: Final = 2_000  # characters of a title or a snippet
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,200}>")


class SearchResult(NamedTuple):
    """One matching page."""

    title: str
    url: str
    snippet: str


class SearchSettings(NamedTuple):
    """The settings of a backend: `webSearch` of config.json with its key."""

    name: str
    url: str = ""
    key: str = ""  # never in a message, a log or a result
    timeout_s: float = 10.0  # of the whole request
    more: Mapping[str, object] = {}

    def __repr__(self) -> str:
        return f"Settings({self.name!r}, {self.url!r})"


class SearchBackend(Protocol):
    def search(self, query: str, limit: int, run: AgentJobContext) -> Sequence[SearchResult]:
        """At most `limit` of them, best first; none if there are none. Raises `ToolError`; ends when `run.stop` is."""
        ...


def search_results(backend: str, items: object, fields: SearchResult, limit: int) -> list[SearchResult]:
    """A peer's list of objects, `fields` holding its names of our fields; entries without an address are skipped."""
    if not isinstance(items, list):
        raise ToolError("bad_answer", f"{backend} answered without a list of results")
    found: list[SearchResult] = []
    for item in items:
        if isinstance(item, dict) and isinstance(address := item.get(fields.url), str) and _address(address):
            found.append(
                SearchResult(_plain(item.get(fields.title)) or address, address, _plain(item.get(fields.snippet)))
            )
    return found[:limit]


def tidied(found: Sequence[SearchResult], limit: int) -> list[SearchResult]:
    """The results of a package's backend as ours give them: with an address, without markup, as many as asked for."""
    kept = [one for one in found if _address(one.url)]
    return [SearchResult(_plain(one.title) or one.url, one.url, _plain(one.snippet)) for one in kept[:limit]]


def _address(text: str) -> bool:
    return text.startswith(("http://", "https://")) and text.isprintable() and len(text) <= TEXT_MOST


def _plain(value: object) -> str:
    """Text without markup, on one line."""
    if not isinstance(value, str):
        return ""
    return " ".join(html.unescape(_TAG.sub("", value)).split())[:TEXT_MOST]
