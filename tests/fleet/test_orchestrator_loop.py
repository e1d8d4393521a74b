"""Missions from their submission to their end: who gets them, what people change, what a death of a robot leaves."""

import threading
from dataclasses import replace

import pytest

from worldfs.base.errors import BadInput, Busy, NotFound, Unsafe
from worldfs.base.model import Cause, Job, JobState, JobStatus, Order, Outcome
from worldfs.fleet.bids import MissionNeeds
from worldfs.fleet.mission import NO_PROGRESS, MissionOrder
from worldfs.fleet.mission_port import MissionEnd, MissionEndKind
from worldfs.fleet.reservations import Reservation, ReservedKind
from worldfs.formats import orchestrator


def test_a_mission_is_given_out_carried_out_and_shown(fleet):
    fleet.add("m1", text="Clear the table", requires=("manipulation",))
    fleet.settle()
    assert fleet.robots.begun == [("m1", "r1")]
    assert (fleet.state("m1"), fleet.status("m1").robot) == ("running", "r1")
    assert [item["robot"] for item in fleet.status("m1").bids] == ["r1", "r2"]
    assert "| Clear the table | r1 " in fleet.page()
    assert "best of 1 more: r2" in fleet.page()
    fleet.robots.end("m1")
    fleet.settle()
    assert fleet.state("m1") == "succeeded"
    assert orchestrator.read(fleet.page().encode()).dashboard.active == ()


def test_a_page_that_was_put_off_is_shown_when_the_orchestrator_ends(fleet):
    """The disk is slow, so that the page rests between two renderings."""
    put = fleet.store.put

    def slowly(key, *more, **named):
        fleet.clock.advance(1.0 if key == "ORCHESTRATOR.md" else 0.0)
        return put(key, *more, **named)

    fleet.store.put = slowly
    fleet.add("m1")
    fleet.settle()
    fleet.robots.end("m1")
    stop = threading.Event()
    fleet.loop.heard = lambda: (stop.set(), fleet.loop.wake())
    fleet.loop.run(stop)
    assert fleet.state("m1") == "succeeded" and orchestrator.read(fleet.page().encode()).dashboard.active == ()


def test_running_is_durable_before_anything_moves(fleet):
    seen = []
    begin = fleet.robots.begin
    fleet.robots.begin = lambda mission, *more: (seen.append(fleet.state("m1")), begin(mission, *more))[1]
    fleet.add("m1")
    fleet.settle()
    assert seen == ["running"]


def test_without_missions_no_file_is_made(fleet):
    fleet.settle()
    assert fleet.page() == ""


def test_what_waits_for_another_mission_waits_and_fails_with_it(fleet):
    fleet.add("m1")
    fleet.add("m2", after=("m1",))
    fleet.add("m3", after=("m2",))
    fleet.add("m4", after=("nothing",))
    fleet.settle()
    assert [id for id, _ in fleet.robots.begun] == ["m1"]
    assert fleet.state("m4") == "failed"
    fleet.robots.end("m1")
    fleet.settle()
    assert fleet.robots.begun[-1][0] == "m2"
    fleet.robots.end("m2", MissionEndKind.REFUSED, "not understood")
    fleet.settle()
    assert (fleet.state("m2"), fleet.state("m3")) == ("failed", "failed")


def test_a_circle_of_missions_is_refused_by_name(fleet):
    fleet.add("m1", after=("m2",))
    fleet.add("m2", after=("m1",))
    fleet.settle()
    assert {fleet.state("m1"), fleet.state("m2")} == {"failed"}
    assert "m1" in fleet.status("m2").reason


def test_a_mission_that_waits_for_none_is_in_no_circle(fleet, monkeypatch):
    looked = []
    monkeypatch.setattr("worldfs.fleet.open_missions.circular", lambda orders, id: looked.append(id) or [])
    fleet.add("m1")
    fleet.add("m2", after=("m1",))
    fleet.settle()
    assert looked == ["m2"]


