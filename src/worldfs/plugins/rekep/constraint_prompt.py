"""The prompt for a model that writes constraints from words: our own text, keypoints, the form of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from worldfs.base.model import Thing

from .keypoints import Keypoint

RULES = """\
You turn a task for a robot arm with a two-finger gripper into stages of geometric constraints on keypoints.
Keypoints are points of things, numbered; positions are in metres, z is up. A point of a thing that the gripper holds
moves with the gripper.

Answer with one ```python block and nothing else in code. It holds:
- num_stages = N
- grasp_keypoints = [...] and release_keypoints = [...]: for each stage the number of the keypoint whose thing is
  grasped, or let go of, at its end; -1 for none.
- functions stageI_subgoal_constraintJ(end_effector, keypoints): true at the end of stage I;
- functions stageI_path_constraintJ(end_effector, keypoints): true all through stage I.
Each returns one number, a cost: at most 0 when satisfied, larger the farther from it. end_effector is an array (3,):
the point between the fingers; keypoints is an array (K, 3). Give distances a tolerance of about a centimetre.

A stage that grasps needs one subgoal only: the end effector near the keypoint. Grasp before you carry, in a stage of
its own. While something is carried, add the path constraint: return get_grasping_cost_by_keypoint_idx(NUMBER)
To set something down, end the stage with it a few millimetres above the surface and let go of it there. To keep a thing
upright, compare its top and bottom keypoints.

Allowed is only: arithmetic, comparisons, if, for over a range, lists, np functions such as np.linalg.norm, np.array,
np.dot, np.clip, np.arccos. No import, no while, no lambda, no text.
"""


def task_prompt(
    words: str, points: Sequence[Keypoint], positions: Sequence[Sequence[float]], things: Mapping[str, Thing]
) -> str:
    """The user's part: the task, and every keypoint with number, thing and position."""
    lines = [f"Task: {words}", "", "Keypoints:"]
    for number, (point, position) in enumerate(zip(points, positions, strict=True)):
        thing = things.get(point.owner)
        name = f" ({thing.name})" if thing is not None and thing.name and thing.name != thing.id else ""
        lines.append(f"{number}: {point.name}{name} at [{', '.join(f'{float(v):.3f}' for v in position)}]")
    sizes = [
        f"{thing.id}: {thing.shape or 'thing'} of {' × '.join(f'{float(v):.3f}' for v in thing.size)} m"
        for thing in things.values()
        if len(thing.size) == 3
    ]
    return "\n".join([*lines, "", "Sizes:", *sizes])


def correction_prompt(why: str) -> str:
    return f"That cannot be used: {why}. Answer again with one whole ```python block."
