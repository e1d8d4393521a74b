"""ops/queue.md: a table of people, in whatever columns and words they like."""


def tasks(found):
    return {item.value.description: item for item in found.tasks}


def test_the_board_of_the_collective(read, legacy):
    (found,) = read("ops-queue", legacy / "collective")
    rows = tasks(found)
    assert {
        name: (item.to, item.value.status, item.value.priority, item.value.type) for name, item in rows.items()
    } == {
        "Rename `ai-alignment` domain → `ai-systems`": (None, "pending", "high", "follow-up"),
        "24 claims with inflated confidence levels": ("theseus", "active", "high", "evaluate"),
        "Futarchy low-liquidity evidence": ("rio", "active", "medium", "research"),
        "16 processed sources missing domain field": (None, "pending", "low", "follow-up"),
        "Update `skills/evaluate.md`": ("leo", "completed", "high", "follow-up"),
    }
    audit = rows["24 claims with inflated confidence levels"]
    assert audit.value.context == "List in `maps/toolkit.md` | audit section." and audit.location == "ops/queue.md:15"
    assert audit.value.extra == {"kind": "audit"} and not found.skipped


def test_a_chinese_board_with_its_own_columns_and_order(read, legacy):
    (found,) = read("ops-queue", legacy / "collective-zh")
    assert {item.value.id: (item.to, item.value.status, item.value.priority) for item in found.tasks} == {
        "Q-7": ("rio", "active", "high"),
        "Q-8": (None, "pending", "low"),
        "Q-3": (None, "completed", "medium"),
    }
    done = next(item.value for item in found.tasks if item.value.id == "Q-3")
    assert done.outcome == "PR #171 2026-03-04" and done.completed_at == "2026-03-04T00:00:00Z"


def test_other_tables_and_empty_rows_are_named_and_the_rest_goes_on(read, build):
    board = (
        "| Name | Age |\n|---|---|\n| Bo | 3 |\n\n"
        "| Task | Owner | Due |\n|--|--|--|\n| one | Bo, Al | Friday |\n|  | x | y |\n| – | | |\n| one | | |\n"
        "```\n| Task | Owner |\n|--|--|\n| not a task | x |\n```\n"
    )
    (found,) = read("ops-queue", build({"ops/queue.md": board}))
    assert [(item.value.description, item.to, item.value.extra) for item in found.tasks] == [
        ("one", "bo", {"Due": "Friday"}),
        ("one", "al", {"Due": "Friday"}),
    ]
    assert [(left.location, left.intended) for left in found.skipped] == [
        ("ops/queue.md:1", False),
        ("ops/queue.md:8", False),
        ("ops/queue.md:10", True),
    ]
    assert "Name, Age" in found.skipped[0].found and b"| Bo | 3 |" in found.skipped[0].data


def test_a_board_without_a_table_and_one_that_is_no_text_are_named(read, build):
    (found,) = read("ops-queue", build({"ops/queue.md": "# Queue\n\n- just a list\n"}))
    assert found.skipped[0].found == "no table" and b"just a list" in found.skipped[0].data
    (found,) = read("ops-queue", build({"ops/queue.md": b"| Task | Owner |\n|-|-|\n| caf\xe9 | x |\n"}, "latin"))
    assert "0xe9 in line 3" in found.skipped[0].found


def test_a_row_keeps_its_key_when_only_its_state_changes(read, build):
    head = "| Item | Type | Priority | Claimed | Notes |\n|-|-|-|-|-|\n"
    (one,) = read("ops-queue", build({"ops/queue.md": head + "| Do  it | fix | low | — | a |\n"}))
    (two,) = read("ops-queue", build({"ops/queue.md": head + "| do it | fix | high | Rio | b |\n"}, "later"))
    assert one.tasks[0].key == two.tasks[0].key and one.tasks[0].value != two.tasks[0].value


def test_a_board_that_is_named_by_itself_is_read_wherever_it_lies(read, build):
    place = build({"todo.md": "# x\n\n| Task | Status |\n|-|-|\n| a | ✅ |\n| b | 进行中 |\n| c | [x] |\n"})
    (found,) = read("ops-queue", place / "todo.md")
    assert [(item.value.description, item.value.status) for item in found.tasks] == [
        ("a", "completed"),
        ("b", "active"),
        ("c", "completed"),
    ]
