"""Who resumes a robot, through every interface: an agent, its token and its model never end a person's stop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

pytest.importorskip("websockets")

from tests.command_run import run_command
from tests.interfaces.mount.mounted import WITHOUT, mounting
from tests.interfaces.ninep.conftest import Listening

from worldfs.access.standing import Standing
from worldfs.access.tokens import TokenStore
from worldfs.base.clock import SystemClock
from worldfs.base.errors import WorldError
from worldfs.client import blocking
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.posix.namespace_files import home_files
from worldfs.testing.ninep_client import NinePClient
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import World

ROBOT: Final = "franka_001"
RESUME, STOP = f"/nodes/{ROBOT}/resume", f"/nodes/{ROBOT}/stop"
PERSONS: Final = ("operator", "admin", "ada", "operator's page")  # every other actor acts for an agent
ROLES: Final = ("operator", "planner", "orchestrator", "critic", "agent", "session of rio")
TOKENS: Final = ("admin", "user", "rio", "rio as admin", "ada", "operator's page", "planner's page", "old page")


class Site(NamedTuple):
    """A served home. `tokens`: by the name of the actor."""

    home: Path
    realm: ServedWorld
    url: str
    tokens: dict[str, str]

    @property
    def world(self) -> World:
        assert self.realm.world is not None
        return self.realm.world

    def stopped(self) -> bool:
        return self.world.stops.state(ROBOT).stopped

    def paos(self, *words: str, actor: str = "operator") -> int:
        environ = {"PAOS_AGENT": "rio"} if actor == "session of rio" else {}
        return run_command("--home", str(self.home), *_as(actor), *words, environ=environ).returncode

    def far(self, actor: str, **more: Any) -> Any:
        return blocking.connect(self.url, token=self.tokens[actor], **more)


def _as(actor: str) -> tuple[str, ...]:
    return ("--as", actor) if actor in ROLES else ()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("site") / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    tokens = TokenStore.open(home)
    shared = json.loads((home / "auth_tokens.json").read_text())
    found = {"admin": shared["admin_token"], "user": shared["user_token"]}
    found["rio"], found["rio as admin"] = tokens.add("rio")[1], tokens.add("rio", "admin")[1]
    found["old page"] = tokens.add("mother", "admin")[1]  # of a version without persons
    for actor, words in (
        ("ada", ("token", "add", "ada", "--person")),
        ("operator's page", ("page", "--url", "http://x/")),
        ("planner's page", ("--as", "planner", "page", "--url", "http://x/")),
    ):
        said = run_command("--home", str(home), "--json", *words).stdout
        value = json.loads(said.splitlines()[0])
        found[actor] = value.get("token") or value["url"].partition("#token=")[2]
    with ServedWorld.open(home) as realm, BackgroundServer(realm, ListenOptions(port=0)) as server:
        yield Site(home, realm, server.started.url, found)


class Silent:
    """The asker of a client that cannot ask."""

    able = False

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def ask(self, message: str, field: str, about: str) -> str | None:
        return None


# -- the interfaces: each makes one attempt, and whatever refuses it is not asked --------------------------------------


def by_command(site: Site, actor: str) -> None:
    site.paos("resume", "--node", ROBOT, actor=actor)


def by_command_for_all(site: Site, actor: str) -> None:
    site.paos("resume", "--all", actor=actor)


def by_command_that_writes(site: Site, actor: str) -> None:
    site.paos("write", RESUME, actor=actor)


def by_files(site: Site, actor: str) -> None:
    """As a mount and the in-process shell do."""

    async def work() -> None:
        role, program = ("operator", True) if actor == "session of rio" else (actor, False)
        async with home_files(site.home, site.home / "agents", role, "", SystemClock(), program=program) as files:
            await files.write(RESUME, b"resume\n")

    with suppress(WorldError):
        asyncio.run(work())


def by_9p_socket(site: Site, actor: str) -> None:
    with Listening(site.realm, site.home) as listening, NinePClient(listening.path) as client, suppress(OSError):
        client.attach(actor)
        client.write(RESUME, b"resume\n")


def by_model(site: Site, actor: str) -> None:
    mcp = pytest.importorskip("worldfs.interfaces.mcp.local_actor")
    service = pytest.importorskip("worldfs.interfaces.mcp.tool_service")

    async def work() -> None:
        async with mcp.local_actor(site.home, site.home / "agents", actor, "", SystemClock()) as tree:
            tools = service.ToolService(tree, SystemClock())
            await tools.call("resume", {"node": ROBOT}, Silent())
            for path in (RESUME, STOP.replace("stop", "./resume")):
                await tools.call("write", {"path": path, "text": "resume"}, Silent())

    asyncio.run(work())


def by_connection(site: Site, actor: str) -> None:
    with suppress(WorldError), site.far(actor) as world:
        world.write(RESUME, b"resume\n")


def by_every_write_of_a_connection(site: Site, actor: str) -> None:
    for options in ({"offset": 3}, {"replace": True}, {"split": True}, {"create": True}):
        with suppress(WorldError), site.far(actor) as world:
            world.write(RESUME, b"resume\n", **options)


def by_connection_as_another_agent(site: Site, actor: str) -> None:
    with suppress(WorldError), site.far(actor, agent="rio", project="main") as world:
        world.write(RESUME, b"resume\n")


def by_model_of_a_connection(site: Site, actor: str) -> None:
    with suppress(WorldError), site.far(actor, model=True) as world:
        world.write(RESUME, b"resume\n")


def by_chat(site: Site, actor: str) -> None:
    with suppress(WorldError), site.far(actor) as world:
        world.write("/agents/self/chat/control/input", b"resume")


def by_remote_command(site: Site, actor: str) -> None:
    environ = {"PAOS_CONNECT": site.url, "PAOS_TOKEN": site.tokens[actor]}
    run_command("resume", "--node", ROBOT, environ=environ)


def by_9p_port(site: Site, actor: str) -> None:
    with Listening(site.realm, site.home) as listening, NinePClient(listening.port) as client, suppress(OSError):
        client.attach(site.tokens[actor])
        client.write(RESUME, b"resume\n")


LOCAL: Final = (by_command, by_command_for_all, by_command_that_writes, by_files, by_9p_socket, by_model)
REMOTE: Final = (
    by_connection,
    by_every_write_of_a_connection,
    by_connection_as_another_agent,
    by_model_of_a_connection,
    by_chat,
    by_remote_command,
    by_9p_port,
)
NO_PERSON: Final = (by_model, by_connection_as_another_agent, by_model_of_a_connection, by_chat)
CASES: Final = [(way, actor) for ways, actors in ((LOCAL, ROLES), (REMOTE, TOKENS)) for way in ways for actor in actors]
SESSIONS: Final = (by_command, by_command_for_all, by_command_that_writes, by_files)


@pytest.mark.parametrize(("way", "actor"), CASES, ids=[f"{way.__name__}-{actor}" for way, actor in CASES])
def test_only_a_person_ends_a_persons_stop(site: Site, way: Callable[[Site, str], None], actor: str) -> None:
    if actor == "session of rio" and way not in SESSIONS:
        pytest.skip("a session's processes use the command and the files")
    site.world.stop(ROBOT, "operator")
    way(site, actor)
    assert site.stopped() is not (actor in PERSONS and way not in NO_PERSON)
    site.world.resume(ROBOT, "operator")
    assert not site.stopped()


@pytest.mark.parametrize("actor", TOKENS)
def test_the_log_holds_the_standing_of_who_stopped(site: Site, actor: str) -> None:
    with suppress(WorldError), site.far(actor) as world:
        world.write(STOP, b"stop\n")
    state = site.world.stops.state(ROBOT)
    if state.stopped:  # the shared user token is bound to nothing
        assert state.standing is (Standing.PERSON if actor in PERSONS else Standing.AGENT)
        assert actor not in PERSONS or state.by == ("ada" if actor == "ada" else "operator")
    assert state.stopped or actor in ("user", "planner's page")
    site.world.resume(ROBOT, "operator")


@pytest.mark.parametrize("actor", ["admin", "rio"])
def test_the_word_stop_in_a_chat_has_the_standing_of_its_writer(site: Site, actor: str) -> None:
    with site.far(actor) as world:
        world.write("/agents/self/chat/control/input", b"stop")
    state = site.world.stops.state(ROBOT)
    assert state.stopped
    assert state.standing is (Standing.PERSON if actor == "admin" else Standing.AGENT)
    site.world.resume(ROBOT, "operator")


def test_an_agent_resumes_what_an_agent_stopped_and_a_person_does(site: Site) -> None:
    for actor in ("rio", "rio as admin", "admin"):
        with site.far("rio") as world:
            world.write(STOP, b"stop\n")
        assert site.stopped()
        with site.far(actor) as world:
            world.write(RESUME, b"resume\n")
        assert not site.stopped()


def test_a_stop_outlives_the_token_that_gave_it(site: Site) -> None:
    """Its standing is in the log: a person's stays a person's, an agent's is anybody's to end."""
    tokens = TokenStore.open(site.home)
    kim = tokens.add("mother", "admin", person="kim")[1]
    with blocking.connect(site.url, token=kim) as world:
        world.write(STOP, b"stop\n")
    tokens.revoke("kim")
    by_connection(site, "rio as admin")
    assert site.stopped() and site.world.stops.state(ROBOT).by == "kim"
    with pytest.raises(WorldError), blocking.connect(site.url, token=kim) as world:
        world.write(RESUME, b"resume\n")
    assert site.stopped()
    site.world.resume(ROBOT, "operator")


@pytest.mark.parametrize("role", ["admin", "user"])
def test_only_the_operator_makes_another_token_of_a_role(site: Site, role: str) -> None:
    """A person with that token would be two persons, and approve what they ordered themselves."""
    kim = TokenStore.open(site.home).add("mother", "admin", person="kim")[1]
    with site.far("rio as admin") as world, pytest.raises(WorldError, match="operator"):
        world.control("auth_rotate", {"role": role})
    with blocking.connect(site.url, token=kim) as world, pytest.raises(WorldError, match="operator"):
        world.control("auth_rotate", {"role": role})


@pytest.mark.skipif(bool(WITHOUT), reason=f"nothing can be mounted here: {WITHOUT}")
@pytest.mark.parametrize(("role", "resumed"), [("operator", True), ("planner", False)])
def test_a_mount_has_the_standing_of_its_role(site: Site, tmp_path: Path, role: str, resumed: bool) -> None:
    site.world.stop(ROBOT, "operator")
    with mounting(tmp_path, home=site.home, role=role) as tree:
        done = tree.sh(f"echo resume > {RESUME.removeprefix('/')}")
    assert (done.returncode == 0) is resumed
    assert site.stopped() is not resumed
    site.world.resume(ROBOT, "operator")


def test_no_token_of_a_person_is_made_that_was_asked_for_as_a_users(site: Site) -> None:
    asked = run_command("--home", str(site.home), "token", "add", "carl", "--person", "--role", "user")
    assert asked.returncode == 2 and "admin" in asked.stderr and not asked.stdout
    assert "carl" not in (site.home / "auth_tokens.json").read_text()
    assert "as user" in run_command("--home", str(site.home), "token", "add", "rex").stderr
