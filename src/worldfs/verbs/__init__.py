"""The verbs that every door shares: walk, open, read, write, stat, clunk, watch, cancel, over one namespace."""

from .eager import Rest, begin
from .fids import Interrupted
from .known import Known, Writes
from .ports import Content, Served, Shaped, Stat, Wait, Written
from .verbs import Verbs
from .waiters import Waiters

__all__ = [
    "Content",
    "Interrupted",
    "Known",
    "Rest",
    "Served",
    "Shaped",
    "Stat",
    "Verbs",
    "Wait",
    "Waiters",
    "Writes",
    "Written",
    "begin",
]
