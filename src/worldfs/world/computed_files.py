"""The computed files of a workspace: how a View renders, and how a Sheet or Control handles a write."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import finding_message, render_finding
from worldfs.runtime.job_store import ALERTS, CONTROL, JobStore
from worldfs.runtime.stop_log import StopLog
from worldfs.storage.store_interface import Store
from worldfs.tree.path import safe_name
from worldfs.tree.verb_values import WriteContext
from worldfs.tree.virtual_file import Names, VirtualFile

from . import home_pages

if TYPE_CHECKING:
    from worldfs.base.model import Finding, Job, Order
    from worldfs.formats.sheet_format import SheetFormat
    from worldfs.storage.dated_versions import DatedVersions

    from .robot_stops import RobotStops


class ViewFile(VirtualFile):
    """Computed on read, never written."""

    def __init__(self, render: Callable[[Names], bytes]) -> None:
        self.render = render

    def read(self, names: Names) -> bytes:
        return self.render(names)


class PageFile(VirtualFile):
    """The same for as long as the process runs: rendered once."""

    light = fixed = True

    def __init__(self, render: Callable[[], bytes]) -> None:
        self._render = render

    @cached_property
    def _page(self) -> bytes:
        return self._render()

    def read(self, names: Names) -> bytes:
        return self._page


class SheetFile(VirtualFile):
    """ACTION.md, SESSIONS.md: reading renders the jobs, writing submits the ids that are new and obeys `cancelled`."""

    def __init__(self, store_of: Callable[[str], Store], jobs: JobStore, page: Callable[[], SheetFormat]) -> None:
        """`store_of`: where the sheet of a node lies; "": of the project."""
        self.store_of = store_of
        self.jobs = jobs
        self.page = page

    def read(self, names: Names) -> bytes:
        from worldfs.runtime.stored_sheet import sheet_text

        page = self.page()
        store = self.store_of(names.get("node", ""))
        stored = store.get(page.file)
        data = stored.data if stored else b""
        try:
            entries = {entry.id for entry in page.read(data).entries}
        except BadInput as error:
            if error.code != "FIELD_UNREAD":
                raise
            return data  # a field beside the entries refuses the file: as it is, so that its author finds the field
        jobs = (job for id in sorted(entries | set(self.jobs.open_ids())) if (job := self._job(id)) is not None)
        here = [
            job
            for job in jobs
            if job.order.sheet == page.file and (job.id in entries or self.store_of(job.order.node) is store)
        ]
        return sheet_text(data, here, page)

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        """Durable when it returns. Valid entries are accepted even if others are refused."""

        from worldfs.runtime.stored_sheet import id_reused

        page = self.page()
        sheet = page.read(data, node=names.get("node", ""))
        refused = [item for item in sheet.findings if not item.warning]
        new, cancel = [], []
        for entry in sheet.entries:
            known = self._job(entry.id) if entry.id else None
            if entry.order is None:
                continue  # the sheet's findings report it
            if known is None:
                if entry.state == "pending":
                    new.append(replace(entry.order, asker=ask.actor, orderer=ask.orderer))
            elif page.digest(known.order) != page.digest(entry.order):
                refused.append(id_reused(page.file, known.order, entry.order))
            elif entry.state == "cancelled":
                cancel.append(entry.id)
        self.jobs.accept(new)
        for id in cancel:
            self.jobs.request_cancel(id, ask.actor)
        if refused:
            said = reduce(
                lambda one, more: coded("world.and_then", one=one, more=more), map(finding_message, refused[:5])
            )
            rest = coded("world.some_refused", n=len(new), m=len(refused), said=said)
            raise BadInput(rest, path=page.file, op="write", actor=ask.actor, code=refused[0].code)

    def submit(self, order: Order, actor: str) -> None:
        """The order of a program, which needs no entry; durable when it returns. A known one is left alone."""

        from worldfs.formats.values import plain
        from worldfs.runtime.stored_sheet import id_reused

        page, order = self.page(), replace(order, asker=actor, params=plain(order.params))
        named = order.params.get("robot_id") or order.node
        if named != order.node:
            found = coded("world.params_robot", named=named)
            raise BadInput(found, path=order.id, op="submit", expected=order.node, code="NODE_MISMATCH")
        if self.jobs.accept([order])[0].new:
            return
        known = self._job(order.id)
        if known is not None and page.digest(known.order) != page.digest(order):
            reused = id_reused(page.file, known.order, order)
            raise BadInput(finding_message(reused), path=page.file, op="submit", actor=actor, code=reused.code)

    def _job(self, id: str) -> Job | None:
        try:
            return self.jobs.load(id)
        except UserError:  # `paos check` reports unreadable jobs
            return None


def actions_page() -> SheetFormat:
    from worldfs.formats import action_write

    return action_write.PAGE


def sessions_page() -> SheetFormat:
    from worldfs.formats.runtime import sessions_write

    return sessions_write.PAGE


class CancelFile(VirtualFile):
    """A job's `cancel`: any write asks the kernel to stop it."""

    def __init__(self, jobs: JobStore) -> None:
        self.jobs = jobs

    def read(self, names: Names) -> bytes:
        self.jobs.load(names["job"])
        return b""

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        self.jobs.request_cancel(names["job"], ask.actor)


