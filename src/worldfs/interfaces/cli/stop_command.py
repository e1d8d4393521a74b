"""`paos stop` and `paos resume`: every robot, or one, on this machine or over --connect; whether or not a kernel
runs."""

from __future__ import annotations

import queue
import threading
from contextlib import ExitStack, suppress
from dataclasses import asdict
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.access.standing import shown_actor, standing_of
from worldfs.base.clock import SystemClock, stamp
from worldfs.base.errors import BadInput, NotFound, NotPermitted, UserError, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.runtime.grace import CONFIRM_S, LOOK_S, TOLD_S
from worldfs.runtime.stop_call import SOCKETS, StopCall
from worldfs.runtime.stop_log import COPY, PendingStop, left_text, stop_keys
from worldfs.runtime.stop_report import RobotStop, StopReport, hang_field, read_stop_file
from worldfs.runtime.stops_aside import StopsAside

from .command_context import CommandContext
from .exits import DONE, INTERRUPTED, REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from worldfs.client.blocking import BlockingWorld as FarWorld
    from worldfs.world.earlier_workspaces import EarlierRobots
    from worldfs.world.world import World


LOG_S: Final = 1.0  # for a kernel's log to say what its answer to a stop has said already
STORE_S: Final = 2 * CONFIRM_S  # how long a stop that drivers have heard waits for the store and for other hosts


def run(context: CommandContext) -> int:
    """Exit 1 if a robot has not confirmed that it stands. Of several robots each is told before one is waited for."""
    named = _named(context)
    if len(named) < 2:
        return stop(context, named[0] if named else None)
    codes: list[int] = []
    unknown: NotFound | None = None
    with _call(context, named):
        for node in named:
            try:
                codes.append(stop(context, node))
            except NotFound as error:
                unknown = unknown or error
    if unknown is not None:
        raise unknown
    return max(codes)


def stop(context: CommandContext, node: str | None) -> int:
    """Stop first: before any file of the home is opened. Raises `NotFound` for an unknown robot. Ctrl-C ends the wait,
    and what is known by then is said."""
    with _call(context, None if node is None else [node]) as call:
        try:
            return _stopped(context, node, call)
        except KeyboardInterrupt:
            with suppress(OSError):  # it is closed
                call.wait(LOOK_S)  # for what has been answered already
            _show(context, _robots(call))
            return _interrupted(context, told=call.told, sent=bool(call.sent))


def _interrupted(context: CommandContext, *, told: bool, sent: bool) -> int:
    if not sent:
        undelivered(context, "interrupted")
    else:
        said = coded("stop.interrupted_told" if told else "stop.interrupted_sent")
        value = {"stopped": told, "delivered": told, "confirmed": False, "code": "INTERRUPTED", "why": said}
        context.output.report(said, value, "bad")
    return INTERRUPTED


def _stopped(context: CommandContext, node: str | None, call: StopCall) -> int:
    report = _answered(call, node)
    earlier = context.earlier_robots()  # once the drivers have heard
    if node is None and earlier.moving:  # the kernels do not know of them
        report = None
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
            left = [
                RobotStop(id, False, left_text(one), told=False, stopped=False)
                for id, one in sorted(earlier.moving.items())
                if node in (None, id) and id not in (robot.node for robot in _robots(call))
            ]
            if not call.told:
                _show(context, left)
                _show_unread(context, earlier)
                why = _with_kernels(call, why)
                return undelivered(context, why if opened else _kept_aside(context, call, node, why))
            untold = [one for one in _untold(context, call, node, why) if one.node not in earlier.moving]
            report = StopReport((*_robots(call), *untold, *left), why)
    if call.unheard:  # its directory may have been another one than the log is in
        _kept_aside(context, call, node, "", copy=True)
    code = _told(context, node, report, shown)
    if node is None and earlier.unread:
        _show_unread(context, earlier)
        code = REFUSED
    return code


