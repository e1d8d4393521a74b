from plant import Wire

from ...core import channel


class SportClient:
    def __init__(self, enableLease=False):
        self._timeout = 1.0

    def SetTimeout(self, timeout):
        self._timeout = timeout

    def Init(self):
        self._wire = Wire(channel._factory["address"], self._timeout)

    def Damp(self):
        return self._call("stop")

    def StandUp(self):
        return 0

    def BalanceStand(self):
        return 0

    def StopMove(self):
        return self._call("stop")

    def Move(self, vx, vy, vyaw):
        return self._call("twist", velocity=[vx, vy, vyaw])

    def _call(self, op, **said):
        try:
            self._wire.ask(op, **said)
        except OSError:
            return 3104  # RPC_ERR_CLIENT_API_TIMEOUT
        return 0
