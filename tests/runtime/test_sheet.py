"""ACTION.md: taken in by id, rendered from the jobs; a foreign write can ask for things and undo nothing."""

import json

import pytest

from worldfs.base.document_size import DOCUMENT_MOST
from worldfs.base.errors import Unsafe
from worldfs.base.model import Cause
from worldfs.runtime import stored_sheet as sheet_module
from worldfs.runtime.job_store import OPEN
from worldfs.runtime.stored_sheet import QUARANTINE, SHOWN


def shown(bench):
    return {entry["action_id"]: entry["status"] for entry in bench.entries()}


def serve(bench, *entries):
    bench.start()
    bench.write(*entries)
    bench.drain()


def test_new_entries_run_once_however_often_the_same_text_is_written(bench):
    serve(bench, bench.action("a"), bench.action("b"))
    for _ in range(3):
        bench.write(bench.action("a"), bench.action("b"))
        bench.drain()
    assert (bench.starts("a"), bench.starts("b")) == (1, 1)
    assert shown(bench) == {"a": "completed", "b": "completed"}


def test_an_entry_without_an_id_is_the_same_entry_when_it_is_written_again(bench):
    entry = bench.action("x")
    del entry["action_id"]
    serve(bench, entry)
    bench.write(entry)
    bench.drain()
    assert len([line for line in bench.trace if line.startswith("execute")]) == 1


def test_a_removed_entry_changes_nothing(bench):
    bench.start()
    bench.write(bench.action("a"), bench.action("b"))
    bench.kernel._read_sheets()
    bench.write(bench.action("b"))
    bench.drain()
    assert bench.outcome("a").ok and shown(bench)["a"] == "completed"


def test_entries_written_while_no_kernel_ran_are_taken_in_at_the_start(bench):
    bench.write(bench.action("a"))
    bench.start()
    bench.drain()
    assert bench.outcome("a").ok


def test_a_word_of_ending_for_a_new_id_is_history_and_never_runs(bench):
    done = bench.action("old", keys={"status": "completed", "completed_at": "2020-01-01T00:00:00Z"})
    serve(bench, done, bench.action("a"))
    assert bench.starts("old") == 0 and not bench.jobs.known("old") and bench.outcome("a").ok
    assert bench.entries()[0] == done


@pytest.mark.parametrize("word", ["running", "claimed", "Verifying"])
def test_a_word_in_between_for_a_new_id_is_lost_and_never_runs(bench, word):
    serve(bench, bench.action("a", keys={"status": word}))
    assert bench.outcome("a").cause is Cause.LOST and bench.starts("a") == 0
    assert bench.hooks.lessons == [("a", Cause.LOST)] and shown(bench)["a"] == "failed"


def test_cancelled_for_a_new_id_never_runs(bench):
    serve(bench, bench.action("a", keys={"status": "cancelled"}))
    assert bench.starts("a") == 0


def test_cancelled_is_obeyed_for_what_waits_and_ignored_for_what_has_ended(bench):
    bench.start()
    bench.write(bench.action("a"), bench.action("b"))
    bench.kernel._read_sheets()
    bench.write(bench.action("a"), bench.action("b", keys={"status": "cancelled"}))
    bench.drain()
    bench.write(bench.action("a", keys={"status": "cancelled"}))
    bench.drain()
    assert bench.outcome("a").ok and bench.outcome("b").cause is Cause.CANCELLED
    assert shown(bench)["a"] == "completed"


def test_what_a_stale_copy_says_of_a_status_is_overwritten(bench):
    serve(bench, bench.action("a", fail="no"))
    bench.write(bench.action("a", fail="no", keys={"status": "completed"}))
    bench.drain()
    assert shown(bench) == {"a": "failed"}


