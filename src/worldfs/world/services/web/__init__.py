"""The web, searched: one tool, and a folder of backends, each one file.

search     the tool `web_search`
backend    the port of backends: settings in, findings out
registry   the backends that there are; other packages bring theirs by an entry point
http       one bounded request to a peer that may be slow, wrong or hostile
"""

from .search_backend import SearchBackend, SearchResult, SearchSettings
from .web_search_tool import WebSearchTool

__all__ = ["SearchBackend", "SearchResult", "SearchSettings", "WebSearchTool"]
