"""`do`, `status`, `watch`, `cancel` and a film over `--connect`, as on the machine itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.command_run import run_command

from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import PATIENCE_S, until

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("websockets", reason="the server is an extra")

ROOT = Path(__file__).resolve().parents[2]
PAOS = (sys.executable, "-m", "worldfs.interfaces.cli.main")


class There:
    """A served home with a simulated robot, and the command of somebody who has its token."""

    def __init__(self, url: str, token: str, tmp_path: Path, server: subprocess.Popen[str]) -> None:
        self.server = server
        self.environ = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "PAOS_HOME": str(tmp_path / "elsewhere"),
            "PAOS_CONNECT": url,
            "PAOS_TOKEN": token,
        }

    def paos(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_command(*words, environ=self.environ)

    def spawn(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*PAOS, *words], env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


@contextmanager
def served(tmp_path: Path, *more: str) -> Iterator[There]:
    home = tmp_path / "home"
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PAOS_HOME": str(home)}
    subprocess.run([*PAOS, "onboard"], env=environ, check=True, capture_output=True, timeout=PATIENCE_S)
    words = ["up", "--serve", "--port", "0", "--json", "--seed", "7", *more]
    process = subprocess.Popen([*PAOS, *words], env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = next(told for line in process.stdout if (told := json.loads(line)).get("event") == "serve")
        token = json.loads((home / "auth_tokens.json").read_text())["admin_token"]
        yield There(told["url"], token, tmp_path, process)
    finally:
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)


@pytest.mark.proof
def test_an_instruction_is_followed_live_and_ends_with_the_codes_of_the_machine_itself(tmp_path: Path) -> None:
    with served(tmp_path, "--no-cameras") as there:
        watch = there.spawn("watch", "--json")
        assert watch.stdout is not None
        assert json.loads(watch.stdout.readline())["event"] == "node"
        said = there.paos("do", "pick up the apple")
        assert said.returncode == 0, said
        assert len(said.stdout.splitlines()) >= 2  # it told what it did while it did it
        seen = (json.loads(line) for line in watch.stdout)
        done = next(event for event in seen if event["event"] == "job" and event["state"] == "succeeded")
        assert done["node"] == "franka_001"
        watch.send_signal(signal.SIGINT)
        watch.communicate(timeout=PATIENCE_S)
        assert watch.returncode == 130
        status = json.loads(there.paos("--json", "status").stdout)
        (node,) = status["nodes"]
        assert (node["id"], node["held"]) == ("franka_001", "apple_01")
        assert str(tmp_path) not in json.dumps(status)
        assert "holding apple_01" in there.paos("status").stdout
        said = there.paos("--json", "do", "sing a song")
        assert said.returncode == 2 and json.loads(said.stdout.splitlines()[-1])["verdict"] == "not_understood"
        assert there.paos("do", "what is in your hand?").returncode == 0
        said = there.paos("do", "pick up the apple", "--node", "nobody")
        assert said.returncode == 2 and "franka_001" in said.stderr
        said = there.paos("do", "put the apple in the basket", "--record", str(tmp_path / "film.gif"))
        assert (said.returncode, said.stderr.count("the cameras are switched off")) == (2, 1), said
        assert "--no-cameras" in said.stderr and "cameras=True" not in said.stderr


def test_ctrl_c_and_the_end_of_the_time_cancel_it_and_a_stop_goes_ahead(tmp_path: Path) -> None:
    with served(tmp_path, "--no-cameras", "--real-time=0.5") as there:  # on the way for longer than a command starts
        doing = there.spawn("do", "clear the table")
        assert doing.stdout is not None
        doing.stdout.readline()
        doing.send_signal(signal.SIGINT)
        out, err = doing.communicate(timeout=PATIENCE_S)
        assert doing.returncode == 130, (out, err)
        assert "Interrupted" in out
        said = there.paos("do", "clear the table", "--timeout", "0.5")
        assert said.returncode == 1 and "Timed out after 0.5 s" in said.stdout, said
        doing = there.spawn("do", "clear the table")
        assert doing.stdout is not None
        doing.stdout.readline()
        stopped = there.paos("do", "stop")
        assert stopped.returncode == 0, stopped
        out, err = doing.communicate(timeout=PATIENCE_S)
        assert doing.returncode == 1, (out, err)
        assert "STOPPED" in there.paos("status").stdout
        assert there.paos("resume", "--all").stdout == "franka_001: resumed\n"
        assert there.paos("resume", "--all").stdout == "franka_001: it was not stopped\n"
        job = json.loads(there.paos("--json", "ls", "/agents/self/jobs").stdout)["entries"][-1]["name"].rstrip("/")
        said = there.paos("cancel", job if job != "README.md" else "job-1")
        assert said.returncode == 1 and "already ended" in said.stdout
        assert there.paos("cancel", "nothing").returncode == 2


@pytest.mark.slice(2)
@pytest.mark.parametrize("ended_by", ["SIGINT", "SIGTERM"])
def test_a_server_that_is_frozen_ends_no_job_and_the_command_says_that_nothing_is_known(
    tmp_path: Path, ended_by: str
) -> None:
    with served(tmp_path, "--no-cameras", "--real-time=0.5") as there:
        doing = there.spawn("--json", "do", "clear the table")
        assert doing.stdout is not None
        first = doing.stdout.readline()
        freeze(there.server.pid)
        doing.send_signal(signal.Signals[ended_by])
        out, err = doing.communicate(timeout=PATIENCE_S)
        assert doing.returncode == 130, (out, err)
        said = json.loads((first + out).splitlines()[-1])
        assert said["verdict"] == "interrupted"
        assert "the server does not answer: the robot may still move" in said["message"]
        assert "hardware stop" in said["message"]


def test_a_command_that_answers_too_late_is_a_timeout_by_its_cause_and_check_tells_what_the_server_found(
    tmp_path: Path,
) -> None:
    with served(tmp_path, "--no-cameras") as there:
        assert "no problems found" in there.paos("check").stdout
        (tmp_path / "home/workspace/ACTION.md").write_text('{"queue": [ {')
        config = tmp_path / "home" / "config.json"
        found = json.loads(config.read_text()) if config.exists() else {}
        late = {"agent": "*", "kind": "command", "argv": ["sleep", "60"], "timeoutSeconds": 1}
        config.write_text(json.dumps({**found, "agents": {"brains": [late]}}))
        said = there.paos("--json", "do", "anything")
        result = json.loads(said.stdout.splitlines()[-1])
        assert (said.returncode, result["verdict"]) == (1, "timeout"), said
        assert "not done after 1 s" in result["message"]
        until(lambda: "ACTION.md" in there.paos("cat", "/meta/alerts.json").stdout)
        said = there.paos("check")
        assert said.returncode == 1 and "line 1, column 14" in said.stdout and "on its own machine" in said.stderr
        refused = there.paos("check", "--fix")
        assert refused.returncode == 2 and "without --connect" in refused.stderr


@pytest.mark.proof
def test_a_film_comes_over_the_socket(tmp_path: Path, gl: None) -> None:
    from PIL import Image

    film = tmp_path / "film.gif"
    with served(tmp_path) as there:
        said = there.paos("do", "put the apple in the basket", "--record", str(film))
        assert said.returncode == 0, said
        assert str(film) in said.stdout
        with Image.open(film) as gif:
            assert gif.n_frames >= 20
        assert not list((tmp_path / "home/workspace/artifacts/films").glob("*.gif"))
