"""`paos serve` and `paos up --serve`, as processes."""

import asyncio
import json
import shutil
import signal
import ssl
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.command_run import run_command
from websockets.asyncio.client import connect

from worldfs.testing.bare_client import BareClient
from worldfs.testing.waiting import PATIENCE_S

PAOS = [sys.executable, "-m", "worldfs.interfaces.cli.main"]

STILL = [sys.executable, "-c", """
import sys
from worldfs.interfaces.cli import driver_factories, main
from worldfs.testing.null_driver import NullDriver
driver_factories.factories = lambda *given, **named: {"simulation": lambda seat: NullDriver()}
sys.exit(main.main(sys.argv[1:]))
"""]  # fmt: skip


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PAOS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3] / "src"))  # this tree, whatever is installed
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@contextmanager
def paos(*words, command=PAOS):
    """A process that said in JSON that it serves; that line."""
    process = subprocess.Popen([*command, "--json", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        said = {}
        while said.get("event") != "serve":
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said = json.loads(line)
            assert "error" not in said, said
        yield process, said
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def ask(said, home, path="/README.md", tls=None):
    """A file of the tree, read with the admin's token."""

    async def life():
        token = json.loads((home / "auth_tokens.json").read_text())["admin_token"]
        headers = {"Authorization": f"Bearer {token}"}
        async with connect(said["url"], additional_headers=headers, compression=None, ssl=tls) as socket:
            plug = BareClient(socket)
            await plug.greet()
            await plug.walk(path, 2)
            return (await plug.ask("read", fid=2))["payload"]["n"]

    return asyncio.run(life())


def test_it_tells_its_port_serves_and_ends_when_asked(home):
    with paos("serve", "--port", "0", "--metrics-port", "0") as (process, said):
        assert said["host"] == "127.0.0.1"
        assert said["url"] == f"ws://127.0.0.1:{said['port']}/"
        assert said["metrics_port"] not in (0, None, said["port"])
        assert ask(said, home) > 10
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        assert json.loads(process.stdout.read()) == {"event": "serve", "state": "stopped"}
        assert process.stderr.read() == ""


def test_somebody_already_serves_here_and_somebody_listens_there(home, tmp_path):
    with paos("serve", "--port", "0") as (process, said):
        second = run_command("serve", "--port", "0")
        assert second.returncode == 2
        assert f"cannot serve this home: already in use by process {process.pid}" in second.stderr
        (tmp_path / "other").mkdir()
        words = ["--home", str(tmp_path / "other"), "serve", "--port", str(said["port"])]
        other = run_command(*words)
        assert other.returncode == 2
        assert "the port is already in use" in other.stderr
        assert "--port 0" in other.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve", "--port", "65536"], "no port"),
        (["serve", "--host", ""], "--host is empty"),
        (["serve", "--tls-key", "k"], "--tls-key without --tls-cert"),
        (["serve", "--tls-cert", "/dev/null"], "no usable certificate"),
        (["--home", "/nonexistent/home", "serve"], "no home here"),
    ],
)
def test_what_cannot_be_served_is_said(home, words, said):
    done = run_command(*words)
    assert done.returncode == 2
    assert said in done.stderr


def test_an_open_address_without_a_certificate_is_warned_of(home):
    with paos("serve", "--host", "0.0.0.0", "--port", "0") as (process, said):
        assert ask({"url": f"ws://127.0.0.1:{said['port']}/"}, home) > 10
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
        assert "tokens cross the network unencrypted" in process.stderr.read()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_the_port_speaks_tls(home, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    with paos("serve", "--port", "0", "--tls-cert", str(cert), "--tls-key", str(key)) as (_, said):
        assert said["url"].startswith("wss://")
        assert ask(said, home, tls=ssl.create_default_context(cafile=cert)) > 10


def test_a_kernel_serves_beside_its_work(home):
    subprocess.run([*PAOS, "onboard"], check=True, capture_output=True, timeout=PATIENCE_S)
    with paos("up", "--serve", "--port", "0", command=STILL) as (process, said):
        assert ask(said, home, "/meta/protocol.json") > 10
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
