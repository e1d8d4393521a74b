"""The check of agents (`paos check`): every file of every agent is read; each problem is named with its fix.

A fix sets the broken file aside and writes it again from the last good version, the journal or the template; it
deletes no byte. A second run finds nothing that the first has fixed.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.agent_names import list_agents
from worldfs.base.durable import Root
from worldfs.base.errors import NotFound, UserError, WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Finding
from worldfs.formats.agent import documents
from worldfs.runtime.job_store import DONE, OPEN, JobStore
from worldfs.storage.odd_entries import odd_entries, odd_entry
from worldfs.storage.revision import PRIVATE_DIR

from . import task_file
from .agent_state import AgentState
from .doctor_fixes import (
    correct_agent_name,
    drop_journal_line,
    end_session,
    move_aside,
    put_aside,
    recreate_file,
    settle_document,
    take_in_journal,
)
from .document_rules import mapping
from .init_agent import IGNORE
from .journal import NAME as JOURNAL
from .journal import parse
from .journal_numbers import gaps
from .merged_document import GENERATIONS
from .metrics import project
from .metrics_cache import FOLD
from .metrics_reducer import MODEL_CALL, MetricsReducer

if TYPE_CHECKING:
    from worldfs.base.clock import Clock

FILES: Final = ("report.json", "tasks.json", "session.json", "memory.md", "metrics.json")
BORN: Final = ("report.json", "tasks.json", "memory.md", "metrics.json", "journal.jsonl", "inbox")  # session.json comes
LARGE: Final = 16 << 20  # bytes from which a document is not read as a whole


class Diagnosis(NamedTuple):
    """One problem, and the function that fixes it (None: only a person can)."""

    finding: Finding
    mend: Callable[[], object] | None = None


def check(root: str | os.PathLike[str], *, fix: bool = False, clock: Clock | None = None) -> list[Finding]:
    """All findings below a state root, in the order of agents and files; `fix` repairs what can be repaired.

    What was fixed comes back as a warning. Raises nothing for an unreadable file: that is a finding.
    """
    place = Path(root)
    found = [*_root(place, fix)]
    for name in list_agents(place):
        found += _agent(place, name, fix, clock)
    return found


def _root(root: Path, fix: bool) -> Iterator[Finding]:
    known = set(list_agents(root))
    with suppress(FileNotFoundError, NotADirectoryError):
        with os.scandir(root) as entries:
            listed = sorted(entries, key=lambda item: item.name)
        for entry in listed:
            if entry.name == ".gitignore" and (odd := odd_entry(entry, entry.path)) is not None:
                yield _broken(odd, entry.path, root)
            if entry.name in known or entry.name.startswith("."):
                continue
            if entry.is_symlink():
                yield _say(
                    "UNSAFE_PATH",
                    entry.path,
                    coded("common.directory"),
                    coded("file.link"),
                    coded("file.replace_link_dir"),
                )
            elif entry.is_dir():
                yield _say(
                    "BAD_NAME", entry.path, coded("file.agent_name"), entry.name,
                    coded("file.rename", path=_pasted(entry.path)), warning=True,
                )  # fmt: skip
    if known and not (root / ".gitignore").exists() and not (root / ".git").exists():
        if fix:
            house = Root(root)
            house.create(".gitignore", IGNORE)
            house.close()
        yield _say(
            "NOT_IGNORED", str(root / ".gitignore"), coded("file.unversioned"), coded("file.no_gitignore"),
            _mend_with(root), warning=True,
        )  # fmt: skip


def _agent(root: Path, name: str, fix: bool, clock: Clock | None) -> list[Finding]:
    found = []
    # Links and devices in a file's place first: nothing else can be checked while they are there.
    for fault in (*_odd(root / name), *_missing(root, name, clock)):
        found.append(_settled(fault, fix, root))
    try:
        state = AgentState.open(name, root, clock=clock)
    except WorldError as error:
        return [*found, _broken(error, str(root / name), root)]
    try:
        for part in PARTS:
            try:
                for fault in part(state):
                    found.append(_settled(fault, fix, root))
            except WorldError as error:
                found.append(_broken(error, f"{name}/{error.path}", root))
    finally:
        state.close()
    named = {finding.field for finding in found}
    for odd in odd_entries(root / name, PRIVATE_DIR):
        if (field := f"{name}/{odd.path}") not in named:
            found.append(_broken(odd, field, root))
    return found


def _settled(fault: Diagnosis, fix: bool, root: Path) -> Finding:
    finding = fault.finding
    if fault.mend is None:
        return finding
    if not fix:
        return finding if finding.fix else replace(finding, fix=_mend_with(root))
    try:
        fault.mend()
    except WorldError as error:
        return replace(finding, found=coded("agent.fix_failed", found=finding.found, why=error_message(error)))
    fix_said = coded("agent.mended_so", fix=finding.fix) if finding.fix else coded("agent.mended")
    return replace(finding, warning=True, fix=fix_said)


# -- what may be wrong ---------------------------------------------------------------------------------------------


def _odd(home: Path) -> Iterator[Diagnosis]:
    """A directory, a link or a device where a file should be; a file where the inbox should be."""
    for name in (*FILES, JOURNAL, "inbox"):
        try:
            info = (home / name).lstat()
        except OSError:
            continue
        kind = stat.S_IFMT(info.st_mode)
        wanted = stat.S_IFDIR if name == "inbox" else stat.S_IFREG
        if kind != wanted:
            word = {
                stat.S_IFLNK: coded("file.link"),
                stat.S_IFDIR: coded("common.directory"),
                stat.S_IFREG: coded("common.a_file"),
            }.get(kind, coded("agent.a_device"))
            yield Diagnosis(
                _say(
                    "WRONG_KIND",
                    f"{home.name}/{name}",
                    coded("common.directory") if name == "inbox" else coded("common.a_file"),
                    word,
                    "",
                ),
                partial(move_aside, home, name),
            )
        elif not stat.S_IMODE(info.st_mode) & stat.S_IRUSR:
            yield Diagnosis(
                _say(
                    "UNREADABLE",
                    f"{home.name}/{name}",
                    coded("agent.own_readable"),
                    f"{info.st_mode & 0o777:04o}",
                    "",
                ),
                partial((home / name).chmod, 0o755 if name == "inbox" else 0o644),
            )


def _missing(root: Path, name: str, clock: Clock | None) -> Iterator[Diagnosis]:
    from .init_agent import create_agent

    gone = [file for file in BORN if not (root / name / file).exists()]
    known = {file for file in gone if any((root / name / GENERATIONS).glob(f"{file}/*"))}
    if not (set(FILES) - set(gone)) and JOURNAL in gone:
        return  # a directory of something else
    for file in gone:
        if file in known or (file == JOURNAL and (root / name / PRIVATE_DIR / JOURNAL).exists()):
            continue  # its last version is known: reconciling the document restores it
        yield Diagnosis(
            _say("FILE_MISSING", f"{name}/{file}", coded("agent.the_file"), coded("agent.nothing"), ""),
            partial(create_agent, root, name, clock=clock),
        )


def _journal(state: AgentState) -> Iterator[Diagnosis]:
    """Torn, changed, with gaps: what reconciling the journal would repair is first reported without repairing it."""
    from .journal_repair import GIANT, scan_tail

    agent_dir, size = state.agent_dir, _size(state, JOURNAL)
    stored = agent_dir.store.get(JOURNAL) if size <= GIANT else None
    shadow = agent_dir.store.get(f"{PRIVATE_DIR}/{JOURNAL}")
    if size > GIANT:
        yield Diagnosis(
            _found(
                state, "JOURNAL_GIANT", JOURNAL, coded("agent.journal_most", n=GIANT >> 20),
                coded("agent.journal_size", n=size >> 20),
            ),
            partial(take_in_journal, state),
        )  # fmt: skip
    elif stored is None and shadow is not None and shadow.data:
        yield Diagnosis(
            _found(state, "JOURNAL_MISSING", JOURNAL, coded("agent.the_journal"), coded("agent.nothing")),
            partial(take_in_journal, state),
        )
    elif stored is not None and shadow is not None and not stored.data.startswith(_whole(shadow.data)):
        yield Diagnosis(
            _found(state, "JOURNAL_EDITED", JOURNAL, coded("agent.as_written"), coded("agent.changed_entries")),
            partial(take_in_journal, state),
        )
    elif stored is not None:
        judged = scan_tail(stored.data, 0, 0, adopting=True)
        if stored.data[judged.good :]:
            yield Diagnosis(
                _found(
                    state,
                    "JOURNAL_TORN",
                    JOURNAL,
                    coded("agent.whole_lines"),
                    coded("agent.torn", n=len(stored.data) - judged.good),
                ),
                partial(take_in_journal, state),
            )
        for at, raw in enumerate(stored.data[: judged.good].split(b"\n")[:-1], 1):
            if raw and parse(raw) is None:
                yield Diagnosis(
                    _found(state, "JOURNAL_LINE", f"{JOURNAL}:{at}", coded("file.json_object"), repr(raw[:40])[1:]),
                    partial(drop_journal_line, state, raw),
                )
    for last, seq in gaps(state.journal):
        yield Diagnosis(
            _found(
                state, "JOURNAL_GAP", JOURNAL, coded("agent.entry", n=last + 1),
                coded("agent.entries_missing", n=seq, missing=seq - last - 1),
                fix=coded("agent.find_segment"), warning=True,
            )
        )  # fmt: skip


def _documents(state: AgentState) -> Iterator[Diagnosis]:
    for name, document in state.documents.items():
        size = _size(state, name)
        if size > document.rules.most:
            yield Diagnosis(
                _found(
                    state,
                    "TOO_LARGE",
                    name,
                    coded("agent.at_most_mib", n=document.rules.most >> 20),
                    coded("agent.bytes", n=size),
                ),
                partial(settle_document, state, document)
                if document.generations()
                else partial(recreate_file, state, name),
            )
            continue
        stored = state.agent_dir.store.get(name)
        newest = document.generations()
        if stored is None:
            if newest:
                yield Diagnosis(
                    _found(state, "FILE_REMOVED", name, coded("agent.the_file"), coded("agent.nothing")),
                    partial(settle_document, state, document),
                )
            continue
        wrong = [finding for finding in document.rules.judge(stored.data) if not finding.warning]
        for finding in wrong:
            yield Diagnosis(
                _found(state, finding.code, finding.field, finding.expected, finding.found),
                partial(settle_document, state, document) if newest else partial(recreate_file, state, name),
            )
        if name == "tasks.json" and not wrong:
            for finding in documents.tasks_findings(mapping(stored.data)):
                yield Diagnosis(
                    _found(state, finding.code, finding.field, finding.expected, finding.found),
                    partial(document.change, task_file.normalize_tasks),
                )
        if not wrong and document.rules.clean(stored.data) != stored.data:
            yield Diagnosis(
                _found(state, "SECRET", name, coded("agent.no_secrets"), coded("agent.like_secret")),
                partial(document.change, document.rules.clean),
            )
        value = mapping(stored.data)
        if name.endswith(".json") and not wrong and value.get("agent") not in (None, state.name):
            yield Diagnosis(
                _found(state, "WRONG_AGENT", f"{name}#/agent", state.name, repr(value.get("agent"))),
                partial(correct_agent_name, state, document),
            )


def _metrics(state: AgentState) -> Iterator[Diagnosis]:
    """Totals against each other, and against those reduced from the journal."""

    stored = state.agent_dir.store.get("metrics.json")
    if stored is None or not mapping(stored.data):
        return
    for finding in documents.metrics_judge(stored.data):
        yield Diagnosis(
            _found(state, finding.code, finding.field, finding.expected, finding.found), state.recount_metrics
        )
    counted = state.agent_dir.store.get(FOLD)
    if counted is not None:
        fold = MetricsReducer.load(counted.data)
        for seq, entry in state.journal.since(fold.applied_seq):
            if entry.get("event") != MODEL_CALL:  # counted when the message has its answer (model_calls.py)
                fold.apply(seq, entry)
        have, want = (
            mapping(stored.data).get("lifetime", {}),
            project(fold, state.name, state.agent_dir.clock.now()).lifetime,
        )
        wrong = {key: value for key, value in want.items() if type(have) is not dict or have.get(key) != value}
        if wrong and not state.agent_dir.runner_lease().holder():
            key = next(iter(wrong))
            yield Diagnosis(
                _found(
                    state, "METRICS_STALE", f"metrics.json#/lifetime/{key}", str(wrong[key]),
                    str(have.get(key) if type(have) is dict else have),
                ),
                state.recount_metrics,
            )  # fmt: skip


def _sessions(state: AgentState) -> Iterator[Diagnosis]:
    agent_dir, jobs = state.agent_dir, JobStore(state.agent_dir.store, state.agent_dir.clock)
    alive = agent_dir.runner_lease().holder() is not None
    for name in agent_dir.store.list(OPEN):
        if not name.endswith(".jsonl"):
            yield Diagnosis(
                _found(state, "ODD_FILE", f"{OPEN}/{name}", "<session>.jsonl", coded("agent.another_name")),
                partial(put_aside, state, f"{OPEN}/{name}"),
            )
            continue
        try:
            jobs.load(name[: -len(".jsonl")])
        except UserError as error:
            yield Diagnosis(
                _found(state, error.code, f"{OPEN}/{name}", error.expected or coded("agent.an_order"), error.found),
                partial(put_aside, state, f"{OPEN}/{name}"),
            )
            continue
        if not alive:
            yield Diagnosis(
                _found(
                    state,
                    "SESSION_LOST",
                    "session.json",
                    coded("agent.living_runner"),
                    coded("agent.nobody_runs", what=name[:-6]),
                ),
                state.recover,
            )
    for name in agent_dir.store.list(DONE):
        with suppress(NotFound):
            try:
                jobs.load(name[: -len(".jsonl")])
            except UserError as error:
                yield Diagnosis(
                    _found(state, error.code, f"{DONE}/{name}", error.expected or coded("agent.an_order"), error.found),
                    partial(put_aside, state, f"{DONE}/{name}"),
                )
    session = mapping(_bytes(state, "session.json"))
    report = mapping(_bytes(state, "report.json"))
    if alive or agent_dir.store.list(OPEN):
        return
    if session.get("status") == "running":
        yield Diagnosis(
            _found(
                state,
                "SESSION_LOST",
                "session.json#/status",
                "completed | timeout | error",
                coded("agent.running_nobody", status="running"),
            ),
            partial(end_session, state),
        )
    if report.get("status") in ("researching", "extracting", "evaluating"):
        yield Diagnosis(
            _found(
                state,
                "REPORT_STALE",
                "report.json#/status",
                "idle | error",
                coded("agent.running_nobody", status=report["status"]),
            ),
            partial(state.set_report, status="error" if session.get("status") in ("timeout", "error") else "idle"),
        )


def _letters(state: AgentState) -> Iterator[Diagnosis]:
    from .inbox_check import check as wrong_letters

    for fault in wrong_letters(state.inbox.message_files):
        yield Diagnosis(_named(state, fault.finding), fault.mend)


def _machine(state: AgentState) -> Iterator[Diagnosis]:
    """What is kept for us: leftovers, copies, the search index."""
    store = state.agent_dir.store
    for file in store.list(GENERATIONS):
        for name in store.list(f"{GENERATIONS}/{file.rstrip('/')}"):
            key = f"{GENERATIONS}/{file.rstrip('/')}/{name}"
            stored = store.get(key)
            if stored is not None and stored.revision not in name.split("-"):
                yield Diagnosis(
                    _found(state, "COPY_TORN", key, coded("agent.named_version"), coded("agent.other_bytes")),
                    partial(put_aside, state, key),
                )
    for name in store.list(""):
        if not name.endswith("/") and (name.endswith((".tmp", "~", ".swp")) or name.startswith(".#")):
            yield Diagnosis(
                _found(state, "LEFTOVER", name, coded("agent.no_leftovers"), coded("agent.leftover")),
                partial(put_aside, state, name),
            )


PARTS: tuple[Callable[[AgentState], Iterator[Diagnosis]], ...] = (
    _journal,
    _documents,
    _sessions,
    _metrics,
    _letters,
    _machine,
)


# -- words ---------------------------------------------------------------------------------------------------------


def _say(code: str, field: str, expected: str, found: str, fix: str, *, warning: bool = False) -> Finding:
    return Finding(code, field, expected, found, fix, warning=warning)


def _found(
    state: AgentState, code: str, field: str, expected: str, found: str, *, fix: str = "", warning: bool = False
) -> Finding:
    return _say(code, f"{state.name}/{field}", expected, found, fix, warning=warning)


def _broken(error: WorldError, field: str, root: Path) -> Finding:
    return _say(
        error.code, field, error.expected or coded("agent.readable"), error.found, error.fix or _mend_with(root)
    )


def _named(state: AgentState, finding: Finding) -> Finding:
    return finding if finding.field.startswith(state.name) else replace(finding, field=f"{state.name}/{finding.field}")


def _pasted(path: str) -> str:
    """A path as a shell takes it, on one line."""
    return shlex.quote(path) if path.isprintable() else f"${path!r}"


def _mend_with(root: Path) -> str:
    return f"paos check --fix --agents {shlex.quote(str(root))}"


def _size(state: AgentState, name: str) -> int:
    place = state.agent_dir.root.locate(name)
    info = None if place is None else state.agent_dir.root.lstat(place)
    return 0 if info is None else info.st_size


def _bytes(state: AgentState, name: str) -> bytes:
    stored = state.agent_dir.store.get(name) if _size(state, name) <= LARGE else None
    return stored.data if stored is not None else b""


def _whole(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1]
