"""Instruction to intent: in English or Chinese, every word understood or nothing moves (workspace_protocol.md W14)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Final

from ...ground.model import Profile, Scene
from . import chinese, chinese_nouns, english, english_nouns, say, spelling, words, words_zh
from .answers import answer
from .facts import sane
from .intent import Clause, Intent, NotUnderstood, Question, Refusal
from .meaning import Before, Meaning, never
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
) -> Intent:
    """What is asked, by a grammar that must consume every word.

    Negations, conditions, reports and whatever is not fully understood are a Refusal; questions a Question. A double
    negation ("don't forget to clear the table") is a Refusal as well: scope is never guessed. A misspelt word is read
    as the one known word that it can be, and the note says so. `before` tells the scene before the last instruction,
    for undo; `profile` and `robot_id` what may be suggested to what is refused, if `suggest`.
    """
    text, scene = _normal(instruction), sane(scene)
    language = "zh" if _ZH.search(text) else "en"

    def can() -> tuple[str, ...]:
        from .suggest import suggestions  # which reads its own sentences with this function

        return suggestions(scene, language, profile, robot_id)

    try:
        if not text:
            raise NotUnderstood("empty", "empty")
        if len(text) > LIMIT:
            raise NotUnderstood("too_long", size=str(len(text)), limit=str(LIMIT))
        stop = next((c for c in text if c in words.STOP_SIGNS and not c.isspace()), "")
        if stop:
            raise NotUnderstood("negation", "negation", word=stop)
        vocabulary = Vocabulary(scene)
        sentences = [s for s in (part.strip(" ,，") for part in _SENTENCE.split(text)) if s]
        if not sentences or " ".join(sentences).lower() in words.GREETINGS:
            raise NotUnderstood("empty", "empty")
        notes: list[str] = []
        read = _chinese if language == "zh" else _english
        found = read(sentences, vocabulary, notes)
        if isinstance(found, Asked):
            told = answer(found.text, scene, language, can)
            denied = found.failure is not None and "negation" in _signal_words(text, language)
            if found.failure is not None and (denied or not told):
                raise found.failure
            return Question(instruction, language, told or say.reason("untold", language), bool(told))
        intent = Meaning(scene, vocabulary, language, before).command(found, instruction)
        return replace(intent, note="; ".join(filter(None, (*notes, intent.note)))) if notes else intent
    except NotUnderstood as error:
        kind, key, facts = _why(error, text, language)
        if key == "verb" and facts.get("word") == "…":
            key = "no_verb"
        facts["said"] = text if len(text) <= 60 else text[:59] + "…"
        facts.setdefault("here", say.names([t.id for t in (*scene.objects, *scene.furniture)], scene, language))
        return Refusal(say.reason(key, language, **facts), can() if suggest else (), language, kind, instruction)


# Ordinary words for what no action of ours takes as a parameter: the refusal says what can be done instead.
_CANNOT: Final = {
    "manner": re.compile(
        "gently|slowly|softly|quickly|smoothly|quietly|carefully|faster|slower|fast|轻轻地?|慢慢地?|慢点|轻点|快点|小心地?",
        re.IGNORECASE,
    ),
    "vertical": re.compile("up|down|upwards?|downwards?|higher|lower|raise|[向往](?:上|下)", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question; `failure`: it was a request that nobody could read, and a question only by its mark."""

    text: str
    failure: NotUnderstood | None = None


def _normal(text: str) -> str:
    """One spelling of each sign; decoration, numbers of a list and a pair of quotes around the whole dropped."""
    text = unicodedata.normalize("NFKC", text[: LIMIT * 8]).replace("’", "'").replace("´", "'").replace("`", "'")
    text = "".join(c for c in text if c not in words.SMALL_TALK).strip()
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and not any(c in text[1:-1] for c in (text[0], text[-1])):
        text = text[1:-1].strip()
    return _unlisted(words_zh.simplified(text))


