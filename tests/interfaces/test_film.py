"""Films: frames in, a file out; no frame, no file and an error that says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.robots.video_writer import VideoWriter

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")


def frame(shade: int):  # type: ignore[no-untyped-def]
    return numpy.full((49, 65, 3), shade, dtype=numpy.uint8)  # odd sides on purpose


def test_a_gif_holds_every_second_frame(tmp_path: Path) -> None:
    with VideoWriter(str(tmp_path / "f.gif")) as film:
        for shade in range(0, 200, 20):
            film.add(frame(shade))
    with Image.open(tmp_path / "f.gif") as image:
        assert (image.n_frames, image.size) == (5, (65, 49))
    assert [path.name for path in tmp_path.iterdir()] == ["f.gif"]


def test_a_small_thing_keeps_its_colour_in_a_gif(tmp_path: Path) -> None:
    picture = numpy.zeros((120, 160, 3), dtype=numpy.uint8)
    picture[..., :] = numpy.linspace(60, 220, 160, dtype=numpy.uint8)[None, :, None]  # a large grey scene
    picture[50:56, 70:76] = (220, 20, 20)  # an apple
    with VideoWriter(str(tmp_path / "f.gif")) as film:
        film.add(picture)
    with Image.open(tmp_path / "f.gif") as image:
        red, green, blue = image.convert("RGB").getpixel((73, 53))
    assert red > 180 and green < 80 and blue < 80


def test_an_mp4_holds_every_frame_and_plays(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    with VideoWriter(str(tmp_path / "f.mp4")) as film:
        for shade in range(0, 200, 20):
            film.add(frame(shade))
    with av.open(str(tmp_path / "f.mp4")) as container:
        frames = [picture.to_ndarray(format="rgb24") for picture in container.decode(video=0)]
    assert len(frames) == 10
    assert frames[0].shape == (48, 64, 3)
    assert abs(int(frames[9].mean()) - 180) < 12


@pytest.mark.parametrize("name", ["f.gif", "f.mp4"])
def test_a_film_without_frames_is_no_file_and_says_why(tmp_path: Path, name: str) -> None:
    if name.endswith("mp4"):
        pytest.importorskip("av")
    with pytest.raises(MissingRequirement, match="no frame came from the camera"), VideoWriter(str(tmp_path / name)):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_error_inside_leaves_no_half_film(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), VideoWriter(str(tmp_path / "f.gif")) as film:
        film.add(frame(1))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["f.avi", "film", "nowhere/f.gif"])
def test_a_film_that_cannot_be_is_refused_before_anything_moves(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput):
        VideoWriter(str(tmp_path / name))
