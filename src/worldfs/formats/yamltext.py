"""A YAML text whose values can be changed while comments, spelling and layout stay.

Values follow the YAML 1.2 core schema, for every file: `off`, `no` and every time of day stay strings, `012`
is twelve. Import this module only where a YAML text was found: ruamel.yaml takes longer to load than most files.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import Token

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.formats import jsontext
from worldfs.formats.jsontext import Edit
from worldfs.formats.list_matching import match_elements
from worldfs.formats.values import Repeated, same

MAX_BASED = 3000  # signs of a hexadecimal number: Python writes no integer of more than 4,300 decimal digits
REMEMBERED = 200_000  # characters of a text whose nodes are kept
KEY_SHOWN = 60  # characters of a key in a message
LONGEST = 1 << 20  # characters of a text: its parser takes 10 s for so many, and JSON's a hundredth of that
MOST_TOKENS = 100_000  # the parser takes 0.1 ms for each, however short it is
MOST_TWICE = 20  # of one key in one mapping: a text with more is refused, and not read on
MAX_VALUES = 5_000_000  # after aliases are followed: a few lines of YAML can expand to billions

_INT = re.compile(r"[-+]?[0-9]+").fullmatch
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+").fullmatch
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?").fullmatch
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)").fullmatch
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# what every YAML reader takes for the same string, 1.1 readers included
_PLAIN = re.compile(r"[A-Za-z_\u00c0-\ud7ff][\w./+@-]*(?: [\w./+@(-][\w./+@()-]*)*").fullmatch
_AMBIGUOUS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def parse(text: str, *, whole: str | None = None, offset: int = 0, repeated: Repeated | None = None) -> Any:
    """The value of a YAML text, as plain Python values with string keys. `repeated` takes the mappings with a key that
    is written twice; the last value counts.

    Raises BadInput with the line and column in `whole` (the file that the text was cut from at `offset`).
    """
    reader = _YamlReader(text)
    value = reader.value(_compose(text, whole, offset))
    if repeated is not None:
        repeated += reader.repeated
    return value


def texts(text: str) -> Any:
    """As `parse`, but every scalar is the text that is there."""
    return _TextReader(text).value(_compose(text))


def _compose(text: str, whole: str | None = None, offset: int = 0) -> Node | None:
    if len(text) > LONGEST:
        raise BadInput(
            coded("file.yaml_long", n=len(text)), expected=coded("file.at_most", n=LONGEST),
            fix=coded("file.yaml_as_json"),
        )  # fmt: skip
    try:
        return _composed(text) if len(text) <= REMEMBERED else _composed.__wrapped__(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        position = offset + (min(mark.index, len(text)) if mark else 0)
        line, column = jsontext.line_and_column(text if whole is None else whole, position)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise BadInput(
            coded("file.invalid_yaml", line=line, column=column, problem=problem),
            expected=coded("file.yaml_document"),
            fix=coded("file.correct_block"),
        ) from None
    except (RecursionError, ValueError):
        raise BadInput(
            coded("file.unreadable_yaml"),
            expected=coded("file.most_plain_levels", n=jsontext.MAX_DEPTH),
        ) from None


@lru_cache(maxsize=4)
def _composed(text: str) -> Node | None:
    """The nodes of a text; callers must not change them. A document is read, changed and read again."""
    parser = YAML(typ="safe", pure=True)
    parser.Scanner, parser.Composer = _LimitedScanner, _LimitedComposer
    node: Node | None = parser.compose(text)
    return node


class _LimitedScanner(Scanner):
    """Refuses what is nested too deep before it is parsed: each level makes the parser slower at every further sign.
    Refuses what has too many tokens, too."""

    taken = 0

    def fetch_more_tokens(self) -> object:
        self.taken += 1
        if self.taken > MOST_TOKENS:
            raise BadInput(
                coded("file.yaml_tokens"), expected=coded("file.at_most", n=MOST_TOKENS), fix=coded("file.yaml_as_json")
            )
        return super().fetch_more_tokens()

    def fetch_flow_collection_start(self, TokenClass: type[Token], to_push: str) -> None:
        self._demand_depth()
        super().fetch_flow_collection_start(TokenClass, to_push)

    def add_indent(self, column: int) -> bool:
        self._demand_depth()
        return bool(super().add_indent(column))

    def _demand_depth(self) -> None:
        if len(self.flow_context) + len(self.indents) > jsontext.MAX_DEPTH + 1:
            raise BadInput(coded("file.yaml_too_deep"), expected=coded("file.most_levels", n=jsontext.MAX_DEPTH))


class _LimitedComposer(Composer):
    """Stops where one mapping repeats a key too often: it is refused, and each further one would cost as much."""

    def compose_node(self, parent: Node | None, index: Node | int | None) -> Node:
        node: Node = super().compose_node(parent, index)
        if isinstance(parent, MappingNode) and index is None and isinstance(node, ScalarNode):
            times = self.__dict__.setdefault("times", Counter())
            times[id(parent), node.value] += 1
            if times[id(parent), node.value] > MOST_TWICE:
                line = node.start_mark.line + 1
                found = coded("file.key_often", key=f"`{node.value[:KEY_SHOWN]}`", n=MOST_TWICE, line=line)
                raise BadInput(found, expected=coded("file.each_once"), fix=coded("file.leave_one_of"))
        return node


class _YamlReader:
    """Nodes to plain values. An alias gives the very same value again, so shared parts are built once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.done: dict[int, tuple[Any, int]] = {}
        self.open: set[int] = set()
        self.repeated: Repeated = []

    def value(self, node: Node | None) -> Any:
        return None if node is None else self.sized(node)[0]

    def sized(self, node: Node) -> tuple[Any, int]:
        if id(node) in self.done:
            return self.done[id(node)]
        if isinstance(node, ScalarNode):
            result: tuple[Any, int] = self.scalar(node), 1
        else:
            if id(node) in self.open or len(self.open) >= jsontext.MAX_DEPTH:
                raise BadInput(coded("file.yaml_too_deep"), expected=coded("file.most_levels", n=jsontext.MAX_DEPTH))
            self.open.add(id(node))
            result = self.mapping(node) if isinstance(node, MappingNode) else self.sequence(node)
            self.open.discard(id(node))
        if result[1] > MAX_VALUES:
            raise BadInput(coded("file.yaml_too_many"), expected=coded("file.at_most", n=MAX_VALUES))
        self.done[id(node)] = result
        return result

    def sequence(self, node: Node) -> tuple[list[Any], int]:
        items = [self.sized(item) for item in node.value]
        return [value for value, _ in items], 1 + sum(size for _, size in items)

    def mapping(self, node: Node) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        total, twice = 1, ""
        for key_node, value_node in node.value:
            value, size = self.sized(value_node)
            total += size
            key = key_of(key_node)
            if key == "<<" and key_node.style is None and isinstance(value, dict):
                merged = value | merged
            else:
                twice = key if key in found else twice
                found[key] = value
        whole = merged | found
        if twice:
            self.repeated.append((whole, twice))
        return whole, total

    def scalar(self, node: ScalarNode) -> Any:
        text: str = node.value
        if node.style is not None or self.text[node.start_mark.index : node.start_mark.index + 5] == "!!str":
            return text
        if text in _WORDS:
            return _WORDS[text]
        try:
            if _INT(text):
                return int(text)
            if _BASED(text) and len(text) <= MAX_BASED:
                return int(text[2:], 8 if text[1] == "o" else 16)
        except ValueError:  # more digits than Python reads as a number
            return text
        if _FLOAT(text):
            return float(text)
        return float(text.replace(".", "", 1)) if _SPECIAL(text) else text


