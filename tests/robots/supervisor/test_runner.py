"""A run as its agent's state sees it: in this order, with these words, and nothing that is secret."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from worldfs.base.errors import BadInput, Busy, StorageError
from worldfs.supervisor import CommandRequest, SessionResult, ShellHooks, run
from worldfs.supervisor.session_files import prune
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import until


def test_the_start_says_what_is_to_be_done(stage: Any) -> None:
    stage.run("true", type="research", timeout_s=5.4, about={"domain": "internet-finance", "model": "sonnet"})
    assert stage.book.started == {
        "type": "research", "argv": ("true",), "timeout_seconds": 6, "domain": "internet-finance", "model": "sonnet",
    }  # fmt: skip


def test_the_end_leaves_its_facts_for_the_next_wake(stage: Any) -> None:
    ended = stage.run("/bin/sh", "-c", "echo three; setsid sleep 600 & exit 3")
    facts = stage.facts(ended)
    assert {key: facts[key] for key in ("outcome", "cause", "exit_code", "signal", "said")} == {
        "outcome": "error", "cause": "exit", "exit_code": 3, "signal": None, "said": 6,
    }  # fmt: skip
    assert facts["errors"] == ["exit code 3; last line: three"]
    (other,) = facts["others"]
    assert other.endswith(" sleep 600")
    (event,) = stage.book.told("command_end")
    assert (event["exit_code"], event["others"]) == (3, [other])
    assert stage.facts(ended, "run.json")["command"]["pid"] > 1


def test_nobody_else_can_read_what_it_said(stage: Any) -> None:
    ended = stage.run("echo", "x")
    folder = stage.sessions() / ended.session.session_id
    assert folder.stat().st_mode & 0o077 == 0


def test_a_second_start_is_refused_and_leaves_nothing(stage: Any) -> None:
    stage.book.start()
    with pytest.raises(Busy, match=f"process {os.getpid()} runs"):
        stage.run("touch", str(stage.tmp / "begun"))
    assert not (stage.tmp / "begun").exists() and not stage.sessions().exists()


@pytest.mark.parametrize(
    "words",
    [{"timeout_s": 0}, {"timeout_s": float("nan")}, {"silence_s": -1}, {"grace_s": 1000}, {"stdin": "/no/such/file"}],
)
def test_bounds_that_mean_nothing_begin_no_session(words: dict[str, Any], stage: Any) -> None:
    with pytest.raises(BadInput):
        stage.run("true", **words)
    assert stage.book.calls == []


@pytest.mark.parametrize("argv", [(), ("",), ("a\0b",)])
def test_what_can_be_no_command_begins_no_session(argv: tuple[str, ...], stage: Any) -> None:
    with pytest.raises(BadInput):
        stage.run(*argv)
    assert stage.book.calls == []


def until_felt(stage: Any) -> SessionResult:
    """Run a command that goes on until the state has been told once that it lives."""
    felt = stage.tmp / "felt"

    def feel() -> None:
        until(lambda: stage.book.beats)
        felt.touch()

    feeling = threading.Thread(target=feel)
    feeling.start()
    ended: SessionResult = stage.run("/bin/sh", "-c", f"until test -e '{felt}'; do sleep 0.01; done", heartbeat_s=0.1)
    feeling.join()
    return ended


def test_its_life_is_felt(stage: Any) -> None:
    ended = until_felt(stage)
    assert ended.outcome == "completed" and stage.book.beats


def test_a_state_that_gives_way_does_not_end_the_work(stage: Any) -> None:
    stage.book.fault = StorageError("No space left on device")
    ended = until_felt(stage)
    assert ended.outcome == "completed" and stage.book.beats >= 1
    assert ended.errors == ("heartbeat: No space left on device",)


def test_input_may_be_a_file_or_a_descriptor(stage: Any) -> None:
    path = stage.script("prompt.md", "Read your state.\n" * 10_000)
    assert stage.log(stage.run("cat", stdin=path)) == b"Read your state.\n" * 10_000
    end, into = os.pipe()
    os.write(into, b"from a pipe")
    os.close(into)
    assert stage.log(stage.run("cat", stdin=end)) == b"from a pipe"
    os.close(end)


def test_input_that_cannot_be_read_begins_nothing(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stage.script("prompt.md", "x")
    unreadable = stage.command("touch", str(stage.tmp / "begun"), stdin=path)
    os.unlink(path)
    os.symlink("prompt.md", path)  # it leads to itself
    monkeypatch.setattr(os.path, "isfile", lambda path: True)  # it was there when it was looked at
    ended = run(stage.book, unreadable, out=-1, err=-1)
    assert (ended.outcome, ended.cause) == ("error", "spawn")
    assert "prompt.md: Too many levels of symbolic links" in ended.errors[0]
    assert not (stage.tmp / "begun").exists()


def test_a_silent_hook_is_not_the_silence_of_the_command(stage: Any) -> None:
    clock = ManualClock()
    until_gone = 'until test -e "$READY"; do sleep 0.01; done'
    hooks = ShellHooks(pre=f'echo > "$READY.pre"; {until_gone}')

    def pass_by() -> None:
        until((stage.tmp / "ready.pre").exists)
        clock.advance(0.6)
        (stage.tmp / "ready").touch()

    passing = threading.Thread(target=pass_by)
    passing.start()
    ended = stage.run("/bin/sh", "-c", "echo x", silence_s=0.4, hooks=hooks, clock=clock)
    passing.join()
    assert ended.outcome == "completed", ended


def test_it_inherits_no_descriptor_and_no_deafness_of_ours(stage: Any) -> None:
    fd = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(fd, True)
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        ended = stage.run("/bin/sh", "-c", "ls /proc/$$/fd; grep -E 'Sig(Ign|Blk)' /proc/self/status")
    finally:
        signal.signal(signal.SIGUSR1, before)
        os.close(fd)
    words = stage.log(ended).split()
    assert words[:3] == [b"0", b"1", b"2"]
    assert words[-4::2] == [b"SigBlk:", b"SigIgn:"]
    of_libc = 0b11 << 31  # signals 32 and 33 are libc's own: nobody else can set them, whatever our caller left there
    assert int(words[-3], 16) == 0 and int(words[-1], 16) & ~of_libc == 0


def test_it_has_no_terminal_and_a_session_of_its_own(stage: Any) -> None:
    ended = stage.run("/bin/sh", "-c", "cut -d' ' -f1,5,6,7 /proc/$$/stat")
    pid, group, session, terminal = stage.log(ended).split()
    assert pid == group == session and terminal == b"0"


def test_the_environment_reaches_the_command_and_no_file(stage: Any) -> None:
    secret = "hunter2-" + stage.mark[-12:]
    ended = stage.run("/bin/sh", "-c", 'test "$SECRET" = "$0" && exit 4', secret, env={"SECRET": secret})
    assert ended.exit_code == 4
    ended = stage.run("/bin/sh", "-c", "test -n $SECRET", env={"SECRET": secret, "ODD": "\udcff"})
    assert ended.outcome == "completed"
    folder = stage.sessions() / ended.session.session_id
    assert not [one for one in folder.iterdir() if secret.encode() in one.read_bytes()]


def test_the_directory_is_the_one_asked_for(stage: Any) -> None:
    stage.script("here.sh", "#!/bin/sh\npwd\n")
    ended = stage.run("./here.sh", cwd=str(stage.tmp))
    assert stage.log(ended).decode().strip() == str(stage.tmp)


def descriptors() -> list[str]:
    """Open ones but for directories, which a room keeps."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{fd}"))
    return [one for one in found if not os.path.isdir(one)]