def test_a_known_id_with_another_order_is_reported_and_the_job_stays(bench):
    serve(bench, bench.action("a"))
    bench.write(bench.action("a", takes=1))
    bench.drain()
    assert bench.starts("a") == 1 and bench.kernel.alert.now()["ACTION.md#a"].code == "ID_REUSED"
    assert bench.entries()[0]["error"]["code"] == "ID_REUSED" and bench.entries()[0]["params"]["takes"] == 1


def test_the_second_of_two_equal_ids_is_reported_and_the_first_runs(bench):
    serve(bench, bench.action("a"), bench.action("a", takes=1))
    assert bench.starts("a") == 1
    assert [entry["status"] for entry in bench.entries()] == ["completed", "failed"]
    assert bench.entries()[1]["error"]["code"] == "ID_DUPLICATE"


def test_a_bad_entry_is_set_aside_once_and_the_others_run(bench):
    bad = bench.action("bad", keys={"priority": "urgent"})
    serve(bench, bad, bench.action("a"))
    bench.write(*bench.entries(), bench.action("b"))  # with our own marks in it
    bench.drain()
    assert bench.outcome("a").ok and bench.outcome("b").ok
    kept = bench.store.list(QUARANTINE)
    assert len(kept) == 1
    assert json.loads(bench.store.get(f"{QUARANTINE}/{kept[0]}").data)["entry"]["priority"] == "urgent"
    assert bench.entries()[0]["status"] == "failed" and bench.entries()[0]["priority"] == "urgent"


def test_a_time_that_cannot_be_read_is_told_and_the_entry_runs(bench):
    serve(bench, bench.action("a", keys={"created_at": "yesterday"}))
    assert bench.outcome("a").ok and shown(bench) == {"a": "completed"}
    assert bench.kernel.alert.now()["ACTION.md#a"].warning


@pytest.mark.parametrize(
    "text", [b'{"queue": [', b"\xff\xfe\x00", b'{"queue": {"a": 1}}', b"```json\n{\n", b"queue:\n  - a: [\n"]
)
def test_the_unreadable_is_left_alone_named_and_stops_nothing(bench, text):
    bench.start()
    bench.store.put("ACTION.md", text)
    bench.submit(bench.order("a"))
    bench.drain()
    assert bench.outcome("a").ok and bench.store.get("ACTION.md").data == text
    assert "ACTION.md" in bench.kernel.alert.now()
    bench.write(bench.action("b"))
    bench.drain()
    assert bench.outcome("b").ok and shown(bench)["a"] == "completed" and bench.kernel.alert.now() == {}


def test_a_field_beside_the_entries_keeps_them_until_it_is_taken_out(bench):
    held = json.dumps({"paused": True, "queue": [bench.action("a")]}).encode()
    bench.start()
    bench.store.put("ACTION.md", held)
    bench.submit(bench.order("b"))
    bench.drain()
    assert bench.outcome("b").ok and bench.store.get("ACTION.md").data == held
    found = bench.kernel.alert.now()["ACTION.md"]
    assert found.code == "FIELD_UNREAD" and "paused" in found.field and not bench.jobs.known("a")
    bench.write(bench.action("a"))
    bench.drain()
    assert bench.outcome("a").ok and bench.kernel.alert.now() == {}


def test_a_file_that_may_not_be_followed_is_named_and_stops_nothing(bench):
    bench.start()
    get = bench.store.get

    def refuse(key):
        if key == "ACTION.md":
            raise Unsafe("a symbolic link", path=key)
        return get(key)

    bench.store.get = refuse
    bench.submit(bench.order("a"))
    bench.drain()
    assert bench.outcome("a").ok and bench.kernel.alert.now()["ACTION.md"].code == "UNSAFE_PATH"


def test_a_displaced_copy_with_bad_entries_is_set_aside_by_its_own_text(bench):
    bench.start()
    bench.drain()
    bad = bench.action("bad", keys={"priority": "urgent"})
    bench.store.late(bench.sheet(bench.action("a"), bench.action("b"), bad))
    bench.drain()
    assert bench.outcome("a").ok and bench.outcome("b").ok
    (kept,) = bench.store.list(QUARANTINE)
    assert json.loads(bench.store.get(f"{QUARANTINE}/{kept}").data)["entry"]["action_id"] == "bad"


