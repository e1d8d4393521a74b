"""Where a session's program comes from: its own constraints, the skill's, the library, or a model that reads words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from worldfs.base.dir_reader import check_path
from worldfs.base.errors import BadInput, NotFound, Unsafe, UserError
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.model import Json, Skill, Thing
from worldfs.skills.skill_runtime import SkillParameters, SkillRequest

from . import program_library
from .constraint_program import ConstraintProgram, of_files, of_folder, of_text, texts_of_folder
from .keypoints import Keypoint, attach_points, keypoint_named, of_scene
from .program_library import LibraryProgram, ProgramGoal
from .task_params import OBJECT, PLACE, POINT, TaskParams

SLACK = 0.01  # m: published functions are distances without a tolerance of their own
WORDS = ("nl_task", "task", "instruction", "text")
OWN = ("constraints", "keypoints", "keypoints_from", "slack", "max_backtracks", "program", "model", "images")
FOR_WORDS = ("rekep_real", "real_execute")  # skills that are described in words


def words_of(request: SkillRequest) -> str:
    """The session's instruction in words, if the skill takes one; "" else."""
    description = next((v.strip() for key in WORDS if isinstance(v := request.params.get(key), str) and v.strip()), "")
    if request.skill.id in FOR_WORDS and not request.skill.digest:
        return description or request.words.strip()
    if given_constraints(request) is not None or program_library.task_of(
        str(request.params.get("task") or request.skill.id)
    ):
        return ""
    return description or request.words.strip()


def parameters_of(request: SkillRequest) -> SkillParameters:
    """Constraints of one's own handle what their keypoints name; a program of the library handles one thing."""
    names = frozenset((*OBJECT, *PLACE, *POINT, *OWN, *WORDS))
    if words_of(request) or given_constraints(request) is not None:
        return SkillParameters(names, words=True)
    return SkillParameters(names, OBJECT, tasks=program_library.NAMES)


def given_constraints(request: SkillRequest) -> object:
    """Constraints that the session or the skill brings: a path, a text, or a mapping; None for none."""
    constraints = request.params.get("constraints")
    return request.skill.extra.get("constraints") if constraints is None else constraints


def given_program(constraints: object, request: SkillRequest, things: Mapping[str, Thing]) -> LibraryProgram:
    """The program that a session or a skill brings. Raises `BadInput`, `NotFound` or `Unsafe`."""
    at = f"SESSIONS.md {request.job} execution.params.constraints"
    if request.params.get("constraints") is None:
        if request.skill.digest:
            program = written_program(request.skill)
            return with_points(program, things, program.name)
        at = f"SKILLS.md {request.skill.id} constraints"
    if isinstance(constraints, str) and "def " in constraints:
        program = of_text(constraints, at, _keypoints(request))
    elif isinstance(constraints, str) and constraints.strip():
        program = of_folder(_folder(constraints.strip(), request, at), constraints.strip())
    elif isinstance(constraints, Mapping):
        program = of_mapping(constraints, at)
    else:
        raise BadInput(type(constraints).__name__, path=at,
                       expected=coded("plugin.rekep_constraints"),
                       fix=coded("plugin.rekep_page"))  # fmt: skip
    return with_points(program, things, at)


def written_program(skill: Skill) -> ConstraintProgram:
    """The program of a skill file. Raises `BadInput`: file, line, found, expected."""
    program = of_mapping(as_object(skill.extra.get("constraints")), f"skills/{skill.id}.md")
    if not program.keypoints:
        expected, fix = 'keypoints = ["apple_01.centre", …]', coded("plugin.rekep_name_keypoints")
        raise BadInput(coded("plugin.rekep_no_keypoints"), path=program.name, expected=expected, fix=fix)
    return program


def digests(request: SkillRequest) -> Json:
    """The hash of the folder that the session or the skill names for its constraints; empty where it names none."""
    named = given_constraints(request)
    if not isinstance(named, str) or "def " in named or not named.strip():
        return {}
    word = named.strip()
    try:
        read: object = texts_of_folder(_folder(word, request, word), word)
    except UserError:
        read = None  # the session's review says why
    return {word: hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()[:16]}


