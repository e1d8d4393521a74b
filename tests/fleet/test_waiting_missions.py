"""A mission that waits says so, and for what: in its file, on the board and to a process that waits for rest."""

import threading
from types import SimpleNamespace

import pytest

from worldfs.base.model import Cause, JobState, Operation, Order, Profile
from worldfs.fleet.bids import MissionNeeds, RobotOffer
from worldfs.fleet.mission import Mission, MissionState, MissionStatus
from worldfs.fleet.mission_port import MissionEndKind
from worldfs.fleet.mission_store import MissionFiles
from worldfs.fleet.reservations import Reservation, ReservedKind
from worldfs.fleet.room_making import WayOut
from worldfs.runtime.approvals import APPROVALS
from worldfs.testing.waiting import until
from worldfs.world.orchestration import Orchestration

CUP = Reservation(ReservedKind.OBJECT, "cup")


def reserve(fleet, id, *wanted):
    """From the mission's own thread."""
    work = fleet.robots.work[id][0].reserve
    thread = threading.Thread(target=work, args=(list(wanted),), daemon=True)
    thread.start()
    return thread


@pytest.fixture
def two(fleet):
    """m1 has the cup, and m2 waits for it."""
    for id, robot in (("m1", "r1"), ("m2", "r2")):
        fleet.add(id, robot=robot)
    fleet.settle()
    reserve(fleet, "m1", CUP).join()
    fleet.waiting = reserve(fleet, "m2", CUP)
    until(lambda: fleet.status("m2").waits)
    fleet.settle()
    return fleet


def test_a_mission_that_waits_for_a_reservation_says_for_which_until_it_has_it(two):
    assert two.status("m2").waits == "cup: held by m1"
    assert two.state("m2") == "running" and not two.status("m1").waits
    page = two.page()
    assert "m2: waiting: cup: held by m1" in page.partition("Decision Log")[2]
    assert "| waiting: cup: held by m1 |" in page.partition("Decision Log")[0]
    rows = {
        line.split("|")[1].strip(): line.split("|")[2].strip() for line in page.splitlines() if line.startswith("| r")
    }
    assert rows["r1"] == "busy" and rows["r2"] == "waiting"
    two.robots.end("m1")
    two.settle()
    two.waiting.join()
    assert not two.status("m2").waits
    two.loop.step()
    assert "waiting" not in two.page().partition("Decision Log")[0]


def test_what_a_mission_waits_for_is_in_its_file_and_read_by_any_process(two):
    files = MissionFiles(two.store, two.clock)
    assert files.load("m2").status.waits.code == "mission.waits_for"  # said in the reader's language
    two.robots.end("m1")
    two.settle()
    two.waiting.join()
    assert not files.load("m2").status.waits


def test_a_mission_that_ends_or_is_paused_waits_for_nothing(two):
    two.files.request("m2", "pause", "operator")
    two.settle()
    assert two.state("m2") == "paused" and not two.status("m2").waits


def ask(fleet, robot, why):
    fleet.robots.asking = {robot: why} if why else {}
    fleet.store.put(f"{APPROVALS}/0.json", why.encode())
    fleet.settle()


