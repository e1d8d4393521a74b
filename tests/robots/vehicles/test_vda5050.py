"""A mobile robot over VDA 5050, by a real broker: orders, stops, restarts; no vehicle that lies has succeeded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("paho.mqtt.client", reason="the extra vda5050")

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, Order, Outcome, Target
from worldfs.formats import embodied
from worldfs.robots.targets import real_target
from worldfs.robots.vehicles.vda5050 import mqtt_link, vda5050_settings, vda5050_vehicle
from worldfs.runtime.stop_log import StopLog
from worldfs.sessions import vehicle_body
from worldfs.sessions.vehicle_body import order_id
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.check import check
from worldfs.world.profiles import profile_text

from .conftest import ME, ended, lab, opened, page, settings
from .vda5050_peer import Agv

DOCK = ("target_navigation", {"target_label": "dock"})
PASSWORDS = (  # user, sesame: made by mosquitto_passwd
    "user:$7$101$L5a1/p2zARi/MSRJ$RvfgTIsyg8EB9aRCJtrgMwke7SHXW811CvOOZ76/"
    "5qdSA4nL39GFrSICQZlg4WUqueIERm5/Cxmg0SMvvixXVA==\n"
)
FAR = ("move_to", {"target_pose": [30.0, 0.0, 0.0]})


def kinds(agv: Agv) -> list[str]:
    return [action["actionType"] for _, message in agv.instant for action in message["actions"]]


def only(outcomes: list[Outcome]) -> Outcome:
    (outcome,) = outcomes
    return outcome


@pytest.fixture
def running(tmp_path: Path) -> Any:
    """A world that works at one order in a thread of its own: the world, and a function that waits for the outcome."""
    made: list[Any] = []

    def start(config: dict[str, Any], *orders: Any) -> Any:
        world = opened(lab(tmp_path / "lab", config, *orders))
        stop, thread = threading.Event(), None
        thread = threading.Thread(target=lambda: world.run(stop=stop, until_idle=True))
        thread.start()
        made.append((world, stop, thread))

        def outcome() -> Outcome:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
            return only([world.jobs.load(id).status.outcome for id in world.jobs.done_ids()])

        return world, outcome

    yield start
    for world, stop, thread in made:
        stop.set()
        thread.join(PATIENCE_S)
        world.close()


# -- it drives ---------------------------------------------------------------------------------------------------------


def test_an_order_drives_it_to_the_place_and_the_page_says_where_it_is(tmp_path, broker) -> None:
    with Agv(broker.port) as agv:
        outcome = only(ended(lab(tmp_path / "lab", settings(broker.port), DOCK)))
    assert outcome.ok, outcome
    assert outcome.evidence["evidence_class"] == "real" and outcome.evidence["distance_to_goal"] < 0.25
    assert (agv.x, agv.y, agv.theta) == pytest.approx((4.0, 1.0, 1.5))
    (mine,) = page(tmp_path / "lab")["robots"]
    assert mine["robot_id"] == ME and mine["pose"][:2] == pytest.approx([4.0, 1.0], abs=0.01)
    assert mine["battery"] == 80.0


def test_it_drives_to_a_pose_and_in_front_of_a_thing(tmp_path, broker) -> None:
    orders = ("move_to", {"target_pose": [1.0, 0.0, 0.0]}), ("target_navigation", {"target_label": "shelf_01"})
    with Agv(broker.port) as agv:
        outcomes = ended(lab(tmp_path / "lab", settings(broker.port), *orders))
    assert all(outcome.ok for outcome in outcomes), outcomes
    assert (agv.x, agv.y) == pytest.approx((4.5, 0.0))  # a metre before the shelf, which is a metre wide
    assert len(set(agv.driven)) == 2


def test_it_does_not_drive_in_front_of_a_thing_behind_a_wall(tmp_path, broker) -> None:
    root = lab(tmp_path / "lab", settings(broker.port), ("target_navigation", {"target_label": "shelf_01"}))
    now = page(root)
    wall = {"id": "wall_7", "type": "furniture", "shape": "box", "position": [5.0, 0.0, 0.5], "size": [0.1, 4.0, 1.0]}
    now["scene_graph"]["nodes"].append(wall)
    (root / "ENVIRONMENT.md").write_text(json.dumps(now))
    with Agv(broker.port) as agv:
        outcome = only(ended(root))
    assert not outcome.ok and "wall_7" in outcome.message and not agv.driven


def test_every_message_fits_the_schemas_of_the_protocol(tmp_path, broker) -> None:
    validation = pytest.importorskip("vda5050.validation", reason="the published schemas, in vda5050-sdk")
    judge = validation.SchemaValidator()
    place = {"x": 4.0, "y": 1.0, "theta": 1.5, "actions": [{"actionType": "startCharging"}]}
    with Agv(broker.port) as agv:
        config = settings(broker.port, places={"dock": place, "a": [2.0, 0.0]}, edges=[["a", "dock"]], released_edges=1)
        outcome = only(ended(lab(tmp_path / "lab", config, DOCK)))
    assert outcome.ok, outcome
    assert agv.actions[f"{agv.driven[0]}-action-0"]["actionStatus"] == "FINISHED"
    for topic, messages in (("order", agv.orders), ("instantActions", [message for _, message in agv.instant])):
        assert messages
        for message in messages:
            judge.validate(topic, message)
    for topic in ("state", "connection", "visualization"):  # and the vehicle of this test speaks it too
        for message in [body for name, body in agv.sent if name == topic][:50]:
            judge.validate(topic, message)


def test_the_way_over_edges_is_released_as_it_drives(tmp_path, broker) -> None:
    places = {"a": [1.0, 0.0], "b": [1.0, 2.0], "c": [3.0, 2.0], "far": [9.0, 9.0], "dock": [3.0, 0.0]}
    edges = [["a", "b"], ["b", "c"], ["c", "dock"], ["a", "far"], ["far", "dock"]]
    with Agv(broker.port, at=(1.0, 0.0, 0.0)) as agv:
        config = settings(broker.port, places=places, edges=edges, released_edges=1)
        outcome = only(ended(lab(tmp_path / "lab", config, DOCK)))
    assert outcome.ok, outcome
    first, *updates = {message["orderUpdateId"]: message for message in agv.orders}.values()
    assert [node["nodeId"] for node in first["nodes"]] == ["a", "b", "c", "dock"]
    assert [node["released"] for node in first["nodes"]] == [True, True, False, False]
    assert [message["nodes"][0]["nodeId"] for message in updates] == ["b", "c"]  # each begins where the last one ended
    assert len(agv.driven) == 1


def test_an_order_that_was_lost_on_the_way_is_sent_again_and_driven_once(tmp_path, broker, monkeypatch) -> None:
    monkeypatch.setattr(vda5050_vehicle, "AGAIN_S", 0.2)
    with Agv(broker.port, "misses one") as agv:
        outcome = only(ended(lab(tmp_path / "lab", settings(broker.port), DOCK)))
    assert outcome.ok, outcome
    assert len(agv.orders) > 1 and len(agv.driven) == 1


def test_a_vehicle_whose_clock_is_an_hour_off_drives_as_any_other(tmp_path, broker) -> None:
    for off in (-1.0, 1.0):
        with Agv(broker.port, clock_off_h=off):
            outcome = only(ended(lab(tmp_path / f"lab{off}", settings(broker.port), DOCK)))
        assert outcome.ok, outcome


@pytest.mark.proof
def test_states_that_come_again_out_of_order_change_nothing(tmp_path, broker) -> None:
    with Agv(broker.port, "repeats old states") as agv:
        outcomes = ended(
            lab(tmp_path / "lab", settings(broker.port), DOCK, ("move_to", {"target_pose": [0.0, 1.0, 0.0]}))
        )
    assert all(outcome.ok for outcome in outcomes), outcomes
    assert len(agv.driven) == 2


# -- it does not do what it says ---------------------------------------------------------------------------------------

LIES = {
    "says it is there": "NOT_AT_GOAL",
    "on another map": "NOT_AT_GOAL",
    "loses itself": "NOT_AT_GOAL",
    "echoes the goal": "VEHICLE_JUMPED",
    "never stands": "NOT_AT_GOAL",
    "forgets": "ORDER_FORGOTTEN",
    "ends early": "ORDER_ENDED",
    "fatal": "VEHICLE_FAULT",
    "emergency stop": "VEHICLE_FAULT",
    "another order": "ORDER_REPLACED",
    "rejects": "ORDER_REJECTED",
    "deaf": "ORDER_UNACKNOWLEDGED",
    "stops reporting": "VEHICLE_SILENT",
}


@pytest.mark.slice(3)
@pytest.mark.parametrize(("fault", "code"), LIES.items())
def test_no_vehicle_that_lies_or_breaks_has_succeeded(tmp_path, broker, monkeypatch, fault, code) -> None:
    monkeypatch.setattr(vehicle_body, "SETTLE_S", 0.5)
    ack_s, stale_s = 1.0 if fault == "deaf" else 60.0, 1.0 if fault == "stops reporting" else 60.0
    far = {"places": {"dock": [6.0, 0.0, 0.0]}, "ack_s": ack_s, "safety": {"stale_s": stale_s}}
    with Agv(broker.port, fault, speed=5.0) as agv:  # below what is a jump, however late a report is read
        outcome = only(ended(lab(tmp_path / "lab", settings(broker.port, **far), DOCK)))
        assert not outcome.ok and (outcome.cause, outcome.code) == (Cause.ERROR, code), outcome
        if fault != "another order":
            until(lambda: "cancelOrder" in kinds(agv))
        else:
            assert "cancelOrder" not in kinds(agv)  # it is another controller's to end
    assert len(agv.driven) <= 1


def test_an_action_that_fails_at_the_goal_fails_the_order(tmp_path, broker) -> None:
    place = {"x": 1.0, "y": 0.0, "actions": [{"actionType": "pick"}]}
    with Agv(broker.port, "action fails"):
        outcome = only(ended(lab(tmp_path / "lab", settings(broker.port, places={"dock": place}), DOCK)))
    assert (outcome.ok, outcome.code) == (False, "ACTION_FAILED")


def test_messages_that_are_none_of_the_protocol_end_nothing(broker, running) -> None:
    odd = [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"headerId": [], "errors": [{"errorType": []}]}']
    with Agv(broker.port, speed=2.0) as agv:
        _, outcome = running(settings(broker.port), ("move_to", {"target_pose": [3.0, 0.0, 0.0]}))
        until(lambda: agv.driving)
        with agv.lock:
            refers = [{"referenceKey": "orderId", "referenceValue": agv.driven[0]}, 7]
            error = {"errorType": [], "errorLevel": {}, "errorReferences": refers}
            agv.publish("state", **agv.state() | {"errors": [error, None], "actionStates": [[], {"actionId": 1}]})
        for name in ("state", "connection", "factsheet", "visualization"):
            for payload in odd:
                agv.client.publish(agv.topic(name), payload)
        assert outcome().ok


@pytest.mark.slice(4, 1)
@pytest.mark.parametrize(
    "poison",
    [{"headerId": 2**32 - 1}, {"headerId": 2**32 - 1, "timestamp": "soon"}, {"headerId": 2**32}, {"headerId": -1},
     {"headerId": 1e300}, {"headerId": True}, {"headerId": None}, {"timestamp": None}, {"timestamp": 7},
     {"timestamp": "9999-99-99T00:00:00Z"}, {"headerId": 2**31}, {"headerId": 2**30, "timestamp": "soon"},
     {"headerId": 2**30, "timestamp": "2999-01-01T00:00:00Z"}, {"timestamp": "2999-01-01T00:00:00Z"}],
    ids=str,
)  # fmt: skip
def test_no_single_state_makes_the_driver_deaf_to_those_after_it(broker, running, poison) -> None:
    with Agv(broker.port, speed=4.0) as agv:
        _, outcome = running(settings(broker.port), ("move_to", {"target_pose": [3.0, 0.0, 0.0]}))
        until(lambda: agv.driving)
        with agv.lock:
            agv.publish("state", **agv.state() | poison)
        assert outcome().ok


def test_after_the_highest_number_of_a_state_comes_0(broker, running) -> None:
    agv = Agv(broker.port, speed=4.0)
    agv.headers["state"] = 2**32 - 6
    started = agv.clock()
    agv.clock = lambda: started  # so that the number alone tells which state is the later one
    with agv:
        _, outcome = running(settings(broker.port), ("move_to", {"target_pose": [3.0, 0.0, 0.0]}))
        assert outcome().ok
    assert agv.headers["state"] < 2**31


# -- it is refused before anything is sent -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("is_", "code"),
    [
        ({"battery": 5.0}, "BATTERY_LOW"), ({"mode": "MANUAL"}, "VEHICLE_NOT_READY"),
        ({"estop": "AUTOACK"}, "VEHICLE_NOT_READY"), ({"paused": True}, "VEHICLE_NOT_READY"),
        ({"position_known": False}, "VEHICLE_NOT_READY"),
        ({"errors": [{"errorType": "laser", "errorLevel": "FATAL"}]}, "VEHICLE_NOT_READY"),
        ({"nodes": [{"nodeId": "n", "sequenceId": 2, "released": False}]}, "VEHICLE_NOT_READY"),
    ],
)  # fmt: skip
def test_a_vehicle_that_is_not_ready_is_sent_nothing(tmp_path, broker, is_, code) -> None:
    agv = Agv(broker.port)
    for name, value in is_.items():
        setattr(agv, name, value)
    with agv:
        outcome = only(ended(lab(tmp_path / "lab", settings(broker.port), DOCK)))
    assert outcome.cause is Cause.REJECTED and [item.code for item in outcome.findings] == [code], outcome
    assert agv.orders == []


def test_a_warning_of_the_vehicle_refuses_nothing_and_is_told(tmp_path, broker) -> None:
    warning = {"errorType": "brush worn", "errorLevel": "WARNING"}
    agv = Agv(broker.port)
    agv.errors = [warning]
    agv._take = lambda order, take=agv._take: (take(order), agv.errors.append(warning))[0]
    with agv:
        outcome = only(ended(lab(tmp_path / "lab", settings(broker.port), DOCK)))
    assert outcome.ok and outcome.evidence["vehicle_errors"] == ["brush worn"]


def test_a_goal_outside_the_fence_or_unknown_is_refused(tmp_path, broker) -> None:
    config = settings(broker.port, safety={"workspace": {"low": [-1, -1], "high": [3, 3]}})
    with Agv(broker.port) as agv:
        moon, short = ("target_navigation", {"target_label": "moon"}), ("move_to", {"target_pose": [1.0]})
        outside, unknown, bad = ended(lab(tmp_path / "lab", config, DOCK, moon, short))
    assert [item.code for item in outside.findings] == ["OUT_OF_BOUNDS"]
    assert not unknown.ok and not bad.ok and agv.orders == []


def test_without_a_vehicle_or_a_broker_the_refusal_says_which(tmp_path, broker, monkeypatch) -> None:
    monkeypatch.setattr(vda5050_vehicle, "FIRST_S", 0.5)
    silent = only(ended(lab(tmp_path / "one", settings(broker.port), DOCK)))
    assert silent.findings[0].code == "MISSING" and "config.serial" in silent.findings[0].field
    broker.stop()
    monkeypatch.setattr(mqtt_link, "CONNECT_S", 0.5)
    alone = only(ended(lab(tmp_path / "two", settings(broker.port), DOCK)))
    assert alone.findings[0].code == "MISSING" and "config.broker" in alone.findings[0].field


# -- stops -------------------------------------------------------------------------------------------------------------


def test_a_stop_is_sent_at_once_and_the_vehicle_may_drive_again_later(tmp_path, broker, running) -> None:
    with Agv(broker.port, speed=1.0) as agv:
        world, outcome = running(settings(broker.port), FAR)
        until(lambda: agv.driving)
        StopLog(world.store, world.clock).stop([ME], "operator")
        found = outcome()
        assert found.cause is Cause.CANCELLED, found
        assert agv.x < 20 and not agv.driving
        until(lambda: "stopPause" in kinds(agv) and not agv.paused)  # its own pause is lifted, once it has no order
        said = [kind for kind in kinds(agv) if not kind.endswith("Request")]
        lifted = said.index("stopPause")  # each is said until it is answered, so perhaps several times
        assert said[0] == "startPause" and {*said[:lifted]} == {"startPause", "cancelOrder"}
        assert {*said[lifted:]} == {"stopPause"}
    assert len(agv.driven) == 1


def test_a_pause_that_was_there_before_a_stop_is_not_lifted(tmp_path, broker, running, monkeypatch) -> None:
    heard, receive = [], vda5050_vehicle.Vda5050Vehicle._received

    def received(vehicle: Any, message: Any) -> None:
        receive(vehicle, message)
        heard.append((vehicle._state or {}).get("paused"))

    monkeypatch.setattr(vda5050_vehicle.Vda5050Vehicle, "_received", received)
    with Agv(broker.port, speed=1.0) as agv:
        world, outcome = running(settings(broker.port), FAR)
        until(lambda: agv.driving)
        with agv.lock:
            agv.paused, agv.driving = True, False  # a person presses pause at it
        until(lambda: True in heard)
        StopLog(world.store, world.clock).stop([ME], "operator")
        assert outcome().cause is Cause.CANCELLED
        after = len(agv.sent)
        until(lambda: len([topic for topic, _ in agv.sent[after:] if topic == "state"]) > 5)
        assert "startPause" in kinds(agv) and "stopPause" not in kinds(agv) and agv.paused


OWN, KEPT, LIFT = vda5050_vehicle.OWN, vda5050_vehicle.KEPT, vda5050_vehicle.LIFT


@pytest.mark.slice(2)
@pytest.mark.parametrize(
    ("ids", "lifts"),
    [([], False), (["other-"], False), ([OWN], True), ([OWN, LIFT], False), ([KEPT], False), ([OWN, KEPT], False)],
)
def test_after_a_restart_the_vehicle_tells_whose_its_pause_is(broker, ids, lifts) -> None:
    agv = Agv(broker.port)
    agv.paused = True
    agv.actions = {f"{id}1": {"actionId": f"{id}1", "actionStatus": "FINISHED"} for id in ids}
    with agv:
        target = Target(ME, "real_robot", driver="vda5050", config=settings(broker.port))
        context = PluginContext(SystemClock())
        vehicle = vda5050_vehicle.Vda5050Vehicle(target, context, vda5050_settings.read_settings(target))
        vehicle.connect()
        try:
            vehicle.halt()
            until(lambda: "cancelOrder" in kinds(agv))
            after = len(agv.sent)
            until(lambda: "stopPause" in kinds(agv) if lifts else [t for t, _ in agv.sent[after:]].count("state") > 5)
            assert ("stopPause" in kinds(agv)) == lifts
        finally:
            vehicle.close()


def test_a_vehicle_that_does_not_stop_is_reported_as_such(tmp_path, broker, running) -> None:
    with Agv(broker.port, "will not stop", speed=1.0) as agv:
        agv._instant = lambda action, old=agv._instant: None if action["actionType"] == "startPause" else old(action)
        world, outcome = running(settings(broker.port), FAR)
        until(lambda: agv.driving)
        StopLog(world.store, world.clock).stop([ME], "operator")
        found = outcome()
    assert found.cause is Cause.CANCELLED and found.evidence["stop_confirmed"] is False, found
    assert "was told to stop" in found.message and "was stopped" not in found.message


@pytest.mark.parametrize(("version", "members"), [("2.0.0", ("actions", "instantActions")), ("2.1.0", ("actions",))])
def test_each_action_is_read_by_vehicles_of_the_text_and_of_the_schema(tmp_path, broker, version, members) -> None:
    """2.0.0 names the member otherwise in its schema; and an action that a vehicle refuses takes no other along."""
    with Agv(broker.port) as agv:
        place = {"x": 1.0, "y": 0.0, "actions": [{"actionType": "pick"}]}
        config = settings(broker.port, version=version, places={"dock": place})
        assert only(ended(lab(tmp_path / "lab", config, DOCK))).ok
    for _, message in agv.instant:
        assert [name for name in ("actions", "instantActions") if name in message] == list(members)
        assert all(message[name] == message["actions"] and len(message[name]) == 1 for name in members)
        assert ("actionName" in message["actions"][0]) is (version == "2.0.0")  # its schema requires one
    (order,) = agv.orders
    assert [("actionName" in one) for one in order["nodes"][-1]["actions"]] == [version == "2.0.0"]


# -- something breaks in the middle ------------------------------------------------------------------------------------


def test_a_vehicle_that_is_started_anew_in_the_middle_is_sent_nothing_again(tmp_path, broker, running) -> None:
    with Agv(broker.port, speed=1.0) as agv:
        _, outcome = running(settings(broker.port), FAR)
        until(lambda: agv.driving)
        agv.restart()
        found = outcome()
        assert (found.ok, found.code) == (False, "ORDER_FORGOTTEN"), found
    assert len(agv.orders) == 1 and len(agv.driven) == 1


def test_a_vehicle_that_loses_its_connection_for_a_moment_goes_on(tmp_path, broker, running) -> None:
    with Agv(broker.port, speed=4.0) as agv:
        _, outcome = running(settings(broker.port), ("move_to", {"target_pose": [6.0, 0.0, 0.0]}))
        until(lambda: agv.driving)
        agv.client._sock_close()  # paho's thread connects again; the vehicle drives on meanwhile
        assert outcome().ok
    assert len(agv.driven) == 1


@pytest.mark.proof
def test_a_broker_that_is_restarted_in_the_middle_ends_nothing(tmp_path, broker, running) -> None:
    with Agv(broker.port, speed=2.0) as agv:
        _, outcome = running(settings(broker.port), ("move_to", {"target_pose": [8.0, 0.0, 0.0]}))
        until(lambda: agv.driving)
        broker.stop()
        time.sleep(0.3)  # both connections notice
        broker.start()
        found = outcome()
    assert found.ok, found
    assert len(agv.driven) == 1


KERNEL = """
import sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from worldfs.base.model import ApprovalPolicy
from worldfs.formats.config import Config, Instance
from worldfs.world.world import World
config = Config(approval={"": ApprovalPolicy.NEVER}, instances=(Instance("amr_001", "vda5050"),))
with World.open(Path(sys.argv[1]), config=config, serve=True) as world:
    world.run(stop=threading.Event(), until_idle=True)
