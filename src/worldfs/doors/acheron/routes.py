"""The paths that are served beside the tree: rows of `(path, what makes its route)`; a trailing "/": all below it.

A row's function is given the server and returns a `Route` (line.py), or `conversation(coroutine)` (talk.py). None of
these connections showed a Bearer: they prove themselves in their first message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from .fs_routes import FS_ROUTES
from .websocket_transport import Route

if TYPE_CHECKING:
    from .server import Server

ROUTES: Final[tuple[tuple[str, Callable[[Server], Route]], ...]] = FS_ROUTES
