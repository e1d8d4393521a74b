"""A command that needs an agent makes none: an --agent that is not there is refused, with the most similar name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from worldfs.access.tokens import TokenStore
from worldfs.base.agent_names import list_agents
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.cli.command_spec import CommandSpec
from worldfs.interfaces.cli.command_table import COMMANDS
from worldfs.interfaces.cli.main import main
from worldfs.world.served_world import ServedWorld

WRITERS = frozenset(
    """
    agent end, agent event, agent hook, agent import, agent init, agent outcome, agent restore, agent rm, agent run,
    agent send, agent start, approve, bench instructions, bench tabletop, cancel, cp, do, mcp, mission add,
    mission cancel, mission pause, mission priority, mission release, mission resume, mkdir, model check, mount, mv,
    node, onboard, page, policy serve, record, reset, resume, rm, robot add, robot calibrate, robot hand-eye,
    robot record, robot remove, serve, setup, sh, skill allow, skill try, stop, store export, store import,
    token add, token revoke, unmount, up, write
    """.replace("\n", " ")
    .strip()
    .split(", ")
)
READERS = [item for item in COMMANDS if item.reads]
# Over a connection: a terminal or a window is asked for first, no server is asked at all, or it would have no end.
APART = ("top", "view", "version", "completion", "agent schema", "watch", "wait")


def words(command: CommandSpec) -> list[str]:
    """The command with what it cannot do without; of an agent's state, without its name."""
    needed = [item for item in command.arguments if item.positional and item.many in ("", "+")]
    rest = [item for item in needed if item.completes != "agent"]
    return [*command.name.split(), *(item.choices[0] if item.choices else "x" for item in rest)]


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["--home", str(tmp_path), "onboard"]) == 0
    assert main(["--home", str(tmp_path), "agent", "init", "rio"]) == 0
    capsys.readouterr()
    return tmp_path


@pytest.fixture
def url(home: Path) -> Iterator[str]:
    with ServedWorld.open(home) as realm, BackgroundServer(realm, ListenOptions(port=0)) as server:
        yield server.started.url


def agents(home: Path) -> list[str]:
    return list_agents(home / "agents")


def test_every_command_says_whether_it_only_reads() -> None:
    assert {item.name for item in COMMANDS if not item.reads} == {" ".join(name.split()) for name in WRITERS}


@pytest.mark.slice(3)
@pytest.mark.parametrize("command", READERS, ids=lambda command: command.name)
def test_on_this_disk(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: CommandSpec
) -> None:
    monkeypatch.setattr("worldfs.interfaces.cli.main._function", lambda target: lambda context: 0)  # some have no end
    assert main(["--home", str(home), "--agent", "rioo", *words(command)]) == 2
    said = capsys.readouterr()
    assert "no agent 'rioo'" in said.err and "did you mean rio?" in said.err and said.out == ""
    assert agents(home) == ["rio"]


def test_over_a_connection(home: Path, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    far = [item for item in READERS if item.remote and item.name not in APART]
    assert len(far) > 10
    for command in far:
        assert main(["--home", str(home), "--connect", url, "--agent", "rioo", *words(command)]) == 2, command.name
        said = capsys.readouterr()
        assert "no agent 'rioo'" in said.err and "did you mean rio?" in said.err and said.out == "", command.name
        assert "agent init" not in said.err, command.name  # which would make it on this disk
        assert agents(home) == ["rio"], command.name
    assert main(["--home", str(home), "--connect", f"{url}?agent=rioo", "ls"]) == 2
    assert "did you mean rio?" in capsys.readouterr().err and agents(home) == ["rio"]


def test_an_agent_that_is_there_is_read_and_a_command_that_writes_may_make_one(
    home: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def paos(*given: str) -> int:
        return main(["--home", str(home), *given])

    for name in ("rio", "mother"):
        assert paos("--agent", name, "ls", "/") == 0
        assert paos("--connect", url, "--agent", name, "ls", "/agents/self") == 0
    assert paos("--agent", "rio", "agent", "tasks") == 0
    note = home / "note"
    note.write_text("hello")
    assert paos("--connect", url, "--agent", "ada", "write", "/agents/self/chat/control/input", str(note)) == 0
    assert "ada" in agents(home)


def test_a_token_of_one_agent_reads_as_that_agent_before_it_has_a_directory(
    home: Path, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, token = TokenStore.open(home).add("ada")
    (tmp_path / "token").write_text(token)
    given = ["--connect", url, "--token-file", str(tmp_path / "token")]
    assert main([*given, "--agent", "ada", "ls", "/"]) == 0
    capsys.readouterr()
    assert main([*given, "--agent", "adaa", "ls", "/"]) == 2
    assert "valid only for agent ada" in capsys.readouterr().err
