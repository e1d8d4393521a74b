"""The fixtures and helpers of a served world, which the tests of the namespace share."""

import json

from tests.world.conftest import served

__all__ = ["every", "said", "served"]


def every(tree, path="/"):
    """All paths, directories with a "/" at their end."""
    if not tree.stat(path).directory:
        yield path
        return
    yield path.rstrip("/") + "/"
    for name in tree.list(path):
        yield from every(tree, path.rstrip("/") + "/" + name)


def said(tree, path):
    return json.loads(tree.read(path).data)
