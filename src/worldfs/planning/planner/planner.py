"""The planner: an instruction becomes an answer, a refusal, or an executed plan."""

from __future__ import annotations

from dataclasses import replace

from worldfs.base.model import Scene
from worldfs.base.stop_signal import StopSignal

from .instruction_parser import interpret
from .intent import CommandIntent, Intent, QuestionIntent, RefusedIntent
from .intent_model import IntentModel
from .plan_executor import PlanExecutor
from .plan_report import PlanReport
from .planner_port import PlannerPort
from .scene_facts import sanitized_scene


class Planner:
    """Carries out instructions through one `PlannerPort`; no state is kept between two of them except in the files."""

    def __init__(self, port: PlannerPort, model: IntentModel | None = None) -> None:
        self.port, self.model = port, model

    def run(self, instruction: str, stop: StopSignal | None = None) -> PlanReport:
        """Interpret, plan, act, judge. Never raises for a failed action; a WorldError of the port is passed on."""
        scene = sanitized_scene(self.port.scene())
        report = self._report(instruction, scene, stop or StopSignal())
        ends = [ran.status.outcome for ran in report.jobs if ran.status is not None and ran.status.outcome is not None]
        told = [found for one in ends if isinstance(found := one.evidence.get("source"), str)]
        return replace(report, source=told[-1]) if told else report

    def _report(self, instruction: str, scene: Scene, stop: StopSignal) -> PlanReport:
        intent = self._read(instruction, scene)
        if isinstance(intent, QuestionIntent):
            return PlanReport(intent.answered, intent.answer, intent)
        if isinstance(intent, RefusedIntent):
            return PlanReport(False, intent.reason, intent)
        return PlanExecutor(self.port, intent, stop).run(scene)

    def _read(self, instruction: str, scene: Scene) -> Intent:
        intent = interpret(
            instruction,
            scene,
            self.port.earlier,
            profile=self.port.profile(),
            robot_id=self.port.robot_id,
            suggest=True,
        )
        if self.model is None or not isinstance(intent, RefusedIntent) or intent.kind != "unknown":
            return intent
        guess = self.model.interpret(instruction, scene)
        if isinstance(guess, CommandIntent):
            known = {t.id for t in (*scene.objects, *scene.furniture)}
            named = {v for g in guess.goals for k in ("object", "container", "support", "other", "surface")
                     if (v := getattr(g, k, ""))} | set(guess.protected)  # fmt: skip
            return guess if named <= known else intent
        return guess or intent
