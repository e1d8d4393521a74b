"""Did you mean: the nearest name among those that the caller may see, for an error about a path that is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from worldfs.base.errors import NotFound, WorldError
from worldfs.base.messages import coded

Names = Callable[[str], Iterable[str]]  # the paths in a directory, as its caller may list them


@contextmanager
def suggest_names(names: Names) -> Iterator[None]:
    """While entered, a `NotFound` about a path of the tree also names the most similar path."""
    try:
        yield
    except NotFound as error:
        if found := nearest_path(error.path, names):
            error.fix = coded("world.did_you_mean", likely=found)
        raise


def nearest_path(path: str, names: Names) -> str:
    """`path` with the first name that is not there replaced by the most similar one; "" where none is similar."""

    parts = path.strip("/").split("/")
    for at, part in enumerate(parts):
        try:
            there = {place.rstrip("/").rpartition("/")[2]: place for place in names("/" + "/".join(parts[:at]))}
        except WorldError:
            return ""
        if part not in there:
            from difflib import get_close_matches  # loaded where a name was wrong

            found = get_close_matches(part, there, 1, 0.7)
            return "/".join([there[found[0]].rstrip("/"), *parts[at + 1 :]]) if found else ""
    return ""
