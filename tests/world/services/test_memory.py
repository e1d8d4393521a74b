"""The memory service: what the tools answer, and one search over notes and memory.md."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs.access.binding import USER, Binding
from worldfs.agents.agent_state import AgentState
from worldfs.base.model import Json
from worldfs.testing.call_fixtures import tool_run
from worldfs.testing.manual_clock import ManualClock
from worldfs.world.services import memory_tools as module
from worldfs.world.services.memory_tools import MemoryTools
from worldfs.world.services.service_tool import ToolError


class Asked:
    """The tools of one agent."""

    def __init__(self, memory: MemoryTools, agent: str = "alice") -> None:
        self.memory, self.binding = memory, Binding(USER, agent, "proj-1")

    def __call__(self, op: str, /, **args: Any) -> Json:
        return self.memory.invoke(f"memory_{op}", args, tool_run(binding=self.binding))

    def error(self, op: str, /, **args: Any) -> tuple[str, str]:
        with pytest.raises(ToolError) as caught:
            self(op, **args)
        return caught.value.code, caught.value.message

    def found(self, query: str, **more: Any) -> list[str]:
        return [item["mem_id"].split(":")[2] for item in self("search", query=query, **more)["results"]]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Asked]:
    memory = MemoryTools(tmp_path, ManualClock())
    yield Asked(memory)
    memory.close()


def of(name: str, version: object = "latest", agent: str = "alice", brain: str = "primary") -> str:
    return f"<EOT>{agent}:{brain}:{name}:{version}<EOT>"


def test_versions_are_told_newest_first_with_the_id_as_it_was_given(ask: Asked) -> None:
    ask("create", name="n", kind="note", content=1)
    ask("mutate", mem_id=of("n"), content=2)
    told = ask("versions", mem_id=of("n", 1))
    assert told["mem_id"] == of("n", 1)
    assert [item["mem_id"] for item in told["versions"]] == [of("n", 2), of("n", 1)]
    at = int(ManualClock().now().timestamp() * 1000)
    assert told["versions"][0] == {
        "mem_id": of("n", 2), "version": 2, "kind": "note", "write_protected": False, "unevictable": False,
        "created_at_ms": at,
    }  # fmt: skip
    assert len(ask("versions", mem_id=of("n"), limit=1)["versions"]) == 1
    assert ask("versions", mem_id=of("n"), limit=0)["versions"] == []


def test_an_argument_says_the_version_over_the_id(ask: Asked) -> None:
    ask("create", name="n", kind="note", content="one")
    ask("mutate", mem_id=of("n"), content="two")
    assert ask("load", mem_id=of("n", 1))["content"] == "one"
    assert ask("load", mem_id=of("n", 1), version=2)["content"] == "two"
    assert ask("load", mem_id=of("n"), version=1)["mem_id"] == of("n", 1)
    assert ask.error("load", mem_id=of("n"), version=0) == ("execution_failed", "NotFound")
    assert ask.error("load", mem_id=of("n", 3)) == ("execution_failed", "NotFound")


@pytest.mark.parametrize(
    "mem_id",
    ["garbage", "<EOT>", "<EOT><EOT>", "<EOT>alice:primary:n<EOT>", "<EOT>alice:primary:n:x<EOT>", "alice:primary:n:1",
     "<EOT>alice:primary:../x:1<EOT>", "<EOT>alice:primary::1<EOT>", "<EOT>alice:primary:n:1:2<EOT>",
     "<EOT>alice:primary:n:-1<EOT>"],
)  # fmt: skip
def test_what_is_no_id_is_told_as_such(ask: Asked, mem_id: str) -> None:
    ask("create", name="n", kind="note", content=1)
    for op in ("load", "versions", "evict"):
        assert ask.error(op, mem_id=mem_id) == ("execution_failed", "InvalidMemId")


def test_another_minds_notes_are_not_there(ask: Asked) -> None:
    bob = Asked(ask.memory, "bob")
    bob("create", name="n", kind="note", content="secret plan")
    for mem_id in (of("n", agent="bob"), of("n", brain="secondary")):
        assert ask.error("load", mem_id=mem_id) == ("execution_failed", "NotFound")
    assert ask.found("secret") == []
    assert bob.found("secret") == ["n"]


@pytest.mark.parametrize(
    ("op", "args", "message"),
    [
        ("create", {"kind": "note"}, "memory_create requires 'content'"),
        ("create", {"content": 1}, "memory_create requires 'kind'"),
        ("create", {"kind": 5, "content": 1}, "memory_create requires 'kind'"),
        ("create", {"kind": "n", "content": 1, "unevictable": "yes"}, "memory_create 'unevictable' must be a boolean"),
        ("load", {}, "memory_load requires 'mem_id'"),
        ("load", {"mem_id": of("n"), "version": -1}, "memory_load 'version' must be a non-negative integer"),
        ("load", {"mem_id": of("n"), "version": True}, "memory_load 'version' must be a non-negative integer"),
        ("mutate", {"mem_id": of("n")}, "memory_mutate requires 'content'"),
        ("search", {"query": 5}, "memory_search requires 'query'"),
        ("search", {"query": "x", "limit": 1.5}, "memory_search 'limit' must be a non-negative integer"),
    ],
)
def test_arguments_are_checked_with_the_recorded_words(ask: Asked, op: str, args: Json, message: str) -> None:
    ask("create", name="n", kind="note", content=1)
    assert ask.error(op, **args) == ("invalid_args", message)


def test_null_is_a_content_and_an_unknown_tool_is_none(ask: Asked) -> None:
    ask("create", name="n", kind="note", content=None)
    assert ask("load", mem_id=of("n"))["content"] is None
    assert ask.error("dream") == ("tool_not_found", "tool not found")


@pytest.mark.parametrize(
    ("content", "query"),
    [("把红苹果放进碗里", "苹果"), ("Größe der Schüssel: 12 cm", "schüssel"), ({"де": "яблоко в миске"}, "яблоко"),
     (["りんごは赤い"], "りんご"), ("the gripper slipped", "gripping")],
)  # fmt: skip
def test_search_finds_text_of_any_language_by_its_words(ask: Asked, content: object, query: str) -> None:
    ask("create", name="it", kind="note", content=content)
    ask("create", name="other", kind="note", content="nothing of that sort")
    assert ask.found(query) == ["it"]


def test_search_knows_the_present_version_of_active_notes_only(ask: Asked) -> None:
    ask("create", name="a", kind="note", content="violet")
    ask("create", name="b", kind="recipe", content="violet")
    ask("mutate", mem_id=of("a"), content="yellow")
    assert ask.found("violet") == ["b"]
    assert ask.found("yellow") == ["a"]
    assert ask.found("recipe") == ["b"]  # a kind, a name
    ask("evict", mem_id=of("b"))
    assert ask.found("violet") == []
    assert ask.found("") == ["a"]
    assert ask.found("yellow", limit=0) == []


def test_what_memory_md_says_is_found_loaded_and_changed_only_there(ask: Asked, tmp_path: Path) -> None:
    ask("create", name="n", kind="note", content="the violet bowl")
    with AgentState.open("alice", tmp_path, clock=ManualClock()) as state:
        state.remember("dead_ends", "violet light blinds the camera")
    hits = {item["kind"]: item for item in ask("search", query="violet")["results"]}
    assert set(hits) == {"note", "dead_ends"}
    there = hits["dead_ends"]
    assert (there["version"], there["write_protected"], there["unevictable"]) == (1, True, True)
    assert ask("load", mem_id=there["mem_id"])["content"] == "violet light blinds the camera"
    assert [one["version"] for one in ask("versions", mem_id=there["mem_id"])["versions"]] == [1]
    assert ask.error("mutate", mem_id=there["mem_id"], content="x") == ("execution_failed", "ImmutableTier")
    assert ask.error("evict", mem_id=there["mem_id"]) == ("execution_failed", "ImmutableTier")
    assert ask.error("create", name="memory.md.abc", kind="n", content=1) == ("execution_failed", "InvalidMemId")
    with AgentState.open("alice", tmp_path, clock=ManualClock()) as state:
        state.undo("memory.md")
    assert ask.found("violet") == ["n"]
    assert ask.error("load", mem_id=there["mem_id"]) == ("execution_failed", "NotFound")


def test_a_megabyte_is_kept_and_found_after_a_restart(tmp_path: Path) -> None:
    memory = MemoryTools(tmp_path, ManualClock())
    long = "lorem ipsum 苹果 " * 70_000 + "xylophone"
    Asked(memory)("create", name="long", kind="note", content=long)
    assert len(long.encode()) > 1 << 20
    memory.close()
    again = MemoryTools(tmp_path, ManualClock())
    ask = Asked(again)
    assert ask("load", mem_id=of("long"))["content"] == long
    assert ask.found("xylophone") == ["long"]
    again.close()


def test_many_agents_at_once_keep_no_more_than_so_many_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPEN_MOST", 2)
    memory = MemoryTools(tmp_path, ManualClock())
    wrong: list[BaseException] = []

    def work(name: str) -> None:
        ask = Asked(memory, name)
        try:
            for n in range(5):
                ask("create", name="n", kind="note", content=n)
            assert len(ask.found("")) == 5
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(f"agent{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    Asked(memory, "agent0")("search", query="")
    assert len(memory._open) == 2
    memory.close()
