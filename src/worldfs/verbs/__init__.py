"""The verbs that every interface shares: walk, open, read, write, stat, clunk, watch, cancel, over one namespace."""

from .bound_tree import BoundTree, EditableTree
from .fids import Interrupted
from .read_cache import ReadCache, WriteCounter
from .suspended_coroutine import SuspendedCoroutine, start_eagerly
from .verbs import Verbs
from .waiters import Waiters

__all__ = [
    "BoundTree",
    "EditableTree",
    "Interrupted",
    "ReadCache",
    "SuspendedCoroutine",
    "Verbs",
    "Waiters",
    "WriteCounter",
    "start_eagerly",
]