"""


def test_when_our_process_is_killed_the_vehicle_is_stopped_and_nothing_is_driven_twice(tmp_path, broker) -> None:
    root = lab(tmp_path / "lab", settings(broker.port), FAR)
    source = str(Path(vehicle_body.__file__).parents[2])
    with Agv(broker.port, speed=1.0) as agv:
        process = subprocess.Popen([sys.executable, "-c", KERNEL, str(root), source], start_new_session=True)
        until(lambda: agv.driving)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        until(lambda: "cancelOrder" in kinds(agv))  # the broker's: our last will
        until(lambda: not agv.driving)
        assert agv.x < 25
        lost = only(ended(root))
        assert (lost.ok, lost.cause) == (False, Cause.LOST)
    assert len(agv.orders) == 1 and len(agv.driven) == 1


def test_an_order_of_ours_that_nothing_waits_for_is_cancelled(tmp_path, broker) -> None:
    agv = Agv(broker.port)
    agv.order = {"orderId": "worldfs-left-behind", "orderUpdateId": 0, "nodes": []}
    agv.nodes = [{"nodeId": "n", "sequenceId": 2, "released": False}]
    with agv, opened(lab(tmp_path / "lab", settings(broker.port))):
        until(lambda: "cancelOrder" in kinds(agv))


def test_the_order_id_is_of_the_job_and_its_attempt() -> None:
    order = Order("a1", ME, "move_to", {"target_pose": [1, 2]}, "2026-11-23T00:00:00Z")
    other = Order("a1", ME, "move_to", {"target_pose": [1, 2]}, "2026-11-24T00:00:00Z")
    assert order_id(order, 1) == order_id(order, 1)
    assert len({order_id(order, 1), order_id(order, 2), order_id(other, 1)}) == 3


# -- what the user is told ---------------------------------------------------------------------------------------------


def test_check_names_the_broker_the_library_and_the_secret(tmp_path, broker, monkeypatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("open sesame\n")
    secret.chmod(0o644)
    root = lab(tmp_path / "lab", settings(broker.port, username="me", password_file=str(secret)))

    def said() -> dict[str, str]:
        return {item.code: item.found for item in check(root) if "amr_001" in item.field or "TARGETS" in item.field}

    assert list(said()) == ["SECRETS_READABLE"] and "others may read it" in said()["SECRETS_READABLE"]
    secret.chmod(0o600)
    assert said() == {}
    broker.stop()
    assert "no server answers" in said()["TARGET_BUILD"]
    lab(root, settings(broker.port, password="open sesame"))
    assert "password" in said()["SECRETS_READABLE"]
    lab(root, settings(broker.port, password_env="WORLDFS_TEST_UNSET"))
    assert "WORLDFS_TEST_UNSET" in said()["TARGET_BUILD"]
    lab(root, settings(broker.port, serail="amr-7"))
    assert said() == {"TARGET_BUILD": "serail"}
    monkeypatch.setattr("worldfs.robots.vehicles.vehicle_declaration.find_spec", lambda name: None)
    assert "not installed" in json.dumps([item.found for item in check(root)])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_profile_of_a_mobile_robot_lists_what_a_vehicle_does(language) -> None:
    profile = embodied.read(profile_text("generic_amr", language) or b"")
    assert [op.name for op in profile.ops] == ["move_to", "target_navigation"]
    assert profile.driver == "vda5050" and not profile.unread and not profile.odd


def test_a_session_on_a_vehicle_says_where_its_orders_go() -> None:
    target = Target(ME, "real_robot", adapter="RealRobotTargetAdapter", driver="vda5050")
    with pytest.raises(BadInput) as refused:
        real_target.driver(target)
    assert refused.value.fix.code == "vehicle.no_sessions"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"broker": "mqtt://host", "ca": "ca.pem"}, "mqtts://host:8883"),
        ({"broker": "mqtt://host:1884", "certificate": "own.pem", "key": "own.key"}, "mqtts://host:1884"),
        ({"broker": "mqtts://host", "key": "own.key"}, "config.certificate"),
    ],
)
def test_who_names_certificates_is_not_connected_in_clear(given, said) -> None:
    target = Target(ME, "real_robot", driver="vda5050", config={**settings(1), **given})
    with pytest.raises(BadInput) as refused:
        vda5050_settings.read_settings(target)
    assert said in str(refused.value.expected)


def test_a_broker_that_asks_for_a_password_gets_it(tmp_path, broker_of) -> None:
    passwords = tmp_path / "passwords"
    passwords.write_text(PASSWORDS)
    passwords.chmod(0o600)
    broker = broker_of("allow_anonymous false", f"password_file {passwords}")
    secret = tmp_path / "secret"
    secret.write_text("sesame\n")
    secret.chmod(0o600)
    with Agv(broker.port, username="user", password="sesame"):
        config = settings(broker.port, username="user", password_file=str(secret))
        assert only(ended(lab(tmp_path / "right", config, DOCK))).ok
        secret.write_text("wrong\n")
        refused = only(ended(lab(tmp_path / "wrong", config, DOCK)))
    assert refused.findings[0].code == "MISSING" and "uthori" in refused.findings[0].found
