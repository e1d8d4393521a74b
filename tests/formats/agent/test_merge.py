"""Two copies of tasks.json or memory.md made one: nothing of ours is lost, a stale rewrite undoes nothing."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldfs.formats.agent import documents, memory, merge_tasks
from worldfs.testing.cost import calls

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOW = "2026-03-31T22:00:00Z"


def page(*tasks: dict[str, Any], updated_at: str = NOW, **more: Any) -> bytes:
    value = {"agent": "rio", "updated_at": updated_at, "tasks": list(tasks), **more}
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def task(id: str, description: str = "", **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "research",
        "description": description or id,
        "status": "pending",
        "priority": "high",
    } | more


def merged(base: bytes, ours: bytes, theirs: bytes) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
    data, conflicts = merge_tasks.merge_tasks(base, ours, theirs)
    assert documents.tasks_judge(data) == ()
    return {one["id"]: one for one in json.loads(data)["tasks"]}, conflicts


A, B, C = task("task-001", "one"), task("task-002", "two"), task("task-003", "three")


# -- tasks.json ------------------------------------------------------------------------------------------------------


def test_what_only_they_changed_is_taken_and_what_both_changed_is_ours_and_named():
    base = page(A, B)
    ours = page({**A, "status": "active"}, B)
    theirs = page({**A, "status": "dropped", "priority": "low"}, {**B, "context": "see 4"})
    found, conflicts = merged(base, ours, theirs)
    assert found == {"task-001": {**A, "status": "active", "priority": "low"}, "task-002": {**B, "context": "see 4"}}
    assert conflicts == ('task-001: status is "active" here and "dropped" there; "active" is kept',)


def test_the_end_of_a_task_is_one_thing():
    base = page(task("t", completed_at=None))
    ours = page(task("t", completed_at=None, status="active"))
    theirs = page(task("t", completed_at=NOW, status="completed", outcome="done"))
    found, conflicts = merged(base, ours, theirs)
    assert found["t"] == task("t", completed_at=None, status="active")
    assert len(conflicts) == 1


def test_a_rewrite_cannot_delete_a_task():
    assert list(merged(page(A, B, C), page(A, B, C), page(A, C))[0]) == ["task-001", "task-002", "task-003"]
    assert list(merged(page(A, B), page(A, B, C), page())[0]) == ["task-001", "task-002", "task-003"]
    assert merge_tasks.merge_tasks(page(A, B), page(A, B), page(B)) == (page(A, B), ())


def test_an_id_that_both_gave_away_becomes_two_and_stays_two():
    theirs = page(A, task("task-002", "theirs"), task("task-009", "after", follow_up_from="task-002"))
    once, conflicts = merge_tasks.merge_tasks(page(A), page(A, B), theirs)
    found = {one["id"]: one for one in json.loads(once)["tasks"]}
    assert (found["task-002"]["description"], found["task-002-2"]["description"]) == ("two", "theirs")
    assert found["task-009"]["follow_up_from"] == "task-002-2"
    assert conflicts == ()
    assert merge_tasks.merge_tasks(page(A), once, theirs) == (once, ())


def test_a_task_that_both_added_is_one():
    found, conflicts = merged(page(A), page(A, B), page(A, {**B, "context": "more"}))
    assert found["task-002"] == {**B, "context": "more"}
    assert conflicts == ()


def test_words_and_forgotten_ids_are_understood():
    rewrite = json.dumps(
        [{"description": "one", "status": "done"}, {"description": "new", "priority": "urgent"}]
    ).encode()
    found, conflicts = merged(page(A, B), page(A, B, C), rewrite)
    assert found["task-001"]["status"] == "completed"
    assert (found["task-004"]["description"], found["task-004"]["priority"]) == ("new", "high")
    assert (list(found), conflicts) == (["task-001", "task-002", "task-003", "task-004"], ())
    assert json.loads(merge_tasks.merge_tasks(page(A, B), page(A, B), rewrite)[0])["agent"] == "rio"


def test_the_newer_time_is_kept_and_unknown_members_of_the_file_are_merged():
    base, ours = page(A, note="x"), page(A, B, note="x", updated_at="2026-04-01T00:00:00Z")
    data, conflicts = merge_tasks.merge_tasks(
        base, ours, page(A, note="y", mine=1, updated_at="2026-04-01T01:30:00+02:00")
    )
    value = json.loads(data)
    assert (value["updated_at"], value["note"], value["mine"], conflicts) == ("2026-04-01T00:00:00Z", "y", 1, ())


def test_their_order_is_taken_when_only_they_changed_it():
    assert list(merged(page(A, B), page(A, B, C), page(B, A))[0]) == ["task-002", "task-001", "task-003"]
    assert list(merged(page(A, B, C), page(C, A, B), page(B, A, C))[0]) == ["task-003", "task-001", "task-002"]


def test_the_layout_is_ours_when_ours_moved_on_and_theirs_when_it_did_not():
    wide = json.dumps(json.loads(page(A, B))).encode()
    theirs = wide.replace(b'"two"', b'"TWO"')
    assert merge_tasks.merge_tasks(wide, wide, theirs) == (theirs, ())
    assert merge_tasks.merge_tasks(page(A, B), page(A, B, C), theirs)[0] == page(A, {**B, "description": "TWO"}, C)
    back = merge_tasks.merge_tasks(wide, wide, b'{"agent":"rio","updated_at":"' + NOW.encode() + b'","tasks":[]}')[0]
    assert json.loads(back) == json.loads(wide)
    assert b"\n" not in back


IDS = ["task-001", "task-002", "task-003", "x"]
TASK = st.fixed_dictionaries(
    {
        "id": st.sampled_from(IDS),
        "description": st.sampled_from(["one", "two", "three"]),
        "status": st.sampled_from(["pending", "active", "completed"]),
        "priority": st.sampled_from(["high", "low"]),
    },
    optional={
        "context": st.sampled_from(["", "c"]),
        "outcome": st.sampled_from([None, "o"]),
        "extra": st.integers(0, 1),
    },
)
TASKS = st.lists(TASK, max_size=4, unique_by=lambda one: one["id"])
LIST = st.builds(lambda tasks: page(*tasks), TASKS)


@QUICK
@given(LIST, LIST)
def test_with_one_side_unchanged_the_other_is_the_result(base, other):
    assert merge_tasks.merge_tasks(base, other, base) == (other, ())
    data, conflicts = merge_tasks.merge_tasks(base, base, other)
    mine, theirs, found = (json.loads(one)["tasks"] for one in (base, other, data))
    kept = {one["id"] for one in theirs}
    assert [one for one in found if one["id"] in kept] == theirs
    assert sorted(one["id"] for one in found if one["id"] not in kept) == sorted(
        one["id"] for one in mine if one["id"] not in kept
    )
    assert conflicts == ()
    if kept >= {one["id"] for one in mine}:
        assert data == other


@QUICK
@given(LIST, LIST, LIST)
def test_no_task_is_lost_and_no_change_of_ours_is_undone(base, ours, theirs):
    data, conflicts = merge_tasks.merge_tasks(base, ours, theirs)
    before, here, there = ({one["id"]: one for one in json.loads(text)["tasks"]} for text in (base, ours, theirs))
    found = {one["id"]: one for one in json.loads(data)["tasks"]}
    assert len(found) == len(json.loads(data)["tasks"])
    for name, one in here.items():
        for key, item in one.items():
            if item != before.get(name, {}).get(key):
                assert found[name].get(key) == item
    said = [one["description"] for one in found.values()]
    for name, one in there.items():
        if name not in here and one != before.get(name):
            assert found[name] == one
        elif name not in here:
            assert name not in found, "what we took away they cannot bring back by knowing nothing of it"
        elif name not in before:
            assert one["description"] in said
    again, _ = merge_tasks.merge_tasks(base, data, theirs)
    if not conflicts:
        assert sorted(json.loads(again)["tasks"], key=str) == sorted(json.loads(data)["tasks"], key=str)


@QUICK
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["active", "completed"])), min_size=1, max_size=6), st.data()
)
def test_a_stale_rewrite_of_tasks_brings_its_one_change_and_undoes_nothing(steps, data):
    kept = [page(A)]
    for number, (which, status) in enumerate(steps):
        value = json.loads(kept[-1])
        tasks = value["tasks"]
        if which < len(tasks) and tasks[which]["status"] == "pending":
            tasks[which]["status"] = status
        else:
            tasks.append(task(f"t{number}", f"step {number}"))
        kept.append(page(*tasks))
    stale = data.draw(st.sampled_from(kept))
    base = merge_tasks.best_base(kept, stale)
    assert merge_tasks.merge_tasks(kept[base], kept[-1], stale) == (kept[-1], ())
    value = json.loads(stale)
    value["tasks"].append(task("new", "brought"))
    edited = page(*value["tasks"])
    base = merge_tasks.best_base(kept, edited)
    found, conflicts = merge_tasks.merge_tasks(kept[base], kept[-1], edited)
    assert conflicts == ()
    assert [one for one in json.loads(found)["tasks"] if one["id"] != "new"] == json.loads(kept[-1])["tasks"]
    assert json.loads(found)["tasks"][-1] == task("new", "brought")


# -- memory.md -------------------------------------------------------------------------------------------------------

RIO = b"""# Rio

