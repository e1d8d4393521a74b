"""What an agent remembers, found again: memory.md searched as LESSONS.md is (notes/search.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from worldfs.notes.passage import Hit, Passage

    from .state import AgentState

INDEX: Final = ".paos/index/notes.sqlite"


def recall(state: AgentState, query: str, limit: int) -> list[Hit]:
    """Notes of memory.md that fit the query, best first."""
    from worldfs.formats.agent import memory
    from worldfs.notes.index import Index
    from worldfs.notes.passage import Passage
    from worldfs.notes.search import search
    from worldfs.tree.stores.revision import of

    data = state.kept["memory.md"].read() or b""

    def passages() -> list[Passage]:
        remarks = memory.read(data).remarks
        return [Passage(str(item.line), item.section, item.text, "memory.md", item.at) for item in remarks]

    with Index(state.room.path / INDEX) as index:
        index.keep("memory.md", of(data), passages)
        return search(index, query, limit)
