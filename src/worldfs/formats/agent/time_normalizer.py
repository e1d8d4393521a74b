"""A time as people write it, in the specification's form: whole seconds, UTC, Z."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from worldfs.base.clock import parse_stamp

from .object_schema import is_time


def normalize_time(text: str) -> str | None:
    """`2026-03-31T22:00:00Z` of any ISO 8601 time or date (a date is its midnight, no offset is UTC), or None."""
    if len(text) == 20 and text[19] == "Z" and text[10] == "T" and is_time(text):
        return text

    bare = text.strip().replace("/", "-").replace("年", "-").replace("月", "-").replace("日", "")
    bare = re.sub(r"(?<=-)(\d)(?=-|\s|T|$)", r"0\1", bare).removesuffix(" UTC")
    moment = parse_stamp(re.sub(r"\s+", " ", bare))
    if moment is None:
        return None
    try:
        whole: datetime = moment.astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        return None
    return whole.isoformat().replace("+00:00", "Z")
