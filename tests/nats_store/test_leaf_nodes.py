"""A robot's own server as a leaf node: it goes on when it is cut off, and the hub reads what it did meanwhile."""

import pytest

from worldfs.base.errors import Conflict, Exists
from worldfs.storage.store_interface import ABSENT
from worldfs.testing.leaf_servers import LeafServers
from worldfs.testing.waiting import until

pytestmark = pytest.mark.usefixtures("nats_server")  # skipped by name where there is none


@pytest.fixture
def servers(tmp_path):
    servers = LeafServers(tmp_path)
    yield servers
    servers.close()


def test_a_robot_works_on_its_leaf_node_when_it_is_cut_off_and_the_hub_reads_it_afterwards(servers):
    servers.start("arm")
    robot = until(lambda: servers.store("arm", "arm"))  # with no hub at all
    robot.put("jobs/one", b"done alone")
    servers.start("hub")
    hub = until(lambda: servers.store("hub", "arm"))  # the robot's bucket, over the hub's server
    assert hub.get("jobs/one").data == b"done alone"
    with hub.watch("jobs") as watch:
        found = hub.put("jobs/two", b"ordered by the hub")
        assert robot.get("jobs/two").revision == found
        with pytest.raises((Conflict, Exists)):
            hub.put("jobs/two", b"of one who has not read it", ABSENT)
        hub.put("large", b"x" * 3_000_000)
        assert robot.get("large").data == b"x" * 3_000_000
        servers.kill("hub")
        robot.put("jobs/two", b"done while cut off", found)
        servers.start("hub")
        until(lambda: hub.get("jobs/two").data == b"done while cut off")
        assert watch.read(0.0)
    servers.kill("arm")  # the hub's own connection lives on meanwhile
    servers.start("arm")
    robot.put("jobs/three", b"after the hub had lost it")
    until(lambda: "three" in hub.list("jobs"))
    for store in (robot, hub):
        store.close()
