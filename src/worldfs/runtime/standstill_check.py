"""One robot since its last stop: whether its driver was told, has returned, and measures that the robot stands."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Final

from worldfs.base.driver import MeasuresStandstill, RemoteKernel, Standstill, Stoppable, StopUndelivered, TakesUp
from worldfs.base.messages import coded
from worldfs.base.messages.coded_text import parts
from worldfs.base.plugin_faults import error_line, error_text
from worldfs.base.plugin_values import parsed

from .body_worker import KernelNode
from .grace import BODY
from .job_attempt import JobAttempt
from .stop_report import RobotStop

AT_ONCE: Final = 8  # calls of one driver's stop that may hang beside each other; a further one waits for one of them
AGE_S: Final = 0.5  # how long a standstill is believed: then it is measured again, and motion ends it
NO_MEASURE: Final = "stop.no_measure"  # of why nothing is known, and will not be
FRESH_S: Final = 60.0  # of a report that shows it: vehicles that stand report every half minute


class StandstillCheck:
    """`tell` and `measure` call the driver, each in a thread that may hang in it; everything else only remembers."""

    def __init__(self, node: KernelNode, monotonic: Callable[[], float]) -> None:
        self.node, self._monotonic = node, monotonic
        self._lock = threading.Lock()  # of all below; never held while the driver is called
        self._attempt: JobAttempt | None = None  # what ran when it was stopped
        self.stopped_at = inf  # `monotonic` of the last stop; inf: it may move
        self._number = 0  # of that stop: an answer to an earlier one counts for nothing
        self._calls = 0  # of the driver's stop, that have not returned
        self._called_at = inf  # `monotonic` when the first of these was made
        self._again = False  # it is to be called once more
        self._returned_at = inf  # the driver's stop, called for the last stop, has returned
        self._failed = ""  # why it failed, for people
        self._undelivered = False  # it says that the robot was not connected
        self._judged: tuple[object, bool, bool] = (None, False, False)  # a driver: is it Stoppable, can it measure
        self.measuring = False
        self._asked_at = 0.0  # `monotonic` of the last measurement
        self._stood_at = -inf  # of the last one since the stop that showed that it stands
        self.stands = False
        self._why = ""
        self._moves = False  # by the latest measurement
        self.stood = False  # it was measured to stand when that was doubted last
        self.doubted = False  # no stop: an order of it has ended, and it may still move
        self.halted = False  # so, and its driver's stop is called for that
        self._waits_until = -inf  # the end of the time in which it may still be found to stand: see `is_awaited`
        self.noted = (0, False)  # a stop, and whether the log says that it is confirmed
        self.alerted = self.hang_alerted = False  # since it was stopped last
        self.shown = False  # the alert is raised, by an earlier stop too
        self.kept = False  # the log says that it may move: as `shown`, once that is written
        self.job = ""  # the order since which that is not known

    def begin(self, attempt: JobAttempt | None, *, told: bool = True) -> None:
        """It is stopped now. `told`: its driver's stop is called next."""
        with self._lock:
            now = self._monotonic()
            self._attempt, self.stopped_at, self._number = attempt, now, self._number + 1
            self.job = attempt.job.id if attempt is not None else self.job
            self.stands, self._why, self._failed, self.alerted = False, "", "", False
            self.doubted = self.halted = False
            self._moves, self._stood_at = False, -inf
            self._returned_at = inf if told and self._abilities[0] else now

    def doubt(self, attempt: JobAttempt | None, failed: str = "", *, halted: bool = False) -> None:
        """No stop came, and it is to stand now: an order of it has ended without that being confirmed. `halted`: its
        driver's stop is called for that. `failed`: so."""
        if not self.is_stopped:
            self.begin(attempt, told=False)
            self.doubted, self.stood, self._failed = True, False, failed
        self.halted |= self.doubted and halted

    def doubt_unheard(self) -> None:
        """As `doubt`: a process that has gone had sent it an order, or could not see it stand. Its driver's stop is
        called next, and only what is measured after that counts."""
        if self.is_stopped and not self.doubted:
            return  # a stop is in force, and does the same
        with self._lock:
            begun = self._monotonic()
            self.stopped_at, self._number, self.doubted, self.halted = begun, self._number + 1, True, True
            self.stands, self.stood, self._moves, self._stood_at = False, False, False, -inf
            self._waits_until = begun + BODY.stop_s
            self._returned_at = inf if self._abilities[0] else begun

    def settle_doubt(self) -> None:
        """It was measured to stand: it is free to move again."""
        self.resume()
        self.stood = True

    def resume(self) -> None:
        if not self.is_stopped:
            return
        with self._lock:
            self.doubted = self.halted = False
            self._attempt, self.stopped_at, self._number = None, inf, self._number + 1
            self.stands, self._moves, self._why, self._failed, self.job = False, False, "", "", ""

    def tell(self) -> str:
        """Call the driver's stop. Why that failed; "": it did not, or there is none."""
        driver: object = self.node.driver
        if not isinstance(driver, Stoppable):
            return ""
        takes_up = self.doubted and not self.node.opening and isinstance(driver, TakesUp)
        with self._lock:
            if self._calls == AT_ONCE:
                self._again = True
                return coded("stop.call_hangs")
            self._calls += 1
            self._called_at = min(self._called_at, self._monotonic())
        while True:
            number, failed, undelivered = self._number, "", False
            try:
                if takes_up and isinstance(driver, TakesUp):
                    with suppress(Exception):  # a library's own; it is measured not to stand then
                        driver.take_up()
                driver.stop()
            except StopUndelivered as error:
                failed, undelivered = error.why, True
            except ConnectionError as error:
                failed, undelivered = coded("stop.not_connected", why=str(error) or error_line(error)), True
            except Exception as error:  # a library's own
                failed = coded("stop.failed", why=error_line(error))
            with self._lock:
                again, self._again = self._again, False
                if number == self._number:
                    if self._failed or self._returned_at == inf:  # a later call puts off no measurement
                        self._returned_at = self._monotonic()
                    self._failed, self._undelivered = failed, undelivered
                if not again:
                    self._calls -= 1
                    if not self._calls:
                        self._called_at = inf
                    return failed

    def measure(self) -> None:
        """Ask the driver whether the robot stands, once nothing of ours may move it any more; then at intervals."""
        driver: object = self.node.driver
        with self._lock:
            since, number, now = self._since(), self._number, self._monotonic()
            if since == inf or not self.is_due or not isinstance(driver, MeasuresStandstill):
                return
            self.measuring, self._asked_at = True, now
            if self._stood_at > -inf:
                since = max(since, now - FRESH_S)
        stands, moves, why = False, False, ""
        try:
            found = parsed(Standstill, driver.standstill(since), f"standstill {self.node.id}")
            stands, moves, why = found.stands, not found.stands, found.why or coded("stop.moves")
        except Exception as error:  # a library's own, or the answer is none
            why = coded("stop.not_measured", why=error_text(error)[:200] or type(error).__name__)
        finally:
            with self._lock:
                self.measuring = False
                if number == self._number and (stands or not self.stands or self._asked_at - self._stood_at > AGE_S):
                    self.stands, self._moves, self._why = stands, moves, why
                if number == self._number and stands:
                    self._stood_at = self._asked_at

    def ask(self, since: float) -> bool | None:
        """Whether the driver, asked once, says that the robot has stood since then; None: it says that nothing of its
        robot measures that. Remembers nothing."""
        driver: object = self.node.driver
        try:
            if not isinstance(driver, MeasuresStandstill):
                return None
            found = parsed(Standstill, driver.standstill(since), f"standstill {self.node.id}")
        except Exception:  # a library's own, or the answer is none: `measure` says why
            return False
        return None if not found.stands and any(part.code == NO_MEASURE for part in parts(found.why)) else found.stands

    @property
    def is_stopped(self) -> bool:
        return self.stopped_at < inf

    @property
    def held(self) -> bool:
        """Whether it is to be measured to stand before it is sent another order."""
        return self.doubted and self.halted and self.can_measure

    @property
    def awaited_s(self) -> float:
        """Seconds for which it is held and may be found to stand soon."""
        return max(0.0, self._waits_until - self._monotonic()) if self.held else 0.0

    @property
    def failed(self) -> bool:
        """Whether the driver's stop, called for a stop, raised an error."""
        return bool(self._failed) and self.is_stopped and not self.doubted

    @property
    def is_called(self) -> bool:
        """Whether a call of the driver's stop has not returned."""
        return self._called_at < inf

    @property
    def hangs(self) -> bool:
        """Whether it has not for longer than a driver may take: the next stop may not reach the robot."""
        return self._monotonic() - self._called_at > BODY.stop_s

    @property
    def ignores_stop(self) -> bool:
        """Whether the driver's stop failed, or has returned and the robot is measured to move or still at work at its
        order: it is called again."""
        attempt = self._attempt
        works = attempt is not None and attempt.executing and self._returned_at < inf
        moves = self._moves and not self.stands and self._since() < inf
        if self.doubted:
            return (self.halted and works) or (self.held and (bool(self._failed) or moves))
        return self.failed or works or moves

    @property
    def can_measure(self) -> bool:
        """Whether its driver can say that it stands."""
        return self._abilities[1] and self.node.measured()

    @property
    def is_measured(self) -> bool:
        """Whether measurements are asked for: also of one that stands, since it may be pushed."""
        return self.is_stopped and self.can_measure

    @property
    def is_due(self) -> bool:
        """Whether the next measurement is to be asked for now."""
        if self.measuring or not self.is_measured:
            return False
        return not self.stands or self._monotonic() - self._asked_at >= AGE_S

    def expire(self) -> None:
        """A measurement that hangs leaves it standing no longer than another would."""
        with self._lock:
            if self.measuring and self.stands and self._monotonic() - self._asked_at > BODY.stop_s:
                self.stands, self._why = False, ""

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be learned soon."""
        return self.stands or self.failed or (not self.can_measure and self._since() < inf)

    def answer(self) -> RobotStop:
        why = "" if self.stands else self._doubt()
        told = not (self._failed and self._undelivered) and not self._is_on_the_way
        return RobotStop(self.node.id, self.stands, why, told=told)

    @property
    def _is_on_the_way(self) -> bool:
        """Whether the robot has a kernel of its own, which is not known to have it: the call has not returned."""
        return self._returned_at == inf and isinstance(self.node.driver, RemoteKernel)

    def _doubt(self) -> str:
        attempt = self._attempt
        if self._failed:
            return self._failed
        if attempt is not None and attempt.executing and not self._is_on_the_way:
            return coded("stop.job_runs", job=attempt.job.id)
        if self._returned_at == inf:
            return coded("stop.call_hangs")
        if not self.can_measure:
            return coded(NO_MEASURE)
        return self._why or coded("stop.no_measurement")

    @property
    def _abilities(self) -> tuple[bool, bool]:
        """Whether the present driver is told to stop, and whether it measures. It may be replaced by another."""
        driver: object = self.node.driver
        known, told, measures = self._judged
        if known is not driver:
            told, measures = isinstance(driver, Stoppable), isinstance(driver, MeasuresStandstill)
            self._judged = driver, told, measures
        return told, measures

    def _since(self) -> float:
        """From when on a measurement counts: the driver's stop and the job that ran have returned; inf: not yet."""
        attempt = self._attempt
        if self.failed or not self.is_stopped or (self.doubted and self.node.opening):
            return inf
        return max(self._returned_at, attempt.returned_at if attempt is not None and attempt.begun else 0.0)
