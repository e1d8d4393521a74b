"""The world: an open workspace as files, roles, jobs and stops."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self

from worldfs.access.binding import HOME_PROJECT
from worldfs.access.roles import OPERATOR, PLANNER
from worldfs.base.clock import Clock, SystemClock
from worldfs.base.errors import BadInput, MissingRequirement, NotFound, UserError, WorldError
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import render_finding
from worldfs.base.stop_signal import StopSignal
from worldfs.namespace.mounts.agent_mounts import AgentMounts
from worldfs.namespace.mounts.joined_mounts import JoinedMounts, StaticMount
from worldfs.namespace.mounts.workspace_mount import WorkspaceMount
from worldfs.namespace.namespace import Namespace
from worldfs.namespace.tree import Tree
from worldfs.runtime.approvals import Approvals
from worldfs.runtime.grace import SAFE_STOP_S
from worldfs.runtime.job_store import JobStore
from worldfs.runtime.stop_log import StopLog
from worldfs.runtime.stops_aside import StopsAside
from worldfs.storage import revision
from worldfs.storage.lease import KERNEL_LEASE, LEASE_LOST, NODE_LEASES
from worldfs.storage.open_store import open_store
from worldfs.storage.plain_files import PlainFiles
from worldfs.storage.store_interface import Store
from worldfs.tree import path as paths
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.virtual_file import FileBehaviour
from worldfs.tree.workspace_stores import WorkspaceStores, robot_key

from . import approval_files, computed_files, mission_files, scene_files, skill_files
from .fleet_share import WHOLE, FleetShare
from .layout import behind_member_link, home_table
from .layout.versioned_rows import VERSIONED
from .node_specs import NodeSpec, find_nodes
from .robot_stops import RobotStops
from .workspace_language import language_of_profiles, language_of_work
from .workspace_leases import OWN_ORDERS, WorkspaceLeases
from .workspace_notifier import WorkspaceNotifier

# Imports of kernel, drivers, roles and document parsers are inside functions: a reader or submitter does not load them.
if TYPE_CHECKING:
    from worldfs.base.driver import DriverFactory
    from worldfs.base.model import Finding, Job, JobStatus, Lesson, Order, Target
    from worldfs.fleet.mission_store import MissionFiles
    from worldfs.formats.config import Config
    from worldfs.runtime.kernel import Kernel
    from worldfs.runtime.stop_call import StopCall
    from worldfs.runtime.stop_report import StopReport
    from worldfs.sessions.plugins import Plugins
    from worldfs.sessions.skill_records import SkillRecords

    from .instruction import Instruction
    from .orchestration import Orchestration
    from .start_marks import StartMarks
    from .tree_planner_port import TreePlannerPort
    from .workspace_targets import WorkspaceTargets

PROJECT = HOME_PROJECT
GUARDED = frozenset({"ACTION.md", "ENVIRONMENT.md", "ORCHESTRATOR.md"})  # documents that other programs edit
Log = Callable[[str, "Job"], None]


class World:
    """An open workspace. With `serve` it holds the root's lock and runs the kernel; without, it reads and submits."""

    def __init__(
        self,
        root: Path,
        stores: WorkspaceStores,
        clock: Clock,
        config: Config | None,
        *,
        agents: Path | None,
        feed: ChangeFeed | None,
    ) -> None:
        self.root = root
        self.stores = stores
        self.store = store = stores.shared
        self.clock = clock
        self.feed = feed or ChangeFeed()
        self.changes = WorkspaceNotifier(self, PROJECT)
        self.config = config
        self._specs: tuple[Config | None, tuple[NodeSpec, ...]] | None = None
        self.jobs = JobStore(store, clock)
        self.stops = StopLog(store, clock, StopsAside(root))
        self.robot_stops = RobotStops(self)
        self.approvals = Approvals(store, clock, self.persons)
        self.agents = AgentMounts(agents if agents is not None else root / "agents")
        self.workspace = WorkspaceMount(PROJECT, self.node_ids, stores, self.jobs)
        mounts = JoinedMounts(
            {"workspace": self.workspace, "workspace_live": self.workspace, "mind": self.agents, "house": StaticMount()}
        )
        self.sheets = {
            "ACTION.md": computed_files.SheetFile(stores.robot, self.jobs, computed_files.actions_page),
            "SESSIONS.md": computed_files.SheetFile(lambda node: store, self.jobs, computed_files.sessions_page),
        }
        self.behaviours: dict[str, FileBehaviour] = {
            "actions": self.sheets["ACTION.md"],
            "sessions": self.sheets["SESSIONS.md"],
            "cancel": computed_files.CancelFile(self.jobs),
            "film": computed_files.FilmFile(store),
            "stop": computed_files.StopFile(self.stops, self.robot_stops),
            "approvals": computed_files.ViewFile(lambda names: approval_files.waiting(self.approvals, names["node"])),
            "approve": approval_files.ApproveFile(self.approvals),
            "reading": computed_files.ViewFile(lambda names: self.reading(names["node"], names["instruction"])),
            "skills": skill_files.SkillsFile(self.declarations, lambda: self.skill_records, self.language),
            "allow_skill": skill_files.AllowSkillFile(self.declarations, lambda: self.skill_records),
            **mission_files.behaviours(self),
            "resume": computed_files.ResumeFile(self.stops, self.robot_stops, self.node_ids),
            "robots": computed_files.ViewFile(lambda names: self.robots_page()),
            **computed_files.job_views(self.jobs),
            **computed_files.meta_views(store, self.language),
            **scene_files.behaviours(self, f"/projects/{PROJECT}"),
            **self.agents.behaviours(),
        }
        self.tree = Tree(home_table(), mounts, self.behaviours)
        self._namespaces: dict[str, Namespace] = {}
        self.shared: dict[str, object] = {}  # what the bodies of this world's kernel have in common
        self.kernel: Kernel | None = None
        self.starting: Kernel | None = None  # the same, before its drivers are open
        self.start_marks: StartMarks | None = None
        self.leaving = frozenset[str]()  # robots that config.json has no more, and whose last job has not ended yet
        self.orchestration: Orchestration | None = None  # of the kernel that this world serves
        self.broken: BaseException | None = None  # what ended the kernel that this world served
        self._kernel_ended = StopSignal()  # of the kernel that this world served: it broke, or was closed
        self.leases = WorkspaceLeases(self.root, stores)
        self.share = WHOLE  # of a fleet, what this world serves
        self.own_orders: set[str] | None = None  # by id: all that its kernel begins; None: every one
        self._targets: WorkspaceTargets | None = None
        self._language: tuple[tuple[str | None, ...], str] | None = None
        self._profiled: tuple[tuple[str | None, ...], str] | None = None
        self._profiles_heard = False

    @classmethod
    def open(
        cls,
        workspace: Path,
        *,
        config: Config | None = None,
        agents: Path | None = None,
        clock: Clock | None = None,
        feed: ChangeFeed | None = None,
        store: Store | None = None,
        robots: Mapping[str, Store] = MappingProxyType({}),
        serve: bool = False,
        share: FleetShare = WHOLE,
        own_orders: bool = False,
        drivers: Mapping[str, DriverFactory] | None = None,
        parts: Plugins | None = None,
        threads: bool = True,
        log: Log = lambda what, job: None,
    ) -> World:
        """`robots`: the own stores of robots of a fleet, by id; `close` closes them. `share`: which of them are served.
        `own_orders`: the kernel begins what this world submits and nothing else; orders of others and missions wait for
        another kernel.

        Raises `Busy` (another kernel holds a root), `BadInput` for required documents that are unreadable.
        """
        opened = store or open_store("disk", workspace, guarded=GUARDED, versioned=VERSIONED)
        stores = WorkspaceStores(opened, dict(robots))
        world = cls(workspace, stores, clock or SystemClock(), config, agents=agents, feed=feed)
        if serve:
            try:
                from .failed_start import named_moving, take_leases
                from .kernel_assembly import assemble_kernel

                world.share = share
                if own_orders:
                    world.own_orders, world.leases.purpose = set(), OWN_ORDERS
                with named_moving(world):
                    unleased = take_leases(world, share)
                    unread = world.robot_stops.earlier().begin(world.stops) if unleased is None else ()
                    world.kernel = assemble_kernel(world, drivers, parts, threads=threads, log=log, unleased=unleased)
                for finding in unread:
                    world.kernel.alert(finding.field, finding)
            except BaseException:
                world.leases.release()
                if store is None:
                    opened.close()
                raise
        return world

    @property
    def specs(self) -> tuple[NodeSpec, ...]:
        """The nodes of this workspace; found on first use, since most readers need none, and for one configuration:
        what another thread finds for an earlier one counts for nothing."""
        config, known = self.config, self._specs
        if known is None or known[0] is not config:
            targets = self.targets.targets() if self.targets is not None else ()
            known = self._specs = config, find_nodes(config, self.stores, targets)
        return known[1]

    @cached_property
    def skill_records(self) -> SkillRecords:
        """What trials of the workspace's skill files have measured."""
        from worldfs.sessions.skill_records import SkillRecords

        return SkillRecords(self.store, self.clock)

    @cached_property
    def missions(self) -> MissionFiles:
        """The missions of this root."""
        from worldfs.fleet.mission_store import MissionFiles

        return MissionFiles(self.store, self.clock)

    @property
    def home(self) -> Path:
        """What a model's settings name files in, and where its calls are logged; the workspace where there is none."""
        return Path(self.config.home) if self.config is not None and self.config.home else self.root

    def persons(self) -> frozenset[str]:
        """The persons who may approve plans, as the home's tokens say now."""
        from worldfs.access.tokens import persons_of

        return persons_of(Path(self.config.home) if self.config is not None and self.config.home else None)

    @property
    def profiles(self) -> Path | None:
        """The directory of the operator's own profiles; None without a home."""
        return Path(self.config.profiles) if self.config is not None and self.config.profiles else None

    @property
    def targets(self) -> WorkspaceTargets | None:
        """The declarations of TARGETS.md and SKILLS.md; None without a TARGETS.md."""
        if self._targets is None and computed_files.key_exists(self.store, "TARGETS.md"):
            from .workspace_targets import WorkspaceTargets

            self._targets = WorkspaceTargets(self.store)
        return self._targets

    def declarations(self) -> WorkspaceTargets:
        """The same, and the skill files, also without a TARGETS.md."""
        from .workspace_targets import WorkspaceTargets

        return self.targets or WorkspaceTargets(self.store)

    def robot_ids(self) -> frozenset[str]:
        """The declared robots, also those that are disabled or refused. None of them is a target of sessions."""
        config = self.config
        declared = () if config is None else (*config.instances, *config.refused)
        return frozenset((*(spec.id for spec in self.specs), *(item.robot_id for item in declared)))

    def session_targets(self) -> dict[str, Target]:
        """The entries of TARGETS.md that are targets of sessions."""
        robots = self.robot_ids()
        declared = self.targets.targets() if self.targets is not None else {}
        return {id: target for id, target in declared.items() if id not in robots}

    def own_places(self, robot: str) -> Mapping[str, object]:
        """The places that the robot's entry of TARGETS.md names, as they are written there."""
        target = self.targets.targets().get(robot) if self.targets is not None else None
        return as_object(target.config.get("places")) if target is not None else {}

    def node_ids(self) -> list[str]:
        """Robots, then targets."""
        return [*dict.fromkeys(spec.id for spec in self.specs), *self.session_targets()]

    def namespace(self, role: str, name: str = "") -> Namespace:
        """The tree as a file role sees it. `name`: as of `stop`."""
        return self._namespaces.setdefault(f"{role} {name}", Namespace(self.tree, role, name=name))

    # -- life ---------------------------------------------------------------------------------------------------

    def run(self, *, stop: threading.Event, until_idle: bool = False) -> None:
        try:
            kernel = self._kernel
            with self.orchestration or nullcontext():
                kernel.run(stop, until_idle=until_idle)
                while until_idle and self.orchestration is not None and self.orchestration.wait_for_jobs(stop):
                    kernel.run(stop, until_idle=True)
        except BaseException as error:
            self.broken = error
            self._kernel_ended.set()
            raise

    def tick(self) -> bool:
        return self._kernel.tick()

    def listen_alerts(self, listener: Callable[[Finding], None]) -> None:
        """Call `listener` with each present alert, and with each later one of this world's kernel."""
        self._kernel.alert.listen(lambda item: listener(render_finding(item, self.language())))

    def wake(self) -> None:
        if self.kernel is not None:
            self.kernel.wake()

    def close(self) -> None:
        kernel, self.kernel = self.kernel, None
        self.changes.close()
        if self.orchestration is not None:
            self.orchestration.close()
        try:
            if kernel is not None:
                if self.start_marks is not None:
                    self.start_marks.end_all()
                kernel.close()
                self._kernel_ended.set()
        finally:  # the root lock is released also when the storage is broken
            self.agents.close()
            self.stores.close()
            self.leases.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            self.close()
        except (WorldError, OSError):
            if getattr(error, "code", "") != LEASE_LOST:  # that is why nothing can be written
                raise

    @property
    def _kernel(self) -> Kernel:
        if self.kernel is None:
            raise BadInput(coded("world.read_only"), op="run", fix=coded("world.serve_it"))
        return self.kernel

    def abandon(self) -> None:
        """Drop the world without a write to the disk, as a SIGKILL does (tests of crashes)."""
        if self.orchestration is not None:
            self.orchestration.close()
        if self.kernel is not None:
            self.kernel.abandon()
            self.kernel = None
        self.changes.close()
        self.stores.close()
        self.leases.release()

    # -- robots that come and go --------------------------------------------------------------------------------

    def reconfigure(self, config: Config) -> None:
        """The configuration is another now: the nodes are found again."""
        self.config = config

    def add_store(self, node: str, store: Store) -> None:
        """A robot's own store, from now on; a world that serves takes its lease, or raises `Busy`."""
        if self.leases:
            self.leases.take(node, self.share, store)
        self.stores.robots[node] = store
        self.changes.restart()

    def remove_store(self, node: str) -> None:
        store = self.stores.robots.pop(node)
        self.changes.restart()
        store.close()
        self.leases.drop(node)

    # -- paths --------------------------------------------------------------------------------------------------

    def resolve(self, name: str) -> str:
        """A path of the tree; bare names of the workspace ("ENVIRONMENT.md", "artifacts") are resolved."""
        if name.startswith("/") or not name:
            path = paths.parse(name or "/")
            return behind_member_link(path) if path.startswith(f"/projects/{PROJECT}/") else path
        for base in self._roots():
            path = paths.join(base, name)
            if self.tree.table.find(path) is not None or any(self.tree.table.below(path)):
                return path
        return paths.parse("/" + name)

    def planner_port(
        self,
        node: str | None = None,
        tell: Callable[[str], None] = lambda text: None,
        instruction: Instruction | None = None,
        *,
        orderer: str = "",
    ) -> TreePlannerPort:
        """The planner's port of a node; without a name of the only one. `orderer`: the actor that gives the
        instruction, by its name. Raises `BadInput` naming the nodes."""
        from .tree_planner_port import TreePlannerPort

        ids = [spec.id for spec in self.specs]
        if node is None and len(ids) == 1:
            node = ids[0]
        if node not in ids:
            found = coded("world.several_robots") if node is None else coded("world.no_robot", node=node)
            expected, fix = coded("common.one_of", names=ids), coded("world.say_which")
            raise BadInput(found, op="do", expected=expected, fix=fix)
        return TreePlannerPort(self, PROJECT, node, tell, instruction, orderer=orderer)

    def reading(self, node: str, instruction: str) -> bytes:
        """How this node understands the instruction, as JSON; nothing moves."""
        from .instruction_reading import render_reading

        return render_reading(instruction, self.planner_port(node), self.node_ids)

    def new_id(self) -> str:
        """A new action id, in the page's form, made from the time."""
        base = self.clock.now().strftime("act_%Y%m%d_%H%M%S")
        return next(id for n in itertools.count(1) if not self.jobs.known(id := f"{base}_{n:02d}"))

    def _roots(self) -> Iterator[str]:
        yield f"/projects/{PROJECT}"
        yield from (f"/nodes/{id}" for id in self.node_ids())
        yield "/meta"

    def node_of(self, job_id: str) -> str:
        return self.jobs.load(job_id).order.node

    # -- jobs ---------------------------------------------------------------------------------------------------

    def submit(self, order: Order, actor: str = PLANNER) -> str:
        """An order of `actor`, who must be allowed to write the sheet that shows it; durable when it returns.

        Raises `BadInput` for an id that belongs to another order.
        """
        sheet = self.sheets[order.sheet]
        base = f"/projects/{PROJECT}" if order.sheet == "SESSIONS.md" else f"/nodes/{order.node}"
        self.namespace(actor).target(f"{base}/{order.sheet}").require_writable("submit")
        if self.own_orders is not None:
            self.own_orders.add(order.id)  # first: the kernel may find it at once
        sheet.submit(order, actor)
        return order.id

    def demand_kernel(self) -> None:
        """Raises when no kernel runs: the error of our own, or `MissingRequirement` if ours or another one has gone.

        What waits in a world that had a kernel ends with it, whether another process serves the workspace by now or
        not: that one goes on with the jobs.
        """
        if self.broken is not None:
            raise self.broken
        gone = self._kernel_ended.is_set() or self.store.lease(KERNEL_LEASE).holder() is None
        if self.kernel is None and gone:
            raise MissingRequirement(
                coded("world.kernel_gone"), path=str(self.root), op="wait", fix=coded("world.start_kernel")
            )

    def cancel(self, job_id: str, actor: str = OPERATOR) -> None:
        self.namespace(actor).write(f"/nodes/{self.node_of(job_id)}/jobs/{job_id}/cancel", b"cancel\n")

    def stop(
        self,
        node: str | None = None,
        actor: str = OPERATOR,
        *,
        name: str = "",
        confirm_s: float = 0.0,
        sent: StopCall | None = None,
    ) -> StopReport:
        """Stop a robot at once, or all of them and future ones, whether a kernel runs or not; what is known of them
        after at most `confirm_s`. `name`: of an actor that is not simply a process of this disk in that role. Raises
        `NotFound` for an unknown robot."""
        nodes = self._robots_named(node, "stop", actor)
        return self.robot_stops.stop(nodes, name or actor, every=node is None, confirm_s=confirm_s, sent=sent)

    def resume(self, node: str | None = None, actor: str = OPERATOR, *, name: str = "") -> list[str]:
        """Resume a robot, or all of them; the names of those that were stopped. Raises `NotPermitted` where one stays
        stopped by an actor of a higher standing; the others are resumed by then."""
        nodes = self._robots_named(node, "resume", actor)
        stopped = [id for id in nodes if self.stops.state(id).stopped]
        others = [] if node is None else [id for id in self.node_ids() if id != node]
        self.robot_stops.resume(nodes, name or actor, others)
        return stopped

    def _robots_named(self, node: str | None, op: str, actor: str) -> list[str]:
        """One node or all of them; `actor` must be allowed to write that control of each. A robot that is no node any
        more and may still move is one that can be named, and one of all that are to stop."""
        ids = self.node_ids()
        left = [id for id in self.robot_stops.left() if id not in ids]
        if node is not None and node not in (*ids, *left):
            from difflib import get_close_matches

            likely = "".join(get_close_matches(node, ids, 1))
            fix = coded("world.did_you_mean", likely=likely) if likely else coded("world.name_or_all", op=op)
            there = coded("common.one_of", names=ids or coded("world.no_robot_configured"))
            raise NotFound(coded("world.no_robot", node=node), op=op, actor=actor, expected=there, fix=fix)
        nodes = ids if node is None else [node]
        for id in nodes:
            if id not in left:
                self.namespace(actor).target(f"/nodes/{id}/{op}").require_writable(op)
        return [*nodes, *left] if node is None and op == "stop" else nodes

    def wait_job(self, job_id: str, timeout: float | None = None) -> JobStatus:
        """Block until the job has ended or the time is up; its status then."""
        from worldfs.runtime.job_wait import wait_for_end

        return wait_for_end(self.jobs, job_id, timeout=timeout)

    def await_job(
        self,
        job_id: str,
        stop: StopSignal,
        look: Callable[[], None] = lambda: None,
        *,
        check_robots: Callable[[], None] | None = None,
        cancelled: bool = False,
    ) -> JobStatus:
        """Block until the job has ended or `stop` is set; raises, as `demand_kernel`, as soon as no kernel runs.

        `look` is called while the job is pending, first and after every stop of a robot; it may set `stop`. The kernel
        itself ends a job that runs when its robot is stopped. `check_robots` is called first, and when a robot was lost
        or is served again. `cancelled`: the end was asked for; raises `KernelSilent` where the kernel does not answer.
        """
        from worldfs.base.model import JobState
        from worldfs.runtime.job_wait import wait_for_end

        def over(status: JobStatus) -> bool:
            if check_robots is not None:
                check_robots()
            if status.state is JobState.PENDING:
                look()
            if not stop.is_set():
                self.demand_kernel()
            return stop.is_set()

        keys, wakes = () if check_robots is None else (NODE_LEASES,), (stop, self._kernel_ended)
        while True:
            limit = SAFE_STOP_S if cancelled else None
            status = wait_for_end(self.jobs, job_id, timeout=limit, wakes=wakes, keys=keys, give_up=over)
            if status.state.terminal or stop.is_set() or not cancelled:
                return status
            self.robot_stops.demand_answer(job_id)

    # -- text ---------------------------------------------------------------------------------------------------

    def language(self) -> str:
        if self.config is not None and self.config.language:
            return self.config.language
        try:
            tokens = tuple(map(self.store.probe, ("TASK.md", "LESSONS.md")))
            if self._language is None or self._language[0] != tokens:
                self._language = tokens, language_of_work(self.content("TASK.md"), self.content("LESSONS.md"))
            return self._language[1] or self._language_of_profiles()
        except UserError:  # a link has the file's name: reported where the file is needed
            return (self._language[1] if self._language is not None else "") or "en"

    def _language_of_profiles(self) -> str:
        """A kernel is told when one changes (`profiles_changed`): a fleet's are not all looked at for each text."""
        if self._profiled is None or not self._profiles_heard:
            self._profiles_heard = self.kernel is not None  # first: what changes while they are read is heard
            robots = ["", *self.stores.robots]
            tokens = tuple(self.stores.robot(id).probe("EMBODIED.md") for id in robots)
            if self._profiled is None or self._profiled[0] != tokens:
                said = language_of_profiles(self.content("EMBODIED.md", id) for id in robots)
                self._profiled = tokens, said
        return self._profiled[1]

    def profiles_changed(self) -> None:
        self._profiles_heard = False

    def lessons(self, query: str = "", actor: str = PLANNER, limit: int = 10) -> list[Lesson]:
        """The lessons that match a query, best first (`search_lessons` of 001); all of them for an empty one."""
        from worldfs.formats import lessons_file
        from worldfs.planning.lesson_notes import search

        try:
            data = self.namespace(actor).read(f"/projects/{PROJECT}/LESSONS.md").data
        except NotFound:
            return []
        notes = lessons_file.read(data)
        if not query.strip():
            return notes[:limit]
        from worldfs.notes import PassageIndex, embed

        found = search(
            notes,
            query,
            limit,
            index=PassageIndex(self.beside(f"{revision.PRIVATE_DIR}/index/notes.sqlite")),
            revision=revision.of(data),
            embedder=embed.installed_embedder(),
        )
        return [note for note, _ in found]

    def status(self) -> dict[str, object]:
        """The status report, ready for JSON."""
        from .status_report import status_report

        return status_report(self)

    def beside(self, path: str) -> Path | None:
        """Where files are made that no store keeps; None: the workspace has no directory for them."""
        return Path(self.store.directory, path) if isinstance(self.store, PlainFiles) else None

    def robot_keys(self, key: str) -> list[str]:
        """That key of the shared store and of each robot's own, as `WorkspaceStores.watch` names them."""
        return [key, *(robot_key(node, key) for node in tuple(self.stores.robots))]

    def declaration_tokens(self) -> tuple[str | None, ...]:
        """Tokens of the documents that declare the nodes: others once one of them may have changed."""
        bodies = (store.probe("EMBODIED.md") for store in self.stores.all())
        return *bodies, *map(self.store.probe, ("TARGETS.md", "SKILLS.md", "skills"))

    def content(self, key: str, node: str = "") -> bytes:
        """A file of the workspace, or of a robot, without a check of rights: for the world itself."""
        stored = self.stores.robot(node).get(key)
        return stored.data if stored else b""

    def robots_page(self) -> bytes:
        from .robots_page import page_of

        return page_of(self)
