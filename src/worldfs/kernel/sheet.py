"""A sheet on a plain disk: taken in by id when somebody else wrote it, then rendered, always in that order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from worldfs.formats import action, action_write
from worldfs.formats.ids import TRANSIENT
from worldfs.formats.page import Page
from worldfs.formats.values import plain
from worldfs.ground.errors import BadInput, Conflict, Exists, Unsafe, UserError
from worldfs.ground.model import Finding, Job, Order
from worldfs.tree.stores.contract import ABSENT, Store

from .jobs import Jobs, ended

SHOWN = 50  # ended jobs that stay in the sheet when new orders come in; all of them stay in .paos/done (D29)
MOST_SHOWN = 5000  # and never more than that, even while new ones come in all the time
ROOM = 10_000  # entries of one sheet; open jobs beyond that wait for their line, not for their turn
SET_ASIDE = 1_000  # refused entries of one sheet that are copied; all of them stay, marked, where they are
SAID_AGAIN = 20  # of the entries that were refused before, these many are named again, at a start or a rewrite
QUARANTINE = ".paos/quarantine"

Refusals = Sequence[tuple[action.Entry, Finding]]


@dataclass(slots=True)
class Taken:
    """What a foreign write asks for."""

    new: list[Order] = field(default_factory=list)
    lost: list[Order] = field(default_factory=list)  # new ids found in the middle of running (D27)
    cancel: list[str] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)  # cancelled before they were accepted
    refused: list[tuple[Order, Finding]] = field(default_factory=list)  # what cannot be read, as far as it says
    displaced: bool = False  # some of it comes from copies that `forget` lets go


class Sheet:
    """A sheet of one directory. State never lives in it: it can be rendered again from the jobs at any time."""

    def __init__(
        self,
        store: Store,
        key: str,
        jobs: Jobs,
        node: str,
        alert: Callable[[str, Finding | None], None],
        *,
        page: Page = action_write.PAGE,
    ) -> None:
        self.page = page
        self.store = store
        self.key = key
        self.jobs = jobs
        self.node = node  # the robot meant when an entry names none (D14)
        self.alert = alert
        self.dirty = False
        self._token: str | None = None
        self._revision: str | None = None
        self._data = b""
        self._read: action.Sheet | None = page.read(b"")  # None: what we wrote ourselves, not read again yet
        self._readable = True
        self._missing = True
        self._jobs: dict[str, Job] = {}  # what the sheet shows
        self._digest: dict[str, str] = {}  # id → digest of the true order
        self._unshown: dict[str, None] = {}  # accepted, not yet in the file
        self._quarantined: set[str] = set()
        self._history: set[str] = set()  # ended entries that were never ours
        self._prune = False
        self._rested: set[str] = set()  # ended, and shown while nothing was open: who waits for them has had its chance
        self._named: set[str] = set()  # places of the alerts that this file gave
        self.look_aside = True  # the change feed says that a copy which was pushed aside has been written to

    @property
    def readable(self) -> bool:
        """False while somebody's half-written or broken text stands in the file."""
        return self._readable

    def update(self, job: Job) -> None:
        """A job of this sheet is new or has a new status."""
        if job.id not in self._jobs:
            self._unshown[job.id] = None
            self._prune = True
        self._jobs[job.id] = job
        self.dirty = True

    def take_in(self) -> Taken:
        """Read what others wrote since the last look. Cheap when nobody did."""
        taken = Taken()
        if self.look_aside:
            self.look_aside = False
            for data in self.store.displaced(self.key, keep=True):
                taken.displaced = True
                self._take_displaced(data, taken)
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
            # The unreadable (a link, half a text) is left alone: the last good state stands, nothing is rendered.
            self._readable = False
            self.alert(
                self.key,
                Finding(
                    error.code,
                    self.key if error.path in ("", self.key) else f"{self.key} {error.path}",
                    error.expected or "a readable queue",
                    error.found,
                    error.fix or "repair the file, or `paos check --fix` to set it aside",
                ),
            )
            return taken
        self._readable = True
        self.alert(self.key, self._read.note)
        named = self._take(self._read, self._data, taken)
        for mended in self._named - named:
            self.alert(mended, None)
        self._named = named
        self.dirty = True
        return taken

    def forget(self) -> None:
        """What displaced copies asked for is durable."""
        self.store.forget(self.key)

    def render(self) -> bool:
        """Write the jobs' states into the file. False: somebody else wrote first, or it is unreadable."""
        if not self._readable:
            return False
        if self._read is None:
            self._read = self.page.read(self._data, node=self.node)
        entries = self._read.entries
        seen = {entry.id for entry in entries}
        for id in [id for id, job in self._jobs.items() if id not in seen and id not in self._unshown and ended(job)]:
            self._let_go(id)  # its author took it out: the record has it, if it ever comes back
        add = [job for job in self._jobs.values() if job.id not in seen]
        drop = self._old() if self._prune else []
        add = add[: max(0, ROOM - len(entries) + len(drop))]
        marks = {e.index: finding for e in entries if (finding := self._refused(e)) is not None}
        if add or drop or marks or seen:
            data = action_write.write(self._data, self._jobs, drop=drop, add=add, marks=marks, page=self.page)
            if data != self._data:
                try:
                    expect = ABSENT if self._revision is None else self._revision
                    self._revision = self.store.put(self.key, data, expect, durable=False)
                except (Conflict, Exists, Unsafe):  # somebody wrote, or put a link there
                    self._token = None
                    return False
                self._token = None  # somebody may have written since: the next look reads, and compares revisions
                self._data, self._missing, self._read = data, False, None
        for id in drop:
            self._let_go(id)
        self._unshown = {id: None for id in self._unshown if id in self._jobs and len(seen) + len(add) >= ROOM}
        self._prune = self.dirty = False
        if all(ended(job) for job in self._jobs.values()):
            self._rested = set(self._jobs)
        return True

    def _let_go(self, id: str) -> None:
        self._jobs.pop(id, None)
        self._digest.pop(id, None)

    def _old(self) -> list[str]:
        """Ended jobs whose entries go: all but the newest of those shown at rest, and whatever is far too many."""
        over = sorted((job for job in self._jobs.values() if ended(job)), key=lambda job: job.status.completed_at)
        rested = [job.id for job in over if job.id in self._rested]
        many = [job.id for job in over[: max(0, len(over) - MOST_SHOWN)] if job.id not in self._unshown]
        return list(dict.fromkeys([*rested[: max(0, len(rested) - SHOWN)], *many]))

    def _take_displaced(self, data: bytes, taken: Taken) -> None:
        """What a slow writer wrote into a copy that we had replaced meanwhile."""
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
                    error.expected or "a readable queue",
                    error.found,
                    "a program wrote this into an older copy of the file; submit it again if it is wanted",
                ),
            )

    def _take(self, sheet: action.Sheet, data: bytes, taken: Taken) -> set[str]:
        """The places of the alerts that it gives. `data`: the bytes that `sheet` was read from."""
        refused: list[tuple[action.Entry, Finding]] = []
        over: list[tuple[action.Entry, Finding]] = []
        named: set[str] = set()
        for entry in sheet.entries:
            if entry.order is None and entry.state == "terminal":
                if entry.finding is not None and len(over) < SAID_AGAIN:
                    over.append((entry, entry.finding))
                continue  # its refusal stands beside it already
            finding = self._refused(entry)
            if finding is not None:
                refused.append((entry, finding))
                continue
            if entry.finding is not None:  # a warning refuses nothing
                self.alert(f"{self.key}#{entry.id}", entry.finding)
                named.add(f"{self.key}#{entry.id}")
            if entry.order is None or (entry.state == "terminal" and entry.id in self._history):
                continue
            known = self._known(entry.id)
            finding = self._refused(entry) if known is not None else None
            if finding is not None:
                refused.append((entry, finding))
            elif known is not None:
                if entry.state == "cancelled" and not ended(known):
                    taken.cancel.append(entry.id)
            elif entry.state == "pending":
                taken.new.append(entry.order)
            elif entry.state == "between":
                taken.lost.append(entry.order)
            elif entry.state == "cancelled":
                taken.withdrawn.add(entry.id)
            elif entry.state == "terminal":
                self._history.add(entry.id)  # of an old workspace: shown, never run (D26)
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

    def _refused(self, entry: action.Entry) -> Finding | None:
        """Why an entry does not count: it says nothing, or its id is taken by another order (D23)."""
        if entry.finding is not None and not entry.finding.warning:
            return entry.finding
        if entry.order is None or entry.id not in self._jobs:
            return None
        true = self._jobs[entry.id].order
        if entry.id not in self._digest:
            self._digest[entry.id] = self.page.digest(true)
        if self.page.digest(entry.order) == self._digest[entry.id]:
            return None
        return id_reused(self.key, true, entry.order)

    def _set_aside(self, refused: Refusals, over: Refusals, data: bytes, taken: Taken) -> set[str]:
        """Copy refused entries to where nobody overwrites them, each once, and name them; those of `over`, refused
        before, are only named. Returns the places of the alerts."""
        found, _ = self.page.locate(data.decode("utf-8", "replace"))
        entries = [] if found is None else self.page.entries_of(found.value)
        copies: dict[str, bytes] = {}
        meant: list[tuple[Order, Finding] | None] = []
        named: set[str] = set()
        for i, (entry, finding) in enumerate([*over, *refused[:SET_ASIDE]]):
            raw = entries[entry.index] if entry.index < len(entries) else None
            # Our own marks and another place in the file do not make it another entry.
            said = {key: value for key, value in raw.items() if key not in TRANSIENT} if isinstance(raw, dict) else raw
            digest = json.dumps([finding.code, plain(said)], sort_keys=True)
            name = hashlib.blake2b(digest.encode(), digest_size=8).hexdigest()
            place = f"{self.key}#{entry.id or name}"
            self.alert(place, finding)
            named.add(place)
            if i >= len(over) and name not in self._quarantined:
                self._quarantined.add(name)
                value = {"file": self.key, "finding": asdict(finding), "entry": plain(raw)}
                text = json.dumps(value, ensure_ascii=False, indent=1)
                copies[f"{QUARANTINE}/{self.key}-{name}.json"] = text.encode("utf-8", "replace")
                meant.append(_meant(entry, raw, finding))
        made = self.store.put_many(copies.items())
        # What was copied in an earlier run has been learned from then.
        taken.refused += [item for item, revision in zip(meant, made, strict=True) if item and revision is not None]
        return named


