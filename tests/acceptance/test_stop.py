"""`paos stop`: by command, word, chat, over a socket; ahead of every queue, durable; one instruction at a time."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

import pytest
from tests.command_run import run_command

pytest.importorskip("mujoco")

from worldfs.interfaces.cli import do_command, instruction_kernel
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.runtime.instruction_turns import TURNS, InstructionTurn
from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import PATIENCE_S, until

THERE, BACK = ([x, 0.0, 0.45, 3.1416, 0.0, 0.0] for x in (0.4, 0.55))
STEPS = [{"action_type": "move_to", "params": {"target_pose": pose}} for pose in (THERE, BACK) * 100]
LONG = {"action_id": "long", "action_type": "strategy", "params": {"name": "steps", "steps": STEPS}}
TWO = "put the apple and the can in the basket"
"""Four steps: long enough for a second process to start meanwhile."""
HOME = {"action_id": "home", "action_type": "strategy", "params": {"name": "home"}}


@contextmanager
def kernel(table, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = table.spawn("up", "--driver", "simulation", "--no-cameras", *words)
    line_with(process, "kernel running")  # behind what was lost with the kernel before
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


def under_way(table, id: str) -> bool:
    with table.world() as world:
        return id in world.jobs.open_ids() and world.jobs.load(id).status.state == "running"


def line_with(process: subprocess.Popen[str], text: str) -> str:
    """The next line that has it; fails when the output ends before."""
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return line
    raise AssertionError(f"nothing said {text!r}")


def state_of(table, node: str = "franka_001") -> dict:
    return json.loads(table.paos("cat", f"/nodes/{node}/stop").out)


# -- a world that runs ---------------------------------------------------------------------------------------------


def test_it_ends_what_runs_holds_what_waits_and_a_resume_lets_that_go_on(table) -> None:
    with table.running():
        table.queue(LONG, HOME)
        until(lambda: under_way(table, "long"))
        said = table.paos("stop")
        assert said.code == 0, said
        assert "franka_001: stopped" in said.out
        assert "resume --all" in said.out
        until(lambda: "long" in table.ended())
        outcome = table.ended()["long"].status.outcome
        assert (outcome.cause, outcome.code) == ("cancelled", "STOPPED")
        assert "stopped by operator" in outcome.message
        assert outcome.evidence["held"] is True
        assert outcome.evidence["stood"]["joint_state"]
        until(lambda: table.entry("long")["status"] == "failed")
        assert table.entry("long")["error"]["cause"] == "cancelled"
        status = table.paos("--json", "status").values[0]
        assert status["nodes"][0]["stopped"]["by"] == "operator"
        assert status["jobs"]["pending"] == 1
        assert "STOPPED by operator" in table.paos("status").out
        assert "resume --all" in table.paos("status").out
        assert table.paos("stop").code == 0  # twice
        assert table.paos("resume").out.strip() == "franka_001: resumed"
        assert table.answers("home")[0]["status"] == "completed"


def test_do_stops_by_a_word_and_the_instruction_under_way_does_not_go_on(table) -> None:
    do = table.spawn("do", "clear the table", "--no-cameras")
    line_with(do, "Grasp")
    said = table.paos("do", "停")
    assert (said.code, "已停止" in said.out) == (0, True), said
    out, err = do.communicate(timeout=PATIENCE_S)
    assert do.returncode == 1, (out, err)
    assert "its driver confirms that it stands (stop by operator" in out.splitlines()[-1]
    assert "paos resume" in out.splitlines()[-1]
    jobs = table.ended()
    assert not [id for id, job in jobs.items() if job.status.state == "running"]
    assert "running" not in table.text("TASK.md")
    last = max(jobs.values(), key=lambda job: job.status.accepted_at)
    assert last.status.outcome.cause in ("cancelled", None)
    before = len(jobs)
    refused = table.do("clear the table")
    assert (refused.code, len(table.ended())) == (1, before)
    assert "it takes no orders until: paos resume" in refused.out
    assert table.do("what is on the table?").code == 0  # a question moves nothing
    assert "恢复" in table.do("清理桌子").out
    assert table.paos("resume", "--all").code == 0
    assert table.do("go home").code == 0


def test_what_is_no_stop_is_said_while_the_robot_moves_and_not_afterwards(table) -> None:
    do = table.spawn("do", "clear the table", "--no-cameras")
    line_with(do, "Grasp")
    said = table.do("stop moving the apple")
    assert (said.code, "stopped no robot" in said.out + said.err, do.poll()) == (2, True, None), said
    assert table.paos("stop").code == 0
    do.communicate(timeout=PATIENCE_S)


def test_every_word_for_it_stops(table) -> None:
    for word in ("stop", "Stop!", "紧急停止！", "franka_001, halt", "stop the wheels, for god's sake"):
        said = table.paos("do", word)
        assert (said.code, state_of(table)["stopped"]) == (0, True), said
        assert ("已停止" if word == "紧急停止！" else "stopped") in said.out
        assert table.paos("resume").code == 0


def test_what_is_no_stop_is_not_answered_with_nothing_moves(table) -> None:
    said = table.paos("do", "stop putting the apple in the basket")
    assert said.code == 2 and "has stopped no robot" in said.out and "paos stop" in said.out
    assert "nothing moves" not in said.out and not state_of(table)["stopped"]


def test_a_stop_for_an_answer_at_the_terminal_stops(table, monkeypatch) -> None:
    monkeypatch.setattr(do_command, "ask_person", lambda context, stop: lambda question: "don't move")
    said = table.paos("do", "--no-cameras", "put it in the basket")
    assert (said.code, state_of(table)["stopped"]) == (2, True), said


def test_a_stop_that_is_resumed_at_once_still_ends_the_instruction(table) -> None:
    do = table.spawn("do", "clear the table", "--no-cameras")
    line_with(do, "Grasp")
    table.paos("stop")
    table.paos("resume")
    out, _ = do.communicate(timeout=PATIENCE_S)
    assert do.returncode == 1
    assert "cancelled" in out.splitlines()[-1]


def test_a_stop_while_the_kernel_starts_is_obeyed_when_it_has(table) -> None:
    table.queue(HOME)
    process = table.spawn("up", "--driver", "simulation", "--no-cameras")
    assert table.paos("stop").code == 0
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("kernel running")
        until(lambda: "home" in table.ended() or table.paos("--json", "status").values[0]["jobs"]["pending"] == 1)
        assert state_of(table)["stopped"] is True
        table.paos("resume")
        assert table.answers("home")[0]["status"] == "completed"
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


# -- a world that does not run -------------------------------------------------------------------------------------


def test_a_world_that_does_not_run_is_stopped_for_its_next_start(table) -> None:
    said = table.paos("stop")
    assert said.code == 0
    assert "it will start stopped" in said.out
    table.queue(HOME)
    with table.running():
        until(lambda: table.paos("--json", "status").values[0]["jobs"]["pending"] == 1)
        assert state_of(table)["stopped"] is True
        assert not table.ended().get("home")
        table.paos("resume")
        assert table.answers("home")[0]["status"] == "completed"


@pytest.mark.proof
def test_what_was_acknowledged_survives_the_kill_of_everything(table) -> None:
    with kernel(table) as process:
        table.queue(LONG)
        until(lambda: under_way(table, "long"))
        asked = table.spawn("--json", "stop")
        assert asked.stdout is not None
        assert json.loads(asked.stdout.readline())["stopped"] is True
        process.kill()
        asked.kill()
        asked.communicate(timeout=PATIENCE_S)
    assert state_of(table)["stopped"] is True
    table.queue(HOME)
    with kernel(table):
        until(lambda: table.paos("--json", "status").values[0]["jobs"]["pending"] == 1)
        assert "home" not in table.ended()


def test_an_unknown_robot_is_named_with_the_likely_one(table) -> None:
    for word in ("stop", "resume"):
        said = table.paos(word, "--node", "franka_01")
        assert (said.code, said.out) == (2, "")
        assert "did you mean franka_001?" in said.err
    assert table.paos("stop", "--node", "franka_001", "--all").code == 2
    assert state_of(table)["stopped"] is False


def test_whoever_may_see_a_robot_may_stop_it_and_only_who_may_order_it_may_resume(table) -> None:
    for role in ("critic", "watchdog", "runtime_watchdog", "agent", "planner", "orchestrator", "operator"):
        assert table.paos("--as", role, "stop").code == 0
        assert state_of(table)["by"] == role
        resumed = table.paos("--as", role, "resume")
        if role in ("planner", "orchestrator", "operator"):
            assert (resumed.code, state_of(table)["stopped"]) == (0, False)
        else:
            assert (resumed.code, state_of(table)["stopped"]) == (2, True)
            assert "may not" in resumed.err
            table.paos("resume")


def test_the_file_of_a_robot_stops_it_and_reads_how_it_stands(table) -> None:
    state = {
        "stopped": False,
        "delivered": False,
        "confirmed": False,
        "by": "",
        "at": "",
        "stops": 0,
        "stored": True,
        "why": "",
        "standing": "",
    }
    assert state_of(table) == {"node": "franka_001", **state}
    assert table.paos("--as", "critic", "write", "/nodes/franka_001/stop", stdin=b"now").code == 0
    found = state_of(table)
    assert (found["stopped"], found["by"]) == (True, "critic")
    assert found["confirmed"] is True  # its simulation does not run
    assert table.paos("--as", "critic", "write", "/nodes/franka_001/resume", stdin=b"").code == 2
    assert table.paos("write", "/nodes/franka_001/resume", stdin=b"").code == 0
    assert state_of(table)["stopped"] is False


# -- one instruction at a time -------------------------------------------------------------------------------------


@contextmanager
def turn_taken(table) -> Iterator[InstructionTurn]:
    """Somebody else's instruction has its turn at the robot."""
    with table.world() as world:
        turn = InstructionTurn(world.store, "franka_001", "clear the table", world.clock)
        assert turn.try_acquire() is None
        try:
            yield turn
        finally:
            turn.release()


