"""Events through the tree: a binding is told of what it may see, and looking at the files asks nobody to wait."""

import json

import pytest

from worldfs.access.binding import OWNER, USER, Binding
from worldfs.base.errors import UserError
from worldfs.testing.call_fixtures import wait_until
from worldfs.world.home import Home
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import World

WAIT, NEXT = "/agents/self/events/control/wait.json", "/agents/self/events/next.json"


def ask(names, **selection):
    names.write(WAIT, json.dumps({"kind": "changes", **selection}).encode())


def told(names):
    return json.loads(names.read(NEXT).data)


def test_a_change_of_a_node_is_told_to_who_sees_it_and_to_nobody_else(served):
    names, guest = served.admin(), served.user("alice", served.project("p"))
    ask(names, paths=["/nodes"])
    ask(guest, paths=["/nodes", "/agents/self"])
    assert told(names)["timeout"] and told(guest)["timeout"]
    node = served.join("edge")["node_id"]
    change = told(names)["change"]
    assert change["path"].startswith(f"/nodes/{node}") or change["path"] == "/nodes"
    paths = []
    while "change" in (found := told(guest)):
        paths.append(found["change"]["path"])
    assert not [path for path in paths if node in path]


def test_a_directory_may_be_waited_for_and_what_is_hidden_may_not(served):
    names = served.user("alice", served.project("p"))
    ask(names, paths=["/agents/self/jobs"])
    job = names.write("/agents/self/chat/control/input", b"hello").extra["job"]
    assert told(names)["change"]["path"] == f"/agents/self/jobs/{job}"
    for path in ("/debug", "/nodes/none", "/agents/mother/jobs"):
        with pytest.raises(UserError):
            ask(names, paths=[path])


def test_the_events_themselves_may_be_waited_for_without_end(served):
    names = served.admin()
    ask(names, paths=["/agents/self/events/next.json", "/agents"])
    served.realm.feed.publish("/agents")
    assert names.stat(NEXT).size > 0
    assert told(names)["change"]["path"] == "/agents/self/events/next.json"


def test_a_letter_that_was_queued_when_the_server_went_is_answered_by_the_next_one(tmp_path):
    with ServedWorld.open(tmp_path) as realm:
        realm.services.calls.runtime._held = True  # as if the power went before anybody came to it
        names = realm.namespace(Binding(USER, "alice", "p"))
        job = names.write("/agents/self/chat/control/input", b"hello").extra["job"]
        assert json.loads(names.read(f"/agents/self/jobs/{job}/status.json").data)["state"] == "queued"
    with ServedWorld.open(tmp_path) as realm:
        names = realm.namespace(Binding(USER, "alice", "p"))
        wait = names.walk(f"/agents/self/jobs/{job}/status.json").wait()
        if wait is not None:
            wait_until(wait.ready)
        status = json.loads(names.read(f"/agents/self/jobs/{job}/status.json").data)
        assert status["state"] == "failed"
        assert "agents.brains" in status["error"]


def test_a_wait_goes_on_with_the_next_connection_of_its_binding_once_its_own_is_gone(served):
    project = served.project("p")
    binding, gone = Binding(USER, "alice", project), []
    first = served.realm.attach(binding, lambda: not gone)
    assert told(first)["error"] == "wait_not_configured"
    ask(first, paths=["/agents/self/chat/control/input"], kind="ends", timeout_ms=0)
    job = first.write("/agents/self/chat/control/input", b"hello").extra["job"]
    wait_until(lambda: json.loads(first.read(f"/agents/self/jobs/{job}/status.json").data)["state"] == "failed")
    beside = served.realm.attach(binding)
    assert told(beside)["error"] == "wait_not_configured", "while its connection is there, a wait is its own"
    gone.append(True)
    second = served.realm.attach(binding, lambda: False)
    assert told(second)["job"]["job_id"] == job
    third = served.realm.attach(binding)
    assert told(third)["timeout"], "it goes on where the last one stood"
    for other in (Binding(USER, "bob", project), Binding(USER, "alice", served.project("q"))):
        assert told(served.realm.attach(other))["error"] == "wait_not_configured"


def test_a_stored_file_that_another_writes_is_told_although_nobody_has_read_the_status(tmp_path):
    (workspace := Home(tmp_path).workspace).mkdir()
    with World.open(workspace) as world, ServedWorld.open(tmp_path, world=world, memory_only=True) as realm:
        names = realm.namespace(OWNER)
        world.namespace("planner").write("/projects/main/TASK.md", b"- [ ] begin\n")
        ask(names, paths=["/meta", "/projects/main/TASK.md"], since="now")
        world.namespace("planner").write("/projects/main/TASK.md", b"- [ ] look\n")
        wait = names.walk(NEXT).wait()
        assert wait is None or wait_until(wait.ready)
        assert "/projects/main/TASK.md" in told(names)["change"]["paths"]
