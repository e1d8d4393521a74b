"""Who hears what: watchers of services with replay, debug subscribers by what they may see."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.control.conftest import OPERATOR, Site, user

from worldfs.access.binding import ADMIN, MOTHER, USER, Binding
from worldfs.control import PlaneError

Make = Callable[..., dict[str, Any]]


class Ear:
    def __init__(self, room: int = 1000) -> None:
        self.heard: list[dict[str, Any]] = []
        self.room = room

    def __call__(self, data: bytes) -> bool:
        if len(self.heard) >= self.room:
            return False
        self.heard.append(json.loads(data))
        return True


def test_a_watcher_gets_what_was_and_what_comes(site: Site, service: Make) -> None:
    one, two = site.join(), site.join()
    for version in "12":
        site.upsert(one, [service(version=version)])
        site.upsert(two, [service(version=version)])
    every, own, full = Ear(), Ear(), Ear(room=0)
    watch = site.plane.watch({"replay_limit": 3}, OPERATOR, every)
    assert watch.reply == {"enabled": True, "replay_limit": 3, "replayed": 3}
    assert [json.loads(data)["node_id"] for data in watch.replay] == ["node-2", "node-1", "node-2"]
    narrow = site.plane.watch({"node_id": "node-1", "replay_limit": 9}, OPERATOR, own)
    assert list(narrow.reply) == ["enabled", "node_id", "replay_limit", "replayed"]
    assert narrow.reply["replayed"] == 2
    site.plane.watch({}, OPERATOR, full)
    replies = [site.upsert(node, [service(version="3")]) for node in (one, two)]
    assert every.heard == replies
    assert own.heard == replies[:1]
    watch.end()
    watch.end()
    site.upsert(one, [])
    assert len(every.heard) == 2
    shown = site.call("metrics")["node_service_watch"]
    assert shown["subscribers"] == {"current": 2, "peak": 3}
    assert shown["fanout"] == {"events_total": 7, "attempted_total": 7, "sent_total": 4, "dropped_total": 3}
    assert shown["retained"]["events"] == 7


def test_a_user_may_not_watch_unless_configured(site: Site) -> None:
    with pytest.raises(PlaneError) as error:
        site.plane.watch({}, user(), Ear())
    assert (error.value.code, error.value.correlated) == ("forbidden", False)
    site.plane.config = site.plane.config._replace(users_may_watch=True)
    site.plane.watch({}, user(), Ear())


def test_events_are_kept_up_to_1024_and_over_a_restart(site: Site, service: Make) -> None:
    memory = Site(None)
    node = memory.join()
    for number in range(1030):
        memory.upsert(node, [service(version=str(number))])
    assert memory.call("node_service_watch", replay_limit=5000) == {
        "enabled": True,
        "replay_limit": 1024,
        "replayed": 1024,
    }
    node = site.join()
    for number in range(20):
        site.upsert(node, [service(version=str(number))])
    with open(site.root / "events.jsonl", "ab") as file:  # type: ignore[operator]
        file.write(b'{"torn')
    plane = site.reopen()
    site.upsert(node, [])
    replay = plane.watch({"replay_limit": 3}, OPERATOR, Ear()).replay
    assert [json.loads(data)["service_delta"]["removed"] != [] for data in replay] == [False, False, True]
    site.reopen()
    assert site.call("node_service_watch", replay_limit=99)["replayed"] == 21


def test_giant_catalogs_are_not_kept_a_thousand_times(service: Make) -> None:
    memory = Site(None)
    node = memory.join()
    for number in range(40):
        memory.upsert(node, [service(f"s{n}", help_md="x" * 60_000, version=str(number)) for n in range(20)])
    assert memory.plane._watchers.history.bytes <= 16 << 20
    assert 5 < memory.call("node_service_watch", replay_limit=99)["replayed"] < 40


def test_debug_subscribers_hear_of_the_topology_and_see_what_they_may(site: Site) -> None:
    heard: dict[str, list[tuple[str, dict[str, Any]]]] = {"mother": [], "alice": [], "none": []}
    project = site.project()
    site.join(ttl=10_000)
    site.plane.listen(lambda *push: heard["mother"].append(push), lambda: Binding(ADMIN, MOTHER, project))
    site.plane.listen(lambda *push: heard["alice"].append(push), lambda: Binding(USER, "alice", project))
    end = site.plane.listen(lambda *push: heard["none"].append(push))
    site.pass_by(1)
    site.call("project_mount_set", project_id=project, node_id="node-1", export_name="w", mount_path="/src")
    for name, secret in (("mother", True), ("alice", False)):
        (first, changed), (second, delta) = heard[name][-2:]
        assert first == "control.workspace_topology"
        assert changed == {
            "event": "workspace_topology_changed",
            "reason": "control.project_mount_set",
            "ts_ms": changed["ts_ms"],
        }
        assert second == "control.workspace_topology_delta"
        assert list(delta) == ["event", "reason", "agent_id", "status", "ts_ms"]
        assert bool(delta["status"]["mounts"][0]["fs_auth_token"]) is secret
    for pushes in heard.values():
        pushes.clear()
    site.pass_by(0.25)
    name, payload = heard["mother"][0]
    assert name == "control.workspace_availability"
    assert payload["before"]["mounts"] == {"online": 0, "degraded": 0, "missing": 0, "total": 0}
    assert payload["after"]["mounts"] == {"online": 1, "degraded": 0, "missing": 0, "total": 1}
    assert payload["before"]["project_mount_digest"] != payload["after"]["project_mount_digest"]
    end()
    site.pass_by(10)
    site.pass_by(1)
    assert [name for name, _ in heard["mother"]][-2:] == ["control.workspace_availability", "control.reconcile"]
    assert heard["mother"][-1][1]["failed_ops"] == [f"project={project} mount=/src node=node-1 offline"]
    assert [name for name, _ in heard["none"]] == ["control.workspace_availability"]


def test_a_locked_project_is_not_pushed_to_who_lost_its_token(site: Site) -> None:
    heard: list[tuple[str, dict[str, Any]]] = []
    project = site.project()
    token = site.call("project_token_rotate", project_id=project)["project_token"]
    site.plane.listen(lambda *push: heard.append(push), lambda: Binding(USER, "alice", project, token))
    site.call("project_update", project_id=project, name="a")
    site.call("project_token_rotate", project_id=project)
    site.call("project_update", project_id=project, name="b")
    assert [name.rpartition("_")[2] for name, _ in heard] == ["topology", "delta", "topology"]


def test_a_listener_hears_of_services_as_well(site: Site, service: Make) -> None:
    heard: list[tuple[str, dict[str, Any]]] = []
    site.plane.listen(lambda *push: heard.append(push))
    reply = site.upsert(site.join(), [service()])
    assert ("control.node_service_event", reply) in heard
