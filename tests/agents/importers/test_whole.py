"""A whole agent taken over and written out again, byte for byte."""

import json
import os

import pytest

from worldfs.agents.agent_state import AgentState
from worldfs.base.errors import BadInput, Exists
from worldfs.plugins.importers import adopt, export, plan, run_import
from worldfs.plugins.importers.importer_registry import load


def files_of(root):
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".paos" not in path.parts
    }


def source_of(place):
    (source,) = load().importers["agent-state"].finds(place)
    return source


@pytest.fixture
def taken(legacy, tmp_path, clock):
    """The specification's own example, taken over and opened."""
    adopt(source_of(legacy / "agent-state"), tmp_path / "agents")
    with AgentState.open("rio", tmp_path / "agents", clock=clock) as state:
        yield state


def test_the_examples_of_the_specification_go_in_and_out_byte_for_byte(taken, legacy, tmp_path):
    made = export(taken, tmp_path / "out")
    assert files_of(tmp_path / "out") == files_of(legacy / "agent-state" / "rio")
    assert sorted(made) == sorted(files_of(tmp_path / "out"))


def test_opening_reading_and_looking_for_foreign_edits_change_no_byte(taken, legacy, tmp_path):
    assert taken.report().last_session.pr_number == 247 and taken.tasks()[0].id == "task-001"
    assert taken.metrics().lifetime["sessions_total"] == 47 and len(taken.memory().remarks) == 9
    assert [letter.message.id for letter in taken.inbox.waiting()] == ["msg-abc123"]
    assert taken.reconcile() == ()
    export(taken, tmp_path / "out")
    assert files_of(tmp_path / "out") == files_of(legacy / "agent-state" / "rio")


def test_rewriting_a_document_as_it_is_gives_the_same_bytes(taken, legacy):
    from worldfs.formats.agent import documents

    files = files_of(legacy / "agent-state" / "rio")
    for kind in ("report", "tasks", "session", "metrics"):
        data = files[f"{kind}.json"]
        noun = getattr(documents, f"{kind}_read")(data)
        assert getattr(documents, f"{kind}_write")(noun, data) == data
        assert getattr(documents, f"{kind}_write")(noun) == data  # and laid out anew as the specification has it


def test_life_goes_on_from_there(taken, tmp_path):
    taken.start(type="research")
    taken.finish("completed", sources_archived=3)
    assert taken.metrics().lifetime["sessions_total"] == 48 and taken.metrics().lifetime["sources_archived"] == 315
    export(taken, tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()]
    assert [line.get("seq") for line in lines][:4] == [None] * 4
    assert [line["event"] for line in lines[4:]][:1] == ["session_start"] and lines[-1]["seq"] == len(lines) - 4


def test_what_was_exported_can_be_taken_over_and_counts_nothing_twice(taken, tmp_path, clock):
    taken.start(type="research")
    taken.finish("completed", sources_archived=3)
    export(taken, tmp_path / "out" / "rio")
    adopt(source_of(tmp_path / "out"), tmp_path / "again")
    with AgentState.open("rio", tmp_path / "again", clock=clock) as state:
        state.start(type="research")
        state.finish("completed", sources_archived=1)
        assert state.metrics().lifetime["sessions_total"] == 49 and state.metrics().lifetime["sources_archived"] == 316


def test_a_journal_in_segments_is_one_file_again(taken, tmp_path):
    taken.event("one")
    taken.journal.seal()
    taken.event("two")
    export(taken, tmp_path / "out")
    events = [json.loads(line)["event"] for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()]
    assert events[3:] == ["session_end", "one", "journal_rotated", "two"]


def test_an_agent_that_is_there_is_never_written_over(taken, legacy, tmp_path):
    before = files_of(tmp_path / "agents")
    with pytest.raises(Exists) as caught:
        adopt(source_of(legacy / "agent-state"), tmp_path / "agents")
    assert "import into it" in caught.value.fix and files_of(tmp_path / "agents") == before
    with pytest.raises(Exists):
        export(taken, tmp_path / "agents")


def test_another_name_may_be_given_and_must_be_one(legacy, tmp_path):
    adopt(source_of(legacy / "agent-state"), tmp_path / "agents", "rio2")
    assert (tmp_path / "agents/rio2/tasks.json").exists()
    with pytest.raises(BadInput):
        adopt(source_of(legacy / "agent-state"), tmp_path / "agents", "../etc")


def test_it_appears_whole_or_not_at_all(build, tmp_path):
    place = build({"rio/tasks.json": "{}", "rio/memory.md": "# Rio\n", "rio/inbox/a.json": "{}"})
    os.symlink("/etc/passwd", place / "rio" / "report.json")
    with pytest.raises(Exception, match="symbolic link"):
        adopt(source_of(place), tmp_path / "agents")
    assert not (tmp_path / "agents/rio").exists()
    (place / "rio" / "report.json").unlink()
    adopt(source_of(place), tmp_path / "agents")  # over what the first attempt left
    assert set(files_of(tmp_path / "agents/rio")) == {"tasks.json", "memory.md", "inbox/a.json"}


def test_into_an_agent_that_is_there_a_root_comes_thing_by_thing_and_once(agent, legacy):
    agent.add_task("mine", id="task-001")
    for _ in range(2):
        report = run_import(plan(legacy / "agent-state", "rio"), agent)
    assert not report.anything
    ids = [task.id for task in agent.tasks()]
    assert ids[0] == "task-001" and len(ids) == 2 and ids[1].startswith("task-001-")
    assert len(agent.memory().remarks) == 9
    assert [letter.message.id for letter in agent.inbox.waiting()] == ["msg-abc123"]
    assert [entry["event"] for _, entry in agent.journal.lines()][-2:] == ["v1_session_end", "metrics_imported"]
    assert agent.metrics().lifetime["sessions_total"] == 47  # as its own keeper counted them, and not once more


def test_its_own_directory_is_not_brought_into_an_agent(agent, tmp_path):
    agent.add_task("mine")
    report = run_import(plan(tmp_path / "agents", "rio"), agent)
    assert not report.anything and "its own directory" in report.words()[1] and len(agent.tasks()) == 1
