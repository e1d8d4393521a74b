"""A server of ours, and clients from the registry that documents use."""

from __future__ import annotations

import pytest

pytest.importorskip("websockets", reason="the policies extra is not installed: pip install 'worldfs[policies]'")

from worldfs.base.clock import SystemClock
from worldfs.base.model import PolicySpec
from worldfs.policies.policy_server import PolicyServer
from worldfs.sessions.plugins import POLICIES

from .peers import Plain


@pytest.fixture
def serve():
    """Serve a policy of ours; returns the running server."""
    opened = []

    def start(policy=None, **more):
        server = PolicyServer(policy or Plain(), SystemClock(), **more)
        server.__enter__()
        opened.append(server)
        return server

    yield start
    for server in opened:
        server.__exit__(None, None, None)


@pytest.fixture
def client():
    """A client of a type, from the registry that documents use; closed at the end."""
    made = []

    def make(kind, endpoint, checkpoint="", clock=None, **extra):
        one = POLICIES[kind](PolicySpec(kind, endpoint, checkpoint, extra), clock or SystemClock())
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()
