import threading
import time
from contextlib import closing
from types import SimpleNamespace

from plant import HEARD, Wire, monotonic

_factory = {}


def ChannelFactoryInitialize(id=0, networkInterface=None):
    try:
        Wire(networkInterface or "").close()
    except OSError:
        raise Exception("channel factory init error.") from None
    _factory["address"] = networkInterface


class ChannelSubscriber:
    def __init__(self, name, type):
        self._name = name
        self._over = threading.Event()

    def Init(self, handler=None, queueLen=0):
        self._thread = threading.Thread(target=self._listen, args=(handler,), daemon=True)
        self._thread.start()

    def Close(self):
        self._over.set()
        self._thread.join()

    def _listen(self, handler):
        try:
            with closing(Wire(_factory["address"], 1.0)) as wire:
                while not self._over.is_set():
                    at = monotonic()
                    handler(_message(wire.ask("state")))
                    HEARD[self] = at
                    time.sleep(0.01)
        except OSError:
            return  # it says nothing more, or was gone before its first word
        finally:
            HEARD.pop(self, None)


def _message(said):
    vx, vy, wz = said["twist"]
    x, y, yaw = said["place"]
    return SimpleNamespace(
        error_code=0, mode=1, position=[x, y, 0.3], velocity=[vx, vy, 0.0], yaw_speed=wz, body_height=0.3,
        imu_state=SimpleNamespace(rpy=[0.0, 0.0, yaw]),
    )  # fmt: skip
