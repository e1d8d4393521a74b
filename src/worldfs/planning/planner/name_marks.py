"""Names in a sentence, marked before anything else is read: a word inside a name is part of the name and not grammar.

Each name, and each id, becomes one sign that the grammars read as a noun. The longest name wins (杯子架 before 杯子).
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from worldfs.base.name_parts import DESCRIBING, Ending, name_parts, names_head
from worldfs.base.word_forms import TextPiece, is_chinese, pieces, plurals, text_pieces

from . import lexicon_en, lexicon_zh, shared_heads, thing_names
from .thing_words import ThingWords
from .vocabulary import Vocabulary, Word

_FIRST: Final = 0xE000  # signs of the private use area stand for names
_LAST: Final = 0xF8FF
_PRIVATE: Final = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
_BETWEEN: Final = re.compile(r"[\s'’_-]*")  # what may stand between the words of a name, however the scene has it
_SIDES: Final = lexicon_en.BEST_SIDE
_GRAMMAR: Final = lexicon_en.FUNCTION | lexicon_en.PROTECT | lexicon_en.NUMBERS.keys()
_VERBS: Final = frozenset(phrase.split()[0] for phrase in lexicon_en.VERBS)
_NAMED_SO: Final = _SIDES | _VERBS
_NOUN_NEXT: Final = (lexicon_en.ALL | lexicon_en.ANY | lexicon_en.THE | lexicon_en.NUMBERS.keys() | DESCRIBING) - {
    "everything"} | {"many", "which", "no", "other"}  # fmt: skip
_DENYING: Final = lexicon_en.NEGATIONS | lexicon_en.IFS
_MEASURED: Final = re.compile(rf"\s*(?:(?:{'|'.join(lexicon_en.UNITS)})\b|厘米|公分|毫米|米|\.\d)", re.IGNORECASE)
_WORD_GOES_ON: Final = re.compile(r"[A-Za-z0-9_]|-[A-Za-z0-9]")
_HANDED: Final = re.compile(r"\b(left|right)[- ]hand\b(?= \w)", re.IGNORECASE)
_BY_HAND: Final = (("left", "hand"), ("right", "hand"))
_NUMERAL: Final = re.compile(rf"([一二三四五六七八九十]+)([^\W\d_{lexicon_zh.MEASURES}{lexicon_zh.HOLDING}a-zA-Z])")
_OFFER: Final = re.compile(r"[(（]([^()（）]{1,80})[)）]")
_OWNED_ENDS: Final = re.compile(  # what follows 小明的 where no noun does
    r"(?:[和与跟及、][^的，。,;；]{1,4}的)*(?:(?P<aside>除外|也?不要动?|也?别动|留)|以外|之外|外|都|\s*(?:$|[，。,;；!！]))"
)
_OWNER: Final = re.compile(rf"(?:{lexicon_zh.PERSON.pattern}|[^的]{{1,3}}过)的(?=.)")
_ASIDE_BEFORE: Final = re.compile(r"(?:除|别动|别碰|不要动|不要碰)[^，。,;；]*$")
_KEPT: Final = 1024  # results: a scene's names are read again and again
_BRACKETS: Final = ("()", "（）", "[]")
_OPENING: Final = tuple("\"'“‘「『《")
_SENTENCE_ENDS: Final = re.compile(r"[.!?;:。！？；：\n]")
_LONGEST_WORD: Final = 4  # signs of a Chinese word
_FOREIGN: Final = re.compile(r"[\u4e00-\u9fff]+")


class _Called(NamedTuple):
    """A name as it may be said: its words, the signs between them, and what it then stands for."""

    words: tuple[str, ...]
    between: tuple[str, ...]
    means: tuple[Word, ...]
    guarded: bool = False  # "wait list": made of words of the grammar, and a name only after "the" and the like
    counted: bool = False  # "A string", 一只杯子: without its first word it may be any of several things


@dataclass(slots=True)
class MarkedText:
    """A text in which every name is one sign; `words`: what each sign stands for."""

    text: str
    words: dict[str, tuple[Word, ...]] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def told(self, text: str) -> str:
        """The text with the names as they were said."""
        if not _PRIVATE.search(text):
            return text  # with the code of its message
        return _PRIVATE.sub(lambda sign: self.said.get(sign.group(), ""), text)

    def sign(self, said: str, words: tuple[Word, ...]) -> str:
        sign = chr(min(_FIRST + len(self.words), _LAST))
        self.words[sign], self.said[sign] = words, said
        return sign


def without_signs(text: str) -> str:
    """The text without the signs that would stand for names."""
    return _PRIVATE.sub("", text)


def mark(text: str, vocabulary: Vocabulary) -> MarkedText:
    """The text with all names, ids and parts of names that would be read as grammar marked, from left to right."""
    text = shared_heads.with_heads(_as_offered(text, vocabulary), vocabulary)
    text = _NUMERAL.sub(lambda found: _as_numbered(found, vocabulary), text)
    if not any(both in itertools.pairwise(called.full) for called in vocabulary.called.values() for both in _BY_HAND):
        text = _HANDED.sub(r"\1", text)  # "the left-hand boot" is called as the left boot is
    marked, told = MarkedText(""), text_pieces(text)
    shorter = _shorter(vocabulary)
    names, ids, sizes = _names(vocabulary), _ids_by_word(vocabulary), _sizes(vocabulary)
    owners = _owners_zh(vocabulary) if "的" in text else {}
    sides = not _SIDES.isdisjoint(piece.text for piece in told)
    heads = {form for form, head in vocabulary.head_forms.items() if head in _VERBS}
    verbs = heads.intersection(piece.text for piece in told)  # "the stand", "both rolls": nouns here
    at = done = 0
    while at < len(told):
        spans = [*_ids(text, told, at, ids), *_full(text, told, at, names), *_owned(text, told, at, vocabulary)]
        spans += [*_first_measured(text, told, at, vocabulary), *_shortened(text, told, at, shorter)]
        spans += _owned_zh(text, told, at, owners) if owners else ()
        spans += _sized(text, told, at, sizes) if sizes else ()
        spans += _parts(text, told, at, vocabulary) if sides or verbs else ()
        spans += _code(text, told, at, vocabulary)
        if told[at].text in verbs and at and told[at - 1].text in _NOUN_NEXT:
            spans.append((at + 1, ((told[at].text, vocabulary.senses(told[at].text)),)))
        found = max(spans, default=None, key=lambda span: span[0])
        if found is None:
            at += 1
            continue
        end, words = found
        start, stop = told[at].start, told[end - 1].end
        if any(text[start:stop].count(one) > text[start:stop].count(two) == 0 and text[stop : stop + 1] == two
               for one, two in _BRACKETS):  # fmt: skip
            stop += 1  # "cable (2 m)"
        marked.text += text[done:start] + marked.sign(text[start:stop], words)
        at, done = end, stop
    marked.text += text[done:]
    return _in_one_language(marked, vocabulary)


def _as_offered(text: str, vocabulary: Vocabulary) -> str:
    """ "mug (mug_01, red)": a thing in the words in which a question offered it becomes its id."""
    for offer in reversed([*_OFFER.finditer(text)]):
        thing = vocabulary.things.get(re.split(r"[,，]", offer[1])[0].strip())
        before = text[: offer.start()].rstrip()
        for language in ("en", "zh") if thing is not None else ():
            name = thing_names.name(thing, language)
            if before.lower().endswith(name.lower()) and thing is not None:
                text = f"{before[: len(before) - len(name)]}{thing.id}{text[offer.end() :]}"
                break
    return text


def _as_numbered(found: re.Match[str], vocabulary: Vocabulary) -> str:
    """三号 of 三号文件 as the names have it: 3号, where no name has 三号."""
    number = int(lexicon_zh.numeral(found[1]))
    told = f"{number}{found[2]}"
    names = (called.full for called in vocabulary.called.values())
    named = any(told == "".join(pair) for full in names for pair in itertools.pairwise(full))
    return told if named and not vocabulary.is_in_a_name(found[0]) else found[0]


def _in_one_language(marked: MarkedText, vocabulary: Vocabulary) -> MarkedText:
    """Chinese nouns in an English sentence are marked as names are; a sentence with Chinese grammar stays as it is."""
    runs = _FOREIGN.findall(marked.text)
    grammar = set(re.findall(r"[a-z]+", marked.text.lower())) & _GRAMMAR
    nouns = {run: _as_nouns(run, vocabulary) for run in runs}
    unknown = {run: ((run, frozenset((f"w:{run}",))),) for run, found in nouns.items() if not found}
    if grammar and not any(_has_grammar(run) for run in unknown):
        nouns |= unknown
        marked.text = _FOREIGN.sub(lambda run: marked.sign(run.group(), nouns[run.group()]), marked.text)
    return marked


def _has_grammar(run: str) -> bool:
    return any(lexicon_zh.is_grammar(run[at : at + n]) for at in range(len(run)) for n in (1, 2, 3))


def _as_nouns(run: str, vocabulary: Vocabulary) -> tuple[Word, ...]:
    """The Chinese nouns of which a text is made, () where it has any other word; a name may look like a verb: 抓夹."""
    if named := next((called for called in vocabulary.called.values() if "".join(called.full) == run), None):
        return _meaning(named, vocabulary)
    if any(called.signs == called.tail == run for called in vocabulary.called.values()):  # 螺母, of M3螺母 and M4螺母
        return ((run, vocabulary.senses(run)),)
    found: list[Word] = []
    while run:
        size = next(
            (n for n in range(min(vocabulary.longest_zh, len(run)), 0, -1) if vocabulary.chinese_word(run[:n])), 0
        )
        if not size:
            return ()
        found.append((run[:size], vocabulary.senses(run[:size])))
        run = run[size:]
    return tuple(found)


# -- the names of a scene ---------------------------------------------------------------------------------------------


def _names(vocabulary: Vocabulary) -> dict[str, list[_Called]]:
    """The full names, by their first word."""
    found: dict[str, list[_Called]] = {}
    for called in vocabulary.called.values():
        name = vocabulary.things[called.id].name
        guarded = bool(called.full) and _is_grammar(called.full)
        if not called.full or not pieces(name) or (guarded and any(map(is_chinese, called.full))):
            continue
        if len(called.full) > 1 or called.tail:
            found.setdefault(called.full[0], []).append(
                _Called(called.full, _signs(name), _meaning(called, vocabulary), guarded, vocabulary.is_counted(called))
            )
    return found


class _Sized(NamedTuple):
    """A name that ends in a size or a code: "blood sample B", 洗发水 500ml; `leads`: or begins with it, 13毫米套筒."""

    id: str
    stem: tuple[str, ...]
    code: tuple[str, ...]
    leads: bool = False


def _sizes(vocabulary: Vocabulary) -> list[_Sized]:
    """The names that end in a size or a code that is more than a number, which may be an amount."""
    found = []
    for called in vocabulary.called.values():
        parts = name_parts(vocabulary.things[called.id].name)
        code = parts.full[len(parts.stem) :]
        if parts.stem and parts.ending is Ending.NUMBER and any(not word.isdecimal() for word in code):
            found.append(_Sized(called.id, parts.stem, code))
        if called.tail and parts.full and not is_chinese(parts.full[0]):
            found += [_Sized(called.id, parts.full[n:], parts.full[:n], True) for n in range(1, len(parts.full))]
    return found


@lru_cache(maxsize=_KEPT)
def _signs(name: str) -> tuple[str, ...]:
    name = unicodedata.normalize("NFKC", name)  # as a text is
    told = text_pieces(name)
    return tuple(name[a.end : b.start].strip() for a, b in itertools.pairwise(told))


@lru_cache(maxsize=_KEPT)
def _is_grammar(words: tuple[str, ...]) -> bool:
    """Whether a name is made of words of the grammar alone: it must not swallow them."""
    if not any(map(is_chinese, words)):
        return all(word in _GRAMMAR for word in words) and (len(words) == 1 or not _DENYING.isdisjoint(words))
    text, at = "".join(words), 0
    while at < len(text):
        size = next((n for n in range(6, 0, -1) if lexicon_zh.is_grammar(text[at : at + n])), 0)
        if not size:
            return False
        at += size
    return True


def _meaning(called: ThingWords, vocabulary: Vocabulary) -> tuple[Word, ...]:
    """The words of a full name, the head last; where another word ends the name, the ids of all things of that name."""
    if called.head and called.full[-1] == called.head:
        return tuple((word, vocabulary.senses(word)) for word in called.full)
    if called.tail and called.tail == "".join(called.full):
        return ((called.tail, vocabulary.senses(called.tail)),)
    same = (other.id for other in vocabulary.called.values() if other.full == called.full)
    return ((vocabulary.things[called.id].name, frozenset(f"i:{id.lower()}" for id in same)),)


# -- where a name stands ----------------------------------------------------------------------------------------------


def _full(
    text: str, told: list[TextPiece], at: int, names: dict[str, list[_Called]]
) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """(end, words) of every full name that begins here."""
    for name in names.get(told[at].text, ()):
        end = at + len(name.words)
        if name.guarded and not (at and (told[at - 1].text in _NOUN_NEXT or is_chinese(told[at - 1].text))):
            continue
        if name.counted and _is_count(text, told, at, name):
            continue
        words = _whole(text, told, at, name)
        if words and _has_zi(told, at, end, names):
            end += 1
        if words and not _is_measure(text, told, end) and not _goes_on(told, at, end):
            yield end, words


def _is_count(text: str, told: list[TextPiece], at: int, name: _Called) -> bool:
    """Is the first word of a name an article or a number here: "a string", and not "the A string"?"""
    start, end = told[at].start, told[at].end
    if not is_chinese(name.words[0]) and not text[end : end + 1].isspace():  # "A4 paper", "a-frame"
        return False
    if text[:start].rstrip()[-1:] in _OPENING or (at and told[at - 1].text in lexicon_en.THE | {"这", "那"}):
        return False
    begins = not at or _SENTENCE_ENDS.search(text, told[at - 1].end, start)
    written = text[start:end]
    return bool(begins) or written == written.lower() or text == text.upper()


def _has_zi(told: list[TextPiece], at: int, end: int, names: dict[str, list[_Called]]) -> bool:
    """木勺子, of a 木勺, where nothing here is called 木勺子 itself."""
    said = tuple(piece.text for piece in told[at : end + 1])
    if said[-1] != "子" or len(said) == end - at or any(name.words == said for name in names.get(said[0], ())):
        return False
    return names_head("".join(said), "".join(said[:-1]))


def _goes_on(told: list[TextPiece], at: int, end: int) -> bool:
    """Whether a longer word that is known begins with the Chinese name here: 书 in 书架."""
    if not all(is_chinese(piece.text) for piece in told[at:end]):
        return False
    said = "".join(piece.text for piece in told[at : at + _LONGEST_WORD])
    return any(said[:size] in lexicon_en.nouns_zh() for size in range(end - at + 1, len(said) + 1))


def _ids_by_word(vocabulary: Vocabulary) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """The ids that are no plain words or numbers, by their first word."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for id, senses in vocabulary.ids.items():
        if not (id.isalpha() or id.isdecimal()) and (words := pieces(id)):
            found.setdefault(words[0], []).append((id, senses))
    return found


