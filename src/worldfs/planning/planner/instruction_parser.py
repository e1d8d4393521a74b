"""Instruction to intent: in English or Chinese, every word understood or nothing moves (workspace_protocol.md W14)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Final

from worldfs.base.messages import coded, render
from worldfs.base.model import Profile, Scene
from worldfs.base.stop_words import has_stop_word
from worldfs.base.traditional_signs import simplified

from . import (
    chinese_manners,
    chinese_nouns,
    chinese_parser,
    chinese_prohibitions,
    english_manners,
    english_nouns,
    english_parser,
    english_prohibitions,
    english_sequence,
    lexicon_en,
    lexicon_zh,
    name_marks,
    spelling,
    thing_names,
)
from .goal_builder import Before, GoalBuilder, never
from .intent import Clause, Intent, NotUnderstood, QuestionIntent, RefusedIntent
from .noun_resolver import NounResolver
from .planned_actions import HAND_OVER, PUSH, goes_to_places
from .scene_answers import answer
from .scene_facts import sanitized_scene, seen_by, with_receivers, with_robots, with_stations
from .unread_entries import left_out
from .vocabulary import Vocabulary

LIMIT = 600  # characters; longer is a document, not an instruction
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "「": "」"}
_SENTENCE = re.compile(r"(?<!\d)[.](?!\w)|(?<=\d)[.](?!\d)|[。!！;；\n]+|(?<=[?？])")
_ZH = re.compile(r"[\u4e00-\u9fff]")


def interpret(
    instruction: str,
    scene: Scene,
    before: Before = never,
    *,
    profile: Profile | None = None,
    robot_id: str = "",
    suggest: bool = False,
    vocabulary: Vocabulary | None = None,
    several: bool = False,
) -> Intent:
    """The intent of an instruction, by a grammar that must consume every word.

    Negations, conditions, reports and whatever is not fully understood are a RefusedIntent; questions a QuestionIntent.
    "Don't forget to clear the table" is the order itself; the scope of any other double negation is never guessed. A
    misspelt word is read as the one known word that it can be, and the note says so. `before` returns the scene before
    the last instruction, for undo. `profile` says whether the robot itself goes to places; with `robot_id` it serves
    the suggestions of a refusal, if `suggest`. `vocabulary` is the scene's, where the caller has it. `several`: several
    robots are asked a question, and the answer names the one whose gripper it tells of.
    """
    text, scene = name_marks.without_signs(_normal(instruction)), sanitized_scene(scene)
    if goes_to_places(profile):
        scene = with_stations(scene, robot_id)
    elif profile is not None and profile.op(HAND_OVER) is not None and len(scene.robots) > 1:
        scene, vocabulary = with_receivers(scene, robot_id), None
    robots, scene = scene.robots, seen_by(scene, robot_id)
    vocabulary = vocabulary or Vocabulary(scene)
    marked = name_marks.mark(text, vocabulary) if len(text) <= LIMIT else name_marks.MarkedText(text)
    vocabulary = vocabulary.with_names(marked.words)
    language = _language(marked, text)

    def can() -> tuple[str, ...]:
        from .suggestions import suggestions  # which reads its own sentences with this function

        return suggestions(scene, language, profile, robot_id)

    def reply(said: str) -> str:
        """What a person reads: the names as they were said, and none of the signs that stand for them."""
        return marked.told(said)

    asked = False
    try:
        if not text:
            raise NotUnderstood("planner.empty", "empty")
        if len(text) > LIMIT:
            raise NotUnderstood("planner.too_long", size=str(len(text)), limit=str(LIMIT))
        stop = next((c for c in marked.text if c in lexicon_en.STOP_SIGNS and not c.isspace()), "")
        if stop:
            raise NotUnderstood("planner.negation", "negation", word=stop)
        sentences = [s for s in (part.strip(" ,，") for part in _SENTENCE.split(marked.text)) if s]
        if not sentences or " ".join(sentences).lower() in lexicon_en.GREETINGS:
            raise NotUnderstood("planner.empty", "empty")
        notes: list[str] = []
        read = _chinese if language == "zh" else _english
        found = read(sentences, vocabulary, notes)
        if isinstance(found, QuestionReading) and has_stop_word(text) and _HOW.search(text):
            return QuestionIntent(instruction, language, render(coded("planner.how_to_stop"), language))
        if isinstance(found, QuestionReading):
            question, scene = marked.told(found.text), with_robots(scene, robots)
            vocabulary = Vocabulary(scene)
            marked, asked = name_marks.mark(question, vocabulary), True
            words = vocabulary.with_names(marked.words)
            told = answer(marked.text, scene, language, words, can, robots=robots, several=several)
            denied = found.failure is not None and "negation" in _signal_words(marked.text, language)
            if found.failure is not None and (denied or not told.told):
                asked = False
                raise found.failure
            if not told.told and (has_stop_word(text) or _GOES_ON.search(text)):  # "why aren't you stopping?"
                return QuestionIntent(instruction, language, render(coded("planner.how_to_stop"), language), False)
            return QuestionIntent(instruction, language, reply(told.text), told.told)
        slides = profile is not None and profile.op(PUSH) is not None
        mobile = goes_to_places(profile)
        builder = GoalBuilder(scene, vocabulary, language, before, mobile=mobile, slides=slides)
        intent = builder.command(found, instruction)
        return replace(intent, note=reply("; ".join(filter(None, (*notes, intent.note)))))
    except NotUnderstood as error:
        kind, code, facts = _why(error, marked.text, language)
        if code in _AT_REST and has_stop_word(marked.text):
            code = "planner.no_stop"
        if code == "planner.verb" and _begins_a_thing(str(facts.get("word", "")), vocabulary):
            code = "planner.no_verb"
        facts = {key: marked.told(value) for key, value in facts.items()}
        unread = left_out(scene, language) if kind == "missing" else ""
        code = "planner.missing_told" if unread and code == "planner.missing" else code
        hint = facts.pop("hint", "")
        facts["hint"] = coded("planner.did_you_mean", word=hint) if hint else ""
        facts["said"] = text if len(text) <= 60 else text[:59] + "…"
        facts.setdefault("names", thing_names.apart(error.ids, scene, language))
        facts.setdefault("here", thing_names.names([t.id for t in (*scene.objects, *scene.furniture)], scene, language))
        reason = reply(render(coded(code, **facts), language))
        if unread:
            reason = ("；" if language == "zh" else "; ").join((reason, unread))
        return RefusedIntent(
            reason, can() if suggest else (), language, kind, instruction,
            candidates=error.ids, names_stop=code in ("planner.negation", "planner.no_stop"),
            asked=asked and kind != "unknown",
        )  # fmt: skip


def read_noun(text: str, scene: Scene) -> tuple[str, ...]:
    """The things that a text of one noun phrase names. Raises NotUnderstood, with the things that it may name."""
    vocabulary = Vocabulary(scene)
    marked = name_marks.mark(name_marks.without_signs(_normal(text)), vocabulary)
    vocabulary, language = vocabulary.with_names(marked.words), _language(marked, text)
    if language == "zh":
        reader = chinese_nouns.ChineseNounParser(chinese_nouns.split(marked.text, vocabulary), vocabulary)
        noun, left = reader.noun(), reader.words[reader.at :]
        rest = "".join(word.text for word in left)
    else:
        english = english_nouns.EnglishNounParser(english_parser.split(marked.text), vocabulary)
        noun, rest = english.noun(), " ".join(english.tokens[english.at :])
    if rest:
        raise NotUnderstood("planner.word", word=marked.told(rest))
    return NounResolver(scene, vocabulary, language).one(noun)


def _language(marked: name_marks.MarkedText, text: str) -> str:
    """That of the words beside the names; of names alone, theirs."""
    beside = "".join(c for c in marked.text if c.isalpha() and c not in marked.words)
    return "zh" if _ZH.search(beside or text) else "en"


def _begins_a_thing(word: str, vocabulary: Vocabulary) -> bool:
    """ "the apple please", "apple": a thing and no action; or nothing at all."""
    articles = lexicon_en.ALL | lexicon_en.ANY | lexicon_en.THE
    known = vocabulary.english_word(word) is not None
    return word == "…" or word in articles or known or word in lexicon_en.nouns_zh()


# Ordinary words for what no action of ours takes as a parameter: the refusal says what can be done instead.
_CANNOT: Final = {
    "planner.manner": re.compile(
        "gently|slowly|softly|quickly|smoothly|quietly|carefully|faster|slower|fast|轻轻地?|慢慢地?|慢点|轻点|快点|小心地?",
        re.IGNORECASE,
    ),
    "planner.vertical": re.compile("up|down|upwards?|downwards?|higher|lower|raise|[向往](?:上|下)", re.IGNORECASE),
}


# Refusals that say that nothing moves, or name an unknown action: no answer to who wants a robot stopped.
_HOW: Final = re.compile(
    r"^\s*(?:how (?!many|much|far)|what (?:do|should|must|can) |where (?:do|can) )|怎么|怎样|如何", re.IGNORECASE
)
_GOES_ON: Final = re.compile(r"\bstill (?:moving|going|driving|running)\b|还在(?:动|走|跑|开)", re.IGNORECASE)
_AT_REST: Final = frozenset(
    (
        "planner.negation",
        "planner.wait",
        "planner.conditional",
        "planner.report",
        "planner.word",
        "planner.manner",
        "planner.vertical",
        "planner.verb",
        "planner.no_verb",
        "planner.headless",
    )
)

_UPWARDS: Final = re.compile(r"\b(?:up|down|upwards?|downwards?|higher|lower)\b", re.IGNORECASE)  # move it 5 cm up
_MY_SIDE: Final = re.compile(
    r"\bmy (?:left|right|side)\b|\b(?:left|right|front|side) of me\b|\b(?:behind|towards?) me\b"
    r"|我的?(?:左|右|前|后|这)[边面侧]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """A question; `failure`: it was a request that could not be parsed, and a question only by its mark."""

    text: str
    failure: NotUnderstood | None = None


def _normal(text: str) -> str:
    """One spelling of each sign; decoration, numbers of a list and a pair of quotes around the whole dropped."""
    text = (
        unicodedata.normalize("NFKC", text[: LIMIT * 8].translate(_CIRCLED))
        .replace("’", "'")
        .replace("´", "'")
        .replace("`", "'")
    )
    text = "".join(c for c in text if c not in lexicon_en.SMALL_TALK).strip()
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and not any(c in text[1:-1] for c in (text[0], text[-1])):
        text = text[1:-1].strip()
    return _unlisted(simplified(text))


_CIRCLED: Final = {0x2460 + n: f"\n{n + 1}. " for n in range(9)}


def _unlisted(text: str) -> str:
    """ "1. … 2. …" and lines with bullets: each item a sentence. Numbers that do not count up from 1 stay."""
    text = re.sub(r"(?m)^[^\S\n]*[-*•]\s+(?=\S)", "\n", text).strip()
    number, found, at = 1, "", 0
    while number <= 9 and (match := _marker(number).search(text, at)):
        if number == 1 and match.start() > 0:
            return text
        found += text[at : match.start()] + ("\n" if number > 1 else "")
        at, number = match.end(), number + 1
    return found + text[at:]


def _marker(number: int) -> re.Pattern[str]:
    """What stands before the item of a list: 1. (1) a) step 1 - 第一步：一、"""
    letter, sign = chr(ord("a") + number - 1), "一二三四五六七八九"[number - 1]
    forms = (
        rf"[(]?{number}[.):、](?!\d)", rf"[(]?{letter}[)]", rf"step {number}\s?[-:.)]?(?![\d.])",
        rf"第{sign}(?:步|项|件)?[,:、]?", rf"{sign}[、:.]",
    )  # fmt: skip
    return re.compile(rf"(?:^|(?<=[\s,;.。；、]))(?:{'|'.join(forms)})\s*(?=\S)", re.IGNORECASE)


def _english(sentences: list[str], vocabulary: Vocabulary, notes: list[str]) -> list[Clause] | QuestionReading:
    """Clauses of all sentences; the text itself when any of it is a question."""
    found: list[Clause] = []
    forbidden: list[str] = []  # "Do not touch the key." before an order
    for sentence in (sentences := english_sequence.joined(sentences)):
        tokens, corrected, doubt = spelling.corrected(english_parser.split(sentence), vocabulary)
        notes += corrected
        if found and english_manners.is_thanks(tokens):
            continue
        if english_parser.is_question(tokens):
            return QuestionReading(" ".join(sentences))
        last = sentence is sentences[-1]
        if not (found or last) and english_prohibitions.EnglishOrderParser(tokens, vocabulary).is_prohibition():
            forbidden += [*tokens, ","]
            continue
        tokens, forbidden = [*forbidden, *tokens], []
        try:
            reader = english_prohibitions.EnglishOrderParser(tokens, vocabulary)
            reader.before = found[-1] if found and tokens[:1] == ["and"] else None
            if found and tokens[-1:] == ["instead"]:  # of which of those before?
                raise NotUnderstood("planner.word", word="instead")
            clauses = reader.clauses()
            if not clauses and reader.tokens:
                raise NotUnderstood("planner.word", word=reader.tokens[0])
            if found and clauses:  # what a later sentence orders comes after all before it
                clauses[0] = replace(clauses[0], then=True)
            found += clauses
        except NotUnderstood as error:
            failure = _protection(error, tokens, vocabulary, found) if found else error
            if failure is not None and "?" in tokens and not english_parser.is_request(tokens):
                return QuestionReading(" ".join(sentences), failure)
            if (
                failure is not None
                and failure.kind == "unknown"
                and doubt is not None
                and not _signal_words(sentence, "en")
            ):
                failure = doubt
            if failure is not None:
                raise failure from None
    if not found:
        raise NotUnderstood("planner.empty", "empty")
    return found


def _protection(
    error: NotUnderstood, tokens: list[str], vocabulary: Vocabulary, found: list[Clause]
) -> NotUnderstood | None:
    """A later sentence of its own may say what to leave alone: "Clear the table. Do not touch the apple." """
    reader = english_prohibitions.EnglishOrderParser(tokens, vocabulary)
    try:
        if reader.protection(True) and reader.at >= len(reader.tokens):
            found[-1] = reader.forbidden.after(replace(found[-1], keep=(*found[-1].keep, *reader.kept)))
            return None
    except NotUnderstood as again:
        return again
    return error


def _chinese(sentences: list[str], vocabulary: Vocabulary, notes: list[str]) -> list[Clause] | QuestionReading:
    found: list[Clause] = []
    forbidden = ""  # 别动钥匙。 before an order
    for typed in (sentences := chinese_manners.joined(sentences)):
        if found and chinese_manners.is_thanks(typed):
            continue
        sentence, corrected = lexicon_zh.corrected(typed)
        notes += corrected
        sentence = chinese_manners.without_manners(sentence)
        if thanks := chinese_manners.for_what_was_done(sentence):
            raise NotUnderstood("planner.report", "report", word=thanks)
        chosen = lexicon_zh.ANY_WILL_DO.search(sentence)
        if chosen and found and not chosen.start():
            found[-1] = found[-1].chosen_freely()
            continue
        sentence = sentence[: chosen.start()] if chosen else sentence
        said = chinese_nouns.split(sentence, vocabulary)
        if chinese_parser.is_question(said):
            return QuestionReading("".join(sentences))
        last = typed is sentences[-1]
        if not (found or last) and chinese_prohibitions.ChineseOrderParser(said, vocabulary, []).is_prohibition():
            forbidden += f"{sentence}，"
            continue
        sentence, forbidden = forbidden + sentence, ""
        try:
            found += _chinese_clauses(sentence, vocabulary, found)
            if chosen and found:
                found[-1] = found[-1].chosen_freely()
        except NotUnderstood as failure:
            if any(w.text in "?？吗" for w in said) and not chinese_parser.is_request(said):
                return QuestionReading("".join(sentences), failure)
            raise
    if not found:
        raise NotUnderstood("planner.empty", "empty")
    return found


def _chinese_clauses(sentence: str, vocabulary: Vocabulary, before: list[Clause]) -> list[Clause]:
    """The clauses; what is not understood is read once more, with ends of names that begin like verbs as nouns."""
    said, kept = chinese_nouns.split(sentence, vocabulary), [*before]
    try:
        return chinese_prohibitions.ChineseOrderParser(said, vocabulary, before).clauses()
    except NotUnderstood as error:
        again = chinese_nouns.split(sentence, bold := vocabulary.with_more_parts())
        if error.kind != "unknown" or again == said or _signal_words(sentence, "zh"):
            raise
        before[:] = kept
        try:
            return chinese_prohibitions.ChineseOrderParser(again, bold, before).clauses()
        except NotUnderstood:
            raise error from None


def _why(error: NotUnderstood, text: str, language: str) -> tuple[str, str, dict[str, str]]:
    """The most specific reason: a sentence that was not understood and is a negation, condition or report is named
    so."""
    read = ("planner.empty", "planner.too_long", "planner.where")  # of an order that is read, only the place is missing
    if error.kind != "unknown" or error.code in read:
        return error.kind, error.code, dict(error.facts)
    said = _signal_words(text, language)
    if not said.get("negation") and (found := _MY_SIDE.search(text)):
        return "ambiguous", "planner.my_side", {"word": found[0]}
    codes = {"negation": "planner.negation", "conditional": "planner.conditional", "report": "planner.report"}
    for kind, code in codes.items():
        if said.get(kind):
            return kind, "planner.wait" if said[kind] in ("wait", "等", "等到") else code, {"word": said[kind]}
    word = str(error.facts.get("word", "")).lower()
    if word.replace(".", "", 1).isdecimal() and (found := _UPWARDS.search(text)):
        return "unknown", "planner.vertical", {"word": found[0]}
    for code, pattern in _CANNOT.items():
        for found in pattern.finditer(text) if word else ():
            near = word.startswith(found[0]) or word in found[0]  # 快点 is cut into 快 and 点
            if found[0].lower().startswith(word) or (language == "zh" and near):
                return "unknown", code, {"word": found[0]}
    return "unknown", error.code, dict(error.facts)


def _signal_words(text: str, language: str) -> dict[str, str]:
    if language == "zh":
        text = chinese_manners.without_manners(text)
        table = lexicon_zh.chinese_lexicon()
        longest = max(map(len, table))
        kinds = {"neg": "negation", "if": "conditional", "past": "report", "question": "conditional"}
        found: dict[str, str] = {}
        at = 0
        while at < len(text):
            size = next((n for n in range(longest, 0, -1) if text[at : at + n] in table), 1)
            for kind, label in kinds.items():
                if kind in table.get(text[at : at + size], ()):
                    found.setdefault(label, text[at : at + size])
            at += size
        return found
    _, tokens = english_manners.requested(english_parser.split(text))  # the "would" of "would you" supposes nothing
    found = {}
    tables = (("negation", lexicon_en.NEGATIONS), ("conditional", lexicon_en.IFS), ("report", lexicon_en.PAST))
    for label, group in tables:
        hit = next((t for t in tokens if t in group), "")
        if hit:
            found[label] = hit
    return found