def _show_unread(context: CommandContext, earlier: EarlierRobots) -> None:
    for finding in earlier.unread:
        context.output.report(f"{finding.field}: {finding.found}. {finding.fix}", asdict(finding), "bad")


def _with_kernels(call: StopCall, why: str) -> str:
    """With what is known of the kernels of this machine, where no workspace could be opened: one may be ending."""
    if call.sent:
        return coded("stop.sent_unanswered", why=why, pids=[str(pid) for pid in call.unheard] or "?")
    return coded("stop.no_kernel_found", why=why) if call.finds else why


def _kept_aside(context: CommandContext, call: StopCall, node: str | None, why: str, *, copy: bool = False) -> str:
    """The stop is in force at the next start of a workspace at that path, if a file can keep it: `why`, and which.
    `copy`: the log has it, too."""
    keys, name = frozenset(stop_keys([] if node is None else [node], every=node is None)), context.actor_name
    id, place = f"{call.id}{COPY}" if copy else call.id, ""
    stop = PendingStop(id, shown_actor(name), standing_of(name), stamp(SystemClock().now()), keys)
    with suppress(WorldError):  # config.json does not say which path
        place = StopsAside(context.workspace).keep(id, stop.as_json(), copy=copy)
    return coded("stop.kept_aside", why=why, place=place) if place else why


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
        return [RobotStop(id, False, why, told=False, stopped=False) for id in named if id not in heard]
    return []


def _call(context: CommandContext, nodes: Collection[str] | None) -> StopCall:
    """To each kernel of the home, whichever workspace config.json names now; of --workspace, to its kernels alone."""
    home = "" if context["workspace"] else str(context.home.path)
    return StopCall(_roots(context), SystemClock(), nodes, context.actor_name, home=home)


def _roots(context: CommandContext) -> list[Path]:
    """Where kernels may be that were started for a workspace alone. While config.json cannot be read, every workspace
    of the home is asked."""
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
    """In the workspace that config.json names, and in those that kernels of the home serve: a stop reaches all."""
    named, others = _named(context), context.other_kernels()
    failed: list[WorldError] = []
    with ExitStack() as stack:
        worlds: list[World] = []
        opens: list[Callable[[], World]] = [context.open]
        opens += [partial(context.open_other, Path(one.root)) for one in others if one.root]
        for opened in opens:
            try:
                worlds.append(stack.enter_context(opened()))
            except WorldError as error:  # the others are resumed
                failed.append(error)
        there = [*dict.fromkeys(id for world in worlds for id in world.node_ids())]
        if worlds and not named and not context["all"] and len(there) > 1:
            raise _which(there)
        unknown = [node for node in named if node not in there]
        for number, world in enumerate(worlds):
            here = [node for node in named if node in world.node_ids() or (not number and node in unknown)]
            if named and not here:
                continue
            if others:
                context.output.report(coded("command.workspace", path=world.root), {"workspace": str(world.root)})
            try:
                _resume_in(context, world, here)
            except (NotPermitted, NotFound) as error:
                failed.append(error)
    for one in others:
        if not one.root:
            said = coded("command.not_resumed", pid=one.pid)
            context.output.report(said, {"code": "KERNEL_SILENT", "found": said}, "bad")
    if failed:
        raise failed[0]
    return 0


def _resume_in(context: CommandContext, world: World, named: list[str]) -> None:
    """`named`: none, all of them. Raises `NotPermitted` where one stays stopped."""
    nodes = named or world.node_ids()
    heard = world.robot_stops.heard()
    silent = {id: bool(world.robot_stops.silent_server(id, heard)) for id in nodes}
    stopped = [id for id in nodes if world.stops.state(id).stopped]
    stops, clock = world.robot_stops, world.clock
    end = clock.monotonic() + LOG_S  # for all of them together
    before = {
        id: stops.confirmed(id, silent=True) if silent[id] else stops.await_confirmed(id, end - clock.monotonic())
        for id in stopped
    }
    refusal: NotPermitted | None = None
    for node in named or (None,):
        try:
            world.resume(node, context.actor, name=context.actor_name)
        except NotPermitted as error:
            refusal = refusal or error
    _resumed(context, {id: before.get(id) for id in nodes if not world.stops.state(id).stopped})
    _warn_of_hanging(context, world, nodes)
    _warn_of_silence(context, world, nodes)
    if refusal is not None:
        raise refusal