def test_pause_resume_priority_and_cancel(fleet):
    for n in range(1, 5):
        fleet.add(f"m{n}")
    fleet.settle()
    fleet.files.request("m4", "priority", "operator", "high")
    fleet.files.request("m1", "pause", "operator")
    fleet.files.request("m3", "cancel", "operator")
    fleet.settle()
    assert fleet.state("m1") == "paused"
    assert fleet.state("m3") == "cancelled"
    assert fleet.robots.begun[-1] == ("m4", "r1")  # before m3, which waited longer
    fleet.robots.end("m4")
    fleet.files.request("m1", "resume", "operator")
    fleet.settle()
    assert fleet.robots.begun[-1] == ("m1", "r1")
    fleet.files.request("m1", "cancel", "operator")
    fleet.settle()
    assert fleet.state("m1") == "cancelled"
    with pytest.raises(BadInput):
        fleet.files.request("m2", "explode", "operator")
    with pytest.raises(NotFound):
        fleet.files.request("m9", "cancel", "operator")


def test_a_request_outlives_a_kill_until_the_robot_has_stopped(fleet):
    fleet.add("m1")
    fleet.settle()
    with fleet.loop._lock:
        run = fleet.loop._runs["m1"]
        fleet.loop._runs["m1"] = run._replace(stop=lambda: None)  # its robot takes a while to stop
    fleet.files.request("m1", "cancel", "operator")
    fleet.settle()
    fleet.files.request("m1", "pause", "operator")
    fleet.settle()
    assert fleet.state("m1") == "running"
    fleet.drop()
    begun = len(fleet.robots.begun)
    fleet.start()
    fleet.settle()
    assert fleet.state("m1") == "cancelled"
    assert len(fleet.robots.begun) == begun
    assert list(fleet.files.requests()) == []


def test_a_paused_robot_that_holds_something_goes_on_with_it_itself(fleet):
    fleet.add("m1")
    fleet.settle()
    fleet.robots.holding = {"r1"}
    fleet.files.request("m1", "pause", "operator")
    fleet.settle()
    fleet.add("m2", robot="r1")
    fleet.settle()
    fleet.files.request("m1", "resume", "operator")
    fleet.settle()
    assert fleet.state("m1") == "queued"  # r1 is at work, and nobody else may
    fleet.robots.end("m2")
    fleet.settle()
    assert fleet.robots.begun[-1] == ("m1", "r1")


def stop(fleet, id):
    fleet.robots.robots[id] = fleet.robots.robots[id]._replace(unable=f"{id} is stopped", state="stopped")


def test_a_stopped_robot_pauses_its_mission_and_gets_none(fleet):
    fleet.add("m1")
    fleet.add("m2")
    fleet.settle()
    stop(fleet, "r1"), stop(fleet, "r2")
    fleet.add("m3")
    fleet.settle()
    assert [fleet.state(f"m{n}") for n in (1, 2, 3)] == ["paused", "paused", "queued"]
    for id in ("r1", "r2"):
        fleet.robots.robots[id] = fleet.robots.robots[id]._replace(unable="", state="idle")
    fleet.files.request("m2", "resume", "operator")
    fleet.settle()
    assert [fleet.state(f"m{n}") for n in (1, 2, 3)] == ["paused", "running", "running"]


def test_a_robot_that_could_not_is_passed_over_and_the_last_failure_counts(fleet):
    fleet.add("m1")
    fleet.settle()
    fleet.robots.end("m1", MissionEndKind.FAILED, "the cup is out of reach")
    fleet.settle()
    assert fleet.robots.begun[-1] == ("m1", "r2")
    fleet.robots.end("m1", MissionEndKind.FAILED, "too heavy")
    fleet.settle()
    assert (fleet.state("m1"), fleet.status("m1").reason) == ("failed", "too heavy")


