"""A vehicle that speaks VDA 5050 2.x. Its states are what is measured; its stop is `startPause` with `cancelOrder`.

An order is published at most once a sending (VDA 5050 §6.2), and again only until the vehicle has shown that it has it.
When this process dies, or is cut off from the broker, the broker publishes `cancelOrder` as its last will.
"""

from __future__ import annotations

import json
import math
import threading
import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from worldfs.base.clock import parse_stamp
from worldfs.base.driver import PluginContext, Standstill
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int, as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json, Target

from ..standing_reports import StandingReports
from ..vehicle_interface import DriveGoal, DriveState, Pose, Taken, VehicleReading
from .mqtt_link import MqttLink, MqttMessage
from .vda5050_order import Vda5050Order, active, error_text, refusal, route
from .vda5050_settings import Vda5050Settings, read_settings

FIRST_S: Final = 3.0  # real seconds for the state that was asked for
ASK_S: Final = 0.25  # between two requests for a state that shows that it stands
AGAIN_S: Final = 2.0  # between two sendings of what the vehicle has not taken in
NAMED: Final = "2.0.0"  # its schema requires a name of each action
PREFIX: Final = "worldfs-"
# What the ids of our actions about a pause begin with: one to be lifted, one beside a pause that was there, a lift
OWN, KEPT, LIFT = f"{PREFIX}pause-", f"{PREFIX}kept-", f"{PREFIX}lift-"
STILL: Final = 0.03  # m/s, rad/s
HUGE: Final = 1e9  # no metre, radian or percent is more; neither is NaN less
HEADERS: Final = 1 << 32  # headerId is a uint32
SLIP_STATES: Final = 4  # that follow each other show that the one which they do not follow was a slip
SLIP_S: Final = 2.0  # without a newer one
HEARD: Final = ("state", "connection", "visualization", "factsheet")
TELLING: Final = ("state", "visualization")  # where it is
PLACED: Final = "positions"  # the topics that have told one: a fact of its memory
PAUSE, CANCEL = "startPause", "cancelOrder"
ANSWERED: Final = ("FINISHED", "FAILED")  # failed: it had no order


def vehicle(target: Target, context: PluginContext) -> Vda5050Vehicle:
    return Vda5050Vehicle(target, context, read_settings(target))


