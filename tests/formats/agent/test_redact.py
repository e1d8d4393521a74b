"""Secrets go, everything else stays: a corpus of all families in all surroundings, and texts that only look alike."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.access.tokens import TokenStore
from worldfs.control.transaction import new_secret
from worldfs.formats.agent.redact import redact, redact_bytes, redact_value
from worldfs.formats.agent.secret_kinds import KINDS

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SPECIFICATIONS = Path(__file__).resolve().parents[4] / "shared/spec"
ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"


def of(signs: str, count: int) -> Callable[[random.Random], str]:
    return lambda rng: "".join(rng.choices(signs, k=count))


def after(prefix: str, signs: str, count: int) -> Callable[[random.Random], str]:
    return lambda rng: prefix + of(signs, count)(rng)


def _b64(rng: random.Random, count: int) -> str:
    return base64.b64encode(rng.randbytes(count)).decode()


def _pem(kind: str, newline: str = "\n") -> Callable[[random.Random], str]:
    def make(rng: random.Random) -> str:
        body = _b64(rng, rng.randrange(150, 1200))
        lines = [body[at : at + 64] for at in range(0, len(body), 64)]
        return newline.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])

    return make


def _jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': _b64(rng, 6), 'iat': 1})}.{of(URL64, 43)(rng)}"


WHOLE: dict[str, Callable[[random.Random], str]] = {
    "anthropic": after("sk-ant-api03-", URL64, 93),
    "openai old": after("sk-", ALNUM, 48),
    "openai project": lambda rng: f"sk-proj-{of(URL64, 74)(rng)}T3BlbkFJ{of(URL64, 74)(rng)}",
    "openrouter": after("sk-or-v1-", HEX, 64),
    "deepseek": after("sk-", HEX, 32),
    "stripe": after("sk_live_", ALNUM, 24),
    "stripe restricted": after("rk_test_", ALNUM, 99),
    "github classic": after("ghp_", ALNUM, 36),
    "github app": after("ghs_", ALNUM, 36),
    "github fine": lambda rng: f"github_pat_{of(ALNUM, 22)(rng)}_{of(ALNUM, 59)(rng)}",
    "gitlab": after("glpat-", URL64, 20),
    "slack bot": lambda rng: f"xoxb-{of('123456789', 12)(rng)}-{of('123456789', 13)(rng)}-{of(ALNUM, 24)(rng)}",
    "slack app": lambda rng: f"xapp-1-A{of(UPPER, 10)(rng)}-{of('123456789', 13)(rng)}-{of(HEX, 64)(rng)}",
    "telegram": lambda rng: f"{of('123456789', 10)(rng)}:AA{of(URL64, 33)(rng)}",
    "aws id": after("AKIA", UPPER, 16),
    "aws session id": after("ASIA", UPPER, 16),
    "alibaba": after("LTAI5t", ALNUM, 18),
    "google": after("AIza", URL64, 35),
    "google access": after("ya29.a0", URL64, 120),
    "google client": after("GOCSPX-", URL64, 28),
    "npm": after("npm_", ALNUM, 36),
    "pypi": after("pypi-AgEIcHlwaS5vcmc", URL64, 130),
    "docker": after("dckr_pat_", URL64, 27),
    "huggingface": after("hf_", string.ascii_letters, 34),
    "groq": after("gsk_", ALNUM, 52),
    "replicate": after("r8_", ALNUM, 37),
    "xai": after("xai-", ALNUM, 80),
    "perplexity": after("pplx-", ALNUM, 48),
    "nvidia": after("nvapi-", URL64, 64),
    "notion": after("ntn_", ALNUM, 46),
    "linear": after("lin_api_", ALNUM, 40),
    "digitalocean": after("dop_v1_", HEX, 64),
    "databricks": after("dapi", HEX, 32),
    "shopify": after("shpat_", HEX, 32),
    "vault": after("hvs.", URL64, 90),
    "sendgrid": lambda rng: f"SG.{of(URL64, 22)(rng)}.{of(URL64, 43)(rng)}",
    "age": after("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "jwt": _jwt,
    "ours": after("sw-agent_", URL64, 32),
    "our invite": after("inv-", HEX, 32),
    "our pairing": after("pending-join-", HEX, 16),
    "pem rsa": _pem("RSA PRIVATE KEY"),
    "pem": _pem("PRIVATE KEY"),
    "pem openssh": _pem("OPENSSH PRIVATE KEY"),
    "pem in one line": _pem("EC PRIVATE KEY", " "),
}
"""Families known by their own form."""

LOGIN: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "url": lambda rng: ("postgres://admin:{}@db.example.com:5432/x", of(ALNUM + "!$-._", 16)(rng)),
    "redis": lambda rng: ("redis://:{}@10.0.0.1:6379", of(ALNUM, 24)(rng)),
    "slack hook": lambda rng: (
        "https://hooks.slack.com/services/{}",
        f"T{of(UPPER, 8)(rng)}/B{of(UPPER, 8)(rng)}/{of(ALNUM, 24)(rng)}",
    ),
    "discord hook": lambda rng: (
        "https://discord.com/api/webhooks/{}",
        f"{of('123456789', 18)(rng)}/{of(URL64, 68)(rng)}",
    ),
    "bearer": lambda rng: ("Authorization: Bearer {}", of(ALNUM, 40)(rng)),
    "basic": lambda rng: ("Authorization: Basic {}", _b64(rng, 24)),
    "curl": lambda rng: ("curl -sS -u admin:{} https://example.com", of(ALNUM, 12)(rng)),
    "aws secret": lambda rng: ("aws_secret_access_key = {}", of(ALNUM + "+/", 40)(rng)),
    "env": lambda rng: (
        "export {}={{}}".format(rng.choice(("SIGNING_KEY", "BOT_TOKEN", "DB_PASS"))),
        of(ALNUM, 24)(rng),
    ),
    "camel": lambda rng: ("secretAccessKey: {}", of(ALNUM + "/", 40)(rng)),
    "azure": lambda rng: ("AccountName=x;AccountKey={};EndpointSuffix=y", _b64(rng, 64)),
    "azure signature": lambda rng: ("https://x.blob.example/c?sv=1&sig={}", of(ALNUM, 43)(rng) + "%3D"),
    "api key": lambda rng: ("X-API-Key: {}", of(HEX, 32)(rng)),
    "option": lambda rng: ("tool --api-key {} run", of(ALNUM, 24)(rng)),
    "password": lambda rng: ("password: {}", of(string.ascii_letters, 9)(rng) + of(string.digits, 3)(rng)),
    "password sign": lambda rng: ("DB_PASSWORD={}", of(string.ascii_letters, 9)(rng) + rng.choice("!$^*#") + "x"),
    "markdown": lambda rng: ("- **Password:** `{}`", "x" + of(ALNUM + "!#%&*+-/=?@^_~", 15)(rng) + "1a"),
    "中文密码": lambda rng: (rng.choice(("密码：{}", "密码是{}", "口令: {}", "密码为 {}")), "a1" + of(ALNUM, 12)(rng)),
    "中文密钥": lambda rng: (rng.choice(("密钥：{}，请勿外传", "访问令牌={}", "私钥: {}")), "k9" + of(ALNUM, 30)(rng)),
}
"""Families known by what stands around them: a frame, and the secret in it."""

AROUND: dict[str, str] = {
    "alone": "{}",
    "prose": "Found that {} works, see 2026-03-31.",
    "brackets": "(it was {})",
    "中文": "我们用的是{}，请不要外传。",
    "中文 glued": "使用{}登录",
    "line": "first line\n{}\nlast line",
    "code": "run `{}` first",
    "log": "2026-03-31T22:00:00Z INFO agent=rio said {}",
}


def corpus(rng: random.Random) -> list[tuple[str, str, str]]:
    """(family and surroundings, text, secret)"""
    made = []
    for around, frame in AROUND.items():
        for family, make in WHOLE.items():
            secret = make(rng)
            made.append((f"{family} / {around}", frame.replace("{}", secret), secret))
        for family, login in LOGIN.items():
            before, secret = login(rng)
            made.append((f"{family} / {around}", frame.replace("{}", before.replace("{}", secret)), secret))
    return made


FORMS: dict[str, Callable[[str], str]] = {
    "text": lambda text: redact(text)[0],
    "bytes": lambda text: redact_bytes(text.encode()).decode(),
    "value": lambda text: str(redact_value({"a": [{"context": text}]})["a"][0]["context"]),
    "json": lambda text: _json(text, ensure_ascii=False),
    "json escaped": lambda text: _json(text, ensure_ascii=True),
    "json in json": lambda text: json.loads(_json(json.dumps({"said": text}, ensure_ascii=False), ensure_ascii=False))[
        "said"
    ],
    "line of a stream": lambda text: json.loads(redact(json.dumps({"said": text}, ensure_ascii=False))[0])["said"],
}


def _json(text: str, *, ensure_ascii: bool) -> str:
    data = json.dumps({"id": "task-001", "context": text}, indent=2, ensure_ascii=ensure_ascii).encode()
    return str(json.loads(redact_bytes(data))["context"])


def _our_secrets() -> dict[str, str]:
    """One of each kind that the product makes, as it makes it."""
    source = Path(redact.__code__.co_filename).parents[2]
    kinds = {kind for page in source.rglob("*.py") for kind in re.findall(r"new_secret\(\"(\w+)\"\)", page.read_text())}
    assert {"inv", "secret", "lease", "proj"} <= kinds
    tokens = TokenStore(None)
    made = {kind: new_secret(kind) for kind in kinds}
    return {**made, "admin": tokens.rotate("admin"), "user": tokens.rotate("user"), "agent": tokens.add("rio")[1]}


@pytest.mark.slice(3)
@pytest.mark.parametrize("form", FORMS)
def test_every_secret_that_the_product_makes_goes_in_every_form_and_place(form: str) -> None:
    for _ in range(4):
        for kind, secret in _our_secrets().items():
            for around in (*AROUND.values(), "http://127.0.0.1:18790/#token={}", "export PAOS_TOKEN={}"):
                assert not _leaks(FORMS[form](around.replace("{}", secret)), secret), (kind, around)


@pytest.mark.slice(3)
@pytest.mark.parametrize("form", FORMS)
def test_ninety_nine_of_a_hundred_secrets_go_in_every_form(form: str) -> None:
    rng = random.Random(f"{form} 1")
    cases = [case for _ in range(4) for case in corpus(rng)]
    left = [family for family, text, secret in cases if _leaks(FORMS[form](text), secret)]
    assert len(left) <= len(cases) / 100, sorted(left)


@pytest.mark.slice(4)
@pytest.mark.parametrize("family", [*WHOLE, *LOGIN])
def test_ninety_nine_of_a_hundred_secrets_go_in_every_family(family: str) -> None:
    rng = random.Random(f"{family} 2")
    left = []
    for round_ in range(50):
        for around, frame in AROUND.items():
            before, secret = LOGIN[family](rng) if family in LOGIN else ("{}", WHOLE[family](rng))
            if _leaks(redact(frame.replace("{}", before.replace("{}", secret)))[0], secret):
                left.append((round_, around, secret))
    assert len(left) <= 4, left


def _leaks(text: str, secret: str) -> bool:
    """Is more than a fourth of the secret left in one piece?"""
    piece = max(6, len(secret) // 4)
    return any(secret[at : at + piece] in text for at in range(len(secret) - piece + 1))


def test_the_corpus_has_every_kind() -> None:
    found = {kind for _, text, _ in corpus(random.Random("kinds")) for kind in redact(text)[1]}
    assert found == {kind.name for kind in KINDS} - {"seed-phrase"}


def test_a_seed_phrase_goes() -> None:
    words = "abandon ability able about above absent absorb abstract absurd abuse access zoo"
    assert redact(f"Seed phrase: {words}.") == ("Seed phrase: [redacted:seed-phrase].", ("seed-phrase",))
    assert redact(f"助记词：{words}。")[0] == "助记词：[redacted:seed-phrase]。"


def test_nothing_in_the_specifications_is_a_secret() -> None:
    if not SPECIFICATIONS.is_dir():
        pytest.skip("the specifications are not on this machine")
    texts = [page.read_text("utf-8") for page in sorted(SPECIFICATIONS.iterdir()) if page.is_file()]
    assert texts and [redact(text)[1] for text in texts] == [()] * len(texts)


@pytest.mark.parametrize("line", (FIXTURES / "agent_state/no_secrets.txt").read_text("utf-8").splitlines())
def test_what_only_looks_alike_stays(line: str) -> None:
    assert redact(line) == (line, ())
    assert redact_value([line]) == [line]
    assert redact(json.dumps(line))[0] == json.dumps(line)


def test_the_documents_and_profiles_of_the_other_tests_hold_no_secrets() -> None:
    pages = [page for page in FIXTURES.rglob("*") if page.is_file() and page.suffix in (".md", ".json", ".jsonl")]
    pages = [page for page in pages if "acheron" not in page.parts]  # recorded exchanges: tokens are what they show
    assert len(pages) > 20
    for page in pages:
        data = page.read_bytes()
        assert redact_bytes(data) is data, page


def test_only_the_secret_goes() -> None:
    key = "ghp_" + "a1B2" * 9
    for before, after_ in (
        (f"use {key}, then push.", "use [redacted:github-token], then push."),
        ("https://bob:hunter2@example.com/x?y=1#z", "https://[redacted:url-password]@example.com/x?y=1#z"),
        ("(password: abc12345).", "(password: [redacted:password])."),
        ("密码：abc12345，请勿外传", "密码：[redacted:password]，请勿外传"),
        ("密码是abc12345。", "密码是[redacted:password]。"),
        ('{"api_key":"abc12345def","a":1}', '{"api_key":"[redacted:secret]","a":1}'),
        ("Authorization: Bearer abc12345def67890gh", "Authorization: Bearer [redacted:bearer]"),
        ("- **API key**: `abc12345def`\n- next", "- **API key**: `[redacted:secret]`\n- next"),
        ("--token abc12345def --fast", "--token [redacted:secret] --fast"),
    ):
        assert redact(before)[0] == after_


def test_a_key_without_an_end_goes_and_the_text_after_it_stays() -> None:
    for newline in ("\n", "\\n"):
        body = newline.join(("MIIEpAIBAAKCAQEA" * 4,) * 3)
        text = f"-----BEGIN RSA PRIVATE KEY-----{newline}{body}{newline}{newline}# Notes: keep it."
        assert redact(text)[0] == f"[redacted:private-key]{newline}{newline}# Notes: keep it."


def test_what_is_marked_is_not_marked_again() -> None:
    for _, text, _ in corpus(random.Random("twice")):
        once = redact(text)[0]
        assert redact(once) == (once, ())


PIECES = (
    "password", "\\", '"', ":", "=", "token", "密码", "：", "secret", "://", "@", "\n", " ", "Bearer ", "sk-", "ghp_",
    "a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "{", "}", "'",
    "n", ",", "\u00e9", "abc12345", "/", "\\n", "\\u00e9", "eyJ", ".", "AKIA",
)  # fmt: skip


@given(
    st.recursive(
        st.one_of(
            st.none(), st.integers(), st.text(max_size=8),
            st.builds("".join, st.lists(st.sampled_from(PIECES), max_size=12)),
        ),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("a", "password", "token", "api_key", "密码", "x\\")), inner, max_size=3),
        max_leaves=6,
    ),
    st.booleans(), st.sampled_from((None, 2)),
)  # fmt: skip
def test_json_stays_json_and_everything_else_in_it_stays(value: object, escaped: bool, indent: int | None) -> None:
    text = json.dumps({"value": value}, ensure_ascii=escaped, indent=indent)
    for clean in (redact_bytes(text.encode()).decode(), redact(text)[0]):
        assert _shape(json.loads(clean)) == _shape(json.loads(text))
    assert _shape(redact_value(value)) == _shape(value)


def _shape(value: object) -> object:
    if isinstance(value, dict):
        return [_shape(item) for item in value.values()]
    if isinstance(value, list):
        return [_shape(item) for item in value]
    return str if isinstance(value, str) else value


def test_a_file_keeps_its_layout_when_a_secret_goes() -> None:
    text = '\ufeff{\r\n\t"说明": "\\u5bc6\\u7801\\uff1aabc12345\\uff0c完",\r\n\t"n" : 1.50 }\r\n'
    clean = redact_bytes(text.encode()).decode()
    assert json.loads(clean.removeprefix("\ufeff")) == {"说明": "密码：[redacted:password]，完", "n": 1.5}
    assert clean.startswith("\ufeff{\r\n\t") and clean.endswith(',\r\n\t"n" : 1.50 }\r\n')


def test_a_member_whose_name_says_secret_goes_whole() -> None:
    value = {
        "password": "Correct-horse", "api_key": "a b1c2d3e4f", "client_secret": "a,b'c;d1\"2", "token": "0" * 20,
        "密码": "六位数", "note": "fine", "password_hint": "the usual1", "clientSecret": None, "secret": 12345678,
        "Password": "required", "nested": {"accessToken": "abcdefgh1"},
    }  # fmt: skip
    assert redact_value(value) == value | {
        "password": "[redacted:password]", "client_secret": "[redacted:secret]", "token": "[redacted:secret]",
        "nested": {"accessToken": "[redacted:secret]"},
    }  # fmt: skip


def test_without_a_secret_the_same_object_comes_back() -> None:
    value = {"tasks": [{"id": "task-001", "description": "secret of success", "context": ("a", 1, None)}]}
    data = json.dumps(value).encode()
    assert redact_value(value) is value and redact_bytes(data) is data
    text = "the key to tokens and secrets"
    assert redact(text)[0] is text
    assert redact_bytes(b"\xff\xfe key") == b"\xff\xfe key"


def test_a_part_without_a_secret_stays_the_same_object() -> None:
    quiet = {"a": ["b"]}
    new = redact_value({"loud": "ghp_" + "a1B2" * 9, "quiet": quiet})
    assert new["quiet"] is quiet and new["loud"] == "[redacted:github-token]"


def test_a_long_text_costs_its_length() -> None:
    """Patterns that look on to the end from every place would take minutes: longer than any test may."""
    for piece in (
        "password", "token=", "a" * 50, "-----BEGIN PRIVATE KEY-----\n", "://", "://a:", "sk-", "eyJ", "Bearer ", "A_",
        "curl -u ", "abandon ", "seed phrase: ", "AAAA" * 16 + "\n", "api_key: \\\\", "--token-", "sk-a-", "KEY_A",
        "-eyJ", "eyJ-", "password: a", "a=secret=", "SG.a-", "bearer a", " curl -u a", "curl -ua:", "xapp-", "\\\\",
        '"', "secret\\", "token = ", "密码", "Authorization: ", "gsk_a", "_KEY=", "A_KEY=a", "eyJaaaaaaaa.",
        ".eyJaaaaaaaa",
    ):  # fmt: skip
        text = "api token password ://@ curl -u eyJ" + piece * (30_000 // len(piece))
        redact(text)
