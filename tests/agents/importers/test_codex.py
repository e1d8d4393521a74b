"""Codex' rollouts: one pass, both eras, nothing twice."""

import json

import pytest

SID = "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5"
DAY = ".codex/sessions/2026/03/05"
FILE = f"{DAY}/rollout-2026-03-05T19-00-00-{SID}.jsonl"


def row(second, kind, payload):
    stamp = f"2026-03-05T19:{second // 60:02d}:{second % 60:02d}.000Z"
    return json.dumps({"timestamp": stamp, "type": kind, "payload": payload}, separators=(",", ":"), ensure_ascii=False)


def meta(id=SID, second=0, **more):
    return row(second, "session_meta", {"id": id, "timestamp": "2026-03-05T19:00:00Z", "cwd": "/x", **more})


def said(second, text, role="user"):
    return row(second, "event_msg", {"type": "user_message" if role == "user" else "agent_message", "message": text})


def told(second, text, role="user"):
    part = {"type": "input_text" if role == "user" else "output_text", "text": text}
    return row(second, "response_item", {"type": "message", "role": role, "content": [part]})


def lines(*rows):
    return "".join(each + "\n" for each in rows)


def words(found):
    return [
        (item.value["event"].removeprefix("codex_"), item.value.get("text", item.value.get("tool", "")))
        for item in found.taken
    ]


def test_both_eras_of_the_format(read, legacy):
    (found,) = read("codex", legacy / "home")
    assert words(found) == [
        ("session", ""),
        ("message", "list the pools"),
        ("call", "shell"),
        ("message", "There are three."),
        ("session", ""),
        ("message", "what is the fee of pool 3?"),
        ("call", "shell"),
        ("message", "0.3 %, as the paper says."),
        ("turn_end", ""),
        ("message", "和论文一致吗？"),
        ("turn_end", ""),
    ]
    ends = [item.value for item in found.taken if item.value["event"] == "codex_turn_end"]
    assert [(end["outcome"], end["tokens_used"], end.get("reason")) for end in ends] == [
        ("completed", 2953, None),
        ("error", 2953, "interrupted"),
    ]
    assert {item.value["session_id"] for item in found.taken} == {SID, "c3c4b301-27c8-4c70-b6e4-46b99fdf0236"}
    assert found.taken[1].value["ts"] == "2025-08-20T10:00:00Z"  # the bare era has one time a session
    assert found.ignored["tool results"] == 2 and not found.skipped


def test_each_reading_gives_the_same(read, legacy):
    (found,) = read("codex", legacy / "home")
    assert list(found.entries()) == found.taken and found.ignored["tool results"] == 2


def test_a_torn_last_line_waits_and_what_grew_has_its_own_key(read, build):
    whole = lines(meta(), said(1, "one"))
    (torn,) = read("codex", build({FILE: whole + said(2, "two")[:40]}))
    assert words(torn) == [("session", ""), ("message", "one")] and "breaks off" in torn.skipped[0].found
    (grown,) = read("codex", build({FILE: whole + lines(said(2, "two"))}, "grown"))
    assert [item.key for item in grown.taken[:2]] == [item.key for item in torn.taken] and words(grown)[2][1] == "two"


def test_a_torn_line_that_was_written_on_loses_only_itself(read, build):
    text = lines(meta(), said(1, "one")) + said(2, "two")[:50] + lines(said(3, "three"), said(4, "four"))
    (found,) = read("codex", build({FILE: text}))
    assert [text for _, text in words(found)] == ["", "one", "three", "four"]
    (left,) = found.skipped
    assert left.location == f"{FILE}:3" and left.data == said(2, "two")[:50].encode()


def test_a_second_copy_of_the_history_brings_nothing_twice(read, build):
    """What a resumed session wrote after a torn line: the whole history again, with new times."""
    story = [meta(), said(1, "go"), said(2, "yes"), said(3, "go", "assistant"), said(4, "yes")]
    again = [
        meta(second=60),
        said(61, "go"),
        said(62, "yes"),
        said(63, "go", "assistant"),
        said(64, "yes"),
        said(65, "new"),
    ]
    (found,) = read(
        "codex", build({FILE: lines(*story) + said(5, "torn")[:30] + "\n" + lines(*again, said(70, "yes"))})
    )
    assert [text for _, text in words(found)] == ["", "go", "yes", "go", "yes", "new", "yes"]
    assert found.ignored["repeated lines"] == 4


