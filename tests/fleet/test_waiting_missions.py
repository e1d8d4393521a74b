"""A mission that waits says so, and for what: in its file, on the board and to a process that waits for rest."""

import threading
from types import SimpleNamespace

import pytest

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
