"""What an agent is told of is on the disk: somebody's rewrite merged, a session begun, what lies aside."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from worldfs.agents import claim_log, doctor_fixes, notebook
from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.agent_state import AgentState
from worldfs.agents.inbox import Inbox
from worldfs.agents.notebook import Notebook
from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.disk import Disk, How
from worldfs.base.model import Message
from worldfs.testing.crashes import enumerate_crashes
from worldfs.testing.manual_clock import ManualClock


def test_a_merge_waits_for_the_disk_with_its_content_and_its_name(tmp_path: Path) -> None:
    done: list[tuple[str, str]] = []
    disk = Disk(lambda name, path: done.append((name, path)))
    with AgentState.open("rio", tmp_path, create=True, disk=disk) as state:
        first = state.add_task("one").id
        page = tmp_path / "rio/tasks.json"
        old = page.read_text()
        state.add_task("two")
        rewrite = json.loads(old)  # by a writer who has not read of the second
        rewrite["tasks"][0]["status"] = "completed"
        page.write_text(json.dumps(rewrite))
        done.clear()
        state.reconcile(settle=True)
        assert [(task.id == first, task.status) for task in state.tasks()] == [(True, "completed"), (False, "pending")]
    at = max(index for index, (name, path) in enumerate(done) if name == "rename" and path == "tasks.json")
    draft = [path for name, path in done[:at] if name == "fsync"]
    assert draft, done
    assert "fsync_dir" in {name for name, path in done[at:] if path == ""}, done


def test_a_session_is_said_to_be_running_on_the_disk_before_it_begins(tmp_path: Path) -> None:
    done: list[tuple[str, str]] = []
    with AgentState.open("rio", tmp_path, create=True, disk=Disk(lambda *one: done.append(one))) as state:
        record = state.start(type="research")
        state.finish("completed", summary="ok")
    said = [(name, path) for name, path in done if path in (f".paos/jobs/{record.session_id}.jsonl", "journal.jsonl")]
    begun = said.index(("append", f".paos/jobs/{record.session_id}.jsonl"))
    assert said[begun + 1] == ("fsync", f".paos/jobs/{record.session_id}.jsonl"), said
    assert said[begun + 2] == ("append", "journal.jsonl"), said


def test_the_version_that_a_session_begins_from_is_on_the_disk_before_another_program_may_write(tmp_path: Path) -> None:
    """A rewrite by the session's command can be undone after any power cut: the newest good version is flushed."""
    done: list[tuple[str, str]] = []
    with AgentState.open("rio", tmp_path, create=True, disk=Disk(lambda *one: done.append(one))) as state:
        for name in ("tasks.json", "memory.md"):
            page = tmp_path / "rio" / name
            page.write_bytes(page.read_bytes() + b"\n")  # another program's: nothing of it is flushed by us yet
        done.clear()
        state.start(type="research")
        for name in ("tasks.json", "memory.md"):
            newest = sorted((tmp_path / "rio/.paos/generations" / name).iterdir())[-1].name
            assert ("fsync", f".paos/generations/{name}/{newest}") in done, name
        state.finish("completed", summary="ok")


def test_that_a_delivery_does_not_count_is_on_the_disk_when_it_is_said(tmp_path: Path) -> None:
    """`ack_all` of a session that could read none of what it had claimed."""
    done: list[tuple[str, str]] = []
    with AgentState.open("rio", tmp_path, create=True, disk=Disk(lambda *one: done.append(one))) as state:
        state.inbox.deposit(Message("l1", "theseus", "rio", "2026-03-31T22:00:00Z"))
        assert state.inbox.claim_all("session", token="s1")
        done.clear()
        assert state.inbox.ack_all("s1", only=()) == []
    assert done == [("append", ".paos/inbox.jsonl"), ("fsync", ".paos/inbox.jsonl")]


FOREIGN = b'{"tasks": [' + b"another program's work" * 60


