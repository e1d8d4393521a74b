"""A node's life against a server: joining both ways, lease and catalog, and healing when either end goes."""

import asyncio
import json
import os
import stat
import sys
import threading

import pytest

from worldfs.access.binding import ADMIN, MOTHER, Binding
from worldfs.access.caller import Caller
from worldfs.access.tokens import TokenStore
from worldfs.base.errors import BadInput, Busy, NotPermitted, WorldError
from worldfs.interfaces.acheron.server import Server
from worldfs.plugins.node_fs import invocation, node_joining
from worldfs.plugins.node_fs import node_daemon as daemon_module
from worldfs.plugins.node_fs.node_daemon import ExportedDir, NodeDaemon, NodeDaemonConfig
from worldfs.plugins.node_fs.node_identity import NodeIdentity
from worldfs.plugins.node_fs.service_manifest import read
from worldfs.testing.free_port import free_port
from worldfs.testing.served_tree import ServedRealm
from worldfs.testing.waiting import PATIENCE_S, soon

BOSS = Caller(Binding(ADMIN, MOTHER), "test")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Tries again at once."""
    monkeypatch.setattr(daemon_module, "PAUSES", (0.01, 0.05))
    monkeypatch.setattr(node_joining, "ASK_AGAIN", (0.01, 0.02))


class Site:
    """A server that can be stopped and started again on its port, and nodes of it."""

    def __init__(self, tmp_path, work):
        self.tmp_path, self.work = tmp_path, work
        self.realm = ServedRealm(tmp_path / "home")
        self.server, self.port = None, free_port()
        self.said = []

    async def start(self):
        self.server = Server(self.realm, TokenStore.open(self.realm.home))
        await self.server.start(port=self.port)

    async def stop(self):
        await self.server.stop()

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.port}"

    def invite(self):
        return self.realm.plane.call("node_invite_create", {}, BOSS)["invite_token"]

    def node(self, name="edge", **options):
        options = {"exports": [ExportedDir("work", str(self.work))], "lease_s": 60.0, **options}
        plan = NodeDaemonConfig(self.url, name, **options)
        identity = NodeIdentity(str(self.tmp_path / f"{name}.json"), self.url)
        identity.load()
        return Life(NodeDaemon(plan, identity, {"PATH": os.environ["PATH"]}, self.tell), identity)

    def tell(self, text, value):
        self.said.append(value)

    def heard(self, event):
        return [value for value in self.said if value["event"] == event]

    async def online(self, node="node-1"):
        plane = self.realm.plane
        await soon(lambda: self.realm.hub.mounted(node) and plane.catalog(node) is not None)


class Life:
    """A daemon that runs until it is stopped."""

    def __init__(self, daemon, identity):
        self.daemon, self.identity, self.stop = daemon, identity, asyncio.Event()

    async def __aenter__(self):
        self.task = asyncio.create_task(self.daemon.run(self.stop))
        return self

    async def __aexit__(self, *_):
        self.stop.set()
        try:
            await asyncio.wait_for(self.task, PATIENCE_S)
        finally:
            self.identity.close()


@pytest.fixture
def site(tmp_path, work):
    def begin(life):
        async def within():
            here = Site(tmp_path, work)
            async with asyncio.timeout(PATIENCE_S):
                await here.start()
                try:
                    await life(here)
                finally:
                    await here.stop()
                    here.realm.close()

        asyncio.run(within())

    return begin


def test_a_node_joins_by_invite_opens_its_tunnel_and_publishes_its_file_system(site, tmp_path, monkeypatch):
    monkeypatch.setattr(daemon_module, "LEAVING", PATIENCE_S)

    async def life(here):
        async with here.node(invite=here.invite(), lease_s=4 * PATIENCE_S) as node:
            await here.online()
            plane = here.realm.plane
            (fs,) = plane.catalog("node-1")
            assert (fs["service_id"], fs["endpoints"]) == ("fs", ["/nodes/node-1/fs"])
            assert plane.node("node-1")["fs_url"] == f"{here.url}/v2/fs/node/node-1"
            assert plane.node_of_secret(node.identity.secret) == "node-1"
            assert await asyncio.to_thread(here.realm.hub.mounted("node-1").read, "work/a.txt") == b"file A\n"
            kept = json.loads((tmp_path / "edge.json").read_text())
            assert set(kept) == {"schema", "server", *daemon_module_keys()}
            assert (kept["node_id"], kept["request_id"], kept["node_name"]) == ("node-1", None, "edge")
            assert stat.S_IMODE(os.stat(tmp_path / "edge.json").st_mode) == 0o600
        await soon(lambda: plane.online("node-1") == "degraded")  # it said goodbye: nobody waits for its lease to end

    site(life)


def test_a_refresh_that_the_server_is_still_at_does_not_undo_the_farewell(site, monkeypatch):
    """The server takes the first refresh late: after the next one, where a next one comes before its answer."""
    monkeypatch.setattr(daemon_module, "LEAVING", PATIENCE_S)
    begun, first, second = (threading.Event() for _ in range(3))

    async def life(here):
        plane = here.realm.plane
        call = plane.call

        def late(op, payload, caller):
            if op != "node_lease_refresh":
                return call(op, payload, caller)
            before, own = (second, first) if not begun.is_set() else (None, second)
            begun.set()
            if before is not None:
                before.wait(1.0)
            answer = call(op, payload, caller)
            own.set()
            return answer

        monkeypatch.setattr(plane, "call", late)
        async with here.node(invite=here.invite(), lease_s=4 * PATIENCE_S):
            await soon(begun.is_set)
        await soon(first.is_set)
        await soon(lambda: plane.online("node-1") == "degraded")

    site(life)


def daemon_module_keys():
    from worldfs.plugins.node_fs.node_identity import KEYS

    return KEYS


def test_a_node_that_asks_is_let_in_by_the_operator_and_goes_on_where_it_was(site):
    async def life(here):
        token = here.server.tokens.rotate("user")
        async with here.node(token=token):
            request = (await soon(lambda: here.heard("request")))[0]["request_id"]
        # Stopped while waiting: the next start goes on with the same request.
        async with here.node(token=token):
            await soon(lambda: len(here.heard("request")) == 2)
            assert {value["request_id"] for value in here.heard("request")} == {request}
            here.realm.plane.call("node_join_approve", {"request_id": request}, BOSS)
            await here.online()

    site(life)


def test_a_node_that_is_denied_says_so_and_forgets_the_request(site):
    async def life(here):
        node = here.node(token=here.server.tokens.rotate("user"))
        async with node:
            request = (await soon(lambda: here.heard("request")))[0]["request_id"]
            here.realm.plane.call("node_join_deny", {"request_id": request}, BOSS)
            with pytest.raises(NotPermitted, match="denied"):
                await node.task
            assert node.identity.request == ""
            node.task = asyncio.create_task(asyncio.sleep(0))

    site(life)


def test_a_used_invite_lets_nobody_in(site):
    async def life(here):
        invite = here.invite()
        async with here.node(invite=invite):
            await here.online()
        second = here.node("second", invite=invite)
        async with second:
            with pytest.raises(NotPermitted):
                await second.task
            second.task = asyncio.create_task(asyncio.sleep(0))

    site(life)


def test_a_server_that_goes_and_comes_back_finds_its_node_again(site):
    async def life(here):
        async with here.node(invite=here.invite()):
            await here.online()
            await here.stop()
            await soon(lambda: here.heard("lost"))
            await here.start()
            await soon(lambda: here.realm.hub.mounted("node-1"))
            before = here.realm.plane.node("node-1")["lease_expires_at_ms"]
            await soon(lambda: here.realm.plane.node("node-1")["lease_expires_at_ms"] >= before)
            assert await asyncio.to_thread(here.realm.hub.mounted("node-1").list, "work") == ["a.txt", "sub"]

    site(life)


def test_a_node_that_is_started_again_is_the_same_node_without_an_invite(site):
    async def life(here):
        async with here.node(invite=here.invite()):
            await here.online()
        async with here.node():
            await soon(lambda: here.realm.plane.online("node-1") == "online")
            assert list(here.realm.plane.node_ids()) == ["node-1"]

    site(life)


def test_a_short_lease_is_kept_fresh(site):
    async def life(here):
        def until_ms():
            return here.realm.plane.node("node-1")["lease_expires_at_ms"]

        async with here.node(invite=here.invite(), lease_s=0.3):
            await here.online()
            for _ in range(5):
                before = until_ms()
                await soon(lambda before=before: until_ms() > before, "it is not refreshed")

    site(life)


def test_a_deleted_node_stops_and_says_what_to_do(site):
    async def life(here):
        node = here.node(invite=here.invite())
        async with node:
            await here.online()
        again = here.node()
        here.realm.plane.call("node_delete", {"node_id": "node-1"}, BOSS)
        async with again:
            with pytest.raises(NotPermitted, match="no longer has node node-1"):
                await again.task
            again.task = asyncio.create_task(asyncio.sleep(0))
        third = here.node(invite=here.invite())  # a new invite brings the machine back, as another node
        async with third:
            await here.online("node-2")
            assert third.identity.node == "node-2"

    site(life)


def test_a_running_node_that_is_deleted_loses_its_tunnel_at_once(site):
    async def life(here):
        node = here.node(invite=here.invite())
        async with node:
            await here.online()
            here.realm.plane.call("node_delete", {"node_id": "node-1"}, BOSS)
            await soon(lambda: here.realm.hub.mounted("node-1") is None)
            with pytest.raises(NotPermitted):
                await node.task
            node.task = asyncio.create_task(asyncio.sleep(0))

    site(life)


def test_a_manifest_service_is_published_and_invoked_through_the_tunnel(site, tmp_path):
    program = "import json,sys; print(json.dumps({'sum': sum(json.load(sys.stdin)['of'])}))"
    (tmp_path / "sum.json").write_text(
        json.dumps(
            {
                "service_id": "sum",
                "kind": "tool",
                "runtime": {"type": "native_proc", "executable_path": sys.executable, "args": ["-c", program]},
            }
        )
    )

    async def life(here):
        async with here.node(invite=here.invite(), manifests=[read(str(tmp_path / "sum.json"))]):
            await here.online()
            fs = here.realm.hub.mounted("node-1")

            def test():
                assert fs.services() == ("sum",)
                assert fs.list("") == ["work"]
                assert fs.dir_entry("service:sum") is None  # orders go through the rights of invoke, or not at all
                done = fs.invoke("sum", b'{"of":[1,2,3]}')
                assert (done.state, json.loads(done.result)) == ("done", {"sum": 6})
                failed = fs.invoke("sum", b'{"of":["x"]}')
                assert (failed.state, failed.cause) == ("failed", "error")
                assert "TypeError" in failed.error

            await asyncio.to_thread(test)
            assert [one["service_id"] for one in here.realm.plane.catalog("node-1")] == ["fs", "sum"]

    site(life)


def test_a_service_that_takes_too_long_is_ended_by_who_asked(site, tmp_path):
    (tmp_path / "slow.json").write_text(
        json.dumps(
            {
                "service_id": "slow",
                "runtime": {"type": "native_proc", "executable_path": "sleep", "args": ["60"], "timeout_ms": 50_000},
            }
        )
    )

    async def life(here):
        async with here.node(invite=here.invite(), manifests=[read(str(tmp_path / "slow.json"))]) as node:
            await here.online()
            fs = here.realm.hub.mounted("node-1")
            ended = await asyncio.to_thread(fs.invoke, "slow", b"{}", 0.3)
            assert (ended.state, ended.cause, ended.error) == ("failed", "timeout", "not done in 0.3 s")
            (slow,) = node.daemon._services
            assert slow.status()["state"] == "idle"

    site(life)


@pytest.fixture
def waiting(tmp_path):
    """The manifest of a service that runs until the file `go` is there."""
    program = "import os,time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint(1)"
    runtime = {"type": "native_proc", "executable_path": sys.executable, "args": ["-c", program], "timeout_ms": 600_000}
    (tmp_path / "wait.json").write_text(json.dumps({"service_id": "wait", "runtime": runtime}))
    return read(str(tmp_path / "wait.json"))


def test_the_end_of_a_service_is_told_and_not_looked_for(site, tmp_path, waiting, monkeypatch):
    looks = []
    get = invocation._get
    monkeypatch.setattr(invocation, "_get", lambda tunnel, node: looks.append(node) or get(tunnel, node))

    async def life(here):
        async with here.node(invite=here.invite(), manifests=[waiting]):
            await here.online()
            fs = here.realm.hub.mounted("node-1")
            ended = asyncio.ensure_future(asyncio.to_thread(fs.invoke, "wait", b"{}", 600.0))
            await soon(lambda: looks)
            await asyncio.sleep(3.5 * invocation.LOOK)  # in which it would have looked three times more
            before = len(looks)
            (tmp_path / "go").touch()
            assert (await ended).state == "done"
            assert before <= 2  # when it began, and was told so

    site(life)


def test_a_node_that_goes_ends_the_wait_for_its_service(site, waiting):
    async def life(here):
        async with here.node(invite=here.invite(), manifests=[waiting]) as node:
            await here.online()
            fs = here.realm.hub.mounted("node-1")
            ended = asyncio.ensure_future(asyncio.to_thread(fs.invoke, "wait", b"{}", 600.0))
            (service,) = node.daemon._services
            await soon(lambda: service.status()["state"] == "running")
            await asyncio.sleep(invocation.LOOK)  # by then it has heard that the service runs, and waits
            await here.realm.hub.drop("node-1")
            await soon(ended.done)
        assert isinstance(ended.exception(), WorldError)

    site(life)


def test_a_service_that_was_disabled_stays_so_over_a_restart_and_the_server_knows(site, tmp_path):
    (tmp_path / "one.json").write_text(
        json.dumps({"service_id": "one", "runtime": {"type": "native_proc", "executable_path": "true"}})
    )
    manifests = [read(str(tmp_path / "one.json"))]

    async def life(here):
        def state():
            return {one["service_id"]: one["state"] for one in here.realm.plane.catalog("node-1")}.get("one")

        async with here.node(invite=here.invite(), manifests=manifests) as node:
            await here.online()
            assert state() == "online"
            await asyncio.to_thread(node.daemon._services[0].disable)
            await soon(lambda: state() == "disabled")
        async with here.node(manifests=manifests) as node:
            assert node.daemon._services[0].enabled is False

    site(life)


def test_two_processes_cannot_be_one_node_nor_one_file_two_servers_nodes(tmp_path):
    one = NodeIdentity(str(tmp_path / "n.json"), "ws://a:1")
    one.load()
    one.save(node_id="node-1", node_secret="s")
    with pytest.raises(Busy, match="another process runs as this node"):
        NodeIdentity(str(tmp_path / "n.json"), "ws://a:1").load()
    one.close()
    other = NodeIdentity(str(tmp_path / "n.json"), "ws://b:1")
    with pytest.raises(BadInput, match="ws://a:1"):
        other.load()
    other.close()


def test_an_identity_that_is_refused_is_held_by_nobody(tmp_path):
    place = tmp_path / "edge.json"
    place.write_text("{")
    with pytest.raises(BadInput):
        NodeIdentity(str(place), "ws://h:1").load()
    place.unlink()
    again = NodeIdentity(str(place), "ws://h:1")
    again.load()
    again.close()
