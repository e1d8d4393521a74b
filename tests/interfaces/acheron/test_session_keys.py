"""The bindings of a connection, by session_key (decision D8)."""

import pytest


def code(reply):
    return reply.get("error", {}).get("code")


def attach(key, agent, project=None, token=None):
    given = {"session_key": key, "agent_id": agent, "project_id": project, "project_token": token}
    return {name: value for name, value in given.items() if value is not None}


async def project(plug, *, locked=False):
    made = (await plug.control("project_create", {"name": "Lab"}))["payload"]["project_id"]
    if not locked:
        return made, None
    token = (await plug.control("project_token_rotate", {"project_id": made}))["payload"]["project_token"]
    return made, token


def test_each_key_has_its_own_fids(hold):
    async def life(stand):
        async with stand.connect() as plug:
            await plug.walk("/README.md", 2)
            reply = await plug.control("session_attach", attach("second", "alice"))
            assert reply["payload"]["attach"]["state"] == "ready"
            assert code(await plug.ask("stat", fid=2)) == "enoent"  # the new one is active
            assert (await plug.ask("stat", fid=2, session_key="main"))["ok"] is True
            assert (await plug.ask("attach", fid=1))["ok"] is True
            assert code(await plug.ask("attach", fid=1, session_key="third")) == "session_not_found"
            listed = (await plug.control("session_list"))["payload"]
            assert listed["active_session"] == "second"
            assert [row["session_key"] for row in listed["sessions"]] == ["main", "second"]
            assert (await plug.control("connect"))["payload"]["agent_id"] == "alice"
            await plug.control("session_resume", {"session_key": "main"})
            assert (await plug.ask("stat", fid=2))["ok"] is True
            assert (await plug.control("session_status"))["payload"]["agent_id"] == "mother"

    hold(life)


def test_a_rebind_drops_the_fids_of_its_key(hold):
    async def life(stand):
        async with stand.connect() as plug:
            await plug.control("session_attach", attach("main", "alice"))
            assert code(await plug.ask("stat", fid=1)) == "enoent"

    hold(life)


def test_main_stays_and_what_is_unknown_is_not_found(hold):
    async def life(stand):
        async with stand.connect() as plug:
            await plug.control("session_attach", attach("other", "alice"))
            reply = await plug.control("session_close", {"session_key": "other"})
            assert reply["payload"] == {"session_key": "other", "closed": True, "active_session": "main"}
            reply = await plug.control("session_close", {"session_key": "main"})
            assert reply["error"] == {"code": "forbidden", "message": "main session cannot be closed"}
            for op in ("session_close", "session_resume"):
                reply = await plug.control(op, {"session_key": "zz"})
                assert reply["error"] == {"code": "not_found", "message": "session_key not found"}
            assert code(await plug.control("session_resume")) == "missing_field"
            assert code(await plug.control("session_status", {"session_key": "zz"})) == "not_found"

    hold(life)


def test_the_recorded_way_of_a_user_into_a_locked_project(hold):
    async def life(stand):
        async with stand.connect() as plug:
            made, token = await project(plug, locked=True)
        async with stand.connect(stand.token("user"), greet=False) as plug:
            await plug.control("version", {"protocol": "unified-v2"})
            reply = await plug.control("session_attach", attach("main", "alice", made))
            assert reply["error"] == {"code": "missing_field", "message": "MissingField"}
            reply = await plug.control("session_attach", attach("main", "alice", made, "proj-wrong"))
            assert reply["error"] == {"code": "project_auth_failed", "message": "ProjectAuthFailed"}
            reply = await plug.control("session_attach", attach("main", "alice", "proj-99"))
            assert reply["error"] == {"code": "project_not_found", "message": "ProjectNotFound"}
            payload = (await plug.control("session_attach", attach("main", "alice", made, token)))["payload"]
            assert isinstance(payload["attach"].pop("updated_at_ms"), int)
            assert payload == {
                "session_key": "main",
                "agent_id": "alice",
                "project_id": made,
                "workspace": {},
                "attach": {
                    "state": "ready",
                    "runtime_ready": True,
                    "mount_ready": True,
                    "error_code": None,
                    "error_message": None,
                },
            }
            assert (await plug.control("connect"))["payload"]["role"] == "user"
            row = (await plug.control("session_history", {"limit": 3}))["payload"]["sessions"][0]
            assert row["summary"] == f"alice @ {made}"
            assert (await plug.control("session_restore"))["payload"]["session"] == row
            assert (await plug.ask("version", version="acheron-1"))["ok"] is True
            reply = await plug.control("node_list")
            assert reply["error"] == {
                "code": "forbidden",
                "message": "operation requires admin token",
                "correlation_id": reply["id"],
            }
            assert "correlation_id" not in (await plug.control("metrics"))["error"]

    hold(life)


