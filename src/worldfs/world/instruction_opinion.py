"""`models.judge` is asked once about an instruction, when it has been carried out.

What was measured is durable before: a crash while the model thinks loses the opinion alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from worldfs.base.clock import stamp
from worldfs.base.errors import WorldError
from worldfs.base.stop_signal import StopSignal
from worldfs.planning.model_judge import CarriedOut, Opinion, second_opinion
from worldfs.planning.planner.scene_facts import sanitized_scene

from .instruction_opinion_file import keep_opinion
from .stops_followed import stops_followed

if TYPE_CHECKING:
    from worldfs.base.chat_model import ConfiguredModel
    from worldfs.planning.planner import PlannerPort, PlanReport

    from .world import World


class InstructionJudge:
    """Of one instruction: `note` during its turn, `ask` after it and after its end is durable."""

    def __init__(self, world: World, model: ConfiguredModel | None) -> None:
        self._world, self._model = world, model
        self._done: CarriedOut | None = None
        self._stops = 0

    @property
    def noted(self) -> bool:
        """Whether there is something to ask about, and a model to ask."""
        return self._done is not None

    def note(self, report: PlanReport, port: PlannerPort) -> None:
        """What the model will be told, as it is now: only where goals were reached by orders."""
        if self._model is None or report.verdict != "reached" or not report.jobs or report.before is None:
            return
        goals, after = [goal.text for goal in report.goals if goal.held], sanitized_scene(port.scene())
        text, profile = report.intent.text, port.profile()
        self.note_end(CarriedOut(text, port.robot_id, goals, report.jobs, report.before, after, profile))

    def note_end(self, done: CarriedOut) -> None:
        """As `note`, of an instruction that one order carries."""
        if self._model is not None:
            self._done, self._stops = done, self._world.stops.state(done.node).number

    def ask(self, stop: StopSignal) -> Opinion:
        """The opinion, which is kept as well. `stop`, or a stop of the robot, ends the wait at once."""
        assert self._model is not None
        assert self._done is not None
        with self._ended_by_stops(stop) as ended:
            opinion = second_opinion(self._model, self._done, self._world.clock, ended)
        with suppress(WorldError):  # the answer is shown all the same, and what was measured stands elsewhere
            jobs = [ran.job for ran in self._done.jobs]
            about = {"instruction": self._done.text, "node": self._done.node, "jobs": jobs}
            at = stamp(self._world.clock.now())
            keep_opinion(self._world.store, jobs[-1], {**about, "at": at, **opinion.as_json()})
        return opinion

    @contextmanager
    def _ended_by_stops(self, stop: StopSignal) -> Iterator[StopSignal]:
        """Set by `stop`, and as soon as the robot has been stopped since the instruction was noted."""
        assert self._done is not None
        ended, node, world = StopSignal(), self._done.node, self._world

        def look() -> bool:
            if stopped := world.stops.state(node).number != self._stops:
                ended.set()
            return stopped

        with stop.calling(ended.set), stops_followed(world.store, look):
            yield ended
