"""`paos onboard`: a home, its configuration, the empty documents of its workspace. Existing files stay as they are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final

from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, Exists, UserError
from worldfs.base.extras import require
from worldfs.base.messages import coded
from worldfs.formats import config, embodied, entry_ids
from worldfs.robots.driver_registry import BODIES
from worldfs.storage.open_store import open_store
from worldfs.storage.store_interface import ABSENT, Store

from .home import Home
from .layout import ROWS
from .node_specs import DEFAULT_DRIVER, DEFAULT_NODE, DEFAULT_PROFILE
from .profiles import profile_text, unknown_profile
from .templates import template

ROBOTS_OF_FLEET: Final = 2
SHARED: Final = "shared_workspace"  # below the home, as the specification calls it


def onboard(
    home: Home, *, profile: str = "", language: str = "", robot_id: str = "", fleet: bool = False
) -> list[tuple[Path, str]]:
    """Each file and whether it was "written" or "kept".

    `fleet`: a shared workspace, and two robots with a directory each. Raises `BadInput` for an unknown profile, and for
    `fleet` in a home that has one workspace.
    """
    profile, language = profile or DEFAULT_PROFILE, language or "en"
    if language not in ("en", "zh"):
        found = coded("world.no_language", language=language)
        raise BadInput(found, op="onboard", expected=coded("world.languages"))
    body = profile_text(profile, language, home.profiles)
    if body is None:
        raise unknown_profile(profile, home.profiles, "--profile")
    driver = embodied.read(body).driver or DEFAULT_DRIVER
    robots = default_ids(profile, ROBOTS_OF_FLEET) if fleet else (robot_id or default_ids(profile)[0],)
    shared = SHARED if fleet else ""
    text = config.template(*robots, driver=driver, profile_name=profile, language=language, shared_workspace=shared)
    if fleet:
        _demand_fleet(home, robot_id)
    made = [(home.config_path, _create_private(home, text))]
    root, own = workspace_directories(home)
    for place in dict.fromkeys((root, *own)):  # the one workspace is both
        Root.build(place)
        with closing(open_store("disk", place)) as store:
            for row in ROWS:
                if row.template and (place in own if row.per_robot else place == root):
                    made.append((place / row.key, _create(store, row.key, template(row.template, language))))
    return made


def demand_body(home: Home, profile: str = "") -> None:
    """Raises `MissingRequirement` where the profile's body is one of ours and its extra is not installed."""
    text = profile_text(profile or DEFAULT_PROFILE, "en", home.profiles)
    if ((text and embodied.read(text).driver) or DEFAULT_DRIVER) in BODIES.built_in:
        require("sim", op="onboard")


def default_ids(profile: str, count: int = 1) -> tuple[str, ...]:
    """The ids of robots that were not named, by their profile."""
    first = DEFAULT_NODE if profile in ("", DEFAULT_PROFILE) or entry_ids.unsafe(profile) else f"{profile}_001"
    return tuple(f"{first[:-1]}{n}" for n in range(1, count + 1))


def _demand_fleet(home: Home, robot_id: str) -> None:
    if robot_id:
        found, fix = coded("fleet.one_id", id=robot_id), coded("fleet.leave_id_out")
        raise BadInput(found, op="onboard", expected=coded("fleet.no_id"), fix=fix)
    if home.config_path.exists() and home.config({}).mode != "fleet":
        fix = coded("fleet.edit_mode")
        raise BadInput(
            coded("fleet.single_home"),
            path=str(home.config_path),
            op="onboard",
            expected=coded("fleet.a_fleet"),
            fix=fix,
        )


def workspace_directories(home: Home) -> tuple[Path, list[Path]]:
    """The workspace, of a fleet the shared one; and where the files that a fleet keeps with each robot lie."""
    try:
        settings = home.config({})
    except UserError:  # it was there before: `paos check` reports it
        return home.workspace, [home.workspace]
    root = home.root(settings)
    return root, [Path(item.workspace) for item in settings.instances] if settings.mode == "fleet" else [root]


def _create(store: Store, key: str, data: bytes) -> str:
    try:
        store.put(key, data, ABSENT)
    except Exists:
        return "kept"
    return "written"


def _create_private(home: Home, data: bytes) -> str:
    """config.json may come to hold secrets: 0600 from its first byte."""
    Root.build(home.path)
    root = Root(home.path)
    try:
        root.create(home.config_path.name, data, private=True)
    except Exists:
        return "kept"
    finally:
        root.close()
    return "written"
