"""Journals of agents at random, and their figures counted naively: the oracle of the metrics reducer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from worldfs.base.clock import parse_stamp, stamp
from worldfs.base.json_values import as_int, as_text

Json = dict[str, object]

FIGURE_OF: Final = {
    "sources_archived": "sources_archived",
    "claim_proposed": "claims_proposed",
    "claim_accepted": "claims_accepted",
    "claim_challenged": "claims_challenged",
    "claim_rejected": "claims_rejected",
    "disconfirmation_attempt": "disconfirmation_attempts",
    "disconfirmation_hit": "disconfirmation_hits",
    "flag_sent": "cross_agent_flags_sent",
    "flag_received": "cross_agent_flags_received",
    "message_sent": "cross_agent_flags_sent",  # of type flag only
    "message_received": "cross_agent_flags_received",  # same
}
FIGURES: Final = tuple(dict.fromkeys(FIGURE_OF.values()))
SESSIONS: Final = ("sessions_total", "sessions_completed", "sessions_timeout", "sessions_error")


def random_entries(random: Random, count: int, begin: datetime, *, label: str = "") -> Iterator[Json]:
    """`count` journal entries without numbers: sessions that end once, twice, unnamed or never, and events
    inside and outside of them. At most three sessions are open at once. `label` keeps the ids of two writers apart."""
    moment, made = begin, 0
    going: list[str] = []
    over: list[str] = []
    for _ in range(count):
        moment += timedelta(seconds=random.choice((1, 60, 600, 7200)))
        entry: Json = {"ts": stamp(moment)}
        turn = random.random()
        if turn < 0.15 and len(going) < 3:
            made += 1
            going.append(f"{moment:%Y%m%d-%H%M%S}-{label}{made:04x}")
            entry |= {"event": "session_start", "session_id": going[-1], "type": "research"}
        elif turn < 0.30 and (going or over):
            entry |= _end(random, going, over)
        elif turn < 0.34:
            entry |= {"event": random.choice(("orient_complete", "note", "session_ended")), "count": 3}
        else:
            entry |= _happening(random, going + over[-20:])
        yield entry


def recount(entries: Iterable[Json], now: datetime) -> tuple[Json, Json]:
    """(lifetime, rolling_30d) of a whole journal, in order, without any cache.

    Slow and simple on purpose: every session is kept with all its events, and added up at the end.
    """
    sessions: dict[str, _Session] = {}
    open_: list[str] = []
    loose: list[tuple[str, int, str]] = []
    said = ""  # the session that an unnamed end ended last
    day = ""
    for number, entry in enumerate(entries):
        day = _day(entry) or day
        id, event = as_text(entry.get("session_id")), as_text(entry.get("event"))
        if event == "session_start":
            if id not in sessions:
                sessions[id] = _Session()
                open_.append(id)
                said = ""
        elif event == "session_end":
            if not id:
                if not open_ and said:
                    continue
                id = said = open_[-1] if open_ else ""
            id = id or f"unnamed {number}"
            session = sessions.setdefault(id, _Session())
            if not session.over or (entry.get("session_id") and id == said):
                session.end(entry, day)
                said = said if not entry.get("session_id") or id != said else ""
            open_ = [other for other in open_ if other != id]
        elif event in FIGURE_OF and (not event.startswith("message") or entry.get("type") == "flag"):
            count = 1 if event.startswith("message") else as_int(entry.get("count"), 1)
            home = id or (open_[-1] if open_ else said)
            if home in open_ or (home and home == said):
                sessions[home].inside.append((FIGURE_OF[event], count))
            else:
                loose.append((FIGURE_OF[event], count, day))
    totals: Counter[str] = Counter()
    window: Counter[str] = Counter()
    first, last = f"{now - timedelta(29):%Y-%m-%d}", f"{now + timedelta(1):%Y-%m-%d}"
    for session in sessions.values():
        if session.over:
            outcome = session.outcome if session.outcome in ("completed", "timeout") else "error"
            totals.update(["sessions_total", f"sessions_{outcome}"])
            loose += [("sessions", 1, session.day)]
            loose += [(figure, count, session.day) for figure, count in session.figures().items()]
    for figure, count, at in loose:
        totals[figure] += count
        if first <= at <= last:
            window[figure] += count
    lifetime: Json = {key: totals[key] for key in (*SESSIONS, *FIGURES)}
    decided = totals["claims_accepted"] + totals["claims_challenged"] + totals["claims_rejected"]
    lifetime["claims_proposed"] = max(totals["claims_proposed"], decided)
    lifetime["disconfirmation_attempts"] = max(totals["disconfirmation_attempts"], totals["disconfirmation_hits"])
    proposed, ended = window["claims_proposed"], window["sessions"]
    rolling: dict[str, object] = {
        "sessions": ended,
        "sources_archived": window["sources_archived"],
        "claims_proposed": proposed,
        "acceptance_rate": round(min(1.0, window["claims_accepted"] / proposed), 2) if proposed else None,
        "avg_sources_per_session": round(window["sources_archived"] / ended, 2) if ended else None,
    }
    return lifetime, rolling


class _Session:
    def __init__(self) -> None:
        self.over = False
        self.outcome: object = None
        self.day = ""
        self.inside: list[tuple[str, int]] = []

    def end(self, entry: Json, day: str) -> None:
        """The figures of the end replace those so far; later events are added to it."""
        self.over, self.outcome, self.day = True, entry.get("outcome"), day
        carried = [key for key in FIGURES if key in entry]
        self.inside = [(key, count) for key, count in self.inside if key not in carried]
        self.inside += [(key, as_int(entry[key])) for key in carried]

    def figures(self) -> Counter[str]:
        sums: Counter[str] = Counter()
        for figure, count in self.inside:
            sums[figure] += count
        return sums


def _end(random: Random, going: list[str], over: list[str]) -> Json:
    entry: Json = {"event": "session_end", "outcome": random.choice(("completed", "completed", "timeout", "error"))}
    for key in random.sample(FIGURES, random.randrange(4)):
        entry[key] = random.randrange(9)
    if going and random.random() < 0.15:
        over.append(going.pop())
        return entry  # without a name, as the specification's example
    if going and random.random() < 0.8:
        over.append(going.pop(random.randrange(len(going))))
        return {**entry, "session_id": over[-1]}
    return {**entry, "session_id": random.choice((over or going)[-20:])} if over else {"event": "note"}


def _happening(random: Random, ids: list[str]) -> Json:
    event = random.choice(tuple(FIGURE_OF))
    entry: Json = {"event": event}
    if event.startswith("message"):
        entry["type"] = random.choice(("flag", "flag", "task"))
    elif event == "sources_archived" or random.random() < 0.2:
        entry["count"] = random.randrange(6)
    if ids and random.random() < 0.5:
        entry["session_id"] = random.choice(ids)
    return entry


def _day(entry: Json) -> str:
    moment = parse_stamp(as_text(entry.get("ts")))
    return "" if moment is None else moment.astimezone(UTC).date().isoformat()