def _ids(
    text: str, told: list[TextPiece], at: int, ids: dict[str, list[tuple[str, frozenset[str]]]]
) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """(end, words) of every id that begins here."""
    start = told[at].start
    for id, senses in ids.get(told[at].text, ()):
        if id.isalpha() or id.isdecimal() or text[start : start + len(id)].lower() != id:
            continue
        end = start + len(id)
        before = at and told[at - 1].end == start and not is_chinese(told[at - 1].text)
        if not before and not (_WORD_GOES_ON.match(text, end) and not is_chinese(id[-1])):
            yield next((n for n, piece in enumerate(told) if piece.start >= end), len(told)), ((id, senses),)


def _whole(text: str, told: list[TextPiece], at: int, name: _Called) -> tuple[Word, ...]:
    """The words of a full name that stands here, in the singular or the plural; () for none."""
    said = told[at : at + len(name.words)]
    if len(said) < len(name.words) or any(a.text != b for a, b in zip(said[:-1], name.words[:-1], strict=True)):
        return ()
    last = said[-1].text
    if last != name.words[-1] and not (len(name.means) == len(name.words) and last in plurals(name.words[-1])):
        return ()
    for n, (one, two) in enumerate(itertools.pairwise(said)):
        between = text[one.end : two.start]
        if not (_BETWEEN.fullmatch(between) or between.strip() == name.between[n]):
            return ()
    return name.means if last == name.words[-1] else (*name.means[:-1], (last, name.means[-1][1]))


