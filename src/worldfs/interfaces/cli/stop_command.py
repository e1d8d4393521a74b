"""`paos stop` and `paos resume`: every robot, or one, on this machine or over --connect; whether or not a kernel
runs."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, NotFound, NotPermitted, UserError, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.runtime.grace import CONFIRM_S, LOOK_S, TOLD_S
from worldfs.runtime.stop_call import SOCKETS, StopCall
from worldfs.runtime.stop_report import RobotStop, StopReport, hang_field, read_stop_file
from worldfs.storage.lease import KERNEL_LEASE

from .command_context import CommandContext
from .exits import DONE, REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from worldfs.client.blocking import BlockingWorld as FarWorld
    from worldfs.world.world import World


STORE_S: Final = 2 * CONFIRM_S  # how long a stop that drivers have heard waits for the store and for other hosts


def run(context: CommandContext) -> int:
    """Exit 1 if a robot has not confirmed that it stands. Of several robots each is told before one is waited for."""
    named = _named(context)
    if len(named) < 2:
        return stop(context, named[0] if named else None)
    codes: list[int] = []
    unknown: NotFound | None = None
    with StopCall(_roots(context), SystemClock(), named, context.actor_name):
        for node in named:
            try:
                codes.append(stop(context, node))
            except NotFound as error:
                unknown = unknown or error
    if unknown is not None:
        raise unknown
    return max(codes)


def stop(context: CommandContext, node: str | None) -> int:
    """Stop first: before any file of the home is opened. Raises `NotFound` for an unknown robot."""
    with StopCall(_roots(context), SystemClock(), None if node is None else [node], context.actor_name) as call:
        report = _answered(call, node)
        shown: tuple[RobotStop, ...] = ()
        if report is None and call.told:  # before a store that may not answer
            shown = _robots(call)
            _show(context, shown)
        if report is None:
            opened: list[World] = []

            def store() -> StopReport:
                with context.open() as world:
                    opened.append(world)
                    return world.stop(node, context.actor, name=context.actor_name, confirm_s=CONFIRM_S, sent=call)

            try:
                report = _within(STORE_S, store) if call.told else store()
            except WorldError as error:
                if opened and isinstance(error, NotFound):
                    raise
                why = error_message(error)
                if not call.told:
                    return undelivered(context, why)
                report = StopReport((*_robots(call), *_untold(context, call, node, why)), why)
    return _told(context, node, report, shown)


def _within(seconds: float, work: Callable[[], StopReport]) -> StopReport:
    """What `work` returns or raises; a store that does not answer in time holds up no report."""
    found: queue.SimpleQueue[StopReport | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            found.put(work())
        except Exception as error:
            found.put(error)

    threading.Thread(target=run, name="stop store", daemon=True).start()
    try:
        end = found.get(timeout=seconds)
    except queue.Empty:
        raise WorldError(coded("stop.store_silent", s=seconds), op="stop") from None
    if isinstance(end, Exception):
        raise end
    return end


def _untold(context: CommandContext, call: StopCall, node: str | None, why: str) -> list[RobotStop]:
    """The robots that config.json names, and of which no kernel of this machine has said anything: what other processes
    serve is not known while the home cannot be read."""
    with suppress(WorldError):
        heard = {robot.node for robot in _robots(call)}
        named = [item.robot_id for item in context.config.instances if node in (None, item.robot_id)]
        return [RobotStop(id, False, why, told=False) for id in named if id not in heard]
    return []


def _roots(context: CommandContext) -> list[Path]:
    """Where kernels of the home may be. While config.json cannot be read, every workspace of the home is asked."""
    try:
        return [context.workspace]
    except WorldError:
        home = context.home.path
        return [place.parents[1] for depth in ("*", "*/*") for place in home.glob(f"{depth}/{SOCKETS}")]


def _answered(call: StopCall, node: str | None) -> StopReport | None:
    """What the kernels of this machine say, if no other process need be asked."""
    if not call.wait_told(TOLD_S):
        return None
    if not call.wait(CONFIRM_S) or any(report.others for report in call.reports()):
        return None
    robots = _robots(call)
    if node is not None and node not in (robot.node for robot in robots):
        return None
    if any(report.unstored for report in call.reports()):
        return None  # this process may be able to store it
    return StopReport(robots)


def _robots(call: StopCall) -> tuple[RobotStop, ...]:
    return tuple(robot for report in call.reports() for robot in report.robots)


def _show(context: CommandContext, robots: Iterable[RobotStop]) -> None:
    for robot in robots:
        context.output.report(robot.text, robot.as_json(), robot.mood)


def _told(context: CommandContext, node: str | None, report: StopReport, shown: Collection[RobotStop] = ()) -> int:
    _show(context, (robot for robot in report.robots if robot not in shown))
    if not report.robots:
        context.output.report(coded("command.stopped_none"), {"stopped": True, "nodes": []}, "warn")
    if report.unstored:
        said = coded("stop.not_stored", why=report.unstored)
        context.output.report(said, {"stopped": True, "stored": False, "why": report.unstored}, "bad")
    _next(context, node)
    return DONE if report.confirmed and not report.unstored else REFUSED


def undelivered(context: CommandContext, why: str) -> int:
    value = {"stopped": False, "delivered": False, "confirmed": False, "why": why}
    context.output.report(coded("stop.not_delivered", why=why), value, "bad")
    return REFUSED


def resume(context: CommandContext) -> int:
    named = _named(context)
    with context.open() as world:
        if not named and not context["all"] and len(world.node_ids()) > 1:
            raise _which(world.node_ids())
        nodes = named or world.node_ids()
        before = {id: world.stops.state(id).stopped for id in nodes}
        refusal: NotPermitted | None = None
        for node in named or (None,):
            try:
                world.resume(node, context.actor, name=context.actor_name)
            except NotPermitted as error:
                refusal = refusal or error
        _resumed(context, {id: was for id, was in before.items() if not world.stops.state(id).stopped})
        _warn_of_hanging(context, world, nodes)
        _warn_of_silence(context, world)
        if refusal is not None:
            raise refusal
    return 0


def _warn_of_hanging(context: CommandContext, world: World, nodes: list[str]) -> None:
    """Of the robots whose driver's stop has not returned: they are free to move, and may hear no further stop."""
    from worldfs.world.computed_files import current_alerts

    alerts = current_alerts(world.store, world.language())
    for alert in (alerts[hang_field(node)] for node in nodes if hang_field(node) in alerts):
        value = {name: alert[name] for name in ("code", "found", "fix")}
        context.output.report(f"{alert['found']}. {alert['fix']}", value, "bad")


