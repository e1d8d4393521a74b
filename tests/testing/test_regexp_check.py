"""scripts/regexps.py finds what costs more than its text; scripts/check runs it on the repository."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import regexps  # noqa: E402  # after the path is set


@pytest.mark.slice(3)
@pytest.mark.parametrize(
    ("pattern", "way"),
    [
        (r"\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$", "match"),  # three loops of the same signs: a page's table, once
        (r"(a+)+b", "match"),
        (r"(?:<=|[<=])*x", "match"),
        (r"(?:a|aa|b)*c", "fullmatch"),
        (r"\s+$", "sub"),  # tried from each of the blanks
        (r"\(.*?\)", "sub"),
        (r"<!--.*?-->", "search"),
        (r"(.+?) , (.+)", "fullmatch"),
        (r"\[([^\]]+)\]\(x\)", "findall"),
        (r"0*(\d+)", "fullmatch"),
        (rb"^\W*[\s*]*driver", "search"),
    ],
)
def test_an_expression_that_tries_the_same_in_many_ways_is_found(pattern: str | bytes, way: str) -> None:
    assert regexps.slow(pattern, re.MULTILINE * isinstance(pattern, bytes), (way,)) is not None


@pytest.mark.parametrize(
    ("pattern", "way"),
    [
        (r"[\s:|-]+$", "match"),
        (r"(?:a++)+b", "match"),
        (r"(?<!\s)\s++$", "sub"),
        (r"\([^)\n]*+(\)?)", "sub"),
        (r"[A-Za-z0-9._-]{1,128}", "fullmatch"),
        (r"\w+(?:-\w+)*", "match"),
    ],
)
def test_one_that_reads_its_text_once_is_not(pattern: str, way: str) -> None:
    assert regexps.slow(pattern, 0, (way,)) is None


def test_a_bound_of_its_texts_counts() -> None:
    assert regexps.slow(r"\s+$", 0, ("sub",)) is not None
    assert regexps.slow(r"\s+$", 0, ("sub",), 255) is None


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SHORT", "FREE", "MEANT"):
        monkeypatch.setattr(regexps, name, {})
    (tmp_path / regexps.SOURCE / "interfaces/web/static").mkdir(parents=True)
    return tmp_path


@pytest.mark.slice(3)
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", 'import re\nONE = re.compile(r"(a+)+b")\nONE.match(x)\n', "a.py:ONE (line 2): match"),
        ("a.py", 'import re\nONE = re.compile(r"(a+)+b").match\n', "a.py:ONE (line 2): match"),
        ("a.py", 'import re\ndef f(x):\n    return re.sub(r"\\s+$", "", x)\n', "a.py:f (line 3): sub"),
        ("a.py", 'import re\ndef f(x, w):\n    return re.sub(rf"\\s+{w}", "", x)\n', "a.py:f (line 3): sub"),
        ("a.py", "import re\ndef f(x, y):\n    re.match(y, x)\n", "a.py:3: name 'y' is not defined"),
        ("interfaces/web/static/a.js", "const a = b / 2, R = /x(a+)+b/i; // /(/", "a.js:/x(a+)+b/ (line 1): search"),
        ("interfaces/web/static/a.js", "f(`${a.replace(/\\s+$/u, '')} /(/`);", "a.js:/\\s+$/ (line 1)"),
        ("interfaces/web/static/a.js", "if (!/[/`]+(a|a)*b/.test(x)) return /`/;", "a.js:/[/`]+(a|a)*b/ (line 1)"),
        ("interfaces/web/static/a.js", "x = /(?<n>[\\p{L}]+)+b/u;", "a.js:/(?<n>[\\p{L}]+)+b/ (line 1)"),
    ],
)
def test_each_expression_of_a_file_is_read(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, text: str, said: str
) -> None:
    monkeypatch.setattr(regexps.importlib, "import_module", lambda name: regexps)  # its names are none of the file's
    (root / regexps.SOURCE / name).write_text(text)
    assert regexps.main(root) == 1
    assert said in capsys.readouterr().err


def test_an_exception_for_nothing_is_named(root: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regexps, "FREE", {"a.py:GONE": "no reason"})
    assert regexps.main(root) == 1
    assert "lists a.py:GONE" in capsys.readouterr().err
