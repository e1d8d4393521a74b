"""scripts/test ends a test that hangs, names it, and shows where its threads stand; the other tests go on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HANGS = {
    "a lock that its own thread holds": "def test_hangs():\n    one = threading.Lock()\n    with one, one: pass\n",
    "a fixture": (
        "@pytest.fixture(scope='session')\n"
        "def stuck():\n    yield\n    threading.Event().wait()\n\n\n"
        "def test_hangs(stuck):\n    pass\n"
    ),
    "C that holds the interpreter": "def test_hangs():\n    ctypes.PyDLL(None).pause()\n",
}


@pytest.mark.slice(3)
@pytest.mark.parametrize("hang", HANGS)
def test_a_test_that_hangs_is_named_with_its_threads(tmp_path: Path, hang: str) -> None:
    (tmp_path / "test_it.py").write_text(
        f"import ctypes\nimport threading\n\nimport pytest\n\n\n{HANGS[hang]}\n\ndef test_goes_on():\n    pass\n"
    )
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [ROOT / "scripts/test", *options, str(tmp_path / "test_it.py")],
        env={**os.environ, "PYTEST_LIMIT_S": "3", "PYTEST_WORKERS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    for place in re.findall(r"files of the failed tests are in (/\S+);", done.stderr):
        shutil.rmtree(place)
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert re.search(r"crashed while running '\S*test_it.py::test_\w+'", said), said
    assert re.search(r'test_it.py", line \d+ in (?:test_hangs|stuck)', said), said
    assert "1 passed" in said or "2 passed" in said, said