def test_a_displaced_copy_that_is_half_written_is_set_aside_whole_and_durable_before_it_is_let_go(bench):
    put, waited = bench.store.put, []

    def noted(key, *args, durable=True, **more):
        waited.append((key.partition("/")[0], durable))
        return put(key, *args, durable=durable, **more)

    bench.store.put = noted
    bench.start()
    bench.store.late(b'{"queue": [')
    bench.drain()
    (kept,) = bench.store.list(QUARANTINE)
    assert bench.store.get(f"{QUARANTINE}/{kept}").data == b'{"queue": ['
    assert [durable for key, durable in waited if f"{key}/" in f"{QUARANTINE}/"][:1] == [True]
    assert bench.trace.index(f"put {QUARANTINE}/{kept}") < bench.trace.index("forget")


def test_ended_entries_leave_only_when_new_orders_come_in(bench):
    serve(bench, *(bench.action(f"a{n:03d}") for n in range(SHOWN + 20)))
    assert len(shown(bench)) == SHOWN + 20
    bench.clock.advance(3600)
    bench.drain()
    assert len(shown(bench)) == SHOWN + 20
    bench.clock.advance(1)
    bench.submit(bench.order("new"))
    bench.drain()
    assert len(shown(bench)) <= SHOWN + 1 and shown(bench)["new"] == "completed"
    assert len(bench.jobs.done_ids()) == SHOWN + 21


def test_history_that_was_never_ours_is_never_pruned(bench):
    old = [bench.action(f"old{n}", keys={"status": "completed"}) for n in range(3)]
    serve(bench, *old, *(bench.action(f"a{n:03d}") for n in range(SHOWN + 5)))
    bench.submit(bench.order("new"))
    bench.drain()
    assert {f"old{n}" for n in range(3)} <= shown(bench).keys()


def test_a_pruned_id_that_comes_back_in_a_stale_copy_does_not_run_again(bench):
    entries = [bench.action(f"a{n:03d}") for n in range(SHOWN + 5)]
    serve(bench, *entries)
    bench.submit(bench.order("new"))
    bench.drain()
    assert "a000" not in shown(bench)
    bench.write(*entries)
    bench.drain()
    assert bench.starts("a000") == 1 and shown(bench)["a000"] == "completed"


def test_a_sheet_stays_of_a_size_that_can_be_read_whatever_is_submitted(bench, monkeypatch):
    monkeypatch.setattr(sheet_module, "ROOM", 20)
    bench.submit(*(bench.order(f"a{n:03d}") for n in range(100)))
    bench.start()
    for _ in range(3):
        bench.clock.advance(1)
        bench.kernel.tick()
    assert 0 < len(bench.entries()) <= 20
    bench.drain()
    assert len(bench.jobs.done_ids()) == 100 and bench.jobs.store.list(OPEN) == []


def test_a_sheet_is_never_written_larger_than_it_may_be_read(bench, monkeypatch):
    monkeypatch.setattr(sheet_module, "DOCUMENT_MOST", 4000)
    bench.submit(*(bench.order(f"a{n:03d}") for n in range(100)))
    bench.start()
    for _ in range(3):
        bench.clock.advance(1)
        bench.kernel.tick()
        assert len(bench.store.get("ACTION.md").data) <= 4000 and bench.entries()
    bench.drain()
    assert len(bench.jobs.done_ids()) == 100 and len(bench.store.get("ACTION.md").data) <= 4000
    assert "a099" not in shown(bench)
    monkeypatch.undo()
    bench.submit(bench.order("last"))
    bench.drain()
    assert shown(bench)["a099"] == shown(bench)["last"] == "completed"


