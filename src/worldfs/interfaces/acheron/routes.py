"""The paths that are served beside the tree: rows of `(path, function that makes its route)`; a trailing "/" matches
everything below.

A row's function is given the server and returns a `Route` (websocket_transport.py), or `coroutine_route(coroutine)`.
None of these connections sent a Bearer: they authenticate in their first message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from .fs_routes import FS_ROUTES
from .websocket_transport import Route

if TYPE_CHECKING:
    from .server import Server

ROUTES: Final[tuple[tuple[str, Callable[[Server], Route]], ...]] = FS_ROUTES
