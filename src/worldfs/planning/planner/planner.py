"""The planner: an instruction becomes an answer, a refusal, or an executed plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from worldfs.base.model import Scene
from worldfs.base.stop_signal import StopSignal

from .goals import destinations, subject
from .instruction_parser import interpret
from .intent import CommandIntent, QuestionIntent, RefusedIntent
from .model_reading import ModelReading
from .plan_executor import PlanExecutor
from .plan_report import PlanReport
from .planner_model import PlannerModel
from .planner_port import PlannerPort
from .scene_facts import sanitized_scene
from .scene_sentences import with_contradictions
from .suggestions import suggestions

ATTEMPTS = 3  # executions of an instruction that a model reads


class Planner:
    """Carries out instructions through one `PlannerPort`; no state is kept between two of them except in the files."""

    def __init__(
        self, port: PlannerPort, model: PlannerModel | None = None, *, serve: Callable[[], None] | None = None
    ) -> None:
        """`serve`: called before the first order, and not for what the files answer, where no kernel serves the robot
        yet; what its body then measures is planned with. None: a kernel does."""
        self.port, self.model, self._serve = port, model, serve
        self._before: Scene | None = None

    def run(self, instruction: str, stop: StopSignal | None = None) -> PlanReport:
        """Interpret, plan, act, judge. Never raises for a failed action; a WorldError of the port is passed on."""
        self._before = scene = sanitized_scene(self.port.scene())
        report = self._report(instruction, scene, stop or StopSignal())
        ends = [ran.status.outcome for ran in report.jobs if ran.status is not None and ran.status.outcome is not None]
        told = [found for one in ends if isinstance(found := one.evidence.get("source"), str)]
        about, is_order = report.intent, isinstance(report.intent, CommandIntent)
        asked = is_order or (isinstance(about, RefusedIntent) and about.kind != "unknown")  # an answer says it itself
        if (scene.contradicted and is_order) or (scene.edited and asked):
            goals = about.goals if isinstance(about, CommandIntent) else ()
            ids = {id for goal in goals for id in (subject(goal), *destinations(goal))}
            said = with_contradictions(report.reason, instruction, scene, about.language, ids)
            report = replace(report, reason=said)
        return replace(report, before=self._before, source=told[-1] if told else report.source)

    def _report(self, instruction: str, scene: Scene, stop: StopSignal) -> PlanReport:
        profile, robot = self.port.profile(), self.port.robot_id
        intent = interpret(instruction, scene, self.port.earlier, profile=profile, robot_id=robot)
        if isinstance(intent, QuestionIntent):
            return PlanReport(intent.answered, intent.answer, intent)
        prohibited = isinstance(intent, RefusedIntent) and intent.kind == "negation"
        unknown = scene.robot(robot) is None or profile is None
        if unknown and not prohibited and (served := self._served(stop)) is not None:
            return self._report(instruction, served, stop)  # the files do not know yet what is there
        if not isinstance(intent, RefusedIntent):
            executor = PlanExecutor(self.port, intent, stop)
            if self._serve is not None and executor.begins(scene) and (served := self._served(stop)) is not None:
                return self._report(instruction, served, stop)
            return executor.run(scene)
        if self.model is not None and intent.kind == "unknown":
            report = self.by_model(intent, scene, stop)
        else:
            report = PlanReport(False, intent.reason, intent)
        if not isinstance(report.intent, RefusedIntent):
            return report
        can = suggestions(scene, intent.language, profile, robot)  # only for who is refused in the end: they take long
        return replace(report, intent=replace(report.intent, can=can))

    def _served(self, stop: StopSignal) -> Scene | None:
        """The scene, once the robot is served; None: it was before, or the instruction was to end."""
        if self._serve is None or stop.is_set():
            return None
        serve, self._serve = self._serve, None
        serve()
        self._before = sanitized_scene(self.port.scene())
        return self._before

    def by_model(self, unread: RefusedIntent, scene: Scene, stop: StopSignal) -> PlanReport:
        """What the grammar does not understand, read by the model; after a failure it may propose another way."""
        assert self.model is not None
        reading = ModelReading(self.model, self.port, unread, stop)
        intent = reading.read(scene)
        if isinstance(intent, RefusedIntent):
            return PlanReport(False, intent.reason, intent, cancelled=stop.is_set(), model_calls=reading.calls)
        report = PlanReport(False, "", intent)
        if self._serve is not None and PlanExecutor(self.port, intent, stop).begins(scene):
            self._served(stop)
        for attempt in range(ATTEMPTS):
            later = PlanExecutor(self.port, intent, stop).run(sanitized_scene(self.port.scene()))
            report = replace(later, jobs=(*report.jobs, *later.jobs))
            reached = all(goal.held for goal in report.goals)  # then another way is none to a better end
            if reached or report.cancelled or stop.is_set() or attempt == ATTEMPTS - 1:
                break
            other = reading.read_again(report, sanitized_scene(self.port.scene()))
            if other is None:
                break
            intent = other
        return replace(report, model_calls=reading.calls)