@pytest.mark.parametrize(
    ("state", "cause", "repeats", "then"),
    [
        (None, None, False, "running"),
        (JobState.PENDING, None, False, "running"),
        (JobState.SUCCEEDED, None, False, "running"),
        (JobState.FAILED, Cause.ERROR, False, "running"),
        (JobState.RUNNING, None, False, "failed"),
        (JobState.RUNNING, None, True, "running"),
        (JobState.FAILED, Cause.LOST, False, "failed"),
    ],
)
def test_the_work_of_a_robot_that_is_not_heard_of_is_given_away_where_that_is_safe(fleet, state, cause, repeats, then):
    fleet.robots.repeats = repeats
    fleet.add("m1")
    fleet.settle()
    assert fleet.status("m1").robot == "r1"
    if state is not None:
        fleet.robots.submit("m1", "job_1", state, cause)
    fleet.lose("r1")
    fleet.settle()
    assert fleet.state("m1") == then
    if then == "running":
        assert fleet.robots.begun[-1] == ("m1", "r2")
        assert fleet.robots.cancelled == (["job_1"] if state in (JobState.PENDING, JobState.RUNNING) else [])
    else:
        assert "job_1" in fleet.status("m1").reason
        assert "missions/m1" in fleet.alerts
    fleet.robots.work.pop("m1", None)


@pytest.mark.parametrize(("own", "robot"), [(True, "r2"), (False, "r1")])
def test_what_is_of_the_robot_itself_is_not_done_once_more_by_another(fleet, own, robot):
    """Where it stands shows nothing to another one: the one that has done it goes on, and finds that it holds."""
    fleet.robots.wants["m1"] = MissionNeeds(own=own)
    fleet.robots.robots["r1"] = fleet.robots.robots["r1"]._replace(unable="at work")
    fleet.add("m1")
    fleet.settle()
    fleet.robots.submit("m1", "job_1", JobState.SUCCEEDED)
    fleet.drop()
    fleet.robots.robots["r1"] = fleet.robots.robots["r1"]._replace(unable="")
    fleet.start()
    fleet.settle()
    assert fleet.robots.begun[-1] == ("m1", robot)


def test_an_order_that_another_host_may_begin_is_waited_for_and_not_given_away(fleet):
    fleet.add("m1")
    fleet.settle()
    fleet.robots.submit("m1", "job_1", JobState.PENDING)
    fleet.robots.elsewhere.add("r1")  # the host that stood by has it now
    fleet.lose("r1")
    fleet.settle()
    assert fleet.robots.cancelled == ["job_1"] and fleet.robots.begun == [("m1", "r1")]
    assert fleet.state("m1") == "running"
    fleet.robots.submit_again("job_1", JobState.FAILED, Cause.CANCELLED)
    fleet.robots.followed["job_1"](MissionEnd(MissionEndKind.LEFT, "ended"))
    fleet.settle()
    assert len(fleet.robots.begun) == 2  # it never began, so any may


@pytest.mark.parametrize(
    ("state", "cause", "then"),
    [
        (JobState.RUNNING, None, "failed"),
        (JobState.FAILED, Cause.LOST, "failed"),
        (JobState.FAILED, Cause.ERROR, "running"),
    ],
)
def test_what_a_host_began_that_had_the_robot_in_between_counts(fleet, monkeypatch, state, cause, then):
    """It took the robot after the order was read, and was gone before the robot was looked at once more."""
    fleet.add("m1")
    fleet.settle()
    fleet.robots.submit("m1", "job_1", JobState.PENDING)

    def cancel(job):
        outcome = None if cause is None else Outcome(False, "", cause)
        fleet.robots.jobs["job_1"] = replace(job, status=JobStatus(state, 1, outcome=outcome))

    monkeypatch.setattr(fleet.robots, "cancel", cancel)
    fleet.lose("r1")
    fleet.settle()
    assert fleet.state("m1") == then and ("missions/m1" in fleet.alerts) == (then == "failed")


