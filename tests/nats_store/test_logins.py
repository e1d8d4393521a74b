"""What goes to a server before it is known to be the right one, and what is said of one that refuses."""

import re
import socket
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from worldfs.base.errors import MissingRequirement, StorageError
from worldfs.interfaces.cli.standby import may_wait
from worldfs.plugins.nats_store import jetstream_connection
from worldfs.plugins.nats_store.nats_client import NatsClient
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.plugins.nats_store.server_binary import find_server
from worldfs.plugins.nats_store.server_check import sync_interval_s
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S, until

from .plain_server import PlainServer

pytestmark = pytest.mark.usefixtures("nats_server")  # skipped by name where there is none
SECRET = "top-secret-token"
PACKAGE = Path(jetstream_connection.__file__).parent


@pytest.mark.parametrize("login", [f"{SECRET}@", f"host:{SECRET}@", ""], ids=["token", "password", "none"])
@pytest.mark.parametrize("demand", ["tls", "nats"])
@pytest.mark.parametrize("said", [{}, {"tls_available": True}, {"tls_required": False, "auth_required": True}], ids=str)
def test_where_tls_is_demanded_a_server_without_it_hears_nothing(login, demand, said):
    ca = "" if demand == "tls" else f"?ca={_authorities()}"
    with PlainServer(**said) as server, pytest.raises(MissingRequirement) as refused:
        NatsStore(f"{demand}://{login}127.0.0.1:{server.port}/fleet{ca}")
    assert server.met and server.heard == b""
    assert refused.value.code == "ENGINE_NO_TLS" and SECRET not in str(refused.value)
    assert not may_wait(refused.value)


def _authorities():
    """Any file of certificates: none of them is asked for."""
    import ssl

    found = ssl.get_default_verify_paths().cafile
    if found is None:
        pytest.skip("no file of certificate authorities here")
    return found


@contextmanager
def _server(place, token, port):
    config = place / "nats.conf"
    config.write_text(
        f'host: "127.0.0.1"\nport: {port}\nauthorization {{ token: "{token}" }}\n'
        f'jetstream {{ store_dir: "{place}/js", sync_interval: always }}\n'
    )
    with subprocess.Popen([find_server({}), "--config", str(config)], stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: _answers(port))
            yield
        finally:
            process.terminate()


def _answers(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def test_a_wrong_token_is_told_as_that_at_the_start_and_when_it_has_changed_since(tmp_path, monkeypatch):
    port = free_port()
    with _server(tmp_path, SECRET, port):
        for login in ("guessed@", "host:guessed@", ""):
            with pytest.raises(MissingRequirement) as refused:
                NatsStore(f"nats://{login}127.0.0.1:{port}/fleet")
            assert refused.value.code == "ENGINE_LOGIN" and "guessed" not in str(refused.value)
            assert not may_wait(refused.value)
        with pytest.raises(MissingRequirement) as refused:  # one of the servers is away besides
            NatsStore(f"nats://guessed@127.0.0.1:{port},127.0.0.1:{free_port()}/fleet")
        assert refused.value.code == "ENGINE_LOGIN"
        store = NatsStore(f"nats://{SECRET}@127.0.0.1:{port}/fleet")
        store.put("a", b"1")
    try:
        monkeypatch.setattr(jetstream_connection, "PATIENCE_S", 3.0)
        with _server(tmp_path, "another", port), pytest.raises(StorageError) as lost:
            store.put("a", b"2")
        assert lost.value.code == "ENGINE_LOGIN"
        monkeypatch.setattr(jetstream_connection, "PATIENCE_S", PATIENCE_S)
        with _server(tmp_path, SECRET, port):
            assert store.put("a", b"3")
    finally:
        store.close()


# -- what is private of the library --------------------------------------------------------------------------------


def test_what_is_private_of_the_library_is_used_in_one_module_and_is_there():
    private = re.compile(r"\b(?:client|_client|transport|_transport)\._(\w+)")
    for path in PACKAGE.glob("*.py"):
        if path.name != "nats_client.py":
            assert not private.findall(path.read_text()), path.name
    from nats.aio.client import Client
    from nats.aio.transport import TcpTransport

    used = set(re.findall(r"\b(?:self|super\(\))\._(\w+)", (PACKAGE / "nats_client.py").read_text()))
    fresh = {name.removeprefix("_") for name in (*vars(Client()), *dir(Client))}
    # set by `connect`, and declared for type checkers where they are not there before
    assert used - fresh - {"encrypted"} <= {"server_info", "resp_map"}, used - fresh
    assert "_io_writer" in vars(TcpTransport())
    assert NatsClient._connect_command is not Client._connect_command


def test_the_monitoring_of_a_server_is_asked_at_its_own_address_alone():
    asked = []

    class Moved(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Moved) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(OSError):
            sync_interval_s(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert asked == ["/jsz"]