def reasons(home: Path) -> list[str]:
    """Of what lies aside, the file that each was: all of it says why it is there."""
    aside = [file for file in home.glob(".paos/aside/*") if file.suffix != ".why"]
    return [json.loads(Path(f"{file}.why").read_bytes())["file"] for file in aside]


def kept(home: Path, name: str) -> bool:
    """Are the other program's bytes in their place, or aside?"""
    return FOREIGN in [file.read_bytes() for file in (home / name, *home.glob(".paos/aside/*")) if file.exists()]


def test_what_was_set_aside_is_on_the_disk_with_its_reason_before_anything_takes_its_place() -> None:
    def prepare(path: Path) -> None:
        AgentState.open("rio", path, create=True).close()
        (path / "rio/tasks.json").write_bytes(FOREIGN)

    def operate(path: Path, disk: Disk, ack: Callable[[str], None]) -> None:
        with AgentState.open("rio", path, disk=disk) as state:
            state.add_task("one")
            ack("one")

    def check(path: Path, acked: tuple[str, ...]) -> None:
        assert kept(path / "rio", "tasks.json"), "their bytes are gone"
        assert reasons(path / "rio") in (["tasks.json"], *(() if acked else ([],)))

    assert enumerate_crashes(prepare, operate, check).states > 20


def test_so_is_a_file_that_was_moved_aside() -> None:
    def prepare(path: Path) -> None:
        (path / "rio").mkdir()
        (path / "rio/odd").write_bytes(FOREIGN)

    def operate(path: Path, disk: Disk, ack: Callable[[str], None]) -> None:
        agent_dir = AgentDirectory(path, "rio", clock=ManualClock(), disk=disk)
        with agent_dir.locked():
            agent_dir.move_aside("odd", "odd")
            agent_dir.root.replace("odd", b"ours")
        ack("ours")
        agent_dir.close()

    def check(path: Path, acked: tuple[str, ...]) -> None:
        assert kept(path / "rio", "odd"), "their bytes are gone"
        assert reasons(path / "rio") in (["odd"], *(() if acked else ([],)))

    assert enumerate_crashes(prepare, operate, check).states > 10


@pytest.mark.parametrize("whole", [False, True], ids=["bytes", "file"])
def test_nothing_lies_aside_without_its_reason_wherever_the_writer_dies(tmp_path: Path, whole: bool) -> None:
    class Dead(BaseException):
        pass

    died = 0
    for moment in itertools.count(1):
        home = tmp_path / f"{moment}/rio"
        home.mkdir(parents=True)
        (home / "odd").write_bytes(b"what nobody knows")
        left = moment

        def boundary(name: str, path: str) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise Dead

        agent_dir = AgentDirectory(home.parent, "rio", clock=ManualClock(), disk=Disk(boundary))
        try:
            with agent_dir.locked():
                agent_dir.move_aside("odd", "odd") if whole else agent_dir.set_aside("odd", b"what nobody knows", "odd")
        except Dead:
            died += 1
        finally:
            agent_dir.close()
        aside = [path for path in home.glob(".paos/aside/*") if path.name.endswith("-odd")]
        assert all(Path(f"{path}.why").exists() for path in aside), f"before change {moment}"
        if left > 0:
            assert len(aside) == 1 and died > 3
            return


def test_what_lies_aside_already_is_waited_for_as_well(tmp_path: Path) -> None:
    """Another process may have put it there and died before it was on the disk."""
    (tmp_path / "rio").mkdir()
    done: list[tuple[str, str]] = []
    for _ in range(2):
        done.clear()
        agent_dir = AgentDirectory(tmp_path, "rio", clock=ManualClock(), disk=Disk(lambda *one: done.append(one)))
        with agent_dir.locked():
            key = agent_dir.set_aside("tasks.json", b"no json", "odd")
        agent_dir.close()
        assert done[-1] == ("fsync_dir", key.rpartition("/")[0])
    assert not [name for name, _ in done if name in ("write", "rename")]


