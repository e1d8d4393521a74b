"""`make check`: one name for one thing, and nothing cited that is not there.

- A class name and a module name occur once below src/worldfs.
- A citation resolves: `acheron D19` and `workspace §3.8` to docs/decisions/ and docs/reference/, `docs/….md` to a page.
- The glossary has at most 60 words, in order, and each is explained in one line.

    scripts/words.py [FOLDER]        a copy of the repository, the one that it lies in by default
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"acheron": "acheron", "workspace": "workspace_protocol", "agent_state": "agent_state"}
GLOSSARY = "docs/glossary.md"
MOST_WORDS = 60
_ROW = re.compile(r"\b(acheron|workspace|agent_state) ((?:D\d+|§[\d.]*\d)(?:(?:, | and )(?:D\d+|§?\d[\d.]*\d|§\d))*)")
_ONE = re.compile(r"D\d+|§?\d+(?:\.\d+)*")
_BARE = re.compile(r"(?<![\w/.-])D\d{1,2}(?![\w-])|\breference page\b|\breference §|\bHOUSE\b|\bDESIGN §")
_PAGE = re.compile(r"\bdocs/[\w./-]+\.(?:md|json)\b")


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """Each Python file of the product, its path from `root` and its text."""
    for path in sorted((root / "src/worldfs").rglob("*.py")):
        yield str(path.relative_to(root)), path.read_text(encoding="utf-8")


def repeated(root: Path) -> Iterator[str]:
    """A sentence for every class name and every module name that more than one file claims."""
    classes, modules = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for name, text in sources(root):
        if not name.endswith(("__init__.py", "__main__.py")):
            modules[Path(name).stem].append(name)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{name}:{node.lineno}")
    for kind, found in (("class", classes), ("module", modules)):
        for word, places in sorted(found.items()):
            if len(places) > 1:
                yield f"{kind} {word} occurs {len(places)} times: {', '.join(places)}; give each a name of its own"


def rows(root: Path) -> dict[str, set[str]]:
    """What can be cited of each page: its decisions (`D19`, or `4`) and its sections (`§3.2`)."""
    found: dict[str, set[str]] = {}
    for word, page in PAGES.items():
        decided = (root / f"docs/decisions/{page}.md").read_text(encoding="utf-8")
        facts = (root / f"docs/reference/{page}.md").read_text(encoding="utf-8")
        found[word] = {m[1] for m in re.finditer(r"^\| (D?\d+) \|", decided, re.M)}
        found[word] |= {f"§{m[1]}" for m in re.finditer(r"^##+ (\d+(?:\.\d+)?)\.? ", facts, re.M)}
    return found


def unresolved(root: Path) -> Iterator[str]:
    """A sentence for every citation that leads nowhere."""
    known = rows(root)
    for name, text in sources(root):
        for number, line in enumerate(text.splitlines(), 1):
            for cited in _ROW.finditer(line):
                page, sections = cited[1], "§" in cited[2]
                for one in _ONE.findall(cited[2]):
                    row = one if one.startswith(("D", "§")) or not sections else f"§{one}"
                    if row not in known[page]:
                        yield f"{name}:{number}: cites {page} {row}, which docs/ does not have"
            for bare in _BARE.finditer(_ROW.sub("", line)):
                yield f"{name}:{number}: cites {bare[0]!r} without its page; write `acheron D19` or `workspace §3.8`"
            for page in _PAGE.findall(line):
                if not (root / page).is_file():
                    yield f"{name}:{number}: cites {page}, which does not exist"


def glossary(root: Path) -> Iterator[str]:
    """A sentence for what is wrong with the glossary."""
    page = root / GLOSSARY
    if not page.is_file():
        yield f"{GLOSSARY} is missing"
        return
    words = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \|$", page.read_text(encoding="utf-8"), re.M)
    if not 0 < len(words) <= MOST_WORDS:
        yield f"{GLOSSARY}: {len(words)} words; expected 1 to {MOST_WORDS}"
    names = [word.lower() for word, _ in words]
    if names != sorted(set(names)):
        yield f"{GLOSSARY}: the words are not in order, or one occurs twice"


def main(root: Path = ROOT) -> int:
    """Print what is wrong; 1 if anything is."""
    wrong = [*repeated(root), *unresolved(root), *glossary(root)]
    for line in wrong:
        print(f"words: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(a) for a in sys.argv[1:2])))
