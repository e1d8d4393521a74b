"""`make check`: no regular expression costs more than the text that it reads.

Most texts here are foreign: an agent's document, a robot's answer, a person's sentence. A regular expression that tries
the same characters in many ways needs the square of their number, or worse, and neither Python nor the page does
anything else meanwhile. So each expression of src/worldfs, in Python and in the page's JavaScript, is run on texts that
repeat what its own loops repeat, what leads to them, and each character that it names, and that end in something else.
It must read 64 KiB in QUICK_S of processor time, or the length that SHORT says its texts have.

    scripts/regexps.py [FOLDER]        a copy of the repository, the one that it lies in by default

What was found for an expression is kept in build/regexps.json.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import re
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]  # what re itself parses with
from re import _parser as parser  # type: ignore[attr-defined]  # same
from typing import Any, Final, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/worldfs"
LONG: Final = 1 << 16  # characters, where SHORT does not say less
QUICK_S: Final = 0.25
FIRST: Final = 1 << 11  # characters of the first try: the square of it shows, and costs little
SHOWS_S: Final = 0.0005
PATIENCE_S: Final = 0.2  # a try that takes longer is given up
WAYS: Final = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
SHORT: Final[Mapping[str, tuple[int, str]]] = {  # place: the longest text that it reads, and why it is no longer
    "formats/quantities.py:_AMOUNT": (500, "LONGEST of that module"),
    "formats/quantities.py:_AXIS": (500, "LONGEST of that module"),
    "formats/quantities.py:_CHAIN": (500, "LONGEST of that module"),
    "formats/quantities.py:box": (500, "LONGEST of that module"),
    "planning/planner/question_forms.py:_table": (1300, "a sign and a space for each of LIMIT of instruction_parser"),
    "plugins/importers/claude_tasks.py:_SESSION": (255, "a file's name"),
}
FREE: Final[Mapping[str, str]] = {  # place: why it may cost anything
    "interfaces/cli/tree_commands.py:grep": "a person's own expression, in the person's own process",
    "interfaces/web/static_site.py:_IMPORT_MAP": "reads our own index.html",
    "plugins/benchmark/instruction_run.py:_outcome": "the benchmark's own, in its own process",
}
MEANT: Final[Mapping[str, str]] = {  # place: what its expressions are, where the call has only a name for them
    "formats/agent/redact.py:_compiled": "[SECRET_NAME, SECRET_VALUE, PASSWORD_VALUE, *(k.pattern for k in KINDS)]",
    "planning/planner/english_manners.py:_FORMS": "[pattern.pattern for _, pattern in _FORMS]",
    "planning/planner/english_nouns.py:pattern": "[lexicon_en.UNDONE, lexicon_en.UPRIGHT_END, lexicon_en.BACK]",
    "planning/planner/question_forms.py:_table": "[form for _, form in (*_EN, *_ZH)]",
    "planning/planner/question_parser.py:parse_question": "[pattern for _, pattern in _FIRST]",
    "planning/planner/unnamed_things.py:asked": "list(_ACTS.values())",
}


class Expression(NamedTuple):
    """One regular expression of a file. `ways`: the methods that it is used by."""

    place: str
    line: int
    pattern: str | bytes
    flags: int
    ways: tuple[str, ...]


class Slow(NamedTuple):
    """The text that an expression is slow on, and the time that so many characters of it take."""

    way: str
    text: str
    seconds: float


# -- what texts are tried --------------------------------------------------------------------------------------------


_CLASSES: Final = {
    sre.CATEGORY_DIGIT: "0", sre.CATEGORY_NOT_DIGIT: "a ", sre.CATEGORY_SPACE: " \t\n", sre.CATEGORY_NOT_SPACE: "a",
    sre.CATEGORY_WORD: "a0_", sre.CATEGORY_NOT_WORD: " -",
}  # fmt: skip
_COMMON: Final = "a0 \n字"
_OTHERS: Final = "\x00aA0 \n\t_-.:/|*#`'\"()[]{}<>!,;字，"
_ENDS: Final = ("", "\x00", "\n\x01a")
_MOST_WORDS: Final = 6


def _members(node: Any) -> list[str]:
    """Some characters of a set: of each of its parts."""
    found: list[str] = []
    if node and node[0][0] is sre.NEGATE:
        banned = set("".join(_members(node[1:])))
        return [one for one in _OTHERS if one not in banned][:6]
    for kind, value in node:
        if kind is sre.LITERAL:
            found.append(chr(value))
        elif kind is sre.RANGE:
            found += [chr(value[0]), chr(value[1])]
        elif kind is sre.CATEGORY:
            found += _CLASSES.get(value, "a")
    return found


def _words(tree: Any, most: int = _MOST_WORDS) -> list[str]:
    """Some short texts that a part of an expression reads."""
    found = [""]
    for kind, value in tree:
        match kind:
            case sre.LITERAL:
                part = [chr(value)]
            case sre.NOT_LITERAL:
                part = [one for one in _OTHERS if ord(one) != value][:3]
            case sre.ANY:
                part = ["a", " "]
            case sre.IN:
                part = _members(value)
            case sre.BRANCH:
                part = [word for branch in value[1] for word in _words(branch, 2)]
            case sre.SUBPATTERN:
                part = _words(value[3], most)
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                low = max(value[0], 1)
                part = [word * min(low, 8) for word in _words(value[2], most)] + ([""] if value[0] == 0 else [])
            case sre.ATOMIC_GROUP:
                part = _words(value, most)
            case _:
                part = [""]
        found = list(islice((a + b for b, a in product(part, found)), most))
    return found or [""]


def _loops(tree: Any, before: Sequence[str]) -> Iterator[tuple[Sequence[str], Any]]:
    """Each loop without a small limit: texts that lead to it, and its body."""
    for at, (kind, value) in enumerate(tree):
        lead = list(islice((a + b for b, a in product(_words(list(tree)[:at], 3), before)), 4))
        match kind:
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                if value[1] > 32:
                    yield lead, value[2]
                yield from _loops(value[2], lead)
            case sre.SUBPATTERN:
                yield from _loops(value[3], lead)
            case sre.BRANCH:
                for branch in value[1]:
                    yield from _loops(branch, lead)
            case sre.ASSERT | sre.ASSERT_NOT:
                yield from _loops(value[1], lead)
            case sre.ATOMIC_GROUP:
                yield from _loops(value, lead)


def _letters(tree: Any) -> Iterator[str]:
    """Each character that an expression names, and some of each class."""
    for kind, value in tree:
        match kind:
            case sre.LITERAL | sre.NOT_LITERAL:
                yield chr(value)
            case sre.IN:
                yield from _members(value)
                yield from _members([one for one in value if one[0] is not sre.NEGATE])
            case sre.BRANCH:
                for branch in value[1]:
                    yield from _letters(branch)
            case sre.SUBPATTERN:
                yield from _letters(value[3])
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                yield from _letters(value[2])
            case sre.ASSERT | sre.ASSERT_NOT:
                yield from _letters(value[1])
            case sre.ATOMIC_GROUP:
                yield from _letters(value)


def texts(tree: Any) -> Iterator[tuple[str, str, str]]:
    """(beginning, what is repeated, end)."""
    loops = list(_loops(tree, [""]))
    if not loops:
        return
    leads = list(dict.fromkeys(["", *(word for lead, _ in loops for word in lead[:2])]))[:12]
    bodies = list(dict.fromkeys(word for _, body in loops for word in _words(body)))
    alone = [one for one in dict.fromkeys([*_letters(tree), *_COMMON]) if one.isascii() or one == "字"][:40]
    starts = [a + b for lead, body in loops for a in lead[:3] for b in _words(body, 2)]
    whole = _words(tree, 4)
    for pump in dict.fromkeys([*bodies, *alone, *starts, *leads, *whole, *(f"\n{word}" for word in (*starts, *whole))]):
        if pump:
            for lead in leads if pump in bodies or pump in alone else ("",):
                for end in _ENDS:
                    yield lead, pump, end


# -- what they cost --------------------------------------------------------------------------------------------------


class _Late(Exception):
    """A try took longer than PATIENCE_S."""


def _late(number: int, frame: object) -> None:
    raise _Late


def _cost(use: Callable[[Any], object], text: str | bytes) -> float:
    since = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_S)
        try:
            use(text)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _Late:  # also one that comes just before the timer is taken back
        return float("inf")
    return time.thread_time() - since


def _use(compiled: Any, way: str) -> Callable[[Any], object]:
    empty = b"" if isinstance(compiled.pattern, bytes) else ""
    match way:
        case "sub" | "subn":
            return lambda text: compiled.sub(empty, text)
        case "findall" | "finditer" | "split":
            return lambda text: sum(1 for _ in compiled.finditer(text))
        case _:
            return getattr(compiled, way)  # type: ignore[no-any-return]


def slow(pattern: str | bytes, flags: int, ways: Iterable[str], longest: int = LONG) -> Slow | None:
    """The first text found on which `longest` characters take more than QUICK_S."""
    signal.signal(signal.SIGVTALRM, _late)
    tree = parser.parse(pattern, flags)
    compiled = re.compile(pattern, flags)
    uses = {("sub" if way in ("subn", "findall", "finditer", "split") else way) for way in ways}
    for way in sorted(uses):
        use = _use(compiled, way)
        for lead, pump, end in texts(tree):

            def text(length: int, lead: str = lead, pump: str = pump, end: str = end) -> str | bytes:
                made = f"{lead}{pump * max(1, (length - len(lead)) // len(pump))}{end}"
                return made.encode("utf-8") if isinstance(pattern, bytes) else made

            length = min(FIRST, longest)
            took = _cost(use, text(length))
            if took <= SHOWS_S:
                continue
            while took <= QUICK_S and length < longest:
                before, length = took, min(2 * length, longest)
                took = _cost(use, text(length))
                if took < 2.4 * before and 2 * took * longest / length < QUICK_S:
                    break  # it grows as the text does
            if took > QUICK_S and min(_cost(use, text(length)) for _ in range(2)) > QUICK_S:
                return Slow(way, f"{lead!r} + {pump!r} × {length // len(pump)} + {end!r}", took)
    return None


# -- the expressions of the product ----------------------------------------------------------------------------------


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What an expression of a module means; a part of a text that only a function knows is the letter a."""
    if isinstance(node, ast.JoinedStr):
        parts = []
        for part in node.values:
            try:
                parts.append(str(_value(part, names)))
            except Exception:
                parts.append("a")
        return "".join(parts)
    if isinstance(node, ast.FormattedValue):
        return _value(node.value, names)
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), dict(names))  # noqa: S307  # our own source


