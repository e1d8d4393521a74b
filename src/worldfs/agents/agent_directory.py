"""One agent's directory: its lock, its clock, its findings. Every file of an agent is read and written through it.

journal.jsonl …          the seven files, where the specification has them
.paos/state.lock         held for every change, for as long as it takes
.paos/kernel.lock        held for a whole session by its runner (storage/lease.py)
.paos/aside/             what was set aside, byte for byte, with a reason beside it
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.base.agent_names import check_agent_name, list_agents, no_agent
from worldfs.base.clock import Clock, SystemClock, stamp
from worldfs.base.durable import Disk
from worldfs.base.errors import NotFound
from worldfs.base.file_lock import FileLock
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.storage.engine_record import shared_engine
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.open_store import open_store
from worldfs.storage.revision import PRIVATE_DIR, of

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from worldfs.base.model import Finding
    from worldfs.storage.lease import Lease

    from .host_mirror import HostMirror

GUARDED: Final = frozenset({"report.json", "tasks.json", "session.json", "memory.md", "metrics.json"})
VERSIONED: Final = GUARDED  # of which every version is kept
LOCK: Final = f"{PRIVATE_DIR}/state.lock"
ASIDE: Final = f"{PRIVATE_DIR}/aside"
FINDINGS: Final = f"{PRIVATE_DIR}/findings.json"
FINDINGS_MAX: Final = 50
FLAT_BYTES: Final = 180
PRESENTED_IN: Final = "told_in"  # key of a stored finding: the session whose prompt contains it


def _finding(item: dict[str, object]) -> Finding:
    """A finding as it was stored. Raises `TypeError` for one with other members."""
    from worldfs.runtime.job_codec import read_finding

    words = {key: str(value) for key, value in item.items() if key not in (PRESENTED_IN, "warning", "codes")}
    return read_finding({**words, "warning": item.get("warning") is True}, item.get("codes"))


class AgentDirectory:
    """Usable from many threads and many processes at once: `locked()` is what changes are made in."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        name: str,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        take: bool = False,
    ):
        """`root`/`name` must be there, or on the engine of the root: `NotFound` says how to make it.

        `take`: an agent of another host lives here from now on, unless it works there (`Busy`).
        """
        self.name = check_agent_name(name)
        self._path = os.path.join(root, name)
        self.clock = clock or SystemClock()
        self.mirror: HostMirror | None = None
        if disk is None and (engine := shared_engine(root)):
            from .agent_hosts import open_mirror
            from .mirrored_disk import MirroredDisk

            self.mirror = open_mirror(root, name, engine, take=take, clock=clock)
            disk = MirroredDisk(self.mirror)
        try:
            self.store = open_store("disk", self._path, disk=disk, guarded=GUARDED, versioned=VERSIONED)
        except NotFound:
            raise no_agent(name, list_agents(root), path=str(root)) from None
        self.root = self.store.root
        self.disk = self.store.disk
        self.findings: list[Finding] = []  # found since this object was opened
        self._lock = FileLock(self.root, LOCK)
        self._second: tuple[datetime | None, str] = None, ""
        self._mark, self._marked = b"", 0  # content of the lock file as long as no other process has changed anything
        self._change_count, self._asked = 0, False
        if self.mirror is not None:
            self._follow(self.mirror)

    def _follow(self, mirror: HostMirror) -> None:
        from .inbox import Inbox

        inbox = Inbox(self)
        try:
            for file, place in mirror.aside:
                self._tell_aside(file, place, kept=mirror.elsewhere is None)
            mirror.follow(inbox.take_in)
        except BaseException:
            self.close()
            raise

    def _tell_aside(self, file: str, place: str, *, kept: bool) -> None:
        words = ("EDIT_ASIDE", file, coded("agent.change_at_home"), coded("agent.change_elsewhere"),
                 coded("agent.kept_make_again", key=place))  # fmt: skip
        if kept:
            self.add_finding(*words)
        else:
            from worldfs.base.model import Finding

            self.findings.append(Finding(words[0], f"{self.name}/{file}", *words[2:], warning=True))

    @property
    def path(self) -> Path:
        from pathlib import Path

        return Path(self._path)

    def close(self) -> None:
        with self._lock.mutex:
            self._lock.close()
            self.store.close()
        if self.mirror is not None:
            self.mirror.close()

    def locked(self) -> AgentDirectory:
        """`with agent_dir.locked():` no other thread or process changes anything meanwhile; may be nested."""
        return self

    def __enter__(self) -> AgentDirectory:
        if self._lock.acquire():
            self._asked = False
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def runner_lease(self, purpose: str = "") -> Lease:
        """The lease that the runner of a session holds: whatever excludes a session takes it."""
        return self.store.lease(KERNEL_LEASE, purpose, clock=self.clock)

    def now(self) -> str:
        """The time as the files have it: whole seconds, UTC, Z."""
        moment = self.clock.now().replace(microsecond=0)
        last, text = self._second
        if moment != last:
            text = stamp(moment)
            self._second = moment, text
        return text

    def change_count(self) -> int:
        """A number that grows when another process may have changed something since it was asked for. Inside `locked`.

        The caller signs the lock file, which other processes see: what was learnt under one number is still so.
        """
        if not self._asked:
            lock = self._lock
            if self._marked != lock.opened:  # a mark of its own for each process
                self._mark, self._marked = f"{os.getpid():010d} {os.urandom(8).hex()}\n".encode(), lock.opened
            if os.pread(lock.fd, 64, 0) != self._mark:
                self._change_count += 1
                self.root.sign(lock.fd, self._mark, LOCK)
            self._asked = True
        return self._change_count

    def add_finding(self, code: str, field: str, expected: str, found: str, fix: str, *, warning: bool = True) -> None:
        """Something was wrong with the files of this agent: kept for the agent's next wake and for `paos check`."""
        from worldfs.base.model import Finding
        from worldfs.runtime.job_codec import finding_value

        finding = Finding(code, f"{self.name}/{field}", expected, found, fix, warning=warning)
        self.findings.append(finding)
        value = finding_value(finding)
        kept = [item for item in self._findings() if {**item, PRESENTED_IN: ""} != {**value, PRESENTED_IN: ""}]
        self._keep_findings([*kept, value][-FINDINGS_MAX:])

    def pending_findings(self) -> list[Finding]:
        """Findings that no successful session has seen yet, oldest first."""
        found = self._findings()
        if not found:
            return []
        with suppress(TypeError):
            return [_finding(item) for item in found]
        return []

    def mark_presented(self, session: str) -> None:
        """Note that this session's prompt contains the findings so far."""
        if found := self._findings():
            self._keep_findings([{**item, PRESENTED_IN: session} for item in found])

    def drop_presented(self, session: str = "") -> None:
        """That session succeeded: drop the findings that its prompt contained. Later findings stay.

        Without a session: drop all of them.
        """
        found = self._findings()
        left = [item for item in found if session and item.get(PRESENTED_IN) != session]
        if len(left) < len(found):
            self._keep_findings(left)

    def _findings(self) -> list[dict[str, object]]:
        stored = self.store.get(FINDINGS)
        try:
            found = parse_json(stored.data) if stored else []
        except ValueError:  # torn by a power cut; findings describe the past, so losing them is harmless
            return []
        return [item for item in found if type(item) is dict] if type(found) is list else []

    def _keep_findings(self, findings: list[dict[str, object]]) -> None:
        data = json.dumps(findings, ensure_ascii=False, indent=1).encode() + b"\n"
        self.store.put(FINDINGS, data, durable=False)

    def write_unsynced(self, path: str, data: bytes) -> None:
        """A small file that a crash may lose or tear without harm; written in place."""
        fd = self.root.lock_file(path)
        try:
            self.root.sign(fd, data, path)
        finally:
            os.close(fd)

    def move_aside(self, name: str, reason: str) -> str:
        """As `set_aside`, of a whole file however long: it is moved, not copied."""
        at = self.clock.now().strftime("%Y%m%d-%H%M%S")
        key = f"{ASIDE}/{at}-{os.urandom(4).hex()}-{flat_name(name)}"
        self._say_why(key, name, at, reason)
        self.store.move(name, key)
        return key

    def clear_odd_file(self, name: str) -> bool:
        """Move a link, FIFO or directory in a file's place aside and report it; False: there is none. Inside `locked`.

        It is neither opened nor followed.
        """
        place = self.root.locate(name)
        info = None if place is None else self.root.lstat(place)
        if place is None or info is None or stat.S_ISREG(info.st_mode):
            return False
        word = (
            coded("file.link")
            if stat.S_ISLNK(info.st_mode)
            else coded("common.directory")
            if stat.S_ISDIR(info.st_mode)
            else coded("agent.fifo")
        )
        key = f"{ASIDE}/{self.clock.now().strftime('%Y%m%d-%H%M%S')}-{os.urandom(4).hex()}-{flat_name(name)}"
        target = self.root.ensure_parent(key)
        self.root.rename(place, target, "new")
        self.root.sync(target, place)
        found, fix = coded("agent.in_its_place", what=word), coded("agent.kept_as", key=key)
        self.add_finding("ODD_FILE", name, coded("common.a_file"), found, fix)
        return True

    def set_aside(self, name: str, data: bytes, reason: str) -> str:
        """Keep bytes that cannot stay where they were; durable. Returns the key of the copy. Call inside `locked`.

        The same bytes of the same file are kept once.
        """
        at = self.clock.now().strftime("%Y%m%d-%H%M%S")
        digest = of(data)
        with suppress(NotFound):
            for there in self.store.list(ASIDE):
                if there.endswith(f"-{digest}-{flat_name(name)}"):
                    self.root.sync(self.root.ensure_parent(f"{ASIDE}/{there}"))  # its writer may have died before that
                    return f"{ASIDE}/{there}"
        key = f"{ASIDE}/{at}-{digest}-{flat_name(name)}"
        self._say_why(key, name, at, reason)
        self.root.replace(key, data, private=True)
        return key

    def _say_why(self, key: str, name: str, at: str, reason: str) -> None:
        """Durable before what it is for lies there: nothing lies aside without its reason."""
        why = {"file": name, "at": at, "reason": reason}
        self.root.replace(f"{key}.why", json.dumps(why, ensure_ascii=False).encode() + b"\n", private=True)


def flat_name(name: str) -> str:
    """A path as one name that any disk keeps: of a long or odd one the beginning, and a digest."""
    text = name.replace("/", "%")
    if text.isprintable() and len(os.fsencode(text)) <= FLAT_BYTES:
        return text
    plain = "".join(sign if sign.isprintable() and sign.isascii() else "_" for sign in text)
    return f"{plain[:80]}-{of(os.fsencode(text))}"
