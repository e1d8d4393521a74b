"""How many pictures of the demo's scene the front camera draws in a second, without a screen, shadows off."""

from __future__ import annotations

import statistics
import time

FIGURES = ("camera.fps_640x480",)
ROUNDS, FRAMES = 5, 30


def run(seed: int = 1) -> dict[str, float]:
    """The median of five rounds of 30 frames, 640×480 RGB; no figure, and the reason printed, without OpenGL."""
    from worldfs.base.model import Scene
    from worldfs.robots.mujoco.gl import gl_status
    from worldfs.robots.mujoco.shared_world import SharedWorld
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

    status = gl_status()
    print(f"camera: {status}")
    if not status.backend:
        return {}
    body = TabletopDriver("bench", world=SharedWorld(seed=seed))
    try:
        body.open(Scene())
        renderer, data = body.renderer(), body.arm.rig.simulation.data
        renderer.capture(data, "front")  # the first frame compiles shaders
        rates = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for _ in range(FRAMES):
                renderer.capture(data, "front")
            rates.append(FRAMES / (time.perf_counter() - start))
    finally:
        body.close()
    print(f"  {statistics.median(rates):.0f} frames a second (640×480 RGB; {min(rates):.0f} to {max(rates):.0f})")
    return {"camera.fps_640x480": round(statistics.median(rates), 1)}


if __name__ == "__main__":
    run()