def test_a_fork_brings_only_its_own(read, build):
    fork = f"{DAY}/rollout-2026-03-05T20-00-00-019a2d7a-0000-0000-0000-000000000000.jsonl"
    mother = lines(meta(), said(1, "a"), told(1, "b", "assistant"))
    child = lines(
        meta("fork", 100, forked_from_id=SID),
        meta(second=100),
        said(101, "a"),
        told(101, "b", "assistant"),
        said(102, "c"),
    )
    (found,) = read("codex", build({FILE: mother, fork: child}))
    assert [(item.value["session_id"], item.value.get("text")) for item in found.taken] == [
        (SID, None), (SID, "a"), (SID, "b"), ("fork", None), ("fork", "c"),
    ]  # fmt: skip


def test_an_archived_copy_of_a_rollout_has_the_same_keys(read, build):
    text = lines(meta(), said(1, "a"))
    archived = f".codex/archived_sessions/rollout-2026-03-05T19-00-00-{SID}.jsonl"
    (found,) = read("codex", build({FILE: text, archived: text}))
    assert len({item.key for item in found.taken}) == 2


def test_a_message_that_stands_there_in_two_forms_comes_once_and_one_that_is_said_twice_comes_twice(read, build):
    text = lines(meta(), told(1, "hi"), said(1, "hi"), said(2, "hi"), told(2, "hi"), told(3, "ok", "assistant"))
    (found,) = read("codex", build({FILE: text}))
    assert [text for _, text in words(found)] == ["", "hi", "hi", "ok"]


def test_an_unknown_kind_is_counted_and_shown_once(read, build):
    odd = [row(n, "event_msg", {"type": "quantum_leap", "n": n}) for n in range(50)]
    (found,) = read("codex", build({FILE: lines(meta(), *odd, row(60, "telemetry", {"x": 1}), said(61, "x"))}))
    assert [left.location for left in found.skipped] == [f"{FILE}:2", f"{FILE}:52"]
    assert found.ignored["lines of the unknown kind quantum_leap"] == 50 and words(found)[-1][1] == "x"


def test_long_texts_are_cut_and_say_by_how_much(read, build):
    call = row(2, "response_item", {"type": "function_call", "name": "apply", "arguments": "y" * 5000, "call_id": "c"})
    (found,) = read("codex", build({FILE: lines(meta(), said(1, "x" * 10_000), call)}))
    message, made = found.taken[1].value, found.taken[2].value
    assert len(message["text"]) == 8000 and message["cut"] == 2000 and len(made["input"]) == 500


@pytest.mark.parametrize(
    "broken", [b"\x00" * 50, b'{"timestamp":"2026', b"\xff\xfe\xfd", b"[]", b'{"type":"response_item","payload":7}']
)
def test_broken_lines_in_the_middle_are_named(read, build, broken):
    text = lines(meta()).encode() + broken + b"\n" + lines(said(1, "after")).encode()
    (found,) = read("codex", build({FILE: text}))
    assert words(found)[-1] == ("message", "after")
    assert [left.location for left in found.skipped] == [f"{FILE}:2"]


def test_a_compressed_rollout_is_named_with_the_command_that_unpacks_it(read, build):
    (found,) = read("codex", build({FILE + ".zst": b"(\xb5/\xfd"}))
    assert not found.taken and "zstd -dk" in found.skipped[0].fix


def test_calls_patches_errors_and_compactions_are_taken(read, build):
    rows = [
        row(
            1,
            "response_item",
            {"type": "local_shell_call", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
        ),
        row(
            2,
            "response_item",
            {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c"},
        ),
        row(3, "event_msg", {"type": "patch_apply_end", "call_id": "c", "success": True, "changes": {"a.py": {}}}),
        row(4, "event_msg", {"type": "error", "message": "stream closed"}),
        row(5, "compacted", {"message": "what was said"}),
        row(6, "event_msg", {"type": "thread_rolled_back", "num_turns": 2}),
    ]
    (found,) = read("codex", build({FILE: lines(meta(), *rows)}))
    made = [{k: v for k, v in item.value.items() if k not in ("ts", "session_id")} for item in found.taken[1:]]
    assert made == [
        {"event": "codex_call", "tool": "local_shell_call", "input": '{"type": "exec", "command": ["ls"]}'},
        {"event": "codex_call", "tool": "apply_patch", "input": "*** Begin"},
        {"event": "codex_patch", "success": True, "files": ["a.py"]},
        {"event": "codex_error", "message": "stream closed"},
        {"event": "codex_compacted", "text": "what was said"},
        {"event": "codex_rolled_back", "turns": 2},
    ]
