"""A program of constraints: stages with subgoal and path constraints, what each grasps and lets go of.

The published form is a folder: `metadata.json` with init_keypoint_positions, num_keypoints, num_stages,
grasp_keypoints[], release_keypoints[] (the number of a keypoint, −1 for none), and files of functions
`stageN_subgoal_constraintM(end_effector, keypoints)`, `stageN_path_constraintM`: `stageN_subgoal_constraints.txt`,
`stageN_path_constraints.txt`. Own metadata, all optional: `keypoints` (names, or places of the world, instead
of positions), `approach` ("side" or "above" a stage), `dwell` (s).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from worldfs.base.dir_reader import DirReader
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.base.restricting_fields import unread

from .allowed_functions import ConstraintError, Value
from .constraint_function import ConstraintFunction
from .constraint_language import TEXT, read
from .keypoints import MOST

STAGES = 20
Point = str | tuple[float, float, float]
GRASPED: Final = "get_grasping_cost_by_keypoint_idx"  # lent to every constraint: 0 while that point is held, else 1
_NAME = re.compile(r"stage(\d+)_(subgoal|path)_constraint(\d+)$")


@dataclass(frozen=True, slots=True)
class ProgramStage:
    """One stage. `grasp`, `release`: keypoint numbers, −1 for none."""

    subgoals: tuple[ConstraintFunction, ...]
    paths: tuple[ConstraintFunction, ...]
    grasp: int = -1
    release: int = -1
    approach: str = ""  # side | above | ""
    dwell: float = 0.0  # s that the stage's end is held


@dataclass(frozen=True, slots=True)
class ConstraintProgram:
    """`keypoints`: names ("apple_01.top") or fixed places (m, world); `positions`: published ones, which belong to what
    they lie on. Neither: the scene's own."""

    name: str
    stages: tuple[ProgramStage, ...]
    keypoints: tuple[Point, ...] = ()
    positions: tuple[Point, ...] = ()

    def files(self) -> dict[str, str]:
        """The published form: file name → text."""
        found = {}
        for number, stage in enumerate(self.stages, 1):
            for kind, functions in (("subgoal", stage.subgoals), ("path", stage.paths)):
                own = {name: f for function in functions for name, f in function.friends.items()}
                helps = [f for name, f in own.items() if not _NAME.match(name)]
                texts = [function.source for function in (*helps, *functions)]
                found[f"stage{number}_{kind}_constraints.txt"] = "\n\n\n".join(texts) + ("\n" if texts else "")
        return found

    def metadata(self, positions: Sequence[Sequence[float]]) -> Json:
        return {
            "init_keypoint_positions": [[round(float(v), 5) for v in position] for position in positions],
            "num_keypoints": len(positions),
            "num_stages": len(self.stages),
            "grasp_keypoints": [stage.grasp for stage in self.stages],
            "release_keypoints": [stage.release for stage in self.stages],
            "keypoints": [point if isinstance(point, str) else list(point) for point in self.keypoints],
            "approach": [stage.approach for stage in self.stages],
            "dwell": [stage.dwell for stage in self.stages],
        }


def of_files(files: Mapping[str, str], metadata: Json, name: str) -> ConstraintProgram:
    """From texts by file name. Raises `BadInput` (`ConstraintError` for a text): file, line, found, expected."""
    _refuse_unread(metadata, (*_KEYS, "approach", "dwell"), name)
    stages = _whole(metadata, "num_stages", name, 1, STAGES)
    grasps, releases = (_numbers(metadata, key, stages, name) for key in ("grasp_keypoints", "release_keypoints"))
    approach, dwell = metadata.get("approach"), metadata.get("dwell")
    steps = []
    for number in range(1, stages + 1):
        kinds: dict[str, tuple[ConstraintFunction, ...]] = {}
        for kind in ("subgoal", "path"):
            file = f"stage{number}_{kind}_constraints.txt"
            kinds[kind] = _functions(files.get(file, ""), f"{name}/{file}", number, kind)
        how = approach[number - 1] if isinstance(approach, list) and len(approach) == stages else ""
        wait = dwell[number - 1] if isinstance(dwell, list) and len(dwell) == stages else 0.0
        steps.append(
            ProgramStage(
                kinds["subgoal"], kinds["path"], grasps[number - 1], releases[number - 1],
                str(how) if how in ("side", "above") else "",
                min(10.0, max(0.0, float(wait))) if isinstance(wait, int | float) else 0.0,
            )
        )  # fmt: skip
    return _checked(ConstraintProgram(name, tuple(steps), *_points(metadata, name)))


