"""The search for sources: in the paths that their tools use, or in one file that the caller names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .import_types import ImportSource
from .source_dir import SourceDir


def find_files(
    place: Path, patterns: Iterable[Sequence[str]], fits: Callable[[bytes], bool], size: int = 4096
) -> tuple[Path, list[str]]:
    """(the directory, files below it) of some patterns; for a file: itself, if its first `size` bytes fit."""
    if place.is_file():
        place = Path(os.path.realpath(place))  # a caller that names a link means its target
        with SourceDir(place.parent) as opened:
            return place.parent, [place.name] if fits(opened.head(place.name, size)) else []
    with SourceDir(place) as opened:
        return place, list(dict.fromkeys(path for each in patterns for path in opened.find(each)))


def claude_patterns(place: Path, *tails: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Patterns below Claude Code's directory: `.claude`, or the place itself if its folders are those."""
    patterns = [(".claude", *tail) for tail in tails]
    return patterns + list(tails) if (place / "projects").is_dir() else patterns


def files_by_folder(files: Iterable[str]) -> dict[str, list[str]]:
    """Files by the folder that they are in."""
    folders: dict[str, list[str]] = {}
    for path in files:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    return folders


def sources_by_folder(importer: str, found: tuple[Path, Iterable[str]]) -> list[ImportSource]:
    """One source a folder."""
    where, files = found
    with SourceDir(where) as opened:
        return [
            ImportSource(importer, where, folder or paths[0], tuple(paths), sum(map(opened.size, paths)))
            for folder, paths in files_by_folder(files).items()
        ]


def source_per_file(importer: str, found: tuple[Path, Iterable[str]]) -> list[ImportSource]:
    """One source a file."""
    where, files = found
    with SourceDir(where) as opened:
        return [ImportSource(importer, where, path, (path,), opened.size(path)) for path in files]
