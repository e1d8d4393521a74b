"""The past of the tree: what a document was, under today's rights, and a reason where it is not known."""

import itertools
import json
import os
import threading
from dataclasses import replace

import pytest

from worldfs.access.binding import USER, Binding
from worldfs.access.judge import judge
from worldfs.access.roles import ROLES
from worldfs.access.verb import Verb
from worldfs.agents.agent_state import AgentState
from worldfs.base.clock import epoch_ns, stamp
from worldfs.base.errors import BadInput, NotFound, NotPermitted, UserError
from worldfs.base.model import Cause, JobState, JobStatus, Order, Outcome
from worldfs.namespace.past_time import parse_time, time_name
from worldfs.namespace.views.past_files import AtSubtree, VersionsSubtree
from worldfs.runtime.job_end import ended_status, status_after
from worldfs.runtime.job_store import JobStore
from worldfs.testing.call_fixtures import wait_for_call
from worldfs.testing.manual_clock import START, ManualClock
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.tree.row_table import FileKind
from worldfs.world.home import Home
from worldfs.world.layout import ROWS
from worldfs.world.onboard import onboard
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import World

TASK = "/projects/main/TASK.md"
LESSONS = "/projects/main/LESSONS.md"


@pytest.fixture
def world(tmp_path):
    WorkspaceFixture(tmp_path)
    with World.open(tmp_path, agents=tmp_path / "agents") as world:
        yield world


def moment(world):
    return time_name(epoch_ns(world.store.clock.now()))


def test_a_document_is_what_it_was(world):
    tree, moments = world.namespace("planner"), []
    for text in (b"one", b"two", b"three"):
        tree.write(TASK, text)
        moments.append(moment(world))
    assert [tree.read(f"/at/{at}{TASK}").data for at in moments] == [b"one", b"two", b"three"]
    assert tree.stat(f"/at/{moments[0]}{TASK}").size == 3
    names = tree.list(f"/versions{TASK}")
    assert [tree.read(f"/versions{TASK}/{name}").data for name in names][-3:] == [b"one", b"two", b"three"]
    assert tree.list("/at") == tree.list("/versions") == []  # every time is there: none is listed
    assert "TASK.md" in tree.list(f"/at/{moments[0]}/projects/main")
    assert "ROBOTS.md" not in tree.list(f"/at/{moments[0]}/projects/main")
    assert {"at", "versions"}.isdisjoint(tree.list(f"/at/{moments[0]}"))


@pytest.mark.parametrize("change", [{}, {"kind": FileKind.LOG}])
def test_only_a_stored_record_is_what_it_was_since_its_last_change(world, monkeypatch, change):
    (world.root / "artifacts").mkdir(exist_ok=True)
    (world.root / "artifacts/cup.bin").write_bytes(b"cup")
    tree = world.namespace("operator")
    later, path = time_name(epoch_ns(world.store.clock.now()) + 10**9), "/projects/main/artifacts/cup.bin"
    row, names = tree.tree.find_row(tree.real_path(path)[0])
    monkeypatch.setattr(tree.tree, "find_row", lambda real: (row._replace(**change), names))
    if not change:
        assert tree.read(f"/at/{later}{path}").data == b"cup"
        return
    with pytest.raises(BadInput, match="no versions"):
        AtSubtree(tree).read({"past": f"{later}{path}"})


def test_what_has_become_a_directory_since_it_was_walked_is_no_file(world):
    space = world.namespace("operator")
    for subtree, names in (
        (AtSubtree(space), {"past": "now/projects/main"}),
        (VersionsSubtree(space), {"of": "projects/main/now"}),
    ):
        with pytest.raises(NotFound):
            subtree.read(names)