@pytest.mark.slice(0)
@pytest.mark.parametrize("served", [True, False])
def test_two_instructions_are_carried_out_one_after_the_other(table, served: bool) -> None:
    """Through a kernel that runs, and where each serves itself."""
    with kernel(table) if served else nullcontext():
        words = () if served else ("--no-cameras",)
        first = table.spawn("do", TWO, *words)
        line_with(first, "Grasp")
        second = table.spawn("do", "go home", *words)
        for process in (first, second):
            out, err = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0, (out, err)
    ops = [job.order.op for job in sorted(table.ended().values(), key=lambda job: job.status.completed_at)]
    assert ops[-1] == "strategy"
    assert set(ops[:-1]) == {"pick_up", "place"}
    assert table.paos("--json", "status").values[0]["nodes"][0]["instruction"] is None


def test_a_turn_lasts_until_the_kernel_that_ends_with_it_has_ended(table, monkeypatch) -> None:
    """Who has the turn next would find that kernel, and order of it."""
    held = []

    class Watched(KernelThread):
        def __exit__(self, *error) -> None:
            super().__exit__(*error)
            with table.world() as world:
                held.append(InstructionTurn(world.store, "franka_001", "go home", world.clock).try_acquire())

    monkeypatch.setattr(instruction_kernel, "KernelThread", Watched)
    assert table.do("go home").code == 0
    assert len(held) == 1 and held[0] is not None


