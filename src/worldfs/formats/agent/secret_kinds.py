"""The kinds of secrets that are known by sight: what hints at one, and where exactly it is.

A kind is looked for only where one of its hints (in small letters) stands in the text. What is between quotes, in
brackets of Markdown, glued to Chinese or escaped in JSON is found as well; no pattern takes a quote or half an escape,
so JSON stays JSON; what looks ahead is bounded, so a text costs its length. Values that only a name calls secret must
look like one: long, mixed, no path, no placeholder, no call.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class SecretKind(NamedTuple):
    name: str
    hints: tuple[str, ...]
    pattern: str  # its group `kept`, if it has one, stays


def _after(prefix: str, body: str) -> str:
    """`prefix` at the beginning of a word, then `body`. The plain prefix comes first: that is what is searched fast."""
    edge = rf"(?:(?<![A-Za-z0-9]{prefix})|(?<=\\[nrtbf]{prefix})|(?<=\\u[0-9A-Fa-f]{{4}}{prefix}))"
    return f"{prefix}{edge}{body}"


def _prefixed(name: str, prefixes: tuple[str, ...], body: str) -> SecretKind:
    hints = tuple(prefix.replace("\\", "").lower() for prefix in prefixes)
    return SecretKind(name, hints, "|".join(_after(prefix, body) for prefix in prefixes))


_RANDOM: Final = (
    r"(?=[A-Za-z0-9_.-]{0,200}?[0-9])(?=[A-Za-z0-9_.-]{0,200}?[A-Za-z0-9]{12})"  # no words joined by hyphens
)
_NEWLINE: Final = r"(?:[\s>|+]|\\+[nrt])"
_BASE64: Final = r"(?:[A-Za-z0-9+/]|\\+/)"
# In 3.11.2 a possessive repetition of a group keeps what its last, failing turn had taken: an atomic group does not.
_PRIVATE: Final = (
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_NEWLINE}+[A-Z][A-Za-z-]{{2,20}}: [^\n\\\"]{{0,100}}+){{0,5}}"
    rf"(?>(?:{_NEWLINE}*+{_BASE64}{{16,}}+)+)"
    rf"(?:{_NEWLINE}*+{_BASE64}{{0,64}}+=*+(?:{_NEWLINE}++={_BASE64}{{4}})?{_NEWLINE}*+"
    r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|=*+)"
)

_VALUE: Final = r"[!#-&(-+\--:=?-\[\]-_a-~]"  # printable ASCII but for quotes, backslashes, commas, semicolons, < and >
_IS: Final = (  # between a name and its value: `": "`, `\": \"`, `**:** `, `：`, ` := `, `是`
    r"(?:\\{0,3}[\"'`*\]]){0,4}[ \t]{0,4}(?::=|=>|={1,3}|[:：]|是|为)(?:[ \t]|\\{0,3}[\"'`*]){0,8}"
)
_NOT: Final = (  # placeholders, variables, calls, code, places, dates, chain addresses
    r"(?![\[${(%&*=)}\]@:])"
    r"(?!(?i:your|my[_-]|some[_-]|example|placeholder|change[_-]?me|dummy|insert|todo|redacted|xxx))"
    r"(?!(?i:none|null|true|false)\b)"
    r"(?!(?i:process\.env|os\.environ|env\.|getenv|import\.meta|secrets?\.|settings\.|config\.|env:|self\.|this\.|vault:))"
    r"(?![A-Za-z_][A-Za-z0-9_.]*[(\[])"
    r"(?!https?://|file:|~?/[a-z]+/|\.{1,2}/|[A-Za-z]:/)"
    r"(?![0-9]{4}-[0-9]{2}-[0-9]{2}|0x[0-9A-Fa-f]{40}(?![0-9A-Fa-f]))"
)
_LAST: Final = r"(?<![.)\]}:?])"  # a sentence's or a bracket's end is not the secret's


def _named(names: str, least: int, *, inside: str = "[0-9]", operator: str = _IS) -> str:
    """A value whose name says what it is; it has a letter, and `inside`."""
    return (
        rf"(?P<kept>(?:{names}){operator}){_NOT}(?={_VALUE}{{0,200}}?{inside})(?={_VALUE}{{0,200}}?[A-Za-z])"
        rf"{_VALUE}{{{least},}}{_LAST}"
    )


_MIXED: Final = r"(?:[0-9]|[A-Z]{2}(?=[A-Za-z]{10})[A-Z]*+[a-z])"  # or letters as no name mixes them
_SIGN: Final = r"[0-9!$%^*~#]"


def _word(word: str) -> str:
    """In any case; its first letter as a set, which is searched fast."""
    return f"[{word[0].upper()}{word[0]}](?i:{word[1:]})"


def _ending(word: str, *before: str) -> str:
    """`word` after one of the words `before`, joined or not: `api_key`, `apiKey`, `API key`."""
    behind = []
    for length in sorted({len(other) for other in before}):
        others = "|".join(other for other in before if len(other) == length)
        behind += [f"(?<=(?i:(?:{others}){word}))", f"(?<=(?i:(?:{others})[ _-]{word}))"]
    return f"{_word(word)}(?:{'|'.join(behind)})"


_KEY: Final = _ending(
    "key", "api", "access", "account", "secret", "private", "signing", "encryption", "master", "app", "subscription",
    "webhook", "deploy", "auth",
)  # fmt: skip
_TOKEN: Final = _ending(
    "token", "auth", "access", "refresh", "session", "id", "bot", "api", "private", "bearer", "secret", "personal",
    "deploy", "csrf", "user", "oauth", "app",
)  # fmt: skip
_UPPER: Final = r"_(?<=[A-Z0-9]_)(?:KEY|TOKEN|PASS|PWD|CREDENTIALS?|SECRET)"
_BARE: Final = rf"{_word('token')}(?<![A-Za-z0-9](?i:token))(?:\\{{0,3}}[\"'])?[ \t]?(?==|[:：]\s{{0,2}}\\{{0,3}}[\"'])"
_PHRASE: Final = r"[Pp](?i:assw(?:or)?d|assphrase)"
_CHINESE_PHRASE: Final = "密[码碼]|口令"
_CHINESE_KEY: Final = "密[钥鑰]|私钥|令牌"

SECRET_NAME: Final = (
    rf"(?:(?P<password>{_PHRASE}|{_CHINESE_PHRASE})|"
    rf"{_word('secret')}|{_KEY}|{_TOKEN}|{_CHINESE_KEY}|{_UPPER}|(?<![A-Za-z])(?i:token))\Z"
)
"""The name of a member whose whole value is a secret, if it looks like one:"""
SECRET_VALUE: Final = rf"\A{_NOT}(?=[^0-9]*+[0-9])[!-~]{{8,}}\Z"
PASSWORD_VALUE: Final = rf"\A{_NOT}(?![A-Za-z]?[a-z]+\Z)[!-~]{{6,}}\Z"  # but a mere word

KINDS: Final = (
    _prefixed("worldfs-token", ("sw-admin_", "sw-user_", "sw-agent_"), r"[A-Za-z0-9_-]{32}"),  # access/tokens.py
    _prefixed("worldfs-secret", ("inv-", "secret-", "lease-", "proj-"), r"[0-9a-f]{32}(?![0-9a-f])"),  # control
    _prefixed("worldfs-secret", ("pending-join-",), r"[0-9a-f]{16}(?![0-9a-f])"),  # whoever knows it collects a secret
    SecretKind("private-key", ("private key",), _PRIVATE),
    _prefixed("age-key", ("AGE-SECRET-KEY-1",), r"[0-9A-Z]{50,60}"),
    _prefixed("anthropic-key", ("sk-ant-",), r"[A-Za-z0-9_-]{16,}"),
    _prefixed("openai-key", ("sk-",), rf"{_RANDOM}[A-Za-z0-9_-]{{20,}}"),  # and of all services that use their form
    _prefixed("stripe-key", ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"), r"[A-Za-z0-9+/]{16,}=*"),
    _prefixed("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{30,}"),
    _prefixed("github-token", ("github_pat_",), r"[A-Za-z0-9_]{30,}"),
    _prefixed("gitlab-token", ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"), r"[A-Za-z0-9_.-]{20,}"),
    SecretKind("slack-token", ("xox",), _after("xox", r"(?:[abeprs](?:\.xox[abeprs])?|o(?=-[0-9]))-[A-Za-z0-9-]{10,}")),
    _prefixed("slack-token", ("xapp-",), rf"{_RANDOM}[A-Za-z0-9-]{{20,}}"),
    SecretKind(
        "webhook",
        ("hooks.slack.com/", "/api/webhooks/"),
        r"(?P<kept>hooks\.slack\.com/(?:services|workflows)/|/api/webhooks/[0-9]{15,22}/)[A-Za-z0-9/_-]{20,}",
    ),
    SecretKind("telegram-token", (":aa",), r":AA(?<=[0-9]{8}:AA)[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    _prefixed("aws-key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _prefixed("alibaba-key", ("LTAI",), r"(?=[A-Za-z0-9]{0,60}?[0-9])[A-Za-z0-9]{12,26}(?![A-Za-z0-9])"),
    _prefixed("google-key", ("AIza",), r"[A-Za-z0-9_-]{35}"),
    _prefixed("google-token", (r"ya29\.", "1//0", "GOCSPX-"), r"[A-Za-z0-9_-]{20,}"),
    _prefixed("npm-token", ("npm_",), r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _prefixed("pypi-token", ("pypi-",), r"[A-Za-z0-9_-]{50,}"),
    _prefixed("docker-token", ("dckr_pat_", "dckr_oat_"), r"[A-Za-z0-9_-]{20,}"),
    _prefixed("huggingface-token", ("hf_",), r"[A-Za-z0-9]{30,}"),
    _prefixed("model-key", ("gsk_", "r8_", "fw_"), r"(?=[A-Za-z0-9]{0,60}?[0-9])[A-Za-z0-9]{22,}"),
    _prefixed("model-key", ("xai-", "pplx-", "tvly-", "nvapi-"), rf"{_RANDOM}[A-Za-z0-9_-]{{20,}}"),
    _prefixed("notion-token", ("ntn_",), r"[A-Za-z0-9]{40,}"),
    _prefixed("linear-key", ("lin_api_",), r"[A-Za-z0-9]{30,}"),
    _prefixed("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[a-f0-9]{60,}"),
    _prefixed("databricks-token", ("dapi",), r"[a-f0-9]{32}(?![A-Za-z0-9])"),
    _prefixed("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"[A-Fa-f0-9]{32}"),
    _prefixed("vault-token", (r"hvs\.",), r"[A-Za-z0-9_-]{24,}"),
    _prefixed("sendgrid-key", (r"SG\.",), r"[A-Za-z0-9_-]{16,100}+\.[A-Za-z0-9_-]{16,}"),
    SecretKind("azure-signature", ("sig=",), r"(?P<kept>[?&]sig=)[A-Za-z0-9%+/=]{40,}"),
    SecretKind("jwt", ("eyj",), _after("eyJ", r"[A-Za-z0-9_-]{8,1000}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}")),
    SecretKind(
        "url-password",
        ("://",),
        r"(?P<kept>://)(?!\[redacted)[^\s/@:\"'`\\()<>|,?#]{0,64}:(?!\$?[<{\[*(]|\$(?:[A-Z_0-9]+|[a-z_0-9]+)@|%[s(]|(?:x{3,}|\.{3}|pass(?:word)?|pwd|secret)@)"
        r"[^\s/\"'`\\()<>|?#]{1,200}(?=@[A-Za-z0-9\[])",
    ),
    SecretKind(
        "bearer",
        ("bearer ",),
        rf"(?P<kept>{_word('bearer')} )(?=[A-Za-z0-9._~+/-]{{0,200}}?[0-9])(?![0-9]{{4}}-[0-9]{{2}}-)"
        r"[A-Za-z0-9._~+/-]{16,}=*(?<![.])",
    ),
    SecretKind(
        "authorization",
        ("authorization",),
        rf"(?P<kept>{_word('authorization')}(?:\\{{0,3}}[\"'])?\s?[:=]\s?(?:\\{{0,3}}[\"'])?(?i:basic|bearer|token) )"
        r"[A-Za-z0-9._~+/-]{8,}=*(?<![.])",
    ),
    SecretKind(
        "login",
        ("curl ",),
        rf"(?P<kept>{_word('curl')}(?<![A-Za-z0-9]....) [^\n\\]{{0,300}}?(?:-u|--user)[ =]"
        r"(?:\\{0,3}[\"'])?[^\s:\"'\\]{1,64}:)(?![$<{\[*])[^\s\"'\\]{4,}",
    ),
    SecretKind(
        "seed-phrase",
        ("seed phrase", "mnemonic", "recovery phrase", "助记词"),
        rf"(?P<kept>(?:(?i:seed phrase|recovery phrase|mnemonic(?: phrase)?)|助记词){_IS})"
        r"(?:[a-z]{3,8} ){11,23}[a-z]{3,8}\b",
    ),
    SecretKind("password", ("passw", "passphrase"), _named(_PHRASE, 8, inside=_SIGN)),
    SecretKind("password", ("密码", "密碼", "口令"), _named(_CHINESE_PHRASE, 8, inside=_SIGN)),
    SecretKind("secret", ("secret",), _named(_word("secret"), 8)),
    SecretKind("secret", ("key",), _named(_KEY, 8)),
    SecretKind("secret", ("token",), _named(_TOKEN, 8)),
    SecretKind("secret", ("token",), _named(_BARE, 16, operator=r"[=:：]\s{0,2}(?:\\{0,3}[\"'])?")),
    SecretKind("secret", ("密钥", "密鑰", "私钥", "令牌"), _named(_CHINESE_KEY, 8)),
    SecretKind(
        "secret",
        ("_key=", "_token=", "_pass=", "_pwd=", "_secret=", "_credential"),
        _named(_UPPER, 8, inside=_MIXED, operator=r"={1,3}[\"']?"),
    ),
    SecretKind(
        "secret",
        ("token ", "secret ", "-key "),
        _named(
            r"--[A-Za-z0-9-]{0,30}(?:token|secret|api-key|access-key)", 8, inside=_MIXED, operator=r" (?:\\{0,3}[\"'])?"
        ),
    ),
    SecretKind(
        "password",
        ("--pass",),
        _named(r"--pass(?:word|wd|phrase)?", 6, inside=_SIGN, operator=r" (?:\\{0,3}[\"'])?"),
    ),
)  # fmt: skip


def _needles() -> tuple[str, ...]:
    hints = dict.fromkeys(hint if hint.isascii() else hint[0] for kind in KINDS for hint in kind.hints)
    return tuple(hint for hint in hints if not any(other in hint for other in hints if other != hint))


HINTS: Final = _needles()
"""A text with a hint of any kind has one of these."""

_RARE: Final = "_=/:-.zjxqvwk"  # signs that most texts lack


def _guarded() -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for hint in filter(str.isascii, HINTS):
        guard = next((sign for sign in _RARE if sign in hint), "")
        found.setdefault(guard, []).append(hint)
    return tuple((guard, tuple(hints)) for guard, hints in found.items() if guard)


GUARDED: Final = _guarded()
"""The hints that have a rare sign, by that sign: where it is not, none of them is."""
PLAIN: Final = tuple(hint for hint in HINTS if hint.isascii() and not any(hint in hints for _, hints in GUARDED))
WIDE: Final = tuple(hint for hint in HINTS if not hint.isascii())
