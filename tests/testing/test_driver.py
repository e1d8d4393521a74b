"""The driver that does nothing does it in every way that a kernel must survive."""

from __future__ import annotations

import threading

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Cause, Order, Scene, Thing
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver, SimulatedPowerLoss


def order(**params: object) -> Order:
    return Order("job_1", "arm", "pick_up", dict(params))


def within(seconds: float) -> Run:
    return Run(ManualClock(), seconds)


def test_it_succeeds_and_remembers_every_start() -> None:
    driver = NullDriver()
    assert driver.execute(order(), within(10)).ok
    with pytest.raises(RuntimeError, match="smoke"):
        driver.execute(order(**{"raise": "smoke"}), within(10))
    with pytest.raises(SimulatedPowerLoss):
        driver.execute(order(crash=True), within(10))
    assert len(driver.executed) == 3


def test_a_failure_is_a_value_with_its_reason() -> None:
    outcome = NullDriver().execute(order(fail="it slipped"), within(10))
    assert (outcome.ok, outcome.cause, outcome.message) == (False, Cause.ERROR, "it slipped")


@pytest.mark.parametrize("params", [{"takes": 11}, {"hang": True}])
def test_what_takes_too_long_stops_at_the_deadline(params: dict[str, object]) -> None:
    run = within(10)
    outcome = NullDriver().execute(order(**params), run)
    assert (outcome.cause, run.clock.monotonic()) == (Cause.TIMEOUT, 10.0)


def test_what_takes_less_than_the_deadline_succeeds() -> None:
    assert NullDriver().execute(order(takes=9), within(10)).ok


def test_a_hanging_job_stops_when_cancelled() -> None:
    run = Run(SystemClock(), SystemClock().monotonic() + 60)
    threading.Timer(0.02, run.cancel.set).start()
    assert NullDriver().execute(order(hang=True), run).cause is Cause.CANCELLED


def test_it_sees_what_the_order_says_it_will_see() -> None:
    driver = NullDriver(Scene(objects=(Thing("apple", position=(0, 0, 0)), Thing("pear"))))
    driver.execute(order(see={"apple": {"position": [1, 2, 3], "status": "in_basket"}}), within(10))
    seen = driver.observe().thing("apple")
    assert seen is not None
    assert (seen.position, seen.status) == ((1.0, 2.0, 3.0), "in_basket")


def test_an_empty_scene_does_not_wipe_what_it_has() -> None:
    driver = NullDriver(Scene(objects=(Thing("apple"),)))
    driver.open(Scene())
    assert driver.observe().thing("apple") is not None


def test_it_reviews_as_told() -> None:
    assert NullDriver().review(order()) == ()
    assert [finding.found for finding in NullDriver().review(order(refuse="too far"))] == ["too far"]
