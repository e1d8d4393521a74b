"""A server and a node as processes of their own, on two addresses: joined, mounted, read and written across, killed.

Once on two loopback addresses, once in a network namespace of its own where this machine allows it.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from worldfs.base.errors import WorldError
from worldfs.client.blocking import connect
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S, until

SRC = str(Path(__file__).parents[2] / "src")
LEASE_S = 3


class Process:
    """`paos …` whose JSON lines are kept in a file."""

    def __init__(self, prefix, words, log, env=None):
        self.log = log
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "worldfs.interfaces.cli.main", *words, "--json"],
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": SRC, **(env or {})},
                start_new_session=True,
            )

    def line(self, event):
        def said():
            lines = self.log.read_text().splitlines()
            found = (json.loads(line) for line in lines if line.startswith("{") and line.endswith("}"))
            line = next((one for one in found if one.get("event") == event), None)
            assert line is not None or self.process.poll() is None, self.log.read_text()
            return line

        return until(said, f"no {event}")

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)

    def end(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        return self.process.wait(PATIENCE_S)


@contextmanager
def loopback():
    yield "127.0.0.2", []


@contextmanager
def namespace():
    """The node in a network of its own, joined to ours by a cable."""
    name = f"paos{os.getpid()}"
    if shutil.which("ip") is None:
        pytest.skip("no `ip` here")
    remove_left()
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
    ours, theirs = f"pa{os.getpid()}"[:15], f"pb{os.getpid()}"[:15]
    net = f"10.213.{os.getpid() >> 6 & 255}."  # of its own: a run that was killed may have left another
    here, there = (net + str((os.getpid() & 63) * 4 + end) for end in (1, 2))
    steps = (
        f"link add {ours} type veth peer name {theirs} netns {name}",
        f"addr add {here}/30 dev {ours}",
        f"link set {ours} up",
        f"-n {name} addr add {there}/30 dev {theirs}",
        f"-n {name} link set {theirs} up",
    )
    try:
        for step in steps:
            done = subprocess.run(["ip", *step.split()], capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"ip {step}: {done.stderr.strip()}")
        yield here, ["ip", "netns", "exec", name]
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def remove_left():
    """The networks of runs that were killed."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout
    for pid in re.findall(r"^paos(\d+)", listed, re.MULTILINE):
        if not os.path.exists(f"/proc/{pid}"):
            subprocess.run(["ip", "netns", "del", f"paos{pid}"], capture_output=True, check=False)


class Site:
    def __init__(self, tmp_path, host, prefix):
        self.tmp_path, self.host, self.prefix = tmp_path, host, prefix
        self.home, self.work = tmp_path / "home", tmp_path / "edge" / "work"
        self.home.mkdir()
        self.work.mkdir(parents=True)
        (self.work / "a.txt").write_bytes(b"file A\n")
        self.port, self.count = free_port(), 0
        self.alive = []

    @property
    def url(self):
        return f"ws://{self.host}:{self.port}"

    def start(self, prefix, words, env=None):
        self.count += 1
        process = Process(prefix, words, self.tmp_path / f"log-{self.count}", env)
        self.alive.append(process)
        return process

    def serve(self):
        words = ["serve", "--home", str(self.home), "--host", self.host, "--port", str(self.port)]
        server = self.start([], words)
        server.line("serve")
        return server

    def node(self, *more):
        words = ["node", "--home", str(self.tmp_path / "edge"), "--connect", self.url, "--name", "edge"]
        words += ["--export", f"files={self.work}:rw", "--service", str(self.service()), "--lease", str(LEASE_S)]
        return self.start(self.prefix, [*words, *more])

    def service(self):
        """A program there that adds numbers."""
        program = "import json,sys; print(json.dumps({'sum': sum(json.load(sys.stdin)['of'])}))"
        manifest = {
            "service_id": "sum",
            "kind": "tool",
            "endpoints": ["/nodes/{node_id}/tool/sum"],
            "ops": {"model": "namespace", "operations": {"add": "sum_add"}},
            "permissions": {"default": "allow-by-default", "allow_roles": ["admin", "user"]},
            "runtime": {"type": "native_proc", "executable_path": sys.executable, "args": ["-c", program]},
        }
        path = self.tmp_path / "sum.json"
        path.write_text(json.dumps(manifest))
        return path

    def admin(self, **more):
        token = json.loads((self.home / "auth_tokens.json").read_text())["admin_token"]
        return connect(self.url, token=token, **more)

    def state(self, world):
        return json.loads(world.read("/nodes/node-1/STATUS.json"))["state"]

    def until(self, ready):
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                if found := ready():
                    return found
            except WorldError as error:
                found = error
            assert time.monotonic() < until, f"{found!r}\n{self.logs()}"
            time.sleep(0.1)

    def logs(self):
        return "\n".join(f"{path.name}:\n{path.read_text()}" for path in sorted(self.tmp_path.glob("log-*")))


