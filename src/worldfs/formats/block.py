"""The data of a Markdown text: the whole file, or one fenced block of JSON or YAML (workspace §3.1).

Prose, other blocks, comments, byte-order mark, line ends and the last line stay as they are; only the inside of the
block found is ever replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from worldfs.base.document_size import refuse_large
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.formats import jsontext
from worldfs.formats.values import Repeated, same

_FENCE = re.compile(r"([ \t]*)(`{3,}+|~{3,}+)([^\n]*)")
_PREAMBLE = re.compile(r"(?:[ \t]*+(?:#[^\n]*+|---[ \t]*+)?+\r?\n){0,1000}+").match
_QUIET = re.compile(r"(?:[ \t\r]*+(?:#[^\n]*+|-{3,}+[ \t\r]*+)?+\n){0,1000}+").match
_PIECE = 1 << 16  # characters that one call looks at: other threads wait for it
_FRONT = re.compile(r"\s*---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.MULTILINE | re.DOTALL)
_MARK = "\ufeff"
_LANGUAGES = {"json": "json", "yaml": "yaml", "yml": "yaml"}
_STRUCK = re.compile(r"^\ufeff?[ \t]*(~~|</?(?:del|s|strike)>)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]")
_NEAR = 400  # characters that are looked back for what a line belongs to
_KEY_LINE = re.compile(r"""["']?(?<![\w-])([A-Za-z_][\w-]*+)["']?[ \t]*+:(?:[ \t]|\r?$)""", re.MULTILINE)


class Block(NamedTuple):
    """Where the data is: `text[start:end]` is exactly what may be replaced."""

    value: Any  # a mapping, as plain values
    language: str  # "json" | "yaml"
    start: int
    end: int
    fenced: bool
    repeated: Repeated  # what was written twice in it; empty where that was not asked for


def decode(data: bytes) -> str:
    """The text of a document. A byte-order mark stays in it as U+FEFF, so encoding gives the same bytes."""
    refuse_large(data)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(
            coded("file.bad_byte", byte=data[error.start], at=error.start),
            expected=coded("file.utf8_text"),
            fix=coded("file.save_utf8"),
        ) from None


def find(text: str, keys: Collection[str], *, repeated: bool = False, among: Collection[str] = ()) -> Block | None:
    """The block whose top level is a mapping with one of `keys` (the first of any mapping if `keys` is empty).

    `repeated`: keys that are written twice are looked for. `among`: keys that no other block may have, either.
    None means prose only: zero entries, no error. Raises BadInput for a half-written file or block, with line,
    column, what was found and what was expected, and for two blocks with one of the keys.
    """
    body = len(_MARK) if text.startswith(_MARK) else 0
    first = text[body:].lstrip()[:1]
    if first == "{" or (first == "[" and text[body:].lstrip()[1:].lstrip()[:1] in ("{", "]")):
        return _bare_json(text, body, keys, [] if repeated else None)
    if _may_be_yaml(text[body:], keys):
        return _bare_yaml(text, body, keys, [] if repeated else None)
    return _fenced(text, keys, repeated=repeated, among=among)


def front_matter(text: str) -> Json:
    """The mapping between two lines `---` before a Markdown text; {} without one, and for what is no YAML."""
    match = _FRONT.match(text.removeprefix(_MARK))
    if match is None or not match[1].strip():
        return {}
    from worldfs.formats import yamltext

    try:
        value = yamltext.parse(match[1])
    except BadInput:
        return {}
    return value if isinstance(value, dict) else {}


def said(text: str) -> str:
    """What a text without the expected data says, in short; "" if it is headings, comments and an empty block."""
    found = find(text, ()) if text.strip() else None
    if found is not None and found.value:
        return coded("file.a_block", names=[f"`{key}`" for key in list(found.value)[:3]])
    rest = text if found is None else f"{text[: found.start]}\n{text[found.end :]}"
    lines = _spoken_lines(f"{rest.removeprefix(_MARK)}\n")
    line = next((line for line in lines if not (_FENCE.fullmatch(line) and found is not None)), "")
    return coded("file.a_text", text=line[:60] + "…" * (len(line) > 60)) if line else ""


def _spoken_lines(text: str) -> Iterator[str]:
    """The lines, stripped, but for headings, rules and comments. The text ends with a line end."""
    at, end = 0, -1
    kept = ""  # of a line, what is before a comment in it
    while at < len(text):
        if not at or text[at - 1] == "\n":
            at = _after(_QUIET, text, at)
        if end < at and (end := text.find("\n", at)) < 0:
            break
        begin = text.find("<!--", at, end) if at < end else -1
        if begin >= 0:
            closing = text.find("-->", begin + 4)
            kept, at = f"{kept}{text[at:begin]}".lstrip()[:_NEAR], len(text) if closing < 0 else closing + 3
            continue
        line, kept, at = f"{kept}{text[at:end]}".strip(), "", end + 1
        if line:
            yield line
    if line := kept.strip():
        yield line


def _after(lines: Callable[[str, int], re.Match[str] | None], text: str, at: int) -> int:
    """Where the lines end that a pattern takes from here on, some at a time."""
    while (found := lines(text, at)) is not None and found.end() > at:
        at = found.end()
    return at


def _found_in_lines(
    pattern: re.Pattern[str], text: str, start: int = 0, end: int | None = None
) -> Iterator[re.Match[str]]:
    """As `finditer`, of a pattern that stays within a line, in pieces: no other thread waits for a long text."""
    end = len(text) if end is None else end
    while start < end:
        near = min(start + _PIECE, end)
        cut = text.rfind("\n", start, near) + 1 or text.rfind(",", start, near) + 1 or near
        yield from pattern.finditer(text, start, cut if near < end else end)
        start = cut if near < end else end


def replace(text: str, block: Block, inside: str) -> str:
    """The text with another inside of the block."""
    return text[: block.start] + inside + text[block.end :]


def edit(text: str, block: Block, value: Any) -> str:
    """The text with `value` in the block, spliced: the same text if nothing changed."""
    if same(block.value, value):
        return text
    inside = text[block.start : block.end]
    if block.language == "json":
        return replace(text, block, jsontext.edit(inside, block.value, value))
    from worldfs.formats import yamltext

    after = yamltext.edit(inside, block.value, value)
    if block.fenced and not after.endswith("\n"):
        after += "\n"  # the closing fence needs a line of its own
    return replace(text, block, after)


def _bare_json(text: str, body: int, keys: Collection[str], repeated: Repeated | None) -> Block | None:
    try:
        value = jsontext.parse(text[body:], whole=text, offset=body, repeated=repeated)
    except BadInput:
        fenced = _fenced(text, keys, repeated=repeated is not None)  # prose may begin with a brace, too
        if fenced is None:
            raise
        return fenced
    if isinstance(value, dict):
        return Block(value, "json", body, len(text), False, repeated or []) if _fits(value, keys) else None
    raise BadInput(
        coded("file.list_is_file"),
        expected=coded("file.mapping_with", names=" or ".join(f"`{key}`" for key in keys) or coded("file.entries")),
        fix=coded("file.put_under_key"),
    )


def _may_be_yaml(text: str, keys: Collection[str]) -> bool:
    """An expected key opens a line of its own, and the first line that is no comment is a key."""
    body = _after(_PREAMBLE, text, 0)
    if not _KEY_LINE.match(text, body) or _after_comments(text, 0, body) > body:
        return False
    for key in keys:
        line = re.compile(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*:[ \t]*(?:#.*|[\[{{&|>].*|null|~)?\r?$", re.MULTILINE)
        if opening := next(_found_in_lines(line, text), None):
            fence = next(_fence_lines(text), None)
            return fence is None or opening.start() < fence.start()
    return False


def _bare_yaml(text: str, body: int, keys: Collection[str], repeated: Repeated | None) -> Block | None:
    from worldfs.formats import yamltext

    value = yamltext.parse(text[body:], whole=text, offset=body, repeated=repeated)
    return Block(value, "yaml", body, len(text), False, repeated or []) if _fits(value, keys) else None


def _fits(value: Any, keys: Collection[str]) -> bool:
    return isinstance(value, dict) and (not keys or any(key in value for key in keys))


def _fenced(text: str, keys: Collection[str], *, repeated: bool = False, among: Collection[str] = ()) -> Block | None:
    wanted, found = {*keys, *among}, list[Block]()
    for word, start, end, closed in fences(text):
        language, inside = _LANGUAGES.get(word, ""), text[start:end]
        if language and not closed:
            line, column = jsontext.line_and_column(text, start)
            raise BadInput(
                coded("file.open_block", kind=language, line=line - 1, at=line, column=column),
                expected=coded("file.closing_fence"),
                fix=coded("file.close_block"),
            )
        if not language:
            if not closed and _mentions(inside, keys):
                line, _ = jsontext.line_and_column(text, start)
                raise BadInput(
                    coded("file.open_fence", line=line - 1),
                    expected=coded("file.closing_fence"),
                    fix=coded("file.close_fence"),
                )
            continue
        if not inside.strip():
            continue
        twice: Repeated | None = [] if repeated else None
        try:
            value = _parse(language, text, start, end, twice)
        except BadInput:
            if _mentions(inside, keys):
                raise
            continue  # a sample with gaps in it, not our data
        if _fits(value, wanted):
            found.append(Block(value, language, start, end, True, twice or []))
            if not keys:
                return found[0]
    ours = next((one for one in found if _fits(one.value, keys)), None)
    if ours is not None and len(found) > 1:
        lines = [str(jsontext.line_and_column(text, one.start)[0] - 1) for one in found]
        raise BadInput(
            coded("file.two_blocks", lines=lines), expected=coded("file.one_block"), fix=coded("file.join_blocks")
        )
    return ours


def others(text: str, found: Block) -> Iterator[Json]:
    """The mappings in the other fenced blocks of JSON or YAML of the text; what cannot be parsed is none."""
    for word, start, end, closed in fences(text) if found.fenced else ():
        if (language := _LANGUAGES.get(word, "")) and closed and start != found.start:
            try:
                value = _parse(language, text, start, end, None)
            except BadInput:
                continue
            if isinstance(value, dict):
                yield value


def _parse(language: str, text: str, start: int, end: int, repeated: Repeated | None) -> Any:
    if language == "json":
        return jsontext.parse(text[start:end], whole=text, offset=start, repeated=repeated)
    from worldfs.formats import yamltext

    return yamltext.parse(text[start:end], whole=text, offset=start, repeated=repeated)


def _mentions(inside: str, keys: Collection[str]) -> bool:
    return (
        not keys
        or any(found[1] in keys for found in _found_in_lines(_KEY_LINE, inside))
        or any(f'"{key}"' in inside for key in keys)
    )


def fences(text: str) -> Iterator[tuple[str, int, int, bool]]:
    """Every fenced block that is read: first word of its opening line, span of the inside, whether it is closed.

    What is in an HTML comment, struck out, or indented as code is not read. A comment that does not end hides the rest
    of the text. "<!--" in a fenced block is data.
    """
    lines = _fence_lines(text)
    shown, struck = 0, False  # where the text that is not yet looked at begins; whether it is struck out there
    for opening in lines:
        indent, sign, info = opening[1], opening[2], opening[3].strip()
        before, shown = shown, _after_comments(text, shown, opening.start())
        if shown > opening.start():
            continue
        for mark in _found_in_lines(_STRUCK, text, before, opening.start()):
            struck = not struck if mark[1] == "~~" else not mark[1].startswith("</")
        shown = opening.start()
        if sign[0] == "`" and "`" in info:
            continue  # inline code that fills a line
        width = len(indent.expandtabs(4))
        if width >= 4 and not _in_item(text, opening.start(), width):
            continue
        words = info.lstrip("{.").rstrip("}").split()
        start = min(opening.end() + 1, len(text))
        for line in lines:
            fitting = line[2][0] == sign[0] and len(line[2]) >= len(sign) and not line[3].strip()
            if fitting and len(line[1].expandtabs(4)) <= width + 3:
                end, closed, shown = line.start(), True, line.end()
                break
        else:
            end, closed, shown = len(text), False, len(text)
        if not struck:
            yield words[0].lower() if words else "", start, end, closed


def _after_comments(text: str, start: int, end: int) -> int:
    """Where the last comment that begins between `start` and `end` ends; `start` without one."""
    at = text.find("<!--", start, end)
    while at >= 0:
        if _in_code(text, at):
            after = at + 4
        else:
            closing = text.find("-->", at + 2)
            start = after = len(text) + 1 if closing < 0 else closing + 3
        at = text.find("<!--", after, end) if after < end else -1
    return start


def _in_code(text: str, at: int) -> bool:
    """Whether the place is between back-ticks of its line. Where that is far away, the answer is no."""
    line = text.rfind("\n", max(0, at - _NEAR), at) + 1
    if not line and at > _NEAR:
        return False
    return text.count("`", line, at) % 2 == 1 and "`" in text[at : at + _NEAR].partition("\n")[0]


def _in_item(text: str, at: int, width: int) -> bool:
    """Whether the line at this place, indented by `width` columns, belongs to an item of a list."""
    for line in reversed(text[max(0, at - _NEAR) : at].split("\n")):
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if not line.strip() or len(blank.expandtabs(4)) >= width:
            continue
        if _ITEM.match(line):
            return True
        if not blank:
            return False
    return False


def _fence_lines(text: str) -> Iterator[re.Match[str]]:
    """Every line that opens or closes a fence. Looks for the signs first: a pattern tried at each line is slower."""
    ticks, tildes = text.find("```"), text.find("~~~")
    while ticks >= 0 or tildes >= 0:
        at = min(ticks, tildes) if ticks >= 0 and tildes >= 0 else max(ticks, tildes)
        start = text.rfind("\n", 0, at) + 1
        if found := _FENCE.match(text, start + (start == 0 and text.startswith(_MARK))):
            yield found
        end = text.find("\n", at)
        if end < 0:
            return
        ticks = text.find("```", end) if 0 <= ticks < end else ticks
        tildes = text.find("~~~", end) if 0 <= tildes < end else tildes


def append(text: str, title: str, value: Any) -> str:
    """The text with a new fenced block of `value` at its end; an empty text gets a heading first."""
    newline = "\r\n" if "\r\n" in text else "\n"
    body = text.removeprefix(_MARK)
    if body.strip():
        ends = newline if body.endswith(("\n\n", "\r\n\r\n")) else 2 * newline
        head = text + (ends.removeprefix(newline) if body.endswith("\n") else ends)
    else:
        head = f"{text.removesuffix(body)}# {title}{newline}{newline}"
    return f"{head}```json{newline}{jsontext.pretty(value, newline=newline)}{newline}```{newline}"
