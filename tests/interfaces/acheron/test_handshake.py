"""Who comes in, and how a connection begins."""

import asyncio
import json

import pytest
from websockets.asyncio.client import connect

from worldfs.testing.bare_client import BareClient
from worldfs.testing.waiting import PATIENCE_S


def refused(reply, code, message=None):
    assert reply["ok"] is False, reply
    assert reply["error"]["code"] == code, reply
    if message is not None:
        assert reply["error"]["message"] == message
    return True


def test_the_recorded_handshake(hold):
    async def life(stand):
        async with stand.connect(greet=False) as plug:
            assert await plug.control("version", {"protocol": "unified-v2"}) == {
                "channel": "control",
                "type": "control.version_ack",
                "id": "c1",
                "ok": True,
                "payload": {
                    "protocol": "unified-v2",
                    "fsrpc_runtime": "acheron-1",
                    "fsrpc_node": "unified-v2-fs",
                    "fsrpc_node_proto": 2,
                },
            }
            assert (await plug.control("connect"))["payload"] == {
                "agent_id": "mother",
                "session": "main",
                "protocol": "unified-v2",
                "role": "admin",
            }
            assert (await plug.control("ping"))["type"] == "control.pong"
            reply = await plug.ask("version", version="acheron-1")
            assert reply["payload"] == {"msize": 1_048_576, "version": "acheron-1"}
            assert (await plug.ask("attach", fid=1))["payload"] == {"qid": {"path": 1, "type": "dir"}}

    hold(life)


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "{}", "BEARER  {}"])
def test_a_token_is_understood_as_people_write_it(form, hold):
    async def life(stand):
        headers = {"Authorization": form.format(stand.token())}
        async with connect(stand.url, additional_headers=headers, compression=None) as socket:
            assert (await BareClient(socket).control("version", {"protocol": "unified-v2"}))["ok"] is True

    hold(life)


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", "Bearer sw-admin_", "Basic eDp5"])
def test_who_shows_no_token_is_told_so_after_the_upgrade_and_let_go(header, hold):
    async def life(stand):
        headers = {} if header is None else {"Authorization": header}
        async with connect(stand.url, additional_headers=headers, compression=None) as socket:
            frame = json.loads(await socket.recv())
            assert isinstance(frame.pop("timestamp"), int)
            assert frame == {
                "type": "error",
                "request": "unknown",
                "code": "provider_auth_failed",
                "message": "forbidden",
            }
            assert await BareClient(socket).closed() == 1008
        assert stand.server.meters.unauthorised == 1

    hold(life)


def test_an_unknown_path_is_one_error_and_a_close(hold):
    async def life(stand):
        async with stand.connect(path="/elsewhere", greet=False) as plug:
            assert (await plug.receive())["code"] == "not_found"
            assert await plug.closed() == 1008

    hold(life)


def test_a_query_is_the_same_place(hold):
    async def life(stand):
        async with stand.connect(path="/?agent=x") as plug:
            assert (await plug.control("ping"))["ok"] is True

    hold(life)


def test_version_is_the_first_control_message_or_the_last(hold):
    async def life(stand):
        async with stand.connect(greet=False) as plug:
            assert refused(await plug.control("ping"), "protocol_mismatch")
            assert await plug.closed() == 1002
        async with stand.connect(greet=False) as plug:
            assert refused(await plug.control("version", {"protocol": "unified-v1"}), "protocol_mismatch")
            assert await plug.closed() == 1002

    hold(life)


def test_acheron_begins_with_its_own_version_and_needs_no_control(hold):
    async def life(stand):
        async with stand.connect(greet=False) as plug:
            reply = await plug.ask("attach", fid=1)
            assert refused(reply, "protocol_mismatch", "acheron.t_version must be negotiated first")
            assert await plug.closed() == 1002
        async with stand.connect(greet=False) as plug:
            assert refused(await plug.ask("version", version="acheron-2"), "protocol_mismatch")
            assert await plug.closed() == 1002
        async with stand.connect(greet=False) as plug:
            assert (await plug.ask("version", version="acheron-1"))["ok"] is True
            assert (await plug.ask("attach", fid=1))["ok"] is True
            assert (await plug.ask("version", version="acheron-1", msize=8192))["payload"]["msize"] == 8192

    hold(life)


