"""The context of one command line: its options, its output, and the world that it acts on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from worldfs.access.standing import local_actor_name
from worldfs.base.errors import NotFound, WorldError
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from pathlib import Path

    from worldfs.base.model import Job
    from worldfs.formats.config import Config
    from worldfs.runtime.stop_call import HomeKernel
    from worldfs.world.earlier_workspaces import EarlierRobots
    from worldfs.world.fleet_share import FleetShare
    from worldfs.world.home import Home
    from worldfs.world.world import World

    from .command_output import CommandOutput

    Log = Callable[[str, Job], None]  # what happened ("accepted", "started", "ended" …), to which job


class CommandContext:
    """What a command function is given. Options are read with `context["name"]`; an unknown name is a bug."""

    def __init__(
        self, options: Mapping[str, Any], output: CommandOutput, environ: Mapping[str, str] | None = None
    ) -> None:
        self._options = options
        self.output = output
        self.environ = os.environ if environ is None else environ
        output.language = lambda: self.language

    def __getitem__(self, name: str) -> Any:
        return self._options[name]

    def options(self) -> dict[str, Any]:
        """All of them, for a process that does the command's work."""
        return dict(self._options)

    @property
    def actor(self) -> str:
        return self["as"] or "operator"

    @property
    def session_agent(self) -> str:
        """The agent whose session has started this command, "" for a person's own terminal and other programs."""
        return self.environ.get("PAOS_AGENT", "")

    @property
    def actor_name(self) -> str:
        """The actor by its name (`access/standing.py`): within an agent's session the agent, whatever role it takes."""
        return local_actor_name(self.actor, self.session_agent)

    @cached_property
    def language(self) -> str:
        """The language of the workspace, in which the command speaks to people."""
        from worldfs.world.home import absolute, home_path
        from worldfs.world.workspace_language import directory_language, home_language

        if given := self["workspace"]:
            return directory_language(absolute(given))
        return home_language(home_path(self["home"], self.environ), self.environ)

    @cached_property
    def _config(self) -> Config:
        return self.home.config(self.environ)

    @property
    def config(self) -> Config:
        """Of the home; of a directory named with --workspace, what counts of it."""
        return self._config_of_workspace() if self["workspace"] else self._config

    @property
    def home(self) -> Home:
        from worldfs.world.home import Home

        return Home.find(self["home"], self.environ)

    @property
    def workspace(self) -> Path:
        """`--workspace` if given, else the home's; of a fleet the shared one."""
        from pathlib import Path

        from worldfs.world.home import absolute

        given = self["workspace"]
        return Path(absolute(given)) if given else self.home.root(self._config)

    @property
    def agents(self) -> str:
        """The state root of agents: `--agents`, else $PAOS_AGENTS, else below the home. Text: it starts fast."""
        if self["agents"]:
            return os.path.abspath(os.path.expanduser(str(self["agents"])))
        from worldfs.base.agent_names import HOME, default_root

        return default_root({**self.environ, HOME: self["home"]} if self["home"] else self.environ)

    def check_agent(self) -> None:
        """For a command that needs an agent that exists: `NotFound`, with the most similar name, where --agent names
        none of this disk. Over --connect the server knows; see `server_tree.connect_options`."""
        name = self["agent"]
        if not name or not self["reads"] or self["connect"]:
            return
        from worldfs.access.binding import MOTHER
        from worldfs.agents.agent_hosts import known_agents
        from worldfs.base.agent_names import no_agent

        there = known_agents(self.agents)
        if name != MOTHER and name not in there:
            raise no_agent(name, [MOTHER, *there], path=self.agents, op=self["command"])

    @property
    def name(self) -> str:
        """The command with its global options, for hints that can be typed again: `paos --home demo`."""
        import shlex

        given = [(flag, str(self[flag])) for flag in ("workspace", "home") if self[flag]][:1]
        given += [("agents", str(self["agents"]))] if self["agents"] else []
        return shlex.join(["paos", *(word for flag, place in given for word in (f"--{flag}", place))])

    @property
    def name_elsewhere(self) -> str:
        """As `name`, for another terminal: absolute places, also those that this terminal's environment names."""
        import shlex

        from worldfs.base.agent_names import VARIABLE
        from worldfs.world.home import DEFAULT, absolute, home_path

        home = home_path(self["home"], self.environ)
        given = ["--home", home] if home != absolute(DEFAULT) else []
        given += ["--agents", self.agents] if self["agents"] or self.environ.get(VARIABLE) else []
        return shlex.join(["paos", *given])

    def open(
        self,
        *,
        serve: bool = False,
        log: Log | None = None,
        engine: str = "",
        share: FleetShare | None = None,
        own_orders: bool = False,
    ) -> World:
        """The world, to read and submit (`serve=False`) or to run, kept in `engine` from now on. `share`: of a fleet,
        what to serve; None, the whole.

        Raises `NotFound` if there is no workspace.
        """
        from pathlib import Path

        from worldfs.base.durable import Root
        from worldfs.world.home_world import open_home_world

        place = self.workspace
        config = self.config
        if serve and config.mode == "fleet":
            Root.build(place)  # config.json names it, and those of its robots: they are made alike
        if not place.is_dir():
            raise NotFound(
                coded("command.no_workspace"),
                path=str(place),
                op=self["command"],
                expected=coded("command.workspace_documents"),
                fix=coded("command.name_directory") if self["workspace"] else coded("command.make_it", name=self.name),
            )
        agents = Path(self.agents)
        if not serve:
            return open_home_world(place, config, agents=agents)
        from worldfs.world.fleet_share import WHOLE

        from .driver_factories import factories

        cameras, real_time = not self["no_cameras"], self._real_time(config)
        drivers = factories(self["driver"], seed=self["seed"], cameras=cameras, real_time=real_time)
        return open_home_world(
            place,
            config,
            agents=agents,
            serve=True,
            share=share or WHOLE,
            own_orders=own_orders,
            drivers=drivers,
            log=log or _silent,
            engine=engine,
        )

    def other_kernels(self, *, every: bool = False) -> list[HomeKernel]:
        """The kernels that were started for the home and serve another workspace than config.json names now; `every`:
        also those that serve this one. None for a directory that is named with --workspace."""
        from worldfs.base.clock import SystemClock
        from worldfs.runtime.stop_call import other_kernels
        from worldfs.world.robot_stops import ANSWER_S

        if self["workspace"]:
            return []
        home = self.home.path
        try:
            root = home if every else self.workspace
        except WorldError:  # an unreadable config.json names none
            root = home
        return other_kernels(str(home), root, SystemClock(), ANSWER_S)

    def earlier_robots(self) -> EarlierRobots:
        """What the workspaces say that kernels of the home served before this one, whether or not this one is there. Of
        a directory that is named with --workspace: nothing."""
        from worldfs.base.clock import SystemClock
        from worldfs.world.earlier_workspaces import EarlierRobots, EarlierWorkspaces

        if self["workspace"]:
            return EarlierRobots({}, ())
        try:
            root = self.workspace
        except WorldError:  # an unreadable config.json names none
            root = self.home.path
        return EarlierWorkspaces(str(self.home.path), root, SystemClock()).look()

    def open_other(self, root: Path) -> World:
        """The workspace of one of these, to read and submit. Raises `NotFound` where it has gone."""
        from pathlib import Path

        from worldfs.world.home_world import open_home_world

        if not root.is_dir():
            raise NotFound(coded("command.no_workspace"), path=str(root), op=self["command"])
        return open_home_world(root, self._config_of_workspace(), agents=Path(self.agents))

    def _real_time(self, config: Config) -> float:
        """How many seconds of a simulation pass in one; 0: as many as can."""
        said = self["real_time"] if self["command"] == "up" else None
        return config.real_time if said is None else 1.0 if said is True else float(said)

    def _config_of_workspace(self) -> Config:
        """A directory named with --workspace may be unrelated to the home: only its own files count, and what the
        environment says of approval."""
        from worldfs.formats import config

        return config.Config(approval=config.read(b"", self.environ).approval)


def _silent(what: str, job: Job) -> None:
    """Ignore the event."""
