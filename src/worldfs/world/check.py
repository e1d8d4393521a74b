"""`paos check`: reads every file of a home, reports findings with fixes; `fix` sets files aside, deletes nothing."""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.access.token_file import token_findings
from worldfs.base import plugin_registry
from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, MissingRequirement, UserError, WorldError
from worldfs.base.extras import require
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.formats import environment, task
from worldfs.planning import task_review
from worldfs.robots.driver_registry import BODIES
from worldfs.runtime.job_store import ALERTS, DONE, OPEN, JobStore
from worldfs.runtime.stop_call import SOCKETS
from worldfs.runtime.stop_log import StopLog
from worldfs.runtime.stored_sheet import QUARANTINE
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.odd_entries import odd_entries
from worldfs.storage.revision import PRIVATE_DIR
from worldfs.storage.store_interface import Store
from worldfs.tree.workspace_stores import WorkspaceStores

from .check_runtime import broken_references
from .computed_files import read_alerts
from .document_findings import document_findings, unread_stops
from .earlier_workspaces import EarlierRobots, EarlierWorkspaces
from .home import Home
from .job_evidence import job_succeeded
from .layout import ROWS
from .left_robots import has_driver, left_finding, left_robots
from .node_specs import demand_driver, disabled_robots, find_nodes, profile_for, simulated_nodes
from .shared_profile import shared_profile
from .unsupported_config import unknown_approvals, unsupported_settings
from .workspace_engine import CheckedEngine, open_engine
from .workspace_targets import WorkspaceTargets

if TYPE_CHECKING:
    from worldfs.formats.config import Config


def check(place: Home | Path, *, fix: bool = False, environ: Mapping[str, str] | None = None) -> list[Finding]:
    """All findings of a home, or of one workspace directory. `environ`: overrides of config.json."""
    findings: list[Finding] = []
    config: Config | None = None
    root = place if isinstance(place, Path) else place.workspace
    if isinstance(place, Home):
        try:
            config = place.config(environ or {})
            root = place.root(config)
        except UserError as error:
            fix_text = error.fix or coded("file.correct_in_editor")
            path = error.path or str(place.config_path)
            findings.append(Finding(error.code, path, error.expected, error.found, fix_text))
        findings += _config(place, config, fix)
        findings += token_findings(place.path) if place.path.is_dir() else ()
        findings += (_misplaced(error, place.path) for error in odd_entries(place.path, PRIVATE_DIR))
    earlier = EarlierWorkspaces(str(place.path) if isinstance(place, Home) else "", root, SystemClock()).look()
    if not root.is_dir():
        return [
            *findings,
            *earlier.findings(),
            Finding("NOT_FOUND", str(root), coded("file.workspace"), coded("file.nothing"), coded("file.onboard")),
        ]
    robots = {
        robot.robot_id: Path(robot.workspace)
        for robot in (config.instances if config is not None and config.mode == "fleet" else ())
        if robot.enabled and Path(robot.workspace).is_dir()  # the start makes those that are not there yet
    }
    usable = {id: folder for id, folder in {"": root, **robots}.items() if _is_writable(folder, findings)}
    if "" not in usable:
        return [*findings, *earlier.findings()]
    with ExitStack() as opened:
        stores: dict[str, Store] = {
            id: opened.enter_context(closing(open_engine(root, robot=id, folder=folder)))
            for id, folder in usable.items()
        }
        store = stores.pop("")
        for id, own in {"": store, **stores}.items():
            findings += _documents(own, usable[id], fix, per_robot=bool(id))
        findings += broken_references(store)
        findings += plugin_registry.findings()
        findings += _task(store)
        findings += _bodies(config, WorkspaceStores(store, stores), place.profiles if isinstance(place, Home) else None)
        odd = {error.path: error for error in odd_entries(root, PRIVATE_DIR, flat=(OPEN, DONE), sockets=SOCKETS)}
        findings += (_misplaced(error, root) for error in odd.values())
        findings += _jobs(store, root, fix, odd)
        findings += _silent_drivers((store, *stores.values()))
        findings += _left_moving(config, WorkspaceStores(store, stores), earlier)
        for own in (store, *stores.values()):
            findings += _set_aside(own)
            findings += unread_stops(own)
            findings += own.findings() if isinstance(own, CheckedEngine) else ()
    return [*findings, *_pictures()]


