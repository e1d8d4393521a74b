"""`paos stop` names each robot that it is for, and a stop that is said elsewhere is no silent one."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from worldfs.base.errors import NotFound, StorageError, WorldError
from worldfs.formats import config
from worldfs.interfaces.cli import file_commands, stop_command
from worldfs.interfaces.cli.main import main
from worldfs.runtime.kernel_addresses import bind_address, own_address
from worldfs.runtime.stop_report import RobotStop, StopReport
from worldfs.runtime.stops_aside import StopsAside
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.robot_stops import RobotStops
from worldfs.world.world import World

NOWHERE = "ws://127.0.0.1:9"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return WorkspaceFixture(tmp_path / "workspace", ("arm", "leg", "tail")).root


def stopped(root: Path) -> list[str]:
    with World.open(root) as world:
        return [id for id in world.node_ids() if world.stops.state(id).stopped]


@pytest.mark.parametrize(
    "words", [("--node", "arm", "--node", "leg"), ("arm", "leg"), ("arm", "--node=leg"), ("leg", "arm", "arm")]
)
def test_each_robot_that_is_named_is_stopped(root: Path, words: tuple[str, ...], capsys: Any) -> None:
    main(["--workspace", str(root), "--json", "stop", *words])
    told = [json.loads(line)["node"] for line in capsys.readouterr().out.splitlines()]
    assert sorted(set(told)) == ["arm", "leg"] and stopped(root) == ["arm", "leg"]
    assert main(["--workspace", str(root), "resume", *words]) == 0 and stopped(root) == []


@pytest.mark.parametrize(
    "path",
    ["/nodes/arm/stop", "//nodes//arm/./stop", "nodes/arm/stop", "/projects/main/nodes/arm/stop", "stop",
     "/projects/main//nodes/arm/stop/"],
)  # fmt: skip
def test_a_write_to_a_stop_by_any_path_is_the_command_and_a_resume_by_a_link_ends_it(
    root: Path, path: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"now"), isatty=lambda: False))
    main(["--workspace", str(root), "--json", "write", path])
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["node"], told["stopped"]) == ("arm", True) and stopped(root) == ["arm"]
    assert main(["--workspace", str(root), "write", "/projects/main/nodes/arm/resume"]) == 0 and stopped(root) == []


def test_a_resume_says_of_which_robot_no_standstill_was_confirmed(root: Path, capsys: Any) -> None:
    main(["--workspace", str(root), "stop", "arm", "leg"])
    with World.open(root) as world:
        world.stops.confirm({"arm": 1})
    known = {"arm": RobotStop("arm", True), "leg": RobotStop("leg", False, "it still moves at 0.3 m/s")}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RobotStops, "await_confirmed", lambda self, node, seconds: known[node])
        capsys.readouterr()
        assert main(["--workspace", str(root), "--json", "resume", "--all"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told == [
        {"node": "arm", "resumed": True},
        {"node": "leg", "resumed": True, "confirmed": False, "why": "it still moves at 0.3 m/s"},
        {"node": "tail", "resumed": False},
    ]


def test_a_name_that_is_none_keeps_no_other_robot_from_being_stopped(root: Path, capsys: Any) -> None:
    assert main(["--workspace", str(root), "stop", "nose", "arm"]) == 2
    assert "nose" in capsys.readouterr().err and stopped(root) == ["arm"]


@pytest.mark.parametrize(("text", "lost"), [("stop\n", True), ("停\n", True), ("put the cup down\n", False)])
def test_a_stop_in_a_chat_whose_server_is_away_was_not_delivered(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, text: str, lost: bool, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False))
    home = ["--home", str(tmp_path / "home")]
    code = main([*home, "--connect", NOWHERE, "write", "/agents/self/chat/control/input"])
    said = "".join(capsys.readouterr())
    assert (code == 1 and "NOT delivered" in said) if lost else (code == 3 and "NOT delivered" not in said)


OTHER = '{"embodiments": {"mode": "fleet", "sharedWorkspace": "other", "instances": []}}'


@pytest.mark.slice(5)
@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"embod', OTHER])
@pytest.mark.parametrize("words", [("stop",), ("stop", "--node", "arm"), ("do", "stop"), ("write", "/nodes/arm/stop")])
def test_a_stop_reaches_the_kernel_of_a_home_whose_config_names_it_no_more(
    tmp_path: Path, text: str | None, words: tuple[str, ...], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"stop"), isatty=lambda: False))
    root = WorkspaceFixture(tmp_path / "elsewhere" / "fleet", ("arm", "leg")).root
    home = tmp_path / "home"
    (home / "other").mkdir(parents=True)
    if text is not None:
        (home / "config.json").write_text(text)
    settings = config.read(b"")._replace(home=str(home))
    drivers = {"simulation": lambda seat: NullDriver()}
    with World.open(root, config=settings, serve=True, drivers=drivers) as serving:
        main(["--home", str(home), "--json", *words])
        told = {json.loads(line)["node"] for line in capsys.readouterr().out.splitlines() if '"node"' in line}
        assert serving.kernel is not None
        stopped = {node for node in serving.node_ids() if serving.kernel.stopping.is_stopped(node)}
    assert stopped == told == ({"arm"} if "arm" in " ".join(words) else {"arm", "leg"})


ONE = '{"embodiments": {"instances": [{"robotId": "arm"}]}}'
NOT_THERE = OTHER.replace('"other"', '"nowhere"')


@pytest.mark.slice(4)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell which kernels run")
@pytest.mark.parametrize("text", [OTHER, ONE, NOT_THERE, "{}", '{"embod'])
@pytest.mark.parametrize("named", [(), ("leg",), ("--all",)])
def test_status_and_resume_name_each_kernel_of_a_home_whose_config_names_another_workspace(
    tmp_path: Path, text: str, named: tuple[str, ...], capsys: Any
) -> None:
    """They act on the config's workspace, and on those that kernels of the home serve: a stop has reached these."""
    root = WorkspaceFixture(tmp_path / "elsewhere" / "fleet", ("arm", "leg")).root
    home = tmp_path / "home"
    (home / "other").mkdir(parents=True)
    WorkspaceFixture(home / "workspace", ("arm",) if text == ONE else ())
    (home / "config.json").write_text(text)
    (home / "config.json").chmod(0o600)
    paos = ["--home", str(home)]
    settings = config.read(b"")._replace(home=str(home))
    drivers = {"simulation": lambda seat: NullDriver()}
    with World.open(root, config=settings, serve=True, drivers=drivers) as serving:
        main([*paos, "stop"])
        capsys.readouterr()
        main([*paos, "status"])
        said = "".join(capsys.readouterr())
        assert f"process {os.getpid()}" in said and str(root) in said, said
        main([*paos, "resume", *named])
        said = "".join(capsys.readouterr())
        left = [node for node in serving.node_ids() if serving.stops.state(node).stopped]
        if named:
            assert left == (["arm"] if "leg" in named else []) and str(root) in said and "leg" in said, said
        else:
            assert left == ["arm", "leg"] and "--all" in said and "arm, leg" in said, said


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell which kernels run")
@pytest.mark.parametrize("there", [True, False])
def test_a_stop_where_the_workspace_has_gone_says_what_is_known_of_its_kernel(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, *, there: bool
) -> None:
    """One that is ending has its address still, and hears nothing more."""
    monkeypatch.setattr(StopsAside.__init__, "__defaults__", ((str(tmp_path),),))
    home = tmp_path / "home"
    home.mkdir()
    ending = bind_address(own_address(home / "workspace", "a", str(home))) if there else None
    assert main(["--home", str(home), "stop"]) == 1
    said = capsys.readouterr().out
    assert "NOT delivered" in said and "no workspace here" in said
    (kept,) = tmp_path.glob("paos-stops-*/*/*.json")
    assert f"{kept} has it until then: the next start begins stopped" in said
    assert (f"process {os.getpid()}" in said and "not answered" in said) is there
    assert ("no kernel that was started for this place runs" in said) is not there
    assert main(["--home", str(home), "status"]) != 0
    assert (f"process {os.getpid()}: it does not answer" in capsys.readouterr().err) is there
    if ending is not None:
        ending.close()


