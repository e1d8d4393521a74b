"""The plain types under all nouns."""

from __future__ import annotations

Json = dict[str, object]  # what is read of it is parsed: see base/json_values.py
Vec = tuple[float, ...]
