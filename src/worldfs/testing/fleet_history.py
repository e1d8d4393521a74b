"""The judge of a fleet's history: what several hosts did, in the order in which one observer saw it.

Every event is written where it happens: an order when its submitter was told that it is accepted, a motion at the body,
an end by a reader of the store. The judge knows nothing of how the product works, and rejects an empty history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

KINDS = ("submit", "lease", "unlease", "begin", "halt", "done", "end", "claim", "free")
QUIET = ("rejected", "cancelled")  # ends of missions that no body began


class FleetEvent(NamedTuple):
    """`halt`: its host asked the body to stand still, and was told how far it came: another attempt may be made.

    `epoch`: of the lease under which it was done. `result`: of an end, succeeded or the cause of its failure.

    `thing`: what a mission claims or frees. `repeatable`: of a submitted mission: a second attempt may be made.
    """

    kind: str
    mission: str = ""
    node: str = ""
    host: str = ""
    epoch: int = 0
    result: str = ""
    thing: str = ""
    repeatable: bool = False


class _Mission:
    def __init__(self, repeatable: bool) -> None:
        self.repeatable = repeatable
        self.begun = 0
        self.halted = False
        self.done = False
        self.end = ""


class FleetJudge:
    """Fed one event after another; what it found wrong, as sentences."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self._missions: dict[str, _Mission] = {}
        self._holders: dict[str, tuple[str, int]] = {}  # node → host and epoch of its lease
        self._epochs: dict[str, dict[int, str]] = {}  # node → epoch → host
        self._moved: dict[str, int] = {}  # node → the highest epoch that moved its body
        self._claims: dict[str, str] = {}  # thing → mission

    def see(self, event: FleetEvent) -> None:
        if event.kind not in KINDS:
            return self._say(f"an unknown event {event.kind!r}")
        getattr(self, f"_{event.kind}")(event)

    def finish(self) -> list[str]:
        """Called once, after the last event."""
        if not self._missions:
            self._say("the history is empty: nothing was submitted")
        for name, mission in self._missions.items():
            if not mission.end:
                self._say(f"{name} was lost: accepted, and never ended")
        for thing, mission_name in self._claims.items():
            self._say(f"{thing} is still claimed by {mission_name}")
        return self.wrong

    def _submit(self, event: FleetEvent) -> None:
        if event.mission in self._missions:
            return self._say(f"{event.mission} was accepted twice")
        self._missions[event.mission] = _Mission(event.repeatable)

    def _lease(self, event: FleetEvent) -> None:
        if (held := self._holders.get(event.node)) is not None:
            self._say(f"{event.node} has two holders: {held[0]} and {event.host}")
        known = self._epochs.setdefault(event.node, {})
        if event.epoch in known:
            self._say(f"{event.node}: epoch {event.epoch} was given twice")
        elif known and event.epoch < max(known):
            self._say(f"{event.node}: epoch {event.epoch} after {max(known)}")
        known[event.epoch] = event.host
        self._holders[event.node] = event.host, event.epoch

    def _unlease(self, event: FleetEvent) -> None:
        if self._holders.get(event.node) != (event.host, event.epoch):
            return self._say(f"{event.node}: {event.host} gave back a lease that it does not hold")
        del self._holders[event.node]

    def _begin(self, event: FleetEvent) -> None:
        if self._epochs.get(event.node, {}).get(event.epoch) != event.host:
            self._say(f"{event.mission} was begun by {event.host} under epoch {event.epoch}, which it never had")
        if event.epoch < self._moved.get(event.node, 0):
            self._say(f"{event.node} was moved under epoch {event.epoch} after {self._moved[event.node]}")
        self._moved[event.node] = max(event.epoch, self._moved.get(event.node, 0))
        if (mission := self._known(event)) is None:
            return
        if mission.end:
            self._say(f"{event.mission} was begun after its end")
        if mission.begun and not mission.repeatable and not mission.halted:
            self._say(f"{event.mission} was executed twice")
        mission.begun += 1
        mission.halted = False

    def _halt(self, event: FleetEvent) -> None:
        if (mission := self._known(event)) is not None:
            if not mission.begun or mission.done:
                self._say(f"{event.mission} was halted, and did not move")
            mission.halted = True

    def _done(self, event: FleetEvent) -> None:
        if (mission := self._known(event)) is not None:
            if not mission.begun:
                self._say(f"{event.mission} was done and never begun")
            if mission.done and not mission.repeatable:
                self._say(f"{event.mission} was done twice")
            mission.done = True

    def _end(self, event: FleetEvent) -> None:
        if (mission := self._known(event)) is None:
            return
        if mission.end:
            self._say(f"{event.mission} ended twice: {mission.end}, then {event.result}")
        if not event.result:
            self._say(f"{event.mission} ended without a result")
        if event.result == "succeeded" and not mission.done:
            self._say(f"{event.mission} is called succeeded, and its body did not do it")
        if event.result in QUIET and mission.begun:
            self._say(f"{event.mission} ended as {event.result}, and its body had moved")
        if event.epoch and event.epoch < max(self._epochs.get(event.node, {0: ""})):
            self._say(f"{event.mission}: its end was written under epoch {event.epoch}, which was over")
        mission.end = mission.end or event.result or "?"

    def _claim(self, event: FleetEvent) -> None:
        if (holder := self._claims.get(event.thing)) is not None and holder != event.mission:
            self._say(f"{event.thing} is claimed by {holder} and {event.mission}")
        if (mission := self._known(event)) is not None and mission.end:
            self._say(f"{event.thing} was claimed by {event.mission} after its end")
        self._claims[event.thing] = event.mission

    def _free(self, event: FleetEvent) -> None:
        if self._claims.get(event.thing) != event.mission:
            return self._say(f"{event.thing} was freed by {event.mission}, which did not claim it")
        del self._claims[event.thing]

    def _known(self, event: FleetEvent) -> _Mission | None:
        found = self._missions.get(event.mission)
        if found is None:
            self._say(f"{event.mission or 'a mission without a name'}: {event.kind}, and it was never accepted")
        return found

    def _say(self, wrong: str) -> None:
        self.wrong.append(wrong)


def judge(events: Iterable[FleetEvent]) -> list[str]:
    """What is wrong with a history, as sentences; none: it holds."""
    fleet = FleetJudge()
    for event in events:
        fleet.see(event)
    return fleet.finish()
