"""Locks, without luck: at every change of what others may change too, its lock is asked whether it is held just then.

No two threads have to meet. A disk, a table or a lock that is watched fails the test at the first change that is made
outside of the lock; and a lock that is taken twice at once, as two processes would, is refused the second time.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, USER, Binding
from worldfs.agents import doctor_fixes, init_agent, session_job
from worldfs.agents.agent_directory import LOCK as ROOM_LOCK
from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.agent_state import AgentState
from worldfs.agents.claim_log import LOCK as LEDGER_LOCK
from worldfs.agents.claim_log import ClaimLog
from worldfs.agents.inbox import Inbox
from worldfs.agents.notebook import Notebook
from worldfs.base.disk import Disk
from worldfs.base.durable import Root
from worldfs.base.errors import Busy
from worldfs.base.logfile import LogFile
from worldfs.base.model import Finding, Message
from worldfs.base.stop_signal import StopSignal
from worldfs.control import Caller, ControlPlane, PlaneError
from worldfs.plugins.node_fs.node_identity import NodeIdentity
from worldfs.runtime.alerts import Alerts
from worldfs.runtime.job_attempt import JobAttempt
from worldfs.runtime.stop_log import StopState
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.file_versions import TOGETHER
from worldfs.storage.memory_store import MemoryStore
from worldfs.storage.revision import of
from worldfs.storage.root_lock import RootLock
from worldfs.storage.version_log import VersionLog
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.workloads import agent_workload, load_workload
from worldfs.tree.change_feed import ChangeFeed

OURS = re.compile(
    r"journal\.jsonl|(report|tasks|session|metrics)\.json|memory\.md|\.paos/(journal|generations|jobs|notes)"
)
"""Of a room: what is only changed inside `alone`."""


class Watching(Disk):
    """At each change of a path that `which` finds, `held` is asked."""

    def __init__(self, which: re.Pattern[str]) -> None:
        super().__init__(self._look)
        self.which, self.held, self.seen = which, lambda: True, 0

    def _look(self, name: str, path: str) -> None:
        if self.which.match(path):
            self.seen += 1
            assert self.held(), f"{name} of {path}, and nobody holds the lock"


class Held:
    """A lock in place of another; it knows whether this thread holds it."""

    def __init__(self) -> None:
        self._lock, self.times = threading.RLock(), 0

    def __enter__(self) -> Held:
        self._lock.acquire()
        self.times += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.times -= 1
        self._lock.release()

    def check(self) -> None:
        assert self.times, "used outside of the lock"


def watched(kind: type, lock: Held) -> type:
    """The class with every public or special method of a table asking for the lock."""

    def asking(method: Callable[..., Any]) -> Callable[..., Any]:
        def asked(self: Any, *args: Any, **more: Any) -> Any:
            lock.check()
            return method(self, *args, **more)

        return asked

    names = [
        name for name in dir(kind)
        if callable(getattr(kind, name)) and (not name.startswith("_") or name in SPECIAL)
    ]  # fmt: skip
    return type(f"Watched{kind.__name__}", (kind,), {name: asking(getattr(kind, name)) for name in names})


SPECIAL = {"__getitem__", "__setitem__", "__delitem__", "__iter__", "__len__", "__contains__", "__bool__"}


@contextmanager
def rooms(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A disk that looks whether any room that is opened meanwhile is held."""
    disk, known = Watching(OURS), []
    first = AgentDirectory.__init__

    def opened(self: AgentDirectory, *args: Any, **more: Any) -> None:
        first(self, *args, **more)
        known.append(self)

    monkeypatch.setattr(AgentDirectory, "__init__", opened)
    disk.held = lambda: any(agent_dir._lock.depth and agent_dir._lock.mutex._is_owned() for agent_dir in known)
    yield disk


