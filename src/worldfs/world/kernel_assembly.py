"""The kernel of a world, assembled from its documents, drivers and reviewers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.access.roles import WATCHDOG
from worldfs.base.driver import Driver, DriverFactory, Interpreter, PluginContext, RealBody, SharesWorld
from worldfs.base.errors import BadInput, Conflict, Exists, NotFound, StorageError, UserError, WorldError
from worldfs.base.messages import coded
from worldfs.base.model import ApprovalPolicy, ApprovalRule, Finding, Order, Profile, Scene, Target, Thing
from worldfs.base.plugin_calls import called
from worldfs.formats import embodied, task
from worldfs.namespace.namespace import Namespace
from worldfs.planning.critic import Critic
from worldfs.planning.refusals import unread_limit
from worldfs.planning.reviewers import ReviewerChain
from worldfs.robots.driver_registry import BODIES, SCENE
from worldfs.runtime.body_worker import KernelNode
from worldfs.runtime.grace import LEAVE_S
from worldfs.runtime.kernel import Kernel
from worldfs.storage import revision
from worldfs.storage.lease import node_lease
from worldfs.storage.store_interface import ABSENT, Expected
from worldfs.tree.workspace_stores import robot_key

from . import computed_files, robots_page
from .bringup import (
    ENVIRONMENT,
    BarredDriver,
    BringUp,
    UnavailableDriver,
    UnmadeDriver,
    dropped_thing,
    error_finding,
    unreachable_robot,
)
from .configured_model import configured_model
from .failed_start import moving_robots
from .fleet_changes import CONFIG_WRITTEN, FleetChanges
from .foreign_versions import noting_versions
from .home import Home
from .job_evidence import job_succeeded
from .live_config import LiveConfig, is_unserved, needs_restart
from .named_places import NamedPlaces
from .node_specs import NodeSpec, disabled_robots, driver_factory, profile_for, simulated_nodes
from .orchestration import open_orchestration
from .robot_drivers import WORKSPACE, is_robot
from .robot_liveness import served_elsewhere
from .shared_profile import OwnProfiles, shared_profile
from .start_marks import StartMarks, package_code
from .stored_memory import DriverMemories
from .tree_planner_port import forget_steps
from .unsupported_config import demand_servable, unknown_approvals, unsupported_settings
from .workspace_targets import SKILLS, TARGETS, TargetNodes, WorkspaceTargets, changed_entry
from .world import PROJECT, Log, World
from .world_job_hooks import WorldJobHooks

if TYPE_CHECKING:
    from worldfs.formats.config import Config
    from worldfs.sessions.plugins import Plugins


def assemble_kernel(
    world: World,
    drivers: Mapping[str, DriverFactory] | None,
    parts: Plugins | None,
    *,
    threads: bool,
    log: Log,
    unleased: WorldError | OSError | None = None,
) -> Kernel:
    """A kernel whose nodes are open and whose jobs of before are recovered. The caller holds the leases, and closes it.

    `drivers`: None, those of the registry. `unleased`: why the leases could not be taken; it is raised once the drivers
    were told what is in force. Raises `BadInput` for required documents that are unreadable.
    """
    demand_servable(world.config)
    model = partial(configured_model, world.config, world.home, os.environ, world.clock)
    reviewer = ReviewerChain(Critic(), PluginContext(world.clock, language=world.language(), model=model))
    hooks = WorldJobHooks(world.tree, PROJECT, world.clock, reviewer, world.language)
    artifacts = world.beside("artifacts")
    hooks.own_profile = OwnProfiles(world)
    hooks.films = artifacts / "films" if artifacts is not None else None
    shared: dict[str, object] = {}
    packages: dict[str, object] = {}  # what the bodies of packages have in common: ours share what they rely on
    world.shared = shared
    live = None
    if world.config is not None and world.config.home:
        home = Home(Path(world.config.home))
        live = LiveConfig(home, os.environ, world.clock, world.config, lambda: config_changed())  # noqa: PLW0108 # below

    def rule_of(node: str, real: bool) -> ApprovalRule:
        return approval_rule(live.now if live is not None else world.config, node, real)

    memories = DriverMemories(world.store)
    built: dict[str, Target] = {}  # the entries of TARGETS.md that robots were made by

    def node_of(spec: NodeSpec) -> KernelNode:
        """A node whose driver is to be made: until it is known to be simulated, its jobs ask as those of a real one."""
        absent = UnavailableDriver(BadInput(coded("target.not_connected")), f"/nodes/{spec.id}")
        declared = world.targets.targets() if world.targets is not None else {}
        return KernelNode(
            spec.id, absent, artifacts, approval=rule_of(spec.id, real=True), opening=True,
            named=spec.driver, simulated=spec.id in simulated_nodes((spec,), declared), remote=spec.driver == WORKSPACE,
        )  # fmt: skip

    def make(specs: Sequence[NodeSpec]) -> None:
        """Make the drivers of nodes, each in its own lane."""

        def makes(spec: NodeSpec) -> Callable[[], Driver]:
            ours = shared if spec.driver in BODIES.built_in else packages
            own = PluginContext(world.clock, artifacts, language=world.language(), robot_id=spec.id, shared=ours)
            own = replace(own, memory=memories.of(spec.id))
            own = replace(own, profile=partial(hooks.limits, spec.id))
            maker = _maker(world, spec, BODIES if drivers is None else drivers, own)

            def made() -> Driver:
                declared = world.targets.targets() if world.targets is not None else {}
                if is_robot(spec.driver) and spec.id in declared:
                    built[spec.id] = declared[spec.id]
                driver = maker()
                try:
                    real = isinstance(driver, RealBody) and driver.real
                except Exception:  # whatever a package raises: one that cannot say is asked about
                    real = True
                kernel.nodes[spec.id].approval = rule_of(spec.id, real)
                return driver

            return made

        ours = {WORKSPACE, *BODIES.built_in}
        bring.make({spec.id: (f"{spec.driver} __init__", partial(makes, spec), spec.driver in ours) for spec in specs})

    def called_code(node: str) -> str:
        declared = world.targets.targets().get(node) if world.targets is not None else None
        return package_code(next((spec for spec in world.specs if spec.id == node), None), declared)

    marks = world.start_marks = StartMarks(world.store, called_code)

    runtime = TargetNodes(
        WorkspaceTargets(world.store),
        world.clock,
        artifacts,
        world.language(),
        records=world.skill_records,
        model=model,
        parts=parts,
        approval=rule_of,
        memory=memories.of,
    )
    bring: BringUp

    def compare_entries() -> None:
        """Robots keep the entries that they were made by: what was changed since is told, and none moves beyond it."""
        now = world.targets.targets() if world.targets is not None else {}
        robots = {spec.id for spec in world.specs}
        for id, node in tuple(kernel.nodes.items()):
            found = changed_entry(built[id], now.get(id)) if id in built else None
            kernel.alert(f"{TARGETS} {id}", found)
            outdated = found if found is not None and not found.warning else None
            if live is not None and world.config is not None and id in robots:
                restart = needs_restart(world.config, live.now, id)
                kernel.alert(f"config.json {id}", restart)
                outdated = restart or outdated
            node.outdated = outdated

    def config_changed() -> None:
        """From any thread, and before an order that has come meanwhile begins."""
        for id, node in tuple(kernel.nodes.items()):
            node.approval = rule_of(id, node.approval.real)
        compare_entries()
        kernel.look_again(CONFIG_WRITTEN)

    def declare() -> bool:
        """Apply the present declarations: new targets are opened on their lanes, others enabled or disabled."""
        compare_entries()
        if world.share.hub:
            new = runtime.refresh(kernel, hooks.targets, {*world.robot_ids(), *kernel.off})
            hooks.drivers.update({node.id: node.driver for node in new})
            bring.open_all([node.id for node in new], scene)
        if world.config is not None:
            unknown = unknown_approvals(world.config, (*kernel.nodes, *kernel.off, *(s.id for s in world.specs)))
            unserved = unsupported_settings(world.config, world.root)
            error = live.error if live is not None else None
            unread = (error_finding(error, "config.json", coded("fleet.readable")),) if error is not None else ()
            kernel.alert.document("config.json", (*unread, *world.config.findings, *unserved, *unknown))
        rules = {id: node.approval for id, node in kernel.nodes.items()}
        world.leases.note_served(kernel.nodes)
        world.approvals.publish(rules, partial(served_elsewhere, world))
        return not world.share.hub or robots_page.refresh(world)

    shared_pages: dict[str, Callable[[], bool]] = {
        **dict.fromkeys((TARGETS, SKILLS), declare),
        robots_page.FILE: lambda: robots_page.refresh(world),
        **{node_lease(s.id): lambda: robots_page.refresh(world) for s in world.specs if not world.share.has(s.id)},
        task.PATH: lambda: hooks.review_task(partial(job_succeeded, world.jobs)),
    }
    served = [spec for spec in world.specs if world.share.has(spec.id)]
    kernel: Kernel = Kernel(
        world.stores,
        world.clock,
        hooks,
        {spec.id: node_of(spec) for spec in served},
        pages=(computed_files.actions_page(), computed_files.sessions_page()),
        watched=noting_versions(
            world.stores,
            {
                **(shared_pages if world.share.hub else {}),
                ENVIRONMENT: lambda: bring.refresh(),  # noqa: PLW0108 # the name is bound below
                **dict.fromkeys(world.robot_keys("EMBODIED.md"), lambda: embodied_again()),  # noqa: PLW0108 # same
                CONFIG_WRITTEN: lambda: changes.apply(),  # noqa: PLW0108 # same
            },
        ),
        off=disabled_robots(world.config, world.store),
        epoch=world.leases.epoch_of,
        hub=world.share.hub,
        elsewhere=partial(served_elsewhere, world),
        ours=lambda id: world.own_orders is None or id in world.own_orders,
        shared_out=lambda: world.share.robots is not None,
        stops=world.stops,
        socket_root=world.root if world.root.is_dir() else None,
        home=world.config.home if world.config is not None else "",
        keep=world.leases.keep,
        threads=threads,
        log=log,
        names=NamedPlaces(hooks.judged, world.own_places),
    )
    if live is not None:
        kernel.off_now, live.at_work = live.disabled, lambda: kernel.busy
        kernel.timed.append(live)
        kernel.off_now()  # what the kernel starts with is no change
        kernel.unserved = lambda node: world.config is not None and is_unserved(world.config, live.now, node)
    if world.share.hub:
        kernel.refused = runtime.targets.refused
    bring = BringUp(kernel, hooks, marks)

    def note_reach(node: str, why: str) -> None:
        """On the lane of the robot: other robots go by this, and people are told."""
        robot = hooks.environment.get().scene.robot(node)
        kernel.alert(f"reach {node}", unreachable_robot(node, why, robot) if why else None)
        if world.orchestration is not None:
            world.orchestration.loop.wake()
        kernel.wake()

    hooks.on_reach = note_reach

    def note_dropped(node: str, id: str, thing: Thing | None) -> None:
        kernel.alert(f"hand {node}", dropped_thing(node, id, thing))

    hooks.on_dropped = note_dropped
    hooks.on_held_again = lambda node: kernel.alert(f"hand {node}", None)

    def embodied_again() -> bool:
        world.profiles_changed()
        served = [spec for spec in world.specs if world.share.has(spec.id)]
        bare = [s for s in served if not computed_files.key_exists(world.stores.robot(s.id), "EMBODIED.md")]
        _embody_all(world, hooks, kernel, bare)
        _name_unread_limits(world, kernel, served)
        return not world.share.hub or robots_page.refresh(world)

    def release() -> None:
        """What robots held that have left config.json is free, and an alert says so until they come back."""
        if world.config is None or not world.share.hub:
            return
        there = {*world.robot_ids(), *hooks.targets, *kernel.off}
        there |= set(world.targets.targets()) if world.targets is not None else set()
        for robot, held in hooks.release(there).items():
            kernel.alert(f"{ENVIRONMENT} {robot}", _released(robot, held))

    came: set[str] = set()  # robots that were added, and of which it is not known yet whether they can work
    left: set[str] = set()  # robots that were removed, and stand in the world of the others until these rest

    def begin(specs: Sequence[NodeSpec]) -> bool:
        """Open robots that were added while the kernel runs. False: one of them has to wait for others to rest."""
        for spec in specs:
            kernel.add(node_of(spec), {robot_key(spec.id, "EMBODIED.md"): embodied_again})
        make(specs)
        world.profiles_changed()
        _embody_all(world, hooks, kernel, specs, starting=True)
        _name_unread_limits(world, kernel, specs)
        bring.open_all([spec.id for spec in specs], lambda: hooks.environment.get().scene, joins=True)
        for spec in specs:
            kernel.alert(f"{ENVIRONMENT} {spec.id}", None)  # it is back, and says itself what it holds
        came.update(spec.id for spec in specs)
        shut = {spec.driver for spec in world.specs if spec.id in came and bring.is_shut(spec.id)}
        if (shut or left) and kernel.busy:
            return not declare()
        release()
        if shut or left:  # their world was built without them, or with one that is gone
            peers = [
                spec.id for spec in world.specs
                if spec.driver in shut or isinstance(hooks.drivers.get(spec.id), SharesWorld)
            ]  # fmt: skip
            bring.reopen(peers, lambda: hooks.environment.get().scene)
        came.clear()
        left.clear()
        return declare()

    def let_go(node: str) -> None:
        world.profiles_changed()
        body: object = hooks.drivers.get(node)
        with suppress(Exception):  # whatever a package raises
            if isinstance(body, SharesWorld) and body.leave():
                left.add(node)
        bring.forget(node)
        built.pop(node, None)
        for place in (f"reach {node}", f"{TARGETS} {node}", f"config.json {node}"):
            kernel.alert(place, None)

    changes = FleetChanges(world, kernel, begin, let_go, declare=declare, live=live)
    scene: Callable[[], Scene] = cache(lambda: hooks.environment.get().scene)
    world.starting = kernel
    try:
        kernel.recall()
        make(served)
        if unleased is not None:
            raise unleased
        _embody_all(world, hooks, kernel, served, starting=True)
        _name_unread_limits(world, kernel, served)
        _demand_profiles(hooks)
        release()
        bring.open_all(tuple(hooks.drivers), scene)
        declare()
        if world.share.hub:
            forget_steps(world.store)
        bring.demand_runnable()
        world.behaviours["scene_poses"].light = SCENE in shared
        bring.refresh()
        kernel.recover()
        if world.share.hub and world.own_orders is None:
            world.orchestration = open_orchestration(world, kernel, PROJECT)
    except BaseException:
        if threads:
            with suppress(WorldError):  # what cannot be read: they are told without
                bring.open_to_stop(moving_robots(world, kernel), scene)
            kernel.stopping.settle(LEAVE_S)
        kernel.close()
        raise
    return kernel


def approval_rule(config: Config | None, node: str, real: bool) -> ApprovalRule:
    """config.json's for this robot or target; else real bodies ask always, simulated ones never."""
    said = config.approval_of(node) if config is not None else None
    return ApprovalRule(said or (ApprovalPolicy.ALWAYS if real else ApprovalPolicy.NEVER), real)


