"""Every command in an installation with the base alone, and with each extra alone: none ends as a bug of ours."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from worldfs.base.errors import MissingRequirement
from worldfs.base.extras import BASE, EXTRAS, install_command, missing_module, needs, require

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DECLARED: dict[str, list[str]] = PROJECT["optional-dependencies"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(*extras: str) -> set[str]:
    """The distributions that an installation with these extras holds, as far as they are here."""
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    asked = [*PROJECT["dependencies"], *(line for extra in extras for line in DECLARED[extra])]
    wanted = [(Requirement(line), "") for line in asked]
    while wanted:
        requirement, _ = wanted.pop()
        name = normal(requirement.name)
        if name == "worldfs":
            wanted += [(Requirement(line), "") for extra in requirement.extras for line in DECLARED[extra]]
            continue
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            try:
                needed = distribution(name).requires or []
            except PackageNotFoundError:
                continue
            found.add(name)
            for line in needed:
                more = Requirement(line)
                if more.marker is None or more.marker.evaluate({"extra": extra}):
                    wanted.append((Requirement(line.partition(";")[0]), ""))
    return found


def absent_modules(*extras: str) -> list[str]:
    """The top modules of this environment that an installation with these extras does not have."""
    there = closure(*extras)
    owners = packages_distributions()
    return sorted(
        module
        for module, names in owners.items()
        if "worldfs" not in names and not {normal(name) for name in names} & there and module.isidentifier()
    )


def is_here(extra: str) -> bool:
    return all(_found(module) for module in EXTRAS.get(extra, ()))


def _found(module: str) -> bool:
    try:
        require(modules=(module,))
    except MissingRequirement:
        return False
    return True


@pytest.mark.slice(24)
@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_no_command_ends_as_a_bug_where_only_this_extra_is_installed(extra: str, tmp_path: Path) -> None:
    if not is_here(extra):
        pytest.skip(f"worldfs[{extra}] is not installed")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("every_command.py")), str(tmp_path),
         *absent_modules(*([extra] if extra else []))],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-3000:]


def statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All of them, those within others too, without what only a type checker sees."""
    for node in body:
        yield node
        typed = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for block in ("orelse",) if typed else ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from statements(getattr(node, block, []))


def imported() -> Iterator[tuple[str, str]]:
    """Each module of other distributions that the package imports at run time, and the file that does."""
    own = {"worldfs", "batched_tensors", "foreign_values", *sys.stdlib_module_names}
    for file in sorted((ROOT / "src/worldfs").rglob("*.py")):
        for node in statements(ast.parse(file.read_text()).body):
            if isinstance(node, ast.Import):
                names = [item.name for item in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            for name in names:
                if name.partition(".")[0] not in own:
                    yield name, str(file.relative_to(ROOT / "src/worldfs"))


# Of simulators and policies in a Python of their own, of a robot's own library, and of the tests of contracts.
ELSEWHERE = re.compile(r"robots/targets/environments/|policies/model_process|watchdog_process|testing/")


def test_every_module_that_the_package_imports_is_of_the_base_or_of_an_extra() -> None:
    unknown = {
        (name, file)
        for name, file in imported()
        if not ELSEWHERE.search(file) and missing_module(ModuleNotFoundError(name=name)) is None
    }
    assert unknown == set()


def test_each_extra_brings_the_modules_that_the_table_says() -> None:
    owners = packages_distributions()
    assert EXTRAS.keys() <= DECLARED.keys()
    assert {name for name, needed in DECLARED.items() if needed} == EXTRAS.keys()
    for extra, modules in (("", BASE), *EXTRAS.items()):
        if is_here(extra):
            there = closure(*([extra] if extra else []))
            for module in modules:
                of = {normal(name) for name in owners[module.partition(".")[0]]}
                assert of & there, (extra, module)


def test_a_missing_module_names_the_extra_and_a_stranger_is_left_alone() -> None:
    with pytest.raises(MissingRequirement) as raised, needs(op="open"):
        raise ModuleNotFoundError("No module named 'google'", name="google")
    assert raised.value.fix == install_command("policies") == "pip install 'worldfs[policies]'"
    with pytest.raises(MissingRequirement) as raised, needs("sim", "record", op="record"):
        raise ModuleNotFoundError("No module named 'mcap.writer'", name="mcap.writer")
    assert (raised.value.op, raised.value.fix) == ("record", "pip install 'worldfs[sim,record]'")
    with pytest.raises(MissingRequirement, match="cannot open shared object") as raised, needs():
        raise ImportError("libGL.so.1: cannot open shared object file", name="cv2")
    assert raised.value.fix == "pip install 'worldfs[calibration]'"
    with pytest.raises(MissingRequirement) as raised, needs():
        raise ModuleNotFoundError(name="numpy")
    assert raised.value.fix == "pip install worldfs"
    for stranger in ("worldfs.nothing", "somebody", ""):
        with pytest.raises(ModuleNotFoundError), needs("sim"):
            raise ModuleNotFoundError(name=stranger)