def _is_measure(text: str, told: list[TextPiece], end: int) -> bool:
    """ "the cube 9 cm to the left": the number is a length, and no part of a name."""
    return told[end - 1].text.isdecimal() and _MEASURED.match(text, told[end - 1].end) is not None


def _sized(text: str, told: list[TextPiece], at: int, sizes: list[_Sized]) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """ "The 25G needle", "sample B", 500ml的洗发水: of every name that has the code, and ends in the noun before it."""
    ends: dict[int, set[str]] = {}
    said = [piece.text for piece in told]
    for one in sizes:
        for size in range(1, len(one.stem) + 1):
            noun = list(one.stem[-size:])
            if is_chinese(noun[-1]) and not names_head("".join(noun), "".join(one.stem)):
                continue
            code = list(one.code)
            ways = [[*code, *noun], [*code, "的", *noun]] if code[0].isdecimal() else [[*noun, *code]]
            ways = [[*code, "的", *noun]] if one.leads else ways
            for way in ways:
                end = at + len(way)
                if said[at:end] == way and all(
                    _near(text, told, n) or _is_point(text, told, n) for n in range(at + 1, end)
                ):
                    ends.setdefault(end, set()).add(one.id)
    for end, ids in ends.items():
        yield end, _these(text[told[at].start : told[end - 1].end], ids)


