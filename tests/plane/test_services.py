"""Service manifests are hostile text: what is taken is in one shape, what is odd is refused whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.plane.conftest import Site

from worldfs.testing.cost import calls

Make = Callable[..., dict[str, Any]]
DEEP: Any = {}
for _ in range(40):
    DEEP = {"x": [DEEP]}

HOSTILE: dict[str, dict[str, Any]] = {
    "an id that climbs": {"service_id": ".."},
    "an id of dots": {"service_id": "..."},
    "an id with a slash": {"service_id": "a/b"},
    "an id with a newline": {"service_id": "a\n"},
    "no id": {"service_id": None},
    "an empty kind": {"kind": ""},
    "no state": {"state": None},
    "a state with an escape": {"state": "on\x1b[2J"},
    "no endpoint": {"endpoints": []},
    "a relative endpoint": {"endpoints": ["nodes/node-1/x"]},
    "an endpoint that climbs": {"endpoints": ["/nodes/node-1/../node-2"]},
    "an endpoint of dots": {"endpoints": ["/nodes/./node-1/x"]},
    "an endpoint with a hole": {"endpoints": ["/nodes//x"]},
    "an endpoint with a NUL": {"endpoints": ["/cam\0"]},
    "an endpoint with a line end": {"endpoints": ["/cam\n/x"]},
    "an endpoint of another node": {"endpoints": ["/nodes/node-2/camera"]},
    "an endpoint that is all nodes": {"endpoints": ["/nodes"]},
    "an endpoint of an agent": {"endpoints": ["/agents/self/memory"]},
    "an endpoint that is a number": {"endpoints": [5]},
    "a mount of another node": {"mounts": [{"mount_id": "m", "mount_path": "/nodes/node-2/fs"}]},
    "a mount in a project": {"mounts": [{"mount_id": "m", "mount_path": "/projects/p/fs"}]},
    "a mount that climbs": {"mounts": [{"mount_id": "m", "mount_path": "/a/.."}]},
    "a mount without id": {"mounts": [{"mount_path": "/a"}]},
    "mounts that are none": {"mounts": {}},
    "capabilities that are a list": {"capabilities": []},
    "a schema that is a string": {"schema": "x"},
    "permissions that are null": {"permissions": None},
    "an object too deep": {"ops": DEEP},
    "an object too large": {"ops": {"x": "y" * 70_000}},
    "a megabyte of help": {"help_md": "x" * (1 << 20)},
    "help with an escape": {"help_md": "\x1b]0;owned\x07"},
    "help that is a number": {"help_md": 5},
    "a surrogate": {"help_md": "\ud800"},
    "a version that is a number": {"version": 1},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_manifest_is_refused_whole(site: Site, service: Make, name: str) -> None:
    node = site.join()
    site.upsert(node, [service("good")])
    known = {"node_id": node["node_id"], "node_secret": node["node_secret"]}
    before = site.plane.image()
    bad = [service("fine"), {**service("odd"), **HOSTILE[name]}]
    assert site.refused("node_service_upsert", **known, services=bad) == "invalid_payload"
    assert site.plane.image() == before


@pytest.mark.parametrize("value", [5, "x", {"a": 1}, [5], [None], [["x"]]])
def test_a_list_that_is_none_is_refused(site: Site, value: object) -> None:
    node = site.join()
    known = {"node_id": node["node_id"], "node_secret": node["node_secret"]}
    assert site.refused("node_service_upsert", **known, services=value) == "invalid_payload"


def test_one_id_twice_is_refused(site: Site, service: Make) -> None:
    node = site.join()
    known = {"node_id": node["node_id"], "node_secret": node["node_secret"]}
    assert site.refused("node_service_upsert", **known, services=[service(), service()]) == "invalid_payload"


@pytest.mark.parametrize("labels", [[], {"a": 1}, {"a": "x\n"}, {"": "x"}, {str(n): "x" for n in range(65)}])
def test_labels_that_are_none_are_refused(site: Site, labels: object) -> None:
    node = site.join()
    known = {"node_id": node["node_id"], "node_secret": node["node_secret"]}
    assert site.refused("node_service_upsert", **known, labels=labels) == "invalid_payload"


def test_no_catalog_and_an_empty_one_are_not_the_same(site: Site, service: Make) -> None:
    node = site.join()
    assert site.plane.catalog("node-1") is None
    site.call("node_service_upsert", node_id="node-1", node_secret=node["node_secret"], labels={"site": "hq"})
    assert site.plane.catalog("node-1") is None
    assert site.plane.labels("node-1") == {"site": "hq"}
    site.upsert(node, [])
    assert site.plane.catalog("node-1") == []
    assert site.reopen().catalog("node-1") == []
    assert site.plane.catalog("node-9") is None


def test_leaving_services_out_keeps_them(site: Site, service: Make) -> None:
    node = site.join()
    site.upsert(node, [service()])
    reply = site.call("node_service_upsert", node_id="node-1", node_secret=node["node_secret"])
    assert [one["service_id"] for one in reply["services"]] == ["cam"]
    assert reply["service_delta"]["changed"] is False


def test_the_same_again_costs_no_write_and_is_no_event(site: Site, service: Make) -> None:
    node = site.join()
    site.upsert(node, [service(capabilities={"a": 1, "b": 2})])
    version = site.plane.version
    again = site.upsert(node, [service(capabilities={"b": 2, "a": 1})])
    assert again["service_delta"]["changed"] is False
    assert site.call("node_service_watch", replay_limit=9)["replayed"] == 1
    again = site.upsert(node, [service(capabilities={"a": 1, "b": 2})])
    assert site.plane.version - version <= 2


def test_an_update_names_what_it_was(site: Site, service: Make) -> None:
    node = site.join()
    first = site.upsert(node, [service()])["service_delta"]["added"][0]
    second = site.upsert(node, [service(version="2")])["service_delta"]["updated"][0]
    assert second["previous_version"] == "1"
    assert second["previous_hash"] == first["hash"] != second["hash"]


def test_what_was_sent_is_kept_in_one_shape(site: Site) -> None:
    node = site.join()
    sent = {
        "service_id": "tool-main",
        "kind": "tool",
        "state": "online",
        "endpoints": ["/nodes/node-1/tool/main/"],
        "mounts": [{"mount_id": "m", "mount_path": "/nodes/node-1/tool/main", "junk": 1}],
        "junk": "x",
    }
    kept = site.upsert(node, [sent])["services"][0]
    assert list(kept) == [
        "service_id", "kind", "version", "state", "endpoints", "capabilities", "mounts", "ops", "runtime",
        "permissions", "schema",
    ]  # fmt: skip
    assert kept["mounts"] == [{"mount_id": "m", "mount_path": "/nodes/node-1/tool/main"}]


def test_five_thousand_services_of_a_thousand_nodes_are_cheap(service: Make) -> None:
    def cost(count: int) -> tuple[int, int]:
        """Of telling one node's services, and of reading them, among so many nodes."""
        site = Site(None)
        nodes = [site.join() for _ in range(count)]
        for node in nodes[:-1]:
            site.upsert(node, [service(f"s{n}") for n in range(5)])
        told = calls(lambda: site.upsert(nodes[-1], [service(f"s{n}") for n in range(5)]))
        found = [site.plane.catalog(key) or () for key in site.plane.node_ids()]
        assert sum(map(len, found)) == 5 * count
        return told, calls(lambda: site.plane.catalog(f"node-{count}"))

    few, many = cost(100), cost(1000)
    assert many[0] < 1.1 * few[0] and many[1] == few[1]
