"""scripts/words.py sees each fault that it is there for; scripts/check runs it on the repository."""

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import words  # noqa: E402  # after the path is set

CLEAN = {
    "a.py": '"""A (acheron D19, §3.2; workspace §3.8; agent_state 4)."""\nclass One: ...\n',
    "b.py": "class Two: ...\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("decisions", "reference"):
        shutil.copytree(ROOT / "docs" / folder, tmp_path / "docs" / folder)
    shutil.copy(ROOT / words.GLOSSARY, tmp_path / words.GLOSSARY)
    source = tmp_path / "src/worldfs"
    source.mkdir(parents=True)
    for name, text in CLEAN.items():
        (source / name).write_text(text)
    return tmp_path


def test_a_clean_tree_passes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert words.main(root) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("b.py", "class One: ...\n", "class One occurs 2 times"),
        ("c/a.py", "", "module a occurs 2 times"),
        ("b.py", "# acheron D99\n", "cites acheron D99"),
        ("b.py", "# workspace §9.9\n", "cites workspace §9.9"),
        ("b.py", "# acheron D19, D98\n", "cites acheron D98"),
        ("b.py", "# decision D19\n", "cites 'D19' without its page"),
        ("b.py", "# the reference page says so\n", "without its page"),
        ("b.py", "# docs/decisions/nothing.md\n", "docs/decisions/nothing.md, which does not exist"),
        ("b.py", "import time\n", "b.py:1: import time"),
        ("b.py", "from time import monotonic\n", "b.py:1: from time import"),
        ("b.py", "datetime.now(UTC)\n", "b.py:1: datetime.now"),
        ("b.py", "await asyncio.sleep(0.1)\n", "b.py:1: asyncio.sleep(0.1)"),
        ("b.py", "order.extra.get('routing')\n", "b.py:1: reads order.extra"),
        ("client/handshake.py", "await asyncio.sleep(0)\n", "lists client/handshake.py (pause), which uses none"),
    ],
)
def test_a_fault_is_named(root: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, said: str) -> None:
    path = root / "src/worldfs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert words.main(root) == 1
    assert said in capsys.readouterr().err


def test_the_clock_and_what_is_listed_may_ask_the_system_for_the_time(root: Path) -> None:
    for name in ("base/clock.py", "testing/waits.py", "supervisor/orphans.py"):
        (root / "src/worldfs" / name).parent.mkdir(exist_ok=True)
        (root / "src/worldfs" / name).write_text("import time\n")
    assert words.main(root) == 0


def test_any_is_counted_and_documents_may_have_any_shape(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "value: Any\n" * (words.MOST_ANY + 1)
    (root / "src/worldfs/formats").mkdir()
    (root / "src/worldfs/formats/c.py").write_text(text)
    assert words.main(root) == 0
    (root / "src/worldfs/d.py").write_text(text)
    assert words.main(root) == 1
    assert f"Any occurs {words.MOST_ANY + 1} times outside formats/" in capsys.readouterr().err


def test_sentences_without_an_actor_are_counted(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "README.md").write_text("Whoever reads this.\n" * words.MOST_VAGUE + "```\nnobody\n```\n")
    (root / "CHANGELOG.md").write_text("Somebody wrote this.\n")
    (root / "src/worldfs/d.py").write_text('name = "nobody"\n\n\ndef find():\n    """A name."""\n')
    assert words.main(root) == 0
    (root / "src/worldfs/d.py").write_text('def find():\n    """A name\n\n    of somebody."""\n')
    assert words.main(root) == 1
    said = capsys.readouterr().err
    assert f"without an actor occur {words.MOST_VAGUE + 1} times" in said and "src/worldfs/d.py:4 somebody" in said


def test_the_glossary_is_short_and_in_order(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = root / words.GLOSSARY
    page.write_text(page.read_text().replace("| **action** |", "| **zebra** |"))
    assert words.main(root) == 1
    assert "not in order" in capsys.readouterr().err
    page.write_text(page.read_text() + "".join(f"| **zz{n:02}** | a word |\n" for n in range(60)))
    assert words.main(root) == 1
    assert "expected 1 to 60" in capsys.readouterr().err
