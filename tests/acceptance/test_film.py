"""`paos do --record`: a film of what the camera saw."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Callable

import pytest

from worldfs.testing.waiting import PATIENCE_S

pytest.importorskip("mujoco")


@pytest.mark.proof
def test_a_film_shows_different_pictures(onboarded: Callable, gl) -> None:
    from PIL import Image

    place = onboarded()
    film = place.root.parent / "film.gif"
    said = place.paos("do", "pick up the apple", "--driver", "simulation", "--seed", "7", "--record", str(film))
    assert said.code == 0, said
    assert str(film) in said.out
    with Image.open(film) as gif:
        assert gif.width >= 160
        frames = set()
        for number in range(gif.n_frames):
            gif.seek(number)
            frames.add(hashlib.sha256(gif.convert("RGB").tobytes()).hexdigest())
    assert len(frames) >= 20  # a motion, not a few stills


@pytest.mark.proof
def test_beside_a_kernel_of_another_process_the_film_is_of_the_motion_too(onboarded: Callable, gl) -> None:
    from PIL import Image

    place = onboarded()
    kernel = place.spawn("up", "--driver", "simulation", "--seed", "7")
    try:
        assert kernel.stdout is not None
        kernel.stdout.readline()
        film = place.root.parent / "film.gif"
        said = place.paos("do", "put the apple in the basket", "--record", str(film))
    finally:
        kernel.send_signal(signal.SIGINT)
        kernel.communicate(timeout=PATIENCE_S)
    assert said.code == 0, said
    with Image.open(film) as gif:
        assert gif.n_frames >= 20
    assert not list((place.root / "artifacts/films").glob("*")) and not list((place.root / ".paos/control").glob("*"))


def test_without_cameras_or_without_motion_there_is_no_film_and_a_word(onboarded: Callable, gl) -> None:
    place = onboarded()
    film = place.root.parent / "film.gif"
    said = place.do("put the apple in the basket", "--record", str(film))
    assert (said.code, place.ended()) == (2, {})
    assert "cameras" in said.err
    assert place.up("--seed", "7").code == 0
    said = place.paos("do", "what is on the table?", "--driver", "simulation", "--record", str(film))
    assert said.code == 0
    assert "no picture was taken" in said.err
    assert not film.exists()


@pytest.mark.parametrize("name", ["x.avi", "x", "nowhere/x.gif"])
def test_what_is_no_film_is_said_before_anything_moves(onboarded: Callable, name: str) -> None:
    place = onboarded()
    said = place.do("clear the table", "--record", str(place.root.parent / name))
    assert said.code == 2
    assert ".gif" in said.err or "mkdir" in said.err
    assert place.ended() == {}
    assert not (place.root.parent / name).exists()
