"""Films of a dataset: the pictures of one camera as H.264, and films joined without decoding them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

CODEC: Final = "libx264"
TICKS = 12_800  # a second, of the files written here; every frame rate up to 100 divides it or nearly so


def encode(images: NDArray[np.uint8], fps: int) -> bytes:
    """(frames, H, W, 3) uint8 as .mp4, frame i at i / fps seconds; every other frame can be sought."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as box:
        options = {"crf": "23", "preset": "veryfast", "g": "2", "bf": "0"}
        stream = box.add_stream(CODEC, rate=fps, options=options)
        stream.height, stream.width, stream.pix_fmt = images.shape[1], images.shape[2], "yuv420p"
        stream.codec_context.thread_count = 1
        for i, image in enumerate(images):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts, frame.time_base = i, Fraction(1, fps)
            box.mux(stream.encode(frame))
        box.mux(stream.encode())
    return out.getvalue()


def join(films: Sequence[bytes], fps: int) -> bytes:
    """One film after the other; all of one codec and size. Frame n of the whole is at n / fps seconds."""
    import av

    if len(films) == 1:
        return films[0]
    out, frame = io.BytesIO(), 0
    with av.open(out, "w", format="mp4") as box:
        stream: av.VideoStream | None = None
        for film in films:
            with av.open(io.BytesIO(film), "r") as source:
                taken = source.streams.video[0]
                if stream is None:
                    stream = box.add_stream_from_template(taken)
                    stream.time_base = Fraction(1, TICKS)
                for packet in source.demux(taken):
                    if packet.size == 0:
                        continue
                    packet.stream = stream
                    packet.pts = packet.dts = round(frame * TICKS / fps)
                    packet.duration = round(TICKS / fps)
                    packet.time_base = Fraction(1, TICKS)
                    box.mux(packet)
                    frame += 1
    return out.getvalue()


def video_info(height: int, width: int, fps: int) -> dict[str, object]:
    """The entry of such a film in info.json."""
    return {
        "video.height": height, "video.width": width, "video.codec": "h264", "video.pix_fmt": "yuv420p",
        "video.is_depth_map": False, "video.fps": fps, "video.channels": 3, "has_audio": False,
    }  # fmt: skip


def size(film: bytes) -> tuple[int, int]:
    """Height and width of its pictures."""
    import av

    with av.open(io.BytesIO(film), "r") as source:
        stream = source.streams.video[0]
        return int(stream.height), int(stream.width)
