"""Bounds of the MCP server: sessions and subscriptions of a token, large files, words that cannot be read."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import httpx2
from mcp import MCPError
from tests.world.conftest import Served as Realm
from tests.world.conftest import service

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, Binding
from worldfs.base.clock import SystemClock
from worldfs.interfaces.mcp import file_tools, http_application, large_content, resource_subscriptions
from worldfs.interfaces.mcp.http_application import HttpApplication
from worldfs.interfaces.mcp.namespace_tree import NamespaceTree
from worldfs.interfaces.mcp.tool_service import ToolService
from worldfs.namespace.node import LARGE
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.waiting import PATIENCE_S

from .clients import call, client_of, patient, refused
from .test_http import ACCEPT, HELLO, Served, served

__all__ = ["served"]
FILES = "/projects/main/artifacts"


def hello(served: Served, token: str) -> httpx2.Response:
    headers = {**ACCEPT, "Authorization": f"Bearer {token}"}
    return httpx2.post(served.url, json=HELLO, headers=headers, timeout=PATIENCE_S)


def test_the_sessions_of_a_token_are_bounded_and_another_token_has_its_own(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_application, "SESSIONS_OF_TOKEN", 2)
    _, other = served.tokens.add("rio")
    first, second = (hello(served, served.admin) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    third = hello(served, served.admin)
    assert third.status_code == 429
    assert third.text.startswith("TOO_MANY: this token has 2 sessions open") and "DELETE" in third.text
    assert hello(served, other).status_code == 200
    mine = {"Authorization": f"Bearer {served.admin}", "mcp-session-id": first.headers["mcp-session-id"]}
    assert httpx2.delete(served.url, headers=mine, timeout=PATIENCE_S).status_code == 200
    assert hello(served, served.admin).status_code == 200


@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
def test_the_subscriptions_of_a_token_are_bounded_over_all_its_connections(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource_subscriptions, "SUBSCRIPTIONS_OF_TOKEN", 2)
    _, other = served.tokens.add("rio")
    uris = [f"paos:///projects/main/{name}.md" for name in ("ENVIRONMENT", "README", "LESSONS")]

    async def work() -> None:
        async with served.client() as one, served.client() as two:
            await one.subscribe_resource(uris[0])
            await one.subscribe_resource(uris[0])  # the same once more is none more
            await two.subscribe_resource(uris[1])
            with pytest.raises(MCPError) as error:
                await two.subscribe_resource(uris[2])
            assert "TOO_MANY: too many subscriptions; expected at most 2 of all connections" in str(error.value)
            async with served.client(other) as theirs:
                await theirs.subscribe_resource(uris[0])
            await one.unsubscribe_resource(uris[0])
            async with asyncio.timeout(PATIENCE_S):
                while True:  # its end is counted when its task has ended
                    try:
                        await two.subscribe_resource(uris[2])
                        break
                    except MCPError:
                        await asyncio.sleep(0.01)

    patient(work())


def test_a_revoked_token_leaves_nothing_behind(served: Served) -> None:
    token, secret = served.tokens.add("rio")

    async def work() -> None:
        async with served.client(secret) as client:
            await call(client, "look")
        served.tokens.revoke(token.id)
        served.realm.feed.publish("/nodes")  # the server looks at its tokens with the plane's next tick
        assert (await asyncio.to_thread(hello, served, secret)).status_code == 401

    patient(work())


def test_a_file_too_large_to_be_read_whole_is_refused_and_never_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = home / "workspace/artifacts"
    place.mkdir()
    for name, size in (("small.txt", 6), ("large.bin", LARGE + 1)):
        with (place / name).open("wb") as file:
            file.write(b"needle")
            file.truncate(size)
    read: dict[str, threading.Thread] = {}
    get = DiskStore.get
    monkeypatch.setattr(
        DiskStore, "get", lambda self, key: read.update({key: threading.current_thread()}) or get(self, key)
    )

    async def work() -> None:
        async with client_of(home) as client:
            entries = (await call(client, "list", path=FILES))["entries"]
            assert {one["name"]: one["bytes"] for one in entries if one["name"] != "README.md"} == {
                "small.txt": 6,
                "large.bin": LARGE + 1,
            }
            said = (await client.call_tool("read", {"path": f"{FILES}/large.bin"})).content[0].text[:200]
            assert said.startswith(f"TOO_LARGE: {FILES}/large.bin: 67,108,865 bytes; expected at most 67,108,864")
            found = await call(client, "search", text="needle", path=FILES)
            assert [one["path"] for one in found["hits"]] == [f"{FILES}/small.txt"]
            assert found["files_left_out"] == 1
            await refused(client, "wait", path=f"{FILES}/large.bin", until="needle")

    patient(work())
    assert "artifacts/small.txt" in read and "artifacts/large.bin" not in read
    assert read["artifacts/small.txt"] is not threading.main_thread(), "a file was read on the loop"


def test_what_takes_long_over_many_bytes_does_not_run_on_the_loop(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "workspace/artifacts").mkdir()
    (home / "workspace/artifacts/long.txt").write_bytes(b"x\n" * large_content.LOOP_BYTES + b"needle\n")
    threads: list[threading.Thread] = []
    inner = file_tools._matching_lines

    def noted(*given: Any, **more: Any) -> Any:
        threads.append(threading.current_thread())
        return inner(*given, **more)

    monkeypatch.setattr(file_tools, "_matching_lines", noted)

    class Whole(bytes):
        def __contains__(self, part: object) -> bool:
            threads.append(threading.current_thread())
            return super().__contains__(part)  # type: ignore[arg-type]

    read = NamespaceTree.read

    async def whole(self: NamespaceTree, path: str) -> Any:
        found = await read(self, path)
        return found._replace(data=Whole(found.data), revision="")

    monkeypatch.setattr(NamespaceTree, "read", whole)

    async def work() -> None:
        async with client_of(home) as client:
            found = await call(client, "search", text="needle", path=FILES)
            assert [one["line"] for one in found["hits"]] == [large_content.LOOP_BYTES + 1]
            assert (await call(client, "wait", path=f"{FILES}/long.txt", until="needle"))["happened"]

    patient(work())
    assert len(threads) >= 2
    assert threads[-1] is not threading.main_thread(), "a wait looked through a large file on the loop"
    assert threading.main_thread() not in threads[-2:], "a search looked through a large file on the loop"


def test_one_service_with_odd_words_is_named_and_the_others_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    realm = Realm(tmp_path)
    move = {"operations": {"go": {"description": "go there"}}}
    good = service("good", ops={"paths": {"go": "control/go.json"}}, schema=move)
    realm.join("edge", [service("odd"), good])
    read = NamespaceTree.read

    async def garbled(self: NamespaceTree, path: str) -> Any:
        found = await read(self, path)
        return found._replace(data=b'["go"]') if path.endswith("/odd/OPS.json") else found

    monkeypatch.setattr(NamespaceTree, "read", garbled)
    binding = Binding(ADMIN, MOTHER, SYSTEM)

    class Nobody:
        able = False

        async def ask(self, message: str, field: str, about: str) -> str | None:
            return None

    async def work() -> None:
        with ThreadPoolExecutor(1) as threads:
            tree = NamespaceTree(binding, realm.realm.attach(binding), realm.realm.feed, threads)
            tools = ToolService(tree, SystemClock())
            found = (await tools.call("operations", {}, Nobody())).value
            assert found is not None and [one["operation"] for one in found["operations"]] == ["go"]
            (said,) = found["unreadable"]
            assert said.startswith("odd of node-1: ") and "expected a JSON object" in said
            said = (await tools.call("operate", {"operation": "fly"}, Nobody())).text
            assert "go of node-1" in said and "odd of node-1" in said

    try:
        patient(work())
    finally:
        realm.realm.close()


def test_a_start_that_fails_is_raised_and_not_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    class Host:
        realm, tokens, threads, local = served.realm, served.tokens, None, True

    def broken(self: Any) -> Any:
        raise OSError("no more descriptors")

    monkeypatch.setattr(http_application.TokenSessionManager, "run", broken)

    async def work() -> None:
        with pytest.raises(OSError, match="no more descriptors"):
            await HttpApplication(Host()).start()  # type: ignore[arg-type]

    patient(work())
