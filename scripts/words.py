"""`make check`: one name for one thing, one clock, and nothing cited that is not there.

- A class name and a module name occur once below src/worldfs.
- A citation resolves: `acheron D19` and `workspace §3.8` to docs/decisions/ and docs/reference/, `docs/….md` to a page.
- Only the clock asks the system for the time; the exceptions are listed here with their reasons.
- An order's unknown keys are read as types (base/model/session.py).
- `Any` outside formats/ is not used more often than MOST_ANY says. Make the number smaller where you can.
- The glossary has at most 60 words, in order, and each is explained in one line.
- A sentence of a page or a docstring names its actor: words such as `somebody` do not occur more often than MOST_VAGUE
  says. Make that number smaller, too.

    scripts/words.py [FOLDER]        a copy of the repository, the one that it lies in by default
"""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"acheron": "acheron", "workspace": "workspace_protocol", "agent_state": "agent_state"}
GLOSSARY = "docs/glossary.md"
MOST_WORDS = 60
MOST_ANY = 54
MOST_VAGUE = 18
CLOCK = ("src/worldfs/base/clock.py", "src/worldfs/testing/")  # and the doubles and waits of tests
OWN_TIME = {  # a file below src/worldfs that uses the machine's time directly, and why
    "supervisor/supervisor.py": "a process of its own between the runner and the command",
    "supervisor/orphans.py": "waits for the end of processes that killed runners left",
    "policies/model_process.py": "run by another Python, which has no worldfs",
}
OWN_PAUSE = {  # a file below src/worldfs that pauses on its event loop, and why nothing can wake it
    "client/handshake.py": "a foreign server's session warms up and reports only when asked",
    "client/remote_jobs.py": "a server without job ids, whose status does not block",
    "client/remote_watch.py": "a server that reports only the ends of jobs",
    "client/remote_world.py": "between two attempts to connect",
    "interfaces/acheron/plane_ticker.py": "several changes, one tick",
    "interfaces/acheron/server.py": "connections that say goodbye",
    "interfaces/posix/offline_files.py": "between two questions whether a server can be reached again",
    "interfaces/cli/top/top_app.py": "several changes, one picture; a source that is lost is asked again",
    "runtime/stop_by_files.py": "a driver's confirmation, which its file tells only when asked",
    "plugins/nats_store/bucket.py": "between two attempts to read a bucket of a group that has no leader yet",
    "plugins/nats_store/bucket_watch.py": "between two checks that a silent server still sends its beats",
    "plugins/nats_store/jetstream_connection.py": "between two attempts to reach a server",
    "plugins/nats_store/nats_lease.py": "between two renewals",
    "plugins/nats_store/nats_store.py": "between two attempts to reach a server that another process starts",
    "plugins/node_fs/fs_server.py": "a lock that another process holds; several changes, one push",
    "plugins/node_fs/node_daemon.py": "between two attempts to connect",
    "plugins/node_fs/node_joining.py": "until a person approves the node, which the server reports only when asked",
    "plugins/node_fs/tunnel_hub.py": "between two checks that a silent node lives",
}
# What reads the keys of an order that are no fields of it: types, documents, and the fields of an agent's job.
ORDER_KEYS = ("base/model/session.py", "formats/", "world/agent_jobs/agent_job.py")
_ROW = re.compile(r"\b(acheron|workspace|agent_state) ((?:D\d+|§[\d.]*\d)(?:(?:, | and )(?:D\d+|§?\d[\d.]*\d|§\d))*)")
_ONE = re.compile(r"D\d+|§?\d+(?:\.\d+)*")
_BARE = re.compile(r"(?<![\w/.-])D\d{1,2}(?![\w-])|\breference page\b|\breference §|\bHOUSE\b|\bDESIGN §")
_VAGUE = re.compile(r"\b(somebody|someone|anybody|anyone|nobody|whoever|anew|who has)\b", re.IGNORECASE)
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_PAGE = re.compile(r"\bdocs/[\w./-]+\.(?:md|json)\b")


class Source(NamedTuple):
    """A Python file of the product: its path from the root, its text and every node of it."""

    name: str
    text: str
    nodes: list[ast.AST]