def _is_writable(folder: Path, findings: list[Finding]) -> bool:
    findings += _links(folder)
    if os.access(folder, os.W_OK):
        return True
    fix = coded("file.chmod_w")
    findings.append(Finding("NOT_PERMITTED", str(folder), coded("file.writable"), coded("file.read_only"), fix))
    return False


def _config(home: Home, config: Config | None, fix: bool) -> Iterator[Finding]:
    path = home.config_path
    if not path.exists():
        yield Finding("NOT_FOUND", str(path), "config.json", coded("file.nothing"), coded("file.onboard"))
        return
    if config is not None:
        yield from config.findings
        yield from config.unread
        yield from unsupported_settings(config, home.root(config))
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        if fix:
            path.chmod(0o600)
        yield Finding(
            "SECRETS_READABLE",
            str(path),
            coded("file.mode_0600"),
            coded("file.mode", mode=mode),
            f"chmod 600 {shlex.quote(str(path))}",
            warning=fix,
        )


def _bodies(config: Config | None, stores: WorkspaceStores, own: Path | None) -> Iterator[Finding]:
    """A driver that is not installed is no fault of the files, but `paos up` would fail.

    `own`: the directory of the operator's profiles.
    """
    store = stores.shared
    declared = WorkspaceTargets(store).targets()
    specs = find_nodes(config, stores, declared)
    yield from unknown_approvals(config, (*(spec.id for spec in specs), *declared, *disabled_robots(config, store)))
    for spec in specs:
        try:
            stored = stores.robot(spec.id).get("EMBODIED.md")
        except UserError:
            stored = None  # reported where the document is read
        try:
            profile_for(spec, stored.data if stored else b"", "en", own)
            if shared := shared_profile(spec, specs, stores, stored.data if stored else b"", own):
                yield shared
        except UserError as error:
            yield Finding(error.code, error.path, error.expected, error.found, error.fix)
        try:
            demand_driver(spec, BODIES, declared, SystemClock())
        except BadInput as error:
            yield Finding("DRIVER_MISSING", error.path, error.expected, error.found, error.fix, warning=True)


def _left_moving(config: Config | None, stores: WorkspaceStores, earlier: EarlierRobots) -> Iterator[Finding]:
    """The robots that may still move, and the earlier workspaces that cannot be read."""
    store, declared = stores.shared, WorkspaceTargets(stores.shared).targets()
    specs, clock = find_nodes(config, stores, declared), SystemClock()
    unserved = store.lease(KERNEL_LEASE).holder() is None
    left = {**earlier.moving} | left_robots(
        JobStore(store, clock), StopLog(store, clock), lambda: simulated_nodes(specs, declared), lambda node: unserved
    )
    robots = {spec.id for spec in specs}
    said = {} if unserved else _alerts(store)  # of a robot that a kernel serves, the kernel knows more than the log
    for id, one in sorted(left.items()):
        yield said.get(f"stop {id}") or left_finding(id, one, served=has_driver(id, one, robots, declared))
    yield from earlier.unread


def _silent_drivers(stores: Iterable[Store]) -> Iterator[Finding]:
    """What a running kernel says against its drivers."""
    for store in stores:
        found = _alerts(store) if store.lease(KERNEL_LEASE).holder() is not None else {}
        yield from (item for where, item in found.items() if where.startswith("/nodes/") and where.count("/") == 2)


def _alerts(store: Store) -> Mapping[str, Finding]:
    """As its kernel wrote them last."""
    with suppress(UserError):  # an alert file that is no file is named as an odd entry
        alerts = store.get(ALERTS)
        return read_alerts(alerts.data) if alerts is not None else {}
    return {}


def _links(root: Path) -> Iterator[Finding]:
    """Report links that lead out of the workspace: they are never followed."""
    inside = root.resolve()
    for entry in root.iterdir():
        if _leads_out(entry, inside):
            yield Finding(
                "UNSAFE_PATH",
                str(entry),
                coded("file.own_file"),
                coded("file.link_to", path=os.path.realpath(entry)),
                coded("file.replace_link"),
            )


def _leads_out(entry: Path, inside: Path) -> bool:
    led = Path(os.path.realpath(entry))  # for a link to itself: the link
    return entry.is_symlink() and (led == inside / entry.name or not led.is_relative_to(inside))


