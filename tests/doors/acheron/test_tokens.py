"""The role tokens and what each role did last."""

import json
import os
import re

import pytest

from worldfs.doors.acheron.tokens import Tokens, Visit
from worldfs.doors.acheron.who import bearer
from worldfs.ground.errors import BadInput


def test_they_are_made_once_and_only_their_owner_reads_them(tmp_path):
    before = os.umask(0)
    try:
        tokens = Tokens.open(tmp_path / "home")
        kept = json.loads((tmp_path / "home/auth_tokens.json").read_text())
        assert kept["schema"] == 3
        for role in ("admin", "user"):
            assert re.fullmatch(rf"sw-{role}_[A-Za-z0-9_-]{{32}}", kept[f"{role}_token"])
            assert tokens.role_of(kept[f"{role}_token"]) == role
        assert (tmp_path / "home/auth_tokens.json").stat().st_mode & 0o777 == 0o600
        assert Tokens.open(tmp_path / "home").role_of(kept["user_token"]) == "user"
    finally:
        os.umask(before)


def test_a_file_that_others_could_read_is_closed(tmp_path):
    Tokens.open(tmp_path)
    (tmp_path / "auth_tokens.json").chmod(0o644)
    Tokens.open(tmp_path)
    assert (tmp_path / "auth_tokens.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("token", ["", "sw-admin_", "sw-user_x", "é", "x" * 5000])
def test_other_words_are_nobody(tmp_path, token):
    assert Tokens.open(tmp_path).role_of(token) is None


def test_a_rotated_token_is_another_and_survives(tmp_path):
    tokens = Tokens.open(tmp_path)
    before = json.loads((tmp_path / "auth_tokens.json").read_text())["admin_token"]
    after = tokens.rotate("admin")
    assert tokens.role_of(before) is None
    assert Tokens.open(tmp_path).role_of(after) == "admin"
    with pytest.raises(BadInput, match="admin"):
        tokens.rotate("root")


def test_what_is_shown_is_no_token(tmp_path):
    tokens = Tokens.open(tmp_path)
    shown = tokens.masked()
    assert set(shown) == {"admin_token", "user_token", "path"}
    assert tokens.role_of(shown["admin_token"]) is None
    assert len(shown["admin_token"]) < 20


def test_the_last_ten_places_of_a_role_are_remembered(tmp_path):
    tokens = Tokens.open(tmp_path)
    for number in range(12):
        tokens.remember("user", Visit("main", "alice", f"p{number}", number))
    tokens.remember("user", Visit("main", "alice", "p5", 99))
    found = Tokens.open(tmp_path).visits("user")
    assert [visit.project for visit in found] == ["p5", "p11", "p10", "p9", "p8", "p7", "p6", "p4", "p3", "p2"]
    assert Tokens.open(tmp_path).visits("admin") == []


@pytest.mark.parametrize("text", ["", "[]", "no"])
def test_a_file_that_says_nothing_is_named(tmp_path, text):
    (tmp_path / "auth_tokens.json").write_text(text)
    with pytest.raises(BadInput, match=r"auth_tokens\.json"):
        Tokens.open(tmp_path)


def test_a_history_that_cannot_be_read_stops_nothing(tmp_path):
    Tokens.open(tmp_path)
    kept = json.loads((tmp_path / "auth_tokens.json").read_text())
    kept["visits"] = {"user": [{"key": 5}, 7], "admin": "x"}
    (tmp_path / "auth_tokens.json").write_text(json.dumps(kept))
    assert Tokens.open(tmp_path).visits("user") == []


@pytest.mark.parametrize("header", ["Bearer x", "bearer x", "x", "BEARER   x "])
def test_a_bearer_is_read_as_people_write_it(header):
    assert bearer(header) == "x"


def test_over_the_wire_they_are_masked_and_the_new_one_is_told_once(hold):
    async def life(stand):
        before = stand.token()
        async with stand.plug() as plug:
            shown = (await plug.control("auth_status"))["payload"]
            assert before not in json.dumps(shown)
            told = (await plug.control("auth_rotate", {"role": "admin"}))["payload"]
            assert told == {"role": "admin", "token": stand.token()}
            reply = await plug.control("auth_rotate", {"role": "nobody"})
            assert reply["error"] == {"code": "invalid_payload", "message": "role must be 'admin' or 'user'"}
        async with stand.plug(before, greet=False) as plug:
            assert (await plug.hear())["code"] == "provider_auth_failed"

    hold(life)
