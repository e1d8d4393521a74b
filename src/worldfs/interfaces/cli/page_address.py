"""Where the page of a home is: the address that the last `paos serve` or `paos up --serve` of it listened at."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from worldfs.base.durable import Root
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object

if TYPE_CHECKING:
    from worldfs.interfaces.acheron.serve_realm import ServerStarted

SERVED: Final = ".paos/served.json"
CONNECT_S: Final = 1.0
DEFAULT: Final = "http://127.0.0.1:18790/"
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - a comparison, nothing is bound here


def page_address(started: ServerStarted) -> str:
    """The address for a browser of this machine."""
    scheme = "https" if started.url.startswith("wss:") else "http"
    host = _EVERYWHERE.get(started.host, f"[{started.host}]" if ":" in started.host else started.host)
    return f"{scheme}://{host}:{started.port}/"


def note_address(home: Path, started: ServerStarted) -> None:
    Root(home).replace(SERVED, json.dumps({"page": page_address(started)}).encode() + b"\n")


def noted_address(home: Path) -> str:
    """The noted address, or where a server listens by default."""
    data = Root(home).read(SERVED)
    try:
        noted = as_object(parse_json(data)) if data else {}
    except ValueError:
        noted = {}
    return str(noted.get("page") or DEFAULT)


def listens(address: str) -> bool:
    """Whether a server takes connections at an address of this machine."""
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=CONNECT_S):
            return True
    except (OSError, ValueError):
        return False
