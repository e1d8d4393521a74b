"""Web search: one tool, and its backends, one module each.

web_search_tool   the tool `web_search`
search_backend    the port of backends: settings in, results out
search_backends   the registry of backends; other packages add theirs by an entry point
web_request       one bounded request to a peer that may be slow, wrong or hostile
"""

from .search_backend import SearchBackend, SearchResult, SearchSettings
from .web_search_tool import WebSearchTool

__all__ = ["SearchBackend", "SearchResult", "SearchSettings", "WebSearchTool"]