@pytest.mark.parametrize(("asked", "given"), [(8192, 8192), (65_536, 65_536), (2**31, 1_048_576), (None, 1_048_576)])
def test_msize_is_what_is_asked_up_to_a_mebibyte(asked, given, hold):
    async def life(stand):
        async with stand.connect(greet=False) as plug:
            fields = {} if asked is None else {"msize": asked}
            assert (await plug.ask("version", version="acheron-1", **fields))["payload"]["msize"] == given
            assert refused(await plug.ask("version", version="acheron-1", msize=8191), "invalid")

    hold(life)


DEEP = '{{"channel":"control","type":"control.ping","payload":{}}}'  # each version of Python refuses another depth


def test_a_frame_of_the_deepest_level_is_read(hold):
    async def life(stand):
        async with stand.connect() as plug:
            await plug.socket.send(DEEP.format('{"a":' * 99 + "1" + "}" * 99))
            assert (await plug.receive())["type"] == "control.pong"

    hold(life)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("not json", "SyntaxError"),
        ('{"type":"control.ping"}', "MissingField"),
        ('{"channel":"control"}', "MissingField"),
        ('{"channel":"control","type":"acheron.t_stat"}', "UnsupportedType"),
        ('{"channel":"control","type":"control.bogus"}', "UnsupportedType"),
        ('{"channel":"acheron","type":"acheron.t_bogus"}', "UnsupportedType"),
        ('{"channel":"acheron","type":"acheron.t_stat","tag":-1}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_stat","tag":4294967296}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_stat","fid":"1"}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_walk","path":"a"}', "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_write","data_b64":"***"}', "InvalidBase64"),
        ('{"channel":"control","type":"control.ping","payload":[]}', None),
        ('{"channel":"control","type":"control.node_join","id":"x","payload":5}', None),
        ("[" * 100_000, None),
        *((DEEP.format('{"a":' * levels + "1" + "}" * levels), "SyntaxError") for levels in (100, 500, 5_000)),
    ],
)
def test_what_is_no_frame_is_answered_without_an_id_and_the_connection_stays(text, word, hold):
    async def life(stand):
        async with stand.connect() as plug:
            await plug.socket.send(text)
            reply = await plug.receive()
            assert reply["ok"] is False
            if word is not None:
                assert reply == {
                    "channel": "control",
                    "type": "control.error",
                    "ok": False,
                    "error": {"code": "invalid_envelope", "message": word},
                }
            assert (await plug.control("ping"))["ok"] is True

    hold(life)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ('{"channel":"acheron","type":"acheron.t_bogus","tag":7}', "unsupported", "unsupported acheron operation"),
        ('{"channel":"acheron","type":"acheron.t_link","tag":7}', "unsupported", "unsupported acheron operation"),
        ('{"channel":"acheron","type":"acheron.t_stat","tag":7,"fid":-1}', "invalid_envelope", "InvalidType"),
        ('{"channel":"acheron","type":"acheron.t_read","tag":7,"offset":18446744073709551616}', "invalid_envelope", ""),
        ('{"channel":"acheron","type":"acheron.t_write","tag":7,"data_b64":"*"}', "invalid_envelope", "InvalidBase64"),
        ('{"channel":"acheron","tag":7}', "invalid_envelope", "MissingField"),
    ],
)
def test_a_client_that_waits_for_its_tag_hears_of_its_error(text, code, message, hold):
    async def life(stand):
        async with stand.connect() as plug:
            await plug.socket.send(text)
            reply = await plug.reply_to(7)
            assert (reply["channel"], reply["type"], reply["ok"]) == ("acheron", "acheron.error", False)
            assert reply["error"]["code"] == code
            assert message in reply["error"]["message"]

    hold(life)


