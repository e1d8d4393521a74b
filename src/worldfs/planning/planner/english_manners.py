"""English manners: the polite words around an order, and the form that its verb takes after them."""

from __future__ import annotations

import re
from typing import Final

_VERY: Final = r"(?:(?:very|really|so|most) )*"
_NICE: Final = (
    r"(?:nice|great|good|lovely|wonderful|kind|helpful|perfect|fantastic|ideal|ok|okay|alright|all right|fine)"
    r"(?: of you)?(?: for you)?"
)
_GLAD: Final = r"(?:happy|glad|grateful|thankful|pleased|delighted|obliged)"
_ASIDE: Final = (
    r"(?:if (?:you would|you could|you can|you please|you do not mind|possible|convenient|you are free|"
    r"you have (?:a moment|a minute|time)|"
    r"it is (?:possible|convenient|ok|okay|alright|all right|no trouble|not too much trouble)(?: with you)?)"
    r"|when(?:ever)? you (?:can|are free|are ready|(?:have|get) (?:a moment|a minute|a second|a chance|time)))"
)
_SURE: Final = r"(?:make sure|be sure|see to it|ensure)(?: that)?"
_REMINDED: Final = r"(?:do not|never) (?:ever )?forget to(?! (?:not|never) )"
# What an order may begin with, and the form of its verb then: base, gerund, past ("if you put", "if you moved"), or a
# thing that is wished for.
_FORMS: Final = tuple(
    (form, re.compile(rf"(?:{pattern}) "))
    for form, pattern in (
        ("base", r"(?:could|can|would|will) you(?: (?:kindly|possibly|please|maybe|perhaps))*"
                 r"(?: be (?:able|willing|(?:so )?(?:kind|good|nice)(?: enough)?) (?:as )?to)?"),
        ("base", r"(?:why do not (?:you|we)|why not|shall we|(?:how|what) about (?:you|we))"),
        ("base", r"(?:could|can|may|might) i (?:ask|trouble|bother) you to"),
        ("base", r"(?:is it possible for you|would it be possible(?: for you)?) to"),  # not "is it ok to"
        ("base", rf"it would be {_VERY}{_NICE} if you (?:could|would)"),
        ("base", rf"i would (?:be {_VERY}{_GLAD}|appreciate it) if you (?:could|would)"),
        ("base", r"i (?:wonder|was wondering|am wondering) (?:if|whether) you (?:could|would|can)"
                 r"(?: (?:maybe|perhaps|please))?"),
        ("base", r"would you like to"),
        ("base", r"do you think you could"),
        ("base", r"i (?:would like|would love|want|need|ask|have to ask|would ask)(?: for)? you to"),
        ("base", r"i need to have you"),
        ("base", r"(?:i (?:think|guess|suppose|believe) )?(?:you|we) (?:should|need to|have to|must|ought to)"),
        ("base", r"(?:i think )?it is time to|your (?:task|job|goal) is to"),
        ("base", r"let us|lets|go ahead and|hurry and|feel free to|proceed to|try to|make sure to|be sure to"),
        ("base", r"(?:tell|ask|have|get|make|let) (?:the )?(?:robot|arm)(?: to)?"),
        ("base", r"remember to|(?:go|come) and|go ahead ,|go(?= (?:get|fetch|grab|take|pick|bring) )"),
        ("base", _REMINDED),
        ("base", r"do me a favou?r(?: and)?|be (?:a dear|an angel) and|be so (?:kind|good) (?:as to|and)"),
        ("base", rf"{_ASIDE} ,"),
        ("base", rf"{_SURE} you(?! (?:are|have|do|can) )"),
        ("end", rf"{_SURE}(?! to )"),
        ("end", r"i (?:want|need|would like|would love)(?= there to be )|let(?= there be )"),
        ("gerund", r"try|(?:start|begin)(?: by)?"),
        ("gerund", r"(?:(?:would|do) you )?mind(?=(?: please| kindly)? [a-z]+ing )|(?:how|what) about"),
        ("past", rf"(?:it would|would it) be {_VERY}{_NICE} if you"),
        ("past", rf"i would (?:be {_VERY}{_GLAD}|appreciate it) if you"),
        ("wish", r"(?:can|could|may|might) i (?:have|get)|i (?:want|would like|need|would love)(?: to have)?"),
        ("wish", r"let me have|would you get"),
    )
)  # fmt: skip
_FIRST: Final = re.compile(
    r"(?:please|kindly|now|yes|ok|okay|(?:hey|hi|hello)(?: there)?|(?:dear )?robot(?: :)?|firstly|first|secondly|"
    r"second|thirdly|third|then|next up|next|finally|lastly|last|just|also|and|afterwards|after that|only|well|so|"
    r"right|alright|all right|actually|simply|step one|step two|step three|good morning|excuse me|sorry|pls|plz|,) "
)
CORRECTING: Final = frozenset(("well", "actually", "sorry"))  # before a noun alone: another one, or that one too?
_CLOSERS: Final = (
    "please|pls|plz|now|right now|thanks a lot|thanks so much|many thanks|thanks|thx|ty|"
    "cheers|thank you very much|thank you so much|thank you|for me|too|as well(?! as )|also|again|immediately|"
    "at once|okay|ok|robot|one by one|one after the other|one at a time|my friend|and nothing else|nothing else|only|"
    "(?:will|would|could|can) you(?: please)?|shall we|would you mind|"
    rf"{_ASIDE}"
)
_TAG: Final = re.compile(
    r" (?:(?:will|would|could|can) you(?: please)?|shall we|please|thanks|for me|would you mind) \? $"
)
_CLOSING: Final = re.compile(rf"(?:, )?(?:{_CLOSERS}) ")
WORDS: Final = frozenset(
    re.findall(
        r"[a-z]+",
        re.sub(r"\(\?:|\\.", " ", " ".join((_FIRST.pattern, _CLOSING.pattern, *(p.pattern for _, p in _FORMS)))),
    )
)


