"""What is said unasked."""

import base64
import json


def service(id, node):
    return {"service_id": id, "kind": "tool", "state": "online", "endpoints": [f"/nodes/{node}/{id}"]}


async def node(plug):
    invite = (await plug.control("node_invite_create"))["payload"]["invite_token"]
    joined = (await plug.control("node_join", {"invite_token": invite, "node_name": "edge"}))["payload"]
    return {"node_id": joined["node_id"], "node_secret": joined["node_secret"]}


def test_who_watches_hears_of_services_and_of_what_came_before(hold):
    async def life(stand):
        async with stand.plug() as plug, stand.plug() as watcher:
            own = await node(plug)
            first = await plug.control("node_service_upsert", {**own, "services": [service("a", own["node_id"])]})
            reply = await watcher.control("node_service_watch", {"replay_limit": 5})
            assert reply["payload"] == {"enabled": True, "replay_limit": 5, "replayed": 1}
            replay = await watcher.hear()
            assert (replay["type"], replay["payload"]) == ("control.node_service_event", first["payload"])
            assert "id" not in replay
            second = await plug.control("node_service_upsert", {**own, "services": [service("b", own["node_id"])]})
            assert (await watcher.hear())["payload"] == second["payload"]
            assert (await watcher.control("node_service_unwatch"))["payload"] == {"enabled": False}
            await plug.control("node_service_upsert", {**own, "services": []})
            assert (await watcher.control("ping"))["type"] == "control.pong"

    hold(life)


def test_a_watch_of_one_node_hears_of_no_other(hold):
    async def life(stand):
        async with stand.plug() as plug, stand.plug() as watcher:
            one, other = await node(plug), await node(plug)
            await watcher.control("node_service_watch", {"node_id": one["node_id"]})
            await plug.control("node_service_upsert", {**other, "services": [service("a", other["node_id"])]})
            mine = await plug.control("node_service_upsert", {**one, "services": [service("a", one["node_id"])]})
            assert (await watcher.hear())["payload"] == mine["payload"]

    hold(life)


def test_debug_pushes_have_the_older_shape_and_stand_in_the_stream(hold):
    async def life(stand):
        stand.tree.files["/debug/stream.log"] = b""
        async with stand.plug() as plug, stand.plug() as other:
            reply = await plug.control("debug_subscribe")
            assert isinstance(reply.pop("timestamp"), int)
            assert reply == {
                "type": "debug.event",
                "request": "c3",
                "category": "control.subscription",
                "payload": {"enabled": True},
            }
            await other.control("project_create", {"name": "Lab"})
            push = await plug.hear()
            while push["category"] == "control.workspace_availability":  # of the clock's own, when it is slow here
                push = await plug.hear()
            assert (push["type"], push["request"]) == ("debug.event", "workspace-topology")
            assert push["category"] == "control.workspace_topology"
            assert push["payload"]["reason"] == "control.project_create"
            await plug.walk("/debug/stream.log", 2)
            reply = await plug.ask("read", fid=2)
            lines = base64.b64decode(reply["payload"]["data_b64"]).splitlines()
            assert push in map(json.loads, lines)
            await other.walk("/debug/stream.log", 2)
            assert (await other.ask("read", fid=2))["payload"]["n"] == 0  # each connection has its own
            plug._held.clear()
            await plug.control("debug_unsubscribe")

    hold(life)


def test_debug_is_not_for_users(hold):
    async def life(stand):
        async with stand.plug() as admin:
            made = (await admin.control("project_create", {"name": "Lab"}))["payload"]["project_id"]
        async with stand.plug(stand.token("user"), greet=False) as plug:
            await plug.control("version", {"protocol": "unified-v2"})
            payload = {"session_key": "main", "agent_id": "alice", "project_id": made}
            await plug.control("session_attach", payload)
            assert (await plug.control("debug_subscribe"))["error"]["code"] == "forbidden"
            reply = await plug.control("node_service_watch")
            assert reply["error"]["message"] == "node service watch is disabled for user role"

    hold(life)


def test_who_left_is_told_nothing_more(hold):
    async def life(stand):
        async with stand.plug() as plug:
            own = await node(plug)
            async with stand.plug() as watcher:
                await watcher.control("debug_subscribe")
                await watcher.control("node_service_watch")
            await plug.control("node_service_upsert", {**own, "services": [service("a", own["node_id"])]})
            metrics = (await plug.control("metrics"))["payload"]["node_service_watch"]["subscribers"]
            assert metrics == {"current": 0, "peak": 1}
            assert not stand.server.pushes.debugging

    hold(life)
