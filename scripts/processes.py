"""`make check`: how processes are started.

A process between fork and exec has the locks of its parent's threads, and none of the threads: Python that runs there
may wait for ever, and its parent with it. So

- nothing asks for Python there: no `preexec_fn`, no `os.fork`, no `pty.fork`, no pool that forks. A program that sets
  something for itself does so after exec (supervisor/launch.py); a part of a test has testing/one_thread.py
- a program that is run to its end by the product has a time limit

    scripts/processes.py [FOLDER]        a copy of the repository, the one that it lies in by default
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("src", "tests", "bench", "scripts", "examples")
FORKS = {"os.fork", "os.forkpty", "pty.fork", "pty.spawn"}
POOLS = {"Process", "Pool", "Manager", "Queue", "Pipe", "Barrier", "Event", "Lock"}
RUNS = {"run", "call", "check_call", "check_output"}
FREE = {  # file: why it may fork
    "src/worldfs/testing/powercut.py": "a disk's check, in a copy whose open files end with it; a proof's process",
    "tests/agents/test_inbox.py": "what a forked claimer does, in a process of one thread",
    "tests/tree/test_store_disk_spares.py": "what a forked writer does, in a process of one thread",
    "tests/tree/test_store_disk_safety.py": "what another user may do, in a process of one thread",
}


def _imported(tree: ast.Module) -> dict[str, str]:
    """The whole name of what a name of this module means: {"run": "subprocess.run", "mp": "multiprocessing"}."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {name.asname or name.name: name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
    return names


def _whole(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_whole(node.value, names)}.{node.attr}"
    return names.get(node.id, node.id) if isinstance(node, ast.Name) else ""


def starts(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Line and sentence of every start of a process that may wait for ever."""
    tree = ast.parse(text)
    names = _imported(tree)
    timed = name.startswith("src/") and "/testing/" not in name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and (word := _whole(node, names)) in FORKS:
            yield node.lineno, f"{word}: execute a program instead (supervisor/launch.py, testing/one_thread.py)"
        if not isinstance(node, ast.Call):
            continue
        given = {keyword.arg for keyword in node.keywords}
        called = _whole(node.func, names)
        if "preexec_fn" in given:
            yield node.lineno, "preexec_fn runs Python between fork and exec; set it after exec (supervisor/launch.py)"
        module, _, last = called.rpartition(".")
        if last == "ProcessPoolExecutor" and "mp_context" not in given:
            yield node.lineno, 'a pool that forks; give it mp_context=get_context("spawn")'
        if called == "multiprocessing.get_context" and [ast.unparse(one) for one in node.args] != ["'spawn'"]:
            yield node.lineno, 'a context that forks; ask for get_context("spawn")'
        if module == "multiprocessing" and last in POOLS:
            yield node.lineno, f'{called} forks; take it from get_context("spawn")'
        if timed and module == "subprocess" and last in RUNS and "timeout" not in given:
            yield node.lineno, f"{called} without a time limit; give it timeout="


def main(root: Path = ROOT) -> int:
    """Print what is wrong; 1 if anything is."""
    wrong, met = [], set[str]()
    for path in sorted(path for part in PARTS for path in (root / part).rglob("*.py")):
        name = str(path.relative_to(root))
        for line, why in starts(name, path.read_text(encoding="utf-8")):
            met.add(name)
            if name not in FREE:
                wrong.append(f"{name}:{line}: {why}")
    wrong += [f"scripts/processes.py lists {name}, which needs no exception" for name in FREE if name not in met]
    for line in wrong:
        print(f"processes: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(a) for a in sys.argv[1:2])))
