"""Claude Code's team inboxes: one array of letters an agent."""


def test_unread_letters_are_letters_and_the_rest_is_history(read, legacy):
    found = {imported.agent: imported for imported in read("claude-inbox", legacy / "home")}
    assert set(found) == {"rio", "docs"}
    letters = [item.value for item in found["rio"].messages]
    assert [(letter.sender, letter.type, letter.subject) for letter in letters] == [
        ("team-lead", "flag", "Fee model of pool 3"),
        ("team-lead", "task", "Check the fee model"),
        ("docs", "question", "第三个池子"),
    ]
    assert letters[1].body == "Compare pool 3 with the paper." and letters[1].extra["task_id"] == "2"
    assert letters[0].created_at == "2026-02-07T15:35:15Z"
    assert [item.value for item in found["rio"].taken] == [
        {
            "ts": "2026-02-07T15:36:00Z", "event": "message_read", "from": "team-lead", "text": "Stand by.",
            "team": "claims",
        },
        {
            "ts": "2026-02-07T15:20:49Z", "event": "team_signal", "from": "docs", "signal": "idle_notification",
            "reason": "available", "team": "claims",
        },
    ]  # fmt: skip


def test_the_same_words_sent_twice_are_two_letters_and_reading_one_does_not_rename_the_other(read, build):
    path = ".claude/teams/t/inboxes/rio.json"
    twice = [{"from": "a", "text": "go", "timestamp": "2026-01-01T00:00:00Z", "read": False}] * 2
    (found,) = read("claude-inbox", build({path: twice}))
    keys = [item.key for item in found.messages]
    assert len(set(keys)) == 2
    (later,) = read("claude-inbox", build({path: [{**twice[0], "read": True}, twice[1]]}, "later"))
    assert [item.key for item in later.messages] == keys[1:] and later.taken[0].key == keys[0]


def test_what_is_no_message_is_named_by_its_pointer_and_half_a_file_by_its_line(read, build):
    path = ".claude/teams/t/inboxes/rio.json"
    mixed = [
        {"from": "a", "text": 7},
        "x",
        {"from": "a b c!", "text": "y"},
        {"from": "a", "text": "{broken json", "read": False},
    ]
    (found,) = read("claude-inbox", build({path: mixed}))
    assert [left.location for left in found.skipped] == [f"{path}#/0", f"{path}#/1", f"{path}#/2"]
    assert [item.value.body for item in found.messages] == ["{broken json"]
    (found,) = read("claude-inbox", build({path: '[{"from":"a","text":"go"},\n{"from"'}, "half"))
    assert not found.messages and "line 2" in found.skipped[0].found and found.skipped[0].data.startswith(b"[{")


def test_a_thousand_letters_all_come(read, build):
    many = [
        {"from": "a", "text": f"letter {n} " + "x" * 1000, "timestamp": 1770480000000 + n, "read": False}
        for n in range(1500)
    ]
    (found,) = read("claude-inbox", build({".claude/teams/t/inboxes/rio.json": many}))
    assert len(found.messages) == len({item.value.id for item in found.messages}) == 1500
