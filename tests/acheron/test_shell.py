"""The served tree from a shell: every command is a connection of its own. That one is a process of its own is seen in
test_clients.py; here each runs in this one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.command_run import run_command

from .stand import served

CHAT = "/agents/self/chat/control/input"
WAIT, NEXT = "/agents/self/events/control/wait.json", "/agents/self/events/next.json"
Paos = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def paos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paos]:
    home = tmp_path_factory.mktemp("shell") / "home"

    def run(*words: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return run_command("--home", str(home), *words, text=text, environ=more)

    assert run("onboard").returncode == 0
    artifacts = home / "workspace/artifacts"
    (artifacts / "films/empty").mkdir(parents=True)
    (artifacts / "films/arm.gif").write_bytes(b"GIF89a")
    (artifacts / "table.png").write_bytes(b"PNG")
    (artifacts / "odd\nname").write_bytes(b"")
    (artifacts / "outside").symlink_to(Path("/etc"))
    os.mkfifo(artifacts / "pipe")
    with served(home) as server:

        def paos(*words: str, far: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
            return run(*(("--connect", server.url) if far else ()), *words, **more)

        yield paos


def test_every_directory_that_is_listed_can_be_listed(paos: Paos) -> None:
    walked = paos("walk", "/")
    assert (walked.returncode, walked.stderr) == (0, "")
    places = walked.stdout.splitlines()
    base = "/projects/main/artifacts"
    assert [place for place in places if place.startswith(base)] == [
        f"{base}/", f"{base}/README.md", f"{base}/films/", f"{base}/films/arm.gif", f"{base}/films/empty/",
        f"{base}/table.png",
    ]  # fmt: skip
    for directory in (base, f"{base}/films", f"{base}/films/empty"):
        listed = paos("ls", "-l", directory)
        assert (listed.returncode, listed.stderr) == (0, ""), directory
    assert paos("cat", f"{base}/films/arm.gif").stdout == "GIF89a"


def test_a_wait_that_one_command_configures_is_read_by_the_next(paos: Paos) -> None:
    assert json.loads(paos("cat", NEXT).stdout)["error"] == "wait_not_configured"
    asked = {"paths": [CHAT], "timeout_ms": 60_000}
    assert paos("write", WAIT, text=json.dumps(asked)).returncode == 0
    assert json.loads(paos("cat", WAIT).stdout) == asked
    jobs = []
    for letter in ("one", "two"):
        written = paos("--json", "write", CHAT, text=letter)
        jobs.append(json.loads(written.stdout)["job"])
        found = json.loads(paos("cat", NEXT).stdout)
        assert (found["job"]["job_id"], found["event_id"]) == (jobs[-1], len(jobs)), "each end is told once"
    assert paos("write", WAIT, text=json.dumps({**asked, "timeout_ms": 1})).returncode == 0
    assert json.loads(paos("cat", NEXT).stdout)["timeout"] is True
    assert paos("write", WAIT, text="").returncode == 0
    assert json.loads(paos("cat", NEXT).stdout)["error"] == "wait_not_configured"


def test_a_token_is_made_used_listed_and_revoked_by_hand(paos: Paos) -> None:
    made = paos("token", "add", "rio", far=False)
    token = made.stdout.strip()
    assert made.returncode == 0 and token.startswith("sw-agent_") and "token-1" in made.stderr
    assert paos("ls", "/agents/self", PAOS_TOKEN=token).returncode == 0
    assert paos("--agent", "rio", "ls", "/agents/self", PAOS_TOKEN=token).returncode == 0
    other = paos("--agent", "ada", "ls", "/", PAOS_TOKEN=token)
    assert other.returncode == 2 and "this token is valid only for agent rio" in other.stderr
    listed = paos("token", "list", far=False)
    assert "token-1" in listed.stdout and "rio" in listed.stdout and token not in listed.stdout
    rows = json.loads(paos("--json", "token", "list", far=False).stdout)["tokens"]
    assert [(row["id"], row["agent_id"]) for row in rows] == [("admin", None), ("user", None), ("token-1", "rio")]
    assert paos("token", "revoke", "rio", far=False).stdout.split() == ["revoked:", "token-1"]
    assert paos("ls", "/", PAOS_TOKEN=token).returncode == 2
    for wrong in (("add", "../x"), ("add", "mother"), ("revoke", "rio"), ("revoke", "admin")):
        said = paos("token", *wrong, far=False)
        assert said.returncode == 2 and said.stderr.startswith("paos: "), wrong


def test_the_past_is_read_over_the_wire(paos: Paos) -> None:
    place = "/projects/main/TASK.md"
    for text in ("one\n", "two\n"):
        assert paos("--as", "planner", "write", place, far=False, text=text).returncode == 0
    found = json.loads(paos("--json", "log", place).stdout)["versions"]
    assert [one["bytes"] for one in found[:2]] == [4, 4]
    assert paos("cat", place, "--at", found[1]["time"]).stdout == "one\n"
    assert paos("cat", f"/at/{found[1]['time']}{place}").stdout == "one\n"
    differ = paos("diff", place, found[1]["time"])
    assert differ.returncode == 1 and "-one\n+two\n" in differ.stdout
    for asked, said in ((f"/at/1d{place}", "nothing was recorded"), ("/at/soon/x", "is no time")):
        refused = paos("cat", asked)
        assert refused.returncode == 2 and said in refused.stderr, refused
    assert paos("write", f"/at/now{place}", text="x").returncode == 2
