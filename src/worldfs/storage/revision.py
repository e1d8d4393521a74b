"""The revision of a content: its hash, so that a foreign edit is a new revision without any bookkeeping."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # what hashlib gives, without loading OpenSSL at every start of a command
except ImportError:
    from hashlib import blake2b
from typing import Final

PRIVATE_DIR: Final = ".paos"
"""The private directory below a root: reachable by name, not listed."""


def of(data: bytes) -> str:
    """16 hex digits of BLAKE2b. The same bytes, the same revision: a caller that must detect A→B→A adds a counter."""
    return blake2b(data, digest_size=8).hexdigest()
