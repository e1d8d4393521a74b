"""A home that is kept on NATS: the same commands, the same files, and a way back."""

import os
import subprocess
import sys

import pytest

from worldfs.base.errors import Busy
from worldfs.plugins.nats_store.store_opening import open_nats_store
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.open_store import open_store
from worldfs.testing.waiting import until
from worldfs.world.store_transfer import compare_stores

pytestmark = pytest.mark.usefixtures("nats_server")


@pytest.fixture
def paos(tmp_path):
    """Runs the command in a home of its own: exit code, what it printed."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PAOS_")}
    environ["PAOS_HOME"] = str(tmp_path / "home")

    def run(*words, input=None):
        done = subprocess.run(
            [sys.executable, "-m", "worldfs.interfaces.cli.main", *words],
            check=False, env=environ, input=input, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    assert run("onboard")[0] == 0
    return run


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "TASK.md").write_text("# Task\n")
    (folder / "skills").mkdir()
    (folder / "skills" / "wave.md").write_text("wave\n")
    (folder / ".paos" / "jobs").mkdir(parents=True)
    (folder / ".paos" / "jobs" / "one.jsonl").write_text("{}\n")
    return folder


@pytest.fixture
def on_nats(workspace, tmp_path):
    def opened():
        return open_nats_store("nats", str(tmp_path / "engine"), files=str(workspace))

    return opened


def test_a_home_moves_to_nats_works_there_and_moves_back(paos, tmp_path):
    assert paos("up", "--store", "nats", "--until-idle")[0] == 0
    code, said = paos("do", "pick up the apple")
    assert code == 0, said
    assert "holding apple_01" in paos("status")[1]
    workspace = tmp_path / "home" / "workspace"
    assert "apple_01" in (workspace / "ENVIRONMENT.md").read_text()  # the files are there for people
    assert list((workspace / ".paos").glob("done/*")) == []  # and the jobs are not in them
    copy = tmp_path / "copy"
    assert paos("store", "export", str(copy))[0] == 0
    assert len(list((copy / ".paos" / "done").iterdir())) == 1
    assert paos("store", "verify", str(copy))[0] == 0
    with (copy / "LESSONS.md").open("a") as file:
        file.write("changed\n")
    code, said = paos("store", "verify", str(copy))
    assert code == 1 and "LESSONS.md" in said
    code, said = paos("store", "import", str(copy))
    assert code == 1 and "LESSONS.md" in said  # nothing is replaced
    assert paos("store", "export", str(workspace / "inside"))[0] == 2


def test_a_new_bucket_takes_in_what_the_directory_held(on_nats, workspace):
    store = on_nats()
    assert store.get("TASK.md").data == b"# Task\n" and store.get(".paos/jobs/one.jsonl").data == b"{}\n"
    store.put("TASK.md", b"# Newer\n")
    store.close()
    assert (workspace / "TASK.md").read_text() == "# Newer\n"
    store = on_nats()
    assert store.get("TASK.md").data == b"# Newer\n"  # and only a new one does
    store.close()


def test_while_a_kernel_runs_on_the_directory_itself_no_engine_takes_it_in(on_nats, workspace):
    disk = open_store("disk", workspace)
    with disk.lease(KERNEL_LEASE, "kernel"), pytest.raises(Busy):
        on_nats()
    disk.close()


def test_a_file_that_a_person_writes_reaches_the_store_and_the_store_reaches_the_file(on_nats, workspace):
    store = on_nats()
    with store.lease(KERNEL_LEASE, "kernel"):
        (workspace / "TASK.md").write_text("by hand\n")
        until(lambda: store.get("TASK.md").data == b"by hand\n")
        store.put("TASK.md", b"by the planner\n")
        until(lambda: (workspace / "TASK.md").read_text() == "by the planner\n")
        (workspace / "skills" / "new.md").write_text("new\n")
        until(lambda: store.get("skills/new.md") is not None)
        (workspace / "skills" / "new.md").unlink()
        until(lambda: store.get("skills/new.md") is None)
        store.delete("skills/wave.md")
        until(lambda: not (workspace / "skills" / "wave.md").exists())
    store.close()


def test_what_was_written_while_nothing_ran_is_taken_in_at_the_next_start(on_nats, workspace):
    on_nats().close()
    (workspace / "TASK.md").write_text("while off\n")
    (workspace / "LESSONS.md").write_text("learned\n")
    store = on_nats()
    assert store.get("TASK.md").data == b"while off\n" and store.get("LESSONS.md").data == b"learned\n"
    store.close()


def test_a_file_without_a_record_gives_way_and_is_set_aside(on_nats, workspace):
    on_nats().close()
    (workspace / ".paos" / "store-files.json").unlink()
    (workspace / "TASK.md").write_text("unknown\n")
    store = on_nats()
    assert store.get("TASK.md").data == b"# Task\n" and (workspace / "TASK.md").read_text() == "# Task\n"
    (kept,) = (workspace / ".paos" / "quarantine").iterdir()
    assert kept.read_text() == "unknown\n"
    store.close()


def test_stores_that_differ_are_told_apart_both_ways(on_nats, tmp_path):
    store, other = on_nats(), open_store("memory")
    other.put("TASK.md", b"another\n")
    other.put("only/here", b"1")
    report = compare_stores(store, other)
    assert not report.equal and report.different == ("TASK.md",)
    assert set(report.missing) >= {"only/here", "skills/wave.md"}
    store.close()