def strip_openers(tokens: list[str]) -> list[str]:
    """Without the greetings and small words that an order begins with."""
    text = " ".join((*tokens, ""))
    at = 0
    while found := _FIRST.match(text, at):
        at = found.end()
    return text[at:].split()


def requested(tokens: list[str]) -> tuple[str, list[str]]:
    """The form of the verb that the polite beginning asks for ("" for no such beginning), and the order itself."""
    form, rest = "", strip_openers(tokens)
    while True:
        text = " ".join((*rest, ""))
        found = [(m.end(), n, kind) for n, (kind, p) in enumerate(_FORMS) if (m := p.match(text))]
        if not found:
            return form, rest
        end, _, kind = max(found, key=lambda one: (one[0], -one[1]))
        form = kind if form in ("", "base") else form
        rest = strip_openers(text[end:].split())


_ASKED: Final = re.compile(
    r"(?:(?:can|could|may|might|will|would|shall|do|is|why|how|what) |mind |i (?:wonder|was wondering|am wondering) )"
)


def asks(tokens: list[str]) -> bool:
    """Is the polite beginning a question by its form, so that its mark asks nothing: "could you …?", "shall we …?"

    After another one it does: "we should put the apple in the basket?"
    """
    return bool(_ASKED.match(" ".join((*strip_openers(tokens), ""))))


def reminds(tokens: list[str]) -> bool:
    """ "Do not forget to put …": an order, though it is said as a prohibition."""
    return bool(re.match(f"{_REMINDED} ", " ".join((*tokens, ""))))


def tagged(tokens: list[str]) -> bool:
    """ "clear the table, would you?": the mark belongs to the politeness."""
    return bool(_TAG.search(" ".join((*tokens, ""))))


_WHICH: Final = r"which(?: (?:one|ones|two))?(?: of them)?"
_ANY_WILL_DO: Final = re.compile(
    rf"(?:[,;-] )?(?:and |but )?(?:i (?:really )?do not (?:care|mind)(?: (?:about )?(?:{_WHICH}|where))?"
    rf"|(?:it )?does not matter(?: to me)? (?:{_WHICH}|where)|no matter {_WHICH}"
    r"|whichever(?: ones?)?(?: (?:you (?:like|want|prefer)|is (?:closer|nearer|easier)))?"
    r"|(?:any|either)(?: (?:one|ones|two|of them))? (?:will do|is fine|is ok|would do|works|will be fine)"
    r"|you choose|your choice|up to you|take your pick) $"
)


def without_choice(tokens: list[str]) -> tuple[list[str], bool]:
    """Without "I don't care which" at the end, and whether that was said."""
    text = " ".join((*tokens, ""))
    found = _ANY_WILL_DO.search(text)
    return (text[: found.start()].split(), True) if found else (tokens, False)


def closing(tokens: list[str]) -> int:
    """How many tokens of thanks and the like these begin with; 0 for none."""
    text = " ".join((*tokens, ""))
    found = _CLOSING.match(text)
    return len(found.group().split()) if found else 0


def is_thanks(tokens: list[str]) -> bool:
    """A sentence of politeness alone: "Thanks a lot!" """
    rest = [token for token in tokens if token not in (",", "!", ".")]
    while rest and (size := closing(rest)):
        rest = rest[size:]
    return not rest


_PARTICIPLES: Final = {
    "put": "put", "set": "set", "took": "take", "taken": "take", "brought": "bring", "gave": "give", "given": "give",
    "got": "get", "held": "hold", "went": "go", "gone": "go", "laid": "lay", "found": "find", "stuck": "stick",
    "slid": "slide", "undone": "undo",
}  # fmt: skip


def base_forms(verbs: frozenset[str]) -> dict[str, dict[str, str]]:
    """Of each first word of a verb: gerund and past, each to its base form."""
    gerunds: dict[str, str] = {}
    pasts = dict(_PARTICIPLES)
    for verb in verbs:
        stems = {verb, verb[:-1] if verb.endswith("e") else verb}
        if len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in "aeiou" and verb[-3] not in "aeiou":
            stems.add(verb + verb[-1])
        if verb.endswith("y") and verb[-2] not in "aeiou":
            pasts[verb[:-1] + "ied"] = verb
        gerunds |= {stem + "ing": verb for stem in stems}
        pasts |= {stem + "ed": verb for stem in stems}
    return {"gerund": gerunds, "past": pasts | {verb: verb for verb in ("put", "set")}}
