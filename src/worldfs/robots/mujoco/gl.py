"""Which OpenGL draws without a screen, tried in a child process, so that a broken driver crashes nothing else."""

from __future__ import annotations

import functools
import os
import subprocess  # a fixed command: this interpreter, to draw one frame
import sys
from dataclasses import dataclass

from worldfs.base.extras import install_command
from worldfs.base.messages import coded

BACKENDS = ("egl", "osmesa")
OFF = ("disable", "disabled", "off", "false", "0")
PROBE = """
import importlib, mujoco, sys
context = importlib.import_module("mujoco." + sys.argv[1]).GLContext(32, 32)
context.make_current()
model = mujoco.MjModel.from_xml_string("<mujoco/>")
drawing = mujoco.MjrContext(model, 100)
from OpenGL import GL
print("drawn by", GL.glGetString(GL.GL_RENDERER).decode())
drawing.free()
context.free()
"""


@dataclass(frozen=True, slots=True)
class GlStatus:
    """`backend` "" means no pictures: `why` and `fix` then name what is missing. `renderer`: the library's own name."""

    backend: str
    renderer: str = ""
    why: str = ""
    fix: str = ""

    @property
    def software(self) -> bool:
        return "llvmpipe" in self.renderer or "softpipe" in self.renderer or self.backend == "osmesa"

    def __str__(self) -> str:
        if not self.backend:
            return coded("robot.no_pictures", why=self.why, fix=self.fix)
        return f"{self.backend}, {self.renderer}" + (" (on the CPU)" if self.software else "")


@functools.cache
def gl_status() -> GlStatus:
    """Tried once a process, about half a second. `MUJOCO_GL` is respected where it is set; else egl, then osmesa."""
    wanted = os.environ.get("MUJOCO_GL", "").strip().lower()
    if wanted in OFF and wanted:
        return GlStatus("", why=f"MUJOCO_GL={wanted}", fix=coded("robot.unset_gl"))
    reasons = []
    for backend in (wanted,) if wanted in (*BACKENDS, "glfw") else BACKENDS:
        found = _probe(backend)
        if found.backend:
            return found
        reasons.append(f"{backend}: {found.why}")
    why = "; ".join(reasons)
    return GlStatus(
        "", why=why, fix=install_command("sim") if "OpenGL" in why and "No module" in why else coded("robot.install_gl")
    )


def _probe(backend: str) -> GlStatus:
    env = {**os.environ, "MUJOCO_GL": backend}
    if backend in BACKENDS:
        env["PYOPENGL_PLATFORM"] = backend
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROBE, backend], env=env, capture_output=True, text=True, timeout=30, check=False
        )
    except subprocess.TimeoutExpired:
        return GlStatus("", why=coded("robot.no_gl_answer"))
    for line in done.stdout.splitlines():
        if line.startswith("drawn by "):
            return GlStatus(backend, line.removeprefix("drawn by "))
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith(" ")]
    errors = [line for line in lines if "Error" in line and "Exception ignored" not in line]
    return GlStatus("", why=(errors or lines or [f"the probe ended with {done.returncode}"])[0][:200])
