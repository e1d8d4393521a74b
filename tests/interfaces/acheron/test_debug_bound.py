"""Debug pushes show a workspace as the subscriber's own binding may see it."""


def test_the_topology_delta_carries_tokens_for_the_primary_agent_alone(hold):
    async def life(stand):
        async with stand.connect() as plug, stand.connect() as mother, stand.connect() as alice:
            invite = (await plug.control("node_invite_create"))["payload"]["invite_token"]
            node = (await plug.control("node_join", {"invite_token": invite}))["payload"]
            project = (await plug.control("project_create", {"name": "Lab"}))["payload"]["project_id"]
            await alice.control("debug_subscribe")
            await alice.control("session_attach", {"session_key": "main", "agent_id": "alice", "project_id": project})
            await mother.control("debug_subscribe")
            mount = {"node_id": node["node_id"], "export_name": "work", "mount_path": "/src"}
            await plug.control("project_mount_set", {"project_id": project, **mount})
            for peer, token in ((mother, node["node_secret"]), (alice, None)):
                assert (await peer.receive())["category"] == "control.workspace_topology"
                delta = await peer.receive()
                assert delta["category"] == "control.workspace_topology_delta"
                assert delta["payload"]["status"]["mounts"][0]["fs_auth_token"] == token

    hold(life)
