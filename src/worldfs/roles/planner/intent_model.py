"""The port for a language model: it may read what the grammar could not, and nothing it says moves a robot unread."""

from __future__ import annotations

from typing import Protocol

from ...ground.model import Scene
from .intent import Intent


class IntentModel(Protocol):
    """Asked only for what `interpret` refused as not understood; never for a negation, a condition or a question."""

    def interpret(self, instruction: str, scene: Scene) -> Intent | None:
        """Its reading, or None. A Command's ids are checked against the scene, its plan goes through the critic."""
        ...
