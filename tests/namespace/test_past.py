"""The past of the tree: what a document was, under today's rights, and a reason where it is not known."""

import itertools

import pytest

from worldfs.access.binding import USER, Binding
from worldfs.access.judge import judge
from worldfs.access.roles import ROLES
from worldfs.access.verb import Verb
from worldfs.agents.agent_state import AgentState
from worldfs.base.clock import epoch_ns
from worldfs.base.errors import BadInput, NotFound, NotPermitted, UserError
from worldfs.namespace.past_time import parse_time, time_name
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.workspace_fixture import WorkspaceFixture
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
