"""Changes that other processes make in a home, as its feed publishes them."""

import threading
from pathlib import Path

import pytest

from worldfs.access.roles import PLANNER
from worldfs.agents.init_agent import create_agent
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.model import Order
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import WorkspaceFixture
from worldfs.world.world import World

TASK = "/projects/main/TASK.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return WorkspaceFixture(tmp_path / "w", ("arm_1",)).root


def waits(world: World, path: str, role: str, text: bytes) -> threading.Thread:
    """A thread that waits until a file contains a text; it has looked once when this returns."""
    looked = threading.Event()

    def ready(data: bytes | None) -> bool:
        looked.set()
        return text in (data or b"")

    thread = threading.Thread(target=lambda: world.changes.wait(path, role, ready), daemon=True)
    thread.start()
    assert looked.wait(PATIENCE_S)
    return thread


@pytest.mark.parametrize(
    ("path", "file", "data"),
    [
        (TASK, "w/TASK.md", b"# Task: rest\n"),
        ("/agents/rio/memory.md", "w/agents/rio/memory.md", b"# Memory\n\n## Patterns\n\n- rest\n"),
    ],
)
def test_a_write_past_this_process_wakes_a_wait_for_the_file(root: Path, path: str, file: str, data: bytes) -> None:
    create_agent(root / "agents", "rio")
    with World.open(root) as world:
        thread = waits(world, path, "operator", b"rest")
        (root.parent / file).write_bytes(data)
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_a_wait_ends_when_its_time_is_over_on_the_clock_of_the_world(root: Path) -> None:
    clock = ManualClock()
    with World.open(root, clock=clock) as world:
        assert not world.changes.wait(TASK, "operator", lambda data: False, timeout=3600)
        assert clock.monotonic() == 3600


def test_a_role_waits_for_nothing_that_it_does_not_see(root: Path) -> None:
    with World.open(root) as world:
        with pytest.raises(NotFound):
            world.changes.wait(TASK, "watchdog", lambda data: True)
        with pytest.raises(BadInput):
            world.changes.wait("/meta/SCHEMA.json", "operator", lambda data: True)


def test_the_status_is_published_from_its_first_reader_on(root: Path) -> None:
    with World.open(root) as world, world.changes.of_status() as changes:
        (root / "TASK.md").write_bytes(b"# Task: rest\n")
        topics = {topic for one in changes.read(PATIENCE_S) for topic in one.topics}
    assert {"/meta/status.json", TASK, "/nodes/arm_1/TASK.md"} <= topics


def ask(world: World, id: str) -> None:
    order = Order(id, "arm_1", "pick_up", {"object_id": "apple"})
    world.submit(order)
    world.approvals.ask("arm_1", [order], PLANNER, "lift it")


@pytest.mark.parametrize(("before", "job"), [(True, "/second"), (False, "")], ids=["known", "new directories"])
def test_an_order_and_a_request_for_approval_are_published(root: Path, before: bool, job: str) -> None:
    with World.open(root) as world:
        if before:
            ask(world, "first")
        with world.changes.of_status() as changes:
            ask(world, "second")
            wanted, topics = {f"/nodes/arm_1/jobs{job}", "/nodes/arm_1/approvals.json"}, set[str]()
            while not wanted <= topics:
                found = changes.read(PATIENCE_S)
                assert found
                topics.update(topic for one in found for topic in one.topics)
