"""The first answer over stdio: `initialize` is answered before the SDK is loaded, because clients do not wait for it.

The SDK answers the same message again once it is there; that answer is dropped, and a test compares the two.
"""

from __future__ import annotations

import json
import os
from typing import Final

from worldfs.base.json_text import parse_json

FRAME_MOST: Final = 16 << 20  # bytes of one message
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # with a handshake; the last is our offer
_PIECE: Final = 1 << 16
TOO_LARGE: Final = "the message has more than {most:,} bytes; send less at once"


class LineReader:
    """Lines of a file descriptor, none longer than `FRAME_MOST`: of a longer one None is given."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = bytearray()
        self._skipping = False  # within a line that is too long

    def line(self) -> bytes | None:
        """Without its end; b"" is an empty line. Raises `EOFError`."""
        start = 0
        while True:
            end = self._kept.find(b"\n", start)
            if end >= 0:
                found, skipped = bytes(self._kept[:end]), self._skipping or end > FRAME_MOST
                del self._kept[: end + 1]
                self._skipping = False
                return None if skipped else found
            start = len(self._kept)
            if start > FRAME_MOST:
                self._kept.clear()
                start, self._skipping = 0, True
            more = os.read(self._descriptor, _PIECE)
            if not more:
                raise EOFError
            self._kept += more


def initialize_answer(
    frame: bytes, name: str, title: str, version: str, instructions: str
) -> tuple[object, bytes] | None:
    """The id of an `initialize` and the line that answers it; None for any other message."""
    try:
        message = parse_json(frame)
    except ValueError:
        return None
    if not isinstance(message, dict) or message.get("method") != "initialize":
        return None
    id, params = message.get("id"), message.get("params")
    if not isinstance(params, dict) or not isinstance(id, str | int) or isinstance(id, bool):
        return None  # the SDK says what is wrong with it
    if not isinstance(params.get("capabilities"), dict) or not isinstance(params.get("clientInfo"), dict):
        return None
    asked = params.get("protocolVersion")
    result = {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
        "capabilities": {
            "prompts": {"listChanged": False},
            "resources": {"subscribe": True, "listChanged": False},
            "tools": {"listChanged": False},
            "completions": {},
        },
        "serverInfo": {"name": name, "title": title, "version": version},
        "instructions": instructions,
    }
    return id, json.dumps({"jsonrpc": "2.0", "id": id, "result": result}, ensure_ascii=False).encode() + b"\n"