def test_one_that_waits_says_for_what_and_goes_on_when_that_has_ended(table) -> None:
    with turn_taken(table) as turn:
        waits = table.spawn("do", "回家", "--no-cameras")
        assert "等待：franka_001 正在执行“clear the table”" in line_with(waits, "等待")
        assert table.paos("--json", "status").values[0]["nodes"][0]["instruction"]["text"] == "clear the table"
        assert "doing “clear the table”" in table.paos("status").out
        assert table.do("what is on the table?").code == 0  # a question waits for nobody
        turn.release()
        out, err = waits.communicate(timeout=PATIENCE_S)
        assert waits.returncode == 0, (out, err)


@pytest.mark.proof
def test_an_action_that_comes_between_the_steps_waits_for_the_end_of_the_instruction(table) -> None:
    with kernel(table):
        do = table.spawn("do", TWO)
        line_with(do, "Grasp")
        table.queue(HOME)
        out, err = do.communicate(timeout=PATIENCE_S)
        assert do.returncode == 0, (out, err)
        assert table.answers("home")[0]["status"] == "completed"
    jobs = sorted(table.ended().values(), key=lambda job: job.status.started_at)
    assert [job.id for job in jobs][-1] == "home"


def test_a_killed_instruction_keeps_the_robot_from_nobody(table) -> None:
    with table.running():
        do = table.spawn("do", "clear the table")
        line_with(do, "Grasp")
        table.queue(HOME)
        do.kill()
        do.communicate(timeout=PATIENCE_S)
        assert table.answers("home")[0]["status"] in ("completed", "failed")  # it had its turn, whatever the hand held
        assert table.paos("do", "open the gripper").code in (0, 1)


def test_ctrl_c_or_the_time_ends_one_that_waits_cleanly(table) -> None:
    with turn_taken(table):
        waits = table.spawn("do", "go home")
        line_with(waits, "waiting")
        waits.send_signal(signal.SIGINT)
        _, err = waits.communicate(timeout=PATIENCE_S)
        assert waits.returncode == 130
        assert "Traceback" not in err
        assert table.do("go home", "--timeout", "0.2").code == 1
    with table.world() as world:
        assert not [name for name in world.store.list(TURNS) if not name.endswith(".lock")]
    assert table.ended().keys() == set()


@pytest.mark.proof
def test_what_waits_for_its_turn_is_held_while_the_robot_is_stopped(table) -> None:
    with turn_taken(table) as turn:
        waits = table.spawn("do", "go home", "--no-cameras")
        line_with(waits, "waiting: franka_001 is doing")
        table.paos("stop")
        turn.release()
        line_with(waits, "waiting: a stop of franka_001 is in force")
        table.paos("resume")
        _, err = waits.communicate(timeout=PATIENCE_S)
        assert waits.returncode == 0, err


