"""What a mission has reserved: durable before the order is handed over, kept while its end is not known."""

import threading

import pytest

from worldfs.base.model import Cause, Job, JobState, JobStatus, Order, Outcome
from worldfs.fleet.mission_reservations import KEPT
from worldfs.fleet.reservations import Reservation, ReservedKind, read_reservation
from worldfs.testing.waiting import until

CUP = Reservation(ReservedKind.OBJECT, "cup")
AISLE = Reservation(ReservedKind.LANE, "aisle", 1)
HERE = Reservation(ReservedKind.PLACE, box=(0.0, 0.0, 1.0, 1.0))


OVER = Reservation(ReservedKind.WAY, box=(0.0, 0.0, 1.0, 1.0))


@pytest.mark.parametrize("item", [CUP, AISLE, HERE, OVER, Reservation(ReservedKind.SPACE, box=(0.0,) * 6)])
def test_a_reservation_is_read_as_it_was_written(item):
    assert read_reservation(item.as_json()) == item
    assert read_reservation({"kind": "wish"}) is None


def begin(fleet, id="m1", wanted=(CUP, AISLE), job="job_1", state=JobState.RUNNING):
    hold = fleet.robots.work[id][0]
    assert hold.reserve(list(wanted), [HERE]) == 0
    assert hold.note_job(Order(job, fleet.status(id).robot, "pick_up"))
    fleet.robots.jobs[job] = Job(Order(job, "r1", "pick_up"), JobStatus(state, 1))


def asked(fleet, id, *wanted):
    """What the mission's own thread gets, once it gets something."""
    found = []
    thread = threading.Thread(target=lambda: found.append(fleet.robots.work[id][0].reserve(list(wanted))), daemon=True)
    thread.start()
    return found


def waits(fleet, id):
    with fleet.loop._lock:
        return id in fleet.loop.reservations.table.waits_for()


def test_what_is_reserved_is_durable_with_the_order_that_it_is_for(fleet):
    fleet.add("m1")
    fleet.settle()
    begin(fleet)
    assert set(fleet.status("m1").held) == {CUP, AISLE, HERE}
    fleet.robots.end("m1")
    fleet.settle()
    assert fleet.status("m1").held == ()


@pytest.mark.parametrize("killed", [False, True])
def test_what_a_robot_had_is_kept_while_its_end_is_unknown_until_a_person_releases_it(fleet, killed):
    fleet.add("m1", robot="r1")
    fleet.settle()
    begin(fleet)
    if killed:
        fleet.drop()
        fleet.start()
        fleet.settle()
    else:
        from worldfs.fleet.mission_port import MissionEndKind

        fleet.robots.end("m1", MissionEndKind.LOST, "it does not answer")
        fleet.settle()
    assert fleet.state("m1") == "failed"
    assert "r1" in fleet.store.list(KEPT)
    assert "paos mission release m1" in fleet.alerts["reservations/r1"].fix
    fleet.drop()  # and once more: they are kept across every start
    fleet.start()
    fleet.add("m2", robot="r2")
    fleet.settle()
    found = asked(fleet, "m2", CUP)
    until(lambda: waits(fleet, "m2"))
    fleet.settle()
    assert not found
    assert "r1, which keeps it since an order whose end is not known" in fleet.page()
    fleet.files.request("m1", "release", "operator")
    fleet.settle()
    until(lambda: found == [0])
    assert list(fleet.store.list(KEPT)) == []
    assert fleet.alerts["reservations/r1"] is None


