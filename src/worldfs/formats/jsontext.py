"""A JSON text whose values can be changed while every other byte stays: spelling, key order, indentation, line ends.

Values are plain Python values as `json.loads` gives them. Unchanged parts are skipped by the C scanner, so an edit
costs one scan of the text (RFC 8259; a repeated key means its last value, as in every common reader).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from json.decoder import scanstring  # type: ignore[attr-defined]  # as old as the module, missing in its stub
from typing import Any, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.json_text import NoNumber, in_our_words, nests_deeper, repeated_name, whole_number
from worldfs.base.messages import coded
from worldfs.formats.list_matching import match_elements
from worldfs.formats.values import Repeated, same

LONG_LINE = 4096
LONG_TEXT = 1 << 18  # characters from which other threads would wait for the scanner
WIDTH = 120  # a container that is longer gets lines of its own
MAX_DEPTH = 100  # brackets inside brackets; deeper text is refused before anything recurses over it

_SCAN = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # likewise
_SPACE = re.compile(r"[ \t\r\n]*").match
_OWN_LINE = re.compile(r'[ \t]*(?:"(?:[^"\\]|\\.)*"[ \t]*:[ \t]*)?').fullmatch
_INDENT = re.compile(r"\n([ \t]+)\S").search
_COLON = re.compile(r'"([ \t]*:[ \t]*)').search
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEVER = object()  # stands for "there was no such member": equal to nothing

Edit = tuple[int, int, str]  # start, end, what is there afterwards
Span = tuple[int, int]


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Line and column of a character, both counted from 1."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def parse(text: str, *, whole: str | None = None, offset: int = 0, repeated: Repeated | None = None) -> Any:
    """The value of a JSON text. NaN and Infinity are read as floats: an entry that holds one is refused by its reader.

    `whole` and `offset` say which file the text was cut from, so that line and column are the file's. `repeated` takes
    the mappings with a key that is written twice; the last value counts.
    Raises BadInput for anything that is not one complete JSON value, or nests deeper than MAX_DEPTH.
    """
    source = text if whole is None else whole
    try:
        value = _loaded(text, repeated)
    except json.JSONDecodeError as error:
        raise _bad(source, offset + error.pos, error.msg) from None
    except RecursionError:
        raise _too_deep() from None
    except NoNumber as error:
        raise BadInput(
            coded("file.unreadable_json_why", why=str(error)), expected=coded("file.ordinary_numbers")
        ) from None
    if nests_deeper(text, value, MAX_DEPTH):
        raise _too_deep()
    return value


def _loaded(text: str, repeated: Repeated | None) -> Any:
    """Of a long text each mapping and number is made by a function of ours: the scanner lets other threads go on."""
    long = len(text) > LONG_TEXT
    hook = partial(_mapping, repeated) if repeated is not None else _plain if long else None

    def read(parse_int: Callable[[str], int] | None = whole_number if long else None) -> Any:
        return json.loads(text, object_pairs_hook=hook, parse_int=parse_int)

    return in_our_words(read)


def _plain(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(pairs)


def _mapping(repeated: Repeated, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        repeated.append((made, repeated_name(pairs)))
    return made


_EXPECTED = {  # of the library, word for word
    "Expecting value": "file.a_value",
    "Expecting property name enclosed in double quotes": "file.property_name",
    "Expecting ',' delimiter": "file.comma",
    "Expecting ':' delimiter": "file.colon",
    "Extra data": "file.nothing_after",
}


def _bad(text: str, position: int, message: str) -> BadInput:
    line, column = line_and_column(text, position)
    rest = text[position : position + 20].split("\n", maxsplit=1)[0].strip()
    end = coded("file.end_of_line") if text[position:].strip() else coded("file.end_of_file")
    expected = _EXPECTED.get(message, message)
    return BadInput(
        coded("file.invalid_json", line=line, column=column, found=f"`{rest}`" if rest else end),
        expected=coded(expected) if expected in _EXPECTED.values() else expected,
        fix=coded("file.finish_block"),
    )


def _too_deep() -> BadInput:
    return BadInput(
        coded("file.json_too_deep"), expected=coded("file.most_levels", n=MAX_DEPTH), fix=coded("file.flatten")
    )


def dump(value: Any, *, comma: str = ", ", colon: str = ": ") -> str:
    """One line of JSON; non-ASCII as is, except halves of surrogate pairs, which no UTF-8 file can hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(comma, colon))
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def pretty(
    value: Any, *, indent: str = "", unit: str = "  ", newline: str = "\n", comma: str = ", ", colon: str = ": "
) -> str:
    """JSON over several lines, laid out as the specification prints it (000, ENVIRONMENT.md and ACTION.md).

    On one line each: lists of scalars, mappings of numbers, and list elements without a mapping inside, as far as
    they fit. The first line carries no indentation: it is where the value begins.
    """
    inner = indent + unit

    def child(item: Any, element: bool) -> str:
        if isinstance(item, dict) and item:
            flat = (
                not any(isinstance(v, dict) for v in item.values()) if element else all(map(_is_number, item.values()))
            )
            line = dump(item, comma=comma, colon=colon) if flat else ""
            if line and len(line) + len(inner) <= WIDTH:
                return line
        return pretty(item, indent=inner, unit=unit, newline=newline, comma=comma, colon=colon)

    if isinstance(value, dict) and value:
        brackets, parts = "{}", [f"{dump(key)}{colon}{child(item, False)}" for key, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        brackets, parts = "[]", [child(item, True) for item in value]
        if not any(isinstance(item, dict) for item in value) and len(dump(value)) + len(indent) <= WIDTH:
            return dump(value, comma=comma, colon=colon)
    else:
        return dump(value, comma=comma, colon=colon)
    joined = f",{newline}{inner}".join(parts)
    return f"{brackets[0]}{newline}{inner}{joined}{newline}{indent}{brackets[1]}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def member(text: str, key: str) -> tuple[int, int, int, int]:
    """Where a member of the top-level mapping is: start and end of its key, start and end of its value.

    Of a repeated key the last one. Raises KeyError if it has no such member.
    """
    splice = _JsonSplice(text)
    position = splice.space(splice.space(0) + 1)
    found: tuple[int, int, int, int] | None = None
    while text[position] != "}":
        name, key_end = scanstring(text, position + 1, True)
        start = splice.space(splice.space(key_end) + 1)
        end = splice.skip(start)
        if name == key:
            found = (position, key_end, start, end)
        position = splice.space(end)
        if text[position] == ",":
            position = splice.space(position + 1)
    if found is None:
        raise KeyError(key)
    return found


def edit(text: str, old: Any, new: Any) -> str:
    """The text with `new` in place of `old`, which must be `parse(text)`.

    Only members and elements that differ are spliced; added ones follow the style of their siblings, removed ones
    take their comma along. Parts that the two values share by identity are not even compared.
    """
    return apply(text, edits(text, old, new))


def edits(text: str, old: Any, new: Any) -> list[Edit]:
    """The edits of `edit`: from where, to where, and what stands there then."""
    made: list[Edit] = []
    if not same(old, new):
        start = _SPACE(text, 0).end()  # type: ignore[union-attr]  # the pattern matches the empty string
        _JsonSplice(text).value(start, old, new, made)
    return made


def apply(text: str, edits: list[Edit]) -> str:
    """The text after edits that do not overlap."""
    parts: list[str] = []
    done = 0
    for start, end, replacement in sorted(edits, key=lambda e: e[:2]):
        parts += (text[done:start], replacement)
        done = end
    parts.append(text[done:])
    return "".join(parts)


class _Members(NamedTuple):
    """Where the members of one container are: their spans (with the key), and where their values begin."""

    open: int
    close: int
    spans: list[Span]
    values: list[int]


class _JsonSplice:
    """One walk over a text beside the old and the new value, collecting edits. The text alone decides structure."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        indent = _INDENT(text)
        self.unit = indent[1] if indent else "  "
        colon = _COLON(text)
        self.colon = colon[1] if colon else ": "
        self.comma = ", " if self.colon.endswith((" ", "\t")) else ","

    def value(self, at: int, old: Any, new: Any, edits: list[Edit]) -> int:
        """Walks the value that begins at `at`; returns where it ends."""
        if same(old, new):
            return self.skip(at)
        if self.text[at] == "{" and isinstance(new, dict):
            return self.object(at, old if isinstance(old, dict) else {}, new, edits)
        if self.text[at] == "[" and isinstance(new, list):
            return self.array(at, old if isinstance(old, list) else [], new, edits)
        end = self.skip(at)
        plain = not isinstance(new, dict | list)
        edits.append((at, end, dump(new) if plain else self.render(new, self.indent_at(at), self.own_line(at))))
        return end

    def skip(self, at: int) -> int:
        end: int = _SCAN(self.text, at)[1]
        return end

    def space(self, at: int) -> int:
        return _SPACE(self.text, at).end()  # type: ignore[union-attr]  # the pattern matches the empty string

    def array(self, at: int, old: list[Any], new: list[Any], edits: list[Edit]) -> int:
        text, partner = self.text, match_elements(old, new)
        spans: list[Span] = []
        position = self.space(at + 1)
        while text[position] != "]":
            i = len(spans)
            j = partner.get(i)
            end = self.skip(position) if j is None else self.value(position, old[i], new[j], edits)
            spans.append((position, end))
            position = self.space(end)
            if text[position] == ",":
                position = self.space(position + 1)
        kept = [i for i in range(len(spans)) if i in partner]
        bounds = [-1, *(partner[i] for i in kept), len(new)]
        added = {gap: new[a + 1 : b] for gap, (a, b) in enumerate(pairwise(bounds)) if b > a + 1}
        if added or len(kept) < len(spans):
            around = _Members(at, position, spans, [start for start, _ in spans])
            self.join(around, kept, {gap: [("", value) for value in more] for gap, more in added.items()}, edits)
        return position + 1

    def object(self, at: int, old: dict[str, Any], new: dict[str, Any], edits: list[Edit]) -> int:
        text = self.text
        spans: list[Span] = []
        values: list[int] = []
        inside: dict[str, list[Edit]] = {}
        keys: list[str] = []
        colon = self.colon
        position = self.space(at + 1)
        while text[position] != "}":
            key, key_end = scanstring(text, position + 1, True)
            start = self.space(self.space(key_end) + 1)
            inside[key] = []  # a repeated key: only its last value counts, edits of earlier ones are forgotten
            end = self.value(start, old.get(key, _NEVER), new[key], inside[key]) if key in new else self.skip(start)
            if "\n" not in text[key_end:start]:
                colon = text[key_end:start]
            spans.append((position, end))
            values.append(start)
            keys.append(key)
            position = self.space(end)
            if text[position] == ",":
                position = self.space(position + 1)
        for changed in inside.values():
            edits += changed
        kept = [i for i, key in enumerate(keys) if key in new]
        fresh = [(dump(key) + colon, value) for key, value in new.items() if key not in inside]
        if fresh or len(kept) < len(spans):
            around = _Members(at, position, spans, values)
            self.join(around, kept, {len(kept): fresh} if fresh else {}, edits)
        return position + 1

    def join(
        self, around: _Members, kept: list[int], added: dict[int, list[tuple[str, Any]]], edits: list[Edit]
    ) -> None:
        """Rewrites the joints between members of one container, where members went or came."""
        at, close, spans, values = around.open, around.close, around.spans, around.values
        text, count, start = self.text, len(spans), at + 1
        if count:
            first, last = text[start : spans[0][0]], text[spans[-1][1] : close]
        elif self.own_line(at):
            indent = self.indent_at(at)
            first, last = self.newline + indent + self.unit, self.newline + indent
        else:
            first = last = ""
        alone = "," + first if "\n" in first else self.comma
        comma = text[spans[-2][1] : spans[-1][0]] if count > 1 else alone
        spread = "\n" in comma
        indent = comma.rpartition("\n")[2] if spread else self.indent_at(at)
        # an added container is laid out as its last sibling of the same kind is
        layout = {text[v]: "\n" in text[v:end] for v, (_, end) in zip(values, spans, strict=True)}
        for gap, (a, b) in enumerate(pairwise([-1, *kept, count])):
            new = [
                prefix + self.member(value, indent, layout.get("{" if isinstance(value, dict) else "["), spread, prefix)
                for prefix, value in added.get(gap, ())
            ]
            if b == a + 1 and not new:
                continue
            left = start if a < 0 else spans[a][1]
            right = close if b == count else spans[b][0]
            head = first if a < 0 else comma if new else ""
            if b == count:
                tail = last if new or a >= 0 else ""
                head = head if new or a >= 0 else ""
            elif new or a >= 0:
                tail = text[spans[b - 1][1] : spans[b][0]] if b else comma
            else:
                tail = ""
            edits.append((left, right, head + comma.join(new) + tail))

    def member(self, value: Any, indent: str, sibling: bool | None, spread: bool, key: str) -> str:
        if sibling is None and spread and not key and isinstance(value, dict):
            line = dump(value, comma=self.comma, colon=self.colon)
            flat = not any(isinstance(item, dict) for item in value.values())
            if flat and len(line) + len(indent) <= WIDTH:
                return line  # the first of its list: as the specification prints nodes and objects
        return self.render(value, indent, spread if sibling is None else sibling)

    def render(self, value: Any, indent: str, spread: bool) -> str:
        if not spread:
            return dump(value, comma=self.comma, colon=self.colon)
        return pretty(value, indent=indent, unit=self.unit, newline=self.newline, comma=self.comma, colon=self.colon)

    def line_start(self, at: int) -> int:
        # a line longer than that is no laid-out text, and looking further for each edit would cost the square
        return self.text.rfind("\n", max(0, at - LONG_LINE), at) + 1

    def own_line(self, at: int) -> bool:
        """Nothing but a key is before it on its line, so it may spread over lines of its own."""
        start = self.line_start(at)
        return at - start <= LONG_LINE and _OWN_LINE(self.text, start, at) is not None

    def indent_at(self, at: int) -> str:
        start = end = self.line_start(at)
        while end < at and self.text[end] in " \t":
            end += 1
        return self.text[start:end]
