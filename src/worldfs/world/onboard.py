"""`paos onboard`: a home, its configuration, a workspace with empty documents. Existing files stay as they are."""

from __future__ import annotations

from pathlib import Path

from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, Exists
from worldfs.base.messages import coded
from worldfs.formats import config, embodied
from worldfs.storage.open_store import open_store
from worldfs.storage.store_interface import ABSENT, Store

from .home import Home
from .layout import ROWS
from .node_specs import DEFAULT_DRIVER, DEFAULT_NODE, DEFAULT_PROFILE
from .profiles import profile_text, unknown_profile
from .templates import template


def onboard(home: Home, *, profile: str = "", language: str = "", robot_id: str = "") -> list[tuple[Path, str]]:
    """Each file and whether it was "written" or "kept". Raises `BadInput` for an unknown profile."""
    profile, language = profile or DEFAULT_PROFILE, language or "en"
    if language not in ("en", "zh"):
        found = coded("world.no_language", language=language)
        raise BadInput(found, op="onboard", expected=coded("world.languages"))
    body = profile_text(profile, language, home.profiles)
    if body is None:
        raise unknown_profile(profile, home.profiles, "--profile")
    driver = embodied.read(body).driver or DEFAULT_DRIVER
    made = []
    text = config.template(robot_id=robot_id or DEFAULT_NODE, driver=driver, profile_name=profile, language=language)
    made.append((home.config_path, _create_private(home, text)))
    Root.build(home.workspace)
    store = open_store("disk", home.workspace)
    try:
        for row in ROWS:
            if row.template:
                made.append((home.workspace / row.key, _create(store, row.key, template(row.template, language))))
    finally:
        store.close()
    return made


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