def test_what_is_not_known_says_why(world):
    tree = world.namespace("operator")
    world.namespace("planner").write(TASK, b"text")
    (world.root / "LESSONS.md").write_bytes(b"by another program")
    for path, words in (
        (f"/at/1d{TASK}", "there was no such file"),
        (f"/at/1d{LESSONS}", "nothing was recorded"),
        ("/at/now/projects/main/ROBOTS.md", "no versions"),
        ("/at/now/projects/main/SKILLS.md", "there was no such file"),
        ("/at/now/projects/main/artifacts", None),
    ):
        if words is None:
            assert tree.stat(path).directory
        else:
            with pytest.raises(UserError, match=words):
                tree.read(path)
    for text in ("soon", "5y", "2026-13-01", "-5m", "١d"):
        with pytest.raises(BadInput, match="is no time"):
            tree.stat(f"/at/{text}{TASK}")
    with pytest.raises(UserError):
        tree.stat(f"/at/now/at/now{TASK}")


def test_the_past_is_never_written(world):
    tree = world.namespace("operator")
    path = f"/at/now{LESSONS}"
    for change in (
        lambda: tree.write(path, b"x"),
        lambda: tree.walk("/at/now/projects/main").create("new"),
        lambda: tree.walk("/at/now/projects/main").remove("LESSONS.md"),
        lambda: tree.walk(f"/versions{LESSONS}").create("now"),
    ):
        with pytest.raises((NotPermitted, NotFound)):
            change()


def test_a_skill_file_that_was_removed_is_in_the_past_only(world):
    tree = world.namespace("planner")
    place = "/projects/main/skills/pour.md"
    tree.write(place, b"# Pour")
    before = moment(world)
    tree.walk("/projects/main/skills").remove("pour.md")
    assert tree.read(f"/at/{before}{place}").data == b"# Pour"
    assert tree.list(f"/at/{before}/projects/main/skills") == ["pour.md"]
    assert tree.list("/at/now/projects/main/skills") == []
    assert tree.list("/versions/projects/main/skills") == ["pour.md"]
    (when,) = tree.list(f"/versions{place}")
    assert tree.read(f"/versions{place}/{when}").data == b"# Pour"


def test_each_role_reads_of_the_past_what_it_reads_today(world):
    rows = [row for row in ROWS if row.in_matrix and row.view != "robots"]
    writer = world.stores.shared
    for row in rows:
        writer.put(row.fill({}), f"{row.name} then".encode())
    then = moment(world)
    checked = 0
    for row, role in itertools.product(rows, ROLES):
        path = row.pattern.replace("{project}", "main").replace("{node}", world.node_ids()[0])
        tree, seen = world.namespace(role), bool(judge(role, Verb.READ, row))
        for root in (f"/at/{then}{path}", f"/versions{path}"):
            try:
                tree.stat(root)
            except NotFound as error:
                assert not seen, (root, role, error)
                assert "then" not in str(error) and "version" not in error.found
            else:
                assert seen, (root, role)
            checked += 1
        if seen:
            assert tree.read(f"/at/{then}{path}").data == f"{row.name} then".encode()
        above, _, name = path.rpartition("/")
        try:
            listed = name in tree.list(f"/at/{then}{above}")
        except UserError:
            listed = False
        assert listed == seen, (path, role)
    assert checked > 100


def test_a_binding_sees_the_past_of_what_it_sees(tmp_path):
    onboard(Home(tmp_path))
    AgentState.open("alice", tmp_path / "agents", create=True).close()
    AgentState.open("bob", tmp_path / "agents", create=True).close()
    with ServedWorld.open(tmp_path, memory_only=True) as served:
        admin = served.namespace(Binding("admin", "mother", "system"))
        for agent in ("alice", "bob"):
            admin.write(f"/agents/{agent}/memory.md", b"# Memory\n\n- a secret of " + agent.encode() + b"\n")
        then = time_name(epoch_ns(served.world.store.clock.now()))
        assert b"bob" in admin.read(f"/at/{then}/agents/bob/memory.md").data
        alice = served.namespace(Binding(USER, "alice", "p-1"))
        for path in ("/agents/bob/memory.md", LESSONS, "/agents/alice/memory.md"):
            for root in (f"/at/{then}{path}", f"/versions{path}"):
                assert alice.readable(root) == alice.readable(path), root
        assert not alice.readable("/agents/bob/memory.md")
        assert not alice.light(f"/at/{then}{LESSONS}")  # read in a thread, not on the event loop


