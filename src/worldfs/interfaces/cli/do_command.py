"""`paos do`: an instruction, carried out by the planner, with progress lines."""

from __future__ import annotations

import shlex
import threading
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.messages.message_rendering import error_message, render_finding
from worldfs.base.stop_signal import StopSignal
from worldfs.base.stop_words import is_stop, may_be_about_stopping, stops_others
from worldfs.base.unknown_effect import unknown_effect
from worldfs.formats.config_models import JUDGE
from worldfs.planning.planner import Planner, QuestionIntent, RefusedIntent
from worldfs.planning.planner.addressed import addressed
from worldfs.runtime.grace import CONFIRM_S
from worldfs.runtime.job_codec import finding_value
from worldfs.world.configured_model import configured_model
from worldfs.world.instruction import Instruction
from worldfs.world.instruction_model import PLANNER, planner_model
from worldfs.world.instruction_opinion import InstructionJudge
from worldfs.world.robot_stops import KernelSilent
from worldfs.world.unnamed_question import unnamed_question

from .command_context import CommandContext
from .exits import DONE, INTERRUPTED, MISUSE, REFUSED
from .film_recording import LocalFilmRecording, check_film_options, report_film
from .instruction_kernel import InstructionKernel
from .signals import stop_on
from .silent_kernel import SilentKernelEnd
from .terminal_question import ask_person

if TYPE_CHECKING:
    from collections.abc import Callable

    from worldfs.planning.model_judge import Opinion
    from worldfs.planning.planner import PlanReport
    from worldfs.world.tree_planner_port import TreePlannerPort
    from worldfs.world.world import World


# How the planner's verdict on the instruction becomes an exit code.
EXIT = {
    "reached": DONE,
    "answered": DONE,
    "failed": REFUSED,
    "cancelled": REFUSED,
    "timeout": REFUSED,
    "stopped": REFUSED,
    "not_understood": MISUSE,
    "not_answered": MISUSE,
    "interrupted": INTERRUPTED,
}


def run(context: CommandContext) -> int:
    """Exit 0 only if the goal holds in the world, or a question was answered; every code: `exits`."""
    text = " ".join(context["instruction"]).strip()
    if not text:
        raise BadInput(coded("command.no_instruction"), op="do", expected=coded("command.in_words"))
    context.output.language = lambda: language_of(text)
    if is_stop(text, lambda: _robots(context)):  # before anything that an instruction waits for
        from .stop_command import stop as halt

        return halt(context, stopped_node(context, text, _robots))
    stop = StopSignal()
    why = ["cancelled"]

    def ask() -> None:
        why[0] = "interrupted"
        stop.set()
        context.output.notice(coded("command.stopping"))

    def time_is_up() -> None:
        why[0] = "timeout"
        stop.set()

    with ExitStack() as signals, ExitStack() as stack:
        if context["record"]:
            check_film_options(context)
        if context["timeout"] is not None:
            timer = threading.Timer(context["timeout"], time_is_up)
            timer.daemon = True
            timer.start()
            stack.callback(timer.cancel)
        silence = stack.enter_context(SilentKernelEnd(stop, lambda error: _unknown(context, why[0], error)))
        world = stack.enter_context(context.open())
        node, text = addressed(text, [spec.id for spec in world.specs])
        if node and context["node"] not in (None, node):
            found = coded("command.two_robots", said=node, given=context["node"])
            raise BadInput(found, op="do", expected=coded("command.only_one_robot"), code="USAGE")
        node = node or context["node"]
        if node is None and (answer := unnamed_question(world, text)) is not None:
            return _answered(context, world, answer)
        instruction, refused = _wait_for_robot(context, world, stack, text, stop, node=node)
        if refused:
            verdict = "stopped" if instruction.stopped else why[0] if instruction.understood else "not_understood"
            value = {"event": "result", "verdict": verdict, "goal_holds": False, "message": refused}
            context.output.report(refused, value, "bad")
            return EXIT[verdict]
        kernel = InstructionKernel(context, world, stack, instruction.language)
        motion: list[LocalFilmRecording] = []

        def served() -> None:
            if context["record"]:
                motion.append(stack.enter_context(LocalFilmRecording(context, kernel.world, context["record"])))
            silence.world, silence.job = kernel.world, lambda: instruction.job

        def serve() -> World:
            signals.close()  # while it starts nothing moves, and Ctrl-C ends the command
            kernel.start(stop)
            signals.enter_context(stop_on(ask))
            if not stop.is_set():
                served()
            return kernel.world

        running = kernel.join_running()
        if running:
            served()
        signals.enter_context(stop_on(ask))
        try:
            result, judge = _plan(context, world, text, stop, instruction, serve=None if running else serve)
        except KernelSilent as error:
            return silence.reported(error)
        stopped = instruction.stop_text(wait_s=CONFIRM_S) if instruction.stopped else ""
        unsure = _unsure(world, instruction.job)
        kernel.report_left()
        if not kernel.is_own:  # ours ends with us: the next instruction must not order of it
            instruction.end()  # the robot is free while a model thinks
        opinion = _opinion(context, judge, stop, instruction.language)
    verdict = why[0] if result.verdict == "cancelled" else result.verdict
    if stopped and verdict == "cancelled":
        reason = coded("command.reason_stopped", reason=result.reason, stopped=stopped)
        verdict, result = "stopped", replace(result, reason=render(reason, instruction.language))
    code = EXIT[verdict]
    said = ended_early(verdict, context["timeout"], unsure=bool(unsure))
    if said and unsure:
        said = coded("runtime.may_move", said=said, node=unsure)
    message = render(said or result.reason, instruction.language)
    context.output.report(
        message,
        {
            "event": "result",
            "verdict": verdict,
            "goal_holds": verdict == "reached",
            "message": message,
            "source": result.source,
        },
        "good" if code == DONE else "bad",
    )
    if opinion is not None:
        _show_opinion(context, opinion, instruction.language)
    if reading := getattr(result.intent, "reading", ""):
        named = ["--node", node] if node else []
        again = shlex.join([*shlex.split(context.name), "do", *named, "--confirm", reading, text])
        said = coded("command.to_do_it", command=again)
        context.output.report(said, {"event": "reading", "confirm": reading}, "dim")
    elif verdict in ("not_understood", "not_answered") and (can := getattr(result.intent, "can", ())):
        several = reduce(lambda one, more: coded("command.or_say", one=one, more=more), can[:4])
        context.output.line(coded("command.can_say", one=several), "dim")
    if context["record"]:
        report_film(context, motion[0] if motion else None)
    return code