def id_reused(key: str, true: Order, other: Order) -> Finding:
    """An id that is taken by another order: that one stays as it is (D23)."""
    taken, wanted = (
        f"{order.op} {json.dumps(order.params, ensure_ascii=False, default=str)} on {order.node}"
        for order in (true, other)
    )
    fix = "give the new action an id of its own"
    return Finding("ID_REUSED", f"{key} {true.id}", f"{taken} (that id is taken)", wanted, fix, true.id)


def _meant(entry: action.Entry, raw: object, finding: Finding) -> tuple[Order, Finding] | None:
    """What a refused entry wants, for the lesson; None when it does not even name an action."""
    if entry.state != "pending" or finding.code != BadInput.code or not isinstance(raw, dict):
        return None
    op = raw.get("action_type", raw.get("skill_ref", raw.get("skillruntime_ref")))
    params, node = raw.get("params", raw.get("parameters")), raw.get("robot_id", raw.get("target_ref"))
    if not isinstance(op, str):
        return None
    node = node if isinstance(node, str) else ""
    return Order(entry.id, node, op, params if isinstance(params, dict) else {}), finding


def shown(data: bytes, jobs: Iterable[Job], page: Page = action_write.PAGE) -> bytes:
    """The sheet as a reader of the tree sees it: the file, with every job's present state."""
    table: Mapping[str, Job] = {job.id: job for job in jobs}
    seen = {entry.id for entry in page.read(data).entries}
    add = [job for job in table.values() if job.id not in seen and not ended(job)]
    return action_write.write(data, table, add=add, page=page)
