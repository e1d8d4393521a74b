"""`paos stop` names each robot that it is for, and a stop that is said elsewhere is no silent one."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from worldfs.base.errors import NotFound, WorldError
from worldfs.interfaces.cli import stop_command
from worldfs.interfaces.cli.main import main
from worldfs.runtime.stop_report import RobotStop, StopReport
from worldfs.testing.workspace_fixture import WorkspaceFixture
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
