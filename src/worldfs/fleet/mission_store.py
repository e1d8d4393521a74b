"""The missions of one root: a file for each, first its order, then a status line for each change.

    .paos/missions/<id>.jsonl        open: its submitter creates it, whole; then only the orchestrator appends
    .paos/missions_done/<id>.jsonl   the same file, once the mission has ended
    .paos/missions_latest.json       which ended last: how many have ended, and the ids of the latest
    .paos/mission_requests/<name>    one of WHAT: any program drops one, the orchestrator removes it
    .paos/mission_rows/<digest>      a row of ORCHESTRATOR.md that is a mission already, as it was rendered

The last whole line counts. The orchestrator repeats a request that it had taken and not removed: each is idempotent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Final, NamedTuple

from worldfs.base.clock import Clock, epoch_ns, stamp
from worldfs.base.errors import BadInput, Exists, NotFound, Unsafe, UserError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int, as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded, read_coded, stored_form
from worldfs.formats import entry_ids, prose
from worldfs.formats.orchestrator import LONGEST, PRIORITIES
from worldfs.storage.store_interface import ABSENT, Store

from .mission import Mission, MissionOrder, MissionProgress, MissionState, MissionStatus
from .reservations import read_reservation

OPEN: Final = ".paos/missions"
DONE: Final = ".paos/missions_done"
LATEST: Final = ".paos/missions_latest.json"
LATEST_KEPT: Final = 50
REQUESTS: Final = ".paos/mission_requests"
ROWS: Final = ".paos/mission_rows"
WHAT: Final = ("pause", "resume", "cancel", "priority", "release")
_ENDING = ".jsonl"
_MOST_REQUIREMENTS = 20


class MissionRequest(NamedTuple):
    """`name`: of its file; requests are taken in the order of their names."""

    name: str
    mission: str
    what: str  # one of WHAT
    value: str = ""  # of priority
    by: str = ""


class MissionFiles:
    """Keeps nothing in memory: any process may add missions and requests; the orchestrator alone writes statuses."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock

    def add(self, order: MissionOrder) -> bool:
        """Durable when it returns; False: the id is known, and nothing was written. Raises `BadInput`, `Unsafe`."""
        _check(order)
        if self.known(order.id):
            return False
        value = {name: value for name, value in asdict(order).items() if value}
        value.setdefault("created_at", stamp(self.clock.now()))
        with suppress(Exists):
            self.store.put(f"{OPEN}/{order.id}{_ENDING}", _line(value), ABSENT)
            return True
        return False

    def new_id(self) -> str:
        """From the time, and unlike any other."""
        base = self.clock.now().strftime("mission_%Y%m%d_%H%M%S")
        return next(id for n in range(1, 1_000_000) if not self.known(id := f"{base}_{n:02d}"))

    def known(self, id: str) -> bool:
        # open first, then done: a mission only ever moves that way
        return any(self.store.probe(f"{place}/{id}{_ENDING}") is not None for place in (OPEN, DONE))

    def load(self, id: str) -> Mission:
        """Open or ended. Raises `NotFound`, or `BadInput` where its file cannot be read."""
        for place in (DONE, OPEN, DONE) if not entry_ids.unsafe(id) else ():
            stored = self.store.get(f"{place}/{id}{_ENDING}")
            if stored is not None:
                return read_mission(stored.data, f"{place}/{id}{_ENDING}")
        raise NotFound(coded("mission.unknown", id=id), path=id, op="load", fix=coded("mission.list_them"))

    def open_ids(self) -> list[str]:
        return _ids(self.store.list(OPEN))

    def done_ids(self) -> list[str]:
        """Every ended mission: the cost grows with the history, so only listings ask."""
        return _ids(self.store.list(DONE))

    def write(self, mission: Mission, *, durable: bool = True) -> None:
        """A new status: durable when it returns. One that has ended is moved out of the way."""
        line = b"\n" + _line(_status_value(mission.status))
        self.store.append(f"{OPEN}/{mission.id}{_ENDING}", line, durable=durable)
        if mission.status.state.ended:
            self.archive(mission.id)

    def archive(self, id: str) -> None:
        """Not durable: a start repeats it for an ended mission that is still open."""
        if self._latest() is None:
            self.count_ended()
        count, latest = self._latest() or (0, [])
        self._note_latest(
            count + 1, [*(one for one in latest if one != id), id]
        )  # first: a reader finds it in one place
        with suppress(NotFound, Exists):
            self.store.move(f"{OPEN}/{id}{_ENDING}", f"{DONE}/{id}{_ENDING}", durable=False)

    def latest_ids(self) -> list[str]:
        """Of the missions that ended last, at most `LATEST_KEPT`, the oldest first; the cost is that of one reading."""
        index = self._latest()
        return self._by_end()[-LATEST_KEPT:] if index is None else index[1]

    def count_ended(self) -> None:
        """At a start, from the names alone: after a power cut the list of the latest is made again."""
        index, count = self._latest(), len(self.done_ids())
        if count != (0 if index is None else index[0]):
            self._note_latest(count, self._by_end())

    def _latest(self) -> tuple[int, list[str]] | None:
        stored = self.store.get(LATEST)
        said = _object(stored.data) if stored is not None else {}
        return (as_int(said["ended"]), [as_text(id) for id in as_list(said.get("ids"))]) if "ended" in said else None

    def _note_latest(self, count: int, ids: list[str]) -> None:
        self.store.put(LATEST, _line({"ended": count, "ids": ids[-LATEST_KEPT:]}), durable=False)

    def _by_end(self) -> list[str]:
        found: list[tuple[str, str]] = []
        for id in self.done_ids():
            with suppress(UserError):  # one that cannot be read is reported where it is asked for
                found.append((self.load(id).status.at, id))
        return [id for _, id in sorted(found)]

    # -- requests -----------------------------------------------------------------------------------------------

    def request(self, mission: str, what: str, by: str, value: str = "") -> None:
        """Durable when it returns. Raises `BadInput`, `NotFound`; nothing happens to a mission that has ended."""
        if what not in WHAT:
            raise BadInput(
                coded("mission.no_request", what=what[:80]), expected=coded("common.one_of", names=list(WHAT))
            )
        if what == "priority":
            _check_priority(value)
        if self.load(mission).status.state.ended and what != "release":
            return
        name = f"{epoch_ns(self.store.clock.now()):020d}_{entry_ids.digest([mission, what, value])[:8]}"
        body: dict[str, object] = {"mission": mission, "request": what, "value": value, "by": by}
        with suppress(Exists):  # the same, in the same microsecond
            self.store.put(f"{REQUESTS}/{name}", _line(body), ABSENT)

    def requests(self) -> Iterator[MissionRequest]:
        """Those that wait, the oldest first. One that cannot be read is for no mission."""
        for name in self.store.list(REQUESTS):
            stored = self.store.get(f"{REQUESTS}/{name}")
            if stored is not None:
                said = _object(stored.data)
                words = (as_text(said.get(key)) for key in ("mission", "request", "value", "by"))
                yield MissionRequest(name, *words)

    def remove(self, request: MissionRequest) -> None:
        with suppress(NotFound):
            self.store.delete(f"{REQUESTS}/{request.name}")

    # -- rows of ORCHESTRATOR.md --------------------------------------------------------------------------------

    def row_known(self, digest: str) -> bool:
        return self.store.probe(f"{ROWS}/{digest}") is not None

    def note_rows(self, rows: Iterable[tuple[str, str]]) -> None:
        """(digest, mission) of rows that are about to be rendered; durable when it returns."""
        self.store.put_many((f"{ROWS}/{digest}", mission.encode()) for digest, mission in rows)


