"""Runners, wardens and commands that are stopped or killed: nothing goes on working, and the next wake knows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.durable import Disk
from worldfs.base.proc import all_processes, descendants, find_process
from worldfs.base.proc import boot_identity as this_boot
from worldfs.supervisor import StopRequest, command_execution, kill_orphans, runner
from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import PATIENCE_S, until

SRC = Path(__file__).resolve().parents[3] / "src"
PROGRAM = Path(__file__).with_name("runner_process.py")

TREE = """
echo it works
setsid sh "$MARKED" &
env -i setsid sh -c '(sh "$0" &)' "$MARKED"
echo > "$READY"
trap '' TERM
while :; do sleep 0.05; done
"""


class Runner:
    """A runner in another process, whose command has brought up all of its own."""

    def __init__(self, stage: Any, line: str = TREE, env: dict[str, str] | None = None, **bounds: Any) -> None:
        self.ready = stage.tmp / "ready"
        self.ready.unlink(missing_ok=True)
        script = "trap '' TERM\n: >\"$0.$$\"\nwhile :; do sleep 0.05; done\n"
        self.marked = Path(stage.script(f"{stage.mark}.sh", script))
        more = {"TEST_MARK": stage.mark, "MARKED": str(self.marked), "READY": str(self.ready), "PYTHONPATH": str(SRC)}
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(stage.book.agent_dir.path.parent),
             json.dumps({"timeout_s": 600, "grace_s": 0.3, **bounds}), "/bin/sh", "-c", line],
            stdout=subprocess.PIPE, text=True, env={**os.environ, **more, **(env or {})},
        )  # fmt: skip

    def has_brought_up(self) -> bool:
        """The command is ready, and what it started beside itself runs the script: before that it has no mark."""
        return self.ready.exists() and len(list(self.marked.parent.glob(f"{self.marked.name}.*"))) == 2

    def warden(self) -> int:
        """Its only child."""
        return next(one.pid for one in all_processes() if one.parent == self.process.pid)

    def end(self, patience: float = PATIENCE_S) -> dict[str, Any]:
        out, _ = self.process.communicate(timeout=patience)
        value = json.loads(out)
        assert isinstance(value, dict)
        return value


def test_a_killed_runner_takes_everything_with_it_and_the_next_wake_is_told(stage: Any) -> None:
    runner = Runner(stage)
    until(runner.ready.exists)
    until(lambda: [log.read_bytes() for log in stage.sessions().glob("*/output.log")] == [b"it works\n"])
    assert len(stage.alive()) >= 4
    runner.process.kill()
    runner.process.communicate()
    until(lambda: not stage.alive())
    (session,) = os.listdir(stage.sessions())
    ended = stage.run("true")
    assert [left.session for left in ended.found] == [session]
    assert stage.book.told("runner_lost") == [{"event": "runner_lost", "of": session, "ended": [], "survivors": []}]
    facts = json.loads((stage.sessions() / session / "exit.json").read_text())
    assert (facts["outcome"], facts["cause"]) == ("error", "lost")
    assert Path(ended.found[0].log).read_bytes() == b"it works\n"
    assert stage.run("true").found == ()  # told once


def test_what_outlives_runner_and_warden_is_ended_at_the_next_wake(stage: Any) -> None:
    runner = Runner(stage, TREE.replace("env -i setsid", "setsid"))
    until(runner.has_brought_up)
    warden = runner.warden()
    freeze(runner.process.pid)  # so that it cannot clear up after its warden
    os.kill(warden, signal.SIGKILL)
    runner.process.kill()
    runner.process.communicate()
    (session,) = os.listdir(stage.sessions())
    command = json.loads((stage.sessions() / session / "run.json").read_text())["command"]["pid"]
    until(lambda: find_process(command) is None)  # it has gone with its warden
    left = {int(one.split()[0]) for one in stage.alive()}
    assert 2 <= len(left) <= 4  # what it had started has not
    ended = stage.run("true")
    assert stage.alive() == []
    assert left & {one.pid for one in ended.found[0].ended}
    assert ended.found[0].survivors == () and ended.outcome == "completed"


def test_a_wake_from_within_the_dead_session_does_not_end_itself(stage: Any) -> None:
    runner = Runner(stage)
    until(runner.ready.exists)
    runner.process.kill()
    runner.process.communicate()
    (session,) = os.listdir(stage.sessions())
    marked = {"PAOS_SESSION": session, "PAOS_STATE_DIR": str(stage.book.agent_dir.path)}
    second = Runner(stage, "exit 0", env=marked)
    assert second.end() == {
        "outcome": "completed", "cause": "", "errors": [], "status": 0, "found": [session], "finished": "completed",
    }  # fmt: skip


@pytest.mark.slice(2)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_runner_that_is_told_to_stop_ends_its_command_and_records_it(number: int, stage: Any) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"{signal.Signals(number).name} is ignored here, as under nohup: a runner leaves it so")
    runner = Runner(stage)
    until(runner.ready.exists)
    runner.process.send_signal(number)
    ended = runner.end()
    assert stage.alive() == []
    assert (ended["outcome"], ended["cause"], ended["finished"]) == ("error", "cancelled", "error")
    assert ended["errors"] == [f"cancelled: the runner got {signal.Signals(number).name}"]


def test_a_second_wish_ends_the_grace(stage: Any) -> None:
    line = """trap 'touch "$READY.asked"' TERM; echo > "$READY"; while :; do sleep 0.05; done"""
    runner = Runner(stage, line, grace_s=60)
    until(runner.ready.exists)
    runner.process.send_signal(signal.SIGINT)
    until(Path(f"{runner.ready}.asked").exists)
    runner.process.send_signal(signal.SIGINT)
    assert runner.end(50)["cause"] == "cancelled"  # before its grace of a minute is over
    assert stage.alive() == []


def test_a_wish_before_the_start_keeps_the_command_from_beginning(stage: Any) -> None:
    stop = StopRequest()
    stop.request("changed my mind")
    ended = stage.run("touch", str(stage.tmp / "begun"), stop=stop)
    stop.close()
    assert (ended.outcome, ended.cause, ended.errors) == ("error", "cancelled", ("cancelled: changed my mind",))
    assert not (stage.tmp / "begun").exists()


def test_another_thread_may_ask_for_the_end(stage: Any) -> None:
    stop = StopRequest()
    ended = []
    thread = threading.Thread(target=lambda: ended.append(stage.run("sleep", "600", stop=stop)), daemon=True)
    thread.start()
    stop.request()
    thread.join(PATIENCE_S)
    stop.close()
    assert (ended[0].outcome, ended[0].cause, ended[0].status) == ("error", "cancelled", 130)


def test_a_wish_while_the_process_is_made_is_heard(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = StopRequest()
    started = runner._SessionRun.on_started

    def asked(work: Any, child: Any) -> None:
        started(work, child)
        stop.request("in between")

    monkeypatch.setattr(runner._SessionRun, "on_started", asked)
    ended = stage.run("sleep", "600", stop=stop, timeout_s=600.0)
    stop.close()
    assert (ended.cause, ended.errors) == ("cancelled", ("cancelled: in between",))
    assert stage.alive() == []


def test_a_command_that_kills_its_warden_is_still_ended_whole(stage: Any) -> None:
    marked = stage.script(f"{stage.mark}.sh", 'echo > "$0.$1"; while :; do sleep 0.05; done')
    line = f"""(env -i setsid sh {marked} 1 &); setsid sh {marked} 2 &
