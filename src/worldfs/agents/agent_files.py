"""The files of one agent, opened: read, reconciled with what others wrote, and changed one by one or as a group.

Reading takes no lock and writes nothing. What a change means (a task closed, a session begun) is `AgentState`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self, TypeVar

from worldfs.base.agent_names import check_agent_name, default_root
from worldfs.base.clock import Clock, epoch_ns
from worldfs.base.durable import Disk
from worldfs.base.model import Json

from .agent_directory import AgentDirectory
from .merged_document import GRACE_S, MergedDocument

if TYPE_CHECKING:
    from types import TracebackType

    from worldfs.base.model import AgentReport, AgentTask, Finding, Metrics, SessionRecord
    from worldfs.formats.agent.memory import MemoryDocument

    from .inbox import Inbox
    from .journal import Journal
    from .metrics_cache import MetricsCache
    from .metrics_reducer import MetricsReducer

T = TypeVar("T")


class AgentFiles:
    """One agent's directory, opened. Usable from many threads; `close` when done, or use it in a `with`."""

    def __init__(self, agent_dir: AgentDirectory) -> None:
        self.agent_dir = agent_dir
        self.name = agent_dir.name
        self._late_at = 0.0  # when to check old copies for late writes again

    @classmethod
    def open(
        cls,
        name: str,
        root: str | os.PathLike[str] | None = None,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        create: bool = False,
        take: bool = False,
        language: str = "en",
    ) -> Self:
        """Raises `NotFound` naming the agents there are, `BadInput` for what is no name.

        `create`: make the agent's directory and its first files, those that are missing; needs nothing installed.
        `take`: an agent of another host lives here from now on; `Busy` while it works there.
        """
        place = root if root is not None else default_root()
        made: Sequence[str] = ()
        if create:
            from pathlib import Path

            from .agent_hosts import lives_elsewhere
            from .init_agent import create_agent

            if not lives_elsewhere(place, name):
                made = create_agent(Path(place), check_agent_name(name), clock=clock, disk=disk, language=language)
        state = cls(AgentDirectory(place, name, clock=clock, disk=disk, take=take))
        if made:
            state.reconcile()  # so that later edits by others can be told from our first version
        return state

    def close(self) -> None:
        """Let go of files and locks."""
        for part in ("journal", "inbox"):
            if part in self.__dict__:
                getattr(self, part).close()
        self.agent_dir.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @cached_property
    def journal(self) -> Journal:
        from .journal import Journal

        return Journal(self.agent_dir)

    @cached_property
    def inbox(self) -> Inbox:
        from .inbox import Inbox

        return Inbox(self.agent_dir)

    @cached_property
    def metrics_cache(self) -> MetricsCache:
        from .metrics_cache import MetricsCache

        return MetricsCache(self.agent_dir, lambda: self.journal, self.documents["metrics.json"].read)

    @cached_property
    def documents(self) -> dict[str, MergedDocument]:
        from .document_rules import documents

        return documents(self.agent_dir)

    # -- reading ----------------------------------------------------------------------------------------------------

    def report(self) -> AgentReport | None:
        from worldfs.formats.agent import documents

        data = self._read("report.json")
        return None if data is None else documents.report_read(data)

    def tasks(self) -> tuple[AgentTask, ...]:
        from worldfs.formats.agent import documents

        data = self.documents["tasks.json"].read()
        return () if data is None else documents.tasks_read(data).tasks

    def session(self) -> SessionRecord | None:
        from worldfs.formats.agent import documents

        data = self._read("session.json")
        record = None if data is None else documents.session_read(data)
        return record if record is not None and record.session_id else None  # without an id: seeded, none ran yet

    def metrics(self) -> Metrics | None:
        from worldfs.formats.agent import documents

        data = self._read("metrics.json")
        return None if data is None else documents.metrics_read(data)

    def memory(self) -> MemoryDocument:
        from worldfs.formats.agent import memory

        return memory.read(self.documents["memory.md"].read() or b"")

    def findings(self) -> tuple[Finding, ...]:
        """What was wrong with the files and has not been in the prompt of a successful session yet."""
        return tuple(self.agent_dir.pending_findings())

    def _read(self, name: str) -> bytes | None:
        return self.documents[name].read()

    # -- what others wrote -------------------------------------------------------------------------------------------

    def reconcile(self, *, settle: bool = False, young: bool = True) -> tuple[Finding, ...]:
        """Merge what an agent with file tools did to the files; returns what was wrong with it.

        `settle`: decide about texts that look unfinished, too. `young=False`: late writes to copies that were replaced
        a moment ago can wait for the next call.
        """
        met = len(self.agent_dir.findings)
        with self.agent_dir.locked():
            self.reconcile_all(settle=settle, young=young)
        return tuple(self.agent_dir.findings[met:])

    def reconcile_all(
        self, *, settle: bool = True, young: bool = False, since: int | None = None, alone: bool = False
    ) -> dict[str, bytes | None]:
        """What counts of each document afterwards, by its name. Call inside `locked`.

        `since` (ns since 1970): late writes to copies that were replaced after it do not wait either; `alone`: no other
        process has replaced any since.
        """
        self.journal.reconcile()
        late = None if young else self._rested(since, alone)
        return {
            name: document.reconcile(settle=settle, late=late is None or name in late, young=young)
            for name, document in self.documents.items()
        }

    def _rested(self, since: int | None, alone: bool) -> Container[str]:
        """Documents whose old copies to check for late writes: lists a directory, so not twice in a moment."""
        store = self.agent_dir.store
        now = store.clock.monotonic()
        found = set() if since is None else store.written_keys(since, alone=alone)
        grown = since is not None and epoch_ns(store.clock.now()) - since >= 1e9 * GRACE_S
        if now < self._late_at and not grown:
            return found
        self._late_at = now + GRACE_S / 2
        return found | store.settled_keys()

    # -- changes ------------------------------------------------------------------------------------------------------

    def append(self, entry: Json, *, durable: bool = True) -> int:
        """An entry as it is, redacted and numbered; the metrics count it. For the parts of this package."""
        with self.agent_dir.locked():
            self.metrics_cache.load_baseline()
            seq = self.journal.add((entry,), durable=durable)
            self.metrics_cache.apply_entry(seq, entry)
            return seq

    def count(self) -> None:
        """Bring metrics.json up to the journal; a session's end does so by itself."""
        from worldfs.formats.agent.documents import metrics_write

        from .metrics import project
        from .metrics_cache import FOLD

        with self.agent_dir.locked():
            fold = self.metrics_reducer()
            old = self.documents["metrics.json"].reconcile(settle=True) or b""
            fresh = metrics_write(project(fold, self.name, self.agent_dir.clock.now()), old)
            self.put_many({FOLD: fold.dump(), "metrics.json": fresh})

    def metrics_reducer(self) -> MetricsReducer:
        """The metrics as of the journal's last entry. Call inside `locked`."""
        return self.metrics_cache.reducer()

    def recount_metrics(self) -> None:
        """Count the metrics anew, from what was found at the beginning and every entry of the journal."""
        with self.agent_dir.locked():
            self.metrics_cache.recount()
            self.count()

    def _put(self, name: str, changes: Callable[[bytes], Mapping[str, object]]) -> bytes:
        from .document_rules import with_members

        return self.documents[name].change(lambda old: with_members(old, self.cleaned(dict(changes(old)))))

    def put_many(
        self, files: Mapping[str, bytes], *, looked: bool = False, between: Callable[[], object] | None = None
    ) -> None:
        """Several files as a group (`merged_document.write_many`)."""
        from .merged_document import write_many

        write_many(self.agent_dir, self.documents, files, looked=looked, between=between)

    def cleaned(self, value: T) -> T:
        """A value of JSON with its secrets marked out."""
        from worldfs.formats.agent.redact import redact_value

        return redact_value(value)