class Module(NamedTuple):
    """A Python file of the product."""

    path: Path
    name: str
    tree: ast.Module

    def known(self, name: str) -> str:
        return f"{self.name}.{name}" if name.startswith("_") else name

    def names(self, node: ast.expr) -> Mapping[str, Any]:
        """What the names in a part of it mean: it is loaded only for those that are not in `re`."""
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        return {"re": re} if used <= {"re"} else vars(importlib.import_module(self.name))


def modules(root: Path) -> Iterator[Module]:
    source = root / SOURCE
    for path in sorted(source.rglob("*.py")):
        inside = path.relative_to(source)
        if inside.parts[0] != "testing" and "re." in (text := path.read_text(encoding="utf-8")):
            yield Module(path, ".".join(("worldfs", *inside.with_suffix("").parts)), ast.parse(text))


def _used(found_in: Iterable[Module]) -> dict[str, set[str]]:
    """The methods that each name is used by: {"NAME": {"match"}}; of a private one with its module before it."""
    found: dict[str, set[str]] = {}
    for module in found_in:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr in WAYS:
                name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
                if name and name != "re":
                    found.setdefault(module.known(str(name)), set()).add(node.attr)
    return found


_CALLS: Final = {f"re.{way}" for way in WAYS}


def _placed(module: Module) -> Iterator[tuple[str, str, ast.Call]]:
    """Each call of `re`: where it is (the name that it is given, or the function), that name, and the call."""

    def walk(node: ast.AST, place: str, name: str) -> Iterator[tuple[str, str, ast.Call]]:
        if isinstance(node, ast.Attribute) and node.attr in WAYS and isinstance(node.value, ast.Call):
            name = f"{node.attr} of it"  # NAME = re.compile(…).match
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            place, name = node.name, ""
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and not place:
                place = name = target.id
        elif isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in _CALLS:
            yield place, name, node
        for child in ast.iter_child_nodes(node):
            yield from walk(child, place, name)

    for node in module.tree.body:
        yield from walk(node, "", "")