@pytest.mark.parametrize("place", [loopback, pytest.param(namespace, marks=pytest.mark.proof)])
def test_a_node_on_another_address_is_mounted_written_killed_and_healed(tmp_path, place):
    with place() as (host, prefix):
        site = Site(tmp_path, host, prefix)
        try:
            life(site)
        finally:
            for process in site.alive:
                if process.process.poll() is None:
                    process.kill()


def life(site):
    server = site.serve()
    with site.admin() as world:
        invite = world.control("node_invite_create")["invite_token"]
        node = site.node("--invite", invite)
        file = "/nodes/node-1/fs/files/a.txt"
        assert site.until(lambda: world.read(file)) == b"file A\n"

        # Written across, and seen at the other end at once; and the other way round.
        world.write(file, b"FILE")
        assert (site.work / "a.txt").read_bytes() == b"FILE"
        (site.work / "new.txt").write_bytes(b"from there")
        site.until(lambda: "new.txt" in world.list("/nodes/node-1/fs/files"))
        assert world.read("/nodes/node-1/fs/files/new.txt") == b"from there"

        def services():
            return [one["service_id"] for one in json.loads(world.read("/nodes/node-1/services/SERVICES.json"))]

        site.until(lambda: services() == ["fs", "sum"])  # they are published after the tunnel is there

        # A program there is invoked by a write here; what it needs is in the payload.
        index = json.loads(world.read("/agents/self/services/SERVICES.json"))
        place = next(one["invoke_path"] for one in index if (one["node_id"], one["service_id"]) == ("node-1", "sum"))
        assert place == "/nodes/node-1/tool/sum/control/invoke.json"
        top = place.removesuffix("/control/invoke.json")
        world.write(place, b'{"of":[20,22]}')
        site.until(lambda: json.loads(world.read(f"{top}/status.json"))["state"] == "done")
        assert json.loads(world.read(f"{top}/result.json")) == {"sum": 42}

        # Mounted in a project, and walked through its link.
        project = world.control("project_create", {"name": "Demo"})["project_id"]
        mount = {"project_id": project, "node_id": "node-1", "export_name": "files", "mount_path": "/src"}
        world.control("project_mount_set", mount)
    with site.admin(agent="mother", project=project) as world:
        link = f"/projects/{project}/fs/mount::src"
        assert world.read(link) == b"/nodes/node-1/fs/files\n"
        assert world.read(f"{link}/a.txt") == b"FILE"

        def availability():
            found = world.control("workspace_status", {"project_id": project})
            return found["mounts"][0]["state"]

        site.until(lambda: availability() == "online")

        # The node dies: nothing is there to read, and its lease runs out.
        node.kill()
        site.until(lambda: world.list("/nodes/node-1/fs") == ["README.md"])
        site.until(lambda: site.state(world) == "degraded")
        assert availability() == "degraded"

        # It comes back as the same node, without an invite.
        node = site.node()
        site.until(lambda: site.state(world) == "online" and world.read(file) == b"FILE")
        site.until(lambda: availability() == "online")

    # The server dies, and comes back on the same address.
    server.kill()
    server = site.serve()
    with site.admin(agent="mother", project=project) as world:
        site.until(lambda: world.read(f"{link}/a.txt") == b"FILE")
        site.until(lambda: site.state(world) == "online")
        world.write(f"{link}/a.txt", b"file")
        assert (site.work / "a.txt").read_bytes() == b"file"

        # It leaves cleanly, and is then forgotten: its mount is still wanted, and missing.
        assert node.end() == 0
        site.until(lambda: site.state(world) == "degraded")
        world.control("node_delete", {"node_id": "node-1"})
        status = world.control("workspace_status", {"project_id": project})
        assert [one["state"] for one in status["mounts"]] == ["missing"]
    gone = site.node()
    assert gone.process.wait(PATIENCE_S) == 2
    assert "no longer has node node-1" in gone.log.read_text()
    assert server.end() == 0
