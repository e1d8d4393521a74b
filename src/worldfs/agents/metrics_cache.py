"""The metrics of an agent, kept up with its journal: the fold in memory, its file, and how both are made anew.

.paos/metrics.json holds the fold as of some entry; what came after it is read from the journal. Calls are made inside
`room.alone()`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from worldfs.ground.errors import UserError

if TYPE_CHECKING:
    from .agent_directory import AgentDirectory
    from .journal import Journal
    from .metrics_reducer import MetricsReducer

Json = dict[str, Any]

FOLD: Final = ".paos/metrics.json"


class MetricsCache:
    """`journal` and `found` (metrics.json as it counts) are asked for when they are needed."""

    def __init__(self, room: AgentDirectory, journal: Callable[[], Journal], found: Callable[[], bytes | None]) -> None:
        self._room, self._journal, self._found = room, journal, found
        self._fold: MetricsReducer | None = None
        self._has_file = False

    @cached_property
    def events(self) -> frozenset[str]:
        """The events that figures are made of."""
        from .metrics_reducer import EVENTS, LETTERS

        return frozenset((*EVENTS, *LETTERS))

    def begin(self) -> None:
        """Before our first entry: what metrics.json says then is another tool's count."""
        if not self._has_file:
            if self._room.store.probe(FOLD) is None:
                self.fold()
            self._has_file = True

    def heard(self, seq: int, entry: Json) -> None:
        """An entry that was just added."""
        if self._fold is not None and self._fold.applied_seq == seq - 1:
            self._fold.apply(seq, entry)

    def fold(self) -> MetricsReducer:
        """The metrics as of the journal's last entry."""
        if self._fold is None:
            self._fold = self._kept() or self._anew()
        if self._fold.applied_seq != self._journal().seq():
            for seq, entry in self._journal().since(self._fold.applied_seq):
                self._fold.apply(seq, entry)
        return self._fold

    def refold(self) -> None:
        """Count anew, from what was found at the beginning and every entry of the journal."""
        known = self._kept()
        if known is None:
            fold = self._anew()
        elif self._journal().pruned():
            fold = known
        else:
            fold = type(known)(known.baseline)
            fold.follow(self._journal().lines())
        self._fold = fold

    def _kept(self) -> MetricsReducer | None:
        from .metrics_reducer import MetricsReducer

        stored = self._room.store.get(FOLD)
        try:
            return None if stored is None else MetricsReducer.load(stored.data)
        except UserError:  # torn with the power
            return None

    def _anew(self) -> MetricsReducer:
        """From metrics.json and the whole journal. Durable before metrics.json is written from it: else what we wrote
        would be taken for figures of another tool, and count twice."""
        from .document_rules import mapping
        from .metrics import recover_reducer

        fold = recover_reducer(mapping(self._found() or b"") or None, self._journal().lines())
        self._room.root.replace(FOLD, fold.dump())
        return fold
