"""`make check`: messages are data: each code is in the catalogues and used, and no message's text is searched.

- A row of `base/messages/*_messages.py`, or of the command's help, has a text in each language, with the same arguments
  in each.
- A call `coded("area.name", …)` names a row and gives exactly its arguments; `case.say("area.name", …)` of the critic
  names a family `area.name.expected`, `.found`, `.fix`, `NotUnderstood("area.name", …)` of the planner's parser a row,
  and so does each text of a `CommandSpec` or an `ArgumentSpec`.
  A row that no code names fails.
- No part of the product looks into the text of a message, finding, outcome or error: it asks for a code. `OWN_TEXT`
  lists the readers of what another program says, each with the reason.
- In the folders of `CODED`, no finding, outcome, error or printed line is an English sentence in the code: it is
  `coded(…)`. A folder is added when its messages are in a catalogue, and never taken out.

    scripts/messages.py [FOLDER]        a copy of the repository, the one that it lies in by default
"""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Formatter
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CATALOGUES = "src/worldfs/base/messages"
HELP = "interfaces/cli/help_messages.py"  # the catalogue of `--help`, which no other command loads
SOURCE = "src/worldfs"
ALWAYS = {"op", "node"}  # what the critic's `say` adds
TEXTS = {
    "message",
    "found",
    "expected",
    "fix",
    "reason",
    "rejection",
    "detail",
    "error",
}  # of outcomes, findings, errors, lessons
PARSER = {"here", "hint", "names", "said"}  # what the planner's parser adds to a `NotUnderstood`; `names` of its ids
ONE_SIDED = {
    "planner.tie",  # Chinese does not repeat the superlative
    "planner.unmeasured",
    "planner.named",  # a name, or a whole sentence, that is given in each language
    "lesson.code_words",
}
SPEC = {"help", "more", "instead"}  # of a command and its arguments
SEARCHES = {
    "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "partition", "rpartition", "startswith",
    "endswith", "index", "find", "count", "removeprefix", "removesuffix",
}  # fmt: skip
OWN_TEXT = {
    "interfaces/shell/tree_shell.py": "bashkit says only in words that a script is not finished, or is no bash",
    "interfaces/cli/tree_commands.py": "a server of another version says only in words that a directory is not empty",
    "formats/lesson_terms.py": "LESSONS.md is prose that people and models write, too: its reader",
    "formats/wire/frames.py": "msgspec says only in its text whether a field is missing",
    "plugins/node_fs/remote_fs.py": "a node of an earlier version refuses a path of several names in words only",
    "testing/workloads/calls_workload.py": "the lab's disk names the file that it refused in its error's words",
    "testing/workloads/kernel_workload.py": "the lab's disk names the file that it refused in its error's words",
    "plugins/nats_store/nats_client.py": "a NATS server refuses a login in words only",
    "policies/gr00t.py": "the GR00T server refuses a token in words only",
    "world/services/web/keyless.py": "the library ddgs reports an empty result as an error, in words only",
}

CODED = (
    "access", "agents", "base", "client", "control", "formats", "interfaces/acheron", "interfaces/cli",
    "interfaces/mcp", "interfaces/model_chat", "interfaces/mount", "interfaces/ninep", "interfaces/posix",
    "interfaces/shell", "models", "namespace", "notes", "planning", "plugins/benchmark", "plugins/importers",
    "plugins/nats_store", "plugins/node_fs", "plugins/recording", "plugins/rekep", "policies", "robots", "runtime",
    "sessions", "skills", "storage", "supervisor", "tree", "world",
)  # fmt: skip
TOLD = {  # what is said to people: the place of each text among the arguments of a call
    "Finding": (2, 3, 4),
    "_found": (3, 4),  # of the check of agents
    "_say": (2, 3, 4),
    "bad_field": (1, 2),  # of config.json
    "EntryRefused": (1, 2, 3),  # of a document
    "_Bad": (1, 2),
    "_ref": (2,),
    "number": (4,),
    "parse_key_values": (),
    "error_finding": (2,),
    "add_finding": (2, 3, 4),  # of an agent
    "_add_finding": (1,),
    "_unusable": (3,),  # of the registry of plug-ins
    "Decision": (2, 3, 4),
    "SkippedItem": (1, 2, 3),  # of an import
    "ignore": (0,),
    "_report": (0,),  # of a node
    "_wrong": (1, 2),
    "protocol_error": (1, 2, 3),  # of a policy
    "policy_unusable": (1, 2),
    "unreachable": (1,),
    "_trouble": (0, 1, 2),
    "CommandSpec": (1, 4, 6),
    "SpawnFailure": (1,),
    "CommandResult": (2,),
    "ArgumentSpec": (1,),
    "failure": (2,),
    "success": (0,),
    **dict.fromkeys(("line", "notice", "report"), (0,)),
    **dict.fromkeys(
        ("BadInput", "Busy", "Conflict", "ConnectionLost", "ConstraintError", "Exists", "MissingRequirement",
         "ModelUnavailable", "NotFound", "NotPermitted", "PolicyError", "RequestTimeout", "StorageError",
         "TargetStopped", "Unsafe", "UserError", "WorldError"),
        (0,),
    ),
}  # fmt: skip
COMMANDS = ("apt install ", "chmod ", "mkdir ", "paos ", "pip install ")  # typed as they are, in every language
WORDS = re.compile(r"(?<![\w./`-])[A-Za-z][a-z]*[,;:]? (?=[\w…({'\"<`-])")