# -- an agent's room ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["agent", "journal", "memory"])
def test_an_agents_files_are_changed_by_who_holds_its_room(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = load_workload(name)
    one.prepare(tmp_path)
    with rooms(monkeypatch) as disk:
        for _ in one.run(tmp_path, disk):
            pass
        for _ in one.restart(tmp_path, disk):
            pass
    assert disk.seen > 10


def test_so_are_those_that_others_have_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a look alone settles, what is counted anew, pruned, undone and mended."""
    agent_workload.prepare(tmp_path)
    home = tmp_path / agent_workload.NAME
    with rooms(monkeypatch) as disk:
        state = AgentState.open(agent_workload.NAME, tmp_path, clock=ManualClock(), disk=disk)
        state.remember("patterns", "one")
        for change in (
            lambda: (home / "memory.md").write_text("# Memory\n\n## Patterns\n\n- by hand\n"),
            lambda: (home / "memory.md").write_bytes(b"\xff\xfe no text"),
        ):
            seen = disk.seen
            change()
            state.reconcile(settle=True)
            assert disk.seen > seen
        state.undo()
        state.recount_metrics()
        for _ in range(2):
            state.event("more", text="x" * 400)
            state.journal.seal()
        (home / "journal.jsonl").write_bytes((home / "journal.jsonl").read_bytes() + b"no entry\n")
        doctor_fixes.take_in_journal(state)
        (home / "journal.jsonl").write_bytes((home / "journal.jsonl").read_bytes() + b"none either\n")
        doctor_fixes.drop_journal_line(state, b"none either")
        state.metrics_cache.recount = asked(state.metrics_cache.recount, lambda: bool(state.agent_dir._lock.depth))  # type: ignore[method-assign]  # the same, asked
        state.recount_metrics()
        (home / "session.json").write_bytes(b'{"agent":"rio","session_id":"x","status":"running"}\n')
        doctor_fixes.end_session(state)
        moved = asked(doctor_fixes.move_aside, lambda: bool(state.agent_dir._lock.depth))
        monkeypatch.setattr(doctor_fixes, "move_aside", moved)
        (home / "odd").write_bytes(b"what nobody knows")
        doctor_fixes.put_aside(state, "odd")
        assert not (home / "odd").exists()
        (home / "report.json").write_bytes(b"nothing")
        monkeypatch.setattr(
            init_agent, "create_agent", asked(init_agent.create_agent, lambda: bool(state.agent_dir._lock.depth))
        )
        doctor_fixes.recreate_file(state, "report.json")
        assert (home / "report.json").read_bytes() != b"nothing"
        state.close()


def test_a_dead_session_is_settled_by_one_who_holds_both_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent_workload.prepare(tmp_path)
    state = AgentState.open(agent_workload.NAME, tmp_path, clock=ManualClock())
    state.start(id="20260331-200000-aaaa")
    held: list[bool] = []

    def settled(other: AgentState) -> bool:
        held.append(bool(other.agent_dir._lock.depth))
        with pytest.raises(Busy):
            RootLock(other.agent_dir.path, "another").acquire()
        return first(other)

    first = session_job.recover
    monkeypatch.setattr(session_job, "recover", settled)
    other = AgentState.open(agent_workload.NAME, tmp_path, clock=ManualClock())
    assert not other.recover() and not held, "its runner lives"
    state.close()
    assert other.recover() and held == [True]
    other.close()


def test_a_room_is_held_by_one_process_and_one_thread(tmp_path: Path) -> None:
    agent_workload.prepare(tmp_path)
    agent_dir = AgentDirectory(tmp_path, agent_workload.NAME, clock=ManualClock())
    lock = tmp_path / agent_workload.NAME / ROOM_LOCK
    for _ in range(2):
        with agent_dir.locked():
            assert taken(lock), "another process gets it as well"
            with agent_dir.locked():
                pass
            assert taken(lock), "the inner one has let it go"
            assert not in_another_thread(lambda: agent_dir._lock.mutex.acquire(blocking=False))
        assert not taken(lock), "it is kept for ever"
    agent_dir.close()


def test_a_ledger_is_held_by_one_process_and_read_by_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_workload.prepare(tmp_path)
    owned, first = [], ClaimLog._apply

    def apply(self: ClaimLog, raw: bytes) -> None:
        owned.append(self._lock.mutex._is_owned())  # type: ignore[attr-defined]  # of the C lock
        first(self, raw)

    monkeypatch.setattr(ClaimLog, "_apply", apply)
    agent_dir = AgentDirectory(tmp_path, agent_workload.NAME, clock=ManualClock())
    inbox, other = Inbox(agent_dir), Inbox(agent_dir)
    lock = tmp_path / agent_workload.NAME / LEDGER_LOCK
    inbox.deposit(Message("m", "a", "rio", subject="s"))
    claimed = inbox.claim("one")
    assert claimed is not None
    with inbox.claim_log:
        assert taken(lock), "another process gets it as well"
        assert not in_another_thread(lambda: inbox.claim_log._lock.mutex.acquire(blocking=False))
    assert not taken(lock), "it is kept for ever"
    assert other.claimed(claimed.token)  # reads what the first has written, without the lock of the file
    assert owned and all(owned)
    for one in (inbox, other):
        one.close()
    agent_dir.close()


def test_a_notebook_is_read_and_closed_by_one_thread_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent_workload.prepare(tmp_path)
    notes = Notebook(AgentDirectory(tmp_path, agent_workload.NAME, clock=ManualClock()))

    for target, name in ((notes, "_catch_up"), (notes, "_forget"), (notes, "_append"), (notes._log, "read")):
        monkeypatch.setattr(target, name, asked(getattr(target, name), notes._mutex._is_owned))  # type: ignore[attr-defined]
    made = notes.create("fact", "the cup is red", name="cup")
    assert notes.revision and notes.active() == [made] and notes.latest("cup") == made
    assert notes.version("cup", 1) == made and notes.versions("cup") == [made]
    assert notes.content(made) == "the cup is red"
    notes.mutate("cup", "blue")
    notes.evict("cup")
    notes.close()
    notes.agent_dir.close()


def test_a_room_and_a_store_are_closed_by_one_thread_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent_workload.prepare(tmp_path)
    agent_dir = AgentDirectory(tmp_path, agent_workload.NAME, clock=ManualClock())
    store = DiskStore(tmp_path)
    with agent_dir.locked(), store.lock:
        pass
    first, held = os.close, []

    def close(fd: int) -> None:
        if fd in (agent_dir._lock.fd, store.lock.fd):
            held.append(agent_dir._lock.mutex._is_owned() or store.lock.mutex._is_owned())
        first(fd)

    monkeypatch.setattr(os, "close", close)
    agent_dir.close()
    store.close()
    assert held == [True, True]


# -- a store -----------------------------------------------------------------------------------------------------------


def test_what_others_edit_is_renamed_moved_and_taken_by_who_holds_the_store(tmp_path: Path) -> None:
    renamed: list[bool] = []
    disk = Disk(lambda name, path: renamed.append(alone()) if name in ("rename", "unlink") else None)
    store = DiskStore(tmp_path, disk, guarded={"page"})

    def alone() -> bool:
        return bool(store.lock.depth) and store.lock.mutex._is_owned() and taken(tmp_path / ".paos/store.lock")  # type: ignore[attr-defined]

    store.put("plain", b"1")
    renamed.clear()
    for step in (
        lambda: store.put("plain", b"2"),
        lambda: store.put("page", b"1"),
        lambda: store.put("page", b"2"),
        lambda: store.put("page", b"3", store.get("page").revision),
        lambda: store.move("plain", "moved"),
        lambda: store.delete("moved"),
        lambda: store.delete("page"),
    ):
        step()
        assert renamed and all(renamed), "a name was changed outside of the lock"
        renamed.clear()
    assert not taken(tmp_path / ".paos/store.lock")
    store.close()


def test_what_was_displaced_is_settled_and_forgotten_by_who_holds_the_store(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, guarded={"page"})
    store.put("page", b"1")
    asked: list[str] = []
    for name in ("review", "forget", "review_due", "take"):
        first = getattr(store.aside, name)

        def checked(*args: Any, name: str = name, first: Any = first) -> Any:
            assert store.lock.depth, f"{name} outside of the lock"
            asked.append(name)
            return first(*args)

        setattr(store.aside, name, checked)
    with (tmp_path / "page").open("r+b") as other:  # somebody still has the copy that is replaced
        store.put("page", b"2")
        other.write(b"late")
    store.review_displaced(None)
    store.displaced("page", keep=True)
    store.forget("page")
    store.aside.has_due = lambda: True  # type: ignore[method-assign]  # as after a while
    store.settled_keys()
    store.close()
    assert {"review", "forget", "review_due"} <= set(asked)


def test_what_a_store_keeps_of_the_past_is_written_and_settled_by_who_holds_it(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, versioned={"page"})
    called: list[str] = []
    for target, name in ((store.history, "see"), (store.history, "settle"), (store.aside, "written")):
        held = asked(getattr(target, name), lambda: bool(store.lock.depth))
        setattr(target, name, lambda *args, name=name, held=held, **more: (called.append(name), held(*args, **more))[1])
    for turn in range(TOGETHER + 6):
        store.put("page", b"%d" % turn)
    store.see_version("page")
    store.written_keys(0, alone=False)
    store.close()
    assert {"see", "settle", "written"} <= set(called)


def test_the_logs_of_a_store_are_opened_and_closed_by_one_thread_at_a_time(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, versioned={"a", "b"})
    lock = Held()
    store.history._mutex = lock  # type: ignore[assignment]  # it stands for it
    store.history._logs = watched(OrderedDict, lock)()
    store.put("a", b"1")
    store.put("b", b"1")
    assert store.version_at("a", 1 << 62).data == b"1"
    store.close()


def test_a_log_is_read_and_written_by_one_thread_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, lock = VersionLog(Root(tmp_path), "log"), Held()
    log._mutex = lock  # type: ignore[assignment]  # it stands for it
    log._indexes = watched(OrderedDict, lock)()
    for name in ("refresh", "read", "append", "begin_sync", "sync", "close"):
        monkeypatch.setattr(LogFile, name, asked(getattr(LogFile, name), lambda: bool(lock.times)))
    monkeypatch.setattr(log, "_writing", asked(log._writing, lambda: bool(lock.times)))
    assert log.tip() is None
    assert log.append(1, of(b"one"), b"one")
    log.begin_sync()
    log.sync()
    found = log.at(1)
    assert found is not None and log.content(found) == b"one"
    assert log.last() == log.tip() == found.record and [*log.newest_first()] == [found] and log.times_since(0) == {1}
    log.close()


def test_scratch_is_swept_by_who_is_alone_and_kept_by_everybody_who_lives(tmp_path: Path) -> None:
    one = DiskStore(tmp_path)
    one.put("a", b"1")
    drafts = tmp_path / ".paos/drafts"
    (drafts / "somebody's").write_bytes(b"under way")
    two = DiskStore(tmp_path)
    two.put("b", b"2")
    assert (drafts / "somebody's").exists(), "it was swept although another writer lives"
    assert taken(drafts), "who lives holds it"
    one.close()
    assert taken(drafts), "who still lives holds it"
    two.close()
    DiskStore(tmp_path).close()
    assert not (drafts / "somebody's").exists(), "nobody lived, and it was not swept"


# -- kernel ------------------------------------------------------------------------------------------------------------


class Attempt(JobAttempt):
    """Its beginning, its end and its stop are decided under its lock."""

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, "broken") and name in ("over", "left", "begun", "cancelled_at", "stopped", "stopped_at"):
            assert self.lock.locked(), f"{name} is set outside of the lock"
        super().__setattr__(name, value)


class Asked(StopSignal):
    def __init__(self, attempt: JobAttempt) -> None:
        super().__init__()
        self.attempt = attempt

    def set(self) -> None:
        assert not self.attempt.lock.locked(), "what a request to stop calls may hang: a stop must get past it"
        super().set()


def test_an_end_and_a_stop_are_decided_under_the_lock_of_the_attempt() -> None:
    def attempt() -> Attempt:
        attempt = Attempt(job=None)  # type: ignore[arg-type]  # nothing reads it
        attempt.cancel = Asked(attempt)
        return attempt

    assert attempt().request_stop(1.0)
    ended = attempt()
    assert ended.claim_end() and not ended.claim_end() and not ended.request_stop(1.0)
    left = attempt()
    left.abandon()
    assert left.left and not left.claim_end()
    stopped = attempt()
    assert stopped.note_stop(StopState(), 1.0) and not stopped.note_stop(StopState(), 2.0)
    assert stopped.stopped_at == 1.0 and not stopped.begin()
    begun = attempt()
    assert begun.begin() and begun.executing


def test_alerts_are_kept_under_their_lock() -> None:
    alerts, lock = Alerts(MemoryStore()), Held()
    alerts._lock = lock  # type: ignore[assignment]  # it stands for it
    alerts._found = watched(dict, lock)()
    finding = Finding("CODE", "a", "b", "c", "d")
    alerts("here", finding)
    alerts("here", None)
    alerts.document("PAGE.md", [finding])
    alerts.document("PAGE.md", [])
    alerts.rewrite()
    alerts("here", finding)
    assert alerts.now() == {"here": finding}
    heard: list[Finding] = []
    alerts.listen(heard.append)
    assert heard == [finding]
    alerts.publish()


# -- control plane, node -----------------------------------------------------------------------------------------------


def test_the_plane_is_written_by_one_process(tmp_path: Path) -> None:
    plane = ControlPlane.open(tmp_path, ManualClock(), ChangeFeed())
    with pytest.raises(Busy):
        ControlPlane.open(tmp_path, ManualClock(), ChangeFeed())
    plane.close()
    ControlPlane.open(tmp_path, ManualClock(), ChangeFeed()).close()


def test_the_planes_memory_is_changed_and_imaged_under_its_lock(tmp_path: Path) -> None:
    plane = ControlPlane.open(tmp_path, ManualClock(), ChangeFeed())
    lock, writing = Held(), Held()
    plane._lock, plane._writing = lock, writing  # type: ignore[assignment]  # they stand for them

    def asking(target: Any, name: str, which: Held) -> None:
        setattr(target, name, asked(getattr(target, name), lambda: bool(which.times)))

    class Kept(type(plane._state)):  # type: ignore[misc]  # the class of what is there
        def __setattr__(self, name: str, value: Any) -> None:
            assert lock.times or name not in ("local", "version"), f"{name} is set outside of the lock"
            super().__setattr__(name, value)

    plane._state.__class__ = Kept
    for name in ("apply", "due", "image"):
        asking(plane._state, name, lock)
    for name in ("request_cycle", "run_cycle", "take_changes"):
        asking(plane._reconcile, name, lock)
    assert plane._log is not None
    for name in ("append", "append_unsynced", "rewrite", "close"):
        asking(plane._log, name, writing)

    class Trail(deque[Any]):
        def append(self, line: Any) -> None:
            lock.check()
            super().append(line)

    plane._state.audit = Trail(plane._state.audit)
    operator = Caller(Binding(ADMIN, MOTHER, SYSTEM), "c1")
    plane.call("project_create", {"name": "a"}, operator)
    with pytest.raises(PlaneError):
        plane.call("project_delete", {"project_id": "proj-9"}, operator)
    with pytest.raises(PlaneError):
        plane.call("node_delete", {"node_id": "node-1"}, Caller(Binding(USER, "alice"), "c1"))
    plane.call("node_list", {}, operator)
    plane.set_local_nodes(["arm"])
    plane.ensure_project("main", "Main", ["arm"])
    plane.tick()
    assert plane.image()["tables"]["projects"]
    plane.close()


def test_a_node_keeps_and_saves_under_its_lock_and_is_one_process(tmp_path: Path) -> None:
    disk = Watching(re.compile(r"node\.json$"))
    identity = NodeIdentity(str(tmp_path / "node.json"), "ws://a:1", disk=disk)
    identity.load()
    lock = Held()
    identity._lock = lock  # type: ignore[assignment]  # it stands for it
    disk.held = lambda: lock.times > 0
    identity.services = watched(dict, lock)()
    identity.save(node_id="node-1")
    assert identity.keep("camera", {"on": True}) and not identity.keep("camera", {"on": True})
    assert disk.seen
    with pytest.raises(Busy):
        NodeIdentity(str(tmp_path / "node.json"), "ws://a:1").load()
    identity.close()


# -- what locks are asked ----------------------------------------------------------------------------------------------


def asked(first: Callable[..., Any], held: Callable[[], bool]) -> Callable[..., Any]:
    """The same, but for the question."""

    def called(*args: Any, **more: Any) -> Any:
        assert held(), "called outside of the lock"
        return first(*args, **more)

    return called


def taken(path: Path) -> bool:
    """Would another process have to wait for this lock?"""
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def in_another_thread(ask: Callable[[], bool]) -> bool:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(ask()))
    thread.start()
    thread.join()
    return found[0]
