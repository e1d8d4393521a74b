"""Whether a stop is known to have reached a robot: of one with a kernel of its own it is, once the call returns."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from worldfs.runtime.body_worker import KernelNode
from worldfs.runtime.standstill_check import StandstillCheck
from worldfs.testing.null_driver import NullDriver


class Stops(NullDriver):
    def stop(self):
        pass


class Remote(Stops):
    cut_off_since = ""

    def follows(self, order):
        return False

    def has_ended(self, order):
        return False


@pytest.mark.parametrize(("driver", "told"), [(Stops, True), (Remote, False)])
def test_a_stop_on_its_way_to_another_kernel_is_not_told_yet(driver, told):
    check = StandstillCheck(KernelNode("arm", driver()), lambda: 0.0)
    check.begin(SimpleNamespace(executing=True, begun=True, returned_at=0.0, job=SimpleNamespace(id="a1")))
    answer = check.answer()
    assert answer.told is told and not answer.confirmed
    assert ("a1" in answer.why) is told
    check.tell()
    answer = check.answer()
    assert answer.told and "a1" in answer.why