def test_times_are_iso_or_so_long_ago():
    clock = ManualClock()
    now = epoch_ns(clock.now())
    assert parse_time("now", clock) == now
    assert parse_time("90s", clock) == now - 90 * 10**9
    assert parse_time("2h", clock) == now - 7200 * 10**9
    assert parse_time("2026-01-02T03:04:05Z", clock) == now == parse_time("2026-01-02T04:04:05+01:00", clock)
    for at in (now, now + 1, now + 1000, now + 123456789):
        assert parse_time(time_name(at), clock) == at


def test_a_job_is_known_at_any_time_by_its_own_lines(world):
    clock, tree = ManualClock(), world.namespace("operator")
    jobs, node = JobStore(world.store, clock), world.node_ids()[0]
    place, copies = f"/nodes/{node}/jobs/a", {}

    def copy():
        clock.advance(0.5)
        names = ("job.json", "status.json", "result.txt")
        copies[time_name(epoch_ns(clock.now()))] = {name: tree.read(f"{place}/{name}").data for name in names}
        clock.advance(0.5)

    order = Order("a", node, "move_to", {"note": "x"}, attempts=2)
    jobs.accept([order])
    copy()
    status = jobs.load("a").status
    again = Outcome.failure(Cause.ERROR, "SLIPPED", "it slipped")
    for change in (
        lambda status: replace(status, state=JobState.RUNNING, attempt=1, started_at=stamp(clock.now())),
        lambda status: status_after(order, status, again, clock.now(), cancelled=False, localise=lambda o: o),
        lambda status: replace(status, state=JobState.RUNNING, attempt=2, started_at=stamp(clock.now())),
        lambda status: ended_status(status, Outcome.success("it stands there"), clock.now()),
    ):
        status = change(status)
        jobs.write_status("a", status)
        copy()
    jobs.archive("a")
    states = []
    for at, files in copies.items():
        for name, data in files.items():
            path = f"/at/{at}{place}/{name}"
            assert tree.read(path).data == data and tree.stat(path).size == len(data), path
        states.append(json.loads(files["status.json"])["status"])
        assert "a" in tree.list(f"/at/{at}/nodes/{node}/jobs")
        assert {"job.json", "status.json", "result.txt"} <= set(tree.list(f"/at/{at}{place}"))
    assert states == ["pending", "running", "pending", "running", "succeeded"]
    before = time_name(epoch_ns(START) - 1)
    assert tree.list(f"/at/{before}/nodes/{node}/jobs") == []
    for path in (place, f"{place}/status.json", f"{place}/job.json"):
        with pytest.raises(NotFound):
            tree.stat(f"/at/{before}{path}")
    names = tree.list(f"/versions{place}/status.json")
    assert [tree.read(f"/versions{place}/status.json/{name}").data for name in names] == [
        files["status.json"] for files in copies.values()
    ]
    with pytest.raises((NotPermitted, NotFound, BadInput)):
        tree.write(f"/at/now{place}/cancel", b"x")
    assert jobs.cancel_requests() == []


def test_of_a_retry_that_an_older_version_wrote_without_a_time_it_is_said_that_it_is_not_known(world):
    clock, tree, node = ManualClock(), world.namespace("operator"), world.node_ids()[0]
    jobs = JobStore(world.store, clock)
    jobs.accept([Order("a", node, "move_to", {})])
    clock.advance(1)
    jobs.write_status("a", JobStatus(JobState.RUNNING, 1, started_at=stamp(clock.now())))
    jobs.write_status("a", JobStatus(JobState.PENDING, 1, started_at=stamp(clock.now())))
    clock.advance(5)
    jobs.write_status("a", JobStatus(JobState.RUNNING, 2, started_at=stamp(clock.now())))
    between = time_name(epoch_ns(clock.now()) - 10**9)
    with pytest.raises(BadInput, match="not kept"):
        tree.read(f"/at/{between}/nodes/{node}/jobs/a/status.json")
    now = time_name(epoch_ns(clock.now()))
    assert b'"attempt": 2' in tree.read(f"/at/{now}/nodes/{node}/jobs/a/status.json").data


