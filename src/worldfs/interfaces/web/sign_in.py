"""Signing in from a browser, which cannot set headers: the token is a subprotocol of the WebSocket upgrade.

`Sec-WebSocket-Protocol: acheron, bearer.<base64url of the token>`; the server answers with `acheron` alone, so the
token stands in no address, no answer and no log. It is judged as an Authorization header is.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Final

PROTOCOL: Final = "acheron"
PREFIX: Final = "bearer."
LONGEST: Final = 700  # characters of base64 of a token of at most 512


def token_of(offered: str) -> str:
    """The token in a Sec-WebSocket-Protocol header; "" if there is none, or none that can be read."""
    for word in offered.split(","):
        name = word.strip()
        if name.startswith(PREFIX) and len(name) <= LONGEST:
            return _decoded(name.removeprefix(PREFIX))
    return ""


def agreed_protocol(offered: Sequence[str]) -> str | None:
    """The subprotocol of the answer; None for a client that offers none of ours."""
    return PROTOCOL if PROTOCOL in offered else None


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
