"""Secrets marked out of what is about to be written: known kinds of keys, passwords in addresses and assignments.

One cheap look at every text decides whether the kinds are tried at all. A secret becomes `[redacted:KIND]`; nothing
else is touched, and a text without secrets comes back as the same object.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import re

T = TypeVar("T")

KINDS: Final = (
    (
        "private-key",
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)",
    ),
    ("anthropic-key", ("sk-ant",), r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    ("openai-key", ("sk-",), r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    ("stripe-key", ("k_live", "k_test"), r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    (
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    ("gitlab-token", ("glpat-",), r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("slack-token", ("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("slack-hook", ("hooks.slack",), r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    ("aws-key", ("akia", "asia", "abia", "acca"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("google-key", ("aiza",), r"\bAIza[A-Za-z0-9_-]{35}"),
    ("google-token", ("ya29.",), r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("npm-token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-token", ("pypi-",), r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("huggingface-token", ("hf_",), r"\bhf_[A-Za-z0-9]{30,}"),
    ("sendgrid-key", ("sg.",), r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("telegram-token", (":aa",), r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("jwt", ("eyj",), r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("url-password", ("://",), r"(?<=://)[^\s/:@\"']{0,64}:[^\s/@\"']{1,200}(?=@)"),
    ("bearer", ("bearer ", "basic "), r"(?i:(?<=\bbearer )|(?<=\bbasic ))[A-Za-z0-9._~+/-]{16,}=*"),
    (
        "assigned-secret",
        ("passw", "passphrase", "secret", "key", "token", "密码", "口令", "密钥"),
        r"(?i)(?<![A-Za-z0-9])((?:[A-Za-z0-9]+[_-])*(?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|"
        r"auth[_-]?token|access[_-]?token|secret[_-]?key|client[_-]?secret|private[_-]?token|token|密码|口令|密钥)"
        r"\\?[\"']?\s?[=:：]\s?\\?[\"']?)(?![\[<${])(?=[^\s\"'\\,;]*[0-9])(?=[^\s\"'\\,;]*[A-Za-z])"
        r"([^\s\"'\\,;<>]{8,})",
    ),
)  # fmt: skip
_HINTS: Final = tuple(hint for _, hints, _ in KINDS for hint in hints)


@cache
def _kinds() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    import re

    return tuple((name, hints, re.compile(pattern, re.DOTALL)) for name, hints, pattern in KINDS)


def hinted(text: str, hints: tuple[str, ...] = _HINTS) -> bool:
    """Plain searches of plain words: much faster than one pattern of all of them."""
    for hint in hints:  # noqa: SIM110  # a generator would cost more than the searches
        if hint in text:
            return True
    return False


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without secrets, and the kinds that were found."""
    lower = text.lower()
    if not hinted(lower):
        return text, ()
    found = []
    for name, hints, pattern in _kinds():
        if not hinted(lower, hints):
            continue
        mark = f"[redacted:{name}]"
        new, count = pattern.subn(rf"\g<1>{mark}" if pattern.groups else mark, text)
        if count:
            found.append(name)
            text = new
    return text, tuple(found)


def redact_bytes(data: bytes) -> bytes:
    """A UTF-8 text without secrets; the same object when there is none, and for bytes that are no text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    new, found = redact(text)
    return new.encode() if found else data


def redact_value(value: T) -> T:
    """A JSON value whose strings hold no secrets; the same object when none did. Keys stay as they are."""
    strings: list[str] = []
    _gather(value, strings)
    if not hinted("\n".join(strings).lower()):
        return value
    return _walk(value)  # type: ignore[no-any-return]  # the same shape, other strings


def _gather(value: Any, into: list[str]) -> None:
    kind = type(value)
    if kind is str:
        into.append(value)
    elif kind is dict:
        for key, item in value.items():
            if type(key) is str:
                into.append(key)
            if type(item) is str:
                into.append(item)
            else:
                _gather(item, into)
    elif kind is list or kind is tuple:
        for item in value:
            _gather(item, into)


def _walk(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return redact(value)[0]
    if kind is dict:
        new = {key: _named(key, item) for key, item in value.items()}
        return new if any(new[key] is not item for key, item in value.items()) else value
    if kind is list or kind is tuple:
        items = [_walk(item) for item in value]
        return kind(items) if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def _named(key: Any, item: Any) -> Any:
    """A value whose key says that it is a secret is looked at as an assignment."""
    if type(item) is str and type(key) is str and item and hinted(key.lower()):
        text = f"{key}={item}"
        new, found = redact(text)
        return new[len(key) + 1 :] if found and new.startswith(f"{key}=") else item
    return _walk(item)
