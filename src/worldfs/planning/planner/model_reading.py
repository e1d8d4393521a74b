"""A language model reads an instruction: its plan is checked, read back, and confirmed before anything moves."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from worldfs.base.chat_model import ModelCall, ModelMessage, ModelReply, ModelTool, ModelUnavailable, RecordingModel
from worldfs.base.driver import Run
from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_text
from worldfs.base.messages import CodedText, coded, render
from worldfs.base.model import Json, Scene
from worldfs.base.stop_signal import StopSignal
from worldfs.formats.prose import one_line

from . import model_prompt, task_text
from .goal_stages import stages
from .goals import Goal
from .intent import CommandIntent, NotUnderstood, RefusedIntent
from .plan import build_plan
from .plan_constraints import PlanConstraints
from .plan_report import PlanReport
from .planner_model import PlannerModel
from .planner_port import PlannerPort
from .proposed_steps import ProposedSteps
from .scene_facts import seen_by
from .unnamed_things import touched_ids, unasked_acts, unnamed_things
from .unread_entries import left_out, refuse_unread

ROUNDS: Final = 3  # plans that cannot be used, before the model is left
QUESTIONS: Final = 3  # of a model to the person, for one instruction
QUESTION_MOST: Final = 300  # characters
ANSWER_MOST: Final = 500  # characters
LONGEST: Final = 600  # characters of a reading: it is never clipped
YES: Final = frozenset(("y", "yes", "ok", "是", "是的", "好", "好的", "对", "可以"))
_PLAIN_ID: Final = re.compile(r"[\w.:-]{1,64}")


class ModelReading:
    """One instruction, given to a model; every order that follows from it names the model."""

    def __init__(self, model: PlannerModel, port: PlannerPort, refused: RefusedIntent, stop: StopSignal) -> None:
        self._model, self._port, self._refused, self._stop = model, port, refused, stop
        self.opened: RecordingModel | None = None
        self._messages: list[ModelMessage] = []
        self._confirmed: tuple[Goal, ...] = ()

    def read(self, scene: Scene) -> CommandIntent | RefusedIntent:
        """What the person has confirmed, or why nothing moves."""
        profile, scene = self._port.profile(), seen_by(scene, self._port.robot_id)
        text = self._refused.text
        self._messages = model_prompt.opening(text, self._refused.reason, scene, profile, self._port.lessons())
        for one in self._model.answered:
            self._messages += model_prompt.answered(one_line(one.question, QUESTION_MOST), _plain_answer(one.answer))
        return self._converse(scene)

    def read_again(self, report: PlanReport, scene: Scene) -> CommandIntent | None:
        """Another plan after one that failed; None for none. Nothing that was confirmed is left out of it."""
        scene = seen_by(scene, self._port.robot_id)
        steps: list[Json] = []
        for ran in report.jobs:
            outcome = ran.status.outcome if ran.status is not None else None
            said = one_line(render(outcome.message, "en"), 200) if outcome is not None else "not ended"
            steps.append({"op": ran.order.op, "params": ran.order.params, "result": said})
        lessons = self._port.lessons()
        self._messages.append(model_prompt.again(scene, render(report.reason, "en"), steps, lessons))
        found = self._converse(scene)
        return found if isinstance(found, CommandIntent) else None

    # -- the conversation -----------------------------------------------------------------------------------------

    def _converse(self, scene: Scene) -> CommandIntent | RefusedIntent:
        steps = ProposedSteps(scene, self._port.profile())
        tools = (steps.tool(), model_prompt.ASK, model_prompt.REFUSE)
        problem, rounds, questions = "", 0, len(self._model.answered)
        while rounds < ROUNDS:
            try:
                reply = self._ask_model(tools)
            except ModelUnavailable as error:
                if error.code != "MODEL_ANSWER":
                    return self._refuse(coded("model.unavailable", why=self._refused.reason, problem=str(error)))
                rounds, problem = rounds + 1, error.found
                self._messages.append(model_prompt.data({"problem": problem}))
                continue
            calls = [{"tool": call.tool, "arguments": call.arguments} for call in reply.calls]
            self._messages.append(ModelMessage("assistant", json.dumps(calls, ensure_ascii=False, default=str)[:4000]))
            match _single(reply):
                case ("ask", said) if (question := one_line(said, QUESTION_MOST)) and questions < QUESTIONS:
                    questions += 1
                    answer = _plain_answer(self._model.ask(self._said(coded("model.asks", question=question))))
                    if not answer:
                        refused = self._refuse(coded("model.unanswered", question=question), "ambiguous")
                        return replace(refused, question=question)
                    self._messages.append(model_prompt.answer(answer))
                    continue
                case ("refuse", str(reason)) if reason:
                    name, reason = self.name, one_line(reason, 300)
                    return self._refuse(coded("model.refused", why=self._refused.reason, name=name, reason=reason))
                case ("plan", _):
                    try:
                        goals = self._checked(steps.goals(reply.calls[0].arguments), scene)
                    except BadInput as error:
                        problem = f"{error.found}; expected {error.expected}" if error.expected else error.found
                    else:
                        return self._confirm(goals, scene)
                case _:
                    names = ", ".join(call.tool for call in reply.calls)
                    problem = f"one call of plan, ask or refuse is expected, and not {one_line(names, 100) or 'a text'}"
            rounds += 1
            self._messages.append(model_prompt.data({"problem": problem}))
        why, problem = self._refused.reason, one_line(problem, 300)
        return self._refuse(coded("model.unusable", why=why, name=self.name, problem=problem))

    def _ask_model(self, tools: Sequence[ModelTool]) -> ModelReply:
        if self.opened is None:
            self.opened = self._model.open()
        self._port.progress(self._said(coded("model.asking", name=self.name)))
        run = Run(self._model.clock, float("inf"), cancel=self._stop)
        return self.opened.reply(tuple(self._messages), tools, run)

    def _checked(self, goals: tuple[Goal, ...], scene: Scene) -> tuple[Goal, ...]:
        """The whole plan, checked by the critic as it would unfold. Raises `BadInput` with the first reason."""
        if odd := [id for id in touched_ids(goals) if not _PLAIN_ID.fullmatch(id)]:
            raise BadInput(coded("model.odd_id", id=one_line(odd[0], 60)))
        try:
            refuse_unread((), goals, scene, "en")
        except NotUnderstood as error:
            raise BadInput(coded(error.code, **error.facts)) from None
        profile, limits = self._port.profile(), PlanConstraints(profile_of=self._port.profile)
        plan = build_plan(stages(goals), scene, profile=profile, robot_id=self._port.robot_id, limits=limits)
        if plan.unmet:
            goal, why = plan.unmet[0]
            raise BadInput(f"{render(task_text.goal_text(goal, scene), 'en')}: {render(why, 'en')}")
        return goals

    # -- the person -----------------------------------------------------------------------------------------------

    def _confirm(self, goals: tuple[Goal, ...], scene: Scene) -> CommandIntent | RefusedIntent:
        """Nothing that a model proposes moves before the person has said yes to it."""
        if self._confirmed and set(goals) <= set(self._confirmed):  # another order of what was confirmed
            goals = (*goals, *(goal for goal in self._confirmed if goal not in goals))
            return self._command(goals, scene)
        what = self._reading(goals, scene)
        if len(what) > LONGEST:
            return self._refuse(coded("model.too_long", size=len(what)))
        text = self._refused.text
        acts = [self._said(task_text.goal_text(goal, _plain_names(scene))) for goal in unasked_acts(text, goals)]
        extra = ", ".join((*unnamed_things(text, goals, scene), *acts))
        unnamed = coded("model.unnamed", names=one_line(extra, 300)) if extra else ""
        digest = reading_digest(text, self._port.robot_id, goals)
        if digest != self._model.confirmed:
            asked = coded("model.confirm", what=what, warning=unnamed)
            if self._model.ask(self._said(asked)).strip().casefold() not in YES:
                told = self._refuse(coded("model.unconfirmed", what=what, warning=unnamed), "unconfirmed")
                return replace(told, reading=digest, plan=what)
        self._confirmed = goals
        return self._command(goals, scene)

    def _command(self, goals: tuple[Goal, ...], scene: Scene) -> CommandIntent:
        unread = left_out(scene, self._refused.language, ("entry", "place"))
        note = "; ".join(filter(None, (self._reading(goals, scene), unread)))
        refused = self._refused
        return CommandIntent(goals, refused.language, refused.text, note=note, proposed_by=self._provenance())

    def _reading(self, goals: tuple[Goal, ...], scene: Scene) -> str:
        plain = _plain_names(scene)
        texts = [render(task_text.goal_text(goal, plain), self._refused.language) for goal in goals]
        return one_line(("；" if self._refused.language == "zh" else "; ").join(texts), 10 * LONGEST)

    def _provenance(self) -> Json:
        """The model that proposed it, for the record of every job of the plan."""
        if self.opened is None:
            return {}
        last, calls = self.opened.calls[-1], self.opened.calls
        cost = [call.cost_usd for call in calls]
        return {
            **last.as_json(),
            "calls": len(calls),
            "tokens": sum(call.input_tokens + call.output_tokens for call in calls),
            **({} if None in cost else {"total_usd": round(sum(c for c in cost if c is not None), 6)}),
        }

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        return tuple(self.opened.calls) if self.opened is not None else ()

    @property
    def name(self) -> str:
        return self.opened.name if self.opened is not None else ""

    def _said(self, text: CodedText) -> str:
        return render(text, self._refused.language)

    def _refuse(self, reason: CodedText, kind: str = "unknown") -> RefusedIntent:
        return replace(self._refused, reason=self._said(reason), kind=kind)


def reading_digest(instruction: str, robot: str, goals: Sequence[Goal]) -> str:
    """What a confirmation is bound to: the instruction's words, the robot and every goal with all its values."""
    value = json.dumps([instruction, robot, [repr(goal) for goal in goals]], ensure_ascii=False)
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _plain_answer(text: str) -> str:
    """A person's answer as data, however it came."""
    return one_line(text, ANSWER_MOST)


def _single(reply: ModelReply) -> tuple[str, str]:
    """The one tool that was called, and its only text; ("", "") for anything else."""
    if len(reply.calls) != 1:
        return "", ""
    call = reply.calls[0]
    return call.tool, as_text(call.arguments.get({"ask": "question", "refuse": "reason"}.get(call.tool, ""))).strip()


def _plain_names(scene: Scene) -> Scene:
    """The scene as it may be read back: a name that is no plain name is left out, and the id stands for the thing."""

    def plain(name: str) -> bool:
        return len(name) <= 40 and all(c.isalnum() or c in " _-()'" for c in name)

    return replace(
        scene,
        objects=tuple(t if plain(t.name) else replace(t, name="") for t in scene.objects),
        furniture=tuple(t if plain(t.name) else replace(t, name="") for t in scene.furniture),
    )
