"""Workload of an agent: every change of AgentState, in two sessions, with messages from another agent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from worldfs.agents.agent_state import AgentState
from worldfs.base.disk import Disk
from worldfs.base.json_values import as_int
from worldfs.testing.journal_oracle import recount
from worldfs.testing.manual_clock import ManualClock

from . import View, Workload

NAME, OTHER = "rio", "ann"
FILES = ("report.json", "tasks.json", "session.json", "metrics.json")
FIRST, SECOND = "20260331-200000-aaaa", "20260331-220000-bbbb"
LETTERS = tuple(f"letter-{n}" for n in range(4))


def prepare(path: Path) -> None:
    for name in (NAME, OTHER):
        AgentState.open(name, path, clock=ManualClock(), create=True).close()


def run(path: Path, disk: Disk) -> Iterator[str]:
    state, other = _open(path, disk), _open(path, disk, OTHER)
    state.event("orient_complete", note="x" * 700)
    yield "event"
    for n in range(3):
        state.add_task(f"task number {n}, 第{n}", id=f"t{n}", context="y" * 2000)
        yield f"task {n}"
    state.update_task("t0", status="active", priority="high")
    yield "task changed"
    state.close_task("t0", "done, and well")
    yield "task closed"
    state.remember("patterns", "files are enough", pinned=True)
    yield "remembered"
    state.remember("dead_ends", "a database")
    yield "remembered more"
    state.undo()
    yield "undone"
    state.set_report(summary="looking around", current_task="t1")
    yield "report"
    for id in LETTERS[:2]:
        other.send(NAME, subject=id, body="z" * 900, id=id)
        yield f"{id} sent"
    state.start(type="research", id=FIRST, timeout_seconds=60, domain="markets")
    yield "first session"
    state.event("sources_archived", count=3)
    yield "event of the session"
    state.heartbeat()
    other.send(NAME, subject="meanwhile", id=LETTERS[2])
    yield "letter meanwhile"
    state.finish("completed", summary="eight sources", handoff="go on", sources_archived=8, tokens_used=1200)
    yield "first session ended"
    state.add_task("found in the session", follow_up_from=FIRST, id="t3")
    yield "task afterwards"
    state.start(type="extract", id=SECOND)
    yield "second session"
    state.finish("timeout", errors=("too slow",), next_priority="t3")
    yield "second session ended"
    claimed = state.inbox.claim("a worker")
    assert claimed is not None
    yield "claimed"
    state.inbox.ack(claimed.token)
    yield "acknowledged"
    other.send(NAME, subject="late", id=LETTERS[3])
    yield "late letter"
    claimed = state.inbox.claim("a worker")
    assert claimed is not None
    state.inbox.give_back(claimed.token)
    yield "given back"
    state.journal.seal()
    yield "sealed"
    state.remember("questions", "and now?")
    yield "remembered after"
    state.close()
    other.close()


def restart(path: Path, disk: Disk) -> Iterator[str]:
    """Another start of the same agent: the lost session is reported, and work goes on."""
    state = _open(path, disk)
    state.recover()
    state.event("again")
    yield "event again"
    state.add_task("again", id="again")
    yield "task again"
    if any(task.id == "t0" for task in state.tasks()):
        state.update_task("t0", context="seen again")
        yield "task changed again"
    state.remember("flags", "again")
    yield "remembered again"
    state.start(id="20260401-000000-cccc")
    yield "session again"
    state.finish(summary="again")
    yield "session ended again"
    state.close()


def inspect(path: Path) -> View:
    """The content of the files after a start's recovery; the invariants of the specification are checked."""
    state = _open(path, Disk())
    try:
        state.reconcile(settle=True)
        found: dict[str, object] = {}
        events = [(seq, entry["event"]) for seq, entry in state.journal.lines()]
        assert [seq for seq, _ in events] == list(range(1, len(events) + 1)), f"gaps in the journal: {events}"
        found["events"] = tuple(events)
        state.recover()
        found |= _documents(state, path / NAME)
        found |= _letters(state, path / NAME)
        _sums(state)
        return found
    finally:
        state.close()


def _documents(state: AgentState, home: Path) -> dict[str, object]:
    for name in FILES:
        with suppress(FileNotFoundError):
            json.loads((home / name).read_bytes())
    for line in (home / "journal.jsonl").read_bytes().splitlines():
        json.loads(line)
    hidden = [file for file in home.iterdir() if file.name not in SEVEN]
    assert not hidden, f"in sight: {hidden}"
    report, session = state.report(), state.session()
    assert report is not None
    found: dict[str, object] = {f"task {task.id}": task for task in state.tasks()}
    found |= {f"remark {remark.text}": remark.pinned for remark in state.memory().remarks}
    last = report.last_session
    found["report"] = f"{report.status}, {_why(report.summary)}, {report.current_task}, {report.next_priority}"
    found["last session"] = "" if last is None else f"{last.id} {last.outcome}"
    found["session"] = "" if session is None else f"{session.session_id} {session.status} {session.handoff_notes}"
    return found


def _why(text: str) -> str:
    """A session may be lost before or after it began."""
    return text.partition(" lost: ")[0]


def _letters(state: AgentState, home: Path) -> dict[str, object]:
    waiting = [letter.message.id for letter in state.inbox.waiting() if letter.message is not None]
    found: dict[str, object] = {}
    for id in LETTERS:
        receipt = state.inbox.receipt(id)
        places = waiting.count(id) + (receipt is not None and receipt.state in ("acknowledged", "dead"))
        assert places <= 1, f"{id} is there {places} times"
        assert (receipt is None) == (places == 0), f"{id}: {receipt}"
        found[id] = "" if receipt is None else "waits" if receipt.state in ("waiting", "claimed") else receipt.state
    return found


def _sums(state: AgentState) -> None:
    """metrics.json equals a count of the journal's sessions, as of the last end of one."""
    metrics = state.metrics()
    assert metrics is not None
    entries = list(state.journal.all_entries())
    ends = [index for index, entry in enumerate(entries) if entry["event"] == "session_end"]
    counted = entries[: ends[-1] + 1] if ends else []
    lifetime, _ = recount(counted, state.agent_dir.clock.now())
    if tokens := sum(as_int(entry.get("tokens_used")) for entry in counted if entry["event"] == "session_end"):
        lifetime["tokens_used"] = tokens
    assert metrics.lifetime == lifetime, f"metrics {metrics.lifetime}, the journal counts {lifetime}"


SEVEN = {*FILES, "memory.md", "inbox", "journal.jsonl", ".paos"}


def _open(path: Path, disk: Disk, name: str = NAME) -> AgentState:
    return AgentState.open(name, path, clock=ManualClock(), disk=disk)


LIFE = Workload("agent", prepare, run, restart, inspect)