class Vda5050Vehicle:
    def __init__(self, target: Target, context: PluginContext, settings: Vda5050Settings) -> None:
        self._target, self._clock, self._own = target, context.clock, settings
        self.settings = settings.common
        self.changed = threading.Event()
        self._lock = threading.RLock()  # of all below; never held while waiting
        self._headers: dict[str, int] = {}
        self._state: Json | None = None
        self._state_at = self._shown_at = 0.0
        self._memory, placed = context.memory, context.memory.recall(PLACED)
        self._standing = StandingReports(context.memory)
        # the kinds of messages that have told a position, to this driver or to an earlier one
        unread = placed is not None and not isinstance(placed, list)
        self._placed = {kind for kind in TELLING if unread or settings.topic(kind) in as_list(placed)}
        self._readable = True  # the last position that one of these should have told
        self._requested_at = -math.inf  # when a state was asked for, to see whether it stands
        self._passed: list[Json] = []  # states that came since and seem to be older, each later than the one before
        self._position: Json = {}  # the newest state or visualization
        self._online, self._online_at = "", 0.0  # connectionState, and when it came
        self._restarts = 0  # of the vehicle, as far as its connection and its states tell
        self._order: Vda5050Order | None = None
        self._taken: Taken = lambda points: ""
        self._asked_restarts = self._known_restarts = 0  # when the order began; at the last state
        self._began_at = self._sent_at = -math.inf
        self._drive = DriveState()
        self._cancel = ""  # the id of the last `cancelOrder` of `halt`, until the vehicle has answered it
        self._pause = ""  # the id of our own pause, which is lifted once the vehicle has no order
        self._cancelled_at = -math.inf
        self._link = MqttLink(
            target,
            settings.broker,
            [settings.topic(name) for name in HEARD],
            on_message=self._received,
            on_up=self._connected,
            keepalive_s=max(1, int(self.settings.limits.watchdog_s / 1.5)),  # a broker waits one and a half times
        )
        self._factsheet: Json = {}

    def connect(self) -> None:
        will = self._message("instantActions", self._instant(_action(CANCEL)))
        self._link.connect(self._own.topic("instantActions"), will)
        with self._lock:
            known, before, online = self._state is not None, self._state_at, self._online
        if known and self._clock.monotonic() - before <= self.settings.limits.stale_s:
            return
        with suppress(ConnectionError):  # it was asked when the link came up; one that was off then is asked again
            self._act([_action("stateRequest")])
        if not self._wait_state(before):  # the link stays: it hears the vehicle as soon as that is there
            raise MissingRequirement(
                coded("vehicle.no_state", s=FIRST_S, state=online or coded("common.none")),
                path=f"TARGETS.md {self._target.id} config.serial",
                expected=coded("vehicle.online", topic=self._own.topic("state")), fix=coded("vehicle.switch_on"),
            )  # fmt: skip

    def read(self) -> VehicleReading:
        with self._lock:
            if self._state is None:
                raise ConnectionError(coded("vehicle.never_reported"))
            state, position = self._state, as_object(self._position.get("agvPosition"))
            why = self._cut_off() or refusal(state)
            known = position.get("positionInitialized") is True
            if not known:
                why = why or coded("vehicle.lost_position")
            pose = _numbers(position, "x", "y", "theta") if known else None
            velocity = _numbers(as_object(state.get("velocity")), "vx")
            battery = _numbers(as_object(state.get("batteryState")), "batteryCharge")
            stamp = parse_stamp(as_text(self._position.get("timestamp")))
            return VehicleReading(
                self._shown_at, stamp.timestamp() if stamp else 0.0,
                (pose[0], pose[1], pose[2]) if pose else None, as_text(position.get("mapId")),
                state.get("driving") is False, velocity[0] if velocity else None, battery[0] if battery else None,
                why, self._cut_off(), tuple(error_text(error) for error in as_objects(state.get("errors"))),
            )  # fmt: skip

    def _cut_off(self) -> str:
        """Why nothing is heard of it now; "" if something may be."""
        if not self._link.up:
            return coded("vehicle.link_down", address=str(self._own.broker))
        return coded("vehicle.offline", state=self._online) if self._online not in ("", "ONLINE") else ""

    def refresh(self) -> None:
        before = self._state_at
        self._act([_action("stateRequest")])
        self._wait_state(before)

    def way(self, start: Pose, goal: DriveGoal) -> list[DriveGoal]:
        try:
            return route(start, goal, self.settings.places, self._own.edges, self.settings.tolerance)
        except LookupError as error:
            where = goal.name or str(goal.at)
            raise BadInput(
                coded("vehicle.no_way", place=where), path=f"TARGETS.md {self._target.id} config.edges",
                expected=coded("vehicle.edge_to", place=where), fix=coded("vehicle.add_edge"),
            ) from error  # fmt: skip

    def begin(self, order_id: str, goal: DriveGoal, taken: Taken) -> None:
        reading = self.read()
        if reading.pose is None or reading.refusal:
            raise ConnectionError(reading.refusal)
        limits, way = self.settings.limits, self.way(reading.pose, goal)
        speed = float(limits.base_high[0]) if limits.base_high is not None else None
        with self._lock:
            self._order = order = Vda5050Order(
                f"{PREFIX}{order_id}", way, self._own.map or reading.map, self.settings.tolerance,
                self.settings.turn_tolerance, speed, self._own.released_edges, named=self._own.version == NAMED,
            )  # fmt: skip
            self._taken = taken
            self._standing.begin()
            self._drive, self._asked_restarts, self._cancel = DriveState(), self._restarts, ""
            self._began_at = self._sent_at = self._clock.monotonic()
        self._send("order", order.message())

    def progress(self) -> DriveState:
        free, now = self._may_release(), self._clock.monotonic()
        with self._lock:
            order, state = self._order, self._state or {}
            if order is None or self._drive.code or self._drive.finished_at is not None:
                return self._drive
            shown = order.taken and state.get("orderUpdateId") == order.update
            if shown and free and order.extend(as_int(state.get("lastNodeSequenceId"))):
                message: Json | None = order.message()
            elif shown or now - self._sent_at < AGAIN_S:
                message = None
            elif not order.taken and (now - self._began_at > self._own.ack_s or self._restarts != self._asked_restarts):
                # a vehicle that was started anew may have driven it already, and forgotten that
                self._drive = DriveState(
                    None, "ORDER_UNACKNOWLEDGED", coded("vehicle.not_taken", s=now - self._began_at)
                )
                return self._drive
            else:
                message = order.message()
            self._sent_at = now if message is not None else self._sent_at
        if message is not None and self._link.up:
            self._send("order", message)
        return DriveState()

    def _may_release(self) -> bool:
        """Whether no other robot stands on the part of the way that is due to be released."""
        with self._lock:
            order, reached = self._order, as_int((self._state or {}).get("lastNodeSequenceId"))
            points = order.due(reached) if order is not None and order.taken else ()
        return not points or not self._taken(points)

    def halt(self) -> None:
        with self._lock:
            pauses = [_action(PAUSE, OWN if self._may_lift() else KEPT)] if self._can(PAUSE) else []
            actions = [*pauses, _action(CANCEL)]
            self._pause = next((id for one in pauses if (id := str(one["actionId"])).startswith(OWN)), "")
            self._cancel, self._cancelled_at = str(actions[-1]["actionId"]), self._clock.monotonic()
        self._act(actions)
        with self._lock:
            why = self._cut_off() if self._state is not None else coded("vehicle.never_reported")
        if why:
            raise ConnectionError(why)  # the broker took it, and keeps it for no vehicle

    def _may_lift(self) -> bool:
        """Whether no pause was there before ours: one that a person, or another controller, set is theirs to lift.

        After a restart the vehicle's own list of actions tells whose its pause is."""
        state = self._state or {}
        if self._pause or state.get("paused") is not True:
            return True
        told = [
            id for id, status in _statuses(state).items() if status == "FINISHED" and id.startswith((OWN, KEPT, LIFT))
        ]
        return bool(told) and told[-1].startswith(OWN)

    def standstill(self, since: float) -> Standstill:
        """The vehicle has answered our last `cancelOrder`, and says in a later report that it stands and has no order.
        If it has ever told a position, its positions must show the same."""
        with self._lock:
            now = self._clock.monotonic()
            why, later = self._moves(since)
            ask = later and now - self._requested_at >= ASK_S
            if ask:
                self._requested_at = now
        if ask:  # a vehicle that stands may report each half minute
            with suppress(ConnectionError):
                self._act([_action("stateRequest")])
        return Standstill(not why, why)

    def _moves(self, since: float) -> tuple[str, bool]:
        """Why no standstill is shown, "" if one is; and whether a further state may show it."""
        state = self._state
        if state is None or self._state_at <= since:
            return coded("vehicle.no_later_report"), True
        reports = self._link.up and self._state_at > self._online_at  # since it was said to be gone
        if (why := self._cut_off()) and not reports:
            return why, False
        if not _says_still(state):
            return coded("vehicle.drives"), False
        if self._cancel:
            return coded("vehicle.cancel_unanswered"), False
        if active(state):
            return coded("vehicle.busy", order=as_text(state.get("orderId"))), False
        if not self._placed or self._standing.stands(since):
            return "", False
        return coded("stop.not_long") if self._readable else coded("vehicle.unread_position"), True

    def end(self) -> None:
        with self._lock:
            self._order = None

    def close(self) -> None:
        self._link.close()

    # -- what is sent ------------------------------------------------------------------------------------------------

    def _act(self, actions: Sequence[Json]) -> None:
        """Each in a message of its own: one that the vehicle does not know must not take another along."""
        for action in actions:
            self._send("instantActions", self._instant(action))

    def _instant(self, action: Json) -> Json:
        """The text of 2.0.0 calls the member `actions`, its schema `instantActions`, and only the schema wants an
        `actionName`: readers of either must stop."""
        if self._own.version != NAMED:
            return {"actions": [action]}
        action = {**action, "actionName": action["actionType"]}
        return {"actions": [action], "instantActions": [action]}

    def _send(self, topic: str, body: Json) -> None:
        self._link.publish(self._own.topic(topic), self._message(topic, body))

    def _message(self, topic: str, body: Json) -> bytes:
        with self._lock:
            number = self._headers[topic] = self._headers.get(topic, -1) + 1
        now = self._clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        header = {
            "headerId": number, "timestamp": now, "version": self._own.version,
            "manufacturer": self._own.manufacturer, "serialNumber": self._own.serial,
        }  # fmt: skip
        return json.dumps(header | body, separators=(",", ":")).encode()

    def _can(self, action: str) -> bool:
        """Whether the vehicle knows an action: one that has sent no factsheet is taken to."""
        listed = as_objects(as_object(self._factsheet.get("protocolFeatures")).get("agvActions"))
        return not listed or any(item.get("actionType") == action for item in listed)

    def _wait_state(self, before: float) -> bool:
        """Until a state has arrived after `before`."""
        end = self._clock.monotonic() + FIRST_S
        while (left := end - self._clock.monotonic()) > 0:
            with self._lock:
                if self._state_at > before and self._state is not None:
                    return True
                self.changed.clear()
            self._clock.wait(self.changed, left)
        return False

    # -- what is heard: the connection's thread ----------------------------------------------------------------------

    def _connected(self) -> None:
        self._act([_action("stateRequest"), _action("factsheetRequest")])
        self.changed.set()

    def _received(self, message: MqttMessage) -> None:
        try:
            found = parse_json(message.payload)
        except ValueError:
            return  # no message of the protocol; a vehicle that sends only such is silent
        if not isinstance(found, dict):
            return
        with self._lock:
            kind = message.topic.rpartition("/")[2]
            if kind == "connection":
                self._hear_connection(found, message)
            elif kind == "factsheet":
                self._factsheet = found
            elif message.retained:
                return  # kept by the broker: nobody knows how old it is
            elif kind == "state":
                self._hear_state(found)
            elif kind == "visualization":
                self._hear_position(found)
            lift, cancel = self._due()
        self.changed.set()
        try:
            if lift:
                self._act([_action("stopPause", LIFT)])
            if cancel is not None:
                self._act([cancel])
        except ConnectionError:
            return  # said again at its next state

    def _hear_connection(self, found: Json, message: MqttMessage) -> None:
        state = as_text(found.get("connectionState"))
        if state == "ONLINE" and self._online not in ("", "ONLINE"):
            self._restarts += 1
        elif state == "ONLINE" and not message.retained:
            self._restarts += 1  # it says so once when it starts
        self._online, self._online_at = state, self._clock.monotonic()

    def _hear_state(self, state: Json) -> None:
        """One whose header cannot be compared is not adopted: no later one would be newer."""
        old = self._state
        if not _has_header(state):
            return
        current = old is None or self._known_restarts != self._restarts or self._newer(state, old)
        if not current and not self._was_a_slip(state):
            return
        self._passed = []
        self._state, self._state_at, self._known_restarts = state, self._clock.monotonic(), self._restarts
        self._position, self._shown_at = state, self._state_at
        self._hear_place("state", state)
        if self._cancel and _statuses(state).get(self._cancel) in ANSWERED:
            self._cancel = ""
        if self._order is not None and not self._drive.code and self._drive.finished_at is None:
            self._drive = self._order.judge(state, self._state_at)

    def _newer(self, state: Json, old: Json) -> bool:
        """A state that is repeated, or was overtaken, has a lower number and an earlier time than one before. After the
        highest number comes 0."""
        if _counts_on(state, old):
            return True
        if _is_later(state, old):
            self._restarts += 1  # counted anew: the vehicle was started
            return True
        return False

    def _was_a_slip(self, state: Json) -> bool:
        """Whether the newest state was none: several have come since that follow each other, and none after it."""
        if self._passed and not _follows(state, self._passed[-1]):
            self._passed = []
        self._passed = [*self._passed, state][-SLIP_STATES:]
        return len(self._passed) == SLIP_STATES and self._clock.monotonic() - self._state_at > SLIP_S

    def _hear_position(self, found: Json) -> None:
        if not _is_later(found, self._position):
            return
        self._hear_place("visualization", found)
        if found.get("agvPosition"):
            self._position, self._shown_at = found, self._clock.monotonic()

    def _hear_place(self, kind: str, found: Json) -> None:
        """`found`: the newest message, which is no visualization before there is a state."""
        told = found.get("agvPosition")
        if told is not None:
            self._placed.add(kind)
        if self._placed:  # said again at each report: what could not be stored is tried again
            self._memory.note(PLACED, sorted(map(self._own.topic, self._placed)))
        if kind in self._placed:
            pose = _numbers(as_object(told), "x", "y", "theta")
            self._readable = pose is not None
            state = self._state or {}
            slow = _says_still(state) and _is_slow(found) and not active(state)  # it drives as soon as it pleases
            self._standing.hear(self._clock.monotonic(), (pose[0], pose[1], pose[2]) if pose else None, slow=slow)

    def _due(self) -> tuple[bool, Json | None]:
        """Whether to lift our own pause; and the `cancelOrder` for an order of ours that nothing waits for any more, or
        in the place of one that the vehicle has not heard."""
        state, now = self._state or {}, self._clock.monotonic()
        done = _statuses(state).get(self._pause) if self._pause else None
        over = done == "FINISHED" and not active(state)
        lift = over and state.get("paused") is True
        if over or done == "FAILED":
            self._pause = ""  # a pause that is not ours is its user's to lift
        mine = as_text(state.get("orderId")).startswith(PREFIX) and active(state)
        stray = mine and (self._order is None or state.get("orderId") != self._order.id)
        if not (stray or self._cancel) or now - self._cancelled_at < AGAIN_S:
            return lift, None
        cancel, self._cancelled_at = _action(CANCEL), now
        self._cancel = str(cancel["actionId"]) if self._cancel else ""
        return lift, cancel