_FLAGS_AT: Final = {
    "compile": 1,
    "match": 2,
    "fullmatch": 2,
    "search": 2,
    "findall": 2,
    "finditer": 2,
    "split": 3,
    "sub": 4,
    "subn": 4,
}


def python_expressions(root: Path) -> Iterator[Expression | str]:
    """The expressions of the Python files; a sentence for each that this program cannot read."""
    found = list(modules(root))
    used = _used(found)
    for module in found:
        file = str(module.path.relative_to(root / SOURCE))
        for where, name, call in _placed(module):
            place, way = f"{file}:{where}", str(call.func.attr)  # type: ignore[attr-defined]  # as _placed looks for
            if place in FREE:
                yield Expression(place, call.lineno, "", 0, ())
                continue
            flags = next((k.value for k in call.keywords if k.arg == "flags"), None)
            flags = flags or (call.args[_FLAGS_AT[way]] if len(call.args) > _FLAGS_AT[way] else None)
            try:
                if place in MEANT:
                    meant = ast.parse(MEANT[place], mode="eval").body
                    patterns = list(_value(meant, module.names(meant)))
                else:
                    patterns = [_value(call.args[0], module.names(call.args[0]))]
                number = int(_value(flags, module.names(flags))) if flags else 0
            except Exception as error:
                yield f"{file}:{call.lineno}: {error}; list what it means in scripts/regexps.py, as {place!r} of MEANT"
                continue
            ways = (
                {way} - {"compile"}
                or {name.removesuffix(" of it")} & set(WAYS)
                or used.get(module.known(name), set())
                or {"search", "match", "fullmatch"}
            )
            for pattern in patterns:
                yield Expression(place, call.lineno, pattern, number, tuple(sorted(ways)))


