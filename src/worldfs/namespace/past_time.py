"""A time as a path names it: ISO 8601 in UTC, or so long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from worldfs.base.clock import Clock, epoch_ns, parse_stamp
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

NO_PAST: Final = "NO_PAST"
"""Code of the errors that say why a path of the past leads nowhere; every interface passes on their words."""
_AGO: Final = re.compile(r"([0-9]{1,9})(s|m|h|d)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FINE: Final = re.compile(r"(.*[.]\d{6})(\d{3})(Z|\+00:00)?")  # nanoseconds, which datetime does not have
_ZERO: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_time(text: str, clock: Clock) -> int:
    """In ns since 1970. Raises `BadInput`."""
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return epoch_ns(clock.now()) - int(ago[1]) * _SECONDS[ago[2]] * 10**9
    if text == "now":
        return epoch_ns(clock.now())
    fine = _FINE.fullmatch(text)
    moment = parse_stamp(text if fine is None else f"{fine[1]}{fine[3] or 'Z'}")
    if moment is None:
        raise BadInput(coded("tree.bad_time", text=text), op="walk", expected=coded("tree.a_time"), code=NO_PAST)
    return epoch_ns(moment) + (0 if fine is None else int(fine[2]))


def time_name(at_ns: int) -> str:
    """The time of a version, as `parse_time` reads it: with all its digits."""
    moment = _ZERO + timedelta(microseconds=at_ns // 1000)
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}{f'{at_ns % 1000:03d}' if at_ns % 1000 else ''}Z"
