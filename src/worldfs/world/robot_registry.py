"""The robots of config.json: added and removed by one writer at a time, everything else in the file as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.access.roles import OPERATOR
from worldfs.base.clock import SystemClock
from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, Busy, Conflict, NotFound
from worldfs.base.file_lock import FileLock
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list, as_object
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Job, JobState
from worldfs.base.unknown_effect import unknown_effect
from worldfs.formats import config as config_format
from worldfs.formats import embodied, entry_ids, jsontext
from worldfs.robots.driver_registry import BODIES
from worldfs.runtime.job_store import OPEN, JobStore
from worldfs.storage import revision
from worldfs.storage.engine_record import shared_engine
from worldfs.storage.lease import KERNEL_LEASE, node_lease

from .fleet_changes import CONFIG_WRITTEN
from .fleet_directories import place_fleet
from .node_specs import DEFAULT_DRIVER, NodeSpec, demand_driver
from .profiles import profile_text, unknown_profile
from .robot_liveness import ELSEWHERE, SERVED
from .workspace_engine import open_engine
from .workspace_targets import TARGETS, WorkspaceTargets

if TYPE_CHECKING:
    from worldfs.base.model import Target
    from worldfs.formats.config import Config

    from .home import Home

END_S: Final = 20.0  # for the end of a removed robot's jobs: longer than a lease lives without its host
AGAIN_S: Final = 0.1  # between two looks whether the kernel has let a robot go
LOOK_S: Final = 1.0  # a lease may end meanwhile, and no job changes
LOCK: Final = f"{revision.PRIVATE_DIR}/config.lock"  # below the home


class RobotChange(NamedTuple):
    """`directory`: of the robot; it and its files stay when a robot is removed. `cancelled`: its jobs that end so;
    `ended`: those that ended otherwise meanwhile, and how. `unended`: those that ran, and of whose end nothing is
    known; `unconfirmed`: those that have ended, and the robot was not measured to stand since. With either of these it
    may still move."""

    id: str
    directory: str
    cancelled: tuple[str, ...] = ()
    unended: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    ended: Mapping[str, str] = {}  # a NamedTuple's default; never written into


def add_robot(
    home: Home, id: str, profile: str, directory: str = "", environ: Mapping[str, str] | None = None
) -> RobotChange:
    """Add a robot to the fleet; durable when it returns. `directory` as config.json has it; "": of its id, beside the
    shared workspace. Raises `BadInput` for a robot that could not be served, and changes nothing then."""
    if reason := entry_ids.unsafe(id):
        found = coded("file.at", where=repr(id[:80]), found=reason)
        raise BadInput(found, op="robot add", expected=coded("file.file_id"))
    config = _fleet(home, environ)
    text = profile_text(profile, config.language or "en", home.profiles)
    if text is None:
        raise unknown_profile(profile, home.profiles, "--profile")
    driver = embodied.read(text).driver or DEFAULT_DRIVER
    _demand_driver(NodeSpec(id, driver, profile), home.root(config))
    entry: dict[str, object] = {"robotId": id, "driver": driver, "enabled": True, "profileName": profile}
    if directory:
        entry["workspace"] = directory

    def added(instances: list[object]) -> list[object]:
        if any(_member(item, "robotid")[1] == id for item in instances):
            expected = coded("fleet.new_id")
            raise BadInput(coded("fleet.there", id=id), path=str(home.config_path), op="robot add", expected=expected)
        return [*instances, entry]

    after = _change(home, added, environ, demand=id)
    made = after.instance(id)
    assert made is not None
    return RobotChange(id, made.workspace)


def remove_robot(
    home: Home, id: str, *, cancel: bool = False, environ: Mapping[str, str] | None = None, wait_s: float = END_S
) -> RobotChange:
    """Take a robot out of the fleet; durable when it returns. Raises `NotFound`; with open jobs `Busy`, unless they are
    to be cancelled: the process that serves the robot ends them, a running one where it safely can stop. Waits at most
    `wait_s` until they have ended and the robot is measured to stand."""
    config = _fleet(home, environ)
    ids = {item.robot_id for item in (*config.instances, *config.refused)}
    if id not in ids:
        likely = "".join(get_close_matches(id, ids, 1))
        fix = coded("world.did_you_mean", likely=likely) if likely else ""
        expected = coded("common.one_of", names=sorted(ids) or coded("world.no_robot_configured"))
        raise NotFound(coded("world.no_robot", node=id), op="robot remove", expected=expected, fix=fix)
    jobs = _open_jobs(home.root(config), id)
    if jobs and not cancel:
        raise Busy(
            coded("fleet.open_jobs", id=id, n=len(jobs), jobs=jobs[:5]), path=id, op="robot remove",
            fix=coded("fleet.cancel_jobs", id=id),
        )  # fmt: skip

    def without(instances: list[object]) -> list[object]:
        return [item for item in instances if _member(item, "robotid")[1] != id]

    _change(home, without, environ)
    entry = next(item for item in (*config.instances, *config.refused) if item.robot_id == id)
    unended, unconfirmed = _end_jobs(home.root(config), id, jobs, wait_s) if cancel else ((), ())
    ended = _ended_otherwise(home.root(config), jobs)
    cancelled = tuple(job for job in jobs if job not in ended)
    return RobotChange(id, entry.workspace, cancelled, unended, unconfirmed, ended)


def _ended_otherwise(shared: Path, ids: Sequence[str]) -> Mapping[str, str]:
    """Which of the jobs have succeeded, or failed for another reason than that they were cancelled."""
    if not ids:
        return {}
    with closing(open_engine(shared)) as store:
        jobs = JobStore(store, SystemClock())
        found = {id: jobs.load(id).status for id in ids}
    return {
        id: status.state.value if status.outcome.ok else status.outcome.code or status.state.value
        for id, status in found.items()
        if status.outcome is not None and status.outcome.cause is not Cause.CANCELLED
    }


def _demand_driver(spec: NodeSpec, shared: Path) -> None:
    """Raises `BadInput` where the driver is unknown, or the TARGETS.md of the shared workspace lacks what it needs."""
    declared: Mapping[str, Target] = {}
    if shared.is_dir():
        with closing(open_engine(shared)) as store:
            declared = WorkspaceTargets(store).targets()
    try:
        demand_driver(spec, BODIES, declared, SystemClock())
    except BadInput as error:
        path = str(shared / error.path) if error.path.startswith(TARGETS) else error.path
        raise BadInput(
            error.found, path=path, op="robot add", expected=error.expected, fix=error.fix, code=error.code
        ) from error


def _fleet(home: Home, environ: Mapping[str, str] | None) -> Config:
    config = home.config(environ or {})
    if config.mode != "fleet":
        found, fix = coded("fleet.single_home"), coded("fleet.edit_mode")
        raise BadInput(found, path=str(home.config_path), op="robot", expected=coded("fleet.a_fleet_config"), fix=fix)
    return config


def _open_jobs(shared: Path, id: str) -> list[str]:
    if not shared.is_dir():
        return []
    with closing(open_engine(shared)) as store:
        return [job.id for job in _jobs_of(JobStore(store, SystemClock()), id)]


def _jobs_of(jobs: JobStore, id: str) -> list[Job]:
    found = [jobs.load(job) for job in jobs.open_ids()]
    return [job for job in found if job.order.node == id and not job.status.state.terminal]


def _end_jobs(
    shared: Path, id: str, cancelled: Sequence[str], wait_s: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Wait for the end of a removed robot's jobs, and until it stands; `unended` and `unconfirmed` of a `RobotChange`.

    The kernel of the whole fleet ends them because the configuration has changed, and serves the robot until it is
    measured to stand. Another host has a configuration of its own: it is asked to cancel them.
    """
    if not shared.is_dir():
        return (), ()
    clock = SystemClock()
    with closing(open_engine(shared)) as store, store.watch(OPEN) as watch:
        jobs, until = JobStore(store, clock), clock.monotonic() + wait_s
        hub, host = store.lease(KERNEL_LEASE), store.lease(node_lease(id))
        asked: set[str] = set()
        while open_jobs := _jobs_of(jobs, id):
            for job in open_jobs if shared_engine(shared) else ():
                if job.id not in asked:
                    asked.add(job.id)
                    jobs.request_cancel(job.id, OPERATOR)
            left = until - clock.monotonic()
            if left <= 0 or (hub.holder() is None and host.holder() is None):
                return tuple(job.id for job in open_jobs if job.status.state is JobState.RUNNING), ()
            watch.read(min(left, LOOK_S))
        doubted = tuple(job for job in cancelled if _is_doubted(jobs.load(job)))
        while doubted and (left := until - clock.monotonic()) > 0:
            served = hub.holder()
            if served is None or served.get("robots") == ELSEWHERE or host.holder() is not None:
                break  # nobody measures it, or another host, which goes on serving it
            if id not in str(served.get(SERVED, id)).split():
                return (), ()
            clock.wait(threading.Event(), min(left, AGAIN_S))
    return (), doubted