def test_the_robot_itself_goes_on_with_what_it_kept_and_frees_it_by_a_known_end(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    begin(fleet)
    fleet.drop()
    fleet.start()
    fleet.settle()
    fleet.add("m2", robot="r1")
    fleet.settle()
    begin(fleet, "m2", wanted=(CUP,), job="job_2")
    fleet.robots.work["m2"][0].settle([HERE])
    assert list(fleet.store.list(KEPT)) == []


def test_a_silent_robot_keeps_its_lane_and_place_until_it_is_heard_of_and_its_end_is_known(fleet):
    fleet.robots.repeats = True
    fleet.add("m1")
    fleet.settle()
    begin(fleet)
    fleet.lose("r1")
    fleet.settle()
    assert fleet.status("m1").robot == "r2"  # looking once more does no harm
    found = asked(fleet, "m1", CUP)  # a thing is the mission's: it goes with it
    until(lambda: found == [0])
    lane = asked(fleet, "m1", AISLE._replace(direction=-1))
    until(lambda: waits(fleet, "m1"))
    fleet.robots.jobs["job_1"] = Job(
        Order("job_1", "r1", "pick_up"), JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome(True))
    )
    fleet.settle()
    assert not lane  # its end is known, but not that it is there
    fleet.find("r1")
    fleet.settle()
    until(lambda: lane == [0])