def _maker(
    world: World,
    spec: NodeSpec,
    drivers: Mapping[str, DriverFactory],
    context: PluginContext,
) -> Callable[[], Driver]:
    """What makes the driver of a node; an `UnavailableDriver` where it is missing. It reads nothing of the world: what
    it needs was read before."""

    def absent(error: Exception) -> Driver:
        return UnavailableDriver(error, f"/nodes/{spec.id}", "DRIVER_MISSING")

    try:
        profile = _profile(world, spec)
        declared = world.targets.targets() if world.targets is not None else {}
        context = replace(context, epoch=world.leases.epoch_of(spec.id))
        context = replace(context, perception=profile.perception, max_frame_age=profile.max_frame_age)
        context = replace(context, interpreter=_interpreter(world, spec.id))
    except StorageError:
        raise
    except Exception as error:  # whatever a package's profile raises
        missing = error
        return lambda: absent(missing)

    def make() -> Driver:
        try:
            if spec.driver == WORKSPACE:
                from .workspace_robot import workspace_robot

                return workspace_robot(world, spec, profile.ops)
            made = driver_factory(spec, drivers, declared, world.clock)
            body = called(lambda: made(context), f"{spec.id}: {spec.driver}")
            if isinstance(body, RealBody):
                bool(body.real)  # asked for before anything moves: a wrong answer is raised here
            return body
        except StorageError:
            raise
        except UserError as error:
            return absent(error)
        except Exception as error:  # whatever a package raises: a device that is busy is free the next time
            return UnmadeDriver(error, f"/nodes/{spec.id}", call=f"{spec.driver} __init__")

    return make


