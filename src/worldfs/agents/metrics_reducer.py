"""The reducer of an agent's journal: every figure that its metrics are made of, each entry counted once.

- A session is open from its `session_start` to its `session_end`. What happens in it counts when it ends, and a figure
  that the end carries stands in place of the sum of that session's own events: the end has counted them.
- Everything else counts at once, also what happens to a session's work after its end (a claim accepted next week).
- A call of a language model in the agent's name counts at once, inside a session or not: what a session itself has
  spent stands in its end.
- An entry counts once by its number, a session once by its id: replaying any part of the journal changes nothing.
  Ids of the last 700 sessions or so are remembered: an end that is repeated after those is taken for another's.
- An end that names no session ends the one that was opened last. If the end that names it comes after all, that one
  is in its place: an agent that wrote its own `session_end` has not said how the process ended.
- A day is a day of UTC. A time that is none: the day of the entry before.

The state is small whatever the history: one line of JSON, kept in .paos/metrics.json.
"""

from __future__ import annotations

import json
from datetime import UTC, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict

from worldfs.base.clock import parse_stamp
from worldfs.base.errors import BadInput
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_float, as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


SESSIONS: Final = ("sessions_total", "sessions_completed", "sessions_timeout", "sessions_error")
FIGURES: Final[tuple[str, ...]] = (
    "sources_archived",
    "claims_proposed",
    "claims_accepted",
    "claims_challenged",
    "claims_rejected",
    "disconfirmation_attempts",
    "disconfirmation_hits",
    "cross_agent_flags_sent",
    "cross_agent_flags_received",
)
LIFETIME: Final[tuple[str, ...]] = (*SESSIONS, *FIGURES)
EVENTS: Final = {
    "sources_archived": "sources_archived",
    "claim_proposed": "claims_proposed",
    "claim_accepted": "claims_accepted",
    "claim_challenged": "claims_challenged",
    "claim_rejected": "claims_rejected",
    "disconfirmation_attempt": "disconfirmation_attempts",
    "disconfirmation_hit": "disconfirmation_hits",
    "flag_sent": "cross_agent_flags_sent",
    "flag_received": "cross_agent_flags_received",
}
"""Event → the figure that its `count` is added to; without one it counts 1."""
LETTERS: Final = {"message_sent": "cross_agent_flags_sent", "message_received": "cross_agent_flags_received"}
"""The inbox's own events: each counts 1 where its `type` is "flag"."""
MODEL_CALL: Final = "model_call"
"""The event of a call of a language model (`agents/model_calls.py`), which carries the fields of a `ModelCall`."""
FOUND: Final = "metrics_imported"
"""The event that carries an imported metrics.json as its `metrics`, so that the journal alone is complete."""

WINDOW: Final = 30  # days (003, rolling_30d)
_DAYS: Final = 40  # buckets kept: the window, and room for days that wrong clocks named
_OPEN: Final = 16  # sessions open at once
_ENDED: Final = 16_384  # characters of ended ids, about 700 sessions
_ID: Final = 200  # characters of an id
_MOST: Final = 10**12  # no count of one entry is larger
_WORDS: Final = {"succeeded": "completed", "success": "completed", "timed_out": "timeout"}
_BUCKET: Final = {"sources_archived": 2, "claims_proposed": 3, "claims_accepted": 4}
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode


class RecentTotals(NamedTuple):
    """What the journal says of the last 30 days."""

    sessions: int = 0
    failed: int = 0  # of them: timeout or error
    sources: int = 0
    proposed: int = 0
    accepted: int = 0


class _Guess(TypedDict):
    """The session that an end without a name ended."""

    id: str
    day: str
    outcome: str
    figures: dict[str, int]


