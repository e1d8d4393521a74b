"""`paos do --record`: a film of what the camera saw."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

pytest.importorskip("mujoco")


def test_a_film_shows_different_pictures(onboarded: Callable, gl) -> None:
    from PIL import Image

    place = onboarded()
    film = place.root.parent / "film.gif"
    said = place.paos("do", "put the apple in the basket", "--driver", "simulation", "--seed", "7", "--record", str(film))
    assert said.code == 0, said
    assert str(film) in said.out
    with Image.open(film) as gif:
        assert gif.width >= 160
        frames = set()
        for number in range(gif.n_frames):
            gif.seek(number)
            frames.add(hashlib.sha256(gif.convert("RGB").tobytes()).hexdigest())
    assert len(frames) >= 3


@pytest.mark.parametrize("name", ["x.avi", "x", "nowhere/x.gif"])
def test_what_is_no_film_is_said_before_anything_moves(onboarded: Callable, name: str) -> None:
    place = onboarded()
    said = place.do("clear the table", "--record", str(place.root.parent / name))
    assert said.code == 2
    assert ".gif" in said.err or "mkdir" in said.err
    assert place.ended() == {}
    assert not (place.root.parent / name).exists()