def _code(text: str, told: list[TextPiece], at: int, vocabulary: Vocabulary) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """ESP32, of an ESP32 board: one word of a name, of letters and figures."""
    if at + 1 == len(told):
        return
    pair = (told[at].text, told[at + 1].text)
    if not (pair[0].isalpha() and pair[0].isascii() and pair[1].isdecimal()):
        return
    glued = told[at].end == told[at + 1].start
    names = (c for c in vocabulary.called.values() if c.beside.issuperset(pair))
    if glued and any(pair in itertools.pairwise(called.full) for called in names):
        yield at + 2, (("".join(pair), frozenset((f"w:{''.join(pair)}",))),)


def _first_measured(
    text: str, told: list[TextPiece], at: int, vocabulary: Vocabulary
) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """ "The 13 mm one": of every name that begins so."""
    lead = tuple(piece.text for piece in told[at : at + 2])
    measured = lead[0].isdecimal() and at + 2 < len(told) and told[at + 2].text == "one"
    if measured and (same := [called.id for called in vocabulary.called.values() if called.full[:2] == lead]):
        yield at + 3, _these(text[told[at].start : told[at + 2].end], same)


def _shorter(vocabulary: Vocabulary) -> dict[tuple[str, ...], list[str]]:
    """ "Tin of corn" → the ids of what is called "tin of sweet corn" and the like; with "with" none where the corn may
    be another thing."""
    found: dict[tuple[str, ...], list[str]] = {}
    for called in vocabulary.called.values():
        if called.head in called.full[:-2]:
            at, inner = called.full.index(called.head), {word for word, _ in called.denied} | lexicon_en.THE
            said = (called.head, *(word for word in called.full[at + 1 :] if word not in inner))
            if len(said) > 2 and (said[1] == "of" or said[-1] not in vocabulary.head_forms):
                found.setdefault(said, []).append(called.id)
    return found


