"""Fields of documents that nothing reads: which of them hold back, delay or limit, and which are harmless.

One piece judges the fields that nothing reads, of every sheet and registry. Compared without case, width, accents, "_",
"-" and spaces: ｄｒｙ_run is `dry_run`.
Beside an order only what is `harmless` may stand: no list of words knows every word for a limit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from typing import Final

from . import field_words
from .traditional_signs import simplified
from .word_forms import plain_letters

_PARTS: Final = re.compile(
    r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z\u3400-\u9fff]+"
)  # the last: other scripts
_SIGNS: Final = re.compile("[\u3400-\u9fff]")
_LONGEST: Final = 40  # characters of a name that may be a slip of another


def restricting(members: Mapping[str, object], known: Collection[str] = ()) -> Iterator[str]:
    """The members that nothing reads and that hold back or limit, by their name or by what they hold at any depth."""
    for name, value in members.items():
        plain = plain_letters(str(name))
        if name not in known and (restricts(plain, value) or _holds(plain, value)):
            yield str(name)


def unread(members: Mapping[str, object], known: Collection[str] = ()) -> Iterator[str]:
    """The members that nothing reads and that may say how an order is carried out: all but what is harmless."""
    holding = {*restricting(members, known)}
    for key, value in members.items():
        name, nothing = plain_letters(str(key)), key in known or says_nothing(value)
        if str(key) in holding or not (nothing or harmless(name) or _lifts(name, value)):
            yield str(key)


def harmless(name: str) -> bool:
    """Whether a field of this name, which nothing reads, only tells of an order: of whom, when, why it is."""
    name = plain_letters(name)
    kind, low = _kind(name), name[:_LONGEST].lower()
    if kind not in ("", "passed", "state") or (kind == "state" and not low.startswith(field_words.FOREIGN)):
        return False
    if low.startswith(field_words.FOREIGN) or field_words.TELLING_ZH.fullmatch(low):
        return not _limits(name)
    words = [word for word in _words(name) if not word.isdigit()]
    if not words or len(name) > _LONGEST:
        return False
    if words[0] in field_words.DONE and field_words.OF_DONE.issuperset(words[1:]):
        return True
    if len(words) > 1 and words[-1] in field_words.IDS:
        return words[-2] not in field_words.MEANT and words[0] not in field_words.SPARED
    return field_words.TELLING.issuperset(words)


def bounds(name: str) -> bool:
    """Whether a word of this name, or two of them together, is one for a limit of motion."""
    name = plain_letters(name)
    words = _words(name, len(name))
    pairs = (one + other for one, other in pairwise(words))
    return not field_words.BOUNDS.isdisjoint((*words, *pairs, bare_name(name)))


def _holds(name: str, value: object) -> bool:
    """Whether what the field holds says so, at any depth: a key in it, or a word among another tool's data."""
    other = _is_of_another_tool(name)
    seen: set[int] = set()
    stack: list[tuple[str, object]] = [(name, value)]
    while stack:
        key, one = stack.pop()
        if isinstance(one, Mapping | list | tuple):
            if id(one) in seen:
                continue
            seen.add(id(one))
        if isinstance(one, Mapping):
            members = [(plain_letters(str(inner)), given) for inner, given in one.items()]
            if any(restricts(*item) or (other and _is_limit(*item)) for item in members):
                return True
            stack += members
        elif isinstance(one, list | tuple):
            stack += [(key, item) for item in one]
        elif other and isinstance(one, str) and not _is_prose(key) and _says_held(one):
            return True
    return False


def _is_of_another_tool(name: str) -> bool:
    return (
        name.lower().startswith(field_words.FOREIGN)
        or bare_name(name) in field_words.GROUPING
        or field_words.GROUPING_ZH.fullmatch(name) is not None
    )


def _is_prose(name: str) -> bool:
    words = _words(name)
    return (
        bare_name(_own_name(name)) in field_words.TELLING - field_words.GROUPING - field_words.BEGUN
        or (bool(words) and words[-1] in field_words.PROSE)
        or (field_words.TELLING_ZH.fullmatch(name) is not None and not field_words.GROUPING_ZH.fullmatch(name))
    )


def _says_held(value: str) -> bool:
    """Whether a value of few words says that the order is held back: "on hold", "not yet", "等待批准"."""
    if len(value) > field_words.MOST_WORDS * _LONGEST:
        return False
    value = plain_letters(value)
    words, signs = _words(value.replace("n't", " not"), len(value)), _SIGNS.findall(value)
    words = [word for word in words if not word.isdigit()]
    if len(words) > field_words.MOST_WORDS or len(signs) > field_words.MOST_SIGNS:
        return False
    if signs and field_words.HELD_ZH.search(simplified(value)):
        return True
    if any(_is_held(words[start:end]) for start in range(len(words)) for end in range(start + 1, len(words) + 1)):
        return True
    if not field_words.WORDS.isdisjoint({*words} - field_words.SIZES):
        return True
    kept = _without_fillers(words)
    return bool(kept) and (kept[0] in field_words.FIRST or (len(kept) > 1 and kept[0] in field_words.OPENING))


