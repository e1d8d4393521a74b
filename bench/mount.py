"""The mounted tree beside libfuse's own passthrough in C, and beside pyfuse3 where it is installed, in the same run.

No server lets the kernel keep a name, so each stat reaches it. Ours answers it in one request, because the attributes
of a revision may be kept; the passthrough, which may keep nothing, is asked twice. Rates are the best of interleaved
rounds. An fstat of an open file never reaches the server: both sides of that ratio are a microsecond of the kernel, so
it is the median of many short pairs, which a neighbour on the processor cannot tilt.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ._stand import ROOT, environ, scratch

FIGURES = (
    "mount.stat_over_c", "mount.open_read_close_over_c", "mount.list_1000_ms", "mount.blocked120_stat_p99_ms",
    "mount.wake_ms", "mount.idle_cpu_percent", "mount.cached_stat_over_kernel", "mount.stat_over_pyfuse3",
)  # fmt: skip
PASSTHROUGH = Path("/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c")
PEER = Path(__file__).parent / "peers" / "pyfuse3_passthrough.py"
ROUNDS, ROUND_S = 5, 0.4
PAIRS, PAIR_S = 101, 0.02
FILE = "TASK.md"
BYTES = b"x" * 200
NAMES = 1000
IDLE_S = 10.0
WAIT = "agents/self/events/control/wait.json"
NEXT = "agents/self/events/next.json"


def run() -> dict[str, float]:
    """Empty where nothing can be mounted, or libfuse's development files are missing."""
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        return {}
    with scratch() as place, ExitStack() as stack:
        plain = place / "plain"
        plain.mkdir()
        (plain / FILE).write_bytes(BYTES)
        home, server, ours = _ours(place, stack)
        rivals = {
            "c": stack.enter_context(c_passthrough(place, plain)),
            "pyfuse3": stack.enter_context(_pyfuse3(place, plain)),
        }
        project = ours / "projects/main"
        places = {"ours": project, "disk": plain, **{name: at for name, at in rivals.items() if at is not None}}
        stat = _rates(places, _stat)
        whole = _rates(places, _open_read_close)
        found = {
            "mount.stat_per_s": stat["ours"],
            "mount.open_read_close_per_s": whole["ours"],
            "mount.cached_stat_over_kernel": _paired(project, plain),
            "mount.list_1000_ms": min(_timed(lambda: os.listdir(project / "artifacts/many")) for _ in range(7)),
            "mount.idle_cpu_percent": _idle(server.pid),
            **_blocked(home, ours, project),
        }
        for name in rivals.keys() & stat.keys():
            found[f"mount.stat_over_{name}"] = stat["ours"] / stat[name]
            found[f"mount.open_read_close_over_{name}"] = whole["ours"] / whole[name]
    return found


def _ours(place: Path, stack: ExitStack) -> tuple[Path, subprocess.Popen[bytes], Path]:
    home, at = place / "home", place / "ours"
    at.mkdir()
    paos = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(home)]
    subprocess.run([*paos, "onboard"], env=environ(), cwd=ROOT, check=True, capture_output=True)
    (home / "workspace" / FILE).write_bytes(BYTES)
    many = home / "workspace/artifacts/many"
    many.mkdir(parents=True)
    for number in range(NAMES):
        (many / f"file-{number:04}").write_bytes(b"")
    server = subprocess.Popen(
        [*paos, "--as", "planner", "mount", "--foreground", str(at)], env=environ(), cwd=ROOT, stdout=subprocess.PIPE
    )
    stack.callback(_end, server, at)
    assert server.stdout is not None
    if b"mounted" not in server.stdout.readline():
        raise RuntimeError("paos mount did not mount")
    time.sleep(0.2)  # a file of this very moment is read again and not kept
    return home, server, at


@contextmanager
def c_passthrough(place: Path, plain: Path) -> Iterator[Path | None]:
    """libfuse's passthrough, one thread, nothing cached; None where it cannot be compiled."""
    program, at = place / "passthrough_ll", place / "c"
    at.mkdir()
    flags = subprocess.run(["pkg-config", "fuse3", "--cflags", "--libs"], capture_output=True, text=True, check=False)
    source = next((path for path in (PASSTHROUGH, PASSTHROUGH.with_suffix(".c.gz")) if path.exists()), None)
    if flags.returncode or source is None or shutil.which("gcc") is None:
        yield None
        return
    subprocess.run(
        ["gcc", "-O2", str(source), "-o", str(program), *flags.stdout.split()], check=True, capture_output=True
    )
    yield from _rival([str(program), "-f", "-s", "-o", f"source={plain},cache=never,timeout=0", str(at)], at)