# -- over a socket -------------------------------------------------------------------------------------------------


def test_it_works_over_a_socket_by_command_by_word_and_in_a_chat(table) -> None:
    pytest.importorskip("websockets")
    from worldfs.client import blocking

    with kernel_serving(table) as (url, tokens):
        environ = {"PAOS_TOKEN": tokens["admin_token"]}
        with blocking.connect(url, token=tokens["admin_token"]) as world:
            chat = world.chat("clear the table")
            until(lambda: any(line.get("type") == "progress" for line in chat.log()))
            stop = world.chat("停！")
            ended = chat.result(timeout=PATIENCE_S)
            assert not ended.ok
            assert "cancelled" in ended.text
            assert stop.result(timeout=PATIENCE_S).ok
            assert json.loads(world.read("/nodes/franka_001/stop"))["by"] == "operator"
            refused = world.chat("clear the table").result(timeout=PATIENCE_S)
            assert not refused.ok
            assert "it takes no orders until: paos resume" in refused.text
            for words, before in ((["resume"], True), (["stop"], False), (["resume", "--all"], True)):
                assert json.loads(world.read("/nodes/franka_001/stop"))["stopped"] is before
                assert far(url, environ, *words).returncode == 0
            assert far(url, environ, "do", "franka_001 halt!").returncode == 0
            assert json.loads(world.read("/nodes/franka_001/stop"))["stopped"] is True
            unknown = far(url, environ, "stop", "--node", "franka_01")
            assert unknown.returncode == 2
            assert "did you mean franka_001?" in unknown.stderr
            assert far(url, environ, "do", "clear the table").returncode == 1  # it is stopped, and says so


@contextmanager
def kernel_serving(table) -> Iterator[tuple[str, dict]]:
    process = table.spawn("up", "--driver", "simulation", "--no-cameras", "--serve", "--port", "0", "--json")
    assert process.stdout is not None
    url = ""
    for line in process.stdout:
        told = json.loads(line)
        if told.get("event") == "serve":
            url = told["url"]
            break
    try:
        yield url, json.loads((table.root.parent / "auth_tokens.json").read_text())
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


def far(url: str, environ: dict, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command("--connect", url, *words, environ=environ)


# -- where a home cannot be read, or written ---------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("stop",), ("do", "stop"), ("stop", "--node", "franka_001")])
def test_a_stop_where_no_workspace_is_says_that_it_was_not_delivered(table, words) -> None:
    table.root.rename(table.root.with_name("away"))
    said = table.paos("--json", *words)
    assert said.code == 1 and said.values[0]["delivered"] is False and "no workspace" in said.values[0]["why"]


@pytest.mark.proof
def test_a_stop_that_is_written_to_its_file_says_what_the_command_says(table) -> None:
    with kernel(table) as process:
        assert table.paos("write", "/nodes/franka_001/stop", stdin=b"x").code == 0
        freeze(process.pid)
        said = table.paos("write", "/nodes/franka_001/stop", stdin=b"x")
        process.send_signal(signal.SIGCONT)
    assert said.code == 1 and "hardware stop" in said.out and "does not answer" in said.out, said


def test_robots_of_other_processes_are_named_as_not_told_where_the_store_does_not_answer(table, monkeypatch) -> None:
    """A hub without robots has heard of the stop; what its hosts have heard is in a store that is frozen."""
    from worldfs.base.errors import StorageError
    from worldfs.interfaces.cli.command_context import CommandContext
    from worldfs.runtime.stop_call import StopCall

    def cut_off(context, **more):
        raise StorageError("the store does not answer")

    monkeypatch.setattr(StopCall, "told", True)
    monkeypatch.setattr("worldfs.interfaces.cli.stop_command._answered", lambda call, node: None)
    monkeypatch.setattr(CommandContext, "open", cut_off)
    said = table.paos("--json", "stop")
    assert said.code == 1
    robot = said.values[0]
    assert (robot["node"], robot["stopped"], robot["confirmed"]) == ("franka_001", False, False)
    assert "NOT delivered" in table.paos("stop").out


def test_a_stop_that_nothing_can_store_is_kept_for_the_next_start_without_a_kernel_too(table, monkeypatch) -> None:
    from worldfs.base.errors import StorageError
    from worldfs.storage.disk_store import DiskStore

    def refuse(store, key, data, **more):
        raise StorageError("read-only file system", path=key)

    with monkeypatch.context() as patched:
        patched.setattr(DiskStore, "append", refuse)
        said = table.paos("stop")
    assert said.code == 1 and "stops-aside" in said.out and "read-only" in said.out, said
    assert state_of(table)["stopped"] is True
    assert table.paos("resume", "--all").code == 0
    assert state_of(table)["stopped"] is False
