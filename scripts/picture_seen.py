"""docs/media/seen.webp: what an arm that goes by its cameras made of one picture.

    .venv/bin/python scripts/picture_seen.py        needs the extras sim and perception

Left the picture of the front camera, right the same in grey with the surface of each estimate in its own colour.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from worldfs.robots.mujoco import object_kinds
from worldfs.robots.mujoco.random_scene import random_scene
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
from worldfs.robots.vision.shape_fit import facing

OUT = Path(__file__).resolve().parents[1] / "docs/media/seen.webp"
SEED = 3


def main() -> None:
    body = TabletopDriver("franka_001", perception="camera")
    body.open(random_scene(SEED, 5))
    looks = body.looks
    assert looks is not None
    image = looks.camera.take("front")
    grey = Image.fromarray(image.rgb).convert("L").convert("RGB")
    draw = ImageDraw.Draw(grey)
    for id, track in looks.belief.tracks.items():
        solid, thing = looks.rig.solid(id), looks.rig.things[id]
        colour = tuple(int(255 * part) for part in object_kinds.rgb(thing.color))
        rows, columns, _ = image.project(facing(solid, image))
        for v, u in zip(rows, columns, strict=True):
            draw.ellipse((u - 1.2, v - 1.2, u + 1.2, v + 1.2), fill=colour)
        draw.text(
            (float(np.mean(columns)) - 18, float(np.min(rows)) - 13), f"{id} ±{1000 * track.sigma:.1f} mm", fill="black"
        )
    part = (90, 130, 530, 400)
    halves = [one.crop(part).resize((660, 405), Image.Resampling.LANCZOS) for one in (Image.fromarray(image.rgb), grey)]
    both = Image.new("RGB", (1320, 405))
    for i, half in enumerate(halves):
        both.paste(half, (660 * i, 0))
    both.save(OUT, quality=70, method=6)
    body.close()
    print(f"written: {OUT.name}, {OUT.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
