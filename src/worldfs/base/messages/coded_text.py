"""A text that knows its code and its arguments, so that it can be given in another language.

To every other module a `CodedText` is a string, in English where it is made. A text from another program, from an
exception or from a file of an older version is a plain string and stays as it is in every language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module

from worldfs.base.json_values import as_object

LANGUAGES = ("en", "zh")  # the columns of a catalogue
AREAS = (  # the catalogues: a code is `area.name`
    "access", "agent", "approval", "command", "common", "config", "context", "critic", "engine", "file", "fixture",
    "fleet", "handling", "handover", "lesson", "mcp", "mission", "model", "ninep", "node", "planner", "plugin", "posix",
    "pour", "robot", "runtime", "session", "setup", "shell", "skill", "stop", "target", "top", "tree", "vehicle",
    "vision", "wipe", "world",
)  # fmt: skip
_UNSAYABLE = (LookupError, ValueError, TypeError, AttributeError, RecursionError)


class CodedText(str):
    """`args`: strings, numbers, lists of these, further coded texts."""

    __slots__ = ("args", "code")

    code: str
    args: Mapping[str, object]

    def __new__(cls, text: str, code: str, args: Mapping[str, object]) -> CodedText:
        made = super().__new__(cls, text)
        made.code, made.args = code, args
        return made

    def __getnewargs__(self) -> tuple[str, str, Mapping[str, object]]:  # type: ignore[override]  # to copy it, for all that is kept
        return str(self), self.code, self.args


def coded(code: str, /, **args: object) -> CodedText:
    """The text of a code, in English. Arguments are data: they are put in and never read as a template."""
    given = {name: _plain(value) for name, value in args.items()}
    return CodedText(_said(code, given, 0), code, given)


def _plain(value: object) -> object:
    """An array as a list; anything else as it is."""
    listed = getattr(value, "tolist", None)
    return value if listed is None else listed()


def render(text: str, language: str) -> str:
    """`text` in `language` ("zh…" is Chinese, any other English); a plain text as it is."""
    if not isinstance(text, CodedText):
        return text
    try:
        said = _said(text.code, text.args, _column(language))
    except _UNSAYABLE:  # it is from a file, and its code from another version
        return text
    return text if said == text else CodedText(said, text.code, text.args)


def parts(text: str) -> Iterator[CodedText]:
    """The coded text and those among its arguments, outer ones first; nothing for a plain text."""
    if isinstance(text, CodedText):
        yield text
        for value in text.args.values():
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, str):
                    yield from parts(item)


def as_plain(value: object) -> str:
    """For encoders that know strings and none of their subclasses."""
    if isinstance(value, str):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def kept_text(text: str, code: str) -> bool:
    """Whether `text` is the message of that code, in whichever language: what a document kept without its code."""
    return any(text == row for row in _rows(code.partition(".")[0])[code])


def stored_form(text: str) -> dict[str, object] | None:
    """Code and arguments as JSON, to be kept beside the text; None for a plain text."""
    if not isinstance(text, CodedText):
        return None
    return {"code": text.code, "args": {name: _stored(value) for name, value in text.args.items()}}


def read_coded(text: str, stored: object) -> str:
    """The text as it was kept, with the code and arguments that were kept beside it, if they make sense here."""
    try:
        return text if stored is None else CodedText(text, *_taken(stored))
    except _UNSAYABLE:
        return text


def vector_text(values: Sequence[float]) -> str:
    """[0.45, 0.1, 0.02]: numbers as people read them, to the millimetre."""
    return "[" + ", ".join(f"{round(float(v), 3) + 0.0:g}" for v in values) + "]"


def _said(code: str, args: Mapping[str, object], column: int) -> str:
    row = _rows(code.partition(".")[0])[code]
    return row[column].format_map({name: _shown(value, column) for name, value in args.items()})


def _shown(value: object, column: int) -> object:
    if isinstance(value, CodedText):
        return _said(value.code, value.args, column)
    if isinstance(value, list | tuple):
        if any(isinstance(item, str) for item in value):
            mark = "、" if column and isinstance(value[0], CodedText) else ", "
            return mark.join(str(_shown(item, column)) for item in value)
        try:
            return vector_text(value)
        except (TypeError, ValueError, OverflowError):  # a list from a file: anything may be in it
            return str(value)
    return value


def _stored(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_stored(item) for item in value]
    return stored_form(value) or str(value) if isinstance(value, str) else value


def _taken(stored: object) -> tuple[str, dict[str, object]]:
    found = as_object(stored)
    return str(found["code"]), {name: _argument(value) for name, value in as_object(found["args"]).items()}


def _argument(value: object) -> object:
    if isinstance(value, list):
        return [_argument(item) for item in value]
    if isinstance(value, dict):
        code, args = _taken(value)
        return CodedText(_said(code, args, 0), code, args)
    return value


def language_of(text: str) -> str:
    """The language in which a person wrote: `zh` with any Chinese sign, else `en`."""
    return "zh" if any("\u4e00" <= sign <= "\u9fff" for sign in text) else "en"


def _column(language: str) -> int:
    return 1 if language.startswith("zh") else 0


def load_messages() -> None:
    """Load every catalogue: a process that must live on when it can open no file loads none then."""
    for area in AREAS:
        _rows(area)


@cache
def _rows(area: str) -> Mapping[str, tuple[str, str]]:
    """A catalogue, loaded with the first of its messages."""
    if area not in AREAS:
        raise LookupError(f"no catalogue has messages of {area!r}")
    rows: Mapping[str, tuple[str, str]] = import_module(f"{__package__}.{area}_messages").ROWS
    return rows