class MetricsReducer:
    """The figures after the entry `applied_seq`. Every step costs the same, whatever came before."""

    __slots__ = ("_day", "_days", "_ended", "_guess", "_open", "_totals", "applied_seq", "baseline")

    def __init__(self, baseline: Json | None = None) -> None:
        """`baseline`: a metrics.json that was there before us, as it was found."""
        self.applied_seq = 0
        self.baseline = baseline
        self._totals: dict[str, int] = {}
        self._days: dict[str, list[int]] = {}  # "2026-03-31" → Recent as a list; the one touched last is last
        self._open: dict[str, dict[str, int]] = {}  # id → sums; the one opened last is last
        self._ended = "/"  # ids between slashes, oldest first: to search one string costs less than to load a set
        self._guess: _Guess | None = None
        self._day = ""  # of the last entry that had a time

    # -- kept ---------------------------------------------------------------------------------------------------------

    @classmethod
    def load(cls, data: bytes) -> MetricsReducer:
        """What `dump` gave. `BadInput` if it is anything else: `recover_reducer` makes it again."""
        try:
            value = parse_json(data)
            fold = cls(value["baseline"])
            fold.applied_seq, fold._day, fold._ended = value["applied_seq"], value["day"], value["ended"]
            fold._totals, fold._days, fold._open = value["totals"], value["days"], value["open"]
            fold._guess = value["guess"]
            if value["format"] != 1 or not fold._sound():
                raise ValueError
        except (ValueError, LookupError, TypeError, AttributeError):
            raise BadInput(
                coded("agent.no_metrics_state"),
                path=".paos/metrics.json",
                op="load",
                expected=coded("agent.written_state"),
                fix=coded("agent.remove_metrics"),
            ) from None
        return fold

    def dump(self) -> bytes:
        """One line of JSON; the same figures give the same bytes."""
        value = {
            "format": 1,
            "applied_seq": self.applied_seq,
            "day": self._day,
            "totals": self._totals,
            "days": self._days,
            "open": self._open,
            "guess": self._guess,
            "ended": self._ended,
            "baseline": self.baseline,
        }
        return _ENCODE(value).encode() + b"\n"

    def _sound(self) -> bool:
        return (
            type(self.applied_seq) is int
            and type(self._day) is str
            and type(self._ended) is str
            and self._ended[:1] == "/"
            and (self.baseline is None or type(self.baseline) is dict)
            and set(map(len, self._days.values())) <= {len(RecentTotals._fields)}
            and _ints(chain(self._totals.values(), *self._days.values(), *(v.values() for v in self._open.values())))
            and (self._guess is None or _ints(self._guess["figures"].values()))
        )

    # -- counting -----------------------------------------------------------------------------------------------------

    def follow(self, lines: Iterable[tuple[int, Json]]) -> bool:
        """Apply (number, entry) in their order; True if a figure has changed."""
        changed = False
        for seq, entry in lines:
            changed = self.apply(seq, entry) or changed
        return changed

    def apply(self, seq: int, entry: Json) -> bool:
        """Take one entry of the journal in; one that was taken in before changes nothing. True if a figure changed."""
        if seq <= self.applied_seq:
            return False
        self.applied_seq = seq
        event = entry.get("event")
        if type(event) is not str:
            return False
        if event in EVENTS:
            count = as_count(entry["count"]) if "count" in entry else 1
            return bool(count) and self._happened(EVENTS[event], count or 0, entry)
        if event in LETTERS:
            return entry.get("type") == "flag" and self._happened(LETTERS[event], 1, entry)
        if event == MODEL_CALL:
            self._add(_called(entry), self._dated(entry))
            return True
        if event == "session_start":
            return self._start(entry)
        if event == "session_end":
            return self._end(entry)
        if event == FOUND and type(entry.get("metrics")) is dict and not _says(self.baseline):
            self.baseline = as_object(entry["metrics"])
            return True
        return False

    def _happened(self, key: str, count: int, entry: Json) -> bool:
        id = _id(entry)
        day = self._dated(entry)
        if id is None and self._open:
            id = next(reversed(self._open))
        if id in self._open:
            sums = self._open[id]
            sums[key] = sums.get(key, 0) + count
            return False
        guess = self._guess
        if guess is not None and id in (None, guess["id"]):  # after all still in that session, whose real end may come
            guess["figures"][key] = guess["figures"].get(key, 0) + count
            day = guess["day"]
        self._add({key: count}, day)
        return True

    def _start(self, entry: Json) -> bool:
        id = _id(entry) or ""
        if id in self._open or (id and f"/{id}/" in self._ended):
            return False
        self._guess = None
        dead = {}
        if len(self._open) == _OPEN:  # the end of the oldest will not come; what happened in it has happened
            dead = self._open.pop(next(iter(self._open)))
            self._add(dead, self._dated(entry))
        self._open[id] = {}
        return bool(dead)

    def _end(self, entry: Json) -> bool:
        named, guess = _id(entry), self._guess
        day, outcome = self._dated(entry), _outcome(entry)
        sums: dict[str, int] = {}
        if named is not None:
            id = named
            if guess is not None and guess["id"] == id:
                self._take_back(guess)
                self._guess = None
                sums = guess["figures"]
            elif f"/{id}/" in self._ended:
                return False
        elif self._open:
            id = next(reversed(self._open))
        elif guess is not None:  # said twice
            return False
        else:
            id = ""
        sums = self._open.pop(id, sums)
        figures = {
            key: count for key in FIGURES if key in entry or key in sums if (count := _carried(entry, key, sums))
        }
        figures |= _spent(entry)
        if named is None:
            self._guess = {"id": id, "day": day, "outcome": outcome, "figures": figures} if id else None
        if id and f"/{id}/" not in self._ended:
            self._ended += f"{id}/"
            while len(self._ended) > _ENDED:
                self._ended = self._ended[self._ended.index("/", 1) :]
        self._add(figures, day)
        _close(self._totals, self._bucket(day), outcome, 1)
        return True

    def _take_back(self, guess: _Guess) -> None:
        totals = self._totals
        bucket = self._days.get(guess["day"], [0] * len(RecentTotals._fields))  # a day that gave way took them with it
        _sum(totals, bucket, guess["figures"], -1)
        _close(totals, bucket, guess["outcome"], -1)

    def _add(self, figures: dict[str, int], day: str) -> None:
        _sum(self._totals, self._bucket(day), figures, 1)

    def _bucket(self, day: str) -> list[int]:
        """That day's figures, now the day touched last. Days touched long ago give way, not the earliest ones: else a
        clock that once stood in the year 2099 would keep its place for ever."""
        days = self._days
        bucket = days.pop(day, None) or [0] * len(RecentTotals._fields)
        if day:
            days[day] = bucket
            if len(days) > _DAYS:
                del days[next(iter(days))]
        return bucket

    def _dated(self, entry: Json) -> str:
        try:
            moment = parse_stamp(as_text(entry.get("ts")))
        except OverflowError:  # the year 1, and a zone
            moment = None
        if moment is not None:
            self._day = moment.date().isoformat()
        return self._day

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def blank(self) -> bool:
        """Nothing has been counted yet."""
        return not self._totals

    @property
    def totals(self) -> dict[str, int]:
        """What was counted, without what was found; a figure that is not there is 0."""
        return dict(self._totals)

    def recent(self, now: datetime) -> RecentTotals:
        """The last 30 days, of the journal alone."""
        today = now.astimezone(UTC).date()
        first, last = (today - timedelta(WINDOW - 1)).isoformat(), (today + timedelta(1)).isoformat()
        inside = [bucket for day, bucket in self._days.items() if first <= day <= last]
        return RecentTotals(*map(sum, zip(*inside, strict=True))) if inside else RecentTotals()


