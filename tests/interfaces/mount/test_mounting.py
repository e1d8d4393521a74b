"""The life of a mount: mounted, used, unmounted, killed; who blocks there can be killed, and nothing stays behind."""

from __future__ import annotations

import errno
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import time

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.interfaces.mount import mount_point
from worldfs.testing.waiting import PATIENCE_S, until

from .mounted import PAOS, mounting

WAIT = "agents/self/events/control/wait.json"
NEXT = "agents/self/events/next.json"
TASK = "projects/main/TASK.md"
READER = "import os,sys; f=os.open(sys.argv[1], 0); print('open', flush=True); print(os.read(f, 65536), flush=True)"


def select_changes(tree, path="/projects/main/LESSONS.md"):
    (tree / WAIT).write_text(json.dumps({"paths": [path], "kind": "changes", "since": "now", "timeout_ms": 60000}))


def reader(path):
    """A process that has opened the file, and blocks in a read of it."""
    process = subprocess.Popen([sys.executable, "-c", READER, str(path)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"open\n"
    until(lambda: state(process.pid) in "SD", "it does not wait")
    return process


def ended(process):
    """The exit status of a process that ends now."""
    process.communicate(timeout=PATIENCE_S)
    return process.returncode


def state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


@pytest.fixture(scope="module")
def shared(tmp_path_factory, shared_home):
    """The tree of the operator, mounted once for the tests that leave the mount as it is."""
    with mounting(tmp_path_factory.mktemp("tree"), home=shared_home) as tree:
        yield tree


def paos(*arguments, **options):
    words = [*PAOS, *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options)


def test_a_command_mounts_in_the_background_and_another_unmounts(home, tmp_path):
    directory = tmp_path / "a tree 树"
    directory.mkdir()
    mounted = paos("--home", str(home), "--as", "planner", "mount", str(directory))
    assert mounted.returncode == 0, mounted.stderr
    try:
        assert (directory / TASK).read_bytes() == (home / "workspace/TASK.md").read_bytes()
        again = paos("--home", str(home), "mount", str(directory))
        assert again.returncode == 2
        assert "already mounted" in again.stderr
        pasted = shlex.split(again.stderr.rpartition("`paos ")[2].rpartition("`")[0])
        assert pasted == ["unmount", str(directory)]
        with open(directory / TASK):
            busy = paos("unmount", str(directory))
            assert busy.returncode == 2
            pasted = shlex.split(busy.stderr.rpartition("`paos ")[2].rpartition("`")[0])
            assert pasted == ["unmount", "--lazy", str(directory)]
    finally:
        gone = paos("unmount", str(directory))
    assert gone.returncode == 0, gone.stderr
    assert not any(directory.iterdir())
    assert paos("unmount", str(directory)).returncode == 2


@pytest.mark.slice(3)
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--allow-other", "everybody"], "--allow-other operator"),
        (["inside"], "outside the home"),
        (["missing"], "no such"),
        (["file"], "not a directory"),
    ],
)
def test_what_cannot_be_mounted_is_said_with_exit_code_2(home, directory, options, named):
    place = {"inside": home / "workspace", "missing": directory / "no", "file": home / "config.json"}.get(options[0])
    if place is not None:
        options = []
        (home / "config.json").touch()
    found = paos("--home", str(home), "mount", *options, str(place or directory))
    if place == home / "config.json":
        named = "outside the home"
    assert (found.returncode, "Traceback" in found.stderr) == (2, False)
    assert named in found.stderr


def test_after_a_crash_users_get_enotconn_and_the_next_mount_cleans_up(home, directory):
    with mounting(directory, home=home) as tree:
        tree.server.send_signal(signal.SIGKILL)
        tree.server.wait(PATIENCE_S)
        with pytest.raises(OSError) as caught:
            os.listdir(directory)
        assert caught.value.errno in (errno.ENOTCONN, errno.ECONNABORTED)
        with mounting(directory, home=home) as again:
            assert "projects" in os.listdir(again.directory)
    assert not mount_point.mounted(directory)


def test_an_old_handle_keeps_its_bytes_and_a_new_open_sees_the_new_ones(home, directory):
    with mounting(directory, home=home, role="planner") as tree:
        path = tree / TASK
        path.write_bytes(b"old content\n")
        with open(path, "rb") as held:
            path.write_bytes(b"new\n")
            assert path.read_bytes() == b"new\n"
            assert path.stat().st_size == 4
            assert held.read() == b"old content\n"
        assert (home / "workspace/TASK.md").read_bytes() == b"new\n"