def read_mission(data: bytes, where: str) -> Mission:
    """The order and its last status. A line that does not parse was torn by a crash, before its write returned."""
    first, *rest = data.split(b"\n")
    said = _object(first)
    texts = {
        name: as_text(said.get(name))
        for name in ("text", "title", "robot", "created_at", "asker", "source", "step", "confirm", "serves")
    }
    requires, after = (tuple(as_text(item) for item in as_list(said.get(name))) for name in ("requires", "after"))
    priority = as_text(said.get("priority")) or "normal"
    order = MissionOrder(as_text(said.get("id")), requires=requires, after=after, priority=priority, **texts)
    try:
        _check(order)
        if order.id != where.rsplit("/", 1)[-1].removesuffix(_ENDING):
            raise Unsafe(coded("mission.other_id", id=order.id[:80]), expected=coded("mission.id_of_file"))
    except Unsafe as error:
        raise BadInput(error.found, path=where, op="read", expected=error.expected) from None
    status = MissionStatus(at=order.created_at)
    for line in rest:
        found = _object(line)
        with suppress(ValueError):
            status = _read_status(found, status) if found else status
    return Mission(order, status)


def _read_status(said: dict[str, object], before: MissionStatus) -> MissionStatus:
    return MissionStatus(
        MissionState(as_text(said.get("state"))),
        as_text(said.get("robot")),
        as_int(said.get("attempt")),
        as_text(said.get("priority")),
        read_coded(as_text(said.get("reason")), said.get("reason_code")),
        as_text(said.get("at")),
        tuple(as_objects(said["bids"])) if "bids" in said else before.bids,
        as_text(said.get("job")),
        as_int(said.get("jobs")),
        tuple(as_text(item) for item in as_list(said.get("barred"))),
        said.get("kept") is True,
        tuple(item for one in as_objects(said.get("held")) if (item := read_reservation(one)) is not None),
        tuple(as_text(item) for item in as_list(said.get("legs"))),
        _read_progress(as_object(said.get("progress"))),
        read_coded(as_text(said.get("waits")), said.get("waits_code")),
    )


