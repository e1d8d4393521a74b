"""Executes one command: reads the scene before each action, and judges the goals in the world at the end."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from worldfs.base import pushing
from worldfs.base.already_so import was_already_so
from worldfs.base.errors import NotFound, WorldError
from worldfs.base.json_values import as_float, as_objects
from worldfs.base.messages import CodedText, coded, render
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, JobState, JobStatus, Json, Order, Outcome, Scene
from worldfs.base.moved_others import MOVED_OTHERS
from worldfs.base.stop_signal import StopSignal
from worldfs.base.unknown_effect import bars_repeat

from . import failure_reasons, plan_sentences, planned_actions, task_text, thing_names
from .goal_stages import lasting_goals, ordered_stages, stages
from .goals import POSE_GOALS, Goal, HoldingGoal, InGoal, held_by, holds, subject
from .intent import CommandIntent
from .plan import Plan, build_plan
from .plan_constraints import PlanConstraints
from .plan_progress import goal_keys, progress_of
from .plan_report import GoalResult, PlanReport, SubmittedOrder
from .planned_actions import PlannedAction, serves
from .planner_port import PlannerPort
from .scene_facts import ThingLocation, final_support, layout, sanitized_scene, seen_by, settled
from .scene_sentences import facts
from .setbacks import Setbacks
from .task_progress import TaskProgress

SPARE = 8  # actions beyond three for each goal and twice the first plan, before the command is aborted


class PlanExecutor:
    """The execution of one command."""

    def __init__(self, port: PlannerPort, command: CommandIntent, stop: StopSignal) -> None:
        self.port, self.command, self.stop = port, command, stop
        self.robot, self.language = port.robot_id, port.language()
        self.groups = stages(command.goals, command.later)
        self.ordered = ordered_stages(command.goals, command.later)
        self.missed: Goal | None = None  # a goal of this stage failed, and the next was said to come after it
        self.progress = TaskProgress(" ".join(command.text.split()), self.language, self.robot, [], [])
        self.jobs: list[SubmittedOrder] = []
        self.setbacks = Setbacks(command.protected)
        self.codes: list[str] = []
        self.handled: list[str] = []  # things that orders may have moved
        self.failures: dict[str, str] = {}  # thing or pose → what its last order failed of, after it had begun
        self.unasked: dict[str, float] = {}  # things that orders moved beside their own, and how far (m)
        self.heeded_lessons: list[str] = []
        before = port.earlier_progress()
        reached = {where for where, key in goal_keys(self.groups).items() if key in before.reached}
        self.witnessed: set[tuple[int, Goal]] = reached  # (stage, goal) that held once its turn had come
        self.so_already: set[tuple[int, Goal]] = set()  # (stage, goal) that the robot measured to hold, unlike the page
        self.predicted: dict[str, ThingLocation] | None = None
        self.stage, self.replans, self.changed = min(before.stage, len(self.groups) - 1), 0, False

    def message(self, text: str) -> str:
        """The text in the language of the instruction; TASK.md is in that of the workspace."""
        return render(text, self.command.language)

    def _tell(self, step: str, said: str) -> None:
        self.port.progress(self.message(coded("planner.step_said", step=step, said=said)))

    def reason(self, why: str) -> str:
        return plan_sentences.reason_text(why, self.command.language)

    # -- the loop -------------------------------------------------------------------------------------------------

    def begins(self, scene: Scene) -> bool:
        """Whether `run` would give an order."""
        if all(holds(goal, scene, self.robot) for goal in self.command.goals):
            return False
        plan = self._plan(scene)
        return bool(plan.actions) and not plan.unmet

    def run(self, scene: Scene) -> PlanReport:
        goals = self.command.goals
        if self.command.note:
            self.port.progress(self.message(coded("planner.note", what=self.command.note)))
        if all(holds(g, scene, self.robot) for g in goals):
            judged = self._judge(scene, {})
            command = self.command
            said = plan_sentences.nothing_to_do(goals, scene, command.language, command.protected, command.emptied)
            return self._report(True, said, judged)
        plan = self._plan(scene)
        if plan.unmet:
            return self._infeasible(plan, scene)
        budget = SPARE + 3 * len(goals) + 2 * len(plan.actions)
        if plan.actions:
            self.progress.plan(plan.actions, scene)
            self._write()
        reason = ""
        try:
            refused = self._approval(plan, scene)
            if refused:
                return self._finish(refused, plan)
            while True:
                if self.stop.is_set():
                    return self._cancelled()
                scene, plan = self._replan(plan)
                if not plan.actions:
                    break
                if len(self.jobs) >= budget + 4 * sum(map(len, self.setbacks.dig.values())):
                    reason = self.message(coded("planner.limit", n=len(self.jobs)))
                    break
                verdict = self._act(plan.actions[0], scene)
                if verdict == "cancelled":
                    return self._cancelled()
                if verdict:
                    reason = verdict
                    break
        except KeyboardInterrupt:
            return self._cancelled()
        except BaseException as error:
            self._abort(error)
            raise
        return self._finish(reason, plan)

    def _plan(self, scene: Scene) -> Plan:
        limits = replace(self._limits(), spots=self.setbacks.bad_spots, late=tuple(self.setbacks.late))
        count = len(self.groups) if self.missed is None else self.stage + 1
        groups = [self._left(number) for number in range(count)]
        return build_plan(
            groups, scene, profile=self.port.profile(), robot_id=self.robot, limits=limits, first=self.stage
        )

    def _limits(self) -> PlanConstraints:
        return PlanConstraints(
            self.command.protected, self.setbacks.abandoned, dig=self.setbacks.dig, profile_of=self.port.profile
        )

    def _left(self, stage: int) -> tuple[Goal, ...]:
        """The goals of a stage that the page must show: not the poses that were taken, nor what holds already."""
        group = self.groups[stage]
        done = {g for n, g in self.witnessed if n == stage and isinstance(g, POSE_GOALS)}
        return tuple(g for g in group if g not in done and (stage, g) not in self.so_already)

    def _replan(self, before: Plan) -> tuple[Scene, Plan]:
        """The current scene and its plan: the rest of the old one while the world changes as expected."""
        scene = sanitized_scene(self.port.scene())
        where = settled(layout(scene))
        if self.predicted is not None and where != self.predicted:
            self.changed = True
        self._record_reached(scene)
        plan = self._plan(scene)
        if [a.sign for a in plan.actions] != [a.sign for a in self.progress.pending]:
            if self.progress.rows:
                self.replans += 1
            self.progress.plan(plan.actions, scene)
            self._write()
        self.predicted = where
        return scene, plan

    def _record_reached(self, scene: Scene) -> None:
        """Record goals that hold now; a stage ends when nothing of it is left to plan. "First A, then B" ends with A
        where A was not reached."""
        self._see(scene)
        limits = self._limits()
        while self.stage < len(self.groups) - 1 and self.missed is None:
            left = [self._left(self.stage)]
            if build_plan(left, scene, profile=self.port.profile(), robot_id=self.robot, limits=limits).actions:
                return
            self.missed = self._first_missed() if self.stage + 1 in self.ordered else None
            if self.missed is not None:
                self.progress.close(self._not_begun(scene))
                self._write()
                return
            self.stage += 1
            self._see(scene)

    def _not_begun(self, scene: Scene) -> CodedText:
        assert self.missed is not None
        return coded("planner.not_begun", what=task_text.goal_text(self.missed, scene))

    def _first_missed(self) -> Goal | None:
        """Of the stages until now, a goal that did not hold when its turn had come."""
        reached = [(n, goal) for n, group in enumerate(self.groups[: self.stage + 1]) for goal in group]
        return next((goal for n, goal in reached if (n, goal) not in self.witnessed), None)

    def _see(self, scene: Scene) -> None:
        group, places = self.groups[self.stage], layout(scene)
        self.witnessed |= {(self.stage, g) for g in group if holds(g, scene, self.robot, places)}

    def _approval(self, plan: Plan, scene: Scene) -> str:
        """Why the plan may not begin, "" if it may, or if it was stopped while it waited."""
        every = [one for action in plan.actions for one in (*planned_actions.companion(action), action)]
        orders = [self._order(action) for action in every]
        steps = [self.message(task_text.step_text(action, scene)) for action in every]
        return self.port.approve(orders, steps, self.stop)

    def _act(self, action: PlannedAction, scene: Scene) -> str:
        """Carry out one order. "" to go on, "cancelled", or the reason to stop."""
        text = task_text.step_text(action, scene)
        order = self._order(action)
        note = self.port.avoid(order)
        if note is not None:
            why: str = coded("planner.lesson", why=failure_reasons.note_reason(note))
            self.heeded_lessons.append(note.title)
            self.progress.mark("skipped", coded("planner.lesson", why=note.title))
            self._write()
            self._tell(text, why)
            return self._failed(action, why, certain=True)
        if self.stop.is_set():
            return "cancelled"  # a stop was requested while planning: nothing more is started
        self.progress.mark("running")
        self._write()
        self.port.progress(f"{self.message(text)} …")
        # noted before it is submitted: a Ctrl-C in between must still find the job to cancel
        self.jobs.append(SubmittedOrder(order.id, order, None))
        self.port.note_progress(progress_of(self.groups, self.stage, self.witnessed, action))
        together: list[str] = []
        try:
            for one in planned_actions.companion(action):
                together.append(self.port.submit(self._order(one, f"{order.id}b")))
            job = self.port.submit(order)
            status = self._await(job)
        except BaseException:  # its partner would wait for a robot that does not come
            self._drop(together)
            raise
        ends = [status]
        for other in together:  # its end is awaited, too: what one has given, the other may have dropped
            there = self._await(other) if status.state is JobState.SUCCEEDED else self._called_off(other)
            ends.append(there)
            status = there if status.state is JobState.SUCCEEDED else status
        self.jobs[-1] = SubmittedOrder(job, order, status)
        outcome = status.outcome or Outcome(status.state is JobState.SUCCEEDED)
        if action.object and action.op != planned_actions.LOOK and outcome.cause is not Cause.REJECTED:
            self.handled.append(action.object)
        goals = {(action.stage, g) for g in self.groups[action.stage] if subject(g) == action.object}
        if was_already_so(outcome):
            self.so_already |= goals
            self.witnessed |= goals
            self.progress.mark("skipped", coded("planner.so_already"))
            self._write()
            self._tell(text, coded("planner.so_already"))
            return ""
        self.so_already = {(n, g) for n, g in self.so_already if subject(g) != action.object}
        languages = self.language, self.command.language
        result, shown = (task_text.result_text(action, outcome, scene, language) for language in languages)
        why = failure_reasons.short_reason(outcome, scene, action.object)
        fresh = sanitized_scene(self.port.scene())
        moved = self._moved_unasked([end.outcome for end in ends if end.outcome is not None], scene, fresh)
        more, knocked = self._unasked_text(moved, fresh), bool(moved) and action.op == planned_actions.PLACE
        only_moved = bool(moved) and outcome.code == MOVED_OTHERS
        if only_moved:  # its own words name the same things, by id
            why, result, shown = more, *(f"{render(more, one)} [{MOVED_OTHERS}]" for one in languages)
        elif moved:
            result = render(coded("robot.and_also", said=result, more=more), self.language)
            shown = self.message(coded("robot.and_also", said=shown or coded("planner.done"), more=more))
        vain = _pushed_in_vain(action, scene, fresh)
        if status.state is JobState.SUCCEEDED:
            if self._scene_shows(action, fresh) and not vain:
                self.progress.mark("done", result)
                self._write()
                self._tell(text, shown or coded("planner.done"))
                self._expect(action)
                self.failures.pop(self._key(action), None)
                self.setbacks.refused.clear()
                self._check_place(action, fresh)
                return self.message(more) if knocked else ""
            result = why = coded("planner.unseen")
            shown = self.message(why)
        if outcome.cause is not Cause.REJECTED and action.op != planned_actions.LOOK and not only_moved:
            self.failures[self._key(action)] = coded("planner.step_said", step=text, said=why)
        self.progress.mark("failed", result)
        self._write()
        blocked = (
            action.op == planned_actions.PICK and outcome.cause is Cause.REJECTED and failure_reasons.collides(outcome)
        )
        self._tell(text, shown)
        if outcome.cause is Cause.CANCELLED:
            return "cancelled" if self.stop.is_set() else self.message(coded("planner.by_other"))
        if outcome.code in ("APPROVAL_REFUSED", "APPROVAL_EXPIRED"):
            return why
        if bars_repeat(outcome):
            return self.reason(why)
        if outcome.cause is Cause.REJECTED:
            self._record_lesson(order)
        code = failure_reasons.code(outcome)
        if code and code != self.reason(why):
            self.codes.append(code)
        if knocked:
            return self.message(more)
        if blocked:
            self._postpone(action, why, outcome, scene)
            return ""
        return self._failed(action, why, certain=vain or outcome.cause is Cause.REJECTED)

    def _moved_unasked(self, outcomes: Sequence[Outcome], before: Scene, after: Scene) -> dict[str, float]:
        """What an order moved beside its own thing, and how far (m). What lies in one box may shift there."""
        was, now = settled(layout(before)), settled(layout(after))
        moved = {
            id: as_float(line.get("moved_m"))
            for outcome in outcomes
            for line in as_objects(outcome.evidence.get("also_moved"))
            if (id := str(line.get("id"))) in now and not (now[id].relation == "in" and was.get(id) == now[id])
        }
        self.unasked |= {id: max(metres, self.unasked.get(id, 0.0)) for id, metres in moved.items()}
        return moved

    def _unasked_text(self, moved: Mapping[str, float], scene: Scene) -> CodedText | str:
        named = [
            coded("robot.moved_by", id=thing_names.named(id, scene), mm=1000 * metres) for id, metres in moved.items()
        ]
        return coded("robot.also_moved", moved=named) if named else ""

    def _check_place(self, action: PlannedAction, scene: Scene) -> None:
        """Whether a thing brought where it was wanted serves its goal."""
        goal = next((g for g in self.groups[action.stage] if subject(g) == action.object), None)
        if action.op != planned_actions.PLACE or not action.final or goal is None or isinstance(goal, HoldingGoal):
            return
        if not holds(goal, scene, self.robot):
            self.setbacks.placed_in_vain(action, goal)

    def _postpone(self, action: PlannedAction, why: str, outcome: Outcome, scene: Scene) -> None:
        """An obstacle blocks a grasp: other things first, then retry; at last the obstacle is moved."""
        self.predicted = None
        if self.setbacks.postpone(action.object):
            others = self.setbacks.dig_out(action.object, outcome, scene)
            kept_by = failure_reasons.riders(outcome) or failure_reasons.robots_in_the_way(outcome)
            if others:
                self._announce_dig(action.object, others, scene)
            elif not kept_by and self._may_nudge(action.object):
                self._nudge(action, scene)
            else:
                self.setbacks.give_up(action.object, why)

    def _may_nudge(self, id: str) -> bool:
        profile = self.port.profile()
        listed = profile is not None and profile.op(planned_actions.NUDGE) is not None
        return listed and id not in self.setbacks.nudged and not self.stop.is_set()

    def _nudge(self, action: PlannedAction, scene: Scene) -> None:
        """A neighbour, or the thing itself, is pushed a little: once a thing; then it is tried again."""
        id = action.object
        self.setbacks.nudged.add(id)
        self.port.progress(self.message(coded("planner.walled_in", name=thing_names.named(id, scene))))
        leave = {*self.command.protected, *self.setbacks.abandoned, *self._in_place(scene)} - {id}
        nudge = planned_actions.nudge_action(id, leave, action.stage)
        self.progress.plan((nudge, *self.progress.pending), scene)
        self._act(nudge, scene)

    def _in_place(self, scene: Scene) -> set[str]:
        """Things that are where this instruction wants them."""
        goals = [g for group in self.groups for g in group if subject(g)]
        return {subject(g) for g in goals if holds(g, scene, self.robot)}

    def _announce_dig(self, id: str, others: tuple[str, ...], scene: Scene) -> None:
        """Say which neighbours are lifted out first; those of no goal go back into their container at the end."""
        goals = [g for group in self.groups for g in group]
        orphans = [o for o in others if o not in {subject(g) for g in goals}]
        back = not any(isinstance(g, (*POSE_GOALS, HoldingGoal)) for g in goals)
        then = "planner.back" if back else "planner.left"
        if orphans and back:
            self.groups.append(tuple(InGoal(o, final_support(layout(scene), id).of) for o in orphans))
        names = [
            coded("planner.lifted_out", name=thing_names.named(o, scene), after=coded(then) if o in orphans else "")
            for o in others
        ]
        self.port.progress(self.message(coded("planner.dig", name=thing_names.named(id, scene), others=names)))

    def _record_lesson(self, order: Order) -> None:
        """Record the lesson of a refusal by the critic."""
        about = [str(v) for v in order.params.values() if isinstance(v, str)]
        for note in self.port.lessons():
            words = note.action.split()
            if words[:1] == [order.op] and any(word in about for word in words[1:]):
                self.heeded_lessons.append(note.title)
                return

    def _await(self, job: str) -> JobStatus:
        """The job's terminal status; on a stop, the job is cancelled first and its end still awaited."""
        try:
            status = self.port.wait(job, self.stop)
        except KeyboardInterrupt:
            self.stop.set()
            status = JobStatus()
        if not status.state.terminal:
            self.port.cancel(job)
            status = self.port.wait(job, StopSignal())
        return status

    def _called_off(self, job: str) -> JobStatus:
        """The order of a robot whose partner has failed."""
        self.port.cancel(job)
        return self.port.wait(job, StopSignal())

    def _drop(self, jobs: Sequence[str]) -> None:
        for job in jobs:
            with contextlib.suppress(WorldError, OSError):  # the first error is the one that counts
                self.port.cancel(job)

    def _order(self, action: PlannedAction, id: str = "") -> Order:
        now = self.port.now()
        id = id or f"act_{now:%Y%m%d_%H%M%S}_{now.microsecond // 1000:03d}_{len(self.jobs) + 1:02d}"
        params = planned_actions.profile_parameters(action, self.port.profile())
        extra: Json = {"proposed_by": self.command.proposed_by} if self.command.proposed_by else {}
        return Order(id, action.node or self.robot, action.op, params, asker="planner", extra=extra)

    def _scene_shows(self, action: PlannedAction, scene: Scene) -> bool:
        """Whether the scene shows the action's effect. Poses of the robot need not be in it."""
        if action.op == planned_actions.PICK:
            return held_by(scene, self.robot) == action.object
        if action.op == planned_actions.PLACE:
            return held_by(scene, self.robot) != action.object
        group = self.groups[action.stage]
        self.witnessed |= {(action.stage, g) for g in group if isinstance(g, POSE_GOALS) and serves(action, g)}
        return True

    def _expect(self, action: PlannedAction) -> None:
        if self.predicted is not None and action.to.relation and action.object in self.predicted:
            self.predicted = settled({**self.predicted, action.object: action.to})

    def _failed(self, action: PlannedAction, why: str, certain: bool) -> str:
        """The reason to stop after a failure, "" to go on. `certain`: the same order would be refused again."""
        if self.setbacks.failed(action, self._key(action), why, certain=certain):
            return self.reason(self.setbacks.abandoned.get(self._key(action), why))
        self.predicted = None
        return ""

    def _key(self, action: PlannedAction) -> str:
        """The thing or the pose that an action is about."""
        if action.object and action.op not in (planned_actions.LOOK, planned_actions.MOVE, planned_actions.STRATEGY):
            return action.object
        return next((str(g) for g in self.groups[action.stage] if serves(action, g)), action.op)

    def _infeasible(self, plan: Plan, scene: Scene) -> PlanReport:
        """Not all goals are possible: nothing is started, and each impossible goal is named with its reason."""
        judged = self._judge(scene, dict(plan.unmet))
        told = self._refused(plan, scene)
        return self._report(False, plan_sentences.infeasible(plan.unmet, told, scene, self.command.language), judged)

    def _refused(self, plan: Plan, scene: Scene) -> list[str]:
        """Steps that the critic would refuse: named with their lesson, which is written if missing."""
        told = []
        self.progress.plan([action for action, _ in plan.refused], scene)
        for action, then in plan.refused:
            order = self._order(action)
            note = self.port.avoid(order)
            if note is None:
                self.port.learn(order, then)
            else:
                self.heeded_lessons.append(note.title)
                told.append(
                    self.message(coded("planner.lesson", why=f"{failure_reasons.note_reason(note)} ({note.title})"))
                )
            self.progress.mark("skipped", note.title if note is not None else "")
        if plan.refused:
            self._write()
        return list(dict.fromkeys(told))

    # -- endings --------------------------------------------------------------------------------------------------

    def _finish(self, reason: str, plan: Plan) -> PlanReport:
        scene = sanitized_scene(self.port.scene())
        why = dict(plan.unmet)
        judged = self._judge(scene, why)
        reached = all(j.held for j in judged)
        if not reached:
            language, lessons = self.command.language, self.heeded_lessons
            unmet, codes = plan.unmet, self.codes
            reason = plan_sentences.left_undone(judged, reason, unmet, lessons=lessons, codes=codes, language=language)
            if self.handled:
                moved = [subject(j.goal) for j in judged if not j.held] + self.handled
                where = facts([id for id in dict.fromkeys(moved) if id], seen_by(scene, self.robot), language)
                reason += self.message(coded("planner.now_where", facts=where)) if where else ""
        self.progress.close(coded("planner.dropped"))
        if self.progress.rows:
            self._write()
        failures = [self.reason(said) for said in self.failures.values()]
        if self.unasked:
            failures.append(self.message(self._unasked_text(self.unasked, scene)))
        if reached and failures:  # what was moved unasked, or was left by a failed order, is no success
            said = self.message(coded("planner.done_badly", what="; ".join(failures)))
            return self._report(False, plan_sentences.with_codes(said, self.codes), judged)
        if reached:
            goals, language = self.command.goals, self.command.language
            vain = self.jobs and all(job.status is not None and _asked_in_vain(job.status) for job in self.jobs)
            reason = (plan_sentences.nothing_to_do if vain else plan_sentences.done)(goals, scene, language)
        return self._report(reached, self._with_unasked(reason, scene), judged)

    def _with_unasked(self, said: str, scene: Scene) -> str:
        """The end of an instruction names what its orders moved beside their own things."""
        more = self.message(self._unasked_text(self.unasked, scene))
        return said if more in said else self.message(coded("robot.and_also", said=said, more=more))

    def _judge(self, scene: Scene, why: dict[Goal, str]) -> tuple[GoalResult, ...]:
        """Goals that must last are judged by the fresh scene, poses that the page cannot show by their jobs."""
        found, given_up = [], self.setbacks.abandoned
        staged = [(number, goal) for number, group in enumerate(self.groups) for goal in group]
        lasting = lasting_goals([goal for _, goal in staged], [number for number, _ in staged])
        for (stage, goal), lasts in zip(staged, lasting, strict=True):
            seen = (stage, goal) in self.witnessed
            held = (
                holds(goal, scene, self.robot)
                or (stage, goal) in self.so_already
                or (seen and (not lasts or isinstance(goal, POSE_GOALS)))
            )
            text = self.message(task_text.goal_text(goal, scene))
            thing = str(getattr(goal, "object", ""))
            reason = "" if held else why.get(goal) or given_up.get(thing) or given_up.get(str(goal), "")
            if not held and self.missed is not None and stage > self.stage:
                reason = self._not_begun(scene)
            found.append(GoalResult(goal, held, text, self.reason(reason)))
        return tuple(found)

    def _cancelled(self) -> PlanReport:
        if self.jobs and self.jobs[-1].status is None:
            last = self.jobs.pop()
            with contextlib.suppress(NotFound):  # interrupted before it was accepted
                self.port.cancel(last.job)
                self.jobs.append(replace(last, status=self.port.wait(last.job, StopSignal())))
        self.progress.close(coded("planner.cancelled"))
        if self.progress.rows:
            self._write()
        scene = sanitized_scene(self.port.scene())
        said = self._with_unasked(self.message(coded("planner.cancelled")), scene)
        return replace(self._report(False, said, self._judge(scene, {})), cancelled=True)

    def _abort(self, error: BaseException) -> None:
        """After an error of the system: leave a correct TASK.md and no running job, as far as possible."""
        why = error_message(error) if isinstance(error, WorldError) else str(error) or type(error).__name__
        self.progress.mark("failed", coded("planner.broken", why=why))
        self.progress.close(coded("planner.dropped"))
        running = self.jobs and (self.jobs[-1].status is None or not self.jobs[-1].status.state.terminal)
        with contextlib.suppress(WorldError, OSError):  # the first error is the one that counts
            if running:
                self.port.cancel(self.jobs[-1].job)
        with contextlib.suppress(WorldError, OSError):
            self._write()

    def _write(self) -> None:
        self.port.write_task(self.progress.task())

    def _report(self, ok: bool, reason: str, judged: tuple[GoalResult, ...]) -> PlanReport:
        return PlanReport(
            ok,
            reason,
            self.command,
            judged,
            tuple(self.progress.rows),
            tuple(self.jobs),
            self.replans,
            self.changed,
            note=self.command.note,
            lessons=tuple(dict.fromkeys(self.heeded_lessons)),
        )


def _asked_in_vain(status: JobStatus) -> bool:
    return status.outcome is not None and was_already_so(status.outcome)


def _pushed_in_vain(action: PlannedAction, before: Scene, after: Scene) -> bool:
    """Whether a push left its thing where it was: the same push would do so again."""
    was, now = before.thing(action.object), after.thing(action.object)
    if action.op != planned_actions.PUSH or was is None or now is None or not was.position or not now.position:
        return False
    return math.dist(was.position, now.position) < pushing.tolerance(as_float(action.params.get("distance"))) / 2
