"""The trace of a session: episode.json and one line a step, in the job's folder of artifacts."""

from __future__ import annotations

import json
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.messages import coded
from worldfs.base.model import Json, Order, Outcome, execution_of
from worldfs.robots.targets.target_adapter import Array, Observation, StepResult

FOLDER = "runtime"  # below artifacts/, as upstream has it


class EpisodeTrace:
    """Small numbers of every step; pictures stay where the target put them. `folder` None: nothing is kept."""

    def __init__(self, artifacts: Path | None, order: Order, clock: Clock) -> None:
        self.folder = artifacts / FOLDER / order.id if artifacts is not None else None
        self.steps = 0
        self._clock, self._began = clock, clock.monotonic()
        self._call: Json = {}  # of the policy, since the last step
        self._file: IO[str] | None = None
        self._recorded = execution_of(order).record and find_spec("PIL") is not None  # pictures are kept, too
        self.trouble = ""  # a full disk must not end the motion; it is reported with the outcome
        try:
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._file = (self.folder / "trace.jsonl").open("w", encoding="utf-8")
        except OSError as error:
            self._give_up(error)

    def __call__(self, observation: Observation, action: Array | None, result: StepResult | None) -> None:
        self.steps += 1
        if self._file is None:
            return
        line: Json = {"step": self.steps, "t": round(self._clock.monotonic() - self._began, 4), **self._call}
        self._call = {}
        if action is not None:
            line["action"] = [round(float(part), 6) for part in action]
        line |= {
            name: [round(float(part), 6) for part in value.ravel()]
            for name, value in observation.items()
            if value.size <= SMALL
        }
        if result is not None:
            line |= {"reward": result.reward, **({"clamped": list(result.clamped)} if result.clamped else {})}
        try:
            self._file.write(json.dumps(line) + "\n")
            if self._recorded:
                self._keep_pictures(observation)
        except OSError as error:
            self._give_up(error)

    def _keep_pictures(self, observation: Observation) -> None:
        """Each camera's picture of this step, as frames/CAMERA/STEP.jpg."""
        from PIL import Image

        assert self.folder is not None
        for name, value in observation.items():
            camera = name.removeprefix("rgb.")
            if camera != name and value.dtype == np.uint8 and value.ndim == 3:
                place = self.folder / "frames" / camera.replace("/", "_").replace(".", "_")
                place.mkdir(parents=True, exist_ok=True)
                Image.fromarray(value).save(place / f"{self.steps:06d}.jpg", quality=QUALITY)

    def policy_answered(self, seconds: float) -> None:
        """The next step's line says when the policy's answer was there (seconds since the start), and its length."""
        now = self._clock.monotonic() - self._began
        self._call = {"policy_at": round(now, 4), "policy_ms": round(1000 * seconds, 3)}

    def close(self, order: Order, outcome: Outcome) -> Json:
        """The result's fields about it: artifact_dir and trace_path, relative to the workspace; num_steps."""
        fields: Json = {"num_steps": self.steps}
        if self.folder is None:
            return fields
        place = f"artifacts/{FOLDER}/{order.id}"
        try:
            self.drop()
            episode = {
                "session_id": order.id, "target": order.node, "skill": order.op, "params": order.params,
                "success": outcome.ok, "message": outcome.message, "code": outcome.code, "num_steps": self.steps,
                "evidence": outcome.evidence, "words": execution_of(order).instruction, "recorded": self._recorded,
            }  # fmt: skip
            text = json.dumps(episode, ensure_ascii=False, indent=1, default=str)
            (self.folder / "episode.json").write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            self._give_up(error)
        fields |= {"artifact_dir": place, "trace_path": f"{place}/trace.jsonl"}
        return fields | ({"trace": self.trouble} if self.trouble else {})

    def drop(self) -> None:
        """Close the file; its contents stay."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()

    def _give_up(self, error: OSError) -> None:
        self.trouble = coded("session.trace_lost", why=error.strerror or str(error))
        self.drop()


QUALITY = 95  # of a kept picture
SMALL = 32  # numbers of one observation that a line holds: joints, poses; never pictures