def _read_progress(said: dict[str, object]) -> MissionProgress:
    reached, reaches = (tuple(as_text(item) for item in as_list(said.get(name))) for name in ("reached", "reaches"))
    return MissionProgress(as_int(said.get("stage")), reached, reaches)


def _status_value(status: MissionStatus) -> dict[str, object]:
    value = {name: found for name, found in asdict(status).items() if found}
    value["state"] = status.state.value
    value["progress"] = {name: found for name, found in status.progress._asdict().items() if found}
    if not value["progress"]:
        del value["progress"]
    if status.held:
        value["held"] = [item.as_json() for item in status.held]
    if status.state is not MissionState.RUNNING or status.job:
        value.pop("bids", None)  # they stand in the line of the assignment
    for name, text in (("reason", status.reason), ("waits", status.waits)):
        if (form := stored_form(text)) is not None:
            value[f"{name}_code"] = form
    return value


def _check(order: MissionOrder) -> None:
    """Raises `Unsafe` for an id that is no file name, `BadInput` for what makes no mission."""
    if why := entry_ids.unsafe(order.id):
        raise Unsafe(coded("mission.bad_id", id=order.id[:80], why=why), expected=coded("runtime.no_such_signs"))
    if not prose.one_line(order.text):
        raise BadInput(coded("mission.empty"), op="add", expected=coded("mission.a_text"))
    if len(order.text) > LONGEST:
        found = coded("mission.characters", n=len(order.text))
        raise BadInput(found, op="add", expected=coded("mission.at_most_characters", n=LONGEST))
    if len(order.requires) > _MOST_REQUIREMENTS or len(order.after) > _MOST_REQUIREMENTS:
        found = coded("mission.many_words", n=max(len(order.requires), len(order.after)))
        raise BadInput(found, op="add", expected=coded("mission.at_most_words", n=_MOST_REQUIREMENTS))
    _check_priority(order.priority)


def _check_priority(value: str) -> None:
    if value not in PRIORITIES:
        expected = coded("common.one_of", names=list(PRIORITIES))
        raise BadInput(coded("mission.no_priority", value=value[:80]), op="priority", expected=expected)


def _ids(names: Iterable[str]) -> list[str]:
    return [name[: -len(_ENDING)] for name in names if name.endswith(_ENDING)]


def _line(value: dict[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _object(line: bytes) -> dict[str, object]:
    try:
        return as_object(parse_json(line))
    except ValueError:
        return {}