def _shortened(
    text: str, told: list[TextPiece], at: int, shorter: dict[tuple[str, ...], list[str]]
) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """ "The tin of corn", "the box with the blocks": of every name that is so, but for what it says of these."""
    for words, ids in shorter.items():
        end = at
        for word in words:
            end += 1 < end - at < len(told) - at and told[end].text in lexicon_en.THE
            if end == len(told) or told[end].text != word or (end > at and not _near(text, told, end)):
                break
            end += 1
        else:
            yield end, _these(text[told[at].start : told[end - 1].end], ids)


def _these(said: str, ids: Iterable[str]) -> tuple[Word, ...]:
    return ((said, frozenset(f"i:{id.lower()}" for id in ids)),)


def _parts(text: str, told: list[TextPiece], at: int, vocabulary: Vocabulary) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """ "the left shoe" of "left running shoe": a side that is in the name is no place; and "towel roll"."""
    for called in vocabulary.called.values():
        end = at
        while end < len(told) and told[end].text in called.beside and (end == at or _near(text, told, end)):
            if told[end].text in _GRAMMAR and told[end].text not in _SIDES:
                break
            end += 1
        words = tuple(piece.text for piece in told[at:end])
        headed = end < len(told) and called.head and told[end].text in (called.head, *plurals(called.head))
        if headed and words and not _NAMED_SO.isdisjoint((*words, called.head)) and _near(text, told, end):
            said = (*words, told[end].text)
            yield end + 1, tuple((word, vocabulary.senses(word)) for word in said)