def test_a_client_that_waits_for_its_id_hears_of_its_error(hold):
    async def life(stand):
        async with stand.connect() as plug:
            for text in ('{"channel":"control","type":"control.bogus","id":"x"}', '{"channel":"control","id":"x"}'):
                await plug.socket.send(text)
                reply = await plug.receive()
                assert (reply["type"], reply["id"]) == ("control.error", "x")
                assert reply["error"]["code"] == "invalid_envelope"

    hold(life)


def test_a_reply_sent_as_a_request_is_unsupported(hold):
    async def life(stand):
        async with stand.connect() as plug:
            reply = await plug.control("pong")
            assert reply["id"] == "c3"
            assert refused(reply, "unsupported", "unsupported control operation")
            await plug.send(channel="acheron", type="acheron.r_read", tag=9, fid=1)
            assert refused(await plug.reply_to(9), "unsupported", "unsupported acheron operation")
            assert refused(await plug.ask("fs_hello"), "unsupported", "unsupported acheron operation")

    hold(life)


def test_frames_in_pieces_are_put_together(hold):
    async def life(stand):
        async with stand.connect() as plug:
            text = '{"channel":"control","type":"control.ping","id":"p"}'
            await plug.socket.send(iter([text[:5], text[5:20], text[20:]]))
            assert (await plug.receive())["id"] == "p"

    hold(life)


def test_a_ping_of_the_socket_is_answered(hold):
    async def life(stand):
        async with stand.connect() as plug:
            pong = await plug.socket.ping()
            await asyncio.wait_for(pong, PATIENCE_S)

    hold(life)


def test_a_role_that_nobody_provisioned_may_ask_little(hold):
    async def life(stand):
        async with stand.connect(stand.token("user"), greet=False) as plug:
            assert (await plug.control("version", {"protocol": "unified-v2"}))["ok"] is True
            for op in ("connect", "session_list", "session_status", "project_list"):
                assert refused(await plug.control(op), "provisioning_required")
            for op in ("ping", "agent_list", "session_history", "session_restore"):
                assert (await plug.control(op))["ok"] is True
            assert (await plug.control("agent_ensure", {"agent_id": "bob"}))["payload"] == {"agent_id": "bob"}
            assert refused(await plug.ask("version", version="acheron-1"), "provisioning_required")
            to_mother = {"session_key": "main", "agent_id": "mother", "project_id": "system"}
            reply = await plug.control("session_attach", to_mother)
            assert refused(reply, "forbidden", "user role cannot attach to mother agent")
            assert "correlation_id" not in reply["error"]
            reply = await plug.control("session_attach", {**to_mother, "agent_id": "alice"})
            assert refused(reply, "forbidden")
            reply = await plug.control("session_attach", {"session_key": "main", "agent_id": "alice"})
            assert refused(reply, "provisioning_required")
            reply = await plug.control("agent_ensure", {"agent_id": "mother"})
            assert refused(reply, "forbidden", "user role cannot attach to mother agent")

    hold(life)


def test_a_node_may_ask_what_a_node_needs_and_has_no_namespace(hold):
    async def life(stand):
        async with stand.connect() as plug:
            invite = (await plug.control("node_invite_create"))["payload"]["invite_token"]
        async with stand.connect(invite, greet=False) as plug:
            await plug.control("version", {"protocol": "unified-v2"})
            assert (await plug.control("connect"))["payload"]["role"] == "node"
            joined = (await plug.control("node_join", {"invite_token": invite, "node_name": "edge"}))["payload"]
            for op in ("node_list", "session_list", "project_list", "auth_status", "agent_list"):
                assert refused(await plug.control(op), "forbidden")
            assert refused(await plug.ask("version", version="acheron-1"), "forbidden")
        async with stand.connect(joined["node_secret"], greet=False) as plug:
            await plug.control("version", {"protocol": "unified-v2"})
            own = {"node_id": joined["node_id"], "node_secret": joined["node_secret"]}
            assert (await plug.control("node_lease_refresh", own))["ok"] is True
        async with stand.connect(invite, greet=False) as plug:  # an invite works once
            assert (await plug.receive())["code"] == "provider_auth_failed"

    hold(life)