def test_no_process_and_no_descriptor_is_left_of_a_run(stage: Any) -> None:
    stage.run("true")
    before = Counter(descriptors())
    for _ in range(3):
        stage.run("echo", "x")
        stage.run("no-such-command")
    # A reader closes its pipe when it has read the end; a run waits for that for a moment only.
    until(lambda: not Counter(descriptors()) - before, "a descriptor is left")


def test_signals_are_heard_as_before_after_a_run(stage: Any) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    stage.run("true")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_old_traces_go_when_their_end_is_known(stage: Any) -> None:
    for number in range(5):
        folder = stage.sessions() / f"20260101-00000{number}-abcd"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text("{}")
        if number != 1:
            (folder / "exit.json").write_text("{}")
    prune(stage.book.agent_dir.root, keep=2)
    assert sorted(os.listdir(stage.sessions())) == [f"20260101-00000{number}-abcd" for number in (1, 3, 4)]


@pytest.mark.parametrize(("line", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("sleep 600", 124)])
def test_the_exit_status_of_ours_is_the_one_that_shells_know(line: str, status: int, stage: Any) -> None:
    assert stage.run("/bin/sh", "-c", line, timeout_s=0.5 if status == 124 else 600).status == status


def test_a_command_is_complete_with_its_words_alone() -> None:
    CommandRequest(("true",)).check()