def _action(word: str, mark: str = PREFIX) -> Json:
    """An instant action; the two that stop go ahead of everything. `mark`: what its id begins with."""
    blocking = "HARD" if word in (PAUSE, CANCEL) else "NONE"
    return {"actionType": word, "actionId": f"{mark}{uuid.uuid4()}", "blockingType": blocking, "actionParameters": []}


def _counts_on(state: Json, old: Json) -> bool:
    return 0 < (as_int(state.get("headerId")) - as_int(old.get("headerId"))) % HEADERS < HEADERS // 2


def _is_later(state: Json, old: Json) -> bool:
    made, known = (parse_stamp(as_text(item.get("timestamp"))) for item in (state, old))
    return made is not None and known is not None and made > known


def _follows(state: Json, old: Json) -> bool:
    return _counts_on(state, old) and _is_later(state, old)


def _has_header(message: Json) -> bool:
    number = message.get("headerId")
    return type(number) is int and 0 <= number < HEADERS and parse_stamp(as_text(message.get("timestamp"))) is not None


def _statuses(state: Json) -> dict[str, object]:
    """The vehicle's actions by their ids."""
    return {as_text(item.get("actionId")): item.get("actionStatus") for item in as_objects(state.get("actionStates"))}


def _says_still(state: Json) -> bool:
    return state.get("driving") is False and _is_slow(state)


def _is_slow(state: Json) -> bool:
    """Whether each speed that it tells is a number, and none."""
    told = as_object(state.get("velocity"))
    speeds = {name: _numbers(told, name) for name in ("vx", "vy", "omega") if name in told}
    return isinstance(state.get("velocity", {}), dict) and all(v and abs(v[0]) < STILL for v in speeds.values())


def _numbers(source: Json, *names: str) -> list[float] | None:
    found = [source.get(name) for name in names]
    values = [float(v) for v in found if isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < HUGE]
    return values if len(values) == len(names) else None