Words before.

## Dead Ends
- Polymarket fee structure (2026-03-25): documented, no new angles.
- Jupiter governance token (2026-03-27): vaporware.

## Open Questions
- How does futarchy handle low-liquidity markets?
"""


def said(data: bytes) -> list[str]:
    return [remark.text for remark in memory.read(data).remarks]


def test_remarks_of_both_are_kept_once_and_their_curation_is_done():
    ours = memory.add(memory.add(RIO, "dead_ends", "Ours."), "patterns", "Both.")
    theirs = memory.add(memory.add(RIO, "dead_ends", "Theirs."), "patterns", "Both.")
    theirs = theirs.replace(b"- Jupiter governance token (2026-03-27): vaporware.\n", b"")
    data, conflicts = merge_tasks.merge_memory(RIO, ours, theirs)
    assert data == ours.replace(
        b"- Jupiter governance token (2026-03-27): vaporware.\n- Ours.\n", b"- Ours.\n- Theirs.\n"
    )
    assert conflicts == ()


def test_an_edit_of_theirs_is_taken_where_it_stands():
    theirs = RIO.replace(b"vaporware.", b"vaporware, checked again.\n  Still none.")
    data, conflicts = merge_tasks.merge_memory(RIO, memory.add(RIO, "questions", "Ours?"), theirs)
    assert data == memory.add(theirs, "questions", "Ours?")
    assert conflicts == ()


def test_a_remark_that_both_changed_is_ours_and_named():
    ours, theirs = RIO.replace(b"no new angles", b"nothing new"), RIO.replace(b"no new angles", b"one new angle")
    data, conflicts = merge_tasks.merge_memory(RIO, ours, theirs)
    assert data == ours
    assert len(conflicts) == 1
    assert "the first is kept" in conflicts[0]


def test_a_remark_that_we_changed_and_they_removed_stays():
    ours = RIO.replace(b"- Jupiter", b"- [pinned] Jupiter")
    theirs = RIO.replace(b"- Jupiter governance token (2026-03-27): vaporware.\n", b"")
    assert merge_tasks.merge_memory(RIO, ours, theirs)[0] == ours
    assert merge_tasks.merge_memory(RIO, theirs, ours.replace(b"[pinned] ", b"")) == (theirs, ())
    removed, conflicts = merge_tasks.merge_memory(RIO, theirs, RIO.replace(b"vaporware", b"vaporware still"))
    assert removed == theirs
    assert "stays removed" in conflicts[0]


def test_a_pin_and_a_move_are_taken_beside_a_change_of_the_text():
    ours = RIO.replace(b"vaporware", b"vaporware still")
    pinned = RIO.replace(b"- Jupiter", b"- [pinned] Jupiter")
    assert merge_tasks.merge_memory(RIO, ours, pinned) == (ours.replace(b"- Jupiter", b"- [pinned] Jupiter"), ())
    line = b"- Jupiter governance token (2026-03-27): vaporware.\n"
    moved = RIO.replace(line, b"") + line
    data, conflicts = merge_tasks.merge_memory(RIO, memory.add(RIO, "flags", "Leo: hm"), moved)
    assert [(remark.section, remark.text[:7]) for remark in memory.read(data).remarks] == [
        ("dead_ends", "Polymar"), ("questions", "How doe"), ("questions", "Jupiter"), ("flags", "Leo: hm"),
    ]  # fmt: skip
    assert conflicts == ()


def test_their_words_around_the_remarks_are_taken_if_ours_are_as_they_were():
    theirs = RIO.replace(b"Words before.", b"Better words.\n\n```\n# code\n```").replace(b"# Rio\n", b"# Rio!\n")
    ours = memory.add(memory.add(RIO, "questions", "Ours?"), "corrections", "Was wrong.")
    data, conflicts = merge_tasks.merge_memory(RIO, ours, theirs)
    assert data == memory.add(memory.add(theirs, "questions", "Ours?"), "corrections", "Was wrong.")
    assert conflicts == ()
    both, conflicts = merge_tasks.merge_memory(
        RIO, RIO.replace(b"before", b"of ours"), memory.add(theirs, "questions", "Theirs?")
    )
    assert both == memory.add(RIO.replace(b"before", b"of ours"), "questions", "Theirs?")
    assert len(conflicts) == 1


def test_what_they_put_first_or_between_stands_there():
    theirs = RIO.replace(b"- Polymarket", b"- Newest.\n- Polymarket").replace(b"- Jupiter", b"- Between.\n- Jupiter")
    ours = memory.add(RIO, "dead_ends", "Last.")
    assert merge_tasks.merge_memory(RIO, ours, theirs) == (memory.add(theirs, "dead_ends", "Last."), ())


@pytest.mark.parametrize("mind", ["## Next steps\n- Read more.\n", "### 下一步\n\n* 再读。\n  - 细节\n"])
def test_a_section_of_theirs_comes_with_its_remarks(mind):
    theirs = RIO + b"\n" + mind.encode()
    ours = memory.add(RIO, "dead_ends", "Ours.")
    data, conflicts = merge_tasks.merge_memory(RIO, ours, theirs)
    assert said(data) == said(memory.add(theirs, "dead_ends", "Ours."))
    assert memory.read(data).sections == memory.read(theirs).sections
    assert conflicts == ()


def test_line_ends_and_marks_of_the_page_are_kept():
    base = RIO.replace(b"\n", b"\r\n").replace(b"- ", b"* ")
    ours = memory.add(base, "questions", "Ours?")
    data, _ = merge_tasks.merge_memory(base, ours, memory.add(base, "dead_ends", "Theirs\nmore"))
    assert data == memory.add(ours, "dead_ends", "Theirs\nmore")
    assert data.count(b"\n") == data.count(b"\r\n")


WORDS = ["alpha", "Beta gamma", "第三条", "four (2026-03-04)", "five\n  more", "six\n- nested", "seven", "Eight things"]
PART = st.lists(st.sampled_from(WORDS), max_size=4, unique=True)
MEMORY = st.builds(
    lambda parts, prose, gap, end: (
        (
            f"# Rio\n{prose}"
            + "".join(
                f"\n## {heading}\n" + gap.join("- " + text.replace("\n", "\n  ") + "\n" for text in part)
                for heading, part in zip(("Dead Ends", "Open Questions", "Mine"), parts, strict=False)
            )
        )
        .replace("\n", end)
        .encode()
    ),
    st.lists(PART, max_size=3),
    st.sampled_from(["", "words\n", "other\n\n```\n- no\n```\n"]),
    st.sampled_from(["", "\n"]),
    st.sampled_from(["\n", "\r\n"]),
)


@QUICK
@given(MEMORY, MEMORY)
def test_with_one_memory_unchanged_the_other_is_the_result(base, other):
    assert merge_tasks.merge_memory(base, other, base) == (other, ())
    assert merge_tasks.merge_memory(base, base, other) == (other, ())
    assert merge_tasks.merge_memory(base, other, other) == (other, ())


@QUICK
@given(MEMORY, MEMORY, MEMORY)
def test_no_remark_of_ours_is_lost(base, ours, theirs):
    data, conflicts = merge_tasks.merge_memory(base, ours, theirs)
    before, here, there, found = (Counter(set(said(text))) for text in (base, ours, theirs, data))
    assert here - before <= found, "what we added"
    assert here & there <= found, "what both have"
    assert found <= here | there, "nothing out of the air"
    if not conflicts:
        assert there - before <= found, "what they added"
    everywhere = Counter(said(base)) | Counter(said(ours)) | Counter(said(theirs))
    gone = [text for text in before if text in here and text not in there and everywhere[text] == 1]
    for text in gone:
        places = [{(r.section, r.pinned) for r in memory.read(copy).remarks if r.text == text} for copy in (base, ours)]
        if places[0] == places[1]:
            assert text not in found, "what they removed and we left alone"
    if not conflicts:
        assert Counter(said(merge_tasks.merge_memory(base, data, theirs)[0])) == Counter(said(data)), (
            "merged twice is merged once"
        )


@QUICK
@given(
    st.lists(st.tuples(st.sampled_from(["patterns", "dead_ends", "Mine"]), st.sampled_from(WORDS)), max_size=6),
    st.data(),
)
def test_a_stale_rewrite_of_memory_brings_its_one_change_and_undoes_nothing(steps, data):
    kept = [RIO]
    for number, (section, text) in enumerate(steps):
        kept.append(memory.add(kept[-1], section, f"{number} {text}"))
    stale = data.draw(st.sampled_from(kept))
    assert merge_tasks.merge_memory(kept[merge_tasks.best_base(kept, stale)], kept[-1], stale) == (kept[-1], ())
    edited = memory.add(stale, data.draw(st.sampled_from(["questions", "dead_ends", "Neu"])), "brought by a mind")
    found, conflicts = merge_tasks.merge_memory(kept[merge_tasks.best_base(kept, edited)], kept[-1], edited)
    assert conflicts == ()
    assert Counter(said(found)) == Counter(said(kept[-1])) + Counter(["brought by a mind"])
    one = next(remark for remark in memory.read(found).remarks if remark.text == "brought by a mind")
    assert memory.remove(found, one) == kept[-1] + (b"\n## Neu\n" if one.section == "Neu" else b"")


# -- which version it was made from ----------------------------------------------------------------------------------


def test_the_base_has_the_fewest_differences_and_of_equals_is_the_newest():
    lists = [page(A), page(A, B), page(A, {**B, "status": "active"}), page(A, {**B, "status": "active"}, C)]
    assert [merge_tasks.best_base(lists, one) for one in lists] == [0, 1, 2, 3]
    assert merge_tasks.best_base(lists, page(A, {**B, "priority": "low"})) == 1
    assert merge_tasks.best_base([lists[0], lists[1], lists[0]], lists[0]) == 2
    assert merge_tasks.best_base([RIO, memory.add(RIO, "flags", "x"), RIO], RIO + b"\n") == 2


def test_a_merge_costs_as_much_as_there_is_to_merge():
    def of_memory(size):
        base = memory.template("rio")
        for number in range(size):
            base = memory.add(
                base, ("patterns", "dead_ends", "flags")[number % 3], f"Remark {number} on topic {number * 79}."
            )
        theirs = memory.add(base, "patterns", "b").replace(b"k 7 on", b"k 7 of")
        return calls(lambda: merge_tasks.merge_memory(base, memory.add(base, "questions", "a?"), theirs))

    def of_tasks(size):
        many = page(*[task(f"task-{number:03d}", f"Task {number}", context="c" * 40) for number in range(size)])
        mine, yours = many.replace(b"Task 3", b"Task III"), many.replace(b"Task 5", b"Task V")
        return calls(lambda: merge_tasks.merge_tasks(many, mine, yours))

    for cost, size in ((of_memory, 40), (of_tasks, 12)):
        one, four = cost(size), cost(4 * size)
        assert four < 4.5 * one < 45_000, (one, four)  # and one is a few milliseconds
