"""Any bytes on any channel, with a token or without: an answer or a goodbye, no traceback, and a log that stays short.

A slice runs with the tests, `make proof` runs the long one. A failure prints the seed: PAOS_FUZZ_SEED says it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed

from .stand import Json, Served, Wire, served
from .test_fuzz import Noise, seeds

FS = ("hello", "exports", "lookup", "getattr", "readdirp", "open", "read", "write", "close", "lock", "create", "rename")
HELLO: Json = {"protocol": "unified-v2-fs", "proto": 2}
EXPORTED = "a token of the exports, long enough"
FATAL = ("Traceback", "Error:", "exception was never retrieved")


class Ground:
    """A server with a node, and the frames that open each of its channels."""

    def __init__(self, server: Served) -> None:
        self.server = server
        with server.wire() as admin:
            admin.done("version", {"protocol": "unified-v2"})
            admin.done("project_create", {"name": "p"})
            invite = admin.done("node_invite_create")["invite_token"]
            joined = admin.done("node_join", {"invite_token": invite, "node_name": "n"})
        self.node, self.secret = str(joined["node_id"]), str(joined["node_secret"])

    def channels(self) -> list[tuple[str, str, list[Json]]]:
        """Path, bearer, and what is said first."""
        node = {**HELLO, "node_id": self.node, "node_secret": self.secret, "auth_token": self.secret}
        version: Json = {"channel": "control", "type": "control.version", "payload": {"protocol": "unified-v2"}}
        tree: Json = {"channel": "acheron", "type": "acheron.t_version", "tag": 0, "version": "acheron-1"}
        fs: Json = {"channel": "acheron", "type": "acheron.t_fs_hello", "tag": 0, "payload": node}
        return [
            ("/", "", []),
            ("/", self.server.user, []),
            ("/", self.server.admin, [version, tree]),
            ("/", self.secret, [version]),
            ("/v2/fs", "", []),
            ("/v2/fs", "", [{**fs, "payload": {**HELLO, "auth_token": EXPORTED}}]),
            ("/v2/node", "", []),
            ("/v2/node", "", [fs]),
            (f"/v2/fs/node/{self.node}", "", []),
            (f"/v2/fs/node/{self.node}", "", [fs]),
            ("/v2/fs/node/../x", "", [fs]),
            ("/nowhere", "", []),
        ]


def bad_frames() -> list[bytes]:
    """Frames that broke something once, and their kin."""
    hello = b'{"channel":"acheron","type":"acheron.t_fs_hello","tag":1,"payload":'
    found = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"\x94", b"[" * 50_000, b'"\\ud800"']
    for head in (
        hello,
        b'{"channel":"acheron","type":"acheron.t_fs_read","tag":1,"h":1,"payload":',
        b'{"channel":"acheron","type":"acheron.r_fs_read","tag":1,"payload":',
        b'{"channel":"control","type":"control.node_join","id":"x","payload":',
        b'{"channel":"control","type":"control.version","id":"x","payload":',
    ):
        for value in (
            b'{"auth_token":"\x94"}', b'"\x94"', b'{"proto":1e999}', b"1e999", b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
            b'{"node_id":[],"node_secret":{}}', b'{"auth_token":5,"protocol":"unified-v2-fs","proto":2}',
            b'{"auth_token":"\\ud800","protocol":"unified-v2-fs","proto":2}', b"{}", b"5", b"nonsense",
            b'{"protocol":"unified-v2-fs","proto":2,"node_id":"\\u0000","node_secret":"x"}',
        ):  # fmt: skip
            found.append(head + value + b"}")
    return found


def noisy(noise: Noise) -> bytes:
    """A frame of the node FS or control, nearly right."""
    pick = noise.random.choice
    frame: Json = {"channel": "acheron", "type": f"acheron.t_fs_{pick(FS)}", "tag": noise.random.randrange(9)}
    if noise.random.random() < 0.3:
        frame = {
            "channel": "control",
            "type": f"control.{pick(('version', 'ping', 'node_join', 'connect'))}",
            "id": "x",
        }
    frame["payload"] = {**(HELLO if noise.random.random() < 0.5 else {}), **noise.object(["name", "node_id", "off"])}
    for key in ("node", "h", "fid"):
        if noise.random.random() < 0.5:
            frame[key] = noise.random.choice((1, 2**48, 2**48 + 1, noise.value()))
    whole = json.dumps(frame).encode("utf-8", "replace")
    at = noise.random.randrange(len(whole))
    if noise.random.random() < 0.4:
        whole = whole[:at] + noise.random.randbytes(2) + whole[at + noise.random.randrange(3) :]
    return whole


def said(ground: Ground, frames: list[bytes]) -> None:
    for path, bearer, greeting in ground.channels():
        for at in range(0, len(frames), 8):
            with suppress(ConnectionClosed, OSError, TimeoutError), Wire(ground.server.url + path, bearer) as wire:
                for frame in greeting:
                    wire.say(frame)
                for message in frames[at : at + 8]:
                    wire.socket.send(message, text=True)  # whether it is text or not
                wire.hear(0.2)


def calm(ground: Ground) -> None:
    """The server is there, and its log tells of no trouble."""
    with ground.server.wire() as admin:
        admin.done("version", {"protocol": "unified-v2"})
        assert admin.done("ping") == {}
    log = (ground.server.home / "serve.log").read_text()
    assert not [word for word in FATAL if word in log], log[-3_000:]
    assert len(log.splitlines()) < 20, log


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    home = tmp_path_factory.mktemp("channels") / "home"
    (home / "work").mkdir(parents=True)
    (home / "work/f.txt").write_text("five\n")
    shown = {"token": EXPORTED, "exports": [{"name": "work", "path": "work", "ro": False}]}
    (home / "exports.json").write_text(json.dumps(shown))
    (home / "exports.json").chmod(0o600)
    with served(home) as server:
        yield Ground(server)


def test_no_frame_on_any_channel_makes_a_traceback(ground: Ground) -> None:
    said(ground, bad_frames())
    calm(ground)


@pytest.mark.parametrize("seed", seeds(2))
def test_noise_on_every_channel(ground: Ground, seed: int) -> None:
    noise = Noise(seed)
    said(ground, [noisy(noise) for _ in range(40)])
    calm(ground)


@pytest.mark.proof
@pytest.mark.parametrize("seed", seeds(100))
def test_noise_on_every_channel_for_long(ground: Ground, seed: int) -> None:
    noise = Noise(seed)
    said(ground, [noisy(noise) for _ in range(200)])
    calm(ground)