def test_an_order_that_was_noted_and_never_submitted_is_closed_before_another_robot_begins(fleet):
    """The orchestrator that noted it was replaced, and its message may still be on its way."""
    for id, late in (("m1", False), ("m2", True)):
        fleet.add(id)
        fleet.settle()
        robot = fleet.status(id).robot
        order = Order(f"job_{id}", robot, "pick_up")
        assert fleet.robots.work[id][0].note_job(order, NO_PROGRESS)
        if late:
            fleet.robots.late[order.id] = Job(order, JobStatus(JobState.RUNNING, 1))
        fleet.lose(robot)
        fleet.settle()
        assert fleet.robots.closed[-1] == order.id
        fleet.find(robot)
    assert fleet.state("m1") == "running" and fleet.state("m2") == "failed"
    assert len([1 for mission, _ in fleet.robots.begun if mission == "m2"]) == 1


def test_a_mission_whose_thread_gave_up_waits_for_the_end_of_its_order(fleet):
    """The engine did not answer it: the order may be carried out all the same."""
    fleet.add("m1")
    fleet.settle()
    fleet.robots.submit("m1", "job_1", JobState.PENDING)
    fleet.robots.end("m1", MissionEndKind.FAILED, "no answer")
    fleet.settle()
    assert fleet.state("m1") == "running" and fleet.robots.cancelled == ["job_1"] and len(fleet.robots.begun) == 1
    fleet.robots.submit_again("job_1", JobState.FAILED, Cause.CANCELLED)
    fleet.robots.followed["job_1"](MissionEnd(MissionEndKind.LEFT, "ended"))
    fleet.settle()
    assert len(fleet.robots.begun) == 2
    assert "no answer" in fleet.page()


@pytest.mark.parametrize("submitted", [False, True])
def test_a_mission_that_is_cancelled_while_its_order_is_on_its_way_begins_nothing_afterwards(fleet, submitted):
    fleet.add("m1")
    fleet.settle()
    assert fleet.robots.work["m1"][0].note_job(Order("job_1", "r1", "pick_up"), NO_PROGRESS)
    if submitted:
        fleet.robots.late["job_1"] = Job(Order("job_1", "r1", "pick_up"), JobStatus())
    fleet.files.request("m1", "cancel", "operator")
    fleet.settle()
    assert fleet.state("m1") == "cancelled" and fleet.robots.closed == ["job_1"]
    assert fleet.robots.cancelled == (["job_1"] if submitted else [])


def test_where_every_robot_has_gone_whichever_comes_back_may_begin(fleet):
    fleet.add("m1")
    fleet.settle()
    for id in ("r1", "r2"):
        fleet.lose(id)
    fleet.settle()
    assert fleet.state("m1") == "queued"
    fleet.find("r1")
    fleet.settle()
    assert fleet.robots.begun[-1] == ("m1", "r1") and fleet.state("m1") == "running"


def test_the_late_end_of_a_dead_robot_counts_for_nothing(fleet):
    fleet.add("m1")
    fleet.settle()
    late = fleet.robots.work["m1"][1]
    fleet.lose("r1")
    fleet.settle()
    assert fleet.status("m1").robot == "r2"
    from worldfs.fleet.mission_port import MissionEnd

    late(MissionEnd(MissionEndKind.DONE, "I am done"))
    fleet.settle()
    assert (fleet.state("m1"), fleet.status("m1").robot) == ("running", "r2")


def test_a_robot_that_nobody_serves_is_shown_as_lost_with_the_time_it_was_heard_of(fleet):
    fleet.add("m1", robot="r2")
    fleet.settle()
    heard = fleet.clock.now()
    fleet.lose("r1")
    fleet.clock.advance(100.0)
    fleet.settle()
    pool = {robot.robot: robot for robot in orchestrator.read(fleet.page().encode()).dashboard.robots}
    assert (pool["r1"].status, pool["r1"].heartbeat) == ("offline", heard.strftime("%H:%M:%S"))
    assert pool["r2"].heartbeat > pool["r1"].heartbeat
    assert fleet.alerts["robots/r1"].code == "ROBOT_LOST"
    assert heard.strftime("%H:%M:%S") in fleet.alerts["robots/r1"].found
    fleet.find("r1")
    fleet.settle()
    assert fleet.alerts["robots/r1"] is None


