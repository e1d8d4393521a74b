"""One connection to an MQTT broker, by paho-mqtt: a last will, subscriptions that outlive a cut, nothing sent late."""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.robots.targets.robots.robot_library import driver_place, import_library

from ..vehicle_declaration import INSTALL
from .vda5050_settings import BrokerAddress

if TYPE_CHECKING:
    from types import ModuleType

CONNECT_S: Final = 5.0  # real seconds for the broker's answer
RETRY_S: Final = 1, 10  # between two attempts to connect, at least and at most
SOON_S: Final = 2.0  # for the next attempt, where an order asks once more


@dataclass(frozen=True, slots=True)
class MqttMessage:
    topic: str
    payload: bytes
    retained: bool


class MqttLink:
    """`on_message` and `on_up` are called in the connection's own thread; `on_up` also after each reconnection."""

    def __init__(
        self,
        target: Target,
        broker: BrokerAddress,
        topics: Sequence[str],
        *,
        on_message: Callable[[MqttMessage], None],
        on_up: Callable[[], None],
        keepalive_s: int,
    ) -> None:
        self._target, self._broker, self._topics, self._keepalive_s = target, broker, topics, keepalive_s
        self._on_message, self._on_up = on_message, on_up
        self._up, self._answered = threading.Event(), threading.Event()
        self._refused = ""
        self._library: ModuleType | None = None

    @property
    def up(self) -> bool:
        return self._up.is_set()

    def connect(self, will_topic: str, will: bytes) -> None:
        """Returns once it is up. Raises `MissingRequirement`: without the library for good, else it goes on trying
        until `close`. The broker publishes `will` when this process is gone without `close`."""
        if self._library is None:
            self._start(will_topic, will)
            self._answered.wait(CONNECT_S)
        elif not self._up.is_set():
            self._up.wait(SOON_S)
        if not self._up.is_set():
            raise self._unreachable(self._refused or coded("vehicle.no_answer", s=CONNECT_S))

    def _start(self, will_topic: str, will: bytes) -> None:
        mqtt = import_library("paho.mqtt.client", driver_place(self._target), INSTALL["vda5050"])
        # a name of its own: a broker ends the older one of two connections that share one
        self._client = client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, f"worldfs-{uuid.uuid4().hex[:16]}")
        client.will_set(will_topic, will)
        client.reconnect_delay_set(*RETRY_S)
        client.connect_timeout = CONNECT_S
        client.on_connect, client.on_disconnect, client.on_message = self._connected, self._disconnected, self._received
        client.on_connect_fail = self._failed
        broker = self._broker
        if broker.tls:
            client.tls_set_context(broker.context())
        if broker.username:
            client.username_pw_set(broker.username, broker.password or None)
        client.connect_async(broker.host, broker.port, keepalive=self._keepalive_s)
        self._library = mqtt
        client.loop_start()  # its thread tries the first connection, too, until there is one

    def publish(self, topic: str, payload: bytes) -> None:
        """At most once and now, or `ConnectionError`: an order that waited for a connection would be a stale one."""
        library = self._library  # another thread may close the link meanwhile
        if library is None or not self._up.is_set():
            raise ConnectionError(coded("vehicle.link_down", address=str(self._broker)))
        sent = self._client.publish(topic, payload, qos=0)
        if sent.rc != library.MQTT_ERR_SUCCESS:
            raise ConnectionError(coded("vehicle.link_down", address=str(self._broker)))

    def close(self) -> None:
        """An orderly end: the broker drops the will."""
        if self._library is not None:
            self._library = None
            self._client.disconnect()
            self._client.loop_stop()
        self._up.clear()

    # -- inside: paho's thread ---------------------------------------------------------------------------------------

    def _connected(self, client: object, data: object, flags: object, reason: object, properties: object) -> None:
        if getattr(reason, "is_failure", False):
            self._refused = str(reason)
        else:
            self._client.subscribe([(topic, 1) for topic in self._topics])
            self._up.set()
            self._on_up()
        self._answered.set()

    def _failed(self, client: object, data: object) -> None:
        """Of an attempt that reached no broker; paho calls this while it handles the error."""
        error = sys.exception()
        self._refused = str(error or "") or type(error).__name__
        self._answered.set()

    def _disconnected(self, *about: object) -> None:
        self._up.clear()

    def _received(self, client: object, data: object, message: object) -> None:
        topic, payload = getattr(message, "topic", ""), getattr(message, "payload", b"")
        self._on_message(MqttMessage(str(topic), bytes(payload), bool(getattr(message, "retain", False))))

    def _unreachable(self, why: str) -> MissingRequirement:
        return MissingRequirement(
            coded("vehicle.no_broker", address=str(self._broker), why=why),
            path=f"TARGETS.md {self._target.id} config.broker",
            expected=coded("vehicle.a_broker"), fix=coded("vehicle.start_broker"),
        )  # fmt: skip
