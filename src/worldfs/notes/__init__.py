"""What is remembered, found again: one search for LESSONS.md and every memory.md (HOUSE §5.3).

passage    what is searched, and what is found
words      text and queries as the words that are looked up, Chinese included
index      the words of many passages, kept beside the Markdown, never instead of it
embed      meaning as vectors, where the extra `embed` is installed
search     the one function
"""

from .index import Index
from .passage import Hit, Passage
from .search import search

__all__ = ["Hit", "Index", "Passage", "search"]
