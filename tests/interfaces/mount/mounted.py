"""A tree that a process of its own has mounted, and the last resort that ends what blocks there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from worldfs.interfaces.mount import mount_point
from worldfs.testing.waiting import PATIENCE_S

WITHOUT = mount_point.why_not()
ABORTS = Path("/sys/fs/fuse/connections")
PAOS = [sys.executable, "-c", "from worldfs.interfaces.cli.start import start; raise SystemExit(start())"]


def abort(directory):
    """End every request of a mount, as the last resort; no process stays blocked there."""
    try:
        number = os.minor(os.lstat(directory).st_dev)
        (ABORTS / str(number) / "abort").write_text("1")
    except OSError:
        return


class MountedTree:
    """A mounted tree: `path` below it, `server` the process."""

    def __init__(self, directory, server):
        self.directory, self.server = directory, server

    def __truediv__(self, path):
        return self.directory / path.lstrip("/")

    def sh(self, script, *, shell="sh", cwd="", timeout=PATIENCE_S, **environ):
        """Run a script in a directory of the tree, killed after `timeout`."""
        return subprocess.run(
            [shell, "-c", script],
            cwd=self / cwd,
            timeout=timeout,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8", **environ},
        )


@contextmanager
def mounting(directory, *options, home=None, role="operator", before=()):
    """Mount in the foreground of a process of its own."""
    place = [*([] if home is None else ["--home", str(home)]), *(["--as", role] if role else []), *before]
    server = subprocess.Popen(
        [*PAOS, *place, "mount", *options, "--foreground", str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = server.stdout.readline()
        assert "mounted" in said, said + server.stdout.read()
        yield MountedTree(Path(directory), server)
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGTERM)
        try:
            server.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            abort(directory)
            server.kill()
            server.communicate(timeout=PATIENCE_S)
        if mount_point.mounted(Path(directory)):
            abort(directory)
            mount_point.unmount(Path(directory), lazy=True)
