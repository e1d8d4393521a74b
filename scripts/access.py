"""`make check`: only src/worldfs/access judges who may do what.

A module outside it judges when it

- compares, matches or keys by a role (`ADMIN`, `OPERATOR`, …, `.role`), or asks a binding for `.admin` or `.primary`
- reads the readers or writers of a row
- makes a `Decision`, or a `NotPermitted`
- answers with a code that refuses a right ("forbidden", "project_auth_failed", …)
- imports from access/ what the judge is made of, and not the judge

    scripts/access.py [FOLDER]        a copy of the repository, the one that it lies in by default
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/worldfs"
ROLES = {
    *("ADMIN", "USER", "NODE"),  # of a binding
    *("OPERATOR", "PLANNER", "CRITIC", "WATCHDOG", "ORCHESTRATOR", "RUNTIME", "AGENT"),  # of a file
}
RIGHTS = {"admin", "primary"}
ROWS = {"readers", "writers"}
CODES = {
    *("forbidden", "provisioning_required", "last_target_invalid", "provider_auth_failed", "operator_auth_failed"),
    *("project_policy_forbidden", "project_auth_failed", "project_assignment_forbidden", "node_auth_failed"),
}
PUBLIC = {  # the modules of access/ that others may import from
    *("judge", "decision", "verb", "role_things", "things"),  # the question and its answer
    *("binding", "roles", "standing", "caller", "principal", "tokens", "token_file"),  # the actors
    *("auth", "attachment", "credentials"),  # and how they are recognised
    *("binding_rights", "role_index", "visibility_policy"),  # what is computed once
}
FREE = {  # (a module or a folder, what it does): why that is no judgement
    ("world/layout", "role"): "declares who reads and writes a file",
    ("tree/row_table.py", "row"): "declares them",
    ("world/protocol_pages.py", "row"): "prints the table",
    ("base/errors.py", "NotPermitted"): "what the operating system refused",
    ("client", "NotPermitted"): "what the server refused",
    ("plugins/node_fs/node_daemon.py", "NotPermitted"): "what the server refused to this machine",
    ("plugins/importers/codex_rollouts.py", "role"): "of a message to a language model",
    ("models/pydantic_model.py", "role"): "of a message to a language model",
    ("agents/notebook.py", "NotPermitted"): "a note protects itself, from every actor alike",
    ("testing", "NotPermitted"): "doubles of a tree",
    ("testing", "right"): "doubles of a tree",
}


def judgements(name: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Line, kind and sentence of everything in a module that judges."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                if any(_role(side) for side in sides):
                    yield node.lineno, "role", f"compares a role: {ast.unparse(node)}"
            case ast.MatchValue() if _role(node.value):
                yield node.lineno, "role", f"matches a role: {ast.unparse(node)}"
            case ast.Dict() if any(key is not None and _role(key) for key in node.keys):
                yield node.lineno, "role", f"decides by role: {ast.unparse(node)}"
            case ast.Attribute() if node.attr in RIGHTS and isinstance(node.ctx, ast.Load):
                yield node.lineno, "right", f"asks a binding for .{node.attr}"
            case ast.Attribute() if node.attr in ROWS and isinstance(node.ctx, ast.Load):
                yield node.lineno, "row", f"reads the {node.attr} of a row"
            case ast.Call():
                made = node.func.id if isinstance(node.func, ast.Name) else ""
                if made in ("Decision", "NotPermitted"):
                    yield node.lineno, made, f"makes a {made}"
                for given in (*node.args, *(keyword.value for keyword in node.keywords)):
                    if isinstance(given, ast.Constant) and given.value in CODES:
                        yield node.lineno, "code", f"refuses with {given.value!r}"
            case ast.Return(value=ast.Constant(value=str(code))) if code in CODES:
                yield node.lineno, "code", f"refuses with {code!r}"
            case ast.Import() | ast.ImportFrom():
                above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                if above.startswith("access."):  # a relative import
                    above = f"worldfs.{above}"
                for whole in (above + alias.name for alias in node.names):
                    part = whole.removeprefix("worldfs.access.").split(".")[0]
                    if whole.startswith("worldfs.access.") and part not in PUBLIC:
                        yield node.lineno, "import", f"imports access.{part}, of which the judge is made"


def _role(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(_role(part) for part in node.elts)
    if isinstance(node, ast.Attribute):
        return node.attr == "role" or node.attr in ROLES
    return isinstance(node, ast.Name) and (node.id == "role" or node.id in ROLES)


def found(root: Path) -> Iterator[str]:
    """A sentence for each module that judges, and for each exception that nothing needs."""
    used = set()
    for path in sorted((root / SOURCE).rglob("*.py")):
        name = path.relative_to(root / SOURCE).as_posix()
        if name.startswith("access/"):
            continue
        for line, kind, said in judgements(name, path.read_text(encoding="utf-8")):
            free = next(
                (key for key in FREE if key[1] == kind and (name == key[0] or name.startswith(key[0] + "/"))), None
            )
            if free is None:
                yield f"{SOURCE}/{name}:{line}: {said}; ask worldfs.access.judge"
            else:
                used.add(free)
    for name, kind in FREE.keys() - used:
        yield f"scripts/access.py: {name} ({kind}) is an exception that nothing needs"


def main(root: Path = ROOT) -> int:
    """Print what is wrong; 1 if anything is."""
    wrong = list(found(root))
    for line in wrong:
        print(f"access: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(a) for a in sys.argv[1:2])))
