"""The files of agents: their own, those of others, and what a write there sets going."""

import json

import pytest
from tests.namespace.conftest import said

from worldfs.base.errors import BadInput, NotFound
from worldfs.testing.waiting import until


def test_what_an_agent_keeps_is_below_self_beside_its_memory_service(served):
    served.realm.ensure_agent("alice")
    (served.home / "agents/alice/memory.md").write_text("# Memory\n\n## Patterns\n- look twice\n")
    tree = served.user("alice", served.project())
    names = tree.list("/agents/self")
    assert {"memory", "memory.md"} <= set(names)
    assert b"look twice" in tree.read("/agents/self/memory.md").data
    assert tree.stat("/agents/self/memory.md").writable


def test_another_agents_memory_is_not_there_but_its_letterbox_is(served):
    for name in ("alice", "bob"):
        served.realm.ensure_agent(name)
        (served.home / f"agents/{name}/memory.md").write_text("# Memory\n")
        (served.home / f"agents/{name}/agent_policy.json").write_text('{"visible_agents": ["alice", "bob"]}')
    letter = {"id": "l1", "from": "alice", "to": "bob", "type": "flag", "subject": "s", "body": "b"}
    letter |= {"created_at": "2026-01-02T03:04:05Z", "priority": "normal"}
    tree = served.user("alice", served.project())
    assert "memory.md" not in tree.list("/agents/bob")
    with pytest.raises(NotFound):
        tree.read("/agents/bob/memory.md")
    tree.write("/agents/bob/inbox/l1.json", json.dumps(letter).encode())
    with pytest.raises(NotFound):
        tree.read("/agents/bob/inbox/l1.json")
    own = served.user("bob", served.project())
    assert [name for name in own.list("/agents/self/inbox") if name != "README.md"]


def test_a_peer_is_a_link_and_oneself_by_name_is_self(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project())
    assert tree.read("/agents/alice/LINK.txt").data == b"/agents/self\n"
    assert "LINK.txt" not in tree.list("/agents/self")
    with pytest.raises(NotFound):
        tree.stat("/agents/mother")


def test_no_agent_can_be_called_self(served):
    with pytest.raises(BadInput):
        served.realm.ensure_agent("self")


def test_a_letter_to_the_chat_becomes_a_job_that_a_read_waits_for(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project())
    written = tree.write("/agents/self/chat/control/input", b"hello", correlation="c1")
    job = written.extra["job"]
    assert written.n == 5
    assert written.extra["result_path"] == f"/agents/self/jobs/{job}/result.txt"
    assert tree.read("/agents/self/chat/control/input").data == b""
    until(lambda: said(tree, f"/agents/self/jobs/{job}/status.json")["state"] in ("done", "failed"))
    assert tree.walk(f"/agents/self/jobs/{job}/status.json").wait() is None
    assert said(tree, f"/agents/self/jobs/{job}/status.json")["correlation_id"] == "c1"
    assert not tree.stat(f"/agents/self/jobs/{job}/status.json").writable
    assert job in tree.list("/agents/self/jobs")
    with pytest.raises(NotFound):
        served.user("bob", served.project()).stat(f"/agents/self/jobs/{job}")


def test_memory_is_kept_by_its_control_files(served):
    served.realm.ensure_agent("alice")
    tree = served.user("alice", served.project())
    written = tree.write("/agents/self/memory/control/create.json", b'{"kind": "note", "content": "apples float"}')
    until(written.until.ready)
    assert said(tree, "/agents/self/memory/status.json")["state"] == "done"
    created = said(tree, "/agents/self/memory/result.json")
    tree.write("/agents/self/memory/control/invoke.json", b'{"op": "memory_search", "args": {"query": "apples"}}')
    until(lambda: said(tree, "/agents/self/memory/status.json")["state"] == "done")
    assert said(tree, "/agents/self/memory/result.json")["results"][0]["mem_id"] == created["mem_id"]
    assert said(tree, "/agents/self/services/contracts/memory/status.json")["state"] == "idle"


def test_what_a_connection_waits_for_is_its_own(served):
    served.realm.ensure_agent("alice")
    binding = served.user("alice", served.project()).binding
    one, other = served.realm.attach(binding), served.realm.attach(binding)
    one.write("/agents/self/events/control/wait.json", b'{"paths": ["/agents/self/chat/control/input"]}')
    assert said(other, "/agents/self/events/next.json")["configured"] is False
    job = one.write("/agents/self/chat/control/input", b"hello").extra["job"]
    wait = one.walk("/agents/self/events/next.json").wait()
    until(lambda: wait is None or wait.ready())
    assert said(one, "/agents/self/events/next.json")["job"]["job_id"] == job
    other.write("/agents/self/events/control/wait.json", b'{"paths": ["/agents/self/chat/control/input"]}')
    assert said(other, "/agents/self/events/next.json")["job"]["job_id"] == job  # ended since it was attached
