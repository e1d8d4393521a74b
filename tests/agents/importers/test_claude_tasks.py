"""Claude Code's tasks and todos."""


def test_tasks_keep_their_numbers_owners_and_what_they_wait_for(read, legacy):
    tasks, todos = read("claude-tasks", legacy / "home")
    assert {item.value.id: (item.value.status, item.to, item.value.extra) for item in tasks.tasks} == {
        "cc-3b22f6a2-1": ("completed", None, {}),
        "cc-3b22f6a2-2": ("active", "rio", {"depends_on": ["cc-3b22f6a2-1"], "owner": "rio"}),
        "cc-3b22f6a2-4": ("pending", "docs", {"depends_on": ["cc-3b22f6a2-2"], "owner": "docs"}),
    }
    assert tasks.ignored == {"teammate trackers": 1}
    assert [(left.found, left.intended) for left in tasks.skipped] == [("deleted at the source: Old idea", True)]
    assert [(item.value.description, item.value.status, item.value.priority) for item in todos.tasks] == [
        ("Read the fee paper", "completed", "medium"),
        ("Archive the thread", "pending", "high"),
    ]


def test_the_consolidated_form_and_numbers_as_ids_are_read(read, build):
    listed = {"tasks": [{"id": 1, "title": "a", "status": "in_progress", "dependencies": [2]}, {"id": 2, "title": "b"}]}
    (found,) = read("claude-tasks", build({".claude/tasks/team/tasks.json": listed}))
    assert [(item.value.id, item.value.status, item.value.extra) for item in found.tasks] == [
        ("cc-team-1", "active", {"depends_on": ["cc-team-2"]}),
        ("cc-team-2", "pending", {}),
    ]


def test_ten_comes_after_nine(read, build):
    files = {f".claude/tasks/t/{n}.json": {"id": str(n), "subject": f"s{n}", "status": "pending"} for n in range(1, 12)}
    (found,) = read("claude-tasks", build(files))
    assert [item.value.description for item in found.tasks] == [f"s{n}" for n in range(1, 12)]


def test_broken_files_are_named_and_words_of_their_own_kept(read, build):
    files = {
        ".claude/tasks/t/1.json": '{"id": "1", "subject":',
        ".claude/tasks/t/2.json": {"id": "2", "subject": "  "},
        ".claude/tasks/t/3.json": {
            "id": "3",
            "subject": "ok",
            "status": "paused",
            "note": "hm",
            "type": "odd",
            "big": "x" * 9000,
        },
        ".claude/tasks/t/4.json": '"text"',
    }
    (found,) = read("claude-tasks", build(files))
    (item,) = found.tasks
    assert item.value.status == "pending"
    assert item.value.extra == {"note": "hm", "type": "odd", "status_word": "paused"}
    assert [left.location for left in found.skipped] == [
        ".claude/tasks/t/1.json",
        ".claude/tasks/t/2.json",
        ".claude/tasks/t/3.json/big",
        ".claude/tasks/t/4.json",
    ]
