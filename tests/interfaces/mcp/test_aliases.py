"""A control by whatever path it is written: what is refused by its name is refused by every alias of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("mcp")

from mcp import Client
from mcp.types import ElicitResult

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, Binding
from worldfs.access.tokens import TokenStore
from worldfs.base.clock import SystemClock
from worldfs.base.errors import UserError
from worldfs.base.model import Order
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.mcp.namespace_tree import NamespaceTree
from worldfs.interfaces.mcp.protocol_server import protocol_server
from worldfs.interfaces.mcp.remote_actor import remote_actor
from worldfs.interfaces.mcp.tool_service import ToolService
from worldfs.interfaces.model_chat.chat_tree import ChatTree
from worldfs.tree.row_table import FileKind
from worldfs.world.layout import ROWS
from worldfs.world.layout.controls import STOPPING, control_at
from worldfs.world.served_world import ServedWorld

from .clients import call, patient

ANNA = Binding(ADMIN, MOTHER, SYSTEM, person="anna")
CODE = "0123456789abcdef"
NAMES = {
    "{node}": "franka_001", "{project}": "main", "{job}": "job-1", "{agent}": MOTHER, "{mate}": "self",
    "{service}": "arm", "{inside*}": "control/x.json", "{mount*}": "arm/control/x.json",
}  # fmt: skip


class Served(NamedTuple):
    realm: ServedWorld
    url: str
    token: str


@pytest.fixture
def served(home: Path) -> Iterator[Served]:
    with ServedWorld.open(home) as realm, BackgroundServer(realm, ListenOptions(port=0)) as server:
        _, token = TokenStore.open(home).add(MOTHER, ADMIN, person="anna")
        yield Served(realm, server.started.url, token)


@asynccontextmanager
async def client_of_anna(served: Served, way: str, **options: Any) -> AsyncIterator[Client]:
    """The client of a person's token: of a tree in this process, and behind a socket."""
    if way == "socket":
        async with remote_actor(served.url, served.token) as tree, Client(_server(tree), **options) as client:
            yield client
    else:
        own, model = (served.realm.attach(one) for one in (ANNA, ANNA.of_model))
        tree = NamespaceTree(ANNA.of_model, model, served.realm.feed, None, (ANNA, own))
        async with Client(_server(tree), **options) as client:
            yield client


def _server(tree: Any) -> Any:
    service = ToolService(tree, SystemClock())
    return protocol_server(lambda ctx: service)


def controls() -> list[str]:
    """Every path of the layout whose write is an order."""
    patterns = [row.pattern for row in ROWS if row.kind in (FileKind.CONTROL, FileKind.SHEET)]
    return ["/".join(NAMES.get(part, part) for part in pattern.split("/")) for pattern in patterns]


def aliases(realm: ServedWorld, path: str) -> dict[str, bool]:
    """Other spellings of a path, each with whether the tree takes it as the same: by every link that there is, and as
    a person or a program may write a path."""
    tree, places = realm.attach(ANNA), [path]
    for project in ("main", "system"):
        for directory in ("nodes", "agents", "fs"):
            base = f"/projects/{project}/{directory}"
            links = [one for one in tree.walk(base).entries() if one.kind is FileKind.LINK]
            for link in links:
                target = tree.walk(link.path).read().data.decode().strip()
                if path.startswith(f"{target}/"):
                    places.append(link.path + path.removeprefix(target))
    found = dict.fromkeys(places, True)
    for place in places:
        found |= dict.fromkeys((place[1:], place.replace("/", "//"), place.replace("/", "/./"), f"{place}/"), True)
        above = place.rpartition("/")[0]
        found |= dict.fromkeys((f"{above}/x/..{place.removeprefix(above)}", place.upper(), place.title()), False)
    return found


