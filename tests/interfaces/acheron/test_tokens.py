"""The role tokens and what each role did last."""

import hashlib
import json
import os
import re
import threading

import pytest

from worldfs.access.auth import bearer_token
from worldfs.access.binding import ADMIN, HOME_PROJECT, MOTHER, SYSTEM, Binding
from worldfs.access.caller import Caller
from worldfs.access.principal import TokenHolder
from worldfs.access.token_file import TokenVisit
from worldfs.access.tokens import TokenStore
from worldfs.base.errors import BadInput, NotFound

ADMIN_CALL = Caller(Binding(ADMIN, MOTHER, SYSTEM), "c1")


def refused(reply, code, message=""):
    return reply["ok"] is False and reply["error"]["code"] == code and message in reply["error"]["message"]


def role_of(tokens, token):
    holder = tokens.holder(token)
    return holder and holder.role


def test_they_are_made_once_and_only_their_owner_reads_them(tmp_path):
    before = os.umask(0)
    try:
        tokens = TokenStore.open(tmp_path / "home")
        kept = json.loads((tmp_path / "home/auth_tokens.json").read_text())
        assert kept["schema"] == 3
        for role in ("admin", "user"):
            assert re.fullmatch(rf"sw-{role}_[A-Za-z0-9_-]{{32}}", kept[f"{role}_token"])
            assert role_of(tokens, kept[f"{role}_token"]) == role
        assert (tmp_path / "home/auth_tokens.json").stat().st_mode & 0o777 == 0o600
        assert role_of(TokenStore.open(tmp_path / "home"), kept["user_token"]) == "user"
    finally:
        os.umask(before)