def _answered(context: CommandContext, world: World, answer: QuestionIntent | RefusedIntent) -> int:
    """The answer of all robots to a question for which none was named."""
    verdict, said = "not_understood", answer.reason if isinstance(answer, RefusedIntent) else answer.answer
    if isinstance(answer, QuestionIntent):
        verdict = "answered" if answer.answered else "not_answered"
    if not world.content("ENVIRONMENT.md"):
        verdict, said = "not_answered", render(coded("command.nothing_measured", name=context.name), answer.language)
    code = EXIT[verdict]
    value = {"event": "result", "verdict": verdict, "goal_holds": False, "message": said}
    context.output.report(said, value, "good" if code == DONE else "bad")
    return code


def _unsure(world: World, id: str) -> str:
    """The robot of a job that has ended without being measured to stand; "" for none."""
    job = world.jobs.load(id) if id else None
    outcome = job.status.outcome if job is not None and job.status.state.terminal else None
    return job.order.node if job is not None and outcome is not None and unknown_effect(outcome) else ""


def stopped_node(context: CommandContext, text: str, robots: Callable[[CommandContext], list[str]]) -> str | None:
    """The only robot that a text which says stop is for; None for every robot: --node never stops fewer than the words
    name."""
    node: str | None = context["node"]
    return None if node is None or stops_others(text, node, lambda: robots(context)) else node


def _robots(context: CommandContext) -> list[str]:
    """None where they cannot be known."""
    try:
        with context.open() as world:
            return world.node_ids()
    except WorldError:
        return []


def _unknown(context: CommandContext, why: str, error: KernelSilent) -> int:
    """The instruction was to end, and nothing is known of the robot."""
    message = error_message(error)
    value = {"event": "result", "verdict": why, "goal_holds": False, "confirmed": False, "message": message}
    context.output.report(message, value, "bad")
    return EXIT[why]


