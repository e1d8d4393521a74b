"""Homes that an earlier version wrote, cut off in the middle: they open, go on, and lose nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worldfs.testing.waiting import PATIENCE_S

from .conftest import ROOT, Place

pytest.importorskip("mujoco", reason="the simulation is an extra")

HOMES = sorted((ROOT / "tests/fixtures/homes").glob("*.tar.gz"))
WAITED = [f"act_slow{n}" for n in range(12) if n != 2]
RAN = "act_slow2"  # when its kernel was killed


@pytest.fixture(params=HOMES, ids=[home.name.removesuffix(".tar.gz") for home in HOMES])
def homes(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(request.param) as archive:
        # Filters came with Python 3.11.4; 3.12 and 3.13 warn where none is named.
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        for member in archive:
            assert member.isfile() or member.isdir(), member.name
            archive.extract(member, tmp_path)
    return tmp_path


def at(home: Path) -> Place:
    return Place(home / "workspace", ("--home", str(home)))


def test_a_look_at_an_older_home_changes_no_byte(homes: Path) -> None:
    place = at(homes / "home")
    before = place.bytes()
    assert place.paos("check").code == 1  # a job and a session without their processes
    assert place.paos("status").code == 0
    assert place.bytes() == before


def test_check_names_what_was_cut_off(homes: Path) -> None:
    found = at(homes / "home").paos("check").out
    assert f"jobs/{RAN}" in found
    assert "sol/session.json" in found


def test_an_older_world_goes_on_and_loses_no_job(homes: Path) -> None:
    place = at(homes / "home")
    ended = set(place.ended())
    assert len(ended) == 9
    assert "STOPPED" in place.paos("status").out  # it was stopped, and would start stopped
    assert place.paos("resume", "--all").code == 0
    place.up()
    jobs = place.ended()
    assert jobs.keys() == {*ended, RAN, *WAITED}
    assert all(jobs[id].status.outcome.ok for id in WAITED)
    assert jobs[RAN].status.outcome.cause == "lost"
    assert any("lost" in lesson.lower() for lesson in place.lessons()), place.text("LESSONS.md")
    assert RAN not in place.paos("check").out


def test_an_older_agent_keeps_its_messages_tasks_memory_and_sessions(homes: Path) -> None:
    place = at(homes / "home")
    waiting = [line.split()[-1] for line in place.paos("agent", "inbox", "rio").out.splitlines()]
    assert waiting == ["waiting"] * 3  # the one that was claimed too: its lease has run out since
    tasks = place.paos("agent", "tasks", "rio").out
    assert "read the paper" in tasks
    assert "写报告" in tasks
    memory = place.paos("agent", "memory", "rio").out
    assert "the mug is left of the tray" in memory
    assert "香蕉在盘子里" in memory
    assert place.paos("agent", "restore", "kai").code == 0
    assert place.paos("check", "--fix").code == 0  # sol's session ends as lost
    journal = place.root.parent / "agents/sol/journal.jsonl"
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    assert (events[0]["event"], events[-1]["event"]) == ("session_start", "session_end")
    ran = place.paos("agent", "run", "rio", "--type", "research", "--", "sh", "-c", "echo again")
    assert (ran.code, "completed" in ran.err + ran.out) == (0, True), ran


@contextmanager
def running(*words: str, **environ: str) -> Iterator[subprocess.Popen[str]]:
    program = (sys.executable, "-m", "worldfs.interfaces.cli.main", *words)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1", **environ}
    process = subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)


def end_jobs_now(served: Path) -> None:
    """Ended jobs are shown for a day: those of this home end a moment ago, and are otherwise as they were written."""
    now = datetime.now(UTC)
    (day,) = (served / ".paos/calls").iterdir()
    day.write_text(re.sub(r'"updated_ms":\d+', f'"updated_ms":{int(now.timestamp() * 1000)}', day.read_text("utf-8")))
    day.rename(day.with_name(f"{now:%Y-%m-%d}.jsonl"))
    for job in (served / ".paos/jobs").iterdir():
        job.write_text(re.sub(r'"20[\d-]{8}T[\d:.]+Z"', f'"{now:%Y-%m-%dT%H:%M:%SZ}"', job.read_text("utf-8")))


def test_an_older_served_home_has_its_tree_its_tokens_its_project_and_its_node(homes: Path) -> None:
    pytest.importorskip("websockets", reason="the server is an extra")
    end_jobs_now(homes / "served")
    with running("--home", str(homes / "served"), "serve", "--port", "0", "--json") as server:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        there = Place(homes, ("--home", str(homes / "served"), "--connect", url))
        identity = homes / "node/.paos/nodes/shelf.json"
        known = json.loads(identity.read_text())["server"]  # a node goes back to the address that it knows
        identity.write_text(identity.read_text().replace(known, url.rstrip("/")))
        with running(
            *("--home", str(homes / "node"), "--connect", url),
            *("node", "--name", "shelf", "--export", f"files={homes / 'shelf'}"),
        ) as node:
            assert node.stdout is not None
            node.stdout.readline()
            note = "/nodes/node-1/fs/files/note.txt"
            assert there.paos("wait", note, "--until", "from the other machine", "--timeout", "60").code == 0
            paths = set(there.paos("walk", "/").out.splitlines())
        expected = set((homes / "served.paths").read_text().splitlines())
        assert expected <= paths, sorted(expected - paths)
        jobs = [json.loads(there.paos("cat", f"/agents/self/jobs/job-{n}/status.json").out) for n in (1, 2)]
        assert [job["state"] for job in jobs] == ["done", "failed"]  # the second ran when its server was killed
        there.paos("write", "/agents/self/memory/control/search.json", stdin='{"query": "篮子"}'.encode())
        assert ":apple:1" in there.paos("cat", "/agents/self/memory/result.json").out
        opened = there.paos("--project", "proj-2", "ls", "/projects")  # the other one has a token of its own
        assert "proj-2" in opened.out, opened
    tokens = at(homes / "served").paos("token", "list").out
    assert "rio" in tokens