def of_text(text: str, name: str, more: Json | None = None) -> ConstraintProgram:
    """From one text, as a model writes it: functions, and num_stages, grasp_keypoints, release_keypoints as values."""
    functions, values = read(text, name, (GRASPED,))
    metadata = {**(more or {}), **values}
    _refuse_unread(metadata, _KEYS, name)
    sorted_: dict[tuple[int, str], list[ConstraintFunction]] = {}
    for function in functions.values():
        match = _NAME.match(function.name)
        if match is not None:
            sorted_.setdefault((int(match[1]), match[2]), []).append(function)
    metadata.setdefault("num_stages", max([number for number, _ in sorted_], default=0))
    stages = _whole(metadata, "num_stages", name, 1, STAGES)
    beyond = [number for number, _ in sorted_ if not 1 <= number <= stages]
    if beyond:
        raise BadInput(
            coded("plugin.rekep_stage_constraints", n=beyond[0]),
            path=name,
            expected=coded("plugin.rekep_stages", n=stages),
        )
    grasps, releases = (_numbers(metadata, key, stages, name) for key in ("grasp_keypoints", "release_keypoints"))
    steps = tuple(
        ProgramStage(
            tuple(sorted_.get((number, "subgoal"), ())), tuple(sorted_.get((number, "path"), ())),
            grasps[number - 1], releases[number - 1],
        )
        for number in range(1, stages + 1)
    )  # fmt: skip
    return _checked(ConstraintProgram(name, steps, *_points(metadata, name)))


def of_folder(folder: Path, name: str = "") -> ConstraintProgram:
    """The published form on disk. No link is followed out of it. Raises `NotFound`, `Unsafe` or `BadInput`."""
    files, metadata = texts_of_folder(folder, name or folder.name)
    return of_files(files, metadata, name or folder.name)


def texts_of_folder(folder: Path, name: str) -> tuple[dict[str, str], Json]:
    """The files of functions, and metadata.json. Raises as `of_folder`."""
    if not folder.is_dir():
        raise NotFound(coded("plugin.rekep_no_folder"), path=name, expected=coded("plugin.rekep_a_folder"),
                       fix=coded("plugin.rekep_name_folder"))  # fmt: skip
    walk = DirReader(folder)
    try:
        document = _text(walk, "metadata.json", name)
        if document is None:
            raise NotFound(coded("plugin.rekep_no_metadata"), path=name, expected=coded("plugin.rekep_files"),
                           fix=coded("plugin.rekep_write_metadata"))  # fmt: skip
        try:
            metadata = parse_json(document)
        except ValueError as error:
            raise BadInput(
                coded("file.not_json", why=str(error)), path=f"{name}/metadata.json", expected=coded("file.object")
            ) from None
        if not isinstance(metadata, dict):
            raise BadInput(
                coded("file.not_object"), path=f"{name}/metadata.json", expected=coded("plugin.rekep_a_metadata")
            )
        stages = _whole(metadata, "num_stages", name, 1, STAGES)
        files = {}
        for number in range(1, stages + 1):
            for kind in ("subgoal", "path"):
                file = f"stage{number}_{kind}_constraints.txt"
                text = _text(walk, file, name)
                if text is not None:
                    files[file] = text
        return files, metadata
    finally:
        walk.close()