def _owned(text: str, told: list[TextPiece], at: int, vocabulary: Vocabulary) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """ "The chef's and the guest's": of names that begin so, where no noun follows."""
    if at + 1 >= len(told) or told[at + 1].text != "s" or text[told[at].end : told[at + 1].start] != "'":
        return
    end, owner = at + 2, (told[at].text, "s")
    ends = end == len(told) or told[end].text in _GRAMMAR - _SIDES or text[told[end - 1].end : told[end].start].strip()
    same = [called.id for called in vocabulary.called.values() if called.full[:2] == owner and len(called.full) > 2]
    if same and ends:
        yield end, _these(text[told[at].start : told[end - 1].end], same)


def _owners_zh(vocabulary: Vocabulary) -> dict[str, frozenset[str]]:
    """小明的 → the ids of 小明的杯子 and what else is called his; none where another name has 小明 elsewhere: what is
    his is not plain then."""
    signs = {called.id: called.signs for called in vocabulary.called.values()}
    owners = {found[0] for one in signs.values() if (found := _OWNER.match(one))}
    owners = {one for one in owners if not lexicon_zh.is_grammar(one[:-1]) and one[:-1] not in vocabulary.chinese}
    his = {one: {id for id, name in signs.items() if name.startswith(one)} for one in owners}
    return {
        one: frozenset(f"i:{id.lower()}" for id in ids)
        for one, ids in his.items()
        if all(id in ids for id, name in signs.items() if one[:-1] in name)
    }


def _owned_zh(
    text: str, told: list[TextPiece], at: int, owners: dict[str, frozenset[str]]
) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """小明的除外, 除了用过的: what is left out is all that is called so. What is to be moved is said with its noun."""
    start = told[at].start
    for owner, ids in owners.items():
        stop = start + len(owner)
        ends = _OWNED_ENDS.match(text, stop) if text.startswith(owner, start) else None
        if ends is not None and (ends["aside"] or _ASIDE_BEFORE.search(text[:start])):
            yield at + len(owner), ((owner, ids),)


def _is_point(text: str, told: list[TextPiece], at: int) -> bool:
    """2.2k: is the word here what follows the point of a number?"""
    return text[told[at - 1].end : told[at].start] == "." and told[at - 1].text.isdecimal()


def _near(text: str, told: list[TextPiece], at: int) -> bool:
    return at > 0 and _BETWEEN.fullmatch(text[told[at - 1].end : told[at].start]) is not None