def _warn_of_hanging(context: CommandContext, world: World, nodes: list[str]) -> None:
    """Of the robots whose driver's stop has not returned: they are free to move, and may hear no further stop."""
    from worldfs.world.computed_files import current_alerts

    alerts = current_alerts(world.store, world.language())
    for alert in (alerts[hang_field(node)] for node in nodes if hang_field(node) in alerts):
        value = {name: alert[name] for name in ("code", "found", "fix")}
        context.output.report(f"{alert['found']}. {alert['fix']}", value, "bad")


def remote_stop(context: CommandContext) -> int:
    return far_stop(context, *_named(context))


def _warn_of_silence(context: CommandContext, world: World, nodes: list[str]) -> None:
    """They are free to move, and whether they do is not known."""
    heard = world.robot_stops.heard()
    for pid in dict.fromkeys(pid for node in nodes if (pid := world.robot_stops.silent_server(node, heard))):
        said = coded("stop.kernel_unknown", pid=pid)
        context.output.report(said, {"code": "KERNEL_SILENT", "found": said}, "bad")


def far_stop(context: CommandContext, *named: str) -> int:
    """Exit 1 where a robot has not confirmed that it stands, or the server cannot be reached. Without a name: all."""
    from .server_tree import open_connection

    robots: list[RobotStop] = []
    unknown: NotFound | None = None
    failed: dict[str, str] = {}  # the robots to which the stop was written, and why it could not be delivered
    try:
        with open_connection(context, timeout=CONFIRM_S) as world:
            nodes: list[str] = []
            for name in named or (None,):
                try:
                    nodes += _there(world, name, "stop")
                except NotFound as error:
                    unknown = unknown or error
            for id in nodes:
                failed[id] = _write_stop(world, id)
            end = SystemClock().monotonic() + CONFIRM_S
            for id in nodes:
                robots.append(
                    RobotStop(id, False, failed[id], told=False, stopped=False)
                    if failed[id]
                    else _far_state(world, id, end)
                )
    except KeyboardInterrupt:
        _show(context, robots)
        return _interrupted(context, told="" in failed.values(), sent=bool(failed))
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
        before = {id: world.read(f"/nodes/{id}/resume") for id in nodes}
        stopped = [id for id, said in before.items() if as_object(parse_json(said)).get("stopped") is True]
        for id in nodes:
            world.write(f"/nodes/{id}/resume", b"resume\n")
    _resumed(context, {id: read_stop_file(id, before[id]) if id in stopped else None for id in nodes})
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


def _resumed(context: CommandContext, nodes: Mapping[str, RobotStop | None]) -> None:
    """`nodes`: what was known of each robot before; None: it was not stopped."""
    for id, before in nodes.items():
        if before is None:
            context.output.report(coded("command.was_not_stopped", node=id), {"node": id, "resumed": False}, "warn")
        elif before.confirmed:
            context.output.report(coded("command.resumed", node=id), {"node": id, "resumed": True}, "good")
        else:
            said = coded("command.resumed_unconfirmed", node=id, why=before.why)
            value = {"node": id, "resumed": True, "confirmed": False, "why": before.why}
            context.output.report(said, value, "warn")


def _next(context: CommandContext, node: str | None) -> None:
    command = f"{context.name} resume " + ("--all" if node is None else f"--node {node}")
    context.output.line(coded("command.held_until", command=command))
