"""The server's counters: plain numbers, because they are on the hot path."""

from __future__ import annotations

from collections import Counter


class Meters:
    """Since the start of the process. On the loop only."""

    __slots__ = ("connections", "dropped", "errors", "frames_in", "frames_out", "oversize", "pushes", "refused",
                 "requests", "saturated", "unauthorised")  # fmt: skip

    def __init__(self) -> None:
        self.connections = 0  # accepted, ever
        self.refused = 0  # malformed upgrades
        self.unauthorised = 0  # upgrades with no or a wrong token
        self.frames_in = 0
        self.frames_out = 0
        self.oversize = 0  # frames beyond msize
        self.dropped = 0  # peers dropped because they stopped reading
        self.saturated = 0  # requests refused because too many wait
        self.pushes = 0
        self.requests: Counter[str] = Counter()  # by type
        self.errors: Counter[str] = Counter()  # by code
