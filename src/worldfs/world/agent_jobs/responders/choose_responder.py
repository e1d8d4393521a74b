"""The responder of an agent: its entry of `agents.brains`, else that for all, else the planner if there is a robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.access.binding import Binding
from worldfs.base.clock import Clock
from worldfs.base.errors import UserError
from worldfs.base.model import Cause, Outcome
from worldfs.base.plugin_calls import called, checked
from worldfs.base.plugin_registry import PluginGroup
from worldfs.formats.config_services import CHAT, KINDS
from worldfs.formats.config_services import ResponderConfig as Settings
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.agent_jobs.chat import Responder
from worldfs.world.agent_jobs.chat_context import ChatContext

from .command_responder import CommandResponder
from .planner_responder import ConfirmedModel, JudgeModel, NodePermission, PlannerResponder

if TYPE_CHECKING:
    from worldfs.formats.config import Config
    from worldfs.world.world import World

BACKENDS: Final = PluginGroup[Callable[[Settings, ChatContext], Responder]](CHAT, {})


class Responders:
    """Called for each message, so that a changed config.json counts at once."""

    def __init__(
        self,
        config: Callable[[], Config],
        world: World | None,
        agents: Path,
        clock: Clock,
        may: NodePermission,
        *,
        context: Callable[[Path, Responder | None], ChatContext],
        model: ConfirmedModel = lambda confirmed, agent: None,
        judge: JudgeModel = lambda agent: None,
        robots: Callable[[Binding], Iterable[str]] | None = None,
    ) -> None:
        """`context`: what a package's backend is made with, by the agent's directory and the planner. `robots`: those
        that a binding sees, and stops; None: all."""
        self._config, self._world, self._agents, self._clock, self._may = config, world, agents, clock, may
        self._context, self._model, self._judge, self._robots = context, model, judge, robots

    def __call__(self, agent: str) -> Responder | None:
        try:
            settings = self._config().brain(agent)
        except UserError as error:
            return _UnavailableResponder(str(error))
        if settings is None:
            settings = Settings(agent) if self._world is not None and self._world.specs else Settings(agent, "none")
        if settings.kind == "command":
            return CommandResponder(settings, agent, self._agents, self._clock)
        if settings.kind == "none":
            return None
        if settings.kind not in KINDS:
            return self._of_package(settings, agent)
        planner = self._planner(settings)
        if planner is None:
            return _UnavailableResponder("agents.brains names the planner, and this home has no workspace with a robot")
        return planner

    def _planner(self, settings: Settings) -> PlannerResponder | None:
        if self._world is None or not self._world.specs:
            return None
        return PlannerResponder(self._world, settings.robot, self._may, self._model, self._judge, robots=self._robots)

    def _of_package(self, settings: Settings, agent: str) -> Responder:
        try:
            context = self._context(self._agents / agent, self._planner(settings))
            made = called(lambda: BACKENDS[settings.kind](settings, context), f"agents.brains {settings.kind}")
            return checked(made, Responder)
        except UserError as error:
            return _UnavailableResponder(str(error))
        except Exception as error:  # whatever a package raises
            return _UnavailableResponder(f"agents.brains {settings.kind}: {type(error).__name__}: {error}")


class _UnavailableResponder:
    """A responder that is not available: answers with the reason."""

    lane = ""

    def __init__(self, why: str) -> None:
        self._why = why

    def answer(self, text: str, run: AgentJobContext) -> Outcome:
        return Outcome.failure(Cause.ERROR, "", self._why)
