"""The comparison of secrets."""

from __future__ import annotations

import hmac


def secrets_equal(given: str, kept: str) -> bool:
    """Equality that takes as long for a near miss as for a far one. Nothing equals an empty secret."""
    return bool(kept) and hmac.compare_digest(given.encode("utf-8", "surrogatepass"), kept.encode())