def _task(store: Store) -> Iterator[Finding]:
    """Warnings for claims of TASK.md that the world does not support."""

    try:
        page, world = store.get(task.PATH), store.get("ENVIRONMENT.md")
        present = task.read(page.data if page else b"")
        progress = task.progress(page.data if page else b"")
        scene = environment.read(world.data if world else b"").scene
    except UserError:
        return  # reported already
    jobs = JobStore(store, SystemClock())
    claims = task_review.review(present, scene, progress=progress, happened=partial(job_succeeded, jobs))
    yield from task_review.findings(claims)


def _documents(store: Store, root: Path, fix: bool, *, per_robot: bool) -> Iterator[Finding]:
    """`per_robot`: of a directory that holds what a fleet keeps with each robot."""
    for row in ROWS:
        if not row.document or (per_robot and not row.per_robot):
            continue
        try:
            stored = store.get(row.key)
            for item in document_findings(row.document, stored.data) if stored is not None else ():
                yield item if item.field.startswith(row.key) else replace(item, field=f"{row.key} {item.field}".strip())
        except WorldError as error:
            if error.code == "UNSAFE_PATH" and _leads_out(root / row.key, root.resolve()):
                continue  # `_links` named it
            mended = fix and isinstance(error, BadInput) and _quarantine(store, row.key)
            fix_text = error.fix or coded("file.correct_or_set_aside")
            if mended:
                fix_text = coded("file.set_aside_renewed", name=mended)
            expected = error.expected or coded("file.readable_document")
            where = row.key if error.path in ("", row.key) else f"{row.key} {error.path.removeprefix(row.key).strip()}"
            yield Finding(error.code, f"{root}/{where}", expected, error.found, fix_text, warning=bool(mended))


def _jobs(store: Store, root: Path, fix: bool, odd: Collection[str]) -> Iterator[Finding]:
    jobs = JobStore(store, SystemClock())
    running = store.lease(KERNEL_LEASE).holder() is not None
    for id in dict.fromkeys((*jobs.open_ids(), *jobs.done_ids())):
        try:
            job = jobs.load(id)
        except UserError as error:
            if error.path in odd:
                continue
            mended = fix and isinstance(error, BadInput) and _quarantine(store, error.path)
            yield Finding(
                error.code,
                f"{root / error.path}",
                error.expected or coded("file.job_file"),
                error.found,
                coded("file.set_aside", name=mended) if mended else coded("file.fix_sets_aside"),
                id,
                bool(mended),
            )
            continue
        if job.status.state.value == "running" and not running:
            yield Finding(
                "LOST",
                f"{root / OPEN / id}",
                coded("file.running_kernel"),
                coded("file.running_without"),
                coded("file.up_ends_it"),
                id,
                True,
            )


def _misplaced(error: WorldError, root: Path) -> Finding:
    expected, fix = error.expected or coded("common.a_file"), error.fix or coded("common.remove_it")
    return Finding(error.code, f"{root / error.path}", expected, error.found, fix)


def _set_aside(store: Store) -> Iterator[Finding]:
    try:
        names = store.list(QUARANTINE)
    except UserError as error:
        yield Finding(
            error.code,
            QUARANTINE,
            error.expected or coded("common.directory"),
            error.found,
            error.fix or coded("common.remove_it"),
        )
        return
    if names:
        yield Finding(
            "QUARANTINE",
            QUARANTINE,
            coded("file.nothing_aside"),
            coded("file.n_files", n=len(names), names=names[:5]),
            coded("file.look_submit_remove"),
            warning=True,
        )


def _quarantine(store: Store, key: str) -> str:
    """Move a file out of the way under the hash of what is in it."""
    stored = store.get(key)
    digest = hashlib.blake2b(stored.data if stored else b"", digest_size=8).hexdigest()
    name = f"{QUARANTINE}/{key.rsplit('/', 1)[-1]}-{digest}"
    if store.get(name) is None:
        store.move(key, name)
    else:
        store.delete(key)  # the same bytes are there already
    return name


def _pictures() -> Iterator[Finding]:
    if sys.platform != "linux":
        yield Finding(
            "NO_CHANGE_FEED",
            coded("file.this_machine"),
            coded("file.inotify"),
            sys.platform,
            coded("file.rescanning"),
            warning=True,
        )
    try:
        require("sim")
    except MissingRequirement as error:
        yield Finding(error.code, coded("file.the_simulation"), "mujoco", error.found, error.fix, warning=True)
        return
    from worldfs.robots.mujoco.gl import gl_status

    status = gl_status()
    if not status.backend:
        yield Finding("NO_GL", coded("file.pictures"), coded("file.opengl"), status.why, status.fix, warning=True)
