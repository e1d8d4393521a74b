"""Which brain an agent has: its entry of `agents.brains`, else the one for all, else the planner where a robot is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.formats.config_services import Brain as Settings
from worldfs.ground.clock import Clock
from worldfs.ground.errors import UserError
from worldfs.ground.model import Cause, Outcome

from ..call import Run
from ..chat import Brain
from .command import CommandBrain
from .planner import May, PlannerBrain

if TYPE_CHECKING:
    from worldfs.formats.config import Config

    from ...world import World


class Brains:
    """Asked anew at each letter, so that a changed config.json counts at once."""

    def __init__(self, config: Callable[[], Config], world: World | None, agents: Path, clock: Clock, may: May) -> None:
        self._config, self._world, self._agents, self._clock, self._may = config, world, agents, clock, may

    def __call__(self, agent: str) -> Brain | None:
        try:
            settings = self._config().brain(agent)
        except UserError as error:
            return _Broken(str(error))
        if settings is None:
            settings = Settings(agent) if self._world is not None and self._world.specs else Settings(agent, "none")
        if settings.kind == "command":
            return CommandBrain(settings, agent, self._agents, self._clock)
        if settings.kind == "none":
            return None
        if self._world is None or not self._world.specs:
            return _Broken("agents.brains names the planner, and this home has no workspace with a robot")
        return PlannerBrain(self._world, settings.robot, self._may)


class _Broken:
    """A brain that cannot be had says why."""

    lane = ""

    def __init__(self, why: str) -> None:
        self._why = why

    def answer(self, text: str, run: Run) -> Outcome:
        return Outcome.failure(Cause.ERROR, "", self._why)
