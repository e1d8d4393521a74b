"""auth_tokens.json as anybody may leave it: a wrong entry admits nobody, is named and set aside, locks nobody out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.access.token_file import LEAST, parse_tokens, token_findings
from worldfs.access.tokens import ASIDE, FILE, TokenStore
from worldfs.base.errors import BadInput

GOOD = "sw-admin_0123456789abcdef"
WEAK: tuple[Any, ...] = (
    5, 0, True, False, 1.5, [], {}, ["sw-admin_0123456789abcdef"], "a", "5", "x" * 40, "short", "with a space in it …",
    "\ud800" * 20, "abcdefgh\ud800abcdefghijkl", "ключ-от-всех-дверей-и-окон", "line\nbreak-0123456789",
    "\x1b[31m0123456789abc", "y" * 600 + GOOD,
)  # fmt: skip


def store(home: Path, kept: object) -> TokenStore:
    (home / FILE).write_text(json.dumps(kept))
    (home / FILE).chmod(0o600)
    return TokenStore.open(home)


def admitted(tokens: TokenStore, token: str) -> str | None:
    holder = tokens.holder(token)
    return holder.role if holder is not None else None


@pytest.mark.parametrize("value", WEAK)
def test_a_wrong_token_of_a_role_admits_nobody_is_named_and_another_takes_its_place(tmp_path: Path, value: Any) -> None:
    rio = TokenStore.open(tmp_path).add("rio")[1]
    kept = json.loads((tmp_path / FILE).read_text())
    tokens = store(tmp_path, {**kept, "admin_token": value, "user_token": GOOD})
    assert tokens.set_aside == ["admin_token"]
    for given_token in (str(value), str(value).lower(), "a", "5", "", "True", "x"):
        assert admitted(tokens, given_token) is None
    assert (admitted(tokens, GOOD), admitted(tokens, rio)) == ("user", "user")
    now = json.loads((tmp_path / FILE).read_text())
    assert len(now["admin_token"]) > LEAST and admitted(tokens, now["admin_token"]) == "admin"
    (copy,) = (tmp_path / ".paos/quarantine").iterdir()
    assert json.loads(copy.read_text())["admin_token"] == value and copy.stat().st_mode & 0o777 == 0o600
    assert TokenStore.open(tmp_path).set_aside == []


@pytest.mark.parametrize(
    "row",
    [5, None, {}, {"id": "token-9", "agent": "mother", "role": "admin", "sha256": "", "created_ms": 0},
     {"id": "token-9", "agent": "x", "role": "admin", "sha256": "Z" * 64, "created_ms": 0},
     {"id": "token-9", "agent": ["x"], "role": "admin", "sha256": "0" * 64, "created_ms": 0},
     {"id": "token-9", "agent": "a\ud800", "role": "user", "sha256": "0" * 64, "created_ms": 0},
     {"id": "token-9", "agent": "x", "role": "user", "sha256": "0" * 64, "created_ms": "soon"}],
)  # fmt: skip
def test_a_wrong_row_is_set_aside_and_the_others_stay(tmp_path: Path, row: object) -> None:
    rio = TokenStore.open(tmp_path).add("rio")[1]
    kept = json.loads((tmp_path / FILE).read_text())
    tokens = store(tmp_path, {**kept, "agent_tokens": [row, *kept["agent_tokens"]]})
    assert tokens.set_aside == ["agent_tokens[0]"] and admitted(tokens, rio) == "user"
    assert admitted(tokens, "") is None
    assert len(json.loads((tmp_path / FILE).read_text())["agent_tokens"]) == 1
    assert tokens.add("zoe")[0].id == "token-2"


def test_a_role_without_a_token_keeps_none() -> None:
    assert parse_tokens({"admin_token": GOOD, "user_token": None}).roles == {"admin": GOOD, "user": ""}
    assert parse_tokens({}).roles == {"admin": "", "user": ""}


@pytest.mark.parametrize("data", [b"[" * 50_000, b'{"a":' * 50_000, b"", b"\xff", b"5", b"null", b'"x"'])
def test_what_is_no_object_is_refused_with_its_place_and_never_a_traceback(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FILE).write_bytes(data)
    (tmp_path / FILE).chmod(0o600)
    with pytest.raises(BadInput, match=FILE):
        TokenStore.open(tmp_path)
    assert [item.field for item in token_findings(tmp_path)] == [FILE]
    assert (tmp_path / FILE).read_bytes() == data


@pytest.mark.parametrize("data", [b"[" * 50_000, b"", b"\xff"])
def test_a_server_goes_on_with_the_tokens_that_it_knows(tmp_path: Path, data: bytes) -> None:
    tokens = TokenStore.open(tmp_path)
    before = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_bytes(data)
    tokens.refresh()
    assert admitted(tokens, before["admin_token"]) == "admin"


@pytest.mark.parametrize("value", WEAK)
def test_a_wrong_token_that_is_written_while_a_server_runs_changes_nothing_there(tmp_path: Path, value: Any) -> None:
    tokens = TokenStore.open(tmp_path)
    before = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps({**before, "admin_token": value, "user_token": GOOD}))
    tokens.refresh()
    assert (admitted(tokens, before["admin_token"]), admitted(tokens, GOOD)) == ("admin", "user")
    assert admitted(tokens, str(value)) is None


def test_the_check_names_each_wrong_entry(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"admin_token": 5, "user_token": "a", "agent_tokens": [{}]}))
    found = list(token_findings(tmp_path))
    assert [item.field for item in found] == [
        f"{FILE} {name}" for name in ("admin_token", "user_token", "agent_tokens[0]")
    ]
    assert all(item.code == "TOKEN_UNUSABLE" and item.expected and item.fix and not item.warning for item in found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["admin_token", "user_token", "agent_tokens", "visits", "schema", "agent_tokens_made", "other"])


@given(st.dictionaries(KEYS, JSON, max_size=7), st.text(max_size=20))
def test_no_value_of_any_entry_raises_or_admits_who_knows_no_token(kept: dict[str, Any], token: str) -> None:
    parsed = parse_tokens(kept)
    assert all(isinstance(value, str) and (not value or len(value) >= LEAST) for value in parsed.roles.values())
    tokens = TokenStore(None)
    tokens._take(kept)
    assert admitted(tokens, token) is None or token in parsed.roles.values()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\x00" * 400, b"\xff"])
def test_a_server_sets_a_file_that_it_cannot_read_aside_and_admits_no_client_of_it(tmp_path: Path, data: bytes) -> None:
    own = TokenStore.open(tmp_path)
    known = [own.add("rio")[1], *(json.loads((tmp_path / FILE).read_text())[f"{role}_token"] for role in own.roles())]
    (tmp_path / FILE).write_bytes(data)
    tokens = TokenStore.open(tmp_path, mend=True)
    assert [admitted(tokens, token) for token in known] == [None] * 3
    assert tokens.set_aside == [FILE]
    assert [path.read_bytes() for path in (tmp_path / ASIDE).iterdir()] == [data]
    assert TokenStore.open(tmp_path).roles() == own.roles()  # it can be read again
