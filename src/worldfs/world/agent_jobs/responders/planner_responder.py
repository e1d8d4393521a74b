"""The planner as a responder: a robot of the home's workspace executes an instruction, a question is answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldfs.access.binding import Binding
from worldfs.base.chat_model import ConfiguredModel
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.json_text import compact_json
from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.model import Cause, Order, Outcome
from worldfs.base.stop_signal import StopSignal
from worldfs.base.stop_words import is_stop, may_be_about_stopping
from worldfs.planning.planner import Planner, PlannerModel, PlanReport, QuestionIntent, RefusedIntent
from worldfs.runtime.grace import CONFIRM_S
from worldfs.runtime.job_codec import finding_fields
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.agent_jobs.written_terms import read_answers
from worldfs.world.instruction import Instruction
from worldfs.world.instruction_opinion import InstructionJudge
from worldfs.world.tree_planner_port import TreePlannerPort
from worldfs.world.unnamed_question import unnamed_question
from worldfs.world.world import PROJECT

if TYPE_CHECKING:
    from worldfs.world.world import World

NodePermission = Callable[[Binding, str], bool]
JudgeModel = Callable[[str], ConfiguredModel | None]  # of an agent: what may doubt a measured end, if it is configured
# The planner's model, with the code of a reading confirmed, and the agent that its calls are made for.
ConfirmedModel = Callable[[str, str], PlannerModel | None]
# The types of lines of log.txt. After its verdict, an attempt logs what a model asked and got no answer to, or the plan
# that it proposed.
VERDICT: Final = "verdict"
QUESTION: Final = "question"
PLAN: Final = "plan"
_CONFIRM: Final = re.compile(r"\s*(?:confirm|确认)\s+([0-9a-f]{16})\s*[:：]\s*(\S.*)", re.DOTALL)

# The planner's result of the instruction → the end of the job.
CAUSES: Final[Mapping[str, tuple[Cause, str]]] = {
    "failed": (Cause.ERROR, "failed"),
    "cancelled": (Cause.CANCELLED, "CANCELLED"),
    "not_understood": (Cause.ERROR, "not_understood"),
    "not_answered": (Cause.ERROR, "not_answered"),
}


class PlannerResponder:
    """One robot. Its instructions are executed one after the other."""

    def __init__(
        self,
        world: World,
        robot: str,
        may: NodePermission,
        model: ConfirmedModel,
        judge: JudgeModel = lambda agent: None,
        *,
        robots: Callable[[Binding], Iterable[str]] | None = None,
    ) -> None:
        """`robot` "": the only one. `may`: may this binding command that node? `robots`: those that it sees; None:
        all."""
        self._world, self._robot, self._may, self._model, self._judge = world, robot, may, model, judge
        self._robots = robots or (lambda binding: world.node_ids())
        self.lane = f"planner:{robot}"

    def answer(self, text: str, run: AgentJobContext) -> Outcome:
        seen = [*self._robots(run.binding)]
        if seen and is_stop(text, lambda: seen):  # they were stopped when the message arrived; this is the answer
            return _stopped(self._world, seen, language_of(text))

        answer = None if self._robot else unnamed_question(self._world, text, lambda id: self._may(run.binding, id))
        if answer is not None:
            return _answered(answer, run)
        robot = self._chosen(text)
        if not self._may(run.binding, robot):
            return Outcome.failure(
                Cause.REJECTED, "NOT_PERMITTED", coded("world.no_robot_to_command", agent=run.binding.agent)
            )

        confirmed, text = read_confirmation(text)

        def tell(line: str) -> None:
            run.log("progress", message=line)

        stop, model = StopSignal(), self._model(confirmed, run.binding.agent)
        turn = Instruction(self._world, robot, text, stop, tell, by_model=model is not None)
        with run.stop.calling(stop.set), turn as instruction:
            refused = instruction.start()
            if refused and not instruction.understood:
                run.log(VERDICT, verdict="not_understood", message=refused)
                cause, code = CAUSES["not_understood"]
                return Outcome.failure(cause, code, refused)
            if refused:
                run.log(VERDICT, verdict="stopped" if instruction.stopped else "cancelled", message=refused)
                return Outcome.failure(Cause.REJECTED if instruction.stopped else Cause.CANCELLED, "STOPPED", refused)
            port = _GuardedPlannerPort(self._world, robot, tell, instruction, run.binding.actor)
            if model is not None:
                model = replace(model, answered=read_answers(run.params))
            report = Planner(port, model).run(text, stop)
            judge = InstructionJudge(self._world, self._judge(run.binding.agent))
            judge.note(report, port)
        run.log(VERDICT, verdict=report.verdict, message=report.reason)
        told, evidence = report_text(report), report_json(report)
        if isinstance(report.intent, RefusedIntent) and report.intent.question:
            run.log(QUESTION, message=report.intent.question)
        if isinstance(report.intent, RefusedIntent) and report.intent.reading:
            run.log(PLAN, message=report.intent.plan)
            told += f"\nTo do it, answer: confirm {report.intent.reading}: {text}"
        if report.ok:
            done = Outcome.success(told, **evidence)
            return _with_opinion(done, judge, run, text) if judge.noted else done
        cause, code = CAUSES[report.verdict]
        return Outcome.failure(cause, code, told, evidence=evidence)

    def _chosen(self, text: str) -> str:
        ids = [spec.id for spec in self._world.specs]
        if self._robot in ids:
            return self._robot
        if not self._robot and len(ids) == 1:
            return ids[0]
        wrong = coded("world.no_robot", node=self._robot) if self._robot else coded("world.none_selected")
        fix = coded("world.set_robot")
        if may_be_about_stopping(text):
            wrong, fix = coded("command.unread_stop", found=wrong), coded("command.nothing_stopped", fix=fix)
        raise BadInput(wrong, op="chat", expected=coded("common.one_of", names=ids), fix=fix)


def _answered(answer: QuestionIntent | RefusedIntent, run: AgentJobContext) -> Outcome:
    """The end of a question that was put to all robots."""
    if isinstance(answer, QuestionIntent):
        report = PlanReport(answer.answered, answer.answer, answer)
    else:
        report = PlanReport(False, answer.reason, answer)
    run.log(VERDICT, verdict=report.verdict, message=report.reason)
    if report.ok:
        return Outcome.success(report_text(report), **report_json(report))
    cause, code = CAUSES[report.verdict]
    return Outcome.failure(cause, code, report_text(report), evidence=report_json(report))


class _GuardedPlannerPort(TreePlannerPort):
    """A planner port that refuses to submit without a running kernel: the order would run at any later time."""

    def __init__(
        self, world: World, robot: str, tell: Callable[[str], None], instruction: Instruction, orderer: str
    ) -> None:
        super().__init__(world, PROJECT, robot, tell, instruction, orderer=orderer)

    def submit(self, order: Order) -> str:
        try:
            self.world.demand_kernel()
        except MissingRequirement as error:
            raise MissingRequirement(
                coded("world.no_kernel_for", node=self.robot_id), op="chat", fix=error.fix
            ) from None
        return super().submit(order)


def _with_opinion(done: Outcome, judge: InstructionJudge, run: AgentJobContext, text: str) -> Outcome:
    """The end, and what a model adds to it. The end is durable before the model is asked."""
    run.seal(done)
    opinion = judge.ask(run.stop)
    told, evidence = done.message, {**done.evidence, "opinion": opinion.as_json()}
    if opinion.finding is None:
        return replace(done, evidence=evidence)
    told += "\n" + render(coded("model.warning", said=opinion.finding.found), language_of(text))
    return replace(done, message=told, evidence=evidence, findings=(opinion.finding,))


def report_text(report: PlanReport) -> str:
    """The answer as text: the planner's result, the actions with their results, and the goals in the world."""
    lines = [report.reason]
    for ran in report.jobs:
        outcome = ran.status.outcome if ran.status is not None else None
        result = "not ended" if outcome is None else outcome.message or ("done" if outcome.ok else outcome.code)
        lines.append(f"- {ran.job}: {ran.order.op} {_aim(ran.order)}: {result}".replace(" :", ":"))
        if outcome is not None and outcome.evidence:
            lines.append(f"  evidence: {compact_json(outcome.evidence).decode()}")
    lines += [
        f"- [{'x' if goal.held else ' '}] {goal.text}{f': {goal.why}' if goal.why else ''}" for goal in report.goals
    ]
    return "\n".join(line for line in lines if line)


