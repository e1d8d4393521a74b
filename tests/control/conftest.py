"""A plane with a clock in hand, and who calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs.access.binding import ADMIN, MOTHER, NODE, SYSTEM, USER, Binding
from worldfs.control import Caller, ControlPlane, PlaneError
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.change_feed import ChangeFeed

Json = dict[str, Any]
OPERATOR = Caller(Binding(ADMIN, MOTHER, SYSTEM), "c1")


def user(agent: str = "alice", project: str = "", token: str = "") -> Caller:
    return Caller(Binding(USER, agent, project, token), "c1")


def machine(node: str) -> Caller:
    return Caller(Binding(NODE, ""), "c1", node)


class Site:
    """A plane on a disk that can be opened again."""

    def __init__(self, root: Path | None) -> None:
        self.root, self.clock, self.feed = root, ManualClock(), ChangeFeed()
        self.topics: list[str] = []
        self.feed.listen(lambda _, topics: self.topics.extend(topics))
        self.plane = ControlPlane.open(root, self.clock, self.feed)

    def reopen(self) -> ControlPlane:
        self.plane.close()
        self.plane = ControlPlane.open(self.root, self.clock, self.feed)
        return self.plane

    def call(self, op: str, caller: Caller = OPERATOR, **payload: Any) -> Json:
        return self.plane.call(op, payload, caller)

    def refused(self, op: str, caller: Caller = OPERATOR, **payload: Any) -> str:
        """The code of the refusal."""
        with pytest.raises(PlaneError) as error:
            self.plane.call(op, payload, caller)
        return error.value.code

    def join(self, name: str = "", url: str = "ws://10.0.0.8:18891/v2/fs", ttl: int = 900_000) -> Json:
        invite = self.call("node_invite_create")["invite_token"]
        return self.call("node_join", invite_token=invite, node_name=name, fs_url=url, lease_ttl_ms=ttl)

    def upsert(self, node: Json, services: object, **more: Any) -> Json:
        return self.call(
            "node_service_upsert", node_id=node["node_id"], node_secret=node["node_secret"], services=services, **more
        )

    def project(self, name: str = "Demo", **fields: Any) -> str:
        return str(self.call("project_create", name=name, **fields)["project_id"])

    def pass_by(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.plane.tick()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path / "plane")
    yield made
    made.plane.close()


@pytest.fixture
def service() -> Callable[..., Json]:
    def make(name: str = "cam", **fields: Any) -> Json:
        return {"service_id": name, "kind": "camera", "state": "online", "endpoints": ["/cam"], **fields}

    return make