class _TextReader(_YamlReader):
    def scalar(self, node: ScalarNode) -> Any:
        return node.value


def key_of(node: Node) -> str:
    """A mapping key as text; a container cannot be one."""
    if not isinstance(node, ScalarNode):
        line = node.start_mark.line + 1
        raise BadInput(coded("file.container_key", line=line), expected=coded("file.plain_key"))
    key: str = node.value
    return key


def edit(text: str, old: Any, new: Any) -> str:
    """The text with `new` in place of `old`, which must be `parse(text)`; comments and untouched lines stay.

    A changed flow collection (`[…]`, `{…}`) is written again as a whole. Where the layout allows no splice (an
    anchor that two places share), the whole document is written again under its leading comments.
    """
    if same(old, new):
        return text
    node = _compose(text)
    edits: list[Edit] = []
    splice = _YamlSplice(text)
    try:
        if node is None:
            raise _NoSplice
        splice.value(node, old, new, edits)
        after = jsontext.apply(text, edits)
        if same(parse(after), new):
            return after
    except (_NoSplice, BadInput):
        pass
    comments = re.match(r"(?:[ \t]*+(?:#[^\n]*+|---[ \t]*+)?+\n)*+", text)
    return (comments[0] if comments else "") + block(new, "", splice.newline) + splice.newline


class _NoSplice(Exception):
    """This change has no place in the present layout."""


