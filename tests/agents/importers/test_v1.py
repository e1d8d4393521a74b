"""An agent-state root of version 1, read thing by thing."""

import os

import pytest

from worldfs.plugins.importers import plan


@pytest.fixture
def found(read, legacy):
    (imported,) = read("agent-state", legacy / "agent-state")
    return imported


def test_everything_in_it_is_found(found):
    assert found.agent == "rio"
    assert [item.value.id for item in found.tasks] == ["task-001"]
    assert [item.value.section for item in found.remarks] == [
        "patterns", "patterns", "dead_ends", "dead_ends", "questions", "questions", "corrections", "flags", "flags",
    ]  # fmt: skip
    assert [item.value.id for item in found.messages] == ["msg-abc123"]
    assert found.baseline[0].value["lifetime"]["sessions_total"] == 47
    assert not found.skipped


def test_its_lines_have_names_of_their_own_because_its_metrics_have_counted_them(found):
    assert [(item.value["ts"], item.value["event"]) for item in found.taken] == [
        ("2026-03-31T22:00:00Z", "v1_report"),
        ("2026-03-31T22:00:00Z", "v1_session"),
        ("2026-03-31T20:30:00Z", "v1_session_start"),
        ("2026-03-31T20:35:00Z", "v1_orient_complete"),
        ("2026-03-31T21:30:00Z", "v1_sources_archived"),
        ("2026-03-31T22:00:00Z", "v1_session_end"),
    ]
    assert found.taken[-1].value["handoff"] == "conditional AMM failures need extraction"
    assert found.taken[1].value["session"]["session_id"] == "20260331-220000"


def test_the_same_line_twice_is_two_events(read, build):
    beat = '{"ts":"2026-01-01T00:00:00Z","event":"beat"}\n'
    (found,) = read("agent-state", build({"rio/journal.jsonl": beat * 3, "rio/memory.md": "# Rio\n"}))
    assert len({item.key for item in found.taken}) == 3


def test_broken_files_are_named_and_the_others_come(read, build, tmp_path):
    place = build(
        {
            "rio/tasks.json": '{"agent": "rio", "tasks": [{"id"',
            "rio/memory.md": "# Rio\n\n## Open Questions\n- why?\n",
            "rio/report.json": "[]",
            "rio/journal.jsonl": '{"ts":"2026-01-01T00:00:00Z","event":"a"}\n'
            '{"no":"event"}\n{torn\n{"ts":1,"event":"b"}\n',
            "rio/inbox/x.json": '{"id": "m1", "sub',
            "not an agent/tasks.json": "{}",
        }
    )
    (tmp_path / "secret.json").write_text('{"id":"s"}')
    os.symlink(tmp_path / "secret.json", place / "rio" / "inbox" / "y.json")
    (found,) = read("agent-state", place)
    assert [item.value.text for item in found.remarks] == ["why?"]
    assert [item.value["event"] for item in found.taken] == ["v1_a", "v1_b"]
    assert [left.location.partition("#")[0] for left in found.skipped] == [
        "rio/report.json",
        "rio/tasks.json",
        "rio/inbox/x.json",
        "rio/inbox/y.json",
        "rio/journal.jsonl:2",
        "rio/journal.jsonl:3",
    ]
    assert "symbolic link" in found.skipped[3].found


def test_another_agents_directory_is_not_taken(legacy):
    made = plan(legacy / "agent-state", "clay")
    assert not made.found and made.others == {"rio": 1}
    assert "for rio: 1 thing not taken; import for rio takes them" in made.words()


def test_the_directory_itself_may_be_named(legacy):
    made = plan(legacy / "agent-state" / "rio", "rio", importers=["agent-state"])
    assert [found.source.agent for found in made.found] == ["rio"]
