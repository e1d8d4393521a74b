"""The address of a store on NATS: `nats`, or `nats://[USER:PASSWORD@ | TOKEN@]HOST:PORT,…[/BUCKET][?OPTIONS]`.

It is taken apart by the rules of this module: what `urlsplit` does with brackets differs between versions of Python.
"""

from __future__ import annotations

import os
import re
import shlex
import ssl
import stat
from ipaddress import IPv6Address
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.given_file import check_given_file
from worldfs.base.messages import coded

BUCKET: Final = "paos"
OPTIONS: Final = ("ca", "cert", "creds", "domain", "key", "monitor", "replicas", "ttl")
LEASE_TTL_S: Final = 15.0  # the gap of a failover is 5 to 7 s, and a lease must outlive it
PORT: Final = 4222
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCHEMES: Final = ("nats", "tls")
_SERVER: Final = re.compile(r"(?P<host>[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>.*))?")


class StoreAddress(NamedTuple):
    """`servers`: where those of one group are, SCHEME://HOST:PORT,HOST:PORT, without names and passwords; "": a server
    of our own.

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

    def __repr__(self) -> str:
        hidden = {name: "***" for name in ("password", "token") if getattr(self, name)}
        said = self._asdict() | hidden | {"monitor": shown_address(self.monitor)}
        return f"StoreAddress({', '.join(f'{name}={value!r}' for name, value in said.items() if value)})"

    @property
    def urls(self) -> list[str]:
        """One for each server."""
        scheme, _, hosts = self.servers.partition("://")
        return [f"{scheme}://{host}" for host in hosts.split(",")]

    @property
    def tls(self) -> ssl.SSLContext | None:
        if not (self.ca or self.cert or self.servers.startswith("tls:")):
            return None
        for file in filter(None, (self.ca, self.cert, self.key)):
            check_given_file(file, op="open a store")
        context = ssl.create_default_context(cafile=self.ca or None)
        if self.cert:
            context.load_cert_chain(self.cert, self.key or None)
        return context


def parse_address(text: str) -> StoreAddress:
    """Raises `BadInput` naming what is wrong, also for a file of credentials that others may read."""
    if text == "nats":
        return StoreAddress()
    scheme, _, rest = text.partition("://")
    where, _, query = rest.partition("?")
    authority, slash, path = where.partition("/")
    bucket = path.strip("/") if slash else BUCKET
    # an @ further on is part of a password whose / or ? is not written as %2F or %3F
    late = "@" in path or any("@" in option for option in query.split("&") if not option.startswith("monitor="))
    if scheme not in _SCHEMES or not authority or late or re.search(r"\s", text):
        raise _bad(coded("engine.no_address", text=shown_address(text)), coded("engine.address_form"))
    login, servers = _servers(authority, text)
    if not _NAME.fullmatch(bucket):
        raise _bad(coded("engine.bad_bucket", name=bucket), coded("engine.bucket_form"))
    given = dict(parse_qsl(query, keep_blank_values=True))
    for name in given:
        if name not in OPTIONS:
            raise _bad(coded("engine.no_option", name=shown_address(name)), coded("common.one_of", names=[*OPTIONS]))
    user, _, password = map(unquote, login.partition(":"))
    files = {name: os.path.expanduser(given.get(name, "")) for name in ("ca", "cert", "creds", "key")}
    for name, path in files.items():
        if path:
            _readable(path, secret=name in ("creds", "key"))
        elif name in given:  # to leave it out would be to go on without what it is for
            raise _bad(f"{name}=", coded("engine.file_named", name=name))
    if files["key"] and not files["cert"]:
        raise _bad(coded("engine.key_alone"), coded("engine.file_named", name="cert"))
    return StoreAddress(
        servers=f"{scheme}://{','.join(servers)}",
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


def shown_address(text: str) -> str:
    """What a message may say of an address, also of a broken one: all that may be a login is hidden."""
    scheme, separator, rest = text.partition("://") if "://" in text else ("", "", text)
    _, at, where = rest.rpartition("@")
    return f"{scheme}{separator}{'***@' if at else ''}{where}"


def _servers(authority: str, text: str) -> tuple[str, list[str]]:
    """The login of all of them, and each as HOST:PORT."""
    logins, servers = [], []
    for part in authority.split(","):
        login, _, server = part.rpartition("@")
        logins.append(login)
        servers.append(_server(server, text))
    if any(login and login != logins[0] for login in logins):
        raise _bad(coded("engine.two_logins", text=shown_address(text)), coded("engine.one_login"))
    if len(set(servers)) < len(servers):
        raise _bad(coded("engine.twice", text=shown_address(text)), coded("engine.address_form"))
    return logins[0], servers


def _server(text: str, address: str) -> str:
    """HOST:PORT of one, or of [IPV6]:PORT. What is said of another one names the whole address without its login."""
    found = _SERVER.fullmatch(text)
    if found is None or (found["host"].startswith("[") and not _is_ipv6(found["host"][1:-1])):
        raise _bad(coded("engine.bad_host", text=shown_address(address)), coded("engine.address_form"))
    port = str(PORT) if found["port"] is None else found["port"]
    if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        raise _bad(coded("engine.bad_port", text=shown_address(address)), coded("engine.port_form"))
    return f"{found['host'].lower()}:{int(port)}"


def _is_ipv6(text: str) -> bool:
    try:
        return bool(IPv6Address(text).compressed)
    except ValueError:
        return False


def _number(given: dict[str, str], name: str, low: int, high: int, default: float) -> float:
    text = given.get(name, "")
    if not text:
        return default
    if not re.fullmatch("[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise _bad(f"{name}={shown_address(text)}", coded("engine.whole_number", low=low, high=high))
    return float(text)


def _readable(path: str, *, secret: bool) -> None:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        raise NotFound(coded("tree.no_file"), path=path, op="open a store") from None
    if secret and stat.S_IMODE(mode) & 0o077:
        found = coded("file.mode", mode=stat.S_IMODE(mode))
        raise BadInput(
            found, path=path, op="open a store", expected=coded("file.mode_0600"), fix=f"chmod 600 {shlex.quote(path)}"
        )


def _bad(found: str, expected: str) -> BadInput:
    return BadInput(found, path="--store", op="open a store", expected=expected)
