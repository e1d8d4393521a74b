"""`paos --connect`: the words of the command over a served tree."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldfs.client.remote_errors import refusal
from worldfs.interfaces.cli.main import main

from .far import INPUT, TOKEN, Far, far_thread

Paos = Callable[..., tuple[int, str, str]]


@pytest.fixture
def far() -> Iterator[Far]:
    far = Far()
    far.files["/nodes/n/fs/notes.txt"] = b"one\n"
    far.writable.add("/nodes/n/fs/notes.txt")
    with far_thread(far):
        yield far


@pytest.fixture
def paos(far: Far, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Paos:
    monkeypatch.setenv("PAOS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PAOS_TOKEN", TOKEN)

    def call(*words: str, stdin: bytes = b"", connect: bool = True) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([*(("--connect", far.url) if connect else ()), *words])
        said = capsysbinary.readouterr()
        return code, said.out.decode(), said.err.decode()

    return call


def test_ls_shows_directories_with_a_slash_and_rights_on_request(paos: Paos) -> None:
    assert paos("ls")[1].split() == ["README.md", "agents/", "meta/", "nodes/"]
    assert paos("ls", "-l", "/nodes/n/fs")[1].split() == ["rw", "file", "notes.txt"]
    assert paos("ls", "/README.md")[1].split() == ["README.md"]
    entries = json.loads(paos("--json", "ls", "/nodes")[1])["entries"]
    assert [(entry["name"], entry["kind"]) for entry in entries] == [("README.md", "file"), ("n/", "directory")]
    assert "did you mean /nodes/n/fs/notes.txt?" in paos("cat", "/nodes/n/fs/note.txt")[2]
    assert "did you mean /nodes/n/fs?" in paos("ls", "/node/n/fs")[2]
    code, out, err = paos("ls", "/nope")
    assert (code, out) == (2, "") and "/nope" in err and "list the directory above" in err


def test_cat_prints_the_bytes_and_stat_the_facts(paos: Paos) -> None:
    assert paos("cat", "/README.md", "/nodes/n/fs/notes.txt")[:2] == (0, "# Far\none\n")
    assert json.loads(paos("--json", "cat", "/README.md")[1]) == {"path": "/README.md", "text": "# Far\n"}
    facts = json.loads(paos("--json", "stat", INPUT)[1])
    assert list(facts) == ["path", "kind", "size", "readable", "writable", "revision"]  # as of a world on this disk
    assert (facts["kind"], facts["readable"], facts["writable"]) == ("file", True, True)
    assert "writable" in paos("stat", "/meta")[1]


def test_walk_prints_every_place_parents_first(paos: Paos, far: Far) -> None:
    lines = paos("walk")[1].split()
    assert lines[0] == "/" and set(far.files) < set(lines) and "/agents/self/" in lines
    assert paos("walk", "/nodes", "--depth", "1")[1].split() == ["/nodes/", "/nodes/README.md", "/nodes/n/"]
    assert paos("walk", "--depth", "0")[1].split() == ["/"]


def test_write_sends_a_control_and_names_the_job(paos: Paos, far: Far, tmp_path: Path) -> None:
    code, out, _ = paos("write", INPUT, stdin=b"clear the table")
    assert code == 0 and "job-1" in out
    source = tmp_path / "text"
    source.write_bytes(b"two, longer\n")
    assert paos("write", "/nodes/n/fs/notes.txt", str(source))[0] == 0
    assert far.files["/nodes/n/fs/notes.txt"] == b"two, longer\n"
    assert paos("write", "/nodes/n/fs/notes.txt", stdin=b"x")[0] == 2
    assert paos("write", "/README.md", stdin=b"x")[0] == 2
    assert paos("write", "/nodes/n/fs/notes.txt", "--expect", "r1", stdin=b"x")[0] == 2


def test_wait_ends_when_the_text_is_there_or_the_time_is_up(paos: Paos, far: Far) -> None:
    far.files["/agents/self/events/control/wait.json"] = b""
    far.writable.add("/agents/self/events/control/wait.json")
    far.files["/agents/self/events/next.json"] = b'{"configured":true,"waiting":true}'
    assert paos("wait", "/README.md", "--until", "Far")[0] == 0
    assert paos("wait", "/README.md", "--timeout", "0.1")[0] == 1


def test_the_token_is_read_from_a_file_or_the_home_and_never_from_the_command_line(
    paos: Paos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PAOS_TOKEN")
    assert paos("ls")[0] == 2
    file = tmp_path / "token"
    file.write_text(TOKEN)
    assert paos("--token-file", str(file), "ls")[0] == 0
    (tmp_path / "home").mkdir()
    (tmp_path / "home/auth_tokens.json").write_text(json.dumps({"admin_token": TOKEN}))
    assert paos("ls")[0] == 0
    assert paos("--token", TOKEN, "ls")[0] == 2


def test_the_homes_own_token_is_not_sent_to_strangers(
    paos: Paos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from worldfs.client import blocking

    monkeypatch.delenv("PAOS_TOKEN")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/auth_tokens.json").write_text(json.dumps({"admin_token": TOKEN}))
    sent: list[str] = []

    def caught(url: str, *, token: str, **more: str) -> None:
        sent.append(token)
        raise KeyboardInterrupt

    monkeypatch.setattr(blocking, "connect", caught)
    paos("--connect", "ws://far.example", "ls", connect=False)
    paos("--connect", "ws://far.example", "--home", str(tmp_path / "home"), "ls", connect=False)
    paos("--connect", "ws://127.0.0.1", "ls", connect=False)
    assert sent == ["", TOKEN, TOKEN]


def test_a_command_of_this_machine_is_refused_and_nobody_there_is_exit_3(paos: Paos, far: Far) -> None:
    code, _, err = paos("up")
    assert code == 2 and "does not work over --connect" in err
    assert paos("--connect", "ws://127.0.0.1:1", "ls", connect=False)[0] == 3
    said = str(refusal({"code": "project_not_found", "message": "ProjectNotFound"}))
    assert "no such project" in said and "paos ls /projects" in said
    assert paos("--connect", "http://127.0.0.1", "ls", connect=False)[0] == 2