def test_a_store_that_does_not_answer_holds_up_no_report() -> None:
    never, report = threading.Event(), StopReport((RobotStop("arm", True),))

    def silent() -> StopReport:
        never.wait()
        return report

    def unknown() -> StopReport:
        raise NotFound("nose")

    with pytest.raises(WorldError, match="has not answered"):
        stop_command._within(0.01, silent)
    never.set()
    with pytest.raises(NotFound):
        stop_command._within(60, unknown)
    assert stop_command._within(60, silent) is report


class Told:
    """A stop call that a kernel has answered, or has not."""

    def __init__(self, told: bool, sent: bool) -> None:
        self.told, self.sent = told, {"socket"} if sent else set()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def wait_told(self, seconds: float) -> bool:
        raise KeyboardInterrupt

    def wait(self, seconds: float) -> bool:
        return False

    def reports(self) -> list[StopReport]:
        return [StopReport((RobotStop("arm", True),))] if self.told else []


@pytest.mark.parametrize(
    ("told", "sent", "word"),
    [(True, True, "drivers were told"), (False, True, "no driver is known"), (False, False, "NOT delivered")],
)
def test_a_stop_that_is_interrupted_says_whether_a_driver_was_reached(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, told: bool, sent: bool, word: str
) -> None:
    monkeypatch.setattr(stop_command, "StopCall", lambda *args, **_: Told(told, sent))
    assert main(["--workspace", str(root), "stop"]) == 130
    said = capsys.readouterr().out
    assert word in said and ("arm" in said) is told


def test_a_stop_in_a_chat_that_cannot_be_stored_says_what_is_known_of_the_robots(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    class Full:
        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: object) -> None:
            return None

        def path_of(self, path: str) -> str:
            return path

        def write(self, *args: object) -> None:
            raise StorageError("no space left on device", code="ENOSPC")

    monkeypatch.setattr(file_commands, "open_tree", lambda context: Full())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"stop"), isatty=lambda: False))
    main(["--workspace", str(root), "--json", "write", "/agents/self/chat/control/input"])
    out, err = capsys.readouterr()
    told = [json.loads(line) for line in out.splitlines()]
    assert {line["node"] for line in told} == {"arm", "leg", "tail"} and "NOT delivered" not in out
    assert "no space left" in err and stopped(root) == ["arm", "leg", "tail"]
