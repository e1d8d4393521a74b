"""What a plug-in leaves behind, a child or a thread, keeps no kernel from its end, and no next one from its start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from worldfs.storage.root_lock import RootLock
from worldfs.testing.waiting import PATIENCE_S, until

BODY = """
import io
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

from worldfs.base.model import Operation, Outcome, Parameter, RobotState, Scene


def fork():
    pid = os.fork()
    if not pid:
        while True:
            signal.pause()
    return pid


def process():
    made = multiprocessing.get_context("fork").Process(target=time.sleep, args=(3600,), daemon=True)
    made.start()
    return made.pid


def streams(made):
    sys.stdin = sys.stdout = sys.stderr = made
    return ""


def closed():
    made = io.StringIO()
    made.close()
    return streams(made)


class Odd:
    def __getattr__(self, name):
        raise OSError("odd")


LEAVES = {
    "fork": fork,
    "process": process,
    "no streams": lambda: streams(None),
    "closed streams": closed,
    "odd streams": lambda: streams(Odd()),
}


class Body:
    operations = (Operation("move_to", "go", (Parameter("target_pose", "[x,y,z]"),)),)

    def __init__(self, context):
        self.id, self.pose = context.robot_id, (0.0, 0.0, 0.0)

    def open(self, scene):
        pass

    def observe(self):
        return Scene((RobotState(self.id, self.pose),))

    def review(self, order):
        return ()

    def execute(self, order, run):
        pid = LEAVES[os.environ["LEAVES"]]()
        Path(os.environ["CHILD"]).write_text(str(pid))
        self.pose = tuple(map(float, order.params["target_pose"]))
        return Outcome.success("there")

    def close(self):
        pass
"""
Up = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def home(tmp_path: Path, install: Callable[..., Path]) -> Path:
    install("leavers", {"worldfs.bodies": {"leaver": "leavers_body:Body"}}, leavers_body=BODY)
    workspace = tmp_path / "home" / "workspace"
    workspace.mkdir(parents=True)
    robots = [{"robotId": "one", "driver": "leaver", "profileName": "wheeled_carrier"}]
    (workspace.parent / "config.json").write_text(json.dumps({"embodiments": {"instances": robots}}))
    order = {"action_id": "j1", "action_type": "move_to", "params": {"target_pose": [1, 0, 0]}, "robot_id": "one"}
    (workspace / "ACTION.md").write_text(f"```json\n{json.dumps({'queue': [order]})}\n```\n")
    return workspace.parent


@pytest.fixture
def up(home: Path, tmp_path: Path, install: Callable[..., Path]) -> Iterator[Up]:
    """Starts a kernel; its output goes to a file, since a child that is left would keep a pipe open."""
    child, path = tmp_path / "child", os.pathsep.join(sys.path)

    def start(leaves: str, *words: str) -> subprocess.Popen[bytes]:
        environ = {**os.environ, "PYTHONPATH": path, "LEAVES": leaves, "CHILD": str(child)}
        command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(home), "up", *words]
        with open(tmp_path / "said", "ab") as said:
            return subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    yield start
    if child.exists() and (pid := child.read_text()):
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def has_ended(pid: str) -> bool:
    """Also where nothing takes up what it has ended with."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def held_by(pid: str) -> list[str]:
    """The locks and the sockets that a process has open."""
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            name = os.readlink(f"/proc/{pid}/fd/{fd}")
            found += [name] if name.startswith("socket:") or name.endswith(".lock") else []
    return found


@pytest.mark.parametrize("leaves", ["fork", "process", "no streams", "closed streams", "odd streams"])
def test_a_kernel_ends_well_whatever_a_body_has_left(up: Up, tmp_path: Path, leaves: str) -> None:
    assert up(leaves, "--until-idle").wait(PATIENCE_S) == 0
    said = (tmp_path / "said").read_text()
    assert "succeeded: there" in said and "Traceback" not in said, said


@pytest.mark.slice(2)
@pytest.mark.parametrize("leaves", ["fork", "process"])
def test_a_killed_kernel_has_left_its_lock_and_its_sockets_to_no_child(
    up: Up, home: Path, tmp_path: Path, leaves: str
) -> None:
    killed = up(leaves)
    until(lambda: list((home / "workspace" / ".paos" / "done").glob("j1.jsonl")))
    killed.kill()
    killed.wait()
    assert RootLock(home / "workspace", "test").holder() is None
    pid = (tmp_path / "child").read_text()
    os.kill(int(pid), 0)  # it lives
    until(lambda: not held_by(pid), "the child keeps what is the kernel's")  # it may not have had its turn yet
    os.kill(int(pid), signal.SIGTERM)  # with the kernel's own handler it would go on
    until(lambda: has_ended(pid))
    assert up(leaves, "--until-idle").wait(PATIENCE_S) == 0


def test_a_child_keeps_a_file_that_has_the_number_of_one_that_was_ours(tmp_path: Path) -> None:
    code = (
        "import os, sys; from worldfs.base.forked_child import keep_from_children\n"
        "there, ours = map(keep_from_children, os.pipe())\n"
        "os.close(there); assert os.open(sys.argv[1], os.O_RDONLY) == there\n"
        "if not (pid := os.fork()):\n"
        "    os._exit((os.read(there, 4) != b'file') + 2 * (os.fstat(ours).st_rdev != os.stat(os.devnull).st_rdev))\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    (tmp_path / "file").write_text("file")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")], capture_output=True, check=False)
    assert done.returncode == 0, done


def test_a_command_ends_though_a_thread_of_a_plug_in_does_not() -> None:
    code = (
        "import sys, threading; from worldfs.interfaces.cli import main; main.EXIT_S = 0.0;"
        "threading.Thread(target=threading.Event().wait).start();"
        "sys.argv = ['paos', 'version']; sys.exit(main.main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0 and done.stdout


def test_a_program_that_goes_on_after_a_command_is_not_ended_with_it(tmp_path):
    program = (
        "import os, sys, threading; from worldfs.interfaces.cli import main as cli\n"
        f"sys.argv[1:] = ['--home', {str(tmp_path / 'home')!r}, 'onboard']\n"
        "ended, cli.EXIT_S = [], 0.0; os._exit = ended.append\n"
        "assert cli.main() == 0\n"
        "for one in threading.enumerate(): one.name == 'exit' and one.join(1.0)\n"
        "sys.exit(len(ended))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done


@pytest.mark.parametrize(("code", "ended"), [(130, 130), (0, -signal.SIGSEGV)])
def test_the_end_of_an_interrupted_command_is_not_the_interpreter_s(code, ended):
    """What a Ctrl-C broke off may be the loading of a native library, which then crashes there."""
    program = (
        "import atexit, os, sys; from worldfs.interfaces.cli import main as cli, start\n"
        "atexit.register(lambda: os.kill(os.getpid(), 11)); sys.argv = ['paos']\n"
        f"cli._answer = lambda words, table: print('said', end='') or {code}\n"
        "sys.exit(start.start())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout if code else "said") == (ended, "said"), done
