"""The address of a store on NATS: what is read, what is refused, and that no message shows its password."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("nats", reason="the client of NATS is not installed (worldfs[fleet])")

from nats.aio.client import Client

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, NotFound
from worldfs.interfaces.cli.main import main
from worldfs.plugins.nats_store.server_check import server_findings
from worldfs.plugins.nats_store.store_address import parse_address
from worldfs.storage.lease import this_holder
from worldfs.world.home import Home
from worldfs.world.onboard import onboard


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://host", "no address"),
        ("nats://", "no address"),
        ("nats:///fleet", "no address"),
        ("host:4222/fleet", "no address"),
        ("nats://a b/fleet", "no address"),
        ("nats://host/a.b", "bucket 'a.b'"),
        ("nats://host/a/b", "bucket 'a/b'"),
        ("nats://host/", "bucket ''"),
        ("nats://host/#part", "bucket '#part'"),
        ("nats://host:x", "bad port"),
        ("nats://host:", "bad port"),
        ("nats://host:0/fleet", "bad port"),
        ("nats://host:65536/fleet", "bad port"),
        ("nats://host:４２/fleet", "bad port"),
        ("nats://host:42:42/fleet", "bad port"),
        ("nats://:4222/fleet", "host name"),
        ("nats://a,,b/fleet", "host name"),
        ("nats://a,/fleet", "host name"),
        ("nats://::1/fleet", "host name"),
        ("nats://[::1/fleet", "host name"),
        ("nats://::1]:4222/fleet", "host name"),
        ("nats://[::1]x:4222/fleet", "host name"),
        ("nats://[::z]:4222/fleet", "host name"),
        ("nats://[127.0.0.1]/fleet", "host name"),
        ("nats://[]/fleet", "host name"),
        ("nats://a:1,A:1/fleet", "twice"),
        ("nats://a,a:4222/fleet", "twice"),
        ("nats://ada:p@a,bea:p@b/fleet", "different logins"),
        ("nats://a,ada:p@b/fleet", "different logins"),
        ("nats://host?color=red", "'color'"),
        ("nats://host?ca=", "ca=FILE"),
        ("tls://host?cert=&key=", "cert=FILE"),
        ("tls://host?creds=", "creds=FILE"),
        ("nats://host?replicas=9", "replicas=9"),
        ("nats://host?ttl=soon", "ttl=soon"),
        ("nats://host?ttl=²", "ttl=²"),
        ("nats://host?ttl=１５", "ttl=１５"),
        ("nats://host?ttl=" + 5000 * "9", "ttl=99"),  # more than `int` takes
        ("nats://host?creds=/etc/a@b", "no address"),
    ],
)
def test_an_address_that_is_none_is_refused_by_what_is_wrong(address, said):
    with pytest.raises(BadInput, match=said):
        parse_address(address)


@pytest.mark.parametrize(
    ("address", "servers", "urls"),
    [
        ("nats://Hall-1", "nats://hall-1:4222", ["nats://hall-1:4222"]),
        ("tls://a:1,b/fleet", "tls://a:1,b:4222", ["tls://a:1", "tls://b:4222"]),
        ("nats://[::1],[2001:DB8::7]:42,c/f?ttl=3", "nats://[::1]:4222,[2001:db8::7]:42,c:4222",
         ["nats://[::1]:4222", "nats://[2001:db8::7]:42", "nats://c:4222"]),
        ("nats://ada:p@a,ada:p@b,c/fleet", "nats://a:4222,b:4222,c:4222",
         ["nats://a:4222", "nats://b:4222", "nats://c:4222"]),
    ],
)  # fmt: skip
def test_an_address_names_one_server_or_several(address, servers, urls):
    where = parse_address(address)
    assert where.servers == servers and where.urls == urls
    assert (where.user, where.password) == (("ada", "p") if "ada" in address else ("", ""))


@given(text=st.text(alphabet="nats:/@,[]?&=%#. 1ab€", max_size=30), scheme=st.sampled_from(["", "nats://", "tls://"]))
def test_an_address_is_read_or_refused_and_nothing_else_happens(text, scheme):
    with suppress(BadInput, NotFound):
        where = parse_address(scheme + text)
        assert all(Client._parse_server_uri(url).port for url in where.urls if where.servers)


SECRET = "s3cr€t"
LEAKY = [
    "nats://ada:{0}@host:x/fleet", "nats://ada:{0}@/fleet", "nats://{0}@host/a.b", "nats://{0}@host?color=1",
    "nats://ada:p/{0}@host/fleet", "nats://ada:p?{0}@host/fleet", "nats://ada:1?{0}@host/fleet",
    "nats://ada:1?ttl={0}@host/fleet", "nats://ada:a,{0}@host/fleet", "nats://ada:p {0}@host/fleet",
    "nats://ada:{0}@a,bea:{0}@b/fleet", "nats://{0}@a,a/fleet", "http://ada:{0}@host/fleet", "ada:{0}@host:4222/fleet",
    "nats://ada:a@{0}@host:x/fleet", "nats://pa?{0}=x@host", "nats://pa?{0}&x@host", "nats://pa?ttl={0}&creds=x@host",
]  # fmt: skip


@pytest.mark.parametrize("address", LEAKY)
def test_no_refusal_of_an_address_shows_its_password(address):
    with pytest.raises(BadInput) as refused:
        parse_address(address.format(SECRET))
    said = json.dumps(refused.value.as_dict(), ensure_ascii=False) + str(refused.value) + repr(refused.value)
    assert SECRET not in said


@pytest.mark.parametrize("login", ["ada:{0}", "{0}", "ada:@{0}"])
def test_an_address_shows_no_password_and_a_lease_no_command_line_with_one(login, monkeypatch):
    text = f"nats://{login.format(SECRET)}@host/fleet?monitor=ftp://ada:{SECRET}@host"
    where = parse_address(text)
    assert SECRET in (where.password, where.token, where.password[1:])
    assert SECRET not in repr(where) and "nats://host:4222" in repr(where) and "***" in repr(where)
    monkeypatch.setattr("sys.orig_argv", ["paos", "up", "--store", text])
    assert SECRET not in str(this_holder("serve", SystemClock()))
    (unknown, *_) = server_findings(where, "2.12.3", 3, own=False)
    assert SECRET not in str(unknown)


@pytest.mark.parametrize(
    "address", ["nats://ada:{0}@host:x", "nats://{0}@host/", "nats://a:{0}@host,b:{0}@there/fleet"]
)
@pytest.mark.parametrize("command", [["up", "--store"], ["status"], ["check"]])
def test_a_command_with_a_broken_address_is_refused_in_one_line(tmp_path, monkeypatch, capfd, address, command):
    onboard(Home(tmp_path))
    if command[-1] == "--store":
        command = [*command, address.format(SECRET)]
    else:
        monkeypatch.setenv("PAOS_STORE", address.format(SECRET))
    assert main(["--home", str(tmp_path), *command]) == 2
    said = "".join(capfd.readouterr())
    assert SECRET not in said and "Traceback" not in said
    assert "***@" in said or "bucket" in said


def test_a_file_of_credentials_that_others_may_read_is_refused(tmp_path):
    creds = tmp_path / "host.creds"
    creds.write_text("secret")
    creds.chmod(0o644)
    with pytest.raises(BadInput, match="0644") as refused:
        parse_address(f"tls://host/fleet?creds={creds}")
    assert refused.value.fix == f"chmod 600 {creds}"
    creds.chmod(0o600)
    where = parse_address(f"tls://ada:pa%40ss@host/fleet?creds={creds}&replicas=3&ttl=30&domain=arm")
    assert (where.servers, where.bucket, where.user, where.password) == ("tls://host:4222", "fleet", "ada", "pa@ss")
    assert (where.replicas, where.ttl_s, where.domain, where.creds) == (3, 30.0, "arm", str(creds))
    with pytest.raises(NotFound):
        parse_address("nats://host?ca=/nowhere.pem")
    with pytest.raises(BadInput, match="cert=FILE"):
        parse_address(f"tls://host?key={creds}")
