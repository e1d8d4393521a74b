"""Opens the world of a home: its single workspace, or its fleet."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.agents.agent_hosts import keep_agents_on
from worldfs.base.durable import Root
from worldfs.base.errors import UserError
from worldfs.storage.engine_record import engine_of, record_engine

from .fleet_directories import refuse_robot
from .fleet_share import WHOLE, FleetShare
from .layout.versioned_rows import VERSIONED
from .open_file_limit import provide_open_files
from .workspace_engine import open_engine
from .world import GUARDED, World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from worldfs.base.clock import Clock
    from worldfs.base.driver import DriverFactory
    from worldfs.formats.config import Config, Instance
    from worldfs.storage.store_interface import Store
    from worldfs.tree.change_feed import ChangeFeed

    from .world import Log


def open_home_world(
    root: Path,
    config: Config,
    *,
    agents: Path,
    clock: Clock | None = None,
    feed: ChangeFeed | None = None,
    serve: bool = False,
    share: FleetShare = WHOLE,
    own_orders: bool = False,
    drivers: Mapping[str, DriverFactory] | None = None,
    log: Log = lambda what, job: None,
    engine: str = "",
) -> World:
    """`root`: as `Home.root` gives it. Directories of robots that are not there yet are made. `engine`: another than
    the recorded one, which is recorded.

    A robot whose directory cannot be used is refused, and the others are served. Raises as `World.open`.
    """
    with ExitStack() as stack:
        robots: dict[str, Store] = {}
        engine = engine or engine_of(root)
        config = share.of(config)
        own = sum(robot.enabled for robot in config.instances) if config.mode == "fleet" else 0
        if serve:
            provide_open_files(own)
        shared = open_engine(root, engine, guarded=GUARDED, versioned=VERSIONED)
        stack.callback(shared.close)
        for robot in config.instances if config.mode == "fleet" else ():
            if not robot.enabled:
                continue
            try:
                robots[robot.robot_id] = open_robot(root, robot, engine)
            except UserError as error:
                config = refuse_robot(config, robot, error.found)
            else:
                stack.callback(robots[robot.robot_id].close)
        world = World.open(
            root,
            config=config,
            agents=agents,
            clock=clock,
            feed=feed,
            store=shared,
            robots=robots,
            serve=serve,
            share=share,
            own_orders=own_orders,
            drivers=drivers,
            log=log,
        )
        record_engine(root, engine)
        keep_agents_on(agents, engine, clock=clock)
        stack.pop_all()  # the world closes them
    return world


def open_robot(root: Path, robot: Instance, engine: str = "") -> Store:
    """The store of a robot's directory, which is made if it is not there. Raises `UserError` if it cannot be used."""
    Root.build(robot.workspace)
    return open_engine(
        root, engine, robot=robot.robot_id, folder=Path(robot.workspace), guarded=GUARDED, versioned=VERSIONED
    )
