"""The plain types under all nouns."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Vec = tuple[float, ...]