def remote_stop(context: CommandContext) -> int:
    return far_stop(context, *_named(context))


def _warn_of_silence(context: CommandContext, world: World) -> None:
    """They are free to move, and whether they do is not known."""
    if not world.robot_stops.kernel_answers():
        said = coded("stop.kernel_unknown", pid=(world.store.lease(KERNEL_LEASE).holder() or {}).get("pid", "?"))
        context.output.report(said, {"code": "KERNEL_SILENT", "found": said}, "bad")


def far_stop(context: CommandContext, *named: str) -> int:
    """Exit 1 where a robot has not confirmed that it stands, or the server cannot be reached. Without a name: all."""
    from .server_tree import open_connection

    robots: list[RobotStop] = []
    unknown: NotFound | None = None
    try:
        with open_connection(context, timeout=CONFIRM_S) as world:
            nodes: list[str] = []
            for name in named or (None,):
                try:
                    nodes += _there(world, name, "stop")
                except NotFound as error:
                    unknown = unknown or error
            failed = {id: why for id in nodes if (why := _write_stop(world, id))}
            end = SystemClock().monotonic() + CONFIRM_S
            for id in nodes:
                robots.append(
                    RobotStop(id, False, failed[id], told=False) if id in failed else _far_state(world, id, end)
                )
    except UserError:
        raise  # the caller can mend it: a wrong token, an unknown robot
    except (WorldError, TimeoutError) as error:
        if not robots:
            return undelivered(context, error_message(error) if isinstance(error, WorldError) else str(error))
    code = (
        _told(context, named[0] if len(named) == 1 else None, StopReport(tuple(robots))) if robots or not named else 0
    )
    if unknown is not None:
        raise unknown
    return code


def _write_stop(world: FarWorld, node: str) -> str:
    """Why it could not be delivered; one robot's failure keeps no other from being stopped."""
    try:
        world.write(f"/nodes/{node}/stop", b"stop\n")
    except WorldError as error:
        return error_message(error)
    return ""


def _far_state(world: FarWorld, node: str, end: float) -> RobotStop:
    """What the server knows of a robot once its driver has confirmed that it stands, or the time is up."""
    while True:
        try:
            found = read_stop_file(node, world.read(f"/nodes/{node}/stop", wait=0))
        except WorldError as error:
            return RobotStop(node, False, error_message(error))
        left = end - SystemClock().monotonic()
        if found.confirmed or left <= 0:
            return found
        SystemClock().wait(threading.Event(), min(LOOK_S, left))


def remote_resume(context: CommandContext) -> int:
    from .server_tree import open_connection

    with open_connection(context) as world:
        named = _named(context)
        nodes = [id for name in named or (None,) for id in _there(world, name, "resume")]
        if not named and not context["all"] and len(nodes) > 1:
            raise _which(nodes)
        stopped = {id: as_object(parse_json(world.read(f"/nodes/{id}/resume"))).get("stopped") is True for id in nodes}
        for id in nodes:
            world.write(f"/nodes/{id}/resume", b"resume\n")
    _resumed(context, stopped)
    return 0


def _named(context: CommandContext) -> list[str]:
    """Each robot once, with --node or without; none: all of them."""
    named = list(dict.fromkeys((*context["node"], *context["robot"])))
    if named and context["all"]:
        expected = coded("command.one_of_both")
        raise BadInput(coded("command.node_and_all"), op=str(context["command"]), expected=expected, code="USAGE")
    return named


def _there(world: FarWorld, node: str | None, op: str) -> list[str]:
    """The robots of a served world that are visible to the caller."""
    ids = [id for id in (node,) if id is not None and world.exists(f"/nodes/{id}/{op}")]
    if ids:
        return ids
    ids = [id for id in world.list("/nodes") if world.exists(f"/nodes/{id}/{op}")]
    if node is None:
        return ids

    likely = "".join(get_close_matches(node, ids, 1))
    fix = coded("world.did_you_mean", likely=likely) if likely else coded("world.name_or_all", op=op)
    known = coded("common.one_of", names=ids or coded("command.no_robot_here"))
    raise NotFound(coded("world.no_robot", node=node), op=op, expected=known, fix=fix)


def _which(nodes: list[str]) -> BadInput:
    known, fix = coded("common.one_of", names=nodes), coded("command.say_which")
    return BadInput(coded("command.several_robots"), op="resume", expected=known, fix=fix)


def _resumed(context: CommandContext, stopped: dict[str, bool]) -> None:
    for id, was in stopped.items():
        text = coded("command.resumed", node=id) if was else coded("command.was_not_stopped", node=id)
        context.output.report(text, {"node": id, "resumed": was}, "good" if was else "warn")


def _next(context: CommandContext, node: str | None) -> None:
    command = f"{context.name} resume " + ("--all" if node is None else f"--node {node}")
    context.output.line(coded("command.held_until", command=command))
