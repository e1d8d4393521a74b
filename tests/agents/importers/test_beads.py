"""Beads' issues.jsonl."""

import json

import pytest


def by_id(found):
    return {item.value.id: item.value for item in found.tasks}


@pytest.fixture
def found(read, legacy):
    (imported,) = read("beads", legacy / "beads")
    return imported


def test_states_and_priorities(found):
    assert {id: (task.status, task.priority) for id, task in by_id(found).items()} == {
        "bd-a1b2": ("pending", "high"),
        "bd-c3d4": ("active", "high"),
        "bd-e5f6": ("pending", "medium"),
        "bd-g7h8": ("completed", "low"),
        "bd-i9j0": ("pending", "low"),
    }


def test_texts_ties_and_ends_are_kept(found):
    tasks = by_id(found)
    bug = tasks["bd-a1b2"]
    assert bug.context == (
        "The third pool is read as the first.\n\nDesign: Index by address.\n\n"
        "Acceptance: All three pools in the test.\n\nNotes: Seen twice.\n\nleo: Also in pool 2."
    )
    assert bug.follow_up_from == "bd-e5f6"
    assert bug.extra == {
        "depends_on": ["bd-c3d4"], "labels": ["fees", "urgent"], "assignee": "rio", "kind": "bug", "rank": 0,
    }  # fmt: skip
    assert tasks["bd-g7h8"].outcome == "written in PR 12" and tasks["bd-g7h8"].completed_at == "2026-01-20T08:00:00Z"
    assert tasks["bd-e5f6"].extra == {"estimated_minutes": 90, "kind": "epic", "status_word": "blocked"}
    assert tasks["bd-i9j0"].follow_up_from == "bd-a1b2"
    assert tasks["bd-i9j0"].extra["related"] == [{"id": "bd-c3d4", "type": "related"}]


def test_what_was_deleted_there_is_named_and_a_memory_is_a_note(found):
    assert [(left.found, left.intended) for left in found.skipped] == [("deleted at the source: Thrown away", True)]
    assert [item.value.text for item in found.remarks] == ["**pool-order**: Pools are listed by age, not by size."]


def issue(**more):
    return {
        "id": "x-1", "title": "t", "status": "open", "priority": 2, "issue_type": "task",
        "created_at": "2026-01-01T00:00:00Z", **more,
    }  # fmt: skip


def write(*values):
    return "".join((value if isinstance(value, str) else json.dumps(value)) + "\n" for value in values)


def test_66_issues_all_come(read, build):
    issues = [issue(id=f"x-{n}", status=("open", "closed")[n % 2]) for n in range(66)]
    (found,) = read("beads", build({".beads/issues.jsonl": write(*issues)}))
    assert len(found.tasks) == 66


def test_the_later_of_two_lines_of_one_issue_counts(read, build):
    (found,) = read(
        "beads", build({".beads/issues.jsonl": write(issue(title="old"), issue(title="new", status="closed"))})
    )
    assert [(item.value.description, item.value.status) for item in found.tasks] == [("new", "completed")]
    assert sum(found.ignored.values()) == 1


def test_broken_lines_odd_priorities_and_odd_ids_are_named_or_renamed(read, build):
    lines = write(
        issue(priority=9), issue(id="../../etc", title="path"), issue(id="x-2", metadata={"deep": ["v"] * 3}),
        '<<<<<<< HEAD', issue(id=""), issue(id="x-3", priority=None, dependencies=["x-2", 7, {"depends_on_id": "x-3"}]),
    )  # fmt: skip
    (found,) = read("beads", build({".beads/issues.jsonl": lines}))
    tasks = by_id(found)
    assert {id for id in tasks if not id.startswith("bd-")} == {"x-1", "x-2", "x-3"} and len(tasks) == 4
    assert tasks["x-2"].extra == {"metadata": {"deep": ["v", "v", "v"]}}
    assert tasks["x-3"].extra == {"depends_on": ["x-2"]}
    wheres = [left.location.rpartition("jsonl:")[2] for left in found.skipped]
    assert wheres == ["4", "5", "1/priority", "6/priority"]


def test_the_older_file_name_counts_only_where_the_newer_is_missing(read, build):
    old, new = write(issue(title="old")), write(issue(title="new"))
    (found,) = read("beads", build({".beads/beads.jsonl": old, ".beads/issues.jsonl": new}))
    assert [item.value.description for item in found.tasks] == ["new"]
    (found,) = read("beads", build({".beads/beads.jsonl": old}, "older"))
    assert [item.value.description for item in found.tasks] == ["old"]


def test_two_repositories_with_the_same_id_have_two_keys(read, build):
    (one,) = read("beads", build({".beads/issues.jsonl": write(issue())}))
    (two,) = read("beads", build({".beads/issues.jsonl": write(issue(created_at="2026-02-02T00:00:00Z"))}, "b"))
    assert one.tasks[0].key != two.tasks[0].key
