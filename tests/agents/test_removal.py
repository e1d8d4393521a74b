"""Names of agents in any script, and agents that go and come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs import AgentState
from worldfs.agents.agent_removal import remove_agent, removed_agents, restore_agent
from worldfs.base.agent_names import is_agent_name, list_agents
from worldfs.base.errors import BadInput, Busy, Exists, NotFound


@pytest.mark.parametrize("name", ["rio", "Rio", "theseus.2", "里奥", "Élan", "a-b_c", "2nd", "Ж", "x" * 64, "里" * 64])
def test_a_name_may_be_of_any_script(name: str, tmp_path: Path) -> None:
    assert is_agent_name(name)
    with AgentState.open(name, tmp_path, create=True) as state:
        state.start()
        state.finish("completed", summary="well")
    assert list_agents(tmp_path) == [name]
    with AgentState.open("leo", tmp_path, create=True) as leo:
        leo.send(name, subject="hello")
    with AgentState.open(name, tmp_path) as state:
        assert [letter.message and letter.message.to for letter in state.inbox.waiting()] == [name]


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", ".rio", "rio.", "a..b", "a/b", "a\\b", "a b", "-rio", "_rio", "all", "ALL", "operator", "nul",
        "Con.txt", "e\u0301", "\uff32io", "x\u00b2", "a\u200bb", "a\u202eb", "a\x00b", "a\nb", "x" * 65, "\U0001f916",
        "a:b", "*",
    ],
)  # fmt: skip
def test_a_name_that_could_be_taken_for_something_else_is_none(name: str) -> None:
    assert not is_agent_name(name)


def test_names_that_differ_in_capitals_only_are_not_both_agents(tmp_path: Path) -> None:
    AgentState.open("Rio", tmp_path, create=True).close()
    with pytest.raises(BadInput, match="'Rio'"):
        AgentState.open("rio", tmp_path, create=True)
    AgentState.open("Rio", tmp_path, create=True).close()  # its own name is no collision


def test_a_removed_agent_comes_back_as_it_was(tmp_path: Path) -> None:
    with AgentState.open("里奥", tmp_path, create=True) as state:
        state.remember("patterns", "kept")
    before = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    gone = remove_agent(tmp_path, "里奥")
    assert list_agents(tmp_path) == [] and Path(gone.path, "memory.md").exists() and removed_agents(tmp_path) == [gone]
    with pytest.raises(NotFound):
        AgentState.open("里奥", tmp_path)
    restore_agent(tmp_path, "里奥")
    after = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path: data for path, data in after.items() if ".paos" not in path.parts} == {
        path: data for path, data in before.items() if ".paos" not in path.parts
    }
    assert removed_agents(tmp_path) == []


def test_the_last_one_of_a_name_comes_back_and_none_over_another(tmp_path: Path) -> None:
    for text in ("first", "second"):
        with AgentState.open("rio", tmp_path, create=True) as state:
            state.remember("patterns", text)
        remove_agent(tmp_path, "rio")
    AgentState.open("rio", tmp_path, create=True).close()
    with pytest.raises(Exists, match="rio"):
        restore_agent(tmp_path, "rio")
    remove_agent(tmp_path, "rio")
    assert [item.agent for item in removed_agents(tmp_path)] == ["rio"] * 3


def test_an_agent_that_works_is_not_removed(tmp_path: Path) -> None:
    with AgentState.open("rio", tmp_path, create=True) as state:
        state.start()
        with pytest.raises(Busy):
            remove_agent(tmp_path, "rio")
        state.finish()
        state.start()  # it goes on as if nothing had been
        state.finish()


def test_rm_waits_for_the_end_of_a_session_whose_owner_has_died_and_for_no_living_one(tmp_path: Path) -> None:
    import threading

    from worldfs.interfaces.cli.agent.removal_commands import _taken_away
    from worldfs.storage.root_lock import RootLock

    AgentState.open("rio", tmp_path, create=True).close()
    lock = RootLock(tmp_path / "rio", "session").acquire()
    with pytest.raises(Busy):  # its owner lives: this process
        _taken_away(str(tmp_path), "rio")
    lock.note(pid=4_194_305)  # above every process number there can be
    threading.Timer(0.3, lock.release).start()
    assert _taken_away(str(tmp_path), "rio").agent == "rio"
