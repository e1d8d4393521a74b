"""ACTION.md is read as orders; what is wrong with one entry stops that entry and nothing else."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.base.model import Order
from worldfs.formats import action, entry_ids
from worldfs.formats.runtime import sessions

DOCUMENTS = Path(__file__).parent.parent / "fixtures" / "documents"


def document(name):
    return (DOCUMENTS / name).read_bytes()


def sheet(*entries, key="queue", **more):
    return action.read(json.dumps({key: list(entries)}).encode(), **more)


def one(**fields):
    return sheet({"action_id": "a", "action_type": "move_to"} | fields).entries[0]


@pytest.mark.parametrize("name", ["page_action_en.json", "page_action_zh.json", "page_action.yaml"])
def test_the_specification_s_queue_is_read(name):
    read = action.read(document(name))
    assert (read.dialect, read.findings) == ("page", ())
    first, second = read.entries
    assert (first.state, first.word, second.state) == ("terminal", "completed", "pending")
    assert first.order.params == {"target_pose": [0.8, 0.3, 0.5, 0.0, 1.57, 0.0]}
    assert second.order == Order(
        "act_002", "franka_001", "pick_up", {"object_id": "apple_01"}, "2025-04-01T12:00:03Z", sheet="ACTION.md"
    )


def test_q1_is_read():
    read = action.read(document("q1_action.md"))
    assert (read.dialect, read.findings) == ("q1", ())
    done, pending, nameless = read.entries
    assert (done.order.node, done.state, done.id) == ("go2_edu_001", "terminal", "a1b2c3d4e5f6")
    assert pending.order.extra == {"reasoning": "second step"}
    assert (len(nameless.id), nameless.state, nameless.order.op) == (12, "pending", "move_to")
    bare = action.read(document("q1_bare_action.md"), node="go2")
    assert (bare.dialect, bare.entries[0].order.node, bare.entries[0].order.op) == ("q1", "go2", "pick_up")


@pytest.mark.parametrize(
    "data", [b"", b"# ACTION\n\nNothing to do yet.\n", b"{}", b"```json\n{}\n```", b'{"queue": []}']
)
def test_no_entries_is_no_error(data):
    assert action.read(data).entries == ()


@pytest.mark.parametrize(
    "data", [b'{"queue": [{"action_id": ', b'# A\n```json\n{"queue": [{}', b"\xff", b'{"queue": {}}', b'{"queue": "x"}']
)
def test_half_written_and_shapeless_sheets_are_refused_whole(data):
    with pytest.raises(BadInput):
        action.read(data)


def test_a_bad_entry_is_refused_alone():  # W11
    read = sheet(
        {"action_id": "good", "action_type": "move_to"},
        {"action_id": "urgent", "action_type": "move_to", "priority": "urgent"},
        7,
        {"action_id": "odd", "action_type": "move_to", "status": "maybe"},
        {"action_id": "noop", "action_type": "  "},
        {"action_id": "list", "action_type": "x", "params": [1]},
        {"action_id": 12, "action_type": "x"},
        {"action_id": "last", "action_type": " pick_up ", "params": None, "status": "PENDING"},
    )
    assert [entry.id for entry in read.entries if entry.order] == ["good", "last"]
    assert read.entries[-1].order.op == "pick_up"
    assert [finding.field for finding in read.findings] == [
        "ACTION.md /queue/1/priority", "ACTION.md /queue/2", "ACTION.md /queue/3/status",
        "ACTION.md /queue/4/action_type", "ACTION.md /queue/5/params", "ACTION.md /queue/6/action_id",
    ]  # fmt: skip
    assert read.findings[0].expected == "high, normal, medium, low"
    assert (read.findings[0].found, read.findings[0].job) == ("urgent", "urgent")


@pytest.mark.parametrize(
    "id", ["../up", "a/b", "a\\b", ".", "..", ".hidden", "a\nb", "a\x00", " a", "x" * 201, "\ud800"]
)
def test_an_id_that_is_no_name_is_refused(id):
    entry = one(action_id=id)
    assert entry.order is None
    assert entry.finding.code == "SCHEMA_VALIDATION"


@pytest.mark.parametrize("id", ["act_001", "抓取-1", "a b", "v1.2", "x" * 200])
def test_ordinary_ids_are_taken(id):
    assert one(action_id=id).order.id == id


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_refuses_its_entry_and_is_named(text):
    data = '{"queue": [{"action_id": "a", "action_type": "m", "params": {"pose": [0, ?]}}, {"action_type": "n"}]}'
    data = data.replace("?", text)
    first, second = action.read(data.encode()).entries
    assert first.order is None
    assert first.finding.field == "ACTION.md /queue/0/params/pose/1"
    assert second.order.op == "n"


def test_the_same_id_twice_in_one_write_counts_once():
    first, second, third = sheet(
        {"action_id": "a", "action_type": "one"},
        {"action_id": "a", "action_type": "two"},
        {"action_id": "b", "action_type": "x"},
    ).entries
    assert (first.order.op, second.order, third.order.op) == ("one", None, "x")
    assert second.finding.code == "ID_DUPLICATE"


def test_an_entry_without_id_gets_one_from_what_it_orders():
    bare = {"action_type": "move_to", "params": {"x": 1}}
    id = sheet(bare).entries[0].id
    assert id.startswith("act_")
    assert sheet(bare | {"status": "completed", "result": {"message": "m"}, "error": {}}).entries[0].id == id
    assert sheet({"params": {"x": 1.0}, "action_type": "move_to"}).entries[0].id == id
    assert sheet(bare | {"params": {"x": 2}}).entries[0].id != id
    assert not entry_ids.unsafe(id)


def test_whose_action_it_is():
    assert one(robot_id="a").order.node == "a"
    assert one(params={"robot_id": "b"}).order.node == "b"
    assert sheet({"action_type": "m"}, node="c").entries[0].order.node == "c"
    assert one().order.node == ""
    for entry in (one(robot_id="a", params={"robot_id": "b"}),
                  sheet({"action_type": "m", "robot_id": "a"}, node="c").entries[0]):  # fmt: skip
        assert entry.order is None
        assert entry.finding.code == "NODE_MISMATCH"
    assert one(robot_id="../x").order is None


@pytest.mark.parametrize(
    ("word", "state"),
    [(None, "pending"), ("Pending", "pending"), ("RUNNING", "between"), ("claimed", "between"),
     ("completed", "terminal"), ("failed", "terminal"), ("Cancelled", "cancelled"), ("timed_out", "terminal"),
     ("verifying", "between")],
)  # fmt: skip
def test_status_words_of_every_dialect(word, state):
    assert one(status=word).state == state


def test_optional_keys_become_limits_of_the_order():
    order = one(
        priority="High", timeouts={"session": 120, "execute": 30.5, "queue": 10}, depends_on=["x", "y"],
        retry={"max_attempts": 3, "backoff": "exponential"}, created_at="2025-04-01T12:00:00+00:00", why="因为",
    ).order  # fmt: skip
    assert (order.priority, order.timeout_s, order.queue_timeout_s) == ("high", 30.5, 10.0)
    assert (order.attempts, order.backoff, order.depends_on) == (3, "exponential", ("x", "y"))
    assert order.extra == {"why": "因为"}
    assert one(timeouts={"session": 20}).order.timeout_s == 20
    assert one(timeout_s=5).order.timeout_s == 5
    assert one(max_retries=2).order.attempts == 3
    assert one(depends_on="x").order.depends_on == ("x",)


@pytest.mark.parametrize(
    "fields",
    [{"timeouts": {"execute": -1}}, {"timeouts": {"queue": "10"}}, {"timeouts": [1]}, {"timeout_s": True},
     {"retry": {"max_attempts": 0}}, {"retry": {"max_attempts": 1.5}}, {"retry": {"backoff": "quadratic"}},
     {"retry": 3}, {"max_retries": 10**9}, {"depends_on": [1]}, {"depends_on": {"a": 1}}, {"depends_on": ["../x"]},
     {"created_at": 5}, {"priority": 1}, {"status": 3}, {"robot_id": 4}, {"action_type": None}],
)  # fmt: skip
def test_wrong_types_refuse_the_entry(fields):
    entry = one(**fields)
    assert entry.order is None
    assert entry.finding.fix


def test_a_time_that_is_none_warns_and_counts_from_acceptance():
    entry = one(created_at="yesterday")
    assert entry.order.created_at == ""
    assert entry.finding.warning


@pytest.mark.parametrize(("name", "meant"), [("creatd_at", "created_at"), ("action-id", "action_id")])
def test_a_misspelt_field_warns_and_names_the_one_that_is_meant(name, meant):
    entry = one(**{name: "x"})
    assert entry.order is not None and entry.finding.warning
    assert entry.finding.field.endswith(f"/queue/0/{name}") and meant in str(entry.finding.fix)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("parms", "params"), ("paramaters", "parameters"), ("prority", "priority"),
        ("timeout", "timeouts"), ("timeoutS", "timeout_s"), ("timeout_ms", "timeout_s"),
        ("robotid", "robot_id"), ("robotId", "robot_id"), ("robot", "robot_id"), ("node", "robot_id"),
        ("depend_on", "depends_on"), ("dependson", "depends_on"), ("dependsOn", "depends_on"),
        ("DEPENDS_ON", "depends_on"), ("after", "depends_on"), ("dependencies", "depends_on"),
        ("maxRetries", "max_retries"), ("retries", "max_retries"),
    ],
)  # fmt: skip
def test_an_order_whose_restriction_is_misspelt_is_not_carried_out_without_it(name, meant):
    entry = one(**{"creatd_at": "", name: "x"})
    assert entry.order is None and not entry.finding.warning
    assert entry.finding.field.endswith(f"/queue/0/{name}") and meant in str(entry.finding.fix)
    assert one(**{name: "x", "status": "completed"}).state == "terminal"


@pytest.mark.parametrize(
    ("name", "value", "harmless"),
    [
        ("enabled", False, True), ("active", 0, True), ("dry_run", True, False), ("dryRun", "yes", False),
        ("not_before", "2099-01-01T00:00:00Z", None), ("requires_approval", True, False), ("skip", True, False),
        ("if", "the cup is empty", ""), ("max_speed", 0.1, None),
    ],
)  # fmt: skip
def test_what_would_hold_an_order_back_and_is_not_read_refuses_it(name, value, harmless):
    entry = one(**{name: value})
    assert entry.order is None and entry.finding.code == "FIELD_UNREAD"
    assert entry.finding.field.endswith(f"/queue/0/{name}")
    assert one(**{name: harmless}).finding is None
    assert one(**{name: value, "status": "completed"}).finding is None  # it is over


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("object_id", "cube_02", "cube_01"), ("target", "cube_02", "cube_01"), ("position", [1, 2, 3], None),
        ("parameters", {"object_id": "cube_02"}, {"object_id": "cube_01"}), ("type", "place", "pick_up"),
        ("arguments", {"object_id": "cube_02"}, {"object_id": "cube_01"}), ("command", "place", "primitive"),
        ("args", ["cube_02"], []),
    ],
)  # fmt: skip
def test_a_field_beside_an_order_that_says_another_one_refuses_it(name, other, same):
    def beside(value):
        return one(action_type="pick_up", params={"object_id": "cube_01"}, **{name: value})

    entry = beside(other)
    assert entry.order is None and entry.finding.field.endswith(f"/queue/0/{name}")
    assert beside(same).order.params == {"object_id": "cube_01"} and beside(same).finding is None


def test_a_limit_of_time_that_is_misspelt_refuses_its_order():
    entry = one(timeouts={"excute": 1})
    assert entry.order is None and entry.finding.field.endswith("/queue/0/timeouts/excute")
    assert one(timeouts={"execute": 1, "preflight": 2, "skill": 3}).order.timeout_s == 1


TWICE = [
    '{"queue": [%s, {"action_id": "b", "action_type": "home", "params": {"a": 1, "a": 2}}]}',
    '{"queue": [%s, {"action_id": "b", "action_type": "home", "status": "cancelled", "status": "pending"}]}',
    "queue:\n  - %s\n  - {action_id: b, action_type: home, params: {list: [{x: 1, x: 2}]}}\n",
    "```yaml\nqueue:\n  - %s\n  - action_id: b\n    action_type: home\n    action_type: wave\n```\n",
]


@pytest.mark.parametrize("text", TWICE)
def test_a_key_that_is_written_twice_refuses_its_entry_alone(text):
    good, bad = action.read((text % '{"action_id": "a", "action_type": "home"}').encode()).entries
    assert good.order is not None and good.finding is None
    assert bad.order is None and "written twice" in str(bad.finding.found)
    text = '{"sessions": [{"session_id": "s", "target_ref": "a", "target_ref": "b", "skill_ref": "c"}]}'
    (session,) = sessions.read(text.encode()).entries
    assert session.order is None and session.finding.field.endswith("/sessions/0/target_ref")


@pytest.mark.parametrize(
    "text", ['{"queue": [], "actions": []}', '{"queue": [], "queue": []}', "queue: []\nqueue: []\n"]
)
def test_of_two_lists_of_entries_none_is_taken(text):
    with pytest.raises(BadInput, match="two lists of entries"):
        action.read(text.encode())
    with pytest.raises(BadInput, match="two lists of entries"):
        sessions.read(b'{"sessions": [], "sessions": []}')


def test_another_program_s_own_field_is_kept_without_a_word():
    entry = one(mission="m-1", comment="for Ada")
    assert entry.finding is None and entry.order.extra == {"mission": "m-1", "comment": "for Ada"}


def test_a_known_id_with_another_order_can_be_told():
    order = one(params={"x": 1, "y": [1.0]}).order
    assert action.entry_digest(order) == action.entry_digest(one(params={"y": [1], "x": 1.0}).order)
    assert action.entry_digest(order) == action.entry_digest(one(params={"x": 1, "y": [1]}, status="completed").order)
    for other in ({"params": {"x": 2, "y": [1]}}, {"params": {"x": 1, "y": [1]}, "action_type": "place"},
                  {"params": {"x": True, "y": [1]}}, {"params": {"x": "1", "y": [1]}}):  # fmt: skip
        assert action.entry_digest(order) != action.entry_digest(one(**other).order)


def test_too_many_entries_are_refused_whole():
    data = b'{"queue": [' + b"{}," * action.MAX_ENTRIES + b"{}]}"
    with pytest.raises(BadInput, match="100,001 entries"):
        action.read(data)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["pending", "high"]),
    lambda v: (
        st.lists(v, max_size=3) | st.dictionaries(st.sampled_from(["robot_id", "queue", "execute", "backoff"]), v)
    ),
    max_leaves=6,
)
keys = ["action_id", "id", "action_type", "params", "parameters", "status", "robot_id", "created_at", "priority",
        "timeouts", "timeout_s", "retry", "max_retries", "depends_on", "result", "error", "x"]  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from(keys), anything, max_size=6) | anything, max_size=4))
@settings(max_examples=40, deadline=None)
def test_no_entry_crashes_the_reader_and_every_order_can_be_stored(entries):
    for key in ("queue", "actions"):
        read = action.read(json.dumps({key: entries}).encode())
        assert len(read.entries) == len(entries)
        for entry in read.entries:
            assert entry.order or entry.finding
            if entry.order:
                json.dumps(entry.order.params, allow_nan=False)
                json.dumps(entry.order.extra, allow_nan=False)
                assert not entry_ids.unsafe(entry.id)
                assert action.entry_digest(entry.order)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# ACTION\n\npick up the apple, please\n", "pick up the apple, please"),
        ("Please wave.", "Please wave."),
        ('{"tasks": [{"action_type": 1}]}', "`tasks`"),
        ('# A\n\n```json\n{"steps": []}\n```\n', "`steps`"),
    ],
)
@pytest.mark.parametrize("reader", [action.read, sessions.read])
def test_a_text_that_is_no_queue_is_named(text, found, reader):
    (named,) = reader(text.encode()).findings
    assert named.warning and found in named.found and ("queue" in named.expected or "sessions" in named.expected)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# ACTION\n", "# A\n\n```json\n{}\n```\n", "{}", "\ufeff# ACTION\n<!-- none\nyet -->\n---\n"]
)
@pytest.mark.parametrize("reader", [action.read, sessions.read])
def test_an_empty_sheet_is_named_by_nobody(text, reader):
    assert reader(text.encode()).findings == ()
