"""scripts/processes.py sees each start of a process that may wait for ever; scripts/check runs it on the repository."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import processes  # noqa: E402  # after the path is set

CLEAN = """
import os, subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
subprocess.run(["true"], timeout=1)
subprocess.Popen(["true"], start_new_session=True)
os.posix_spawn("/bin/true", ["true"], os.environ)
ProcessPoolExecutor(2, mp_context=get_context("spawn"))
get_context("spawn").Pipe()
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(processes, "FREE", {})
    (tmp_path / "src/worldfs").mkdir(parents=True)
    (tmp_path / "src/worldfs/clean.py").write_text(CLEAN)
    return tmp_path


def test_programs_that_are_executed_with_a_limit_pass(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert processes.main(root) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os\nif not os.fork(): pass\n", "worldfs/a.py:2: os.fork"),
        ("from os import fork\nfork()\n", "worldfs/a.py:2: os.fork"),
        ("import os as system\nmine = system.fork\n", "worldfs/a.py:2: os.fork"),
        ("import pty\npty.fork()\n", "worldfs/a.py:2: pty.fork"),
        ("import subprocess\nsubprocess.Popen([], preexec_fn=f)\n", "worldfs/a.py:2: preexec_fn"),
        ("start([], preexec_fn=f)\n", "worldfs/a.py:1: preexec_fn"),
        ("import subprocess\nsubprocess.run([])\n", "worldfs/a.py:2: subprocess.run without"),
        ("from subprocess import check_output as said\nsaid([])\n", "worldfs/a.py:2: subprocess.check_output without"),
        ("import multiprocessing as mp\nmp.Process(target=f)\n", "worldfs/a.py:2: multiprocessing.Process"),
        ("from multiprocessing import get_context\nget_context()\n", "worldfs/a.py:2: a context"),
        ("from multiprocessing import get_context\nget_context('fork')\n", "worldfs/a.py:2: a context"),
        ("from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor(2)\n", "worldfs/a.py:2: a pool"),
    ],
)
def test_each_fault_is_named(root: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (root / "src/worldfs/a.py").write_text(text)
    assert processes.main(root) == 1
    assert said in capsys.readouterr().err


def test_an_exception_that_is_none_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "FREE", {"src/worldfs/clean.py": "no reason"})
    assert processes.main(root) == 1
    assert "lists src/worldfs/clean.py" in capsys.readouterr().err