def report_json(report: PlanReport) -> dict[str, object]:
    """The answer as JSON."""
    jobs: list[dict[str, object]] = []
    for ran in report.jobs:
        job: dict[str, object] = {
            "job": ran.job,
            "node": ran.order.node,
            "op": ran.order.op,
            "params": ran.order.params,
        }
        outcome = ran.status.outcome if ran.status is not None else None
        if outcome is not None:
            job |= {"ok": outcome.ok, "message": outcome.message, "evidence": outcome.evidence}
            if outcome.findings:
                job["findings"] = [finding_fields(finding) for finding in outcome.findings]
        jobs.append(job)
    goals = [{"goal": goal.text, "held": goal.held, "why": goal.why} for goal in report.goals]
    asked = {"model_calls": [call.as_json() for call in report.model_calls]} if report.model_calls else {}
    return {"verdict": report.verdict, "source": report.source, "goals": goals, "jobs": jobs, **asked}


def read_confirmation(text: str) -> tuple[str, str]:
    """The code of a reading that the message confirms ("" for none), and the instruction."""
    found = _CONFIRM.fullmatch(text)
    return (found[1], found[2]) if found else ("", text)


def _aim(order: Order) -> str:
    return next((str(value) for value in order.params.values() if isinstance(value, str)), "")


def _stopped(world: World, robots: Sequence[str], language: str) -> Outcome:
    """The answer to a message that stopped those robots when it arrived."""
    said: list[str] = []
    sure, end = True, world.clock.monotonic() + CONFIRM_S
    for robot in robots:
        if world.stops.state(robot).stopped:
            found = world.robot_stops.await_confirmed(robot, max(0.0, end - world.clock.monotonic()))
            sure = sure and found.confirmed
            said.append(render(coded("world.stopped_until", said=found.text, node=robot), language))
        else:
            said.append(render(coded("world.stopped_since", node=robot), language))
    told = "\n".join(said)
    return Outcome.success(told) if sure else Outcome.failure(Cause.ERROR, "STOP_UNCONFIRMED", told)
