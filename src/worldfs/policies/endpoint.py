"""A policy's address, read from a skill: scheme, host, port, path, and its secret."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec
from worldfs.base.secret_file import header_secret, read_secret_file

from .policy_client import PolicyError

MAX_BYTES = 64 * 1024 * 1024  # of one answer, if the skill sets no limit (policy_client.max_bytes)


@dataclass(frozen=True, slots=True)
class PolicyEndpoint:
    scheme: str
    host: str
    port: int
    path: str = "/"

    @property
    def loopback(self) -> bool:
        """This machine, by a name or address that can mean nothing else."""
        return is_loopback(self.host)

    @property
    def authority(self) -> str:
        """`host:port`, an IPv6 host in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def endpoint(spec: PolicySpec, schemes: Mapping[str, int], path: str = "/") -> PolicyEndpoint:
    """`policy_client.endpoint`; `schemes`: those of the protocol with their usual ports, the first is the default.

    Raises `PolicyError` (POLICY_CLIENT) for anything else, saying how it is written.
    """
    first = next(iter(schemes))
    text = spec.endpoint.strip()
    example = f"{first}://localhost:{schemes[first]}{path}"
    try:
        url = urlsplit(text if "://" in text else f"{first}://{text}")
        port, host = url.port, url.hostname or ""
    except ValueError:
        port, host, url = None, "", urlsplit("")
    if not text or not host or url.scheme not in schemes or url.username or any(c.isspace() for c in text):
        raise PolicyError(
            coded("session.endpoint", text=text) if text else coded("session.no_endpoint"),
            path="SKILLS.md policy_client.endpoint",
            expected=f"{' or '.join(schemes)}://HOST:PORT",
            fix=coded("session.write_like", example=example),
            code="POLICY_CLIENT",
        )
    target = (url.path or path) + (f"?{url.query}" if url.query else "")
    return PolicyEndpoint(url.scheme, host, port or schemes[url.scheme], target)


def secret(spec: PolicySpec) -> str:
    """The server's secret: `policy_client.token_file` (readable by its owner alone) or `token_env`; "" for none.

    It is never in SKILLS.md itself: agents read that.
    """
    for word in ("token", "api_key", "api_token"):
        if word in spec.extra:
            raise _secret(f"a secret under `{word}`", "token_file: PATH or token_env: NAME; agents read SKILLS.md")
    if name := spec.extra.get("token_env"):
        value = os.environ.get(str(name), "")
        if not value:
            raise _secret(f"no {name} in the environment", "the secret in that variable")
        try:
            return header_secret(value.strip(), str(name))
        except BadInput as error:
            raise _secret(error.found, error.expected) from None
    if file := spec.extra.get("token_file"):
        return read_secret(str(file))
    return ""


def read_secret(file: str) -> str:
    """The secret in a file of mode 0600. Raises `PolicyError` for one that others may read."""
    try:
        return header_secret(read_secret_file(Path(file).expanduser(), file), file)
    except BadInput as error:
        raise _secret(error.found, error.expected, error.fix) from None


def _secret(found: str, expected: str, fix: str = "") -> PolicyError:
    where = "SKILLS.md policy_client"
    return PolicyError(
        found, path=where, expected=expected, fix=fix or coded("session.correct_token"), code="POLICY_CLIENT"
    )


def max_answer_bytes(spec: PolicySpec) -> int:
    """The largest accepted answer."""
    value = spec.extra.get("max_bytes")
    return value if isinstance(value, int) and value > 0 else MAX_BYTES


def endpoint_text(spec: PolicySpec) -> str:
    """The address of a skill's policy, for messages."""
    return spec.endpoint or spec.checkpoint or spec.type