def test_a_renewal_alone_writes_no_page(fleet):
    fleet.robots.robots["r1"] = fleet.robots.robots["r1"]._replace(heard=fleet.clock.now())
    fleet.add("m1", robot="r2")
    fleet.settle()
    page = fleet.page()
    fleet.clock.advance(60.0)
    fleet.find("r1")
    fleet.settle()
    assert fleet.page() == page


def test_rows_that_people_write_become_missions_once(fleet):
    fleet.write(orchestrator.template().decode() + "| Water delivery | manipulation | high | |\n")
    fleet.settle()
    assert [order for order, _ in fleet.robots.begun] == fleet.files.open_ids()
    (id,) = fleet.files.open_ids()
    assert fleet.files.load(id).priority == "high"
    fleet.robots.end(id)
    fleet.settle()
    stale = orchestrator.template().decode() + "| Water delivery | manipulation | high | |\n"
    fleet.write(stale)  # an editor that has not reloaded
    fleet.settle()
    assert fleet.files.open_ids() == []
    assert len(fleet.robots.begun) == 1
    assert any(finding is not None and finding.code == "MISSION_KNOWN" for finding in fleet.alerts.values())
    fleet.write(orchestrator.template().decode() + "| Water delivery | manipulation | high | 2026-12-01 08:00 |\n")
    fleet.settle()
    assert len(fleet.robots.begun) == 2


FOREIGN = """\
# Orchestrator Dashboard
## Active Missions
| Mission | Assigned To | Priority | Status |
|---|---|---|---|
| Clear the hall | robot_9 | high | running |
## Robot Pool
| Robot | Status | Last Heartbeat | Current Mission |
|---|---|---|---|
| robot_9 | busy | 12:00:15 | Clear the hall |
"""


def test_rows_of_a_board_of_another_program_do_not_vanish_without_a_word(fleet):
    fleet.write(FOREIGN)
    fleet.settle()
    assert "robot_9" not in fleet.page() and "| r1 " in fleet.page()  # the board shows what is so
    (said,) = [finding for finding in fleet.alerts.values() if finding is not None]
    assert said.code == "ROWS_OF_OTHERS" and said.warning
    assert "Clear the hall" in said.found and "robot_9" in said.found and "paos log" in said.fix


