"""The planner: an instruction becomes an answer, a refusal, or an executed plan."""

from __future__ import annotations

from dataclasses import replace

from worldfs.base.model import Scene
from worldfs.base.stop_signal import StopSignal

from .instruction_parser import interpret
from .intent import QuestionIntent, RefusedIntent
from .model_reading import ModelReading
from .plan_executor import PlanExecutor
from .plan_report import PlanReport
from .planner_model import PlannerModel
from .planner_port import PlannerPort
from .scene_facts import sanitized_scene
from .suggestions import suggestions

ATTEMPTS = 3  # executions of an instruction that a model reads


class Planner:
    """Carries out instructions through one `PlannerPort`; no state is kept between two of them except in the files."""

    def __init__(self, port: PlannerPort, model: PlannerModel | None = None) -> None:
        self.port, self.model = port, model

    def run(self, instruction: str, stop: StopSignal | None = None) -> PlanReport:
        """Interpret, plan, act, judge. Never raises for a failed action; a WorldError of the port is passed on."""
        scene = sanitized_scene(self.port.scene())
        report = self._report(instruction, scene, stop or StopSignal())
        ends = [ran.status.outcome for ran in report.jobs if ran.status is not None and ran.status.outcome is not None]
        told = [found for one in ends if isinstance(found := one.evidence.get("source"), str)]
        return replace(report, before=scene, source=told[-1] if told else report.source)

    def _report(self, instruction: str, scene: Scene, stop: StopSignal) -> PlanReport:
        profile, robot = self.port.profile(), self.port.robot_id
        intent = interpret(instruction, scene, self.port.earlier, profile=profile, robot_id=robot)
        if isinstance(intent, QuestionIntent):
            return PlanReport(intent.answered, intent.answer, intent)
        if not isinstance(intent, RefusedIntent):
            return PlanExecutor(self.port, intent, stop).run(scene)
        if self.model is not None and intent.kind == "unknown":
            report = self.by_model(intent, scene, stop)
        else:
            report = PlanReport(False, intent.reason, intent)
        if not isinstance(report.intent, RefusedIntent):
            return report
        can = suggestions(scene, intent.language, profile, robot)  # only for who is refused in the end: they take long
        return replace(report, intent=replace(report.intent, can=can))

    def by_model(self, unread: RefusedIntent, scene: Scene, stop: StopSignal) -> PlanReport:
        """What the grammar does not understand, read by the model; after a failure it may propose another way."""
        assert self.model is not None
        reading = ModelReading(self.model, self.port, unread, stop)
        intent = reading.read(scene)
        if isinstance(intent, RefusedIntent):
            return PlanReport(False, intent.reason, intent, cancelled=stop.is_set(), model_calls=reading.calls)
        report = PlanReport(False, "", intent)
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
