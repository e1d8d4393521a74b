"""Every row of the layout × every kind of actor × every verb: what the judge answers, the tree and the wire do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.world.conftest import Served, service

from worldfs.access.binding import ADMIN, OWNER, USER, Binding
from worldfs.access.binding_rights import BindingRights
from worldfs.access.judge import judge
from worldfs.access.roles import ROLES
from worldfs.access.things import (
    AgentName,
    JobOwner,
    NodeName,
    ProjectName,
    Realm,
    RobotName,
    ServedFile,
    ServicePermissions,
)
from worldfs.access.tokens import TokenStore
from worldfs.access.verb import Verb
from worldfs.agents.init_agent import create_agent
from worldfs.base.errors import NotFound, NotPermitted
from worldfs.base.model import Order
from worldfs.interfaces.acheron.server import Server
from worldfs.namespace.namespace import Namespace
from worldfs.namespace.tree import Tree
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.bare_client import BareClient, LocalServer
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S
from worldfs.tree.path import segments
from worldfs.tree.row_table import FileRow, RowTable
from worldfs.tree.verb_values import Written
from worldfs.tree.virtual_file import VirtualFile
from worldfs.world.home import Home
from worldfs.world.layout import ROWS
from worldfs.world.onboard import onboard
from worldfs.world.world import World

# -- file roles, through the tree --------------------------------------------------------------------------------------


class AllThere:
    """Mounts in which every file of every row exists."""

    def __init__(self) -> None:
        self.kept = MemoryStore()

    def store(self, row: FileRow, names: object) -> MemoryStore:
        return self.kept

    def key(self, row: FileRow, names: dict[str, str]) -> str:
        return "/".join(names.get(part.strip("{}*"), part) for part in segments(row.pattern))

    def names(self, mount: str, variable: str, names: object) -> list[str]:
        return []

    def holds(self, mount: str, names: object) -> bool:
        return True

    def exists(self, row: FileRow, names: object) -> bool:
        return True


class Anything(VirtualFile):
    def read(self, names: object) -> bytes:
        return b"computed"

    def write(self, names: object, data: bytes, ask: object) -> Written:
        return Written(len(data))


def does(tree: Tree, mounts: AllThere, verb: Verb, path: str, role: str) -> bool:
    """Whether the tree carries out the verb."""
    mounts.kept.put(path.lstrip("/"), b"stored")
    namespace = Namespace(tree, role, starting=verb is Verb.WRITE_AT_STARTUP)
    try:
        if verb is Verb.READ:
            namespace.read(path)
        elif verb is Verb.REMOVE:
            tree.remove(segments(path), role)
        else:
            namespace.write(path, b"new")
    except (NotFound, NotPermitted):
        return False
    return True


PAST = ("at", "versions")  # what is in them is asked in tests/namespace/test_past.py
SUBTREES = ("mounts", "service_inside", *PAST)  # what is in the first two is asked over the wire
VERBS = (Verb.READ, Verb.WRITE, Verb.WRITE_AT_STARTUP, Verb.REMOVE)


@pytest.mark.parametrize("role", [*ROLES, "stranger", ""])
def test_a_tree_does_for_each_role_what_the_judge_answers(role: str) -> None:
    mounts = AllThere()
    files = tuple(row for row in ROWS if row.view not in SUBTREES)
    tree = Tree(RowTable(files), mounts, {row.view: Anything() for row in files if row.view})
    allowed = 0
    for row in files:
        path = row.pattern.replace("*}", "}")
        path = "/".join("x1" if part.startswith("{") else part for part in path.split("/"))
        found = tree.find_row(segments(path))
        assert found is not None and found[0] is row
        for verb in VERBS:
            decision = judge(role, verb, row)
            assert does(tree, mounts, verb, path, role) == bool(decision), (path, role, verb)
            allowed += bool(decision)
    assert (allowed > 0) == (role in ROLES)


# -- bindings, over the wire -----------------------------------------------------------------------------------------

ROBOT, EDGE = "franka_001", "node-1"
SERVICES = ((ROBOT, "body"), (EDGE, "open"), (EDGE, "closed"), (EDGE, "keyed"))


class Asked(NamedTuple):
    """A path of a row."""

    path: str
    row: FileRow
    names: dict[str, str]


class Ground:
    """A served home with a robot, a node with services, four projects and five agents."""

    def __init__(self, home: Path) -> None:
        onboard(Home(home), profile="", language="en", robot_id="")
        self.world = World.open(
            home / "workspace",
            config=Home(home).config({}),
            agents=home / "agents",
            serve=True,
            threads=False,
            drivers={"simulation": lambda seat: NullDriver(executed=[])},
        )
        self.served = Served(home, world=self.world)
        self.realm, call = self.served.realm, self.served.control
        for agent in ("mother", "alice", "bob", "eve", "rio"):
            create_agent(home / "agents", agent)
        self.job = self.world.submit(Order("act-1", ROBOT, "wait", {}))
        self.world.store.put("artifacts/seen.txt", b"a picture")
        node = self.served.join(
            "edge",
            [
                service("open", capabilities={"invoke": True}),
                service("closed", permissions={"default": "deny-by-default"}),
                service("keyed", permissions={"require_project_token": True}),
            ],
        )
        assert node["node_id"] == EDGE
        self.lab, self.locked, self.shut = (self.served.project(name) for name in ("lab", "locked", "shut"))
        for project in (self.lab, self.locked):
            mount = {"node_id": EDGE, "export_name": "work", "mount_path": "/src"}
            call("project_mount_set", project_id=project, **mount)
        self.token = call("project_token_rotate", project_id=self.locked)["project_token"]
        call("project_update", project_id="main", access_policy={"agents": {"bob": {"invoke": "deny"}}})
        self.actors = (
            OWNER,
            Binding(ADMIN, "rio", self.lab),
            Binding(USER, "alice", "main"),
            Binding(USER, "bob", "main"),
            Binding(USER, "alice", self.lab),
            Binding(USER, "alice", self.locked, self.token),
            Binding(USER, "eve", self.shut),
        )
        self.own = self.realm.namespace(Binding(USER, "alice", "main")).write("/agents/self/chat/control/input", b"hi")
        owner = self.realm.namespace(OWNER)
        self.permissions = {
            pair: json.loads(owner.read("/nodes/{}/services/{}/PERMISSIONS.json".format(*pair)).data)
            for pair in SERVICES
        }

    def close_project(self) -> None:
        """The last actor may no longer read the project that it is bound to."""
        policy = {"agents": {"eve": {"read": "deny"}}}
        self.served.control("project_update", project_id=self.shut, access_policy=policy)

    def rights(self, binding: Binding) -> BindingRights:
        return self.realm.namespace(binding).rights

    def close(self) -> None:
        self.realm.close()
        self.world.close()

    def asked(self) -> Iterator[Asked]:
        """Every row, at every path that it has here."""
        values = {
            "project": ["main", self.lab, self.locked, self.shut, "system"],
            "node": [ROBOT, EDGE, "local"],
            "agent": ["self", "alice", "rio"],
            "letter": ["none.json"],
            "path": ["seen.txt"],
            "member": [ROBOT, EDGE],
            "mate": ["rio", "eve"],
            "inside": ["control/invoke.json"],
            "instruction": ["clear the table"],
        }
        for row in ROWS:
            job = self.job if row.pattern.startswith("/nodes") else str(self.own.extra["job"])
            known = {
                **values,
                "job": [job],
                "service": [id for _, id in SERVICES],
                "mount": ["body/control/invoke.json"],
            }
            variables = [part.strip("{}*") for part in segments(row.pattern) if part.startswith("{")]
            if "link" in variables or row.view in PAST:
                continue  # named by mounts, and asked by walking below them
            combined: list[dict[str, str]] = [{}]
            for variable in variables:
                combined = [{**names, variable: value} for names in combined for value in known[variable]]
            for names in combined:
                if "service" in names and (names["node"], names["service"]) not in SERVICES:
                    continue
                if names.get("agent") == "self" and row.mount not in ("mind", "mind_pages"):
                    continue  # those are rows of their own
                path = row.pattern.replace("*}", "}")
                for name, value in names.items():
                    path = path.replace(f"{{{name}}}", value)
                yield Asked(path, row, names)

    def visible(self, binding: Binding, asked: Asked) -> bool:
        """By the judge alone: whether a file of this row may be there for the binding."""
        rights, (path, row, names) = self.rights(binding), asked
        answers = [judge(binding.role_at(segments(path)), Verb.READ, row)]
        if "project" in names:
            thing = Realm.WORKSPACE if row.mount.startswith("workspace") else ProjectName(names["project"])
            answers.append(judge(rights, Verb.SEE, thing))
        if "node" in names:
            robot = row.mount.startswith("workspace")
            answers.append(judge(rights, Verb.SEE, (RobotName if robot else NodeName)(names["node"])))
        if "service" in names or "mount" in names:
            permissions = self.permissions[names["node"], names["service"]] if "service" in names else None
            if permissions is None:
                permissions = self.permissions[ROBOT, "body"]
            answers.append(judge(rights, Verb.SEE, ServicePermissions(permissions)))
        if names.get("agent", "self") != "self":
            answers.append(judge(rights, Verb.SEE, AgentName(names["agent"])))
        if "mate" in names:
            answers.append(judge(rights, Verb.SEE, AgentName(names["mate"])))
        if "member" in names:
            answers.append(judge(rights, Verb.SEE, NodeName(names["member"])))
        if row.mount == "job":
            answers.append(judge(binding, Verb.SEE, JobOwner("alice", "main")))
        if row.mount == "debug":
            answers.append(judge(rights, Verb.SEE, Realm.DEBUG))
        if row.view == "world_status":
            answers.append(judge(rights, Verb.SEE, Realm.STATUS))
        return all(answers)

    def writable(self, binding: Binding, asked: Asked) -> bool:
        role = binding.role_at(segments(asked.path))
        return bool(judge(self.rights(binding), Verb.WRITE, ServedFile(asked.row, asked.names, role)))


class Wire(NamedTuple):
    """What the server did for one path: codes, "" where it did as asked."""

    walk: str
    write: str
    remove: str


@asynccontextmanager
async def attached(server: LocalServer, binding: Binding) -> Any:
    """A connection of the binding."""
    async with server.connect(server.token(binding.role), greet=False) as client:
        await client.control("version", {"protocol": "unified-v2"})
        await client.control("connect")
        place = {"agent_id": binding.agent, "project_id": binding.project}
        if binding.token:
            place["project_token"] = binding.token
        reply = await client.control("session_attach", {"session_key": "main", **place})
        assert reply["ok"], reply
        await client.ask("version", msize=1_048_576, version="acheron-1", extensions=["remove"])
        await client.ask("attach", fid=1)
        yield client


def code(reply: Any) -> str:
    return "" if reply["ok"] else str(reply["error"]["code"])


async def done(client: BareClient, asked: Asked) -> Wire:
    walked = code(await client.walk(asked.path, 2))
    if walked:
        return Wire(walked, walked, walked)
    opened = code(await client.ask("open", fid=2, mode="rw"))
    await client.ask("clunk", fid=2)
    above, _, name = asked.path.rpartition("/")
    removed = ""
    if not asked.row.pattern.endswith("*}"):
        assert code(await client.walk(above, 3)) == ""
        removed = code(await client.ask("remove", fid=3, path=[name]))
        await client.ask("clunk", fid=3)
    return Wire(walked, opened, removed)


@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.proof)])
def test_the_wire_does_for_each_binding_what_the_judge_answers(tmp_path: Path, share: int) -> None:
    """The owner asks for every path, and each of the others for every `share`th, not all for the same ones."""
    ground = Ground(tmp_path)
    paths = list(ground.asked())
    of = {binding: paths[n % share :: share] for n, binding in enumerate(ground.actors)} | {OWNER: paths}
    seen: dict[Binding, dict[str, Wire]] = {}

    async def ask_everything() -> None:
        server = Server(ground.realm, TokenStore.open(ground.realm.home))
        await server.start(port=0)
        try:
            for binding in ground.actors:
                async with attached(LocalServer(ground.realm, server), binding) as client:  # type: ignore[arg-type]
                    if binding.agent == "eve":
                        ground.close_project()
                    seen[binding] = {asked.path: await done(client, asked) for asked in of[binding]}
        finally:
            await server.stop()

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await ask_everything()

    try:
        asyncio.run(bounded())
        there = {path for told in seen.values() for path, wire in told.items() if not wire.walk}
        assert len({asked.row.pattern for asked in paths if asked.path in there}) > 190, "nearly every row is there"
        for binding in ground.actors:
            visible = 0
            for asked in of[binding]:
                wire, may_see = seen[binding][asked.path], ground.visible(binding, asked)
                where = asked.path, binding, wire
                assert (not wire.walk) == (may_see and asked.path in there), where
                if wire.walk:
                    assert wire.walk == "enoent", where  # what one may not see does not exist
                    continue
                visible += 1
                assert (not wire.write) == ground.writable(binding, asked), where
                assert wire.write in ("", "eperm"), where
                role = binding.role_at(segments(asked.path))
                if not asked.row.pattern.endswith("*}"):
                    assert (not wire.remove) == bool(judge(role, Verb.REMOVE, asked.row)), where
            assert visible > 50 // share, binding
    finally:
        ground.close()