class _YamlSplice:
    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def value(self, node: Node, old: Any, new: Any, edits: list[Edit]) -> None:
        if same(old, new):
            return
        start, end = node.start_mark.index, node.end_mark.index
        if self.text[start : start + 1] in ("&", "*", "!"):
            raise _NoSplice
        if isinstance(node, ScalarNode) and not isinstance(new, dict | list):
            if node.style in ("|", ">") or (node.value == "" and node.style is None):
                raise _NoSplice
            edits.append((start, end, scalar(new, quote=node.style)))
        elif isinstance(node, CollectionNode) and node.flow_style:
            edits.append((start, end, jsontext.dump(new)))
        elif isinstance(node, MappingNode) and isinstance(old, dict) and isinstance(new, dict):
            self.mapping(node, old, new, edits)
        elif isinstance(node, SequenceNode) and isinstance(old, list) and isinstance(new, list):
            self.sequence(node, old, new, edits)
        else:
            raise _NoSplice

    def mapping(self, node: MappingNode, old: dict[str, Any], new: dict[str, Any], edits: list[Edit]) -> None:
        keys = [key_of(key) for key, _ in node.value]
        if not any(key in new for key in keys) or len(set(keys)) < len(keys):
            raise _NoSplice
        indent = " " * node.value[0][0].start_mark.column
        for i, (key_node, value_node) in enumerate(node.value):
            key = keys[i]
            if key in new and _opens(value_node, new[key]):
                lines = self.newline + indent + "  " + block(new[key], indent + "  ", self.newline)
                start = len(self.text[: value_node.start_mark.index].rstrip(" \t"))
                edits.append((start, value_node.end_mark.index, lines))
            elif key in new:
                self.value(value_node, old.get(key), new[key], edits)
            elif i == 0 and self.before(key_node).strip():
                raise _NoSplice  # `- key: …`: the first member shares its line with the dash
            else:
                edits.append((self.line_start(key_node.start_mark.index), self.after(value_node), ""))
        fresh = {key: value for key, value in new.items() if key not in keys and key not in old}
        if fresh:
            self.insert(node.value[-1][1], indent + block(fresh, indent, self.newline), edits)

    def sequence(self, node: SequenceNode, old: list[Any], new: list[Any], edits: list[Edit]) -> None:
        partner = match_elements(old, new)
        if not partner:
            raise _NoSplice
        dash = " " * self.before(node.value[0]).rfind("-")
        for i, item in enumerate(node.value):
            if i in partner:
                self.value(item, old[i], new[partner[i]], edits)
            else:
                edits.append((self.line_start(item.start_mark.index), self.after(item), ""))
        kept = sorted(partner)
        bounds = [-1, *(partner[i] for i in kept), len(new)]
        for gap, (a, b) in enumerate(pairwise(bounds)):
            lines = self.newline.join(f"{dash}- {block(value, dash + '  ', self.newline)}" for value in new[a + 1 : b])
            if lines and gap:
                self.insert(node.value[kept[gap - 1]], lines, edits)
            elif lines:
                at = self.line_start(node.value[kept[0]].start_mark.index)
                edits.append((at, at, lines + self.newline))

    def insert(self, after: Node, lines: str, edits: list[Edit]) -> None:
        at = self.after(after)
        ends = self.text[at - 1 : at] == "\n"
        edits.append((at, at, lines + self.newline if ends else self.newline + lines))

    def line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def before(self, node: Node) -> str:
        at = node.start_mark.index
        return self.text[self.line_start(at) : at]

    def after(self, node: Node) -> int:
        """Where the line after a value begins. A block collection's own mark lies behind the comments that follow."""
        while isinstance(node, CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            node = last[1] if isinstance(node, MappingNode) else last
        end = node.end_mark.index
        if end and self.text[end - 1] == "\n" and end > node.start_mark.index:
            return int(end)
        newline = self.text.find("\n", end)
        return len(self.text) if newline < 0 else newline + 1


def _opens(node: Node, value: Any) -> bool:
    """An empty `[]` or `{}` that is given entries becomes lines, as a person would write it."""
    empty = isinstance(node, CollectionNode) and node.flow_style and not node.value
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return empty and any(isinstance(item, dict | list) for item in inner)


def scalar(value: Any, *, quote: str | None = None) -> str:
    """One scalar: plain where no reader could take it for anything else, else double-quoted as in JSON."""
    if isinstance(value, str):
        plain = quote is None and _PLAIN(value) and value.lower() not in _AMBIGUOUS
        return value if plain else _quoted(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else _special(value)
    return jsontext.dump(value)


def _quoted(value: str) -> str:
    # YAML takes these for line ends or refuses them raw; JSON does not
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda c: f"\\u{ord(c[0]):04x}", jsontext.dump(value))


def _special(value: float) -> str:
    return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"


def block(value: Any, indent: str, newline: str = "\n") -> str:
    """A value in block form; its first line is where it begins, the others at `indent`."""
    if isinstance(value, dict) and value:
        parts = []
        for key, item in value.items():
            name = scalar(key)
            nested = isinstance(item, list) and any(isinstance(i, dict | list) for i in item)
            if nested or (isinstance(item, dict) and item):
                parts.append(f"{name}:{newline}{indent}  {block(item, indent + '  ', newline)}")
            else:
                parts.append(f"{name}: {_flow(item)}")
        return f"{newline}{indent}".join(parts)
    if isinstance(value, list) and any(isinstance(i, dict | list) for i in value):
        return f"{newline}{indent}".join(f"- {block(item, indent + '  ', newline)}" for item in value)
    return _flow(value)


def _flow(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(scalar(item, quote='"') for item in value) + "]"
    return "{}" if isinstance(value, dict) else scalar(value)