def test_a_lost_end_is_no_known_end(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    begin(fleet)
    lost = JobStatus(JobState.FAILED, 1, outcome=Outcome(False, "", Cause.LOST))
    fleet.robots.jobs["job_1"] = Job(Order("job_1", "r1", "pick_up"), lost)
    fleet.drop()
    fleet.start()
    fleet.settle()
    assert "r1" in fleet.store.list(KEPT)
    fleet.robots.heard.add("job_1")  # the robot was cut off: what it measured was read when it was back
    fleet.settle()
    assert "r1" not in fleet.store.list(KEPT)


def test_a_robot_without_a_mission_has_the_place_where_it_stands(fleet):
    fleet.robots.robots["r2"] = fleet.robots.robots["r2"]._replace(stands=(HERE,))
    fleet.add("m1", robot="r1")
    fleet.settle()
    found = asked(fleet, "m1", HERE)
    until(lambda: waits(fleet, "m1"))
    fleet.robots.robots["r2"] = fleet.robots.robots["r2"]._replace(stands=())  # somebody drove it away
    fleet.settle()
    until(lambda: found == [0])


def test_what_outlived_a_start_at_another_process_s_robot_is_still_reserved(fleet):
    fleet.robots.elsewhere.add("r1")
    fleet.add("m1", robot="r1")
    fleet.settle()
    begin(fleet)
    fleet.drop()
    fleet.start()
    fleet.add("m2", robot="r2")
    fleet.settle()
    assert "job_1" in fleet.robots.followed
    found = asked(fleet, "m2", CUP)
    until(lambda: waits(fleet, "m2"))
    from worldfs.fleet.mission_port import MissionEnd, MissionEndKind

    fleet.robots.followed["job_1"](MissionEnd(MissionEndKind.DONE, "done"))
    fleet.settle()
    until(lambda: found == [0])


def test_a_mission_that_is_not_to_go_on_is_told_so_also_where_all_that_it_asks_for_is_free(fleet):
    fleet.add("m1")
    fleet.settle()
    reservations, mission = fleet.loop.reservations, fleet.loop.open["m1"]
    with fleet.loop._lock:
        assert reservations.reserve(mission, lambda: False, [CUP]) is None
        assert reservations.reserve(mission, lambda: True, [CUP]) == 0


def test_nothing_is_kept_for_an_order_that_had_nothing(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    reservations, mission = fleet.loop.reservations, fleet.loop.open["m1"]
    reservations.keep(mission, Job(Order("job_1", "r1", "pick_up"), JobStatus(JobState.FAILED, 1)), things=True)
    assert not reservations.keeps("r1") and fleet.store.list(KEPT) == [] and "reservations/r1" not in fleet.alerts


# -- a thing in a gripper ------------------------------------------------------------------------------------------


def hold(fleet, robot, *things):
    """What is in the gripper, as it is measured."""
    fleet.robots.robots[robot] = fleet.robots.robots[robot]._replace(stands=things)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_thing_in_a_gripper_stays_reserved_while_its_holder_does_another_mission(fleet, restarted):
    hold(fleet, "r1", CUP)
    fleet.add("other", robot="r1")
    fleet.add("m2", robot="r2")
    fleet.settle()
    if restarted:
        fleet.drop()
        fleet.start()
        fleet.settle()
    found = asked(fleet, "m2", CUP)
    until(lambda: waits(fleet, "m2"))
    assert fleet.robots.work["other"][0].reserve([AISLE], [CUP, HERE]) == 0
    assert fleet.robots.work["other"][0].note_job(Order("job_1", "r1", "go"))
    assert CUP in fleet.status("other").held
    fleet.settle()
    assert waits(fleet, "m2") and not found
    fleet.robots.work["other"][0].settle([CUP, HERE])
    fleet.robots.end("other")
    fleet.settle()
    assert waits(fleet, "m2") and not found  # it has it still
    hold(fleet, "r1")
    fleet.loop.step()
    until(lambda: found == [0])


def test_a_thing_that_was_put_down_on_the_way_is_free_before_its_holders_mission_ends(fleet):
    hold(fleet, "r1", CUP)
    fleet.add("other", robot="r1")
    fleet.add("m2", robot="r2")
    fleet.settle()
    work = fleet.robots.work["other"][0]
    assert work.reserve([AISLE], [CUP, HERE]) == 0
    found = asked(fleet, "m2", CUP)
    until(lambda: waits(fleet, "m2"))
    work.settle([HERE])
    until(lambda: found == [0])
    assert fleet.state("other") == "running"


def test_a_thing_that_the_holders_mission_is_about_stays_its_own_to_the_end(fleet):
    hold(fleet, "r1", CUP)
    fleet.add("m1", robot="r1")
    fleet.add("m2", robot="r2")
    fleet.settle()
    work = fleet.robots.work["m1"][0]
    assert work.reserve([CUP], [CUP, HERE]) == 0
    found = asked(fleet, "m2", CUP)
    until(lambda: waits(fleet, "m2"))
    work.settle([HERE])
    assert waits(fleet, "m2") and not found
    hold(fleet, "r1")
    fleet.robots.end("m1")
    fleet.settle()
    until(lambda: found == [0])


@pytest.mark.parametrize("at_work", [False, True])
def test_what_a_robot_held_is_free_once_it_is_no_robot_of_the_fleet(fleet, at_work):
    hold(fleet, "r1", CUP)
    fleet.add("m2", robot="r2")
    if at_work:
        fleet.add("other", robot="r1")
    fleet.settle()
    if at_work:
        assert fleet.robots.work["other"][0].reserve([AISLE], [CUP, HERE]) == 0
    found = asked(fleet, "m2", CUP)
    until(lambda: waits(fleet, "m2"))
    del fleet.robots.robots["r1"]
    fleet.settle()
    until(lambda: found == [0])
    assert at_work or "r1 is no robot of this fleet any more: cup is free" in fleet.page()


A, B = (Reservation(ReservedKind.PLACE, box=(at, 0.0, at + 0.7, 0.7)) for at in (0.0, 1.0))


@pytest.mark.parametrize("bound", [False, True])
def test_a_circle_that_none_opens_gives_a_mission_of_which_nothing_was_sent_to_another_robot(fleet, bound):
    fleet.add("m1", robot="r1")
    fleet.add("m2", robot="r2" if bound else "")
    fleet.settle()
    assert (fleet.status("m1").robot, fleet.status("m2").robot) == ("r1", "r2")
    fleet.robots.robots["r3"] = fleet.robots.robots["r2"]._replace(id="r3")

    holds = {id: fleet.robots.work[id][0] for id in ("m1", "m2")}
    for id, stands in (("m1", A), ("m2", B)):
        assert holds[id].reserve([], [stands]) == 0
    for id, stands, wanted in (("m1", A, B), ("m2", B, A)):
        threading.Thread(target=holds[id].reserve, args=([wanted], [stands]), daemon=True).start()
    until(lambda: fleet.settle() or fleet.status("m2").robot != "r2" or fleet.status("m2").state.ended)
    found = fleet.status("m2")
    if bound:
        assert found.state == "failed" and "deadlock" in found.reason
    else:
        assert (found.state, found.robot, found.barred) == ("running", "r3", ("r2",))