def _is_held(words: list[str]) -> bool:
    return not {words[0], "".join(words)}.isdisjoint(field_words.STATED) or "".join(words) in field_words.HELD


def _without_fillers(words: list[str]) -> list[str]:
    first = next((at for at, word in enumerate(words) if word not in field_words.FILLERS), 0)
    return words[first:]


def _limits(name: str) -> bool:
    return bare_name(_own_name(name)) in field_words.LIMITS


def _is_limit(name: str, value: object) -> bool:
    return _limits(name) and value is not False and not says_nothing(value)


def _lifts(name: str, value: object) -> bool:
    """Whether a field that may hold back says that it does not: `dry_run: false`, `enabled: true`, `mode: auto`."""
    kind = _kind(name)
    if kind == "state":
        return isinstance(value, str) and value.strip().lower() in field_words.USUAL
    if kind == "allowing" and bare_name(name) not in field_words.ALLOWING and not field_words.ALLOWING_ZH.search(name):
        return False  # `confirm: true` is not `confirmed: true`
    return kind not in ("", "passed") and not restricts(name, value)


def restricts(name: str, value: object) -> bool:
    """Whether a field of this name, with this value, says that something is held back, delayed or limited."""
    name = plain_letters(name)
    if says_nothing(value):
        return False
    match _kind(name):
        case "state":
            return isinstance(value, str) and (_kind(value) == "holding" or _says_held(value))
        case "holding":
            return value is not False
        case "allowing":
            return value is not True
        case "passed":
            return str(value).strip().lower() in field_words.DENIED
    if name.lower().startswith(field_words.FOREIGN) and _is_limit(name, value):
        return True
    return _is_no(value) and _begins(name)


def _is_no(value: object) -> bool:
    return value is False or (isinstance(value, str) and value.strip().lower() in field_words.NO)


def _begins(name: str) -> bool:
    """Whether it is a word for being carried out: `run`, `safe_to_run`."""
    words = _words(_own_name(name))
    return _core(name) in field_words.BEGUN or (
        len(words) > 2 and "to" in words and field_words.BEGUN.issuperset(word for word in words if word != "to")
    )


def says_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str | list | Mapping) and not value)


def resembles(name: str, known: Collection[str]) -> str:
    """That one of `known` that this name is but for case, "_", "-", and one letter or two; "" for none."""
    bare, names = bare_name(name), sorted(known)
    same = [one for one in names if bare == bare_name(one)]
    return "".join(same[:1] or get_close_matches(name, [one for one in names if _slip(bare, bare_name(one))], 1, 0))


def bare_name(name: str) -> str:
    return re.sub(r"[\W_]", "", plain_letters(name)).lower()


def _own_name(name: str) -> str:
    """The name without another tool's mark: `x_if` is `if`."""
    mark = next((mark for mark in ("x_", "x-", "_") if name.lower().startswith(mark)), "")
    return name[len(mark) :] if len(name) > len(mark) else name


def _words(name: str, most: int = _LONGEST) -> list[str]:
    return [word.lower() for word in _PARTS.findall(name[:most])]


def _core(name: str) -> str:
    """The bare name without another tool's mark and words such as "is"."""
    own = _own_name(name)
    words = _words(own, len(own))
    kept = _without_fillers(words)
    return "".join(kept) if len(kept) < len(words) else bare_name(own)


@lru_cache(maxsize=4096)
def _kind(name: str) -> str:
    """`holding`, `allowing` if only true says nothing, `passed` if only no does, `state` if the value is such a word;
    "" for another's field."""
    own = simplified(_own_name(name)[:_LONGEST])
    bare, words = _core(name), _words(own)
    if bare in field_words.ALLOWING or field_words.ALLOWING_ZH.search(own):
        return "allowing"
    if bare in field_words.PASSED or field_words.PASSED_ZH.search(own):
        return "passed"
    if bare in field_words.HOLDING | field_words.EXACT or not field_words.WORDS.isdisjoint(words):
        return "holding"
    if field_words.HOLDING_ZH.search(own):
        return "holding"
    kept = _without_fillers(words)
    if len(kept) > 1 and kept[0] in field_words.FIRST | field_words.OPENING:
        return "holding"
    if kept and kept[-1] not in field_words.PROSE and any(_is_held(kept[at:]) for at in range(len(kept))):
        return "holding"  # `temporarily_paused`, `later_today`
    if bare in field_words.STATES:
        return "state"
    if bare in field_words.OWN or bare in field_words.TELLING:
        return ""
    if any(_slip(bare, one) for one in field_words.ALLOWING):
        return "allowing"
    return "holding" if any(_slip(bare, one) for one in field_words.HOLDING) else ""


def _slip(typed: str, meant: str) -> bool:
    """Whether one letter is missing, added, changed or changed places; of a long word, two."""
    most = 0 if len(meant) < 5 else 1 if len(meant) < 9 else 2
    if not most or not -most <= len(typed) - len(meant) <= 1 or typed == meant:  # two letters more: `execution_id`
        return False
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(typed, 1):
        earlier, before, row = before, row, [i]
        for j, other in enumerate(meant, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == other:
                least = min(least, earlier[j - 2] + 1)
            row.append(least)
    return row[-1] <= most
