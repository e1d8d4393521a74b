"""What is said in another order than it is done: "before you do B, do A", "do B after doing A"."""

from __future__ import annotations

import re

from . import lexicon_en

_FIRST = re.compile(r"(before|after|once) (.+?) , (.+)", re.DOTALL)
_LATER = re.compile(r"(.+?) (?:, )?(before|after|once) (.+)", re.DOTALL)
_FIRST_OF_ALL = re.compile(
    r"(.+?) ?, but (?:first|before (?:that|(?:you do|doing) (?:that|so|it))) ?,? ?(.+)", re.DOTALL
)
_UNCLEAR = re.compile(r"\b(?:then|first|before|after|once|next|it|them|they|one|ones|there)\b")
# What continues the sentence before: "not the blue one", "the key too".
_TOO = re.compile(r"(?:and )?(\w+) .*(?:too|also|as well)(?:,? (?:please|thanks|thank you))?[.!]?", re.DOTALL)
_SHALL = re.compile(rf" {lexicon_en.SHALL} ")
_SUBJECT = re.compile(r"(?:you (?:have |are done |are finished |finish )?|having )?")


def in_order(tokens: list[str]) -> list[str]:
    """The tokens in the order of doing; as they are where either half is no order ("before the apple")."""
    said = " ".join(tokens)
    denied = not lexicon_en.NEGATIONS.isdisjoint(tokens)
    if not denied and (found := _FIRST_OF_ALL.fullmatch(said)):
        main, aside = found.groups()
        deed = [] if _UNCLEAR.search(f"{main} {aside}") else _deed(aside.split())
        return [*deed, "then", *main.split()] if deed else tokens
    if denied or sum(token in ("before", "after", "once") for token in tokens) != 1:
        return tokens
    if found := _FIRST.fullmatch(said):
        word, aside, main = found.groups()
    elif found := _LATER.fullmatch(said):
        main, word, aside = found.groups()
    else:
        return tokens
    deed = _deed(aside.split())
    if not deed:
        return tokens
    one, two = (main.split(), deed) if word == "before" else (deed, main.split())
    return [*one, "then", *(two[1:] if two[:1] == ["then"] else two)]


def joined(sentences: list[str]) -> list[str]:
    """The sentences; what only continues the one before follows it after a comma."""
    found: list[str] = []
    for sentence in sentences:
        said = sentence.lower()
        too = _TOO.fullmatch(said)
        continues = said.startswith("not ") or (
            too and too[1] not in lexicon_en.FIRST_VERBS and not _SHALL.search(said)
        )
        if found and continues and found[-1][-1] not in "?？":
            found[-1] = f"{found[-1]}, {sentence}"
        else:
            found.append(sentence)
    return found


def _deed(tokens: list[str]) -> list[str]:
    """What is done, with its verb in the base form; [] where it begins with no verb of ours."""
    said = " ".join((*tokens, ""))
    subject = _SUBJECT.match(said)
    rest = said[subject.end() if subject else 0 :].split()
    if not rest:
        return []
    forms = lexicon_en.base_forms()
    base = forms["gerund"].get(rest[0]) or forms["past"].get(rest[0]) or rest[0]
    return [base, *rest[1:]] if base in lexicon_en.FIRST_VERBS else []
