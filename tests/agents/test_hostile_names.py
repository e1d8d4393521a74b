"""No name of a file in an agent's directory keeps it from starting, and `check --fix` settles what is there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from worldfs import AgentState
from worldfs.agents.doctor import check

NAMES = [
    b"a\nb.json", b"\x01\x7f.json", b"x" * 250 + b".json", b"\xff\xfe.json", b"-rf.json", "信件.json".encode(),
    b"..json", b"x\r\n", b"\xc2\x85.json", b" .json", b"%s.json", b"\xff", b"0\n1", b"00000001-\n",
]  # fmt: skip
DIRECTORIES = (
    "", "inbox", ".paos", ".paos/aside", ".paos/jobs", ".paos/done", ".paos/generations/memory.md",
    ".paos/generations", ".paos/journal", ".paos/letters/dead", ".paos/letters/done", ".paos/drafts", ".paos/sessions",
    ".paos/displaced", ".paos/history",
)  # fmt: skip


@pytest.mark.slice(3)
@pytest.mark.parametrize("directory", DIRECTORIES)
def test_no_name_keeps_an_agent_from_its_work(tmp_path: Path, directory: str) -> None:
    with AgentState.open("leo", tmp_path, create=True), AgentState.open("rio", tmp_path, create=True) as rio:
        rio.remember("patterns", "zero")
    home = tmp_path / "rio" / directory
    home.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(NAMES):
        letter = {"from": "leo", "to": "rio", "subject": f"{number}", "created_at": "2026-03-31T22:00:00Z"}
        Path(os.fsdecode(os.fsencode(home) + b"/" + name)).write_text(json.dumps(letter))
    for turn in range(2):
        with AgentState.open("leo", tmp_path) as leo, AgentState.open("rio", tmp_path) as rio:
            id = leo.send("rio", subject=f"real {turn}").id
            rio.start()
            assert id in {letter.message.id for letter in rio.inbox.claimed(rio.session().session_id)}  # type: ignore[union-attr]  # it runs
            rio.remember("patterns", f"fact {turn}")
            rio.add_task(f"task {turn}")
            rio.prompt()
            rio.finish("completed")
    check(tmp_path, fix=True)
    assert [str(finding) for finding in check(tmp_path) if "ODD_NAME" in finding.code] == []
    with AgentState.open("rio", tmp_path) as rio:
        rio.start()
        rio.finish("completed")
        assert [remark.text for remark in rio.memory().remarks] == ["zero", "fact 0", "fact 1"]