def _is_doubted(job: Job) -> bool:
    """Whether it began, and its robot was not measured to stand at its end."""
    outcome = job.status.outcome
    return job.status.attempt > 0 and outcome is not None and unknown_effect(outcome)


def _change(
    home: Home, edit: Callable[[list[object]], list[object]], environ: Mapping[str, str] | None, *, demand: str = ""
) -> Config:
    """Replace `instances`, if the file is still what was read; then wake the kernel. Raises `BadInput` where robot
    `demand` could not be served afterwards, `Conflict` where another program wrote meanwhile."""
    root = Root(home.path)
    lock = FileLock(root, LOCK)
    try:
        with lock:
            data = read_given_file(home.config_path, op="read")
            config_format.read(data)  # raises for a text that is no configuration
            text = data.decode("utf-8-sig")
            before = as_object(parse_json(text))
            bodies_key, bodies = _member(before, "embodiments")
            key, instances = _member(bodies, "instances")
            after = {**before, bodies_key: {**as_object(bodies), key or "instances": edit(as_list(instances))}}
            new = jsontext.edit(text, before, after).encode()
            read = place_fleet(config_format.read(new, environ or {}), home.path)
            wrong = [item for item in read.findings if f" {demand} " in item.field]
            if demand and read.instance(demand) is None and wrong:
                first = wrong[0]
                raise BadInput(first.found, path=demand, op="robot add", expected=first.expected, fix=first.fix)
            if read_given_file(home.config_path, op="read") != data:
                raise Conflict(coded("fleet.config_changed"), path=str(home.config_path), fix=coded("common.try_again"))
            root.replace(home.config_path.name, new, private=True)
    finally:
        lock.close()
        root.close()
    shared = home.root(read)
    if shared.is_dir():
        with closing(open_engine(shared)) as store:
            store.put(CONFIG_WRITTEN, revision.of(new).encode(), durable=False)
    return read


def _member(document: object, bare: str) -> tuple[str, object]:
    """A member by its key without case and underscores; ("", None): there is none."""
    found = ((key, item) for key, item in as_object(document).items() if key.replace("_", "").lower() == bare)
    return next(found, ("", None))