def ended_early(verdict: str, timeout: float | None, *, unsure: bool = False) -> str:
    """The message of an instruction that the user's Ctrl-C or --timeout ended; "" for any other. `unsure`: its last
    job has ended without its driver, or its robot may still move."""
    if verdict == "interrupted":
        return coded("command.interrupted_unsure") if unsure else coded("command.interrupted")
    if verdict != "timeout" or timeout is None:
        return ""
    return coded("command.timed_out_unsure", s=timeout) if unsure else coded("command.timed_out", s=timeout)


def _wait_for_robot(
    context: CommandContext, world: World, stack: ExitStack, text: str, stop: StopSignal, *, node: str | None
) -> tuple[Instruction, str]:
    """Wait for the robot before a kernel is started: a waiting command keeps no robot.

    Returns why the instruction may not go on, "" if it may. Ctrl-C while it waits ends the command.
    """

    try:
        robot = world.planner_port(node).robot_id
    except BadInput as error:
        if may_be_about_stopping(text):
            error.found = coded("command.unread_stop", found=error.found)
            error.fix = coded("command.nothing_stopped", fix=error.fix)
        raise
    model = configured_model(world.config, context.home.path, context.environ, world.clock, PLANNER)
    instruction = Instruction(
        world, robot, text, stop, lambda line: _print_line(context, line), by_model=model is not None
    )
    return stack.enter_context(instruction), instruction.start()


def _print_line(context: CommandContext, line: str) -> None:
    context.output.report(line, {"event": "progress", "message": line})


def _judge(context: CommandContext, world: World, result: PlanReport, port: TreePlannerPort) -> InstructionJudge | None:
    """None where no model is configured to judge, or there is nothing that it would be asked about."""
    model = configured_model(world.config, context.home.path, context.environ, world.clock, JUDGE)
    if model is None:
        return None
    judge = InstructionJudge(world, model)
    judge.note(result, port)
    return judge if judge.noted else None


def _opinion(
    context: CommandContext, judge: InstructionJudge | None, stop: StopSignal, language: str
) -> Opinion | None:
    """A model's, on what was measured as reached; Ctrl-C, --timeout and a stop of the robot end the wait for it."""
    if judge is None:
        return None
    _print_line(context, render(coded("model.judge_asking"), language))
    return judge.ask(stop)


def _show_opinion(context: CommandContext, opinion: Opinion, language: str) -> None:
    for call in opinion.calls:
        context.output.value({"event": "model", "asked": JUDGE, **call.as_json()})
    value = {"event": "opinion", **opinion.as_json()}
    if opinion.finding is None:
        return context.output.value(value)
    message = render(coded("model.warning", said=opinion.finding.found), language)
    finding = finding_value(render_finding(opinion.finding, language))
    context.output.report(message, {**value, "message": message, "finding": finding}, "warn")


def _plan(
    context: CommandContext,
    world: World,
    text: str,
    stop: StopSignal,
    instruction: Instruction,
    *,
    serve: Callable[[], World] | None,
) -> tuple[PlanReport, InstructionJudge | None]:
    """The only call of the planner. What is ambiguous is asked at the terminal, and said again there. `serve`: called
    before the first order; None: a kernel runs."""
    ask, home = ask_person(context, stop), context.home.path
    confirmed = context["confirm"] or ""
    model = planner_model(world.config, home, context.environ, world.clock, ask=ask, confirmed=confirmed)
    port = world.planner_port(
        instruction.robot, lambda line: _print_line(context, line), instruction, orderer=context.actor_name
    )
    while True:
        result = Planner(port, model, serve=None if serve is None else lambda: port.use(serve())).run(text, stop)
        for call in result.model_calls:
            context.output.value({"event": "model", **call.as_json()})
        unclear = isinstance(result.intent, RefusedIntent) and result.intent.kind == "ambiguous"
        if not unclear or result.model_calls:  # a model has asked its questions already
            if serve is not None and isinstance(result.intent, QuestionIntent) and not world.content("ENVIRONMENT.md"):
                said = coded("command.nothing_measured", name=context.name)
                result = replace(result, ok=False, reason=render(said, instruction.language))
            return result, _judge(context, port.world, result, port)
        text = ask(result.reason)
        if is_stop(text, world.node_ids):  # a stop is no answer to any question
            from .stop_command import stop as halt

            halt(context, stopped_node(context, text, _robots))
            return result, None
        if not text:
            return result, None