def test_an_old_copy_of_the_own_board_is_nobody_elses(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    before = fleet.page()
    fleet.robots.end("m1")
    fleet.settle()
    fleet.write(before)  # an editor that has not reloaded
    fleet.settle()
    assert not any(finding is not None for finding in fleet.alerts.values())


def test_the_board_of_a_killed_orchestrator_is_nobody_elses(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    fleet.robots.end("m1")
    fleet.settle()
    fleet.loop._page._own.clear()  # as one that begins knows them
    fleet.write(FOREIGN.replace("Clear the hall", fleet.files.load("m1").order.text).replace("robot_9", "r1"))
    fleet.settle()
    assert not any(finding is not None for finding in fleet.alerts.values())


def test_a_row_as_it_was_rendered_is_no_new_mission_after_its_end(fleet):
    for n in range(1, 4):
        fleet.add(f"m{n}")
    fleet.settle()
    stale = fleet.page()
    assert "| m3 " in stale
    for id in ("m1", "m2", "m3"):
        fleet.robots.end(id)
        fleet.settle()
    fleet.write(stale)
    fleet.settle()
    assert fleet.files.open_ids() == []
    assert len(fleet.robots.begun) == 3
    assert orchestrator.read(fleet.page().encode()).dashboard.queue == ()


@pytest.mark.parametrize(("row", "id"), [("| r1 | normal | running |", "m1"), ("| — | normal |", "m3")])
def test_cancelled_in_a_row_is_obeyed(fleet, row, id):
    for n in range(1, 4):
        fleet.add(f"m{n}")
    fleet.settle()
    lines = fleet.page().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(f"| {id} "))
    lines[at] = lines[at].replace("running", "cancelled").replace("normal", "cancelled" if id == "m3" else "normal")
    fleet.write("\n".join(lines) + "\n")
    fleet.settle()
    assert fleet.state(id) == "cancelled"


def test_prose_of_people_stays_and_a_broken_file_is_left_alone(fleet):
    fleet.write(orchestrator.template().decode() + "\nAsk Ada first.\n")
    fleet.add("m1")
    fleet.settle()
    assert "Ask Ada first." in fleet.page()
    fleet.store.put("ORCHESTRATOR.md", b"\xff\xfe broken")
    fleet.robots.end("m1")
    fleet.settle()
    assert fleet.store.get("ORCHESTRATOR.md").data == b"\xff\xfe broken"
    assert fleet.alerts["ORCHESTRATOR.md"] is not None
    assert fleet.state("m1") == "succeeded"


def test_two_missions_of_one_text_have_titles_of_their_own(fleet):
    fleet.write(orchestrator.template().decode() + "| Patrol | | normal | 10:00 |\n| Patrol | | normal | 11:00 |\n")
    fleet.settle()
    titles = {fleet.files.load(id).order.title for id in fleet.files.open_ids()}
    assert titles == {"Patrol", "Patrol #2"}


def test_what_no_robot_can_do_waits_with_the_reason_and_what_nobody_understands_fails(fleet):
    fleet.add("m1", text="fly", requires=("flight",))
    fleet.robots.refused["gibberish"] = "I do not understand"
    fleet.add("m2", text="gibberish")
    fleet.robots.wants["lift"] = MissionNeeds(frozenset({"lift"}))
    fleet.add("m3", text="lift")
    fleet.settle()
    assert [fleet.state(f"m{n}") for n in (1, 2, 3)] == ["queued", "failed", "queued"]
    assert "it is not able to: flight" in fleet.page()


def test_a_second_orchestrator_is_refused_by_name(fleet):
    with pytest.raises(Busy, match="in use by"):
        fleet.start()


def test_reservations_of_missions_at_work_end_with_them(fleet):
    cup = [Reservation(ReservedKind.OBJECT, "cup")]
    fleet.add("m1")
    fleet.add("m2")
    fleet.settle()
    assert fleet.robots.work["m1"][0].reserve(cup) == 0
    table = fleet.loop.reservations.table
    with fleet.loop._lock:
        table.request("m2", fleet.loop.open["m2"].rank, cup)
        fleet.loop.reservations.decide()
    assert table.held("m2") == set()
    fleet.settle()
    assert any("cup: held by m1" in said for _, said in fleet.loop.missions.log)
    fleet.robots.end("m1")
    fleet.settle()
    assert table.held("m2") == set(cup)


HOSTILE = ["../up", "a/b", ".hidden", "x" * 300, "", "a\nb"]


@pytest.mark.parametrize("id", HOSTILE)
def test_ids_that_are_no_names_are_refused(fleet, id):
    with pytest.raises(Unsafe):
        fleet.files.add(MissionOrder(id, "text"))
    with pytest.raises(NotFound):
        fleet.files.load(id)


def test_a_mission_file_that_cannot_be_read_is_named_and_stops_nothing(fleet):
    fleet.store.put(".paos/missions/bad.jsonl", b"{]")
    fleet.add("m1")
    fleet.settle()
    assert fleet.state("m1") == "running"
    assert ".paos/missions/bad" in fleet.alerts
