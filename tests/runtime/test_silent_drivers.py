"""A driver that does not return is named at once, and called late after a time that the kernel waits for."""

from __future__ import annotations

from types import SimpleNamespace

from worldfs.runtime.body_worker import KernelNode
from worldfs.runtime.grace import SILENT_S
from worldfs.runtime.silent_drivers import SilentDrivers
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver


def test_the_kernel_waits_until_a_silent_driver_is_late_and_no_longer():
    clock, running, alerts = ManualClock(), {}, {}
    silent = SilentDrivers({"arm": KernelNode("arm", NullDriver())}, running, alerts.__setitem__, clock)
    silent.begin()
    assert silent.patience() is None
    running["arm"] = SimpleNamespace(is_silent=True, executing=True, job=SimpleNamespace(id="a1"))
    silent.begin()
    assert silent.patience() == SILENT_S and not silent.is_late("arm") and "a1" in alerts["/nodes/arm"].found
    clock.advance(SILENT_S)
    assert silent.patience() is None and silent.is_late("arm")
    del running["arm"]
    silent.begin()
    assert not silent.is_late("arm") and alerts == {"/nodes/arm": None}
