"""The port for a language model: it may interpret what the grammar could not; its plan is checked before a robot
moves."""

from __future__ import annotations

from typing import Protocol

from worldfs.base.model import Scene

from .intent import Intent


class IntentModel(Protocol):
    """Asked only for what `interpret` refused as not understood; never for a negation, a condition or a question."""

    def interpret(self, instruction: str, scene: Scene) -> Intent | None:
        """Its intent, or None. A CommandIntent's ids are checked against the scene, its plan by the critic."""
        ...
