"""The metrics of an agent, kept up with its journal: the reducer in memory, its file, and how both are made anew.

.paos/metrics.json holds the reducer as of some entry; what came after it is read from the journal. Call everything
inside `agent_dir.locked()`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import UserError
from worldfs.base.model import Json

if TYPE_CHECKING:
    from .agent_directory import AgentDirectory
    from .journal import Journal
    from .metrics_reducer import MetricsReducer


FOLD: Final = ".paos/metrics.json"


class MetricsCache:
    """`journal` and `found` (metrics.json as it counts) are asked for when they are needed."""

    def __init__(
        self, agent_dir: AgentDirectory, journal: Callable[[], Journal], found: Callable[[], bytes | None]
    ) -> None:
        self._agent_dir, self._journal, self._found = agent_dir, journal, found
        self._reducer: MetricsReducer | None = None
        self._has_file = False

    @cached_property
    def events(self) -> frozenset[str]:
        """The events that figures are made of."""
        from .metrics_reducer import EVENTS, LETTERS, MODEL_CALL

        return frozenset((*EVENTS, *LETTERS, MODEL_CALL))

    def load_baseline(self) -> None:
        """Before our first entry: what metrics.json says then is another tool's count."""
        if not self._has_file:
            if self._agent_dir.store.probe(FOLD) is None:
                self.reducer()
            self._has_file = True

    def apply_entry(self, seq: int, entry: Json) -> None:
        """An entry that was just added."""
        if self._reducer is not None and self._reducer.applied_seq == seq - 1:
            self._reducer.apply(seq, entry)

    def reducer(self) -> MetricsReducer:
        """The metrics as of the journal's last entry."""
        if self._reducer is None:
            self._reducer = self._load() or self._rebuild()
        if self._reducer.applied_seq != self._journal().seq():
            for seq, entry in self._journal().since(self._reducer.applied_seq):
                self._reducer.apply(seq, entry)
        return self._reducer

    def recount(self) -> None:
        """Count anew, from what was found at the beginning and every entry of the journal."""
        known = self._load()
        if known is None:
            fold = self._rebuild()
        elif self._journal().pruned():
            fold = known
        else:
            fold = type(known)(known.baseline)
            fold.follow(self._journal().lines())
        self._reducer = fold

    def _load(self) -> MetricsReducer | None:
        from .metrics_reducer import MetricsReducer

        stored = self._agent_dir.store.get(FOLD)
        try:
            return None if stored is None else MetricsReducer.load(stored.data)
        except UserError:  # torn with the power
            return None

    def _rebuild(self) -> MetricsReducer:
        """From metrics.json and the whole journal. Durable before metrics.json is written from it: else what we wrote
        would be taken for figures of another tool, and count twice."""
        from .document_rules import mapping
        from .metrics import recover_reducer

        fold = recover_reducer(mapping(self._found() or b"") or None, self._journal().lines())
        self._agent_dir.root.replace(FOLD, fold.dump())
        return fold