def test_an_artifact_is_what_it_was_as_long_as_nothing_changed_it(world):
    tree, path = world.namespace("operator"), "/projects/main/artifacts/films/clear.gif"
    before = moment(world)
    tree.write(path, b"film")
    changed_ns = (world.root / "artifacts/films/clear.gif").stat().st_ctime_ns
    then = time_name(changed_ns + 20_000_000)  # more than a tick of the file system's clock
    assert tree.read(f"/at/{then}{path}").data == b"film"
    assert tree.list(f"/at/{then}/projects/main/artifacts/films") == ["clear.gif"]
    (version,) = tree.list(f"/versions{path}")
    assert tree.read(f"/versions{path}/{version}").data == b"film"
    with pytest.raises(BadInput, match="it was changed at"):
        tree.read(f"/at/{before}{path}")
    assert tree.list(f"/at/{before}/projects/main/artifacts/films") == []
    (world.root / "artifacts/films/clear.gif").write_bytes(b"another")
    os.utime(world.root / "artifacts/films/clear.gif", (0, 0))  # what a program says of its time counts for nothing
    at = min(changed_ns + 20_000_000, (world.root / "artifacts/films/clear.gif").stat().st_ctime_ns)
    with pytest.raises(BadInput, match="it was changed at"):
        tree.read(f"/at/{time_name(at)}{path}")


def test_an_agents_own_jobs_and_logs_are_known_at_any_time(tmp_path):
    onboard(Home(tmp_path))
    for agent in ("alice", "bob"):
        AgentState.open(agent, tmp_path / "agents", create=True).close()
    ran, release = threading.Event(), threading.Event()

    def work(run):
        run.log("note", message="half way")
        ran.set()
        release.wait(PATIENCE_S)
        return Outcome.failure(Cause.ERROR, "SLIPPED", "it slipped")

    with ServedWorld.open(tmp_path, memory_only=True) as served:
        calls = served.services.calls
        calls.register("test", work)
        binding = Binding(USER, "alice", "p-1")
        alice = served.namespace(binding)
        id = calls.submit(binding, "test", "say", {"text": "hello"})
        place, files = f"/agents/self/jobs/{id}", ("status.json", "result.txt", "log.txt", "message.txt")
        assert ran.wait(PATIENCE_S)
        copies = [(moment(served.world), {name: alice.read(f"{place}/{name}").data for name in files})]
        release.set()
        wait_for_call(calls, id)
        copies.append((moment(served.world), {name: alice.read(f"{place}/{name}").data for name in files}))
        assert b"half way" in copies[0][1]["log.txt"] and b"it slipped" in copies[1][1]["log.txt"]
        for at, copied in copies:
            for name, data in copied.items():
                assert alice.read(f"/at/{at}{place}/{name}").data == data, (at, name)
            assert alice.list(f"/at/{at}/agents/self/jobs")[-1:] == [id]
        assert id not in alice.list("/at/1h/agents/self/jobs")
        bob = served.namespace(Binding(USER, "bob", "p-1"))
        with pytest.raises(NotFound):
            bob.read(f"/at/{at}{place}/status.json")


def test_the_past_of_a_job_is_read_without_a_look_at_any_other_job(world, monkeypatch):
    clock, tree, node = ManualClock(), world.namespace("operator"), world.node_ids()[0]
    jobs = JobStore(world.store, clock)
    jobs.accept([Order(f"job_{n}", node, "move_to", {}) for n in range(3)])
    read, path = [], f"/at/{time_name(epoch_ns(clock.now()))}/nodes/{node}/jobs/job_1/status.json"
    get, names = world.store.get, world.store.list
    monkeypatch.setattr(world.store, "get", lambda key: (read.append(key), get(key))[1])
    monkeypatch.setattr(world.store, "list", lambda key: (read.append(f"list {key}"), names(key))[1])
    assert b"pending" in tree.read(path).data
    looked = [key for key in read if ".paos/jobs" in key or ".paos/done" in key]
    assert set(looked) == {".paos/jobs/job_1.jsonl", ".paos/done/job_1.jsonl"}, looked
