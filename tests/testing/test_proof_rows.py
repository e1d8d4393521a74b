"""The rows of the proofs, and the faults of `make mutants`: what documents promise of them is there."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def loaded(path: str) -> ModuleType:
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(f"its_{name}", ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # what names its own types is looked up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rules() -> ModuleType:
    return loaded("scripts/mutant_rules.py")


@pytest.fixture(scope="module")
def faults(rules: ModuleType) -> list[Any]:
    found: list[Any] = rules.faults()
    return found


def test_every_proof_has_a_row_and_every_row_a_proof() -> None:
    rows = {row.test for row in importlib.import_module("bench._published").PROOFS}
    proofs = {path.stem for path in (ROOT / "tests/proof").glob("test_*.py") if "mark.proof" in path.read_text("utf-8")}
    assert rows == {*proofs, "mutants"}


def test_lines_of_one_kind_are_one_row_with_the_sums() -> None:
    totals = loaded("tests/proof/conftest.py").totals
    said = [
        "a: killed at 1,200 calls, 9 a second, nothing lost",
        "b: killed at 34 calls, 7 a second, nothing lost",
        "no",
    ]
    assert list(totals(said)) == ["killed at 1,234 calls, nothing lost"]
    assert list(totals(["at most 0.20 s late", "at most 0.15 s late"])) == ["at most 0.20 s late"]


@pytest.mark.proof
def test_the_rules_make_enough_faults_and_those_that_were_found_by_hand(rules: ModuleType, faults: list[Any]) -> None:
    assert len(faults) >= 150
    assert {rules.named(fault) for fault in faults} - {""} == {one.row for one in rules.NAMED}
    assert len({fault.key for fault in faults}) == len(faults), "each is another one"
    assert {fault.rule for fault in faults} == set(rules.RULES)


@pytest.mark.proof
def test_a_fault_is_a_program_and_another_one(rules: ModuleType, faults: list[Any]) -> None:
    """Of each module only the statement is read again in which the fault is."""

    @functools.cache
    def read(file: str) -> tuple[bytes, list[tuple[int, int, str]]]:
        """The file, and of each statement of the module its first byte, the one after its last, and what it says."""
        data = (rules.SRC / file).read_bytes()
        begins = [0, *(index + 1 for index, byte in enumerate(data) if byte == ord("\n")), len(data)]
        body = ast.parse(data).body
        spans = [
            (min(one.lineno, *(d.lineno for d in getattr(one, "decorator_list", ())), one.lineno), one) for one in body
        ]
        return data, [(begins[first - 1], begins[one.end_lineno or 0], ast.dump(one)) for first, one in spans]

    for fault in faults:
        data, statements = read(fault.file)
        begin, end, said = next(one for one in statements if one[1] >= fault.end)
        changed = data[begin : fault.start] + fault.new.encode() + data[fault.end : end]
        assert [ast.dump(one) for one in ast.parse(changed).body] != [said], fault.name


def test_a_result_stays_valid_while_only_words_change() -> None:
    behaviour = importlib.import_module("bench._published").behaviour
    source = '"""Doc."""\n\n\ndef f(a):  # 树\n    """Says\n    more."""\n    # why\n    return "# 树" + a  # end\n'
    source += '\n\nx = 1\n"""Of x."""\n'
    assert behaviour(source) == b'def f(a):\n    return "# \xe6\xa0\x91" + a\nx = 1'
    assert behaviour(source.replace("more", "less").replace("# why", "# because")) == behaviour(source)
    assert behaviour(source.replace('# 树" +', '# 树 " +')) != behaviour(source)
    assert behaviour(source.replace("x = 1", "x = 2")) != behaviour(source)
    assert behaviour('def f():\n    """Doc."""\n') != behaviour('def g():\n    """Doc."""\n')
