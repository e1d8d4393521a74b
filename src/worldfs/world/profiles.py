"""Profiles by name: the operator's own in HOME/hal/profiles/*.md, those of this package, those that bodies declare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.given_file import read_given_file
from worldfs.base.messages import coded
from worldfs.tree.path import safe_name

if TYPE_CHECKING:
    from worldfs.base.model import Profile

FOLDER = "hal/profiles"  # below the home


def profile_text(name: str, language: str, own: Path | None = None) -> bytes | None:
    """A profile in the workspace's language, else in English; None if there is none of that name.

    `own`: the operator's folder. A profile there overrides one of this package of the same name. Without a file it is
    the one that the body of that name declares: a `Profile` as its class's attribute `profile`. Raises `BadInput` for
    a body that cannot be used.
    """
    if not safe_name(name):
        return None
    from importlib import resources

    files = (f"{name}.{language}.md", f"{name}.md") if language != "en" else (f"{name}.md",)
    for path in [own / file for file in files] if own is not None else []:
        try:
            return read_given_file(path, op="read a profile")
        except NotFound:
            continue
    folder = resources.files("worldfs").joinpath("profiles")
    for file in files:
        found = folder.joinpath(file)
        if found.is_file():
            return found.read_bytes()
    declared = declared_profile(name)
    if declared is None:
        return None
    from worldfs.formats import embodied_write

    return embodied_write.write(declared)


def declared_profile(driver: str) -> Profile | None:
    """The profile that a package's body declares. Raises `BadInput` for a body that cannot be used."""

    from worldfs.base.model import Profile
    from worldfs.base.plugin_values import parsed
    from worldfs.robots.driver_registry import BODIES

    if driver in BODIES.built_in or driver not in BODIES:
        return None
    declared = getattr(BODIES[driver], "profile", None)
    if not isinstance(declared, Profile):
        return None
    return replace(parsed(Profile, declared, f"plug-in {BODIES.group} {driver} profile"), driver=driver)


def profile_names(own: Path | None = None) -> list[str]:
    from importlib import resources

    folders = [resources.files("worldfs").joinpath("profiles")]
    if own is not None and own.is_dir():
        folders.append(own)
    files = [item.name for folder in folders for item in folder.iterdir()]
    return sorted({name[:-3] for name in files if name.endswith(".md") and name.count(".") == 1 and name != ".md"})


def unknown_profile(name: str, own: Path | None, path: str) -> BadInput:
    """The error for an unknown profile: the existing ones, the nearest, and where to put a new one."""
    from difflib import get_close_matches

    there = profile_names(own)
    nearest = get_close_matches(name, there, 1)
    fix = coded("common.name_one")
    if name and not set(name) & set("/\\\0"):
        place = coded("world.write_profile_into", name=name, folder=FOLDER)
        place = coded("world.write_profile", path=f"{own}/{name}.md") if own is not None else place
        fix = coded("world.or_known", fix=place)
    return BadInput(
        coded("world.no_profile", name=name),
        path=path,
        op="find a profile",
        expected=coded("common.one_of", names=there),
        fix=coded("world.did_you_mean_else", likely=nearest[0], fix=fix) if nearest else fix,
        code="PROFILE_MISSING",
    )
