"""Files as resources: templates, content, completion, and subscriptions that the change feed wakes, in both eras."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import MCPError
from mcp.types import ResourceTemplateReference, ResourceUpdatedNotification

from worldfs.interfaces.mcp import file_resources
from worldfs.testing.waiting import PATIENCE_S, soon

from .clients import client_of, patient

ENVIRONMENT = "paos:///projects/main/ENVIRONMENT.md"


def test_files_are_read_as_resources(home: Path) -> None:
    async def work() -> None:
        async with client_of(home) as client:
            listed = {str(one.uri): one for one in (await client.list_resources()).resources}
            assert listed[ENVIRONMENT].mime_type == "text/markdown"
            templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
            assert "paos:///{+path}" in templates
            (content,) = (await client.read_resource(ENVIRONMENT)).contents
            assert content.text == (home / "workspace/ENVIRONMENT.md").read_text()
            (content,) = (await client.read_resource("paos:///meta/protocol.json")).contents
            assert content.mime_type == "application/json"

    patient(work())


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("paos:///nope", "NOT_FOUND: /nope: no such file or directory"),
        ("paos:///projects", "eisdir: /projects: it is a directory"),
        ("file:///etc/passwd", "expected paos:///PATH"),
        ("paos:///projects/%2e%2e/%2e%2e/etc/passwd", "UNSAFE_PATH"),
    ],
)
def test_a_resource_that_is_not_there_is_refused(home: Path, uri: str, said: str) -> None:
    async def work() -> None:
        async with client_of(home) as client:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert said in str(refused.value)

    patient(work())


def test_variables_of_templates_are_completed(home: Path) -> None:
    async def work() -> None:
        async with client_of(home) as client:

            async def values(name: str, value: str) -> list[str]:
                ref = ResourceTemplateReference(type="ref/resource", uri="paos:///{+path}")
                return list((await client.complete(ref, {"name": name, "value": value})).completion.values)

            assert await values("node", "fra") == ["franka_001"]
            assert await values("path", "projects/main/ENV") == ["projects/main/ENVIRONMENT.md"]
            assert await values("other", "x") == []

    patient(work())


def change(home: Path, word: str) -> None:
    page = home / "workspace/ENVIRONMENT.md"
    page.write_text(page.read_text() + f"\n{word}\n")


@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
def test_a_subscriber_of_the_handshake_era_is_told_of_a_change_and_not_after_it_unsubscribed(home: Path) -> None:
    told: list[str] = []

    async def heard(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            told.append(str(message.params.uri))

    async def work() -> None:
        async with client_of(home, message_handler=heard) as client:
            await client.subscribe_resource(ENVIRONMENT)
            change(home, "one")
            await soon(lambda: told == [ENVIRONMENT])
            await client.unsubscribe_resource(ENVIRONMENT)
            change(home, "two")
            found = await client.call_tool("wait", {"path": "/projects/main/ENVIRONMENT.md", "until": "two"})
            assert found.structured_content["happened"]
            assert told == [ENVIRONMENT]
            with pytest.raises(MCPError):
                await client.subscribe_resource("paos:///nope")

    patient(work())


def test_a_listener_of_the_stateless_era_is_told_of_a_change(home: Path) -> None:
    async def work() -> None:
        async with client_of(home, mode="auto") as client:
            async with client.listen(resource_subscriptions=[ENVIRONMENT]) as events:
                change(home, "one")
                async with asyncio.timeout(PATIENCE_S):
                    event = await anext(aiter(events))
                assert event.uri == ENVIRONMENT
            assert (await client.call_tool("look", {})).structured_content["agent"] == "mother"

    patient(work())


def test_a_resource_that_breaks_tells_the_client_nothing_of_the_machine(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: str) -> str:
        raise OSError(5, "Input/output error", str(home / "secret"))

    monkeypatch.setattr(file_resources, "path_of", broken)

    async def work() -> None:
        async with client_of(home) as client:
            with pytest.raises(MCPError) as told:
                await client.read_resource(ENVIRONMENT)
            assert told.value.error.message == "BUG: internal error; the log of the server has the traceback"

    patient(work())
