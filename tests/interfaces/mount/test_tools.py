"""Real programs on the mount: each script ends as it ends on a disk, byte for byte, or with the errno that is named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from worldfs.testing.waiting import PATIENCE_S

from .mounted import mounting
from .tool_scripts import RECORD_SCRIPTS, REFUSED_SCRIPTS, TREE_SCRIPTS

PROJECT = "projects/main"


@pytest.fixture(scope="module")
def planner(shared_home, tmp_path_factory):
    with mounting(tmp_path_factory.mktemp("planner"), home=shared_home, role="planner") as tree:
        yield tree


@pytest.fixture(scope="module")
def operator_tree(shared_home, tmp_path_factory):
    with mounting(tmp_path_factory.mktemp("operator"), home=shared_home) as tree:
        yield tree


def needed(tool):
    for name in tool.needs:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")


def outcome(tool, where, out):
    """Exit status, output, and every file that it left."""
    out.mkdir()
    command = ["busybox", "sh"] if tool.shell == "busybox" else [tool.shell]
    done = subprocess.run(
        [*command, "-c", tool.script],
        cwd=where,
        env={**os.environ, "OUT": str(out), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    said = done.stdout.replace(str(out).encode(), b"OUT"), done.stderr.replace(str(out).encode(), b"OUT")
    return done.returncode, *said


def content(where):
    return {
        str(path.relative_to(where)): path.read_bytes() if path.is_file() else None for path in sorted(where.rglob("*"))
    }


@pytest.mark.slice(3)
@pytest.mark.parametrize("tool", RECORD_SCRIPTS, ids=lambda tool: tool.name)
def test_a_record_is_written_as_a_file_on_a_disk(planner, tmp_path, tool):
    needed(tool)
    disk = tmp_path / "disk"
    disk.mkdir()
    for place in (disk, planner / PROJECT):
        (place / "TASK.md").write_bytes(b"# before\n")
    expected = outcome(tool, disk, tmp_path / "out1")
    found = outcome(tool, planner / PROJECT, tmp_path / "out2")
    assert found == expected
    assert (planner / PROJECT / "TASK.md").read_bytes() == (disk / "TASK.md").read_bytes()


@pytest.mark.slice(3)
@pytest.mark.parametrize("tool", TREE_SCRIPTS, ids=lambda tool: tool.name)
def test_a_subtree_of_the_artifacts_is_as_a_directory_on_a_disk(operator_tree, tmp_path, tool):
    needed(tool)
    disk, place = tmp_path / "disk", operator_tree / f"{PROJECT}/artifacts/{tool.name}"
    disk.mkdir()
    place.mkdir()
    expected = outcome(tool, disk, tmp_path / "out1")
    found = outcome(tool, place, tmp_path / "out2")
    assert found == expected
    assert content(place) == content(disk)


@pytest.mark.parametrize(("script", "said"), REFUSED_SCRIPTS)
def test_what_is_refused_has_the_errno_of_a_disk(planner, script, said):
    (planner / PROJECT / "TASK.md").write_bytes(b"kept\n")
    done = planner.sh(script, cwd=PROJECT, shell="bash")
    assert done.returncode != 0
    assert re.search(said, done.stderr), done.stderr
    assert (planner / PROJECT / "TASK.md").read_bytes() == b"kept\n"


def test_10_000_open_files_are_served_and_let_go(planner):
    script = "import os,resource\nresource.setrlimit(resource.RLIMIT_NOFILE,(20000,20000))\n"
    script += "fds=[os.open('TASK.md',0) for _ in range(10000)]\nprint(len({os.read(fd,99) for fd in fds}))\n"
    (planner / PROJECT / "TASK.md").write_bytes(b"many\n")
    done = planner.sh(f'python3 -c "{script}"', cwd=PROJECT)
    assert done.stdout == "1\n", done.stderr


def test_a_writer_that_is_killed_leaves_a_json_document_whole(shared_home, operator_tree):
    from worldfs.interfaces.cli.main import main

    assert main(["--home", str(shared_home), "agent", "init", "rio"]) == 0
    path = operator_tree / "agents/rio/tasks.json"
    before = path.read_bytes()
    script = f"exec 5> {path}; printf '{{\"tasks\": [' >&5; kill -9 $$"
    assert operator_tree.sh(script).returncode != 0
    assert path.read_bytes() == before


@pytest.mark.parametrize("flag", ["TRUNC", "APPEND"])
@pytest.mark.parametrize("work", ["pass", "os.write(fd, b'half')"])
def test_what_a_killed_writer_left_half_is_not_committed(planner, flag, work):
    path = planner / PROJECT / "TASK.md"
    path.write_bytes(b"whole\n")
    begin = f"import os; fd = os.open('TASK.md', os.O_WRONLY | os.O_{flag}); {work}"
    killed = planner.sh(f'python3 -c "{begin}; os.kill(os.getpid(), 9)"', cwd=PROJECT)
    assert killed.returncode == 137
    assert path.read_bytes() == b"whole\n"
    assert planner.sh(f"python3 -c \"{begin}; os.write(fd, b'!'); os._exit(3)\"", cwd=PROJECT).returncode == 3
    assert path.read_bytes().endswith(b"!")


def test_who_reads_beside_a_writer_reads_the_whole_revision(planner):
    """Until the writer's commit; the writer sees what it has written, and so does who asks for the size alone."""
    path = planner / PROJECT / "TASK.md"
    path.write_bytes(b"whole\n")
    with open(path, "rb", buffering=0) as early:
        writer = os.open(path, os.O_RDWR | os.O_TRUNC)
        for piece in (b"", b"ha", b"lf of it"):
            os.write(writer, piece)
            size = len(os.pread(writer, 99, 0))
            assert size == os.fstat(writer).st_size == os.lseek(writer, 0, os.SEEK_END) == path.stat().st_size
            early.seek(0)
            assert early.read(99) == path.read_bytes() == b"whole\n"
        os.close(writer)
        early.seek(0)
        assert (early.read(99), path.read_bytes()) == (b"whole\n", b"half of it")
