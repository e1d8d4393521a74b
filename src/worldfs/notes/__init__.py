"""What is remembered, found again: one search for LESSONS.md and every memory.md.

passage    what is searched, and what is found
tokenizer  text and queries as the words that are looked up, Chinese included
index      the words of many passages, kept beside the Markdown, never instead of it
embed      meaning as vectors, where the extra `embed` is installed
search     the one function
"""

from .index import PassageIndex
from .passage import Passage, SearchHit
from .search import search

__all__ = ["Passage", "PassageIndex", "SearchHit", "search"]
