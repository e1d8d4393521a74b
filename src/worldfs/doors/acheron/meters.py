"""What the server counts: plain numbers, because the path that counts them is the hot one."""

from __future__ import annotations

from collections import Counter


class Meters:
    """Since the start of the process. On the loop only."""

    __slots__ = ("connections", "dropped", "errors", "frames_in", "frames_out", "oversize", "pushes", "refused",
                 "requests", "saturated", "unauthorised")  # fmt: skip

    def __init__(self) -> None:
        self.connections = 0  # accepted, ever
        self.refused = 0  # upgrades that were none
        self.unauthorised = 0  # upgrades with no or a wrong token
        self.frames_in = 0
        self.frames_out = 0
        self.oversize = 0  # frames beyond msize
        self.dropped = 0  # peers that took nothing of what was sent
        self.saturated = 0  # requests refused because too many wait
        self.pushes = 0
        self.requests: Counter[str] = Counter()  # by type
        self.errors: Counter[str] = Counter()  # by code
