"""A real server with TLS and a login for each host: with certificates that are made here."""

import ipaddress
import os
import socket
import subprocess
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from worldfs.base.errors import BadInput, MissingRequirement, StorageError
from worldfs.plugins.nats_store import jetstream_connection
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.plugins.nats_store.server_binary import find_server
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S, until

pytestmark = pytest.mark.usefixtures("nats_server")  # skipped by name where there is none
x509 = pytest.importorskip("cryptography.x509", reason="certificates are made with `cryptography`")

from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

from .plain_server import PlainServer, Relay  # noqa: E402

PASSWORD = "p:a@ss"
CONFIG = """
host: "127.0.0.1"
port: {port}
jetstream {{ store_dir: "{place}", sync_interval: always }}
tls {{ cert_file: "{place}/server.pem", key_file: "{place}/server.key", ca_file: "{place}/ca.pem", verify: true }}
authorization {{ users: [
  {{ user: host_a, password: "{password}" }}
  {{ user: host_b, password: "{password}", permissions {{
    publish {{ allow: ["$JS.API.>", "_INBOX.>", "$KV.fleet.>", "$PARTS.fleet.>"], deny: ["$KV.fleet.secret=2Emd"] }}
    subscribe {{ allow: [">"] }}
  }} }}
] }}
"""


USES = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")  # fmt: skip


def _issue(place, name, authority=None):
    """A certificate of `authority`, or one of its own: its key and itself, written to NAME.key and NAME.pem."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signer, issuer = authority or (key, subject)
    use = "digital_signature" if authority else "key_cert_sign"
    made = (
        x509.CertificateBuilder()
        .subject_name(subject).issuer_name(issuer).public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
        # What RFC 5280 (4.2.1) asks of a chain; Python 3.13 verifies strictly.
        .add_extension(x509.KeyUsage(**{each: each == use for each in USES}), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(signer, hashes.SHA256())
    )  # fmt: skip
    plain = serialization.NoEncryption()
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file = os.open(place / f"{name}.key", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(file, key.private_bytes(pem, form, plain))
    os.close(file)
    (place / f"{name}.pem").write_bytes(made.public_bytes(pem))
    return key, subject


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """The directory of certificates, and the port of a server that asks every host for its own."""
    place = tmp_path_factory.mktemp("tls")
    authority = _issue(place, "ca")
    _issue(place, "stranger_ca")
    for name in ("server", "host_a", "host_b"):
        _issue(place, name, authority)
    port = free_port()
    (place / "nats.conf").write_text(CONFIG.format(port=port, place=place, password=PASSWORD))
    command = [find_server({}), "--config", str(place / "nats.conf")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server, ExitStack() as stack:
        stack.callback(server.terminate)
        until(lambda: _answers(port))
        yield place, port


def _answers(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _address(secured, host, *, scheme="tls", ca="ca", password=PASSWORD, own=True):
    place, port = secured
    cert = f"&cert={place}/{host}.pem&key={place}/{host}.key" if own else ""
    return f"{scheme}://{host}:{quote(password, safe='')}@127.0.0.1:{port}/fleet?ca={place}/{ca}.pem{cert}"


def test_two_hosts_with_a_certificate_and_a_login_each_share_a_store(secured):
    one, other = NatsStore(_address(secured, "host_a")), NatsStore(_address(secured, "host_b"))
    try:
        one.put("TASK.md", b"by a")
        assert other.get("TASK.md").data == b"by a"
        with other.lease("a", "b"):
            assert one.lease("a").holder()["purpose"] == "b"
    finally:
        one.close()
        other.close()


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"password": "guessed"}, "ENGINE_LOGIN"),
        ({"ca": "stranger_ca"}, "ENGINE_UNREACHABLE"),
        ({"own": False}, "ENGINE_UNREACHABLE"),
    ],
    ids=["login", "authority", "certificate"],
)
def test_who_is_not_who_he_says_gets_nothing_and_is_told_so(secured, wrong, code):
    with pytest.raises(MissingRequirement) as refused:
        NatsStore(_address(secured, "host_a", **wrong))
    assert refused.value.code == code
    assert PASSWORD not in str(refused.value) and "guessed" not in str(refused.value)


def test_three_copies_of_a_server_that_is_alone_are_refused_and_nothing_is_made(nats_address):
    with pytest.raises(BadInput, match="replicas=3") as refused:
        NatsStore(nats_address._replace(replicas=3))
    assert "replicas=1" in refused.value.fix
    NatsStore(nats_address).close()


def test_a_server_without_tls_that_takes_the_place_of_one_with_it_hears_nothing(secured, monkeypatch):
    """A connection that was lost is opened again to whoever listens there now."""
    place, port = secured
    monkeypatch.setattr(jetstream_connection, "PATIENCE_S", 3.0)
    with Relay(port) as relay:
        store = NatsStore(_address((place, relay.port), "host_a"))
        try:
            store.put("a", b"1")
            with PlainServer() as plain:
                relay.lead_to(plain.port)
                with pytest.raises(StorageError) as lost:
                    store.put("a", b"2")
                assert plain.met and plain.heard == b"" and lost.value.code == "ENGINE_NO_TLS"
            relay.lead_to(port)
            monkeypatch.setattr(jetstream_connection, "PATIENCE_S", PATIENCE_S)
            assert store.put("a", b"3")
        finally:
            store.close()
