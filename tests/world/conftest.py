"""A realm in memory, and nodes in its control plane."""

from __future__ import annotations

import itertools

import pytest

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, USER, Binding
from worldfs.access.caller import Caller
from worldfs.testing.manual_clock import ManualClock
from worldfs.world.served_world import ServedWorld


class Served:
    """A realm, and short words for what is done to it."""

    def __init__(self, home, **options):
        self.home = home
        self.clock = ManualClock()
        self.realm = ServedWorld.open(home, clock=self.clock, memory_only=True, **options)
        self.plane = self.realm.plane
        self.root = Binding(ADMIN, MOTHER, SYSTEM)
        self._numbers = itertools.count(1)

    def control(self, op, binding=None, **payload):
        return self.plane.call(op, payload, Caller(binding or self.root, f"c-{next(self._numbers)}"))

    def join(self, name="edge", services=None):
        invite = self.control("node_invite_create")
        node = self.control("node_join", invite_token=invite["invite_token"], node_name=name)
        if services is not None:
            self.upsert(node, services)
        return node

    def upsert(self, node, services, **more):
        given = more if services is None else {**more, "services": services}
        return self.control("node_service_upsert", node_id=node["node_id"], node_secret=node["node_secret"], **given)

    def project(self, name="p", **more):
        return self.control("project_create", name=name, **more)["project_id"]

    def admin(self, agent=MOTHER, project=SYSTEM, token=""):
        return self.realm.namespace(Binding(ADMIN, agent, project, token))

    def user(self, agent="alice", project="", token=""):
        return self.realm.namespace(Binding(USER, agent, project, token))


@pytest.fixture
def served(tmp_path):
    served = Served(tmp_path)
    yield served
    served.realm.close()


def service(id, node="node-1", kind="tool", **more):
    """S of the reference page."""
    return {"service_id": id, "kind": kind, "state": "online", "endpoints": [f"/nodes/{node}/{id}"], **more}
