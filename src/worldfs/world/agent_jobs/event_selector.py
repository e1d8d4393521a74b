"""The selector: what one attached agent waits for in `events/next.json`, and which ends were delivered already.

Ends have numbers that only grow. An end since the attach is delivered once, to the first matching path, even if the
wait is configured later; a replay ("start", a number) delivers ends again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from worldfs.access.binding import Binding
from worldfs.base.errors import NotFound
from worldfs.base.json_text import compact_json
from worldfs.tree.verb_values import Wait

from .agent_job import AgentJob, result_text
from .agent_jobs import AgentJobs
from .wait_selection import TIMEOUT_MS, WaitSelection, WaitSource, bad_selection, parse_selection

Readable = Callable[[str], bool]
Alive = Callable[[], bool]
WAITS_MOST: Final = 1_024  # bindings whose last wait is kept
_STATE: Final = ("_attached", "_changed", "_count", "_floor", "_from", "_given", "_payload", "_replay", "_selection",
                 "_told_jobs")  # fmt: skip


class EventMatch(NamedTuple):
    number: int
    source: WaitSource
    call: AgentJob | None = None
    path: str = ""  # of a change
    paths: Sequence[str] = ()  # of a change of several selected paths at once
    kind: str = ""
    actor: str = ""


class SavedWaits:
    """The last wait of each binding. A connection that configures none continues it once the connection that
    configured it is gone: a shell has a new connection for each command."""

    def __init__(self) -> None:
        self._last: OrderedDict[Binding, EventSelector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, binding: Binding) -> EventSelector | None:
        with self._lock:
            return self._last.get(binding)

    def put(self, binding: Binding, selector: EventSelector) -> None:
        with self._lock:
            self._last[binding] = selector
            self._last.move_to_end(binding)
            if len(self._last) > WAITS_MOST:
                self._last.popitem(last=False)


class EventSelector:
    """One for each attach. Thread-safe."""

    def __init__(
        self,
        calls: AgentJobs,
        binding: Binding,
        readable: Readable = lambda path: False,
        since: int | None = None,
        *,
        waits: SavedWaits | None = None,
        alive: Alive = lambda: True,
        watched: Callable[[], None] = lambda: None,
    ) -> None:
        """`readable`: whether this binding may read a path of the tree; called for a changed path before its delivery.

        `since`: the number of the last change before the attach; None: the attach is now. `waits`: holds the binding's
        last wait, and this one once it is configured. `alive`: whether the connection still exists. `watched`: called
        before changes are selected, so that those of stored files are published.
        """
        self._calls, self._binding, self._readable = calls, binding, readable
        self._waits, self._alive = SavedWaits() if waits is None else waits, alive
        self._watched = watched
        self._own = False  # it was configured, or has taken over the binding's last wait
        self._lock = threading.Lock()
        self._attached = calls.number() if since is None else since
        self._given: set[str] = set()  # ends since the attach that were delivered
        self._changed = self._attached  # the last change that was delivered
        self._payload = b""
        self._begun: float | None = None  # when the present wait began
        self._set(WaitSelection())

    def set(self, data: bytes) -> None:
        """A write of wait.json: a new selection, or none for a blank one. Refused: `BadInput`, the old one stays."""
        try:
            text = data.decode().strip()
        except UnicodeDecodeError:
            raise bad_selection("no UTF-8") from None
        selection = parse_selection(text)
        if selection.changes and (wrong := [s.path for s in selection.sources if not self._seen(s.path)]):
            raise bad_selection(f"{wrong[0][:80]!r} is not readable")
        if selection.changes:
            self._watched()
        with self._lock:
            self._payload = text.encode()
            self._set(selection)
            self._own = True
        self._waits.put(self._binding, self)

    def payload(self) -> bytes:
        """The content of wait.json."""
        self._go_on()
        return self._payload if self._selection.configured else compact_json({"paths": [], "timeout_ms": TIMEOUT_MS})

    def patience(self) -> float:
        """Seconds that a read of a job's status or result waits for its end (0 means the default there)."""
        return (self._selection.timeout_ms or TIMEOUT_MS) / 1000

    def next(self) -> Wait | None:
        """What a read of next.json waits for; None: it is answered at once."""
        self._go_on()
        with self._lock:
            selection = self._selection
            if not selection.configured or self._match() is not None:
                return None
        begun: list[float] = []

        def ready() -> bool:
            if not begun:
                begun.append(self._calls.clock.monotonic())
                self._begun = begun[0]  # a wait begins with the first read, not with a stat of the file
            with self._lock:
                return self._selection is not selection or self._match() is not None

        return Wait(self._topics(selection), ready, selection.timeout_ms / 1000)

    def render(self) -> bytes:
        """The present content of next.json; its event is then delivered."""
        self._go_on()
        with self._lock:
            if not self._selection.configured:
                return compact_json({"configured": False, "waiting": False, "error": "wait_not_configured"})
            match = self._match()
            if match is None:
                waited = 0.0 if self._begun is None else self._calls.clock.monotonic() - self._begun
                self._begun = None
                told = {"configured": True, "waiting": True, "timeout": True, "waited_ms": round(waited * 1000)}
                return compact_json(told)
            self._give(match)
            event = self._count
        return compact_json({"configured": True, "waiting": False, "event_id": event, **self._told(match)})

    def _go_on(self) -> None:
        """Without a wait of its own: continue the binding's last one, if its connection is gone."""
        last = None if self._own else self._waits.get(self._binding)
        if last is None or last._alive():
            return
        with last._lock:
            state = {name: getattr(last, name) for name in _STATE}
        with self._lock:
            if not self._own:
                self._own = True
                for name, value in state.items():
                    setattr(self, name, set(value) if isinstance(value, set) else value)
        self._waits.put(self._binding, self)

    # -- with the lock held ------------------------------------------------------------------------------------------

    def _set(self, selection: WaitSelection) -> None:
        now = self._calls.number()
        floor = {"last": self._attached, "now": now, "start": -1}
        since = selection.since
        self._selection = selection
        self._replay = since not in ("last", "now")
        # Chat ends and changes at or below it are skipped.
        self._from = since if isinstance(since, int) else floor[since]
        if selection.changes and since == "last":
            self._from = self._changed
        self._floor = self._from
        self._told_jobs: set[str] = set()  # by this selection
        self._count = 0
        self._begun = None

    def _match(self) -> EventMatch | None:
        """The earliest match; of equals, the first path of the selection."""
        if self._selection.changes:
            return self._change()
        best: EventMatch | None = None
        chat = False
        for source in self._selection.sources:
            found: EventMatch | None = None
            if source.job:
                found = self._job_end(source)
            elif not chat:
                chat, found = True, self._chat_end(source)
            if found is not None and (best is None or found.number < best.number):
                best = found
        return best

    def _was_given(self, id: str) -> bool:
        return id in self._told_jobs or (not self._replay and id in self._given)

    def _chat_end(self, source: WaitSource) -> EventMatch | None:
        call = self._calls.chat_end_after(self._binding, self._from, self._was_given)
        return None if call is None else EventMatch(call.ended, source, call)

    def _job_end(self, source: WaitSource) -> EventMatch | None:
        if self._was_given(source.job):
            return None
        try:
            call = self._calls.visible_job(self._binding, source.job)
        except NotFound:  # the job may not exist yet, or any more
            return None
        return EventMatch(call.ended, source, call) if call.over and call.ended > self._floor else None

    def _change(self) -> EventMatch | None:
        for item in self._calls.feed.since(self._calls.seq_of(self._from)):
            number = self._calls.number_of(item.seq)
            found = [
                (source, path)
                for source in self._selection.sources
                for topic in item.topics or (source.path.rstrip("/") or "/",)
                if (path := self._told_path(topic, source.path.rstrip("/") or "/"))
            ]
            if found:
                source, path = found[0]
                paths = tuple(dict.fromkeys(path for _, path in found))
                return EventMatch(number, source, path=path, paths=paths, kind=item.kind, actor=item.actor)
            self._from = number  # matches nothing, now and later
        return None

    def _told_path(self, topic: str, watched: str) -> str:
        """The readable path that a publication of `topic` changes for who watches `watched`; "": none."""
        own = f"/agents/{self._binding.agent}/"
        path = f"/agents/self/{topic[len(own) :]}" if topic.startswith(own) else topic
        path = path if _below(path, watched) else watched if _below(watched, path) else ""
        return path if path and self._seen(path) else ""

    def _seen(self, path: str) -> bool:
        """Whether the path may be delivered. It must not wait: for a path in a node's exports, their root decides;
        the selector's own files always exist, and checking them would call this method again."""
        parts = path.strip("/").split("/")
        if parts[:3] == ["agents", "self", "events"]:
            return True
        depth = {"nodes": 3, "projects": 4}.get(parts[0], len(parts))
        return self._readable("/" + "/".join(parts[:depth]))

    def _give(self, match: EventMatch) -> None:
        self._count += 1
        if match.call is None:
            self._from = self._changed = match.number
            return
        if match.source.chat:
            self._from = match.number
        self._told_jobs.add(match.call.id)
        if match.number > self._attached:
            self._given.add(match.call.id)
            if len(self._given) > 4_096:  # jobs that are no longer shown cannot match
                self._given = {id for id in self._given if self._calls.known(self._binding, id)}

    # -- words -------------------------------------------------------------------------------------------------------

    def _topics(self, selection: WaitSelection) -> tuple[str, ...]:
        base = f"/agents/{self._binding.agent}"
        if not selection.changes:
            return tuple(f"{base}/jobs/{source.job}" if source.job else f"{base}/chat" for source in selection.sources)
        topics = []
        for source in selection.sources:
            inside = source.path == "/agents/self" or source.path.startswith("/agents/self/")
            topics.append(base + source.path[len("/agents/self") :] if inside else source.path)
        return tuple(topics)

    def _told(self, match: EventMatch) -> dict[str, object]:
        call = match.call
        if call is None:
            return {
                "seq": match.number,
                "source_path": match.source.path,
                "event_path": match.path,
                "change": {
                    "seq": match.number,
                    "path": match.path,
                    "kind": match.kind,
                    "actor": match.actor or None,
                    **({"paths": list(match.paths)} if len(match.paths) > 1 else {}),
                },
            }
        base = f"/agents/self/jobs/{call.id}"
        result = result_text(self._calls.outcome(call)).decode()
        return {
            "seq": match.number,
            "source_path": match.source.path,
            "event_path": f"{base}/status.json" if match.source.chat else match.source.path,
            "updated_at_ms": call.updated_ms,
            "job": {
                "job_id": call.id,
                "state": call.word,
                "correlation_id": call.correlation or None,
                "status_path": f"{base}/status.json",
                "result_path": f"{base}/result.txt",
                "result": result,
                "error": call.error or None,
            },
        }


def _below(path: str, above: str) -> bool:
    return above in ("/", path) or path.startswith(f"{above}/")