def _unlisted(text: str) -> str:
    """ "1. … 2. …" and lines with bullets: each item a sentence. Numbers that do not count up from 1 stay."""
    text = re.sub(r"(?m)^\s*[-*•]\s+(?=\S)", "\n", text).strip()
    number, found, at = 1, "", 0
    while match := re.compile(rf"(?:^|(?<=[\s,;.，。；、]))[(]?{number}[.):、](?!\d)\s*(?=\S)").search(text, at):
        if number == 1 and match.start() > 0:
            return text
        found += text[at : match.start()] + ("\n" if number > 1 else "")
        at, number = match.end(), number + 1
    return found + text[at:]


def _english(sentences: list[str], vocabulary: Vocabulary, notes: list[str]) -> list[Clause] | Asked:
    """Clauses of all sentences; the text itself when any of it is a question."""
    found: list[Clause] = []
    for sentence in sentences:
        tokens, corrected = spelling.corrected(english.split(sentence), vocabulary)
        notes += corrected
        if english.is_question(tokens):
            return Asked(" ".join(sentences))
        try:
            reader = english.English(tokens, vocabulary)
            clauses = reader.clauses()
            if not clauses and reader.tokens:
                raise NotUnderstood("word", word=reader.tokens[0])
            found += clauses
        except NotUnderstood as error:
            failure = _protection(error, tokens, vocabulary, found) if found else error
            if failure is not None and "?" in tokens:
                return Asked(" ".join(sentences), failure)
            if failure is not None:
                raise failure from None
    if not found:
        raise NotUnderstood("empty", "empty")
    return found


def _protection(
    error: NotUnderstood, tokens: list[str], vocabulary: Vocabulary, found: list[Clause]
) -> NotUnderstood | None:
    """A later sentence of its own may say what to leave alone: "Clear the table. Do not touch the apple." """
    reader = english.English(tokens, vocabulary)
    try:
        if reader.protection(True) and reader.at >= len(reader.tokens):
            found[-1] = english.with_kept(found[-1], tuple(reader.kept))
            return None
    except NotUnderstood as again:
        return again
    return error


def _chinese(sentences: list[str], vocabulary: Vocabulary, notes: list[str]) -> list[Clause] | Asked:
    found: list[Clause] = []
    for typed in sentences:
        sentence, corrected = words_zh.corrected(typed)
        notes += corrected
        said = chinese_nouns.split(sentence, vocabulary)
        if chinese.is_question(said):
            return Asked("".join(sentences))
        try:
            found += chinese.Chinese(said, vocabulary, found).clauses()
        except NotUnderstood as failure:
            if any(w.text in "?？吗" for w in said):
                return Asked("".join(sentences), failure)
            raise
    if not found:
        raise NotUnderstood("empty", "empty")
    return found


def _why(error: NotUnderstood, text: str, language: str) -> tuple[str, str, dict[str, str]]:
    """The truest reason: a sentence that was not understood and denies, supposes or reports is named so."""
    if error.kind != "unknown" or error.key in ("empty", "too_long"):
        return error.kind, error.key, dict(error.facts)
    said = _signal_words(text, language)
    for kind in ("negation", "conditional", "report"):
        if said.get(kind):
            return kind, kind, {"word": said[kind]}
    word = str(error.facts.get("word", "")).lower()
    for key, pattern in _CANNOT.items():
        for found in pattern.finditer(text) if word else ():
            if found[0].lower().startswith(word):  # in Chinese a word that nobody knows is one sign
                return "unknown", key, {"word": found[0]}
    return "unknown", error.key, dict(error.facts)


def _signal_words(text: str, language: str) -> dict[str, str]:
    if language == "zh":
        table = words_zh.chinese()
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
    tokens = english_nouns.strip_openers(english.split(text))
    tokens = tokens[len(english.requested(tokens).split()) :]  # the "would" of "would you" supposes nothing
    found = {}
    tables = (("negation", words.NEGATIONS), ("conditional", words.IFS), ("report", words.PAST))
    for label, group in tables:
        hit = next((t for t in tokens if t in group), "")
        if hit:
            found[label] = hit
    return found