class StopFile(VirtualFile):
    """A node's `stop`: any write stops its robot at once; reading returns the stop state."""

    def __init__(self, stops: StopLog, robots: RobotStops) -> None:
        self.stops, self.robots = stops, robots

    def read(self, names: Names) -> bytes:
        node = names["node"]
        return (json.dumps(self.robots.state_value(node), ensure_ascii=False) + "\n").encode()

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        self.robots.stop([names["node"]], ask.name)


class ResumeFile(StopFile):
    """A node's `resume`: any write lets the robot work again, unless an actor of a higher standing has stopped it."""

    def __init__(self, stops: StopLog, robots: RobotStops, nodes: Callable[[], Sequence[str]]) -> None:
        super().__init__(stops, robots)
        self.nodes = nodes

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        node = names["node"]
        self.robots.resume([node], ask.name, [other for other in self.nodes() if other != node])


class FilmFile(VirtualFile):
    """A node's `film`: the pending command, "-" to stop; empty: none."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def read(self, names: Names) -> bytes:
        stored = self.store.get(f"{CONTROL}/{names['node']}")
        return b"" if stored is None else stored.data or b"-"

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        name = film_name(data.decode("utf-8", "replace"), names["node"])
        self.store.put(f"{CONTROL}/{names['node']}", name.encode())


def film_name(text: str, node: str) -> str:
    """A valid film file name, or "" to stop. Checked at the write and again by the kernel: both are entry points."""
    name = text.strip()
    if name and not (safe_name(name) and name.lower().endswith((".gif", ".mp4"))):
        found, expected = coded("world.bad_film_name", name=name[:80]), coded("world.film_name")
        raise BadInput(found, path=f"/nodes/{node}/film", op="film", expected=expected)
    return name


class JobFile(VirtualFile):
    """A file of a job, by its order and status; of any time, for each line of the job's own file carries one."""

    def __init__(self, jobs: JobStore, render: Callable[[Job], bytes]) -> None:
        self.jobs, self.render = jobs, render

    def read(self, names: Names) -> bytes:
        job = self.jobs.load(names["job"])
        self._require_own(job, names)
        return self.render(job)

    def past(self, names: Names) -> DatedVersions:
        from worldfs.storage.dated_versions import DatedVersion, DatedVersions

        found = self.jobs.versions(names["job"])
        self._require_own(found[0].job, names)
        return DatedVersions(
            [DatedVersion(one.at_ns, partial(self.render, one.job) if one.known else None) for one in found]
        )

    @staticmethod
    def _require_own(job: Job, names: Names) -> None:
        if job.order.node != names["node"]:
            raise NotFound(coded("world.no_job_of", id=job.id, node=names["node"]), path=job.id, op="read")


def job_views(jobs: JobStore) -> dict[str, JobFile]:
    def result(job: Job) -> bytes:
        outcome = job.status.outcome
        return b"" if outcome is None else (outcome.message + "\n").encode()

    def order(job: Job) -> bytes:
        from worldfs.runtime.job_codec import order_bytes

        return order_bytes(job.order, job.status.accepted_at)

    def status(job: Job) -> bytes:
        from worldfs.runtime.job_codec import status_bytes

        return status_bytes(job.status)

    return {"job": JobFile(jobs, order), "status": JobFile(jobs, status), "result": JobFile(jobs, result)}


def meta_views(store: Store, language: Callable[[], str]) -> dict[str, VirtualFile]:
    def told(names: Names) -> bytes:
        return json.dumps(current_alerts(store, language()), ensure_ascii=False, indent=1).encode("utf-8", "replace")

    return {"alerts": ViewFile(told), **meta_pages()}


def meta_pages() -> dict[str, VirtualFile]:
    """The functions of `home_pages` as files: a row and a function there are a new page."""
    found = vars(home_pages).items()
    return {name: PageFile(item) for name, item in found if getattr(item, "__module__", "") == home_pages.__name__}


def key_exists(store: Store, key: str) -> bool:
    """Whether anything has that name, also a link or a directory that readers refuse."""
    try:
        return store.probe(key) is not None
    except UserError:
        return True


def current_alerts(store: Store, language: str) -> dict[str, dict[str, object]]:
    """The current alerts by path, as the kernel last wrote them, in `language`."""

    try:
        stored = store.get(ALERTS)
    except UserError as error:  # a link or a directory has its name: the kernel cannot write alerts
        from worldfs.base.model import Finding

        fix = error.fix or coded("runtime.remove_alerts", path=ALERTS)
        return {ALERTS: asdict(render_finding(Finding(error.code, ALERTS, error.expected, error.found, fix), language))}
    found = read_alerts(stored.data) if stored is not None else {}
    return {where: asdict(render_finding(item, language)) for where, item in found.items()}


def read_alerts(data: bytes) -> dict[str, Finding]:
    """The alerts as a kernel wrote them; none that it did not write, or that another version wrote."""
    from worldfs.runtime.job_codec import read_finding

    try:
        value = parse_json(data)
        return {where: read_finding(item, item.pop("codes", None)) for where, item in value.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
