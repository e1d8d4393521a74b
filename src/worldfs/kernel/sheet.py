"""A sheet on a plain disk: taken in by id when somebody else wrote it, then rendered, always in that order."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field

from worldfs.formats import action, action_write
from worldfs.ground.errors import BadInput, Conflict, Exists, NotFound
from worldfs.ground.model import Finding, Job, Order
from worldfs.tree.stores.contract import ABSENT, Store

from .jobs import Jobs, ended

SHOWN = 50  # ended jobs that stay in the sheet when new orders come in; all of them stay in .paos/done (D29)
MOST_SHOWN = 5000  # and never more than that, even while new ones come in all the time
QUARANTINE = ".paos/quarantine"


@dataclass(slots=True)
class Taken:
    """What a foreign write asks for."""

    new: list[Order] = field(default_factory=list)
    lost: list[Order] = field(default_factory=list)  # new ids found in the middle of running (D27)
    cancel: list[str] = field(default_factory=list)
    refused: list[tuple[Order, Finding]] = field(default_factory=list)  # what cannot be read, as far as it says


class Sheet:
    """ACTION.md of one directory. State never lives in it: it can be rendered again from the jobs at any time."""

    def __init__(
        self, store: Store, key: str, jobs: Jobs, node: str, alert: Callable[[str, Finding | None], None]
    ) -> None:
        self.store = store
        self.key = key
        self.jobs = jobs
        self.node = node  # the robot meant when an entry names none (D14)
        self.alert = alert
        self.dirty = False
        self.look_aside = True  # the change feed says that a copy which was pushed aside has been written to
        self._token: str | None = None
        self._revision: str | None = None
        self._data = b""
        self._read = action.read(b"")
        self._readable = True
        self._missing = True
        self._jobs: dict[str, Job] = {}  # what the sheet shows
        self._digest: dict[str, str] = {}  # id → digest of the true order
        self._unshown: dict[str, None] = {}  # accepted, not yet in the file
        self._quarantined: set[str] = set()
        self._prune = False
        self._rested: set[str] = set()  # ended, and shown while nothing was open: who waits for them has had its chance

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
            for data in self.store.displaced(self.key):
                self._take_displaced(data, taken)
        token = self.store.probe(self.key)
        if token == self._token and not self._missing:
            return taken
        stored = self.store.get(self.key)
        self._token = token
        self._missing = stored is None
        revision = stored.revision if stored else None
        if revision == self._revision and self._readable:
            return taken
        self._revision, self._data = revision, stored.data if stored else b""
        try:
            self._read = action.read(self._data, node=self.node)
        except BadInput as error:
            # The unreadable is left alone: the last good state stands, and nothing is rendered over it.
            self._readable = False
            self.alert(
                self.key,
                Finding(
                    error.code,
                    f"{self.key} {error.path}".strip(),
                    error.expected or "a readable queue",
                    error.found,
                    error.fix or "repair the file, or `paos check --fix` to set it aside",
                ),
            )
            return taken
        self._readable = True
        self.alert(self.key, None)
        self._take(self._read, self._data, taken)
        self.dirty = True
        return taken

    def render(self) -> bool:
        """Write the jobs' states into the file. False: somebody else wrote first, or it is unreadable."""
        if not self._readable:
            return False
        seen = {entry.id for entry in self._read.entries}
        add = [job for job in self._jobs.values() if job.id not in seen and (job.id in self._unshown or not ended(job))]
        drop = self._old() if self._prune else []
        marks = {entry.index: finding for entry in self._read.entries if (finding := self._refused(entry)) is not None}
        if add or drop or marks or seen:
            data = action_write.write(self._data, self._jobs, drop=drop, add=add, marks=marks)
            if data != self._data:
                try:
                    expect = ABSENT if self._revision is None else self._revision
                    self._revision = self.store.put(self.key, data, expect, durable=False)
                except (Conflict, Exists):
                    self._token = None
                    return False
                self._token = None  # somebody may have written since: the next look reads, and compares revisions
                self._data, self._missing = data, False
                self._read = action.read(data, node=self.node)
        for id in drop:
            self._jobs.pop(id, None)
            self._digest.pop(id, None)
        self._unshown.clear()
        self._prune = self.dirty = False
        if all(ended(job) for job in self._jobs.values()):
            self._rested = set(self._jobs)
        return True

    def _old(self) -> list[str]:
        """Ended jobs whose entries go: all but the newest of those shown at rest, and whatever is far too many."""
        over = sorted((job for job in self._jobs.values() if ended(job)), key=lambda job: job.status.completed_at)
        rested = [job.id for job in over if job.id in self._rested]
        many = [job.id for job in over[: max(0, len(over) - MOST_SHOWN)] if job.id not in self._unshown]
        return list(dict.fromkeys([*rested[: max(0, len(rested) - SHOWN)], *many]))

    def _take_displaced(self, data: bytes, taken: Taken) -> None:
        """What a slow writer wrote into a copy that we had replaced meanwhile."""
        try:
            self._take(action.read(data, node=self.node), data, taken)
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

    def _take(self, sheet: action.Sheet, data: bytes, taken: Taken) -> None:
        history = {entry.finding for entry in sheet.entries if entry.order is None and entry.state == "terminal"}
        for said in sheet.findings:
            if said not in history:
                self.alert(f"{self.key}#{said.job or said.field}", said)
        for entry in sheet.entries:
            if entry.order is None and entry.state == "terminal":
                continue  # its refusal stands beside it already
            finding = self._refused(entry)
            if finding is not None or entry.order is None:
                if finding is not None:
                    self._set_aside(entry, finding, data, taken)
                continue
            known = self._known(entry.id)
            if known is not None:
                if entry.state == "cancelled" and not ended(known):
                    taken.cancel.append(entry.id)
            elif entry.state == "pending":
                taken.new.append(entry.order)
            elif entry.state == "between":
                taken.lost.append(entry.order)
            # A new id with a terminal word is history: shown, never run (D26).

    def _known(self, id: str) -> Job | None:
        if id not in self._jobs:
            try:
                self._jobs[id] = self.jobs.load(id)
            except (NotFound, BadInput):
                return None
        return self._jobs[id]

    def _refused(self, entry: action.Entry) -> Finding | None:
        """Why an entry does not count: it says nothing, or its id is taken by another order (D23)."""
        if entry.order is None:
            return entry.finding
        if entry.id not in self._jobs:
            return None  # a warning beside an order refuses nothing
        true = self._jobs[entry.id].order
        if entry.id not in self._digest:
            self._digest[entry.id] = action.entry_digest(true)
        if action.entry_digest(entry.order) == self._digest[entry.id]:
            return None
        return Finding(
            "ID_REUSED",
            f"{self.key} {entry.id}",
            f"{true.op} {json.dumps(true.params, ensure_ascii=False, default=str)} on {true.node} (that id is taken)",
            f"{entry.order.op} {json.dumps(entry.order.params, ensure_ascii=False, default=str)} on {entry.order.node}",
            "give the new action an id of its own",
            entry.id,
        )

    def _set_aside(self, entry: action.Entry, finding: Finding, data: bytes, taken: Taken) -> None:
        found, _ = action.locate(data.decode("utf-8", "replace"))
        raw = action.entries_of(found.value)[entry.index] if found is not None else None
        value = {"file": self.key, "finding": asdict(finding), "entry": raw}
        text = json.dumps(value, ensure_ascii=False, indent=1, default=repr)
        name = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        if name in self._quarantined:
            return
        self._quarantined.add(name)
        with contextlib.suppress(Exists):  # set aside, and learned from, in an earlier run
            self.store.put(f"{QUARANTINE}/{self.key}-{name}.json", text.encode("utf-8", "replace"), ABSENT)
            if (order := _meant(entry, raw)) is not None and finding.code == BadInput.code:
                taken.refused.append((order, finding))
        self.alert(f"{self.key}#{entry.id or entry.index}", finding)


def _meant(entry: action.Entry, raw: object) -> Order | None:
    """What a refused entry wants, for the lesson; None when it does not even name an action."""
    if entry.state != "pending" or not isinstance(raw, dict) or not isinstance(op := raw.get("action_type"), str):
        return None
    params = raw.get("params", raw.get("parameters"))
    node = raw.get("robot_id")
    return Order(entry.id, node if isinstance(node, str) else "", op, params if isinstance(params, dict) else {})


def shown(data: bytes, jobs: Iterable[Job]) -> bytes:
    """The sheet as a reader of the tree sees it: the file, with every job's present state."""
    table: Mapping[str, Job] = {job.id: job for job in jobs}
    seen = {entry.id for entry in action.read(data).entries}
    return action_write.write(data, table, add=[job for job in table.values() if job.id not in seen and not ended(job)])
