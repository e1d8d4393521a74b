"""A sheet on a plain disk: read by id when another program wrote it, then rendered, always in that order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from worldfs.base.document_size import DOCUMENT_MOST, too_large
from worldfs.base.errors import BadInput, Conflict, Exists, Unsafe, UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Job, Order
from worldfs.formats import action, action_write
from worldfs.formats.entry_ids import TRANSIENT
from worldfs.formats.sheet_format import SheetFormat
from worldfs.formats.values import plain
from worldfs.storage.foreign_edits import ForeignEdits
from worldfs.storage.store_interface import ABSENT, Store

from .job_codec import finding_fields
from .job_store import JobStore, is_ended

SHOWN = 50  # ended jobs that stay in the sheet when new orders come in; all of them stay in .paos/done (workspace D29)
MOST_SHOWN = 5000  # and never more than that, even while new ones come in all the time
ROOM = 10_000  # entries of one sheet; open jobs beyond that run, but are not shown yet
SET_ASIDE = 1_000  # refused entries of one sheet that are copied; all of them stay, marked, where they are
SAID_AGAIN = 20  # of the entries that were refused before, these many are named again, at a start or a rewrite
QUARANTINE = ".paos/quarantine"

Refusals = Sequence[tuple[action.SheetEntry, Finding]]


@dataclass(slots=True)
class SheetDiff:
    """What a foreign write asks for."""

    new: list[Order] = field(default_factory=list)
    lost: list[Order] = field(default_factory=list)  # new ids found in the middle of running (workspace D27)
    cancel: list[str] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)  # cancelled before they were accepted
    refused: list[tuple[Order, Finding]] = field(default_factory=list)  # what cannot be read, as far as it says
    displaced: bool = False  # some of it comes from displaced copies, which `forget` drops


class StoredSheet:
    """A sheet of one directory. State never lives in it: it can be rendered again from the jobs at any time."""

    def __init__(
        self,
        store: Store,
        key: str,
        jobs: JobStore,
        node: str,
        alert: Callable[[str, Finding | None], None],
        *,
        page: SheetFormat = action_write.PAGE,
        name: str = "",
        elsewhere: Collection[str] = (),
    ) -> None:
        """`name`: of the sheet, in alerts, else its key. `elsewhere`: robots that have a sheet of their own."""
        self.page = page
        self.name = name or key
        self.elsewhere = elsewhere
        self.store = store
        self._edits = store if isinstance(store, ForeignEdits) else None
        self.key = key
        self.jobs = jobs
        self.node = node  # the robot meant when an entry names none (workspace D14)
        self.alert = alert
        self.dirty = False
        self._token: str | None = None
        self._revision: str | None = None
        self._data = b""
        self._read: action.ParsedSheet | None = page.read(b"")  # None: what we wrote ourselves, not read again yet
        self._readable = True
        self._missing = True
        self._overfull = False  # with the present states it would be larger than can be read
        self._jobs: dict[str, Job] = {}  # what the sheet shows
        self._digest: dict[str, str] = {}  # id → digest of the true order
        self._unshown: dict[str, None] = {}  # accepted, not yet in the file
        self._quarantined: set[str] = set()
        self._history: set[str] = set()  # ended entries that were never jobs here
        self._prune = False
        self._rested: set[str] = set()  # ended, and shown while nothing was open
        self._named: set[str] = set()  # places of the alerts that this file gave
        self._made: dict[str, Order] = {}  # id → the entry's order, of which the job was made
        self.changed = True  # the change feed reports a write, or another program's write was met
        self.look_aside = True  # the change feed reports a write to a displaced copy

    @property
    def readable(self) -> bool:
        """False while the file holds a half-written or broken text of another program."""
        return self._readable

    def update(self, job: Job) -> None:
        """A job of this sheet is new or has a new status."""
        if job.id not in self._jobs:
            self._unshown[job.id] = None
            self._prune = True
        self._jobs[job.id] = job
        self.dirty = True

    def accepted(self, order: Order) -> None:
        """The order of an entry has become a job: as long as the entry is not read again, it is that of the job."""
        self._made[order.id] = order

    def read_changes(self) -> SheetDiff:
        """Read what other programs wrote since the last call. Costs nothing unless a change was reported."""
        taken = SheetDiff()
        if self.look_aside and self._edits is not None:
            self.look_aside = False
            for data in self._edits.displaced(self.key, keep=True):
                taken.displaced = True
                self._take_displaced(data, taken)
        if not self.changed:
            return taken
        self.changed = False
        try:
            token = self.store.probe(self.key)
            if self._readable if self._missing and token is None else token == self._token and not self._missing:
                return taken
            stored = self.store.get(self.key)
            self._token = token
            self._missing = stored is None
            revision = stored.revision if stored else None
            if revision == self._revision and self._readable:
                return taken
            self._revision, self._data = revision, stored.data if stored else b""
            self._read = self.page.read(self._data, node=self.node)
        except UserError as error:
            # An unreadable file (a link, half a text) is left alone: the last good state counts, nothing is rendered.
            self._readable = False
            self.alert(
                self.name,
                Finding(
                    error.code,
                    self.name if error.path in ("", self.key) else f"{self.name} {error.path}",
                    error.expected or coded("runtime.readable_queue"),
                    error.found,
                    error.fix or coded("runtime.repair_queue"),
                ),
            )
            return taken
        self._readable = True
        self.alert(self.name, self._read.note)
        named = self._take(self._read, self._data, taken)
        for mended in self._named - named:
            self.alert(mended, None)
        self._named = named
        self.dirty = True
        return taken

    def forget(self) -> None:
        """The orders of the displaced copies are durable: drop the copies."""
        if self._edits is not None:
            self._edits.forget(self.key)

    def render(self) -> bool:
        """Write the jobs' states into the file. False: another program wrote first, or the file is unreadable."""
        if not self._readable:
            return False
        if self._read is None:
            self._read = self.page.read(self._data, node=self.node)
        entries = self._read.entries
        seen = {entry.id for entry in entries}
        for id in [
            id for id, job in self._jobs.items() if id not in seen and id not in self._unshown and is_ended(job)
        ]:
            self._let_go(id)  # its author took it out: the record has it, if it ever comes back
        add, cut = [job for job in self._jobs.values() if job.id not in seen], False
        drop = self._old() if self._prune else []
        add = add[: max(0, ROOM - len(entries) + len(drop))]
        marks = {e.index: finding for e in entries if (finding := self._refused(e)) is not None}
        if add or drop or marks or seen:
            while True:
                data = action_write.write(self._data, self._jobs, drop=drop, add=add, marks=marks, page=self.page)
                if len(data) <= DOCUMENT_MOST or not add:
                    break
                add, cut = add[: len(add) // 2], True  # the others run, and are not shown yet
            if len(data) > DOCUMENT_MOST:  # it could not be read again: it stays as it is, and says so
                error = too_large(len(data))
                self.alert(self.name, Finding(error.code, self.name, error.expected, error.found, error.fix))
                self.dirty, self._overfull = False, True
                return True
            if self._overfull:
                self._overfull = False
                self.alert(self.name, self._read.note)
            if data != self._data:
                try:
                    expect = ABSENT if self._revision is None else self._revision
                    self._revision = self.store.put(self.key, data, expect, durable=False)
                except (Conflict, Exists, Unsafe):  # another program wrote, or put a link there
                    self._token, self.changed = None, True
                    return False
                self._token = None  # the file may have changed since: the next call reads, and compares revisions
                self._data, self._missing, self._read = data, False, None
        for id in drop:
            self._let_go(id)
        self._unshown = {id: None for id in self._unshown if id in self._jobs and (cut or len(seen) + len(add) >= ROOM)}
        self._prune = self.dirty = False
        if all(is_ended(job) for job in self._jobs.values()):
            self._rested = set(self._jobs)
        return True

    def _let_go(self, id: str) -> None:
        self._jobs.pop(id, None)
        self._digest.pop(id, None)
        self._made.pop(id, None)

    def _old(self) -> list[str]:
        """Ended jobs whose entries are removed: all but the newest of those shown while idle; any beyond MOST_SHOWN."""
        over = sorted((job for job in self._jobs.values() if is_ended(job)), key=lambda job: job.status.completed_at)
        rested = [job.id for job in over if job.id in self._rested]
        many = [job.id for job in over[: max(0, len(over) - MOST_SHOWN)] if job.id not in self._unshown]
        return list(dict.fromkeys([*rested[: max(0, len(rested) - SHOWN)], *many]))

    def _take_displaced(self, data: bytes, taken: SheetDiff) -> None:
        """Read what a slow writer wrote into a copy that had been replaced meanwhile."""
        try:
            self._take(self.page.read(data, node=self.node), data, taken)
        except BadInput as error:
            name = f"{QUARANTINE}/{self.key}-{hashlib.blake2b(data, digest_size=8).hexdigest()}"
            self.store.put(name, data)
            self.alert(
                name,
                Finding(
                    error.code,
                    name,
                    error.expected or coded("runtime.readable_queue"),
                    error.found,
                    coded("runtime.older_copy"),
                ),
            )

    def _take(self, sheet: action.ParsedSheet, data: bytes, taken: SheetDiff) -> set[str]:
        """The places of the alerts that it gives. `data`: the bytes that `sheet` was read from."""
        refused: list[tuple[action.SheetEntry, Finding]] = []
        over: list[tuple[action.SheetEntry, Finding]] = []
        named: set[str] = set()
        for entry in sheet.entries:
            if entry.order is None and entry.state == "terminal":
                if entry.finding is not None and len(over) < SAID_AGAIN:
                    over.append((entry, entry.finding))
                continue  # its refusal is in the entry already
            finding = self._refused(entry)
            if finding is not None:
                refused.append((entry, finding))
                continue
            if entry.finding is not None:  # a warning does not refuse the entry
                self.alert(f"{self.name}#{entry.id}", entry.finding)
                named.add(f"{self.name}#{entry.id}")
            if entry.order is None or (entry.state == "terminal" and entry.id in self._history):
                continue
            known = self._known(entry.id)
            finding = self._refused(entry) if known is not None else None
            if finding is not None:
                refused.append((entry, finding))
            elif known is not None:
                if entry.state == "cancelled" and not is_ended(known):
                    taken.cancel.append(entry.id)
            elif entry.state == "pending":
                taken.new.append(entry.order)
            elif entry.state == "between":
                taken.lost.append(entry.order)
            elif entry.state == "cancelled":
                taken.withdrawn.add(entry.id)
            elif entry.state == "terminal":
                self._history.add(entry.id)  # of an old workspace: shown, never run (workspace D26)
        if refused or over:
            named |= self._set_aside(refused, over, data, taken)
        return named

    def _known(self, id: str) -> Job | None:
        if id not in self._jobs:
            try:
                self._jobs[id] = self.jobs.load(id)
            except UserError:
                return None
        return self._jobs[id]

    def _refused(self, entry: action.SheetEntry) -> Finding | None:
        """Why an entry is refused: no valid order, a robot with its own sheet, another order's id (workspace D23)."""
        if entry.finding is not None and not entry.finding.warning:
            return entry.finding
        if entry.order is not None and entry.order.node in self.elsewhere:
            expected, fix = coded("runtime.shared_sheet"), coded("runtime.own_sheet", node=entry.order.node)
            return Finding("NODE_MISMATCH", f"{self.name} {entry.id}", expected, entry.order.node, fix, entry.id)
        if entry.order is None or entry.id not in self._jobs or self._made.get(entry.id) is entry.order:
            return None
        true = self._jobs[entry.id].order
        if entry.id not in self._digest:
            self._digest[entry.id] = self.page.digest(true)
        if self.page.digest(entry.order) == self._digest[entry.id]:
            return None
        return id_reused(self.name, true, entry.order)

    def _set_aside(self, refused: Refusals, over: Refusals, data: bytes, taken: SheetDiff) -> set[str]:
        """Copy refused entries to where nobody overwrites them, each once, and name them; those of `over`, refused
        before, are only named. Returns the places of the alerts."""
        found, _ = self.page.locate(data.decode("utf-8", "replace"))
        entries = [] if found is None else self.page.entries_of(found.value)
        copies: dict[str, bytes] = {}
        meant: list[tuple[Order, Finding] | None] = []
        named: set[str] = set()
        for i, (entry, finding) in enumerate([*over, *refused[:SET_ASIDE]]):
            raw = entries[entry.index] if entry.index < len(entries) else None
            # Our own marks, and its position in the file, do not make it a different entry.
            said = {key: value for key, value in raw.items() if key not in TRANSIENT} if isinstance(raw, dict) else raw
            digest = json.dumps([finding.code, plain(said)], sort_keys=True)
            name = hashlib.blake2b(digest.encode(), digest_size=8).hexdigest()
            place = f"{self.name}#{entry.id or name}"
            self.alert(place, finding)
            named.add(place)
            if i >= len(over) and name not in self._quarantined:
                self._quarantined.add(name)
                value = {"file": self.key, "finding": finding_fields(finding), "entry": plain(raw)}
                text = json.dumps(value, ensure_ascii=False, indent=1)
                copies[f"{QUARANTINE}/{self.key}-{name}.json"] = text.encode("utf-8", "replace")
                meant.append(_meant(entry, raw, finding))
        made = self.store.put_many(copies.items())
        # Entries that were copied in an earlier run have their lessons already.
        taken.refused += [item for item, revision in zip(meant, made, strict=True) if item and revision is not None]
        return named


def id_reused(key: str, true: Order, other: Order) -> Finding:
    """The finding for an id that belongs to another order, which stays as it is (workspace D23)."""
    taken, wanted = (
        f"{order.op} {json.dumps(order.params, ensure_ascii=False, default=str)} on {order.node}"
        for order in (true, other)
    )
    expected, fix = coded("runtime.id_taken", order=taken), coded("runtime.own_id")
    return Finding("ID_REUSED", f"{key} {true.id}", expected, wanted, fix, true.id)


def _meant(entry: action.SheetEntry, raw: object, finding: Finding) -> tuple[Order, Finding] | None:
    """The order of a refused entry, for the lesson; None when it names no action."""
    if entry.state != "pending" or finding.code != BadInput.code or not isinstance(raw, dict):
        return None
    op = raw.get("action_type", raw.get("skill_ref", raw.get("skillruntime_ref")))
    params, node = raw.get("params", raw.get("parameters")), raw.get("robot_id", raw.get("target_ref"))
    if not isinstance(op, str):
        return None
    node = node if isinstance(node, str) else ""
    return Order(entry.id, node, op, params if isinstance(params, dict) else {}), finding


def sheet_text(data: bytes, jobs: Iterable[Job], page: SheetFormat = action_write.PAGE) -> bytes:
    """The sheet as read through the tree: the file, with every job's present state."""
    table: Mapping[str, Job] = {job.id: job for job in jobs}
    seen = {entry.id for entry in page.read(data).entries}
    add = [job for job in table.values() if job.id not in seen and not is_ended(job)]
    return action_write.write(data, table, add=add, page=page)
