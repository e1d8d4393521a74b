"""The judges of file systems on a mounted tree: fio's checksums, stress-ng's operations, ten thousand open files.

No error, no process that stays blocked, and the server's memory does not grow with the time.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.interfaces.mount import mount_point
from worldfs.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.proof

SECONDS = int(os.environ.get("PAOS_MOUNT_STRESS_S", "600"))
PAOS = [sys.executable, "-c", "from worldfs.interfaces.cli.start import start; raise SystemExit(start())"]
# Not `touch`: what is left when its time is over it looks for under names with a newline (stress-ng 0.15.06).
STRESSORS = ("dir", "rename", "fstat", "getdent", "hdd", "seek", "utime", "chdir")
HANDLES = 10_000
GROWTH_KB = 64 << 10
_OPERATIONS = re.compile(r"metrc: \[\d+\] \w+ +(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+$", re.MULTILINE)


@pytest.fixture(scope="module")
def mounted(tmp_path_factory):
    """The directory for artifacts of a mounted tree, and the server's process."""
    if why := mount_point.why_not():
        pytest.skip(f"nothing can be mounted here: {why}")
    place = tmp_path_factory.mktemp("stress")
    home, directory = place / "home", place / "tree"
    directory.mkdir()
    assert main(["--home", str(home), "onboard"]) == 0
    server = subprocess.Popen(
        [*PAOS, "--home", str(home), "--as", "operator", "mount", "--foreground", str(directory)],
        stdout=subprocess.PIPE,
    )
    try:
        assert b"mounted" in server.stdout.readline()
        yield directory / "projects/main/artifacts", server.pid
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE_S)
        if mount_point.mounted(directory):
            mount_point.unmount(directory, lazy=True)


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def blocked():
    """The judges that cannot be killed now."""
    found = subprocess.run(["ps", "-eo", "pid,ppid,stat,comm"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if re.search(r" D\S* +(fio|stress-ng)", line)]


def judged(command, directory, seconds):
    """What a judge said. One that does not end after its time is killed, and that is a failure."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here (Debian: apt-get install {command[0]})")
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=seconds * 3 + 120, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def test_fio_reads_back_what_it_wrote(mounted):
    directory, server = mounted
    before, seconds = resident_kb(server), max(SECONDS // 2, 5)
    options = "--rw=randrw --bs=4k-64k --size=4m --nrfiles=4 --numjobs=3 --ioengine=psync --fsync=64 --verify=crc32c"
    said = judged(
        ["fio", "--name=mix", "--time_based", f"--runtime={seconds}", "--group_reporting", *options.split(),
         "--output-format=json"],
        directory,
        seconds,
    )  # fmt: skip
    (mix,) = json.loads(said[said.index("{") : said.rindex("}") + 1])["jobs"]
    assert mix["error"] == 0 and "verify:" not in said
    written, read = mix["write"]["io_bytes"], mix["read"]["io_bytes"]
    assert written and read
    moved = (written + read) / 2**20
    print(f"fio: {moved:.0f} MiB written and read back with their checksums, 0 errors, in {seconds} s")
    assert not blocked()
    assert resident_kb(server) - before < 4 * GROWTH_KB  # what three jobs have staged, and what readers keep
    for path in directory.glob("*mix*"):
        path.unlink()


def test_stress_ng_finds_no_fault(mounted):
    directory, server = mounted
    each = max(SECONDS // 2 // len(STRESSORS), 2)
    operations, before = 0, resident_kb(server)
    for stressor in STRESSORS:
        limits = ["--timeout", str(each), "--hdd-bytes", "4m", "--seek-size", "4m", "--metrics-brief"]
        said = judged(["stress-ng", f"--{stressor}", "2", "--temp-path", ".", *limits], directory, each)
        assert "fail:" not in said, said
        operations += sum(int(found) for found in _OPERATIONS.findall(said))
    print(f"stress-ng: {operations} operations of {len(STRESSORS)} kinds, 0 faults, in {each * len(STRESSORS)} s")
    assert not blocked()
    assert os.listdir(directory) == ["README.md"]
    assert resident_kb(server) - before < GROWTH_KB


def test_ten_thousand_files_are_open_at_once(mounted):
    directory, _ = mounted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < HANDLES + 100:
        pytest.skip(f"this machine lets a process open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, HANDLES + 100), hard))
    (directory / "one").write_bytes(b"x" * 1000)
    held = []
    try:
        for _ in range(HANDLES):
            held.append(os.open(directory / "one", os.O_RDONLY))
        (directory / "one").write_bytes(b"new")
        assert {os.pread(fd, 2000, 0) for fd in held[:: HANDLES // 100]} == {b"x" * 1000}
        assert (directory / "one").read_bytes() == b"new"
    finally:
        for fd in held:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    print(f"open at once: {HANDLES} files, which keep the bytes of their opening")
    (directory / "one").unlink()
