"""The rules by which `make mutants` makes faults: each reads the syntax of the files that it is for.

A fault changes what the product does: what is never called, what a caller always decides, and a swap of two steps that
do not see each other is no fault, and no rule makes it. Those that the trials of this product found by hand (NAMED)
must be among what the rules make.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src/worldfs"
MOST = 6  # faults of one rule in one file, spread over it


class Fault(NamedTuple):
    """In `file` (below src/worldfs) the text from `start` to `end` becomes `new`."""

    rule: str
    file: str
    line: int
    start: int
    end: int
    new: str
    old: str
    where: str  # the function that it is in

    @property
    def name(self) -> str:
        return f"{self.rule} {self.file}:{self.line} {self.where}: {_short(self.old)} → {_short(self.new)}"

    @property
    def key(self) -> str:
        """As the name without the line: edits elsewhere in the file change nothing of it."""
        return f"{self.rule} {self.file} {self.where}: {' '.join(self.old.split())} → {' '.join(self.new.split())}"


def _short(text: str) -> str:
    return " ".join(text.split())[:90]


class Source:
    """One file: its text, its syntax, and where nodes stand in it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.data = (SRC / file).read_bytes()
        self.tree = ast.parse(self.data)
        self._starts = [0, *(match.end() for match in re.finditer(b"\n", self.data))]
        self._owners = [
            (node.lineno, node.end_lineno or node.lineno, node.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def where(self, line: int) -> str:
        around = [(end - start, name) for start, end, name in self._owners if start <= line <= end]
        return min(around)[1] if around else "-"

    def function(self, line: int) -> bytes:
        """The text of the function around a line; of the file outside of any."""
        around = [(end - start, start, end) for start, end, _ in self._owners if start <= line <= end]
        if not around:
            return self.data
        _, start, end = min(around)
        return b"".join(self.data.splitlines(keepends=True)[start - 1 : end])

    def fault(self, rule: str, node: ast.expr | ast.stmt, new: str) -> Fault:
        return Fault(rule, self.file, node.lineno, *self.span(node), new, self.text(node), self.where(node.lineno))

    def blocks(self) -> Iterator[list[ast.stmt]]:
        for node in ast.walk(self.tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block

    def calls(self) -> Iterator[tuple[ast.Expr, ast.Call, str]]:
        """Statements that only call something, and the last part of its name."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                yield node, node.value, _named(node.value)


def _named(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


_SYNCS: Final = frozenset({"fsync", "fsync_dir", "fdatasync", "sync", "_anchor", "_sure_of"})
_WAITING: Final = {  # methods that wait for the disk unless they are told otherwise, by what they are called on
    "store": {"put", "append", "delete", "move", "swap_many", "place_many"},
    "root": {"replace", "create", "append"},
    "_root": {"replace", "create", "append"},
    "log": {"append", "cut"},
    "_log": {"append", "cut"},
    "live": {"append", "cut"},
    "jobs": {"write_status", "end"},
    "journal": {"append", "append_many"},
}
_LOCKS: Final = re.compile(r"(^|\.)_?(lock|mutex|cond|writing|locked\(\)|alone\(\))$|lease\(")
_WRITES: Final = re.compile(
    r"\b(store|root|_root|log|_log|jobs|ledger|journal|inbox|mail|aside|disk)\.(put|append|write|replace|create"
    r"|swap|move|remove|delete|end|ack|sync|archive|claim|cut|rename)\w*\(|\bwrite_status\(|\barchive\(|\brewrite\("
)
_TIMES: Final = re.compile(
    r"deadline|timeout|\buntil|expire|lease|patience|limit_s|monotonic\(\)|stale|overdue|silent|not_before", re.I
)
_REFUSING: Final = re.compile(r"failure\(|Finding\(|AttemptResult\(False|[Rr]efus|[Dd]en(y|ied)|NotFound|NotPermitted")


def durable(source: Source) -> Iterator[Fault]:
    """A write that is said to be on the disk and is not."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            on, said = getattr(node.func, "value", None), [word for word in node.keywords if word.arg == "durable"]
            for word in said:
                if not isinstance(word.value, ast.Constant):
                    yield source.fault("durable", word.value, "False")
            last = getattr(on, "attr", getattr(on, "id", ""))
            if not said and _named(node) in _WAITING.get(last, ()):
                text = source.text(node)
                yield source.fault("durable", node, f"{text[:-1].rstrip().rstrip(',')}, durable=False)")
    for node, _, name in source.calls():
        if name in _SYNCS:
            yield source.fault("durable", node, "pass")


def torn(source: Source) -> Iterator[Fault]:
    """The torn end of a log stays where it is."""
    for node, call, name in source.calls():
        if name == "cut" and call.args:
            yield source.fault("torn", node, "pass")


def locks(source: Source) -> Iterator[Fault]:
    """Two who write at once."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars is None and _LOCKS.search(source.text(item.context_expr)):
                    yield source.fault("lock", item.context_expr, '__import__("contextlib").nullcontext()')
    for node, _, name in source.calls():
        if name == "flock":
            yield source.fault("lock", node, "pass")


def orders(source: Source) -> Iterator[Fault]:
    """A step taken before the one that it stands on: two that both change what is kept."""
    for block in source.blocks():
        for one, other in itertools.pairwise(block):
            if not isinstance(one, ast.Expr) or not isinstance(other, ast.Expr):
                continue
            first, second = source.text(one), source.text(other)
            if _WRITES.search(first) and _WRITES.search(second):
                start, end = source.span(one)[0], source.span(other)[1]
                old = source.data[start:end].decode()
                new = f"{second}\n{' ' * one.col_offset}{first}"
                yield Fault("order", source.file, one.lineno, start, end, new, old, source.where(one.lineno))


def refuses(source: Source, then: ast.stmt) -> bool:
    """Is this a no? An error, None, False, an empty word or a failure."""
    if isinstance(then, ast.Raise):
        return True
    if isinstance(then, ast.Return):
        value = then.value
        plain = value is None or (isinstance(value, ast.Constant) and value.value in (None, False, "", b""))
        return plain or bool(_REFUSING.search(source.text(then)))
    return isinstance(then, ast.Expr) and bool(_REFUSING.search(source.text(then)))


def _ifs(rule: str, wanted: Callable[[Source, str, ast.stmt], bool]) -> Callable[[Source], Iterator[Fault]]:
    def found(source: Source) -> Iterator[Fault]:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.If) and wanted(source, source.text(node.test), node.body[0]):
                yield source.fault(rule, node.test, "False")

    return found


def rights(source: Source) -> Iterator[Fault]:
    """A right that nobody asks for, and a refusal that never comes."""

    def no(source: Source, test: str, then: ast.stmt) -> bool:
        refusal = isinstance(then, ast.Return) and isinstance(then.value, ast.Name) and then.value.id.isupper()
        return (refusal and source.text(then) != "return ALLOWED") or refuses(source, then)

    yield from _ifs("right", no)(source)
    for node, _, name in source.calls():
        if name in ("require", "require_file"):
            yield source.fault("right", node, "pass")
    for found in ast.walk(source.tree):
        if isinstance(found, ast.IfExp) and source.text(found.body) == "ALLOWED":
            yield source.fault("right", found.test, "True")


def deadlines(source: Source) -> Iterator[Fault]:
    """A time that never comes, or that nobody sets."""
    yield from _ifs(
        "deadline", lambda source, test, then: bool(_TIMES.search(test)) and bool(re.search(r"[<>]", test))
    )(source)
    for node, call, name in source.calls():
        if name in ("until", "settimeout") and call.args:
            yield source.fault("deadline", node, "pass")


def clamps(source: Source) -> Iterator[Fault]:
    """A limit that is not kept."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and len(node.args) > 1 and not node.keywords:
            name, first = source.text(node.func), node.args[0]
            if name in ("min", "max", "np.clip", "np.minimum", "np.maximum") and not isinstance(first, ast.Starred):
                inner = first if not isinstance(first, ast.Constant) else node.args[1]
                yield source.fault("clamp", node, f"({source.text(inner)})")
    yield from _ifs("clamp", lambda source, test, then: bool(re.search(r"[<>]", test)) and refuses(source, then))(
        source
    )


def predicates(source: Source) -> Iterator[Fault]:
    """A judgement that always says yes."""
    yield from _ifs("predicate", lambda source, test, then: "AttemptResult(False" in source.text(then))(source)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.If) and "AttemptResult(False" not in source.text(node.body[0]):
            codes = [part for step in node.body for part in re.findall(r'"(NOT_[A-Z_]+)"', source.text(step))]
            if codes and isinstance(node.body[-1], ast.Return):
                yield source.fault("predicate", node.test, "False")
        named = isinstance(node, ast.Call) and _named(node) == "SuccessPredicate"
        if named and isinstance(node, ast.Call) and not isinstance(node.args[-1], ast.Constant):
            yield source.fault("predicate", node.args[-1], "True")
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id == "bool":
            last = node.body[-1]
            if isinstance(last, ast.Return) and last.value is not None and source.text(last.value) != "True":
                yield source.fault("predicate", last.value, "True")


def steps(source: Source) -> Iterator[Fault]:
    """A step that is left out."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Expr):
            call = node.value.value if isinstance(node.value, ast.Await) else node.value
            if isinstance(call, ast.Call) and _named(call) != "__init__":
                yield source.fault("step", node, "pass")


def retries(source: Source) -> Iterator[Fault]:
    """A table of what is tried again, with one more in it."""
    used = {
        (node.value.id, node.attr)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr.isupper()
    }
    for step in source.tree.body:
        value = getattr(step, "value", None)
        if isinstance(value, ast.Tuple) and all(isinstance(part, ast.Attribute) for part in value.elts):
            kinds = {source.text(part).split(".")[0] for part in value.elts}
            there = {source.text(part) for part in value.elts}
            for kind, member in sorted(used):
                if {kind} == kinds and f"{kind}.{member}" not in there:
                    yield source.fault("retry", value, f"{source.text(value)[:-1]}, {kind}.{member})")


AGENTS = (
    "agents/inbox.py agents/journal.py agents/merged_document.py agents/claim_log.py agents/notebook.py "
    "agents/agent_directory.py "
    "agents/session_job.py agents/agent_state.py agents/agent_files.py agents/init_agent.py agents/message_files.py "
    "agents/doctor_fixes.py"
)
MODELS = (  # what stands between a model and the world
    "models/ interfaces/mcp/ interfaces/model_chat/ planning/model_critic.py planning/planner/model_reading.py "
    "planning/planner/proposed_steps.py"
)
PAST = "storage/file_versions.py storage/version_log.py"
POSIX = "interfaces/posix/open_files.py interfaces/posix/name_changes.py interfaces/posix/posix_files.py"
FLOOR = "fleet/reservations.py fleet/mission_reservations.py fleet/lanes.py"
RULES: dict[str, tuple[Callable[[Source], Iterator[Fault]], str]] = {
    "durable": (
        durable,
        "base/durable.py base/logfile.py base/disk.py storage/disk_store.py storage/displaced_files.py "
        f"runtime/ world/agent_jobs/ control/write_ahead_log.py plugins/node_fs/node_identity.py {AGENTS} "
        "storage/version_log.py agents/host_mirror.py agents/mirrored_disk.py fleet/mission_store.py "
        "fleet/open_missions.py",
    ),
    "torn": (torn, "agents/ control/write_ahead_log.py"),
    "lock": (
        locks,
        "base/durable.py base/file_lock.py storage/disk_store.py storage/swap.py "
        "runtime/job_attempt.py runtime/alerts.py "
        f"control/write_ahead_log.py control/control_plane.py plugins/node_fs/node_identity.py {AGENTS} {PAST} "
        "agents/host_mirror.py",
    ),
    "order": (
        orders,
        f"runtime/ world/agent_jobs/ {AGENTS} control/write_ahead_log.py storage/swap.py "
        "storage/disk_store.py base/durable.py",
    ),
    "retry": (retries, "runtime/job_end.py"),
    "right": (
        rights,
        "access/ namespace/tree.py namespace/namespace.py control/authorization.py "
        "plugins/node_fs/sandboxed_dir.py "
        "plugins/node_fs/fs_operations.py plugins/node_fs/directory_source.py "
        f"sessions/preflight.py {MODELS} {PAST} {POSIX} {FLOOR} agents/host_mirror.py "
        "namespace/verbs.py namespace/past_time.py namespace/views/past_files.py "
        "interfaces/posix/scratch_names.py interfaces/ninep/ninep_access.py interfaces/ninep/ninep_session.py "
        "interfaces/mount/fuse_server.py",
    ),
    "clamp": (
        clamps,
        "robots/targets/safety_limits.py robots/targets/safety.py planning/critic.py "
        f"skills/action_conversion.py {MODELS} {PAST} {POSIX} namespace/staging.py interfaces/ninep/",
    ),
    "deadline": (
        deadlines,
        "runtime/deferred_jobs.py runtime/job_attempt.py runtime/open_jobs.py robots/targets/watchdog.py "
        "robots/targets/safety.py "
        "policies/deadline_socket.py policies/http_connection.py "
        "policies/websocket.py agents/claim_log.py "
        "agents/inbox_queue.py agents/inbox.py control/node_pairing.py control/membership.py control/plane_state.py",
    ),
    "predicate": (
        predicates,
        "robots/mujoco/object_placement.py robots/mujoco/support.py robots/mujoco/perception.py "
        "robots/mujoco/actions.py "
        "robots/mujoco/sequences.py robots/mujoco/env.py plugins/rekep/success_predicates.py "
        f"{PAST} {POSIX} {FLOOR} namespace/views/past_files.py",
    ),
    "step": (steps, f"{PAST} {POSIX}"),
}  # fmt: skip


class Named(NamedTuple):
    """A fault that a trial found unseen: `words` stand in its key."""

    row: str
    rule: str
    file: str
    words: tuple[str, ...]


NAMED = (
    Named("T1: running is not durable, dispatch", "durable", "runtime/dispatch.py", ("_run", "write_status")),
    Named("T1: an end is not durable, calls", "durable", "world/agent_jobs/agent_runtime.py", ("_write_end",)),
    Named("T1: the plane's log is not synced", "durable", "control/write_ahead_log.py", ("append", "log.append")),
    Named("T1: a note is not durable", "durable", "agents/notebook.py", ("_append", "_log.append")),
    Named("T1: a node's identity is not durable", "durable", "plugins/node_fs/node_identity.py", ("_save", "replace")),
    Named("T2: the torn tail of the claim ledger is not cut", "torn", "agents/claim_log.py", ("write", "cut")),
    Named("T3: place anywhere succeeds", "predicate", "robots/mujoco/object_placement.py", ("at_goal", "> TOLERANCE")),
    Named("T3: place outside the basket succeeds", "predicate", "robots/mujoco/object_placement.py", ("encloses",)),
    Named("T3: navigation off centre succeeds", "predicate", "robots/mujoco/perception.py", ("off",)),
    Named("T3: the environment's judge says yes", "predicate", "robots/mujoco/env.py", ("done",)),
    Named("T3: a stack beside succeeds", "predicate", "plugins/rekep/success_predicates.py", ("_stacked", "off <=")),
    Named("T3: pouring nothing succeeds", "predicate", "plugins/rekep/success_predicates.py", ("_poured", "TILTED")),
    Named("T4: another number of actions", "right", "sessions/preflight.py", ("_spaces", "action_dim")),
    Named("T4: a rejected attempt is retried", "retry", "runtime/job_end.py", ("Cause.REJECTED",)),
    Named("T4: a cancelled attempt is retried", "retry", "runtime/job_end.py", ("Cause.CANCELLED",)),
    Named(
        "T4: a kept line keeps its first deadline",
        "deadline",
        "policies/http_connection.py",
        ("_once", "until"),
    ),
    Named("T4: watch without the right to read", "right", "namespace/namespace.py", ("source", "require")),
    Named("T4: joints beyond their limits", "clamp", "robots/targets/safety.py", ("bound", "np.clip")),
)


def named(fault: Fault) -> str:
    """The row of the trials that this fault is, or ""."""
    for one in NAMED:
        if (one.rule, one.file) == (fault.rule, fault.file):
            text = f"{fault.where} {fault.key}"
            if one.words[0] in text and all(word in fault.key for word in one.words):
                return one.row
    return ""


def faults(most: int = MOST) -> list[Fault]:
    """All of them, in order; of many in one file by one rule every so-manieth, and the named ones."""
    found: list[Fault] = []
    for rule, places in RULES.values():
        for file in _files(places.split()):
            some = sorted({fault.key: fault for fault in rule(Source(file))}.values(), key=lambda one: one.start)
            step = max(1, -(-len(some) // most))
            found += [fault for index, fault in enumerate(some) if index % step == 0 or named(fault)]
    if missing := {one.row for one in NAMED} - {named(fault) for fault in found}:
        raise SystemExit(f"mutants: the rules do not make: {'; '.join(sorted(missing))}")
    return found


def _files(places: Iterable[str]) -> Iterator[str]:
    for place in places:
        path = SRC / place
        if path.is_dir():
            yield from sorted(str(file.relative_to(SRC)) for file in path.rglob("*.py"))
        elif path.exists():
            yield place
