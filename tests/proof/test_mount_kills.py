"""Servers and clients of a mount killed at random moments: nothing acknowledged is lost, no process stays blocked."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.interfaces.mount import mount_point
from worldfs.testing.waiting import PATIENCE_S, until

pytestmark = pytest.mark.proof

ROUNDS = int(os.environ.get("PAOS_MOUNT_KILLS", "200"))
PAOS = [sys.executable, "-c", "from worldfs.interfaces.cli.start import start; raise SystemExit(start())"]
# A number is written whole, flushed and closed; only then it is said. Then the next.
WRITER = """
import sys
number = int(sys.argv[2])
while True:
    number += 1
    with open(sys.argv[1], "w") as file: file.write(f"{number}\\n" * 50)
    print(number, flush=True)
"""
READER = "import os,sys; fd=os.open(sys.argv[1],0); print('open',flush=True); os.read(fd,9999)"


def start(*arguments):
    return subprocess.Popen([sys.executable, "-c", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def serve(home, directory):
    server = subprocess.Popen(
        [*PAOS, "--home", str(home), "--as", "planner", "mount", "--foreground", str(directory)], stdout=subprocess.PIPE
    )
    assert b"mounted" in server.stdout.readline()
    return server


def gone(process):
    process.communicate(timeout=PATIENCE_S)  # a process in D state would not end
    return True


def test_kills_of_servers_and_clients_lose_nothing_acknowledged_and_block_nobody(tmp_path):
    if why := mount_point.why_not():
        pytest.skip(f"nothing can be mounted here: {why}")
    home, directory = tmp_path / "home", tmp_path / "tree"
    directory.mkdir()
    assert main(["--home", str(home), "onboard"]) == 0
    stored, dice, acknowledged = home / "workspace/TASK.md", random.Random(14), 0
    server = serve(home, directory)
    try:
        for _ in range(ROUNDS):
            wait = directory / "agents/self/events/control/wait.json"
            wait.write_text(json.dumps({"paths": ["/projects/main/LESSONS.md"], "kind": "changes", "since": "now"}))
            readers = [start(READER, str(directory / "agents/self/events/next.json")) for _ in range(3)]
            for reader in readers:
                assert reader.stdout.readline() == b"open\n"
            writer = start(WRITER, str(directory / "projects/main/TASK.md"), str(acknowledged))
            assert writer.stdout.readline()
            time.sleep(dice.uniform(0, 0.1))
            first = dice.choice((writer, server, readers[0]))
            first.send_signal(signal.SIGKILL)
            if first is not server:
                assert gone(first)
            if dice.random() < 0.5 or first is server:
                server.send_signal(signal.SIGKILL)
                assert gone(server)
            for process in (writer, *readers):
                process.kill()
            said = writer.communicate(timeout=PATIENCE_S)[0].split() if first is not writer else []
            assert all(gone(reader) for reader in readers if reader is not first)
            found = stored.read_text().split()
            assert len(found) == 50 and len(set(found)) == 1, "torn"
            acknowledged = max(acknowledged, *(int(number) for number in said), 0)
            assert int(found[0]) >= acknowledged, "an acknowledged write is lost"
            acknowledged = int(found[0])
            if server.poll() is not None:
                server = serve(home, directory)
    finally:
        server.kill()
        gone(server)
        until(lambda: server.poll() is not None)
        if mount_point.mounted(directory):
            mount_point.unmount(directory, lazy=True)
