"""A stop by words in a fleet: --node makes it no smaller than its words, here, over a socket and in a chat."""

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

pytest.importorskip("mujoco")

from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import PATIENCE_S

ROBOTS = ("wa", "halter")
EVERY = (
    "stop halter",
    "halter, stop",
    "stop all robots",
    "停止所有机器人",
    "stop everything",
    "wa and halter, don't move",
)
ONE = ("stop", "stop the cart", "wa, don't go any further", "不要再走了")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    (place / "shared_workspace").mkdir(parents=True)
    robots = [
        {"robotId": id, "driver": "wheeled_carrier", "profileName": "wheeled_carrier", "workspace": id} for id in ROBOTS
    ]
    fleet = {"mode": "fleet", "sharedWorkspace": "shared_workspace", "instances": robots}
    (place / "config.json").write_text(json.dumps({"embodiments": fleet, "approval": "never"}))
    (place / "config.json").chmod(0o600)
    return place


def named(said) -> set[str]:
    return {value["node"] for line in said.stdout.splitlines() if "confirmed" in (value := json.loads(line))}


def test_a_stop_for_one_robot_stops_every_robot_that_its_words_name(home: Path) -> None:
    for texts, robots in ((EVERY, {*ROBOTS}), (ONE, {"wa"})):
        for text in texts:
            said = run_command("--home", str(home), "--json", "do", "--node", "wa", text)
            status = json.loads(run_command("--home", str(home), "--json", "status").stdout)
            assert {node["id"] for node in status["nodes"] if node["stopped"]} == robots == named(said), (text, said)
            assert run_command("--home", str(home), "resume", "--all").returncode == 0


@contextmanager
def served(home: Path) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """The address, the operator's token and the process of a kernel."""
    up = ("--home", str(home), "--json", "up", "--no-cameras", "--serve", "--port", "0")
    process = subprocess.Popen(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", *up],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = map(json.loads, process.stdout)
        url = next(line["url"] for line in told if line.get("event") == "serve")
        yield url, json.loads((home / "auth_tokens.json").read_text())["admin_token"], process
    finally:
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


@pytest.mark.proof
def test_so_it_does_over_a_socket_and_the_answer_of_a_chat_names_every_robot(home: Path) -> None:
    pytest.importorskip("websockets")
    from worldfs.client import blocking

    with served(home) as (url, token, _), blocking.connect(url, token=token) as world:
        environ = {"PAOS_TOKEN": token}

        def stopped() -> set[str]:
            return {id for id in ROBOTS if json.loads(world.read(f"/nodes/{id}/stop"))["stopped"]}

        def resume() -> None:
            assert run_command("--connect", url, "resume", "--all", environ=environ).returncode == 0

        for text, robots in (("stop halter", {*ROBOTS}), ("停止所有机器人", {*ROBOTS}), ("stop the cart", {"wa"})):
            said = run_command("--connect", url, "--json", "do", "--node", "wa", text, environ=environ)
            assert stopped() == robots == named(said), (text, said)
            resume()
        for text in ("wa, stop", "不要再走了"):
            answer = world.chat(text).result(timeout=PATIENCE_S)
            assert stopped() == {*ROBOTS} and all(f"{id}" in answer.text for id in ROBOTS), answer
            resume()
        answer = world.chat("don't drive to the door").result(timeout=PATIENCE_S)
        assert not answer.ok and "paos stop" in f"{answer.text}{answer.error}" and not stopped()


def test_a_kernel_that_does_not_answer_is_named_by_resume_and_by_the_file_of_a_stop(home: Path) -> None:
    with served(home) as (_, _, process):
        freeze(process.pid)
        assert run_command("--home", str(home), "stop").returncode == 1
        why = json.loads(run_command("--home", str(home), "cat", "/nodes/wa/stop").stdout)["why"]
        assert f"(process {process.pid}) does not answer" in why
        said = run_command("--home", str(home), "resume", "--all")
        assert said.returncode == 0 and f"(process {process.pid}) does not answer" in said.stdout


@pytest.mark.proof
def test_of_several_kernels_only_the_frozen_one_is_said_not_to_answer(home: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src"), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(home), "--json", "up"]
    kernels: list[subprocess.Popen[str]] = []
    try:
        for words in (("--no-robots",), ("--robot", "wa"), ("--robot", "halter")):
            kernels.append(subprocess.Popen([*command, *words], env=environ, stdout=subprocess.PIPE, text=True))
            assert kernels[-1].stdout is not None and '"started"' in kernels[-1].stdout.readline()
        frozen = kernels[-1]
        freeze(frozen.pid)
        run_command("--home", str(home), "--json", "stop")
        status = json.loads(run_command("--home", str(home), "--json", "status").stdout)
        stopped = {node["id"]: node["stopped"]["confirmed"] for node in status["nodes"]}
        assert stopped == {"wa": True, "halter": False}
        silent = [alert["found"] for alert in status["alerts"] if alert["code"] == "KERNEL_SILENT"]
        assert len(silent) == 1 and str(frozen.pid) in silent[0]
        assert [alert["field"] for alert in status["alerts"] if alert["code"] == "STOP_UNCONFIRMED"] == ["stop halter"]
        resumed = run_command("--home", str(home), "resume", "--node", "wa")
        assert resumed.returncode == 0 and "does not answer" not in resumed.stdout
    finally:
        for process in kernels:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)


def test_in_a_fleet_what_is_not_read_as_a_stop_is_told_how_to_stop(home: Path) -> None:
    for text in ("stop moving the apple", "no no no", "don't drive to the door", "停止把苹果放进篮子"):
        said = run_command("--home", str(home), "do", text)
        assert said.returncode == 2 and "paos stop" in said.stderr, (text, said)


def test_a_stop_is_no_mission(home: Path) -> None:
    for text in ("stop halter", "don't go any further", "停止所有机器人"):
        said = run_command("--home", str(home), "mission", "add", "--robot", "wa", text)
        assert said.returncode == 2 and "paos stop" in said.stderr, (text, said)
    assert json.loads(run_command("--home", str(home), "--json", "mission", "list").stdout)["missions"] == []
