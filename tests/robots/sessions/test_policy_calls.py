"""A call of a policy ends with its session, and what it was to make then serves no later one."""

import threading

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.model import PolicySpec
from worldfs.policies.policy_client import PolicyError
from worldfs.sessions.policy_calls import MORE_S, PolicyCalls
from worldfs.testing.waiting import PATIENCE_S


class Policy:
    """Its making, or its `reset`, does not return before `go`."""

    def __init__(self, hangs):
        self.hangs, self.begun, self.go, self.made = hangs, threading.Event(), threading.Event(), []

    def make(self):
        self.made.append(self)
        self.at("make")
        return self

    def connect(self, timeout_s):
        self.at("connect")

    def reset(self):
        self.at("reset")

    def at(self, call):
        if call == self.hangs:
            self.begun.set()
            assert self.go.wait(PATIENCE_S)

    def close(self):
        pass


@pytest.mark.parametrize("hangs", ["make", "reset"])
def test_a_call_ends_as_its_session_is_closed_and_the_next_has_a_client_of_its_own(hangs):
    policy, failed = Policy(hangs), []
    calls = PolicyCalls(policy.make, "slow", PolicySpec("slow", "slow"), SystemClock())

    def call():
        try:
            calls.prepare(PATIENCE_S)
            calls.reset()
        except PolicyError as error:
            failed.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    assert policy.begun.wait(PATIENCE_S)
    calls.close()
    caller.join(PATIENCE_S / 4)
    ended = not caller.is_alive()
    policy.go.set()
    assert ended and failed[0].code == "POLICY_TIMEOUT"
    calls.reset()
    assert len(policy.made) == 2
    calls.close()


def test_after_a_call_that_did_not_return_in_time_the_next_has_another_client():
    policy = Policy("connect")
    calls = PolicyCalls(policy.make, "slow", PolicySpec("slow", "slow"), SystemClock())
    calls.prepare(PATIENCE_S)
    with pytest.raises(PolicyError):
        calls.connect(-MORE_S)
    calls.reset()
    assert len(policy.made) > 1
    policy.go.set()
    calls.close()