def sources(root: Path) -> Iterator[Source]:
    for path in sorted((root / "src/worldfs").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield Source(str(path.relative_to(root)), text, list(ast.walk(ast.parse(text))))


def repeated(files: Sequence[Source]) -> Iterator[str]:
    """A sentence for every class name and every module name that more than one file claims."""
    classes, modules = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for name, _, nodes in files:
        if not name.endswith(("__init__.py", "__main__.py")):
            modules[Path(name).stem].append(name)
        for node in nodes:
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


def unresolved(root: Path, files: Sequence[Source]) -> Iterator[str]:
    """A sentence for every citation that leads nowhere."""
    known = rows(root)
    for name, text, _ in files:
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


def _uses(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int, str]]:
    """Each direct use of the machine's time: its kind (time or pause), its line, and what stands there."""
    for node in nodes:
        if isinstance(node, ast.Import) and any(name.name == "time" for name in node.names):
            yield "time", node.lineno, "import time"
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield "time", node.lineno, "from time import"
        elif isinstance(node, ast.Attribute) and node.attr in ("now", "utcnow", "today"):
            if isinstance(node.value, ast.Name) and node.value.id in ("datetime", "date"):
                yield "time", node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "asyncio.sleep":
            yield from () if ast.unparse(node.args[0]) == "0" else [("pause", node.lineno, ast.unparse(node))]


def clocks(root: Path, files: Sequence[Source]) -> Iterator[str]:
    """A sentence for every use of the machine's time outside the clock, and for every exception that is none."""
    listed, met = {"time": OWN_TIME, "pause": OWN_PAUSE}, set[tuple[str, str]]()
    for name, _, nodes in files:
        for kind, line, found in () if name.startswith(CLOCK) else _uses(nodes):
            inside = name.removeprefix("src/worldfs/")
            met.add((kind, inside))
            if inside not in listed[kind]:
                fix = "take a Clock from the caller" if kind == "time" else "wait for what happens"
                yield f"{name}:{line}: {found}; {fix}, or list the file in scripts/words.py with the reason"
    for kind, inside in [(kind, inside) for kind, entries in listed.items() for inside in entries]:
        if (kind, inside) not in met and (root / "src/worldfs" / inside).exists():
            yield f"scripts/words.py lists {inside} ({kind}), which uses none"


def untyped(files: Sequence[Source]) -> Iterator[str]:
    """A sentence for every place that takes an order's unknown keys apart instead of asking for their types."""
    for name, text, _ in files:
        if not name.removeprefix("src/worldfs/").startswith(ORDER_KEYS):
            for number, line in enumerate(text.splitlines(), 1):
                if "order.extra" in line:
                    yield f"{name}:{number}: reads order.extra; ask base/model/session.py for a type"


def anys(files: Sequence[Source]) -> Iterator[str]:
    """A sentence if `Any` occurs more often than is recorded; formats/ reads documents of any shape."""
    uses = [
        f"{name}:{node.lineno}"
        for name, _, nodes in files
        if not name.startswith("src/worldfs/formats/")
        for node in nodes
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    if len(uses) > MOST_ANY:
        fix = "say what it is, or `object` and parse it (base/json_values.py)"
        yield f"Any occurs {len(uses)} times outside formats/; at most {MOST_ANY}: {fix}; the last ones: {uses[-3:]}"


def vague(root: Path, files: Sequence[Source]) -> Iterator[str]:
    """A sentence if words that name no actor occur more often than is recorded. Changelog and decisions are history."""
    uses = []
    for page in sorted([*root.glob("*.md"), *root.glob("docs/*.md")]):
        if page.name != "CHANGELOG.md":
            text = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
            uses += _vague_words(str(page.relative_to(root)), 1, text)
    for name, text, nodes in files:
        for node in nodes if _VAGUE.search(text) else ():
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
                first = node.body[0]
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    uses += _vague_words(name, first.lineno, str(first.value.value))
    if len(uses) > MOST_VAGUE:
        fix = "name the actor: the role, the program, the person"
        yield f"words without an actor occur {len(uses)} times; at most {MOST_VAGUE}: {fix}; all of them: {uses}"


def _vague_words(name: str, line: int, text: str) -> Iterator[str]:
    for found in _VAGUE.finditer(text):
        yield f"{name}:{line + text.count(chr(10), 0, found.start())} {found[0]}"


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
    files = list(sources(root))
    wrong = [
        *repeated(files),
        *unresolved(root, files),
        *clocks(root, files),
        *untyped(files),
        *anys(files),
        *vague(root, files),
        *glossary(root),
    ]
    for line in wrong:
        print(f"words: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    gc.disable()  # a million nodes, of which none is given up before the end: half of the time
    sys.exit(main(*(Path(a) for a in sys.argv[1:2])))