def _profile(world: World, spec: NodeSpec) -> Profile:
    """The robot's EMBODIED.md as it is or as it will be; an empty one where there is none."""
    try:
        present = Namespace(world.tree, WATCHDOG, starting=True).read(f"/nodes/{spec.id}/EMBODIED.md").data
    except UserError:
        present = b""
    try:
        text = present or profile_for(spec, present, world.language(), world.profiles)
        return embodied.read(text) if text else Profile()
    except UserError:
        return Profile()  # the profile's own check says what is wrong with it


def _embody_all(
    world: World, hooks: WorldJobHooks, kernel: Kernel, specs: Sequence[NodeSpec], *, starting: bool = False
) -> None:
    """Copy the profiles to EMBODIED.md, at the start and whenever it is removed while the kernel runs.

    A robot of a fleet whose profile is missing has no limits to review by: its driver is not used.
    """
    watchdog = Namespace(world.tree, WATCHDOG, starting=True)
    for spec in specs:
        if isinstance(hooks.drivers.get(spec.id), BarredDriver):
            continue  # its package would be imported
        try:
            _embody(world, spec, kernel, watchdog, starting=starting)
        except UserError as error:
            if starting and error.code == "PROFILE_MISSING":
                if spec.id not in world.stores.robots:
                    raise
                driver = UnavailableDriver(error, f"/nodes/{spec.id}", error.code)
                hooks.drivers[spec.id] = kernel.nodes[spec.id].driver = driver
                continue
            kernel.alert("EMBODIED.md", error_finding(error, "EMBODIED.md", coded("world.readable_writable")))
            return