@pytest.mark.parametrize("by", ["doctor", "agent_dir"])
def test_what_was_put_aside_as_it_stands_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    done: list[str] = []
    rename, fsync_dir = Disk.rename, Disk.fsync_dir

    def renamed(disk: Disk, source: DirEntryRef, target: DirEntryRef, how: How) -> None:
        rename(disk, source, target, how)
        done.append("rename")

    def synced(disk: Disk, fd: int, path: str) -> None:
        fsync_dir(disk, fd, path)
        done.append(f"fsync_dir {path}")

    (tmp_path / "rio").mkdir()
    (tmp_path / "rio/odd").symlink_to("elsewhere")
    agent_dir = AgentDirectory(tmp_path, "rio", clock=ManualClock())
    monkeypatch.setattr(Disk, "rename", renamed)
    monkeypatch.setattr(Disk, "fsync_dir", synced)
    with agent_dir.locked():
        if by == "doctor":
            doctor_fixes.move_aside(agent_dir.path, "odd")
        else:
            assert agent_dir.clear_odd_file("odd")
    agent_dir.close()
    at = done.index("rename")
    assert done[at + 1 : at + 3] == ["fsync_dir .paos/aside", "fsync_dir "]
    assert not (tmp_path / "rio/odd").is_symlink()


def steps(done: list[tuple[str, str]], file: str) -> list[str]:
    return [name for name, path in done if path == file]


def test_a_torn_end_is_off_the_disk_before_the_next_line_takes_its_place(tmp_path: Path) -> None:
    """Else a power cut may leave the new line with sectors of the old one in its middle, and it reads well."""
    (tmp_path / "rio").mkdir()
    done: list[tuple[str, str]] = []
    agent_dir = AgentDirectory(tmp_path, "rio", clock=ManualClock(), disk=Disk(lambda *one: done.append(one)))
    notes, inbox = Notebook(agent_dir), Inbox(agent_dir)
    for id in "ab":
        notes.create("fact", id, name=id)
        inbox.deposit(Message(id, "ann", "rio", subject=id))
    assert inbox.claim("first") is not None
    for file in (notebook.FILE, claim_log.NAME):
        with (tmp_path / "rio" / file).open("ab") as torn:
            torn.write(b'{"half')
    done.clear()
    notes.create("fact", "c", name="c")
    assert inbox.claim("second") is not None
    for file in (notebook.FILE, claim_log.NAME):
        assert steps(done, file) == ["truncate", "fsync", "append", "fsync"], file
    inbox.close()
    notes.close()
    agent_dir.close()


def test_a_ledger_that_was_written_anew_says_the_same_after_any_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(path: Path, disk: Disk | None = None) -> Inbox:
        return Inbox(AgentDirectory(path, "rio", clock=ManualClock(), disk=disk))

    def shut(inbox: Inbox) -> None:
        inbox.close()
        inbox.agent_dir.close()

    def prepare(path: Path) -> None:
        (path / "rio").mkdir()
        inbox = opened(path)
        for id in "abc":
            inbox.deposit(Message(id, "ann", "rio", subject=id))
        claimed = inbox.claim("first")
        assert claimed is not None
        for _ in range(600):
            inbox.extend(claimed.token)
        inbox.claim_log.sync()
        shut(inbox)

    def operate(path: Path, disk: Disk, ack: Callable[[str], None]) -> None:
        inbox = opened(path, disk)
        monkeypatch.setattr(claim_log, "COMPACT", 1_000)
        before = (path / "rio" / claim_log.NAME).stat().st_size
        for by in ("second", "third"):
            assert inbox.claim(by) is not None
            ack(by)
        assert (path / "rio" / claim_log.NAME).stat().st_size < before / 8, "it was written anew"
        shut(inbox)

    def check(path: Path, acked: tuple[str, ...]) -> None:
        inbox = opened(path)
        held = {letter.by for letter in inbox.waiting() if letter.by}
        shut(inbox)
        assert {"first", *acked} <= held <= {"first", "second", "third"}

    assert enumerate_crashes(prepare, operate, check).states > 20