until test -e {marked}.1 -a -e {marked}.2; do sleep 0.02; done
kill -9 $PPID; sleep 600"""
    ended = stage.run("/bin/sh", "-c", line, alone=True)
    assert stage.alive() == []
    assert (ended.outcome, ended.cause, ended.exit_code) == ("error", "warden", None)
    # Two, and perhaps the copy of one of them that is about to become its sleep.
    assert 2 <= sum(one.words.startswith(f"sh {marked}"[:100]) for one in ended.stragglers) <= 4, ended.stragglers


def test_a_command_that_stops_its_warden_does_not_outlive_its_deadline(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_execution, "KILLING", 0.9)
    monkeypatch.setattr(command_execution, "PATIENCE", 1.0)
    ended = stage.run("/bin/sh", "-c", "kill -STOP $PPID; setsid sleep 600 & sleep 601", timeout_s=0.2)
    assert stage.alive() == []
    assert (ended.outcome, ended.cause) == ("timeout", "deadline")
    assert ended.errors == ("timeout: not done after 0.2 s",)


def test_the_session_of_a_living_runner_is_left_alone(stage: Any) -> None:
    runner = Runner(stage)
    until(runner.ready.exists)
    assert kill_orphans(stage.book.agent_dir.root, SystemClock()) == ()
    assert len(stage.alive()) >= 4
    runner.process.terminate()
    runner.end()


@pytest.mark.parametrize("wrong", [{"boot": "another"}, {"pids": "pid:[1]"}, {"start": 1}])
def test_a_process_that_only_has_the_number_of_a_lost_one_is_left_alone(wrong: dict[str, Any], stage: Any) -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as innocent, ExitStack() as stack:
        stack.callback(innocent.kill)
        there = find_process(innocent.pid)
        assert there is not None
        who = {"pid": innocent.pid, "start": there.start, **this_boot(), **wrong}
        folder = stage.sessions() / "20260101-000000-abcd"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"runner": who, "warden": who, "command": who}))
        (left,) = kill_orphans(stage.book.agent_dir.root, SystemClock())
        assert left.ended == ()
        assert innocent.poll() is None


def test_traces_that_say_nothing_are_closed_too(stage: Any) -> None:
    folder = stage.sessions() / "20260101-000000-abcd"
    folder.mkdir(parents=True)
    (folder / "run.json").write_bytes(b"\xff{")
    assert [left.session for left in kill_orphans(stage.book.agent_dir.root, SystemClock())] == ["20260101-000000-abcd"]
    assert kill_orphans(stage.book.agent_dir.root, SystemClock()) == ()


def test_nothing_begins_before_its_processes_are_on_disk(stage: Any) -> None:
    class Full(OSError):
        pass

    others = {one.pid for one in descendants(os.getpid(), all_processes())}  # a server of other tests
    writes = []

    def boundary(name: str, path: str) -> None:
        if name == "rename" and path.endswith("run.json"):
            writes.append(path)
            if len(writes) == 2:  # the first says who runs, the second which processes
                end = time.monotonic() + 0.3  # what had been let go would have begun by then
                while time.monotonic() < end and not (stage.tmp / "begun").exists():
                    time.sleep(0.01)
                raise Full(28, "No space left on device")

    book = type(stage.book)(stage.tmp / "other", disk=Disk(boundary))
    with pytest.raises(Exception, match="No space left"):
        stage._replace(book=book).run("touch", str(stage.tmp / "begun"))
    assert len(writes) == 2 and not (stage.tmp / "begun").exists()
    (folder,) = (book.agent_dir.path / ".paos/sessions").iterdir()
    assert json.loads((folder / "exit.json").read_text())["cause"] == "runner"
    assert book.finished["outcome"] == "error" and "No space left" in book.finished["errors"][0]
    assert {one.pid for one in descendants(os.getpid(), all_processes())} <= others
    book.agent_dir.close()