def test_what_another_process_writes_is_seen_at_once(shared_home, shared):
    for number in range(20):
        text = f"round {number}\n" * (number + 1)
        (shared_home / "workspace/TASK.md").write_text(text)
        assert (shared / TASK).read_text() == text
        assert (shared / TASK).stat().st_size == len(text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_blocked_reader_can_be_ended_by_a_signal(shared, number):
    select_changes(shared)
    process = reader(shared / NEXT)
    process.send_signal(number)
    assert ended(process) != 0


def test_a_blocked_read_returns_when_the_file_changes(shared_home, shared):
    select_changes(shared)
    process = reader(shared / NEXT)
    (shared_home / "workspace/LESSONS.md").write_text("# changed\n")
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert b"LESSONS.md" in out
    assert process.returncode == 0


def test_poll_reports_a_change(shared_home, shared):
    select_changes(shared)
    fd = os.open(shared / NEXT, os.O_RDONLY)
    try:
        asked = select.poll()
        asked.register(fd, select.POLLIN)
        assert asked.poll(0) == []
        (shared_home / "workspace/LESSONS.md").write_text("# changed\n")
        assert asked.poll(PATIENCE_S * 1_000) == [(fd, select.POLLIN)]
        assert asked.poll(0) == [(fd, select.POLLIN)], "to look takes nothing away"
        assert json.loads(os.pread(fd, 4096, 0))["change"]["path"] == "/projects/main/LESSONS.md"
    finally:
        os.close(fd)


def test_120_blocked_readers_do_not_hold_up_a_stat(shared):
    select_changes(shared)
    processes = [reader(shared / NEXT) for _ in range(12)]
    script = f"import os,threading\np={str(shared / NEXT)!r}\n"
    script += "for _ in range(108): threading.Thread(target=lambda: os.read(os.open(p,0),9)).start()\n"
    many = subprocess.Popen([sys.executable, "-c", script])
    try:
        until(lambda: len(os.listdir(f"/proc/{many.pid}/task")) >= 100)
        slowest = 0.0
        for _ in range(200):
            begun = time.perf_counter()
            os.stat(shared / TASK)
            slowest = max(slowest, time.perf_counter() - begun)
        assert slowest < 30, "a stat waited for a reader"
    finally:
        for process in [*processes, many]:
            process.kill()
            ended(process)


@pytest.mark.proof
def test_the_server_is_killed_under_blocked_readers_and_none_of_them_stays(home, directory):
    with mounting(directory, home=home) as tree:
        select_changes(tree)
        processes = [reader(tree / NEXT) for _ in range(8)]
        tree.server.send_signal(signal.SIGKILL)
        tree.server.wait(PATIENCE_S)
        for process in processes:
            assert ended(process) != 0


def test_result_txt_of_a_robots_job_waits_for_its_end(home, operator):
    node = next(name for name in os.listdir(operator / "nodes") if (operator / f"nodes/{name}/ACTION.md").exists())
    order = {"action_id": "wave-1", "action_type": "wave", "params": {}, "robot_id": node, "status": "pending"}
    (operator / f"nodes/{node}/ACTION.md").write_text(json.dumps({"queue": [order]}))
    result = operator / f"nodes/{node}/jobs/wave-1/result.txt"
    process = reader(result)
    assert main(["--home", str(home), "up", "--until-idle"]) in (0, 1)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert out.strip() not in (b"", b"b''")
    assert result.stat().st_size == len(result.read_bytes()) > 0


def test_a_read_only_mount_refuses_every_change(home, directory):
    with mounting(directory, "--read-only", home=home) as tree:
        with pytest.raises(OSError) as caught:
            (tree / "projects/main/artifacts/x").write_text("x")
        assert caught.value.errno == errno.EROFS
        assert (tree / TASK).exists()


def reads_of(process):
    """How many times a process has read something: a mount's server reads once for each request, and once more."""
    with open(f"/proc/{process.pid}/io") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("syscr"))


def test_what_an_open_file_says_of_itself_is_asked_once(operator):
    """The kernel keeps the attributes of a revision: a stat of an open file or directory sends no request."""
    until(lambda: time.time() - (operator / TASK).stat().st_mtime > 0.2)
    with open(operator / TASK, "rb") as file:
        size = len(file.read())
        before = reads_of(operator.server)
        for _ in range(50):
            assert os.fstat(file.fileno()).st_size == size and os.stat(operator.directory).st_nlink == 2
            time.sleep(0.005)  # longer than a tick of the kernel, which is the least that it keeps
        assert (asked := reads_of(operator.server) - before) < 20, asked


def test_a_listing_asks_nothing_of_the_single_files(operator, home):
    many = home / "workspace/artifacts/many"
    many.mkdir(parents=True)
    for number in range(500):
        (many / f"{number:04}").touch()
    os.listdir(operator / "projects/main/artifacts/many")
    before = reads_of(operator.server)
    assert len(os.listdir(operator / "projects/main/artifacts/many")) == 500
    assert reads_of(operator.server) - before < 30