def test_a_sheet_with_no_room_for_the_states_stays_as_it_is_and_says_so(bench, monkeypatch):
    bench.start()
    bench.write(bench.action("a"))
    written = bench.store.get("ACTION.md").data
    monkeypatch.setattr(sheet_module, "DOCUMENT_MOST", len(written) + 5)
    bench.drain()
    (named,) = bench.kernel.alert.now().values()
    assert named.field == "ACTION.md" and bench.outcome("a").ok and bench.store.get("ACTION.md").data == written
    monkeypatch.undo()
    bench.submit(bench.order("own"))
    bench.drain()
    assert not bench.kernel.alert.now() and shown(bench)["a"] == "completed"
    bench.write(bench.action("b"))
    bench.drain()
    assert not bench.kernel.alert.now() and shown(bench)["b"] == "completed"


def test_a_sheet_that_is_too_large_is_named_unread_and_stays(bench):
    data = b"#x\n" * (DOCUMENT_MOST // 3 + 1)
    bench.start()
    bench.store.put("ACTION.md", data)
    bench.submit(bench.order("a"))
    bench.drain()
    (named,) = bench.kernel.alert.now().values()
    assert named.field == "ACTION.md" and f"{DOCUMENT_MOST:,}" in named.expected
    assert bench.outcome("a").ok and bench.store.get("ACTION.md").data == data


def test_half_a_surrogate_pair_is_an_argument_like_any_other(bench):
    bench.start()
    bench.store.put("ACTION.md", rb'{"queue":[{"action_id":"a","action_type":"move_to","params":{"x":"\ud800"}}]}')
    bench.drain()
    assert bench.outcome("a").ok and bench.starts("a") == 1


def test_what_is_cancelled_before_its_group_was_accepted_never_runs(bench):
    kernel = bench.start()
    many = [bench.action(f"a{n:03d}") for n in range(200)]
    bench.write(*many)
    kernel.tick()
    assert not bench.jobs.known("a199")
    bench.write(*many[:199], bench.action("a199", keys={"status": "cancelled"}))
    bench.drain()
    assert bench.starts("a199") == 0 and bench.starts("a198") == 1


def test_prose_without_a_queue_is_named_until_there_is_one_and_stays(bench):
    prose = b"# ACTION\n\nwave, then pick up the apple\n"
    bench.start()
    bench.store.put("ACTION.md", prose)
    bench.drain()
    (named,) = bench.kernel.alert.now().values()
    assert named.field == "ACTION.md" and "wave, then pick up" in named.found and named.warning
    assert bench.store.get("ACTION.md").data == prose
    bench.submit(bench.order("a"))
    bench.drain()
    assert bench.store.get("ACTION.md").data.startswith(prose) and bench.outcome("a").ok
    bench.write()
    bench.drain()
    assert bench.kernel.alert.now() == {}


def test_what_was_refused_is_named_at_every_start_until_it_is_mended(bench):
    serve(bench, bench.action("../x"))
    for _ in range(2):
        assert ["../x" in named.found for named in bench.kernel.alert.now().values()] == [True]
        bench.kernel.close()
        bench.start()
        bench.drain()
    assert bench.entries()[0]["error"]["code"] == "SCHEMA_VALIDATION"
    bench.write(bench.action("x"))
    bench.drain()
    assert bench.kernel.alert.now() == {} and bench.outcome("x").ok


def test_a_sheet_is_looked_at_when_the_feed_reports_it_and_not_otherwise(bench):
    serve(bench, bench.action("a"))
    looks, probe = [], bench.store.probe
    bench.store.probe = lambda key: looks.append(key) or probe(key)
    for _ in range(5):
        bench.kernel.tick()
    assert "ACTION.md" not in looks
    bench.write(bench.action("c"))
    bench.drain()
    assert bench.outcome("c").ok and "ACTION.md" in looks