@contextmanager
def _pyfuse3(place: Path, plain: Path) -> Iterator[Path | None]:
    at = place / "pyfuse3"
    at.mkdir()
    if importlib.util.find_spec("pyfuse3") is None:
        yield None
        return
    yield from _rival([sys.executable, str(PEER), str(plain), str(at)], at)


def _rival(command: list[str], at: Path) -> Iterator[Path]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        over = time.monotonic() + 20
        while not (at / FILE).exists():
            if time.monotonic() > over:
                raise RuntimeError(f"{command[0]} did not mount")
            time.sleep(0.05)
        yield at
    finally:
        _end(process, at)


def _end(process: subprocess.Popen[bytes], at: Path) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)
    subprocess.run(["umount", "-l", str(at)], capture_output=True, check=False)
    if process.stdout is not None:
        process.stdout.close()


def _rates(places: dict[str, Path], action: Callable[[int, int], object]) -> dict[str, float]:
    """Calls a second of each, the best of interleaved rounds."""
    best = dict.fromkeys(places, 0.0)
    for _ in range(ROUNDS):
        for name, at in places.items():
            directory = os.open(at, os.O_RDONLY | os.O_DIRECTORY)
            file = os.open(FILE, os.O_RDONLY, dir_fd=directory)
            count, begun = 0, time.perf_counter()
            while (passed := time.perf_counter() - begun) < ROUND_S:
                for _ in range(50):
                    action(directory, file)
                count += 50
            best[name] = max(best[name], count / passed)
            os.close(file)
            os.close(directory)
    return best


def _paired(project: Path, plain: Path) -> float:
    """fstat on the mount over fstat on the disk: the median of pairs that follow each other at once."""
    files = [os.open(at / FILE, os.O_RDONLY) for at in (project, plain)]
    found = []
    for _ in range(PAIRS):
        ours, disk = (_fstats(file) for file in files)
        found.append(ours / disk)
    for file in files:
        os.close(file)
    return statistics.median(found)


def _fstats(file: int) -> float:
    """Calls a second."""
    count, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < PAIR_S:
        for _ in range(50):
            os.fstat(file)
        count += 50
    return count / passed


def _stat(directory: int, file: int) -> object:
    return os.stat(FILE, dir_fd=directory)


def _open_read_close(directory: int, file: int) -> object:
    fd = os.open(FILE, os.O_RDONLY, dir_fd=directory)
    data = os.read(fd, 65_536)
    os.close(fd)
    assert len(data) == len(BYTES)
    return data


def _timed(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begun)


def _idle(pid: int) -> float:
    before = _cpu_s(pid)
    time.sleep(IDLE_S)
    return 100 * (_cpu_s(pid) - before) / IDLE_S


def _cpu_s(pid: int) -> float:
    """CPU seconds of all threads, by the scheduler's own count in ns."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def _read_one(path: Path, woken: list[float]) -> None:
    with suppress(OSError):  # the mount is taken away at the end
        os.read(os.open(path, os.O_RDONLY), 4096)
        woken.append(time.perf_counter())


def _blocked(home: Path, ours: Path, project: Path) -> dict[str, float]:
    """120 readers wait: how long a stat takes meanwhile, and how long after the change the first of them returns."""
    lessons = home / "workspace/LESSONS.md"
    asked = {"paths": ["/projects/main/LESSONS.md"], "kind": "changes", "since": "now", "timeout_ms": 60_000}
    wakes = []
    for number in range(5):
        (ours / WAIT).write_text(json.dumps(asked))
        woken: list[float] = []
        for _ in range(120 if not number else 1):
            threading.Thread(target=_read_one, args=(ours / NEXT, woken), daemon=True).start()
        time.sleep(0.5)
        if not number:
            times = sorted(_timed(lambda: os.stat(project / FILE)) for _ in range(1000))
        changed = time.perf_counter()
        lessons.write_text(f"# {number}\n")
        while not woken and time.perf_counter() - changed < 20:
            time.sleep(0.0005)
        wakes.append(1000 * (woken[0] - changed) if woken else 20_000.0)
    return {"mount.blocked120_stat_p99_ms": times[990], "mount.wake_ms": sorted(wakes)[2]}