def test_each_alias_of_each_control_is_that_control(served: Served) -> None:
    tree, through_links = served.realm.attach(ANNA), 0
    for path in controls():
        wanted = control_at(path)
        assert wanted.known and wanted.orders
        for alias, same in aliases(served.realm, path).items():
            try:
                real = "/" + "/".join(tree.shared.real_path(f"/{alias}")[0])
            except UserError:
                assert not same, alias
                continue
            assert (control_at(real) == wanted) is same, alias
            through_links += same and "/projects/main/nodes/" in alias
    assert through_links


@pytest.mark.parametrize("way", ["here", "socket"])
def test_no_alias_of_approve_answers_without_the_person_and_the_record_names_that_person(
    served: Served, way: str
) -> None:
    questions: list[str] = []
    approvals = served.realm.world.approvals
    says = iter(["no"])

    async def person(context: Any, params: Any) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"answer": next(says, "yes")})

    def plan_of(number: int) -> str:
        order = Order(f"a{number}", "franka_001", "pick_up", {"n": number})
        return approvals.ask("franka_001", [order], "planner", "test", orderer="operator/mother/ben/model").plan

    async def work() -> None:
        path, plan = "/nodes/franka_001/approve", plan_of(0)
        given = {"text": json.dumps({"plan": plan, "answer": "approved"})}
        found = await asyncio.to_thread(aliases, served.realm, path)
        assert "/projects/main/nodes/franka_001/approve" in found
        async with client_of_anna(served, way, mode="legacy") as client:  # nobody to ask
            for alias, same in found.items():
                result = await client.call_tool("write", {"path": alias, **given})
                assert result.is_error and (not same or result.content[0].text.startswith("NEEDS_PERSON")), alias
        assert approvals.load(plan).answer is None
        async with client_of_anna(served, way, mode="legacy", elicitation_callback=person) as client:
            alias = "/projects/main/nodes/franka_001/approve"
            assert (await client.call_tool("write", {"path": alias, **given})).is_error
            assert len(questions) == 1 and plan in questions[0] and approvals.load(plan).answer is None
            await call(client, "write", path=alias, **given)
        assert len(questions) == 2
        answer = approvals.load(plan).answer
        assert answer is not None and (answer.answer, answer.by) == ("approved", "anna")

    patient(work())


@pytest.mark.parametrize("way", ["here", "socket"])
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/agents/self/chat/control/input", f"confirm {CODE}: put the apple on the table"),
        ("/agents/self/chat/control/input", '{"text": "tidy up", "answers": [{"question": "q", "answer": "a"}]}'),
        ("/projects/main/mission", json.dumps({"text": "tidy up", "confirm": CODE})),
    ],
    ids=["confirm", "answers", "mission"],
)
def test_no_alias_of_a_chat_or_a_mission_confirms_in_the_persons_place(
    served: Served, way: str, path: str, text: str
) -> None:
    async def work() -> None:
        async with client_of_anna(served, way, mode="legacy") as client:
            for alias, same in (await asyncio.to_thread(aliases, served.realm, path)).items():
                result = await client.call_tool("write", {"path": alias, "text": text})
                assert result.is_error and (not same or result.content[0].text.startswith("NEEDS_PERSON")), alias

    patient(work())
    assert not served.realm.world.missions.open_ids()


def test_a_model_in_chat_orders_by_no_alias_and_stops_by_each(served: Served) -> None:
    class Taken(NamespaceTree):
        """A tree that notes what is written to it."""

        async def write(self, path: str, data: bytes, *, expect: str = "") -> Any:
            written.append(path)

    written: list[str] = []
    tree = ChatTree(Taken(ANNA.of_model, served.realm.attach(ANNA.of_model), served.realm.feed, None))

    async def work() -> None:
        for path in controls():
            control = control_at(path)
            free = control.view in STOPPING or path.startswith("/agents/self/memory/control/")
            for alias, same in (await asyncio.to_thread(aliases, served.realm, path)).items():
                written.clear()
                try:
                    await tree.write(alias, b"x")
                except UserError:
                    assert not (free and same), alias
                assert written == ([path] if free and same else []), alias

    patient(work())