def test_a_mission_that_waits_for_a_person_says_whose_approval_and_keeps_no_process_from_its_rest(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    assert fleet.loop.working and not fleet.loop.waits_for_persons
    ask(fleet, "r1", "the approval of operator: paos approve 12ab")
    assert fleet.status("m1").waits == "the approval of operator: paos approve 12ab"
    assert "waiting: the approval of operator" in fleet.page()
    assert fleet.loop.waits_for_persons
    fleet.add("m2", robot="r2")
    fleet.settle()
    assert not fleet.loop.waits_for_persons  # another one goes on by itself
    fleet.robots.end("m2")
    ask(fleet, "r1", "")
    assert not fleet.status("m1").waits and not fleet.loop.waits_for_persons


def test_missions_that_wait_for_one_that_waits_for_a_person_do_so_too(two):
    assert not two.loop.waits_for_persons
    ask(two, "r1", "the approval of operator: paos approve 12ab")
    assert two.loop.waits_for_persons
    two.loop.seeks_room = True  # a robot may be sent out of the way with the next step
    assert not two.loop.waits_for_persons
    ask(two, "r1", "")
    two.robots.end("m1")
    two.settle()
    two.waiting.join()
    assert not two.loop.waits_for_persons


def test_a_process_that_waits_for_missions_is_stopped_at_once(two):
    """While nothing steps: a stop sets nothing but its event."""
    world, kernel = (
        SimpleNamespace(clock=two.clock),
        SimpleNamespace(tick=lambda: False, idle=True, stopping=SimpleNamespace()),
    )
    threads, stop = SimpleNamespace(submitted=None), threading.Event()
    orchestration = Orchestration(world, kernel, two.loop, threads)
    waiting = threading.Thread(target=orchestration.wait_for_jobs, args=(stop,), daemon=True)
    waiting.start()
    stop.set()
    waiting.join()


def test_a_mission_whose_robot_is_cut_off_says_so(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    offer = fleet.robots.robots["r1"]
    fleet.robots.robots["r1"] = offer._replace(unable="r1 is cut off since 12:00", cut_off=True)
    fleet.settle()
    assert fleet.status("m1").waits == "r1 is cut off since 12:00"
    fleet.robots.robots["r1"] = offer
    fleet.settle()
    assert not fleet.status("m1").waits


def test_a_mission_that_waits_for_its_turn_at_a_robot_says_so(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    fleet.robots.work["m1"][0].note_turn("r1 carries out “wave”")
    fleet.settle()
    assert "waiting: r1 carries out “wave”" in fleet.page()
    fleet.robots.work["m1"][0].note_turn("")
    assert not fleet.status("m1").waits


def test_after_its_end_an_orchestrator_calls_nothing_running_and_no_robot_of_its_own_at_work(fleet):
    fleet.add("m1", robot="r1")
    fleet.add("m2", robot="r2")
    fleet.settle()
    stop, loop = threading.Event(), fleet.loop
    life = threading.Thread(target=loop.run, args=(stop,))
    life.start()
    stop.set()
    loop.request_stop()
    loop.wake()
    life.join()
    page = fleet.page().partition("Decision Log")[0]
    assert page.count("interrupted") == 2 and "running" not in page and "busy" not in page
    fleet.drop()
    fleet.start()
    fleet.settle()
    assert fleet.page().partition("Decision Log")[0].count("| running") == 2


@pytest.mark.parametrize("passing", [False, True])
def test_a_mission_behind_an_idle_robot_says_that_nothing_sends_it_away(fleet, passing):
    here = Reservation(ReservedKind.PLACE, box=(0.0, 0.0, 1.0, 1.0))
    bay = Reservation(ReservedKind.PLACE, box=(5.0, 0.0, 6.0, 1.0))
    fleet.robots.robots["r2"] = fleet.robots.robots["r2"]._replace(mobile=True, stands=(here,))
    fleet.robots.ways_out = lambda robot: [WayOut("bay", (5.5, 0.5), (bay,))] if passing else []
    fleet.add("m1", robot="r1")
    fleet.settle()
    reserve(fleet, "m1", here)
    until(lambda: fleet.status("m1").waits)
    fleet.settle()
    assert ("m1_room_r2" in fleet.loop.open) is passing
    assert ("r2 stands idle in the way, and no passing place is free" in fleet.page()) is not passing


def test_a_robot_in_the_way_is_sent_aside_as_soon_as_it_can_be(fleet):
    here = Reservation(ReservedKind.PLACE, box=(0.0, 0.0, 1.0, 1.0))
    bay = Reservation(ReservedKind.PLACE, box=(5.0, 0.0, 6.0, 1.0))
    robot = fleet.robots.robots["r2"]._replace(mobile=True, stands=(here,))
    fleet.robots.robots["r2"] = robot._replace(unable="it is stopped", state="stopped")
    fleet.robots.ways_out = lambda robot: [WayOut("bay", (5.5, 0.5), (bay,))]
    fleet.add("m1", robot="r1")
    fleet.settle()
    reserve(fleet, "m1", here)
    until(lambda: fleet.status("m1").waits)
    fleet.settle()
    assert "m1_room_r2" not in fleet.loop.open
    fleet.robots.robots["r2"] = robot
    fleet.loop.step()
    fleet.settle()
    assert "m1_room_r2" in fleet.loop.open


def test_a_mission_whose_robot_is_out_of_reach_before_anything_was_sent_waits_for_it(fleet):
    fleet.add("m1", text="go to the dock", robot="r1")
    fleet.settle()
    fleet.robots.submit("m1", "j1", JobState.PENDING)
    fleet.robots.submit_again("j1", JobState.FAILED, Cause.REJECTED)
    there = fleet.robots.robots["r1"]
    fleet.robots.robots["r1"] = there._replace(unable="no broker", state="unreachable")
    fleet.robots.end("m1", MissionEndKind.FAILED, "refused: no broker")
    fleet.settle()
    assert fleet.state("m1") == "queued"
    fleet.robots.robots["r1"] = there
    fleet.loop.wake()
    fleet.settle()
    assert fleet.state("m1") == "running" and fleet.robots.begun == [("m1", "r1")] * 2


def test_a_mission_of_which_an_order_was_begun_fails_though_its_robot_is_out_of_reach(fleet):
    fleet.add("m1", text="go to the dock", robot="r1")
    fleet.settle()
    fleet.robots.submit("m1", "j1", JobState.FAILED, Cause.ERROR)
    fleet.robots.robots["r1"] = fleet.robots.robots["r1"]._replace(unable="no broker", state="unreachable")
    fleet.robots.end("m1", MissionEndKind.FAILED, "it failed")
    fleet.settle()
    assert fleet.state("m1") == "failed"


DOCK = Reservation(ReservedKind.PLACE, box=(0.0, 0.0, 1.0, 1.0))


def keep_dock(fleet):
    """A robot that nobody sends away stands on the dock."""
    fleet.loop.reservations.table.add("r9 stands there", [DOCK])


@pytest.mark.parametrize("priority", ["normal", "high"])
def test_a_mission_that_waits_for_a_place_gives_its_robot_to_the_next_one(fleet, priority):
    keep_dock(fleet)
    fleet.add("m1", text="go to the dock", robot="r1")
    fleet.settle()
    thread = reserve(fleet, "m1", DOCK)
    until(lambda: fleet.status("m1").waits)
    fleet.add("m2", text="go to the gate", robot="r1", priority=priority)
    fleet.settle()
    thread.join()
    assert (fleet.state("m1"), fleet.state("m2")) == ("queued", "running")
    fleet.robots.end("m2")
    fleet.settle()
    assert (fleet.state("m1"), fleet.state("m2")) == ("running", "succeeded")


def test_two_missions_that_both_wait_do_not_change_places_for_ever(fleet):
    keep_dock(fleet)
    for id in ("m1", "m2"):
        fleet.add(id, text=f"go to the dock {id}", robot="r1")
    fleet.settle()
    thread = reserve(fleet, "m1", DOCK)
    until(lambda: fleet.status("m1").waits)
    fleet.settle()
    thread.join()
    assert fleet.state("m2") == "running"
    reserve(fleet, "m2", DOCK)
    until(lambda: fleet.status("m2").waits)
    fleet.settle()
    assert (fleet.state("m1"), fleet.state("m2")) == ("queued", "running") and len(fleet.robots.begun) == 2


@pytest.mark.parametrize("priority", ["normal", "high"])
def test_a_mission_that_waits_for_one_at_work_gives_way_to_a_higher_priority_alone(two, priority):
    """m2 waits for the cup that m1 has."""
    two.add("m3", text="go to the gate", robot="r2", priority=priority)
    two.settle()
    assert two.state("m3") == ("running" if priority == "high" else "queued")


def test_a_mission_of_which_an_order_was_sent_keeps_its_robot(fleet):
    keep_dock(fleet)
    fleet.add("m1", text="go to the dock", robot="r1")
    fleet.settle()
    fleet.robots.submit("m1", "j1", JobState.SUCCEEDED)
    reserve(fleet, "m1", DOCK)
    until(lambda: fleet.status("m1").waits)
    fleet.add("m2", text="go to the gate", robot="r1", priority="high")
    fleet.settle()
    assert (fleet.state("m1"), fleet.state("m2")) == ("running", "queued")


def test_a_mission_for_a_robot_that_was_taken_out_ends_also_where_no_other_robot_is_free(fleet):
    fleet.add("m1", robot="r1")
    fleet.settle()
    fleet.add("m2", robot="r1")
    fleet.settle()
    assert (fleet.state("m1"), fleet.state("m2")) == ("running", "queued")
    fleet.robots.robots.clear()
    fleet.robots.left.add("r1")
    fleet.settle()
    assert fleet.state("m2") == "failed"
    assert "no robot of this fleet any more" in fleet.status("m2").reason


LANE = Reservation(ReservedKind.PLACE, box=(2.0, 0.0, 3.0, 1.0))


@pytest.fixture
def making_room(fleet):
    """m1 waits for the dock, on which r2 stands; the mission that sends r2 away waits for a lane."""
    fleet.loop.reservations.table.add("r9 stands there", [LANE])
    bay = Reservation(ReservedKind.PLACE, box=(5.0, 0.0, 6.0, 1.0))
    fleet.robots.robots["r2"] = fleet.robots.robots["r2"]._replace(mobile=True, stands=(DOCK,))
    fleet.robots.ways_out = lambda robot: [WayOut("bay", (5.5, 0.5), (bay,))]
    fleet.add("m1", robot="r1")
    fleet.settle()
    fleet.waiting = reserve(fleet, "m1", DOCK)
    until(lambda: fleet.status("m1").waits)
    fleet.settle()
    fleet.room = fleet.robots.work["m1_room_r2"][0]
    fleet.room_waits = threading.Thread(target=fleet.room.reserve, args=([LANE], [DOCK]), daemon=True)
    fleet.room_waits.start()
    until(lambda: fleet.status("m1_room_r2").waits)
    return fleet


def is_sent(fleet):
    """Whether the mission hands an order over once the lane is free."""
    with fleet.loop._lock:
        fleet.loop.reservations.table.release("r9 stands there")
        fleet.loop.reservations.decide()
    return fleet.room.note_job(Order("j1", "r2", "target_navigation"))


def cancel(fleet):
    fleet.files.request("m1", "cancel", "operator")


def fail(fleet):
    fleet.robots.end("m1", MissionEndKind.REFUSED)


def remove(fleet):
    fleet.robots.repeats = True
    fleet.robots.submit("m1", "j0", JobState.RUNNING)
    fleet.robots.repeats = False
    del fleet.robots.robots["r1"]


@pytest.mark.parametrize("end", [cancel, fail, remove])
def test_a_robot_is_not_sent_out_of_the_way_of_a_mission_that_has_ended(making_room, end):
    end(making_room)
    making_room.settle()
    assert making_room.loop.missions.state_of("m1").ended
    assert making_room.state("m1_room_r2") == "cancelled"
    assert not is_sent(making_room) and not making_room.files.open_ids()


def test_a_cancelled_mission_stops_the_robot_that_was_to_be_out_of_its_way(making_room):
    assert is_sent(making_room)
    cancel(making_room)
    making_room.settle()
    assert making_room.state("m1_room_r2") == "cancelled"


def test_a_robot_goes_on_out_of_the_way_of_a_mission_that_has_succeeded(making_room):
    assert is_sent(making_room)
    making_room.robots.end("m1")
    making_room.settle()
    assert (making_room.state("m1"), making_room.state("m1_room_r2")) == ("succeeded", "running")


def test_a_robot_is_sent_out_of_the_way_only_while_that_is_waited_for(making_room):
    assert not making_room.loop.open["m1"].status.job
    making_room.files.request("m1", "pause", "operator")
    making_room.settle()
    assert making_room.state("m1_room_r2") == "queued" and making_room.status("m1_room_r2").waits
    making_room.files.request("m1", "resume", "operator")
    making_room.settle()
    assert making_room.state("m1_room_r2") == "queued"  # m1 has not asked for the dock yet
    reserve(making_room, "m1", DOCK)
    until(lambda: making_room.status("m1").waits)
    making_room.settle()
    assert making_room.state("m1_room_r2") == "running"
    making_room.room = making_room.robots.work["m1_room_r2"][0]
    assert is_sent(making_room)


def test_no_order_goes_out_for_a_mission_that_has_its_way_free_meanwhile(making_room):
    making_room.loop.reservations.table.release("m1")  # it asks for the dock no more
    assert not is_sent(making_room)
    making_room.settle()
    assert making_room.state("m1_room_r2") == "queued"


def test_after_a_restart_no_robot_is_sent_out_of_the_way_of_a_mission_that_has_ended(making_room):
    making_room.drop()
    making_room.files.write(Mission(making_room.loop.open["m1"].order, MissionStatus(MissionState.CANCELLED)))
    begun = len(making_room.robots.begun)
    making_room.start()
    making_room.settle()
    assert making_room.state("m1_room_r2") == "cancelled" and len(making_room.robots.begun) == begun


def test_a_queued_mission_that_no_robot_can_have_now_says_why_until_one_can(fleet):
    may_move = fleet.robots.robots["r1"]._replace(unable="r1 may still move", may_move=True)
    fleet.robots.robots["r1"] = may_move
    fleet.robots.robots["r2"] = fleet.robots.robots["r2"]._replace(unable="r2 was stopped", state="stopped")
    fleet.add("m1")
    fleet.settle()
    assert "r1 may still move" in fleet.status("m1").waits and "r2 was stopped" in fleet.status("m1").waits
    assert "m1: queued: no robot can: r1: r1 may still move" in fleet.page()
    fleet.robots.robots["r2"] = fleet.robots.robots["r2"]._replace(unable="", state="idle")
    fleet.add("m0", robot="r2", priority="high")
    fleet.settle()
    assert fleet.state("m0") == "running" and not fleet.status("m1").waits  # its turn comes


def test_a_robot_at_work_that_cannot_do_it_is_no_reason_to_say_nothing(fleet):
    fleet.add("m0", robot="r2")
    fleet.settle()
    lifts = Profile("Lift", ops=(Operation("lift"),))
    fleet.robots.robots["r1"] = RobotOffer("r1", lifts, unable="r1 may still move", may_move=True)
    fleet.robots.wants["m1"] = MissionNeeds(frozenset({"lift"}))
    fleet.add("m1")
    fleet.add("m2")
    fleet.settle()
    assert fleet.status("m1").waits == "r1 may still move"
    assert not fleet.status("m2").waits and fleet.state("m2") == "queued"  # r2 does it next


@pytest.mark.parametrize(("legs", "said"), [("", "no robot can: r1"), ("no carrier brings it", "no carrier brings it")])
def test_a_mission_that_no_robot_can_do_gives_one_reason_once(fleet, legs, said):
    fleet.robots.legs = legs
    fleet.robots.wants["m1"] = MissionNeeds(frozenset({"fly"}))
    fleet.add("m1")
    for _ in range(3):
        fleet.settle()
    assert len(fleet.loop.missions.log) == 1 and said in fleet.status("m1").waits


def test_the_board_shows_a_robot_that_may_still_move_and_is_none_of_the_fleet_any_more(fleet):
    fleet.robots.gone = lambda: [RobotOffer("rig", state="offline", served=False, may_move=True)]
    fleet.add("m1")
    fleet.settle()
    (row,) = (line for line in fleet.page().splitlines() if line.startswith("| rig "))
    assert "offline, may still move" in row
    assert fleet.status("m1").robot != "rig" and "rig" not in str(fleet.alerts)
    fleet.robots.gone = list
    fleet.add("m2")
    fleet.settle()
    assert "| rig " not in fleet.page()
