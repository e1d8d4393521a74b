"""What the episodes of one dataset have in common: all of them have these columns and cameras, at this rate."""

from __future__ import annotations

from typing import Protocol


class DatasetRecipe(Protocol):
    @property
    def fps(self) -> int: ...

    @property
    def cameras(self) -> tuple[str, ...]: ...

    @property
    def robot_type(self) -> str: ...

    def columns(self) -> dict[str, list[str]]:
        """Column → the names of its numbers."""
        ...

    def as_json(self) -> dict[str, object]: ...
