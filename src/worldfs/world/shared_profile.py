"""The robots of a single workspace have one EMBODIED.md: which of them are judged by the profile of another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Profile
from worldfs.formats import embodied
from worldfs.tree.workspace_stores import WorkspaceStores

from .node_specs import NodeSpec, profile_for

if TYPE_CHECKING:
    from .world import World


class OwnProfiles:
    """By robot of a world's kernel: its own profile, where EMBODIED.md has that of another robot; else None."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[str, tuple[tuple[object, ...], Profile | None]] = {}  # each for the files that it was made of

    def __call__(self, node: str) -> Profile | None:
        world = self._world
        if node in world.stores.robots:
            return None
        made_of = world.specs, world.language(), world.store.probe(embodied.PATH)
        known = self._known.get(node)
        if known is None or known[0] != made_of:
            known = self._known[node] = made_of, self._own(node)
        return known[1]

    def _own(self, node: str) -> Profile | None:
        world, own = self._world, self._world.profiles
        spec = next((one for one in world.specs if one.id == node), None)
        try:
            if spec is None or not shared_profile(spec, world.specs, world.stores, world.content(embodied.PATH), own):
                return None
            text = profile_for(spec, b"", world.language(), own)
        except UserError:  # an alert says what is wrong with it, and it has no driver
            return None
        return embodied.read(text) if text else None


def shared_profile(
    spec: NodeSpec, specs: Sequence[NodeSpec], stores: WorkspaceStores, present: bytes, own: Path | None
) -> Finding | None:
    """A robot of a single workspace whose profile is not that of the first robot there: EMBODIED.md is the first's.

    `present`: that file. A text of a person's own may be meant for all of them."""
    first = next((one for one in specs if one.id not in stores.robots), spec)
    if spec.id in stores.robots or first.id == spec.id:
        return None
    used = {language: profile_for(first, b"", language, own) for language in ("en", "zh")}
    if used["en"] == profile_for(spec, b"", "en", own) or (present.strip() and present not in used.values()):
        return None
    names = {"own": spec.profile or spec.driver, "used": first.profile or first.driver}
    return Finding(
        "PROFILE_SHARED",
        f"config.json embodiments.instances {spec.id} profileName",
        coded("file.one_profile"),
        coded("file.shared_profile", id=spec.id, first=first.id, **names),
        coded("file.give_own_profile"),
        warning=True,
    )
