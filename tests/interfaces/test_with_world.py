"""The command over a real world on a disk; only the bodies do nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.runtime.job_codec import finding_value
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S

pytest.importorskip("worldfs.formats.action")

ROOT = Path(__file__).resolve().parents[2]
Paos = Callable[..., tuple[int, str, str]]
MOVE = {"action_type": "move_to", "params": {"target_pose": [0.4, 0.0, 0.5, 0, 0, 0]}, "status": "pending"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAOS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "home"


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Orders that reached a body; no simulator is needed."""
    orders: list[Any] = []

    def factories(name: str | None, *, seed: int | None, cameras: bool, real_time: float = 0.0) -> Mapping[str, Any]:
        return {"simulation": lambda seat: NullDriver(executed=orders)}

    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", factories)
    return orders


@pytest.fixture
def paos(home: Path, command: Paos) -> Paos:
    return command


def queue(*ids: str, **params: object) -> bytes:
    entries = [{**MOVE, "action_id": id, "params": {**MOVE["params"], **params}} for id in ids]  # type: ignore[dict-item]
    return json.dumps({"queue": entries}).encode()


def test_onboard_writes_once_and_keeps_ever_after(paos: Paos, home: Path) -> None:
    assert paos("onboard")[0] == 0
    assert (home / "config.json").stat().st_mode & 0o777 == 0o600
    (home / "workspace/TASK.md").write_text("mine")
    code, said, _ = paos("onboard", "--json")
    assert code == 0
    assert {entry["what"] for entry in json.loads(said)["files"]} == {"kept"}
    assert (home / "workspace/TASK.md").read_text() == "mine"


def test_a_command_before_onboarding_says_what_to_do(paos: Paos) -> None:
    for words in (["status"], ["ls"], ["cat", "TASK.md"], ["up"], ["do", "clear the table"], ["lessons"]):
        code, out, err = paos(*words)
        assert (code, out) == (2, ""), words
        assert "paos onboard" in err, words