def _spent(entry: Json) -> dict[str, int]:
    """What a session cost, as its end has it; money in millionths of a dollar, because figures are whole numbers."""
    found = {"tokens_used": as_count(entry.get("tokens_used")), "cost_micro_usd": _millionths(entry.get("cost_usd"))}
    return {key: count for key, count in found.items() if count}


def _called(entry: Json) -> dict[str, int]:
    """One call of a model; the time in millionths of a second."""
    cost = _millionths(entry.get("cost_usd"))
    found = {
        "model_calls": 1,
        "model_calls_unpriced": int(cost is None),
        "tokens_used": sum(as_count(entry.get(key)) or 0 for key in ("input_tokens", "output_tokens")),
        "cost_micro_usd": cost,
        "model_latency_us": _millionths(entry.get("latency_s")),
    }
    return {key: count for key, count in found.items() if count}


def _millionths(value: object) -> int | None:
    """None: it is no amount."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST / 1_000_000
    return round(as_float(value) * 1_000_000) if known else None


def _says(baseline: Json | None) -> bool:
    """Does a document that was found count anything? The one of a new agent does not."""
    figures = (baseline or {}).get("lifetime")
    return type(figures) is dict and any(map(as_count, figures.values()))


def _sum(totals: dict[str, int], bucket: list[int], figures: dict[str, int], sign: int) -> None:
    for key, count in figures.items():
        totals[key] = totals.get(key, 0) + sign * count
        if key in _BUCKET:
            bucket[_BUCKET[key]] += sign * count


def _close(totals: dict[str, int], bucket: list[int], outcome: str, sign: int) -> None:
    for key in ("sessions_total", f"sessions_{outcome}"):
        totals[key] = totals.get(key, 0) + sign
    bucket[0] += sign
    bucket[1] += sign if outcome != "completed" else 0


def _ints(values: Iterable[object]) -> bool:
    return set(map(type, values)) <= {int}


def _carried(entry: Json, key: str, sums: dict[str, int]) -> int:
    """The figure of an end if it is one, else the sum of what happened in its session."""
    count = as_count(entry.get(key))
    return sums.get(key, 0) if count is None else count


def as_count(value: object) -> int | None:
    """A count, or None: numbers are typed, a text or a negative number is none."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST else None


def _id(entry: Json) -> str | None:
    id = entry.get("session_id")
    return id[:_ID].replace("/", "\\") if type(id) is str and id else None


def _outcome(entry: Json) -> str:
    """completed | timeout | error. A word that is none of them, or no word, does not say that it went well."""
    word = entry.get("outcome", entry.get("status"))
    word = _WORDS.get(word, word) if type(word) is str else ""
    return word if word in ("completed", "timeout") else "error"