def test_a_user_comes_back_to_where_it_was(hold):
    async def life(stand):
        async with stand.connect() as admin:
            made, _ = await project(admin)
            async with stand.connect(stand.token("user"), greet=False) as plug:
                await plug.control("version", {"protocol": "unified-v2"})
                await plug.control("session_attach", attach("work", "alice", made))
            async with stand.connect(stand.token("user")) as plug:
                status = (await plug.control("session_status"))["payload"]
                assert (status["agent_id"], status["project_id"]) == ("alice", made)
            await admin.control("project_token_rotate", {"project_id": made})
            async with stand.connect(stand.token("user"), greet=False) as plug:
                await plug.control("version", {"protocol": "unified-v2"})
                refused = await plug.control("connect")
                assert code(refused) == "last_target_invalid"
                assert made in refused["error"]["message"] and "project_token" in refused["error"]["message"]
                assert (await plug.control("ping"))["ok"] is True

    hold(life)


def test_a_user_whose_last_project_asks_for_its_token_now_comes_back_to_the_one_before(hold):
    async def life(stand):
        async with stand.connect() as admin:
            (first, _), (last, _) = await project(admin), await project(admin)
            async with stand.connect(stand.token("user"), greet=False) as plug:
                await plug.control("version", {"protocol": "unified-v2"})
                await plug.control("session_attach", attach("work", "alice", first))
                await plug.control("session_attach", attach("work", "alice", last))
            await admin.control("project_token_rotate", {"project_id": last})
            async with stand.connect(stand.token("user")) as plug:
                assert (await plug.control("session_status"))["payload"]["project_id"] == first

    hold(life)


def test_a_user_whose_last_project_is_gone_is_not_told_of_a_token(hold):
    async def life(stand):
        async with stand.connect() as admin:
            made, _ = await project(admin)
            async with stand.connect(stand.token("user"), greet=False) as plug:
                await plug.control("version", {"protocol": "unified-v2"})
                await plug.control("session_attach", attach("work", "alice", made))
            await admin.control("project_delete", {"project_id": made})
            async with stand.connect(stand.token("user"), greet=False) as plug:
                await plug.control("version", {"protocol": "unified-v2"})
                refused = await plug.control("connect")
                assert code(refused) == "last_target_invalid" and "gone" in refused["error"]["message"]

    hold(life)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({}, "missing_field"),
        ({"session_key": "main"}, "missing_field"),
        ({"session_key": "a b", "agent_id": "alice"}, "invalid_payload"),
        ({"session_key": "main", "agent_id": "../alice"}, "invalid_payload"),
        ({"session_key": "main", "agent_id": ".."}, "invalid_payload"),
        ({"session_key": "main", "agent_id": "a" * 65}, "invalid_payload"),
        ({"session_key": "main", "agent_id": 5}, "invalid_payload"),
        ({"session_key": "main", "agent_id": "alice", "project_id": "a/b"}, "invalid_payload"),
        ({"session_key": "main", "agent_id": "alice", "project_token": 5}, "invalid_payload"),
        ({"session_key": "main", "agent_id": "alice", "project_id": "system"}, "project_assignment_forbidden"),
    ],
)
def test_what_no_binding_can_be_is_refused_and_changes_nothing(hold, payload, expected):
    async def life(stand):
        async with stand.connect() as plug:
            assert code(await plug.control("session_attach", payload)) == expected
            assert (await plug.ask("stat", fid=1))["ok"] is True
            assert stand.realm.names == ["mother", "alice"]

    hold(life)


def test_keys_are_bounded(hold):
    async def life(stand):
        async with stand.connect() as plug:
            for number in range(63):
                assert (await plug.control("session_attach", attach(f"k{number}", "alice")))["ok"] is True
            assert code(await plug.control("session_attach", attach("more", "alice"))) == "session_busy"
            assert (await plug.control("session_attach", attach("k3", "alice")))["ok"] is True

    hold(life)


def test_a_message_counts_in_the_history(hold):
    async def life(stand):
        from worldfs.tree.verb_values import Written

        stand.tree.files["/input"] = b""
        stand.tree.controls["/input"] = lambda text: Written(len(text), {"job": "job-1", "result_path": "/x"})
        async with stand.connect() as plug:
            await plug.control("session_attach", attach("main", "alice"))
            await plug.ask("attach", fid=1)
            await plug.walk("/input", 2)
            await plug.ask("write", fid=2, data="hello")
            assert (await plug.control("session_restore"))["payload"]["session"]["message_count"] == 1

    hold(life)