def _name_unread_limits(world: World, kernel: Kernel, specs: Sequence[NodeSpec]) -> None:
    """An alert for each robot whose profile has a limit that cannot be read: until it can, its moves are refused."""
    for spec in specs:
        if isinstance(kernel.nodes[spec.id].driver, BarredDriver):
            continue
        lines = _profile(world, spec).unread
        kernel.alert(f"/nodes/{spec.id}/EMBODIED.md#limits", unread_limit("; ".join(lines)[:600]) if lines else None)


def _demand_profiles(hooks: WorldJobHooks) -> None:
    """Raises the first error where no robot of a fleet has a profile."""
    absent = [driver for driver in hooks.drivers.values() if isinstance(driver, UnavailableDriver)]
    missing = [driver.error for driver in absent if driver.finding.code == "PROFILE_MISSING"]
    if missing and len(missing) == len(hooks.drivers):
        raise missing[0]


def _embody(world: World, spec: NodeSpec, kernel: Kernel, watchdog: Namespace, *, starting: bool) -> None:
    """Copy the profile to EMBODIED.md, unless a person has edited it (workspace D8).

    Once the kernel runs only a file that is missing is made, and only if it still is as it is written: a person may be
    putting another in its place.
    """
    path, mark = f"/nodes/{spec.id}/EMBODIED.md", f".paos/profiles/{spec.id}"
    expect: Expected = ABSENT
    try:
        content = watchdog.read(path)
        present, expect = content.data, content.revision
    except NotFound:
        present = b""
    text = profile_for(spec, present, world.language(), world.profiles)
    if text is None:
        return
    if (shared := shared_profile(spec, world.specs, world.stores, present, world.profiles)) is not None:
        kernel.alert(path, shared)
        return
    earlier = world.store.get(mark)
    ours = not present.strip() or (earlier is not None and earlier.data == revision.of(present).encode())
    if present == text:
        return
    if expect is ABSENT or (starting and ours):
        world.store.put(mark, revision.of(text).encode())
        try:
            watchdog.write(path, text, expect=expect)
        except (Exists, Conflict):  # a person has written it meanwhile
            ours = False
    if not ours:
        kernel.alert(
            path,
            Finding(
                "PROFILE_EDITED",
                "EMBODIED.md",
                coded("file.profile", name=spec.profile or spec.driver),
                coded("file.own_text"),
                coded("file.own_text_kept"),
                warning=True,
            ),
        )


def _released(robot: str, held: Sequence[str]) -> Finding:
    return Finding(
        "ROBOT_GONE",
        f"{ENVIRONMENT} robots / {robot}",
        coded("fleet.listed"),
        coded("fleet.left_holding", robot=robot, held=", ".join(held)),
        coded("fleet.take_from", robot=robot, held=", ".join(held)),
        warning=True,
    )


def _interpreter(world: World, node: str) -> Interpreter:
    """Instruction text to orders for this node, by the planner's parser (`real_execute`)."""

    def interpret(text: str, scene: Scene) -> Sequence[Order]:
        from worldfs.planning.planner import interpreter  # the grammar: seldom asked for, slow to import

        profile = embodied.read(world.content("EMBODIED.md", node))
        return interpreter(node, profile)(text, scene)

    return interpret