Rows = dict[str, tuple[str, ...]]


class Source(NamedTuple):
    """A module of the product: its path below `SOURCE`, and every node of it, from top to bottom."""

    name: str
    nodes: list[ast.AST]


def catalogues(root: Path) -> Iterator[tuple[str, Rows]]:
    """Each catalogue: its area and its rows."""
    for path in (*sorted((root / CATALOGUES).glob("*_messages.py")), *(root / SOURCE).glob(HELP)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ROWS":
                yield path.name.removesuffix("_messages.py"), ast.literal_eval(node.value)


def fields(text: str) -> set[str]:
    """The names of a template's arguments."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def wrong_rows(root: Path) -> Iterator[str]:
    """A sentence for every row that is not the same message in each language."""
    for area, rows in catalogues(root):
        for code, texts in rows.items():
            if code.partition(".")[0] != area:
                yield f"{code} is a code of another catalogue than {area}"
            if len(texts) != 2 or not all(texts):
                yield f"{code} has no text in one of the languages"
            elif len({frozenset(fields(text)) for text in texts}) > 1 and code not in ONE_SIDED:
                yield f"{code} has other arguments in one language than in the other"


def sources(root: Path) -> Iterator[Source]:
    for path in sorted((root / SOURCE).rglob("*.py")):
        name = path.relative_to(root / SOURCE).as_posix()
        if name != HELP and not (name.startswith("base/messages/") and name.endswith("_messages.py")):
            yield Source(name, list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))))


def wrong_calls(root: Path, modules: Sequence[Source]) -> Iterator[str]:
    """A sentence for every call that names no row or other arguments than its row has, and for every unused row."""
    rows = {code: set().union(*map(fields, texts)) for _, found in catalogues(root) for code, texts in found.items()}
    families: dict[str, set[str]] = {}
    for code, names in rows.items():
        families.setdefault(code.rpartition(".")[0], set()).update(names)
    used: set[str] = set()
    for name, nodes in modules:
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
            if not isinstance(node, ast.Call) or not node.args:
                continue
            if ast.unparse(node.func) in ("CommandSpec", "ArgumentSpec"):
                said = [text.value for text in _told(node) if isinstance(text, ast.Constant)]
                yield from (f"{name}:{node.lineno}: no catalogue has {code}" for code in said if code not in rows)
            if not isinstance(node.args[0], ast.Constant):
                continue
            code, where = node.args[0].value, f"{name}:{node.lineno}"
            given = {word.arg for word in node.keywords if word.arg is not None}
            spread = any(word.arg is None for word in node.keywords)
            called = ast.unparse(node.func)
            if called in ("coded", "self.say"):
                if code not in rows:
                    yield f"{where}: no catalogue has {code}"
                elif (given - rows[code]) or (rows[code] - given and not spread):
                    yield f"{where}: {code} takes {_list(rows[code])}, and is given {_list(given)}"
            elif called == "NotUnderstood":
                if code not in rows:
                    yield f"{where}: no catalogue has {code}"
                elif rows[code] - given - PARSER:
                    yield f"{where}: {code} takes {_list(rows[code])}, and is given {_list(given)}"
            elif called == "case.say":
                if code not in families or "." not in code:
                    yield f"{where}: no catalogue has {code}.expected, .found and .fix"
                elif families[code] - given - ALWAYS and not spread:  # more may be given: of the field
                    yield f"{where}: {code} takes {_list(families[code])}, and is given {_list(given)}"
    for code in rows:
        family = code.rpartition(".")[0]
        if code not in used and not ("." in family and family in used):
            yield f"{code} is in a catalogue, and no module names it"


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def searches(root: Path, modules: Sequence[Source]) -> Iterator[str]:
    """A sentence for every search in a message's text, and for every exception that is none."""
    met = set()
    for name, nodes in modules:
        for node in nodes:
            if not _search(node):
                continue
            met.add(name)
            if name not in OWN_TEXT:
                yield f"{name}:{node.lineno}: {ast.unparse(node)[:80]}: a message is searched; ask for its code"
    for name in OWN_TEXT:
        if name not in met and (root / SOURCE / name).exists():
            yield f"scripts/messages.py lists {name}, which searches no message"


def _search(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        pairs = zip(node.ops, node.comparators, strict=True)
        return any(isinstance(op, ast.In | ast.NotIn) and _text(right) for op, right in pairs)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES and node.args:
        return _text(node.func.value) or any(_text(arg) for arg in node.args)
    return False


def _text(node: ast.expr) -> bool:
    """Whether an expression is the text of a message, or of an error."""
    match node:
        case ast.Attribute(attr=name):
            return name in TEXTS
        case ast.Call(func=ast.Name(id="str" | "repr"), args=[ast.Name(id=name)]):
            return name.startswith(("error", "exc", "failure"))
        case ast.Call(func=ast.Name(id="str"), args=[ast.Subscript(slice=ast.Constant(value="error" | "message"))]):
            return True
        case ast.Call(func=ast.Attribute(value=inner)):  # error.found.lower()
            return _text(inner)
        case ast.JoinedStr(values=parts):
            return any(isinstance(part, ast.FormattedValue) and _text(part.value) for part in parts)
        case ast.BoolOp(values=values):
            return any(map(_text, values))
    return False


def sentences(modules: Sequence[Source]) -> Iterator[str]:
    """A sentence for every English sentence in a folder whose messages are in catalogues."""
    for name, nodes in modules:
        if not name.startswith(tuple(f"{folder}/" for folder in CODED)):
            continue
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        for node in nodes:
            for text in _told(node):
                for value in _values(text, functions) if isinstance(text, ast.Name) else (text,):
                    if _plain(value):
                        yield f"{name}:{node.lineno}: {ast.unparse(value)[:80]}: say it by a code of a catalogue"


def _values(named: ast.Name, functions: Sequence[ast.FunctionDef]) -> Iterator[ast.expr]:
    """What a name is given last in each of the functions in which it stands."""
    for function in functions:
        if function.lineno <= named.lineno <= (function.end_lineno or 0):
            given = [
                node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name) and target.id == named.id
            ]
            yield from given[-1:]


def _told(node: ast.AST) -> Iterator[ast.expr]:
    """The texts for people among the arguments of a call."""
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for at in TOLD.get(called, ()):
            yield from node.args[at : at + 1]
        if called in TOLD:
            yield from (word.value for word in node.keywords if word.arg in TEXTS | SPEC)


def _plain(node: ast.expr) -> bool:
    """Whether a text is made of English words here."""
    match node:
        case ast.Constant(value=str(text)):
            return WORDS.search(text + "…" * text.endswith(" ")) is not None and not text.startswith(COMMANDS)
        case ast.JoinedStr(values=parts):
            said = "".join(part.value if isinstance(part, ast.Constant) else "…" for part in parts)
            return _plain(ast.Constant(said))
        case ast.BinOp(left=left, right=right):
            return _plain(left) or _plain(right)
        case ast.IfExp(body=body, orelse=orelse):
            return _plain(body) or _plain(orelse)
        case ast.BoolOp(values=values):
            return any(map(_plain, values))
    return False


def main(root: Path = ROOT) -> int:
    """Print what is wrong; 1 if anything is."""
    modules = list(sources(root))
    wrong = [
        *wrong_rows(root),
        *wrong_calls(root, modules),
        *searches(root, modules),
        *dict.fromkeys(sentences(modules)),
    ]
    for line in wrong:
        print(f"messages: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    gc.disable()  # a million nodes, of which none is given up before the end: half of the time
    sys.exit(main(*(Path(a) for a in sys.argv[1:2])))