def test_a_foreign_directory_is_opened_without_a_home(paos: Paos, home: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/TASK.md").write_text("# Task: theirs\n")
    code, said, _ = paos("--workspace", str(tmp_path / "other"), "cat", "TASK.md")
    assert (code, said) == (0, "# Task: theirs\n")
    assert not home.exists()


def test_write_cat_and_ls_go_through_the_rights_of_the_role(paos: Paos) -> None:
    paos("onboard")
    text = b"# Task: something\n"
    assert paos("write", "TASK.md", "--as", "planner", stdin=text)[0] == 0
    assert paos("cat", "TASK.md", "--as", "planner")[1].encode() == text
    code, _, err = paos("write", "ENVIRONMENT.md", "--as", "planner", stdin=b"{}")
    assert code == 2
    assert "planner may not write it" in err
    code, _, err = paos("cat", "TASK.md", "--as", "nobody")
    assert code == 2
    assert "no role 'nobody'" in err
    assert "TASK.md" in paos("ls", "/projects/main", "--as", "planner")[1].split()
    assert {"TASK.md", "ACTION.md", "ENVIRONMENT.md"} <= set(paos("ls", "--as", "planner")[1].split())
    assert paos("ls", "/projects/main", "--as", "nobody")[1] == ""


def test_a_write_that_expects_an_older_revision_is_refused(paos: Paos) -> None:
    paos("onboard")
    first = json.loads(paos("write", "TASK.md", "--as", "planner", "--json", stdin=b"one\n")[1])["revision"]
    assert paos("write", "TASK.md", "--as", "planner", "--expect", first, stdin=b"two\n")[0] == 0
    code, said, _ = paos("write", "TASK.md", "--as", "planner", "--expect", first, "--json", stdin=b"three\n")
    assert (code, json.loads(said)["error"]["code"]) == (2, "CONFLICT")
    assert paos("cat", "TASK.md")[1] == "two\n"


def test_up_until_idle_does_what_is_pending_and_tells_it(paos: Paos, executed: list[Any]) -> None:
    paos("onboard")
    assert paos("write", "ACTION.md", "--as", "planner", stdin=queue("act_001", "act_002"))[0] == 0
    code, said, _ = paos("up", "--until-idle")
    assert code == 0
    assert [order.id for order in executed] == ["act_001", "act_002"]
    assert said.splitlines()[0].startswith("kernel running on")
    assert sum("succeeded" in line for line in said.splitlines()) == 2
    assert json.loads(paos("status", "--json")[1])["kernel"] is None


@pytest.mark.parametrize("waiting", [1, 2])
def test_up_until_idle_ends_on_a_stopped_world_and_says_what_waits(
    paos: Paos, executed: list[Any], waiting: int
) -> None:
    paos("onboard")
    assert paos("stop")[0] == 0
    assert paos("up", "--until-idle")[0] == 0  # nothing waits
    ids = [f"act_00{n + 1}" for n in range(waiting)]
    paos("write", "ACTION.md", "--as", "planner", stdin=queue(*ids))
    code, said, _ = paos("up", "--until-idle")
    jobs = "act_001 waits" if waiting == 1 else "2 jobs wait"
    assert (code, said.splitlines()[-2]) == (
        1,
        f"{jobs}: franka_001 stopped, resume with: paos resume --node franka_001",
    )
    held = [json.loads(line) for line in paos("--json", "up", "--until-idle")[1].splitlines()][-2]
    assert held == {"event": "kernel", "state": "held", "jobs": ids, "nodes": ["franka_001"]}
    assert executed == []
    assert paos("resume")[0] == 0
    assert paos("up", "--until-idle")[0] == 0
    assert [order.id for order in executed] == ids


def test_what_up_tells_programs_is_one_object_a_line(paos: Paos, executed: list[Any]) -> None:
    paos("onboard")
    paos("write", "ACTION.md", "--as", "planner", stdin=queue("act_001"))
    events = [json.loads(line) for line in paos("--json", "up", "--until-idle")[1].splitlines()]
    assert [event["state"] for event in events if event["event"] == "kernel"] == ["started", "stopped"]
    assert events[-1]["event"] == "kernel"
    assert [event["state"] for event in events if event["event"] == "ended"] == ["succeeded"]


def test_a_second_kernel_is_refused_and_the_first_one_named(paos: Paos, home: Path, executed: list[Any]) -> None:
    from worldfs.storage.root_lock import RootLock

    paos("onboard")
    with RootLock(home / "workspace", "kernel"):
        code, _, err = paos("up")
        held = json.loads(paos("status", "--json")[1])["kernel"]
    assert code == 2
    assert str(os.getpid()) in err
    assert held["pid"] == os.getpid()


def test_a_job_can_be_cancelled_before_it_starts(paos: Paos, executed: list[Any]) -> None:
    paos("onboard")
    paos("write", "ACTION.md", "--as", "planner", stdin=queue("act_001"))
    assert paos("cancel", "act_001")[0] == 0
    assert paos("up", "--until-idle")[0] == 0
    assert executed == []
    code, _, err = paos("cancel", "act_404")
    assert code == 2
    assert "act_404" in err


def test_wait_sees_a_change_and_a_text_and_gives_up_in_time(paos: Paos, home: Path) -> None:
    paos("onboard")
    assert paos("wait", "TASK.md", "--timeout", "0.05")[0] == 1
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = ["wait", "TASK.md", "--until", "done", "--timeout", str(PATIENCE_S)]
    waiting = subprocess.Popen(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", *words], env=environ, stdout=subprocess.DEVNULL
    )
    paos("write", "TASK.md", "--as", "planner", stdin=b"not yet\n")
    paos("write", "TASK.md", "--as", "planner", stdin=b"done\n")
    assert waiting.wait(2 * PATIENCE_S) == 0


def test_watch_tells_a_change_of_a_file(paos: Paos, home: Path) -> None:
    paos("onboard")
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    watching = subprocess.Popen(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", "--json", "watch", "TASK.md"],
        env=environ,
        stdout=subprocess.PIPE,
    )
    over = threading.Event()

    def write() -> None:  # until it is heard: nothing tells when the watch has begun
        number = 0
        while not over.wait(0.05):
            number += 1
            (home / "workspace/draft").write_text(f"{number}\n")
            (home / "workspace/draft").replace(home / "workspace/TASK.md")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert watching.stdout is not None
        event = json.loads(watching.stdout.readline())
    finally:
        over.set()
        writer.join()
        watching.kill()
        watching.communicate()
    assert event["event"] == "change"
    assert event["path"].endswith("/TASK.md")


def test_check_names_what_task_md_claims_and_the_world_does_not_bear_out(paos: Paos, home: Path) -> None:
    paos("onboard")
    rows = "| Sub-Task | Action | Status |\n|---|---|---|\n| 1 | Grasp apple_01 | done |\n| 2 | Feed the cat | done |\n"
    (home / "workspace/TASK.md").write_text(f"# Task: grasp\n\n{rows}\n**Overall Progress**: 9/5 (180 %)\n", "utf-8")
    code, said, _ = paos("check", "--json")
    found = {item["field"]: (item["code"], item["warning"]) for item in json.loads(said)["findings"]}
    assert code == 1
    assert found["TASK.md progress"] == ("TASK_NOT_BORNE_OUT", False)
    assert found["TASK.md"] == ("TASK_UNJUDGED", True)  # there is no scene yet that could tell


def test_check_finds_nothing_in_a_new_home_and_names_what_is_broken(
    paos: Paos, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paos("onboard")
    assert paos("check")[0] == 0
    with monkeypatch.context() as environment:  # an override that every other command refuses
        environment.setenv("PhyAgentOS_embodiments__mode", "several")
        code, said, _ = paos("check")
        assert code == 1 and "several" in said
    (home / "workspace/ACTION.md").write_text('{"queue": [')
    code, said, _ = paos("check", "--json")
    assert code == 1
    assert any("ACTION.md" in finding["field"] for finding in json.loads(said)["findings"])
    (home / "workspace/TASK.md").write_text("# Task: x\n\n| Job | Done |\n|---|---|\n| fetch it | yes |\n")
    found = {item["code"]: item["found"] for item in json.loads(paos("check", "--json")[1])["findings"]}
    assert found["TASK_TABLE_UNREAD"] == "Job | Done"


def test_in_a_chinese_home_findings_and_alerts_are_told_in_chinese(paos: Paos, home: Path) -> None:
    paos("onboard", "--language", "zh")
    assert paos("check")[1] == "所有文件都可正常读取\n"
    (home / "workspace/ACTION.md").write_text('{"queue": [')
    code, said, _ = paos("check")
    assert code == 1
    assert "错误：" in said and "JSON 在第 1 行第 12 列有误：文本到此结束" in said
    assert not re.search(r"expected|found|mend|set it aside", said)
    queue, fix = coded("runtime.readable_queue"), coded("file.correct_in_editor")
    finding = Finding("SCHEMA_VALIDATION", "ACTION.md", queue, coded("file.n_entries", n=17), fix)
    (home / "workspace/.paos/alerts.json").write_text(json.dumps({"ACTION.md": finding_value(finding)}))
    told = {"expected": "可读的队列", "found": "17 项", "fix": "用编辑器改正"}
    assert json.loads(paos("cat", "/meta/alerts.json")[1])["ACTION.md"].items() >= told.items()
    assert json.loads(paos("--json", "status")[1])["alerts"][0].items() >= told.items()
    twice = {"ACTION.md": finding_value(finding), "ACTION.md#": finding_value(finding)}
    (home / "workspace/.paos/alerts.json").write_text(json.dumps(twice))
    assert paos("status")[1].count("17 项") == 1
    (home / "workspace/.paos/alerts.json").write_text(json.dumps({"ACTION.md": asdict(finding)}))  # of an older version
    told = {"expected": "a readable queue", "found": "17 entries", "fix": "correct it in an editor"}
    assert json.loads(paos("cat", "/meta/alerts.json")[1])["ACTION.md"].items() >= told.items()


def test_lessons_are_found_by_a_word(paos: Paos, home: Path) -> None:
    paos("onboard")
    (home / "workspace/LESSONS.md").write_text(
        "# Lessons\n\n## 2026-01-02 03:04:05 — Out of reach\n- **Action**: pick_up apple_01\n- **Reason**: too far\n"
        "- **Critic Rejection**: reach 0.855 m\n- **Fix**: bring it nearer\n"
    )
    code, said, _ = paos("lessons", "reach")
    assert code == 0
    assert "pick_up apple_01" in said
    assert "no lesson about 'zebra'" in paos("lessons", "zebra")[1]


def test_walk_prints_every_place_parents_first_and_stat_the_facts(paos: Paos) -> None:
    assert paos("onboard")[0] == 0
    code, out, _ = paos("walk")
    lines = out.split()
    assert code == 0 and lines[0] == "/" and len(lines) == len(set(lines))
    assert all(line.rstrip("/").rpartition("/")[0] + "/" in lines for line in lines[1:])
    assert any(line.endswith("/ENVIRONMENT.md") for line in lines)
    assert len(paos("walk", "--depth", "1")[1].split()) < len(lines)
    facts = json.loads(paos("--json", "stat", "ENVIRONMENT.md")[1])
    assert list(facts) == ["path", "kind", "size", "readable", "writable", "revision"] and facts["kind"] == "file"
    assert facts["size"] == len(paos("cat", "ENVIRONMENT.md")[1].encode()) and facts["revision"]
    assert paos("stat", "/nope")[0] == 2
