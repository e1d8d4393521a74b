"""The notebook: versions that stay, forgetting that counts on, one truth for many openers, nothing lost to a crash."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldfs.agents import notebook
from worldfs.agents.agent_state import AgentState
from worldfs.agents.notebook import Notebook
from worldfs.base.errors import BadInput, NotFound, NotPermitted
from worldfs.testing.manual_clock import ManualClock


@pytest.fixture
def state(tmp_path: Path) -> Iterator[AgentState]:
    with AgentState.open("alice", tmp_path, clock=ManualClock(), create=True) as state:
        yield state


@pytest.fixture
def notes(state: AgentState) -> Iterator[Notebook]:
    book = Notebook(state.agent_dir)
    yield book
    book.close()


def lines(state: AgentState) -> list[bytes]:
    return (state.agent_dir.path / notebook.FILE).read_bytes().splitlines()


def test_versions_count_on_and_all_of_them_stay(notes: Notebook) -> None:
    notes.create("note", {"text": "hello"}, name="note1")
    notes.mutate("note1", "v2 text")
    assert notes.latest("note1").version == 2
    assert [notes.content(version) for version in notes.versions("note1")] == [{"text": "hello"}, "v2 text"]
    notes.evict("note1")
    with pytest.raises(NotFound):
        notes.latest("note1")
    assert notes.content(notes.version("note1", 1)) == {"text": "hello"}
    assert notes.create("note", 3, name="note1").version == 3
    assert [version.name for version in notes.active()] == ["note1"]


def test_a_note_keeps_no_secret(state: AgentState, notes: Notebook) -> None:
    token, key = "sw-agent_" + "aB3" * 11, "sk-ant-api03-" + "x1Y" * 20
    for content in (f"the token is {token}", {"keys": [key, {"of": token}]}, key + " " + "long " * 20_000):
        made = notes.create("note", content, name="n")
        notes.mutate(made.name, content)
    kept = b"".join(file.read_bytes() for file in state.agent_dir.path.rglob("*") if file.is_file())
    assert token.encode() not in kept and key.encode() not in kept and kept.count(b"[redacted:") >= 8


def test_a_name_in_use_gets_a_number_and_one_that_is_left_out_is_made(notes: Notebook) -> None:
    made = [notes.create("note", n, name=name).name for n, name in enumerate(["a", "a", "a", "", ""])]
    assert made == ["a", "a_2", "a_3", "mem_4", "mem_5"]
    long = "x" * 128
    assert notes.create("note", 1, name=long).name == long
    assert notes.create("note", 1, name=long).name == "x" * 126 + "_2"


@pytest.mark.parametrize("name", ["bad name", "..", ".hidden", "a/b", "a:b", "-x", "x" * 129, "名字", "a\n"])
def test_what_is_no_name_is_refused(notes: Notebook, name: str) -> None:
    with pytest.raises(BadInput):
        notes.create("note", 1, name=name)
    assert notes.active() == []


def test_protected_notes_are_neither_changed_nor_forgotten(notes: Notebook) -> None:
    notes.create("note", "x", name="prot", write_protected=True)
    notes.create("note", "x", name="keep", unevictable=True)
    with pytest.raises(NotPermitted):
        notes.mutate("prot", "y")
    with pytest.raises(NotPermitted):
        notes.evict("keep")
    assert notes.mutate("keep", "y")[1:5] == (2, "note", False, True)
    assert notes.evict("prot").version == 1


def test_two_openers_see_each_others_notes(tmp_path: Path, state: AgentState, notes: Notebook) -> None:
    with AgentState.open("alice", tmp_path, clock=ManualClock()) as other:
        theirs = Notebook(other.agent_dir)
        notes.create("note", 1, name="a")
        assert theirs.latest("a").version == 1
        assert theirs.mutate("a", 2).version == 2
        assert notes.mutate("a", 3).version == 3
        assert notes.revision == theirs.revision
        theirs.close()


def test_long_contents_of_any_language_have_a_file_and_short_ones_do_not(state: AgentState, notes: Notebook) -> None:
    long = {"文": "把苹果放进碗里 🍎 " * 60_000}
    assert notes.content(notes.create("note", long, name="long")) == long
    notes.create("note", "kurz: Äpfel", name="short")
    assert all(len(line) < 3_000 for line in lines(state))
    assert (state.agent_dir.path / notebook.FOLDER / "long" / "1.json").stat().st_size > 1 << 20
    assert not (state.agent_dir.path / notebook.FOLDER / "short").exists()
    half = notes.create("note", "half a pair \ud83d", name="half")
    assert notes.content(half) == "half a pair \ud83d"


def test_it_is_all_there_again_when_it_is_opened_again(tmp_path: Path, state: AgentState, notes: Notebook) -> None:
    notes.create("note", "one", name="a")
    notes.mutate("a", "two" * 2_000)
    notes.create("note", "gone", name="b")
    notes.evict("b")
    before = notes.active(), notes.versions("b"), notes.revision
    notes.close()
    assert (notes.active(), notes.versions("b"), notes.revision) == before
    assert notes.content(notes.latest("a")) == "two" * 2_000


def test_a_torn_line_is_set_aside_and_the_next_one_begins_a_line(state: AgentState, notes: Notebook) -> None:
    notes.create("note", 1, name="a")
    with (state.agent_dir.path / notebook.FILE).open("ab") as file:
        file.write(b'{"op":"note","name":"torn","vers')
    again = Notebook(state.agent_dir)
    assert [version.name for version in again.active()] == ["a"]
    again.mutate("a", 2)
    assert [json.loads(line)["version"] for line in lines(state)] == [1, 2]
    assert notes.content(notes.latest("a")) == 2
    again.close()


def test_foreign_lines_are_passed_over(state: AgentState, notes: Notebook) -> None:
    (state.agent_dir.path / notebook.FILE).write_bytes(
        b'nonsense\n[1]\n{"op":"note","name":"../x","version":1,"kind":"k","write_protected":false,'
        b'"unevictable":false,"at":"","content":1}\n{"op":"note","name":"far","version":9,"kind":"k",'
        b'"write_protected":false,"unevictable":false,"at":"","content":1}\n'
    )
    assert notes.active() == []
    assert notes.create("note", 1, name="a").version == 1


def test_a_content_whose_file_is_gone_is_not_there(state: AgentState, notes: Notebook) -> None:
    made = notes.create("note", "x" * 5_000, name="a")
    (state.agent_dir.path / notebook.FOLDER / "a" / "1.json").unlink()
    with pytest.raises(NotFound):
        notes.content(made)
    assert list(notes.texts()) == []
