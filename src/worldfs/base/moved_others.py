"""The code of an order that moved what it is not about."""

from __future__ import annotations

from typing import Final

MOVED_OTHERS: Final = "MOVED_OTHERS"
