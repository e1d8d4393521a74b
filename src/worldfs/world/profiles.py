"""Profiles by name: the operator's own in HOME/hal/profiles/*.md, then those of this package (000 EMBODIED.md)."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from worldfs.base.errors import BadInput, from_os

FOLDER = "hal/profiles"  # below the home


def profile_text(name: str, language: str, own: Path | None = None) -> bytes | None:
    """A profile in the workspace's language, else in English; None if there is none of that name.

    `own`: the operator's folder. A profile there overrides one of this package of the same name.
    """
    if not name or "/" in name or "\\" in name or "\0" in name:
        return None
    from importlib import resources

    files = (f"{name}.{language}.md", f"{name}.md") if language != "en" else (f"{name}.md",)
    for path in [own / file for file in files] if own is not None else []:
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise from_os(error, path=str(path), op="read a profile") from error
    folder = resources.files("worldfs").joinpath("profiles")
    for file in files:
        found = folder.joinpath(file)
        if found.is_file():
            return found.read_bytes()
    return None


def profile_names(own: Path | None = None) -> list[str]:
    from importlib import resources

    folders = [resources.files("worldfs").joinpath("profiles")]
    if own is not None and own.is_dir():
        folders.append(own)
    files = [item.name for folder in folders for item in folder.iterdir()]
    return sorted({name[:-3] for name in files if name.endswith(".md") and name.count(".") == 1 and name != ".md"})


def unknown_profile(name: str, own: Path | None, path: str) -> BadInput:
    """The error for an unknown profile: the existing ones, the nearest, and where to put a new one."""
    there = profile_names(own)
    nearest = get_close_matches(name, there, 1)
    place = f"write {own}/{name}.md" if own is not None else f"write {name}.md into {FOLDER} of the home"
    plain = bool(name) and not set(name) & set("/\\\0")
    return BadInput(
        f"unknown profile {name!r}",
        path=path,
        op="find a profile",
        expected="one of: " + ", ".join(there),
        fix=(f"did you mean {nearest[0]}? Else " if nearest else "")
        + (place if plain else "name one of them")
        + (", or name one of those" if plain else ""),
        code="PROFILE_MISSING",
    )