_KEYS = frozenset((
    "num_stages", "grasp_keypoints", "release_keypoints", "keypoints", "init_keypoint_positions", "num_keypoints",
))  # fmt: skip


def _refuse_unread(metadata: Json, known: Collection[str], name: str) -> None:
    """Raises `BadInput` for the first value beside the functions that nothing reads: no function sees it."""
    for key in unread(metadata, known):
        found, fix = coded("session.unread", name=key[:80]), coded("session.remove_field")
        expected = coded("common.some_of", names=sorted(known))
        raise BadInput(found, path=f"{name} metadata", expected=expected, fix=fix, code="FIELD_UNREAD")


def _text(walk: DirReader, file: str, name: str) -> str | None:
    data = walk.read(file)
    if data is None:
        return None
    if len(data) > TEXT:
        raise BadInput(
            f"{len(data)} bytes",
            path=f"{name}/{file}",
            expected=coded("common.at_most", n=TEXT),
            fix=coded("plugin.rekep_write_less"),
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadInput(coded("common.no_utf8"), path=f"{name}/{file}", expected="text") from None


def _functions(text: str, file: str, stage: int, kind: str) -> tuple[ConstraintFunction, ...]:
    found = []
    for function in read(text, file, (GRASPED,))[0].values():
        match = _NAME.match(function.name)
        if match is None:
            continue  # a function of the file's own, for the others
        if (int(match[1]), match[2]) != (stage, kind):
            raise ConstraintError(function.name, path=f"{file}:{function.line}",
                                  expected=f"stage{stage}_{kind}_constraintM",
                         fix=coded("plugin.rekep_own_stage"))  # fmt: skip
        found.append(function)
    return tuple(found)


def _whole(metadata: Json, key: str, name: str, least: int, most: int) -> int:
    value = metadata.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadInput(
            f"{key}: {_short(value)}",
            path=f"{name} metadata",
            expected=coded("plugin.rekep_whole_range", least=least, most=most),
            fix=coded("plugin.rekep_give", name=key),
        )
    return value


def _numbers(metadata: Json, key: str, stages: int, name: str) -> list[int]:
    value = metadata.get(key, [-1] * stages)
    found = [v for v in as_list(value) if isinstance(v, int) and not isinstance(v, bool) and -1 <= v < MOST]
    if not len(as_list(value)) == len(found) == stages:
        raise BadInput(
            f"{key}: {_short(value)}",
            path=f"{name} metadata",
            expected=coded("plugin.rekep_keypoint_numbers", n=stages),
            fix=coded("plugin.rekep_correct_key", name=key),
        )
    return found


def _points(metadata: Json, name: str) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    ours = _listed(metadata.get("keypoints"), name)
    return ours, () if ours else _listed(metadata.get("init_keypoint_positions"), name)


def _listed(value: Value, name: str) -> tuple[Point, ...]:
    if not isinstance(value, list | tuple):
        return ()
    if len(value) > MOST:
        raise BadInput(f"{len(value)} keypoints", path=f"{name} metadata", expected=coded("common.at_most", n=MOST))
    found: list[Point] = []
    for point in value:
        if isinstance(point, str) and point:
            found.append(point)
        elif isinstance(point, list | tuple) and len(point) == 3 and all(_number(v) for v in point):
            found.append((float(point[0]), float(point[1]), float(point[2])))
        else:
            raise BadInput(
                coded("plugin.rekep_the_keypoint", text=_short(point)),
                path=f"{name} metadata",
                expected=coded("plugin.rekep_name_or_point"),
            )
    return tuple(found)


def _checked(program: ConstraintProgram) -> ConstraintProgram:
    if not any(stage.subgoals or stage.grasp >= 0 for stage in program.stages):
        raise BadInput(
            coded("plugin.rekep_no_subgoal"),
            path=program.name,
            expected="stageN_subgoal_constraintM functions",
            fix=coded("plugin.rekep_name_subgoal"),
        )
    return program


def _number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _short(value: Value) -> str:
    return "nothing" if value is None else repr(value)[:80]
