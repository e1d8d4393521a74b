"""The address of a store on NATS: `nats`, or `nats://[USER:PASSWORD@ | TOKEN@]HOST:PORT[/BUCKET][?OPTIONS]`."""

from __future__ import annotations

import os
import re
import ssl
import stat
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded

BUCKET: Final = "paos"
OPTIONS: Final = ("ca", "cert", "creds", "domain", "key", "monitor", "replicas", "ttl")
LEASE_TTL_S: Final = 15.0  # the gap of a failover is 5 to 7 s, and a lease must outlive it
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCHEMES: Final = ("nats", "tls")


class StoreAddress(NamedTuple):
    """`servers`: where they are, without names and passwords; "": a server of our own.

    `creds`: a file of credentials that the server's operator gave to this host. `ca`, `cert`, `key`: PEM files of TLS.
    `domain`: the JetStream domain, of a leaf node its own. `monitor`: http://HOST:PORT of the server's monitoring,
    where it says whether it is durable. `ttl_s`: how long a lease lives without its holder. `below`: a part of the
    bucket, with leases of its own, in place of the whole.
    """

    servers: str = ""
    bucket: str = BUCKET
    user: str = ""
    password: str = ""
    token: str = ""
    creds: str = ""
    ca: str = ""
    cert: str = ""
    key: str = ""
    domain: str = ""
    monitor: str = ""
    replicas: int = 1
    ttl_s: float = LEASE_TTL_S
    below: str = ""

    @property
    def tls(self) -> ssl.SSLContext | None:
        if not (self.ca or self.cert or self.servers.startswith("tls:")):
            return None
        context = ssl.create_default_context(cafile=self.ca or None)
        if self.cert:
            context.load_cert_chain(self.cert, self.key or None)
        return context


def parse_address(text: str) -> StoreAddress:
    """Raises `BadInput` naming what is wrong, also for a file of credentials that others may read."""
    if text == "nats":
        return StoreAddress()
    parts = urlsplit(text)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise _bad(coded("engine.no_address", text=text), coded("engine.address_form"))
    bucket = parts.path.strip("/") or BUCKET
    if not _NAME.fullmatch(bucket):
        raise _bad(coded("engine.bad_bucket", name=bucket), coded("engine.bucket_form"))
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in given:
        if name not in OPTIONS:
            raise _bad(coded("engine.no_option", name=name), coded("common.one_of", names=[*OPTIONS]))
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    files = {name: os.path.expanduser(given.get(name, "")) for name in ("ca", "cert", "creds", "key")}
    for name, path in files.items():
        if path:
            _readable(path, secret=name in ("creds", "key"))
    return StoreAddress(
        servers=f"{parts.scheme}://{parts.hostname if ':' not in parts.hostname else f'[{parts.hostname}]'}"
        f":{parts.port or 4222}",
        bucket=bucket,
        user=user if password else "",
        password=password,
        token="" if password else user,
        domain=given.get("domain", ""),
        monitor=given.get("monitor", ""),
        replicas=int(_number(given, "replicas", 1, 5, 1)),
        ttl_s=_number(given, "ttl", 1, 3600, LEASE_TTL_S),
        **files,
    )


def _number(given: dict[str, str], name: str, low: int, high: int, default: float) -> float:
    text = given.get(name, "")
    if not text:
        return default
    if not text.isdigit() or not low <= int(text) <= high:
        raise _bad(f"{name}={text}", coded("engine.whole_number", low=low, high=high))
    return float(text)


def _readable(path: str, *, secret: bool) -> None:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        raise NotFound(coded("tree.no_file"), path=path, op="open a store") from None
    if secret and stat.S_IMODE(mode) & 0o077:
        found = coded("file.mode", mode=stat.S_IMODE(mode))
        raise BadInput(found, path=path, op="open a store", expected=coded("file.mode_0600"), fix=f"chmod 600 {path}")


def _bad(found: str, expected: str) -> BadInput:
    return BadInput(found, path="--store", op="open a store", expected=expected)