def of_mapping(constraints: Mapping[str, object], name: str) -> ConstraintProgram:
    """`{metadata: {…}, files: {name: text}}`, or `{program: text, …}` with the metadata beside it."""
    text, files, metadata = constraints.get("program"), constraints.get("files"), constraints.get("metadata", {})
    if not isinstance(metadata, Mapping):
        expected = "num_stages, grasp_keypoints, release_keypoints"
        raise BadInput(coded("plugin.rekep_no_mapping"), path=f"{name} metadata", expected=expected)
    if isinstance(text, str):
        beside = {key: value for key, value in constraints.items() if key not in ("program", "metadata")}
        return of_text(text, name, {**metadata, **beside})
    if isinstance(files, Mapping) and all(isinstance(v, str) for v in files.values()):
        return of_files({str(k): v for k, v in files.items()}, dict(metadata), name)
    raise BadInput(", ".join(map(str, constraints)) or coded("common.nothing"), path=name,
                   expected=coded("plugin.rekep_files_or_program"), fix=coded("plugin.rekep_page"))  # fmt: skip


def with_points(
    program: ConstraintProgram, things: Mapping[str, Thing], at: str, goal: ProgramGoal | None = None
) -> LibraryProgram:
    """Keypoints found in the scene: those that the program names, those it gives by position, else the scene's own."""
    if program.keypoints:
        points = [
            keypoint_named(point, things, f"{at} keypoints") if isinstance(point, str) else Keypoint("", "place", point)
            for point in program.keypoints
        ]
    elif program.positions:
        points = attach_points([point for point in program.positions if not isinstance(point, str)], things)
    else:
        points = of_scene(things.values())
    for number, stage in enumerate(program.stages, 1):
        for key, index in (("grasp_keypoints", stage.grasp), ("release_keypoints", stage.release)):
            if index >= len(points):
                raise BadInput(coded("plugin.rekep_point_of_stage", key=key, n=number, index=index), path=at,
                               expected=coded("common.at_most", n=len(points) - 1),
                               fix=coded("plugin.rekep_point_count", n=len(points)))  # fmt: skip
    return LibraryProgram(program, tuple(points), goal or ProgramGoal(""), SLACK)


def from_library(request: SkillRequest, setting: TaskParams) -> LibraryProgram:
    task = program_library.task_of(str(request.params.get("task") or "")) or program_library.task_of(
        str(request.skill.extra.get("task") or request.skill.id)
    )
    if not task:
        raise BadInput(request.skill.id, path=f"SKILLS.md {request.skill.id}",
                       expected=coded("plugin.rekep_origin"), fix=coded("plugin.rekep_give_origin"))  # fmt: skip
    return program_library.write_program(task, setting)


def _keypoints(request: SkillRequest) -> Json:
    constraints = request.params.get("keypoints")
    return {"keypoints": constraints} if isinstance(constraints, list) else {}


def _folder(word: str, request: SkillRequest, at: str) -> Path:
    """A session names a folder of the workspace; the operator's skill may name one anywhere."""
    if request.params.get("constraints") is None and Path(word).is_absolute():
        return Path(word)
    if request.home is None:
        raise NotFound(word, path=at, expected=coded("plugin.rekep_on_disk"),
                       fix=coded("plugin.rekep_give_constraints"))  # fmt: skip
    try:
        check_path(word.rstrip("/"), op="read constraints")
    except Unsafe as error:
        raise Unsafe(error.found, path=at, expected=coded("plugin.rekep_relative_folder"),
                     fix=coded("plugin.rekep_into_workspace")) from None  # fmt: skip
    folder = request.home
    for part in word.rstrip("/").split("/"):
        folder = folder / part
        if folder.is_symlink():
            raise Unsafe(coded("tree.link"), path=at, expected=coded("plugin.rekep_own_folder"))
    return folder