def test_a_file_that_others_could_read_is_closed(tmp_path):
    TokenStore.open(tmp_path)
    (tmp_path / "auth_tokens.json").chmod(0o644)
    TokenStore.open(tmp_path)
    assert (tmp_path / "auth_tokens.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("token", ["", "sw-admin_", "sw-user_x", "é", "x" * 5000])
def test_other_words_are_nobody(tmp_path, token):
    assert role_of(TokenStore.open(tmp_path), token) is None


def test_a_rotated_token_is_another_and_survives(tmp_path):
    tokens = TokenStore.open(tmp_path)
    before = json.loads((tmp_path / "auth_tokens.json").read_text())["admin_token"]
    after = tokens.rotate("admin")
    assert role_of(tokens, before) is None
    assert role_of(TokenStore.open(tmp_path), after) == "admin"
    with pytest.raises(BadInput, match="admin"):
        tokens.rotate("root")


def test_what_is_shown_is_no_token(tmp_path):
    tokens = TokenStore.open(tmp_path)
    shown = tokens.masked()
    assert set(shown) == {"admin_token", "user_token", "agent_tokens", "path"}
    assert role_of(tokens, shown["admin_token"]) is None
    assert len(shown["admin_token"]) < 20


def test_the_last_ten_places_of_a_role_are_remembered(tmp_path):
    tokens = TokenStore.open(tmp_path)
    for number in range(12):
        tokens.remember("user", TokenVisit("main", "alice", f"p{number}", number))
    tokens.remember("user", TokenVisit("main", "alice", "p5", 99))
    found = TokenStore.open(tmp_path).visits("user")
    assert [visit.project for visit in found] == ["p5", "p11", "p10", "p9", "p8", "p7", "p6", "p4", "p3", "p2"]
    assert TokenStore.open(tmp_path).visits("admin") == []


@pytest.mark.parametrize("text", ["", "[]", "no"])
def test_a_file_that_says_nothing_is_named(tmp_path, text):
    (tmp_path / "auth_tokens.json").write_text(text)
    with pytest.raises(BadInput, match=r"auth_tokens\.json"):
        TokenStore.open(tmp_path)


def test_a_history_that_cannot_be_read_stops_nothing(tmp_path):
    TokenStore.open(tmp_path)
    kept = json.loads((tmp_path / "auth_tokens.json").read_text())
    kept["visits"] = {"user": [{"key": 5}, 7], "admin": "x"}
    (tmp_path / "auth_tokens.json").write_text(json.dumps(kept))
    assert TokenStore.open(tmp_path).visits("user") == []


@pytest.mark.parametrize("header", ["Bearer x", "bearer x", "x", "BEARER   x "])
def test_a_bearer_is_read_as_people_write_it(header):
    assert bearer_token(header) == "x"


def test_over_the_wire_they_are_masked_and_the_new_one_is_told_once(hold):
    async def life(stand):
        before = stand.token()
        async with stand.connect() as plug:
            shown = (await plug.control("auth_status"))["payload"]
            assert before not in json.dumps(shown)
            told = (await plug.control("auth_rotate", {"role": "admin"}))["payload"]
            assert told == {"role": "admin", "token": stand.token()}
            reply = await plug.control("auth_rotate", {"role": "nobody"})
            assert reply["error"] == {"code": "invalid_payload", "message": "role must be 'admin' or 'user'"}
        async with stand.connect(before, greet=False) as plug:
            assert (await plug.receive())["code"] == "provider_auth_failed"

    hold(life)


# -- tokens that speak for one agent


def test_a_token_for_one_agent_is_told_once_and_only_its_hash_is_kept(tmp_path):
    tokens = TokenStore.open(tmp_path)
    issued, token = tokens.add("rio")
    text = (tmp_path / "auth_tokens.json").read_text()
    assert re.fullmatch(r"sw-agent_[A-Za-z0-9_-]{32}", token)
    assert token not in text and token.removeprefix("sw-agent_") not in text
    assert hashlib.sha256(token.encode()).hexdigest() in text
    assert (tmp_path / "auth_tokens.json").stat().st_mode & 0o777 == 0o600
    for found in (tokens, TokenStore.open(tmp_path)):
        assert found.holder(token) == TokenHolder("token-1", "user", "rio")
        assert found.holder(issued.sha256) is None, "the hash is no token"
        assert found.holder(token + "x") is None
        assert token not in json.dumps(found.masked())


def test_another_process_changes_the_file_and_nothing_is_lost(tmp_path):
    serving, command = TokenStore.open(tmp_path), TokenStore.open(tmp_path)
    _, token = command.add("rio")
    serving.remember("user", TokenVisit("main", "alice", "p1", 1))
    assert serving.holder(token) == TokenHolder("token-1", "user", "rio")
    second, other = command.add("ada", "admin")
    assert serving.holder(other) is None
    serving.refresh()
    assert serving.holder(other) == TokenHolder(second.id, "admin", "ada")
    assert [visit.project for visit in serving.visits("user")] == ["p1"]
    serving.remember("token-1", TokenVisit("main", "rio", "p2", 2))
    assert [visit.project for visit in TokenStore.open(tmp_path).visits("token-1")] == ["p2"]
    assert command.revoke("rio") == ["token-1"]
    assert serving.is_valid(serving.holder(token))
    serving.refresh()
    assert serving.holder(token) is None and not serving.is_valid(TokenHolder("token-1", "user", "rio"))
    assert TokenStore.open(tmp_path).visits("token-1") == []
    assert command.add("zoe")[0].id == "token-3", "an id is never another's"


def test_what_is_revoked_by_name_id_or_role(tmp_path):
    tokens = TokenStore.open(tmp_path)
    for agent in ("rio", "rio", "ada"):
        tokens.add(agent)
    assert tokens.revoke("token-3") == ["token-3"]
    assert tokens.revoke("rio") == ["token-1", "token-2"]
    shared = json.loads((tmp_path / "auth_tokens.json").read_text())["user_token"]
    assert tokens.revoke("user") == ["user"]
    for found in (tokens, TokenStore.open(tmp_path)):
        assert found.holder(shared) is None and found.holder("") is None
        assert found.roles() == ["admin"]
    for gone in ("rio", "token-1", "user", "nobody"):
        with pytest.raises(NotFound):
            tokens.revoke(gone)
    with pytest.raises(BadInput):
        tokens.revoke("admin")
    assert role_of(tokens, tokens.rotate("user")) == "user", "the way back"


@pytest.mark.parametrize(("agent", "role"), [("", "user"), ("../x", "user"), ("mother", "user"), ("rio", "root")])
def test_no_token_is_made_for_what_is_no_agent_or_role(tmp_path, agent, role):
    with pytest.raises(BadInput):
        TokenStore.open(tmp_path).add(agent, role)


@pytest.mark.parametrize(("before", "name"), [("rio", "RIO"), ("Éa", "éA"), ("zoe", "Zoe")])
def test_no_token_is_made_for_a_name_that_differs_in_capitals_only(tmp_path, before, name):
    """A person who reads the list, or grants a right, takes the two for one."""
    tokens = TokenStore.open(tmp_path)
    tokens.add(before)
    with pytest.raises(BadInput, match="capitals"):
        tokens.add(name)
    tokens.add(before)
    tokens.add("mother", "admin", person=before)
    with pytest.raises(BadInput, match="capitals"):
        tokens.add("mother", "admin", person=name)
    assert {one.agent for one in tokens.agent_tokens()} == {before, "mother"}


def test_a_file_of_before_goes_on_working_and_what_it_holds_is_kept(tmp_path):
    before = {
        "schema": 3,
        "admin_token": "sw-admin_" + "a" * 32,
        "user_token": "sw-user_" + "u" * 32,
        "visits": {"user": [TokenVisit("main", "alice", "p1", 1)._asdict()]},
        "noted": "by somebody else",
    }
    (tmp_path / "auth_tokens.json").write_text(json.dumps(before))
    (tmp_path / "auth_tokens.json").chmod(0o600)
    tokens = TokenStore.open(tmp_path)
    assert (role_of(tokens, before["admin_token"]), role_of(tokens, before["user_token"])) == ("admin", "user")
    tokens.add("rio")
    after = json.loads((tmp_path / "auth_tokens.json").read_text())
    assert {key: after[key] for key in before} == before


@pytest.mark.parametrize(
    "rows",
    ["x", [5], [{}], [{"id": "admin", "agent": "rio", "role": "user", "sha256": "0" * 64, "created_ms": 1}],
     [{"id": "token-1", "agent": "", "role": "user", "sha256": "0" * 64, "created_ms": 1}],
     [{"id": "token-1", "agent": "rio", "role": "root", "sha256": "0" * 64, "created_ms": 1}]],
)  # fmt: skip
def test_a_row_that_is_none_lets_nobody_in_and_stops_nothing(tmp_path, rows):
    TokenStore.open(tmp_path)
    kept = json.loads((tmp_path / "auth_tokens.json").read_text())
    (tmp_path / "auth_tokens.json").write_text(json.dumps({**kept, "agent_tokens": rows}))
    assert TokenStore.open(tmp_path).agent_tokens() == []


def test_a_token_speaks_for_its_agent_and_for_no_other(hold):
    async def life(stand):
        project = stand.realm.plane.call("project_create", {"name": "p"}, ADMIN_CALL)["project_id"]
        _, token = stand.server.tokens.add("rio")
        async with stand.connect(token) as plug:
            found = (await plug.control("connect"))["payload"]
            assert (found["agent_id"], found["role"]) == ("rio", "user"), "bound to the only project that there is"
            assert (await plug.control("agent_ensure", {"agent_id": "rio"}))["ok"] is True
            for op, payload in (
                ("agent_ensure", {"agent_id": "alice"}),
                ("session_attach", {"session_key": "main", "agent_id": "alice", "project_id": project}),
                ("session_attach", {"session_key": "new", "agent_id": "mother", "project_id": "system"}),
            ):
                assert refused(await plug.control(op, payload), "forbidden", "this token is valid only for agent rio")
            own = {"session_key": "main", "agent_id": "rio", "project_id": project}
            assert (await plug.control("session_attach", own))["ok"] is True
            named = [row["id"] for row in (await plug.control("agent_list"))["payload"]["agents"]]
            assert named == ["rio"]
            assert refused(await plug.control("agent_get", {"agent_id": "alice"}), "agent_not_found")
            history = (await plug.control("session_history"))["payload"]["sessions"]
            assert [(one["agent_id"], one["project_id"]) for one in history] == [("rio", project)]
        async with stand.connect(stand.token("user"), greet=False) as plug:
            await plug.control("version", {"protocol": "unified-v2"})
            assert (await plug.control("session_history"))["payload"]["sessions"] == []

    hold(life)


def test_the_shared_user_token_speaks_for_no_agent_that_has_a_token_of_its_own(hold):
    async def life(stand):
        project = stand.realm.plane.call("project_create", {"name": "p"}, ADMIN_CALL)["project_id"]
        other = TokenStore.open(stand.realm.home)  # `paos token`, another process

        def entry(agent, key="main"):
            return {"session_key": key, "agent_id": agent, "project_id": project}

        async with (
            stand.connect(stand.token("user"), greet=False) as plug,
            stand.connect(stand.token("user"), greet=False) as still,
        ):
            for one, agent in ((plug, "rio"), (still, "alice")):
                await one.control("version", {"protocol": "unified-v2"})
                assert (await one.control("session_attach", entry(agent)))["ok"] is True
            assert (await still.control("session_attach", entry("rio", "second")))["ok"] is True
            assert (await still.control("session_close", {"session_key": "second"}))["ok"] is True
            issued, token = other.add("rio")
            assert await plug.closed(30) == 1008, "it spoke for rio when rio got a token of its own"
            words = "agent rio has a token of its own"
            for op, payload in (
                ("agent_ensure", {"agent_id": "rio"}),
                ("session_attach", entry("rio")),
                ("session_attach", entry("rio", "new")),
            ):
                assert refused(await still.control(op, payload), "forbidden", words)
            assert (await still.control("session_attach", entry("bob")))["ok"] is True
            assert (await still.control("session_attach", entry("alice")))["ok"] is True
            async with stand.connect(token) as own, stand.connect() as admin:
                assert (await own.control("connect"))["payload"]["agent_id"] == "rio"
                assert (await admin.control("session_attach", entry("rio", "k")))["ok"] is True
        stand.server.tokens.remember("user", TokenVisit("main", "rio", project, 2**50))
        async with stand.connect(stand.token("user"), greet=False) as late:
            await late.control("version", {"protocol": "unified-v2"})
            assert (await late.control("session_status"))["ok"] is False, "its last place is rio's"
            other.revoke(issued.id)
            stand.server.tokens.refresh()
            assert (await late.control("session_attach", entry("rio")))["ok"] is True

    hold(life)


def test_an_admin_token_of_one_agent_is_that_agent_too(hold):
    async def life(stand):
        _, token = stand.server.tokens.add("rio", "admin")
        async with stand.connect(token) as plug:
            assert (await plug.control("connect"))["payload"]["agent_id"] == "rio"
            assert refused(
                await plug.control("session_attach", {"session_key": "k", "agent_id": "mother"}), "forbidden"
            )
        _, token = stand.server.tokens.add("mother", "admin")
        async with stand.connect(token) as plug:
            assert (await plug.control("connect"))["payload"]["agent_id"] == "mother"

    hold(life)


@pytest.mark.parametrize("reads", [lambda kept: kept.refresh(), lambda kept: kept.add("leo")], ids=["refresh", "add"])
def test_who_asks_while_another_thread_reads_the_tokens_does_not_see_the_old_ones(tmp_path, monkeypatch, reads):
    kept, other = TokenStore.open(tmp_path), TokenStore.open(tmp_path)
    _, token = other.add("rio")
    take, found = TokenStore._take, []
    asking = threading.Thread(target=lambda: (kept.refresh(), found.append(kept.holder(token))))

    def asked_meanwhile(store, *read, **how):
        if asking.ident is None:
            asking.start()
            asking.join(0.2)  # it waits for this one
        take(store, *read, **how)

    monkeypatch.setattr(TokenStore, "_take", asked_meanwhile)
    reads(kept)
    asking.join()
    assert found[0] is not None and found[0].agent == "rio"


def test_the_shared_token_is_revoked_beside_those_of_an_agent_of_that_name(tmp_path):
    tokens = TokenStore.open(tmp_path)
    token, shared = tokens.add("user")[1], json.loads((tmp_path / "auth_tokens.json").read_text())["user_token"]
    assert len(tokens.revoke("user")) == 2
    assert tokens.holder(token) is None and tokens.holder(shared) is None


def test_no_project_of_another_agent_takes_an_agents_place_from_it(hold):
    async def life(stand):
        stand.realm.plane.ensure_project(HOME_PROJECT, HOME_PROJECT, [])
        _, token = TokenStore.open(stand.realm.home).add("rio")
        _, others = TokenStore.open(stand.realm.home).add("ada")

        async def place(of):
            async with stand.connect(of) as plug:
                return (await plug.control("session_status"))["payload"]["project_id"]

        usual = await place(token)
        async with stand.connect(others) as plug:
            made = (await plug.control("project_create", {"name": "mine"}))["payload"]["project_id"]
        assert await place(token) == usual == HOME_PROJECT != made
        async with stand.connect(token) as plug:
            visit = {"session_key": "k", "agent_id": "rio", "project_id": made}
            assert (await plug.control("session_attach", visit))["ok"] is True
        async with stand.connect(others) as plug:
            assert (await plug.control("project_delete", {"project_id": made}))["ok"] is True
        assert await place(token) == usual

    hold(life)


def test_a_revoked_token_ends_its_connections_and_begins_none(hold):
    async def life(stand):
        stand.realm.plane.call("project_create", {"name": "p"}, ADMIN_CALL)
        other = TokenStore.open(stand.realm.home)  # `paos token`, another process
        _, token = other.add("rio")
        async with stand.connect(token) as plug, stand.connect() as admin:
            other.revoke("rio")
            async with stand.connect(token, greet=False) as late:
                assert (await late.receive())["code"] == "provider_auth_failed"
            assert await plug.closed(30) == 1008
            assert (await admin.control("ping"))["ok"] is True

    hold(life)


def test_the_shared_token_revoked_ends_its_connections_and_no_others(hold):
    async def life(stand):
        project = stand.realm.plane.call("project_create", {"name": "p"}, ADMIN_CALL)["project_id"]
        bound = {"session_key": "main", "agent_id": "alice", "project_id": project}
        async with stand.connect(stand.token("user"), greet=False) as plug, stand.connect() as admin:
            await plug.control("version", {"protocol": "unified-v2"})
            assert (await plug.control("session_attach", bound))["ok"] is True
            TokenStore.open(stand.realm.home).revoke("user")
            assert await plug.closed(30) == 1008
            assert (await admin.control("ping"))["ok"] is True

    hold(life)


def test_a_change_right_after_our_own_is_seen(tmp_path, monkeypatch):
    tokens, other = TokenStore.open(tmp_path), TokenStore.open(tmp_path)
    _, token = tokens.add("rio")
    take, close, locks = tokens._root.lock_file, os.close, []

    def let_go(fd):
        close(fd)
        if fd in locks:
            locks.clear()
            other.revoke("rio")

    monkeypatch.setattr(tokens._root, "lock_file", lambda path: locks.append(take(path)) or locks[-1])
    monkeypatch.setattr(os, "close", let_go)
    tokens.remember("user", TokenVisit("main", "alice", "p", 1))
    tokens.refresh()
    assert tokens.holder(token) is None


@pytest.mark.parametrize("text", [None, "", "{broken", "[]"])
def test_a_file_that_is_lost_or_broken_under_a_server_locks_nobody_out(tmp_path, text):
    tokens = TokenStore.open(tmp_path)
    kept = json.loads((tmp_path / "auth_tokens.json").read_text())
    if text is None:
        (tmp_path / "auth_tokens.json").unlink()
    else:
        (tmp_path / "auth_tokens.json").write_text(text)
    tokens.refresh()
    tokens.remember("user", TokenVisit("main", "alice", "p1", 1))
    for role in ("admin", "user"):
        assert role_of(tokens, kept[f"{role}_token"]) == role
    if text is None:
        assert json.loads((tmp_path / "auth_tokens.json").read_text())["admin_token"] == kept["admin_token"]