_BEFORE: Final = re.compile(r"(?:^|[(,=:\[!&|?{};+~<>*%-]|\b(?:return|typeof|case|in|of))$")


def _literals(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, pattern and flags of each regular expression of a JavaScript text."""
    at, before, nested = 0, "", list[int]()  # the last code before this place; braces open within each ${
    while at < len(text):
        two, one = text[at : at + 2], text[at]
        if two in ("//", "/*"):
            end = text.find("\n" if two == "//" else "*/", at + 2)
            at = len(text) if end < 0 else end + (0 if two == "//" else 2)
        elif one in "\"'":
            at += 1
            while at < len(text) and text[at] != one:
                at += 2 if text[at] == "\\" else 1
            at, before = at + 1, "x"
        elif one == "`" or (one == "}" and nested and not nested[-1]):
            if one == "}":
                nested.pop()
            at += 1
            while at < len(text) and text[at] != "`" and text[at : at + 2] != "${":
                at += 2 if text[at] == "\\" else 1
            if text[at : at + 1] == "`":
                at, before = at + 1, "x"
            else:
                nested.append(0)
                at, before = at + 2, "{"
        elif one == "/" and _BEFORE.search(before):
            end, within = at + 1, False
            while text[end] != "/" or within:
                within = text[end] == "[" or (within and text[end] != "]")
                end += 2 if text[end] == "\\" else 1
            last = end + 1
            while last < len(text) and text[last].isalpha():
                last += 1
            yield text.count("\n", 0, at) + 1, text[at + 1 : end], text[end + 1 : last]
            at, before = last, "x"
        else:
            if nested and one in "{}":
                nested[-1] += 1 if one == "{" else -1
            if not one.isspace():
                before = (before + one)[-8:] if one.isalpha() and before[-1:].isalpha() else one
            at += 1


_NAMED: Final = re.compile(r"\(\?<(?=[A-Za-z_])")
_POINT: Final = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}")
_PROPERTY: Final = re.compile(r"\\([pP])\{[A-Za-z_=]{1,40}\}")


def from_javascript(pattern: str, flags: str) -> tuple[str, int]:
    """The same expression for Python; a Unicode property becomes letters, or anything else."""
    made = _NAMED.sub("(?P<", pattern).replace(r"\/", "/").replace("[^]", r"[\s\S]")
    made = _POINT.sub(lambda found: re.escape(chr(int(found[1], 16))), made)
    made = _PROPERTY.sub(lambda found: r"\w" if found[1] == "p" else r"\W", made)
    return made, sum(getattr(re, {"i": "I", "m": "M", "s": "S"}[one]) for one in flags if one in "ims")


def page_expressions(root: Path) -> Iterator[Expression | str]:
    """The expressions of the page's own JavaScript."""
    static = root / SOURCE / "interfaces/web/static"
    for path in sorted(path for path in static.rglob("*.js") if "vendor" not in path.parts):
        file = str(path.relative_to(root / SOURCE))
        for line, pattern, flags in _literals(path.read_text(encoding="utf-8")):
            place = f"{file}:/{pattern}/"
            made, number = from_javascript(pattern, flags)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    re.compile(made, number)
            except re.error as error:
                yield f"{file}:{line}: this program cannot read /{pattern}/: {error}"
                continue
            yield Expression(place, line, made, number, ("search", "sub"))


def main(root: Path = ROOT) -> int:
    """Print what is wrong; 1 if anything is."""
    kept, wrong, met = root / "build/regexps.json", list[str](), set[str]()
    own = hashlib.sha256(Path(__file__).read_bytes() + sys.version.encode()).hexdigest()
    try:
        before = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    quick = set(before.get(own, ()))
    every = sorted(path for end in ("py", "js") for path in (root / SOURCE).rglob(f"*.{end}"))
    as_it_is = hashlib.sha256(b"\0".join(path.read_bytes() for path in every)).hexdigest()
    if as_it_is in quick:
        return 0
    for found in [*python_expressions(root), *page_expressions(root)]:
        if isinstance(found, str):
            wrong.append(found)
            continue
        met.add(found.place)
        longest, _ = SHORT.get(found.place, (LONG, ""))
        key = hashlib.sha256(repr((found.pattern, found.flags, found.ways, longest)).encode()).hexdigest()[:24]
        if found.place in FREE or key in quick:
            continue
        taken = slow(found.pattern, found.flags, found.ways, longest)
        if taken is None:
            quick.add(key)
        else:
            why = "more" if taken.seconds == float("inf") else f"{taken.seconds:.2g} s"
            wrong.append(f"{found.place} (line {found.line}): {taken.way} of {taken.text} takes {why}")
    wrong += [
        f"scripts/regexps.py lists {place}, which is not there" for place in (*SHORT, *FREE, *MEANT) if place not in met
    ]
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps({own: sorted({*quick, *([] if wrong else [as_it_is])})}), encoding="utf-8")
    for line in wrong:
        print(f"regexps: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    sys.exit(main(*(Path(a) for a in sys.argv[1:2])))
