"""A parsed question: its topic, and its noun phrases with their sides. A question is read whole, or not at all."""

from __future__ import annotations

# a row of a table stays on its line, and a Chinese sign counts for two
# ruff: noqa: E501
import re
from dataclasses import dataclass, field, replace
from typing import Final

from worldfs.base.word_forms import is_chinese

from . import lexicon_en, lexicon_zh
from .chinese_nouns import ChineseNounParser
from .chinese_nouns import split as split_chinese
from .english_nouns import EnglishNounParser
from .english_parser import split as split_english
from .intent import NotUnderstood, NounPhrase
from .phrase_heads import is_colour
from .question_forms import KNOWN, form_of
from .vocabulary import Vocabulary, Word

# What is looked for before the form: "never" has no answer, rather than one about something else.
_FIRST: Final = (
    ("can", r"^(what|which|how) .*\b(can|could|may) (you|i)\b(?!.* (see|put in))|what do you (know|understand)|\bhelp\b"
     r"|\bhow to\b|\bhow (do|should|would) (you|i|we)\b|who are you|what are you\b(?! (holding|doing|carrying))"),
    ("can", r"你(都)?(会|能)(做|干)?(些)?什么|^帮助我?$|会什么|能做什么|你是谁"),
    ("never", r"\b(am i|i am|are we|we are|do (i|we))\b.{0,24}\b(hold|carry)|\b(my|our) (hand|gripper|fingers)"
     r"|(?<!告诉)(?<!给)[我他她]们?(的|现在|正在|正|是否|是不是)*(手|拿|夹)"
     r"|(另|别的|其他|其它).{0,3}(机器人|机械臂|手臂|手)"),
    ("held", r"^(who|which (robots?|arms?))\b.*\b(holds?|holding|held|has|have|got|carrying|carries)\b"
     r"|(谁|哪.?(机器人|机械臂|手臂)).{0,12}(拿|夹|手里|手上)|(手里|手上|夹爪里).{0,6}谁|被.{0,8}[拿夹]|在(谁|哪.?(机器人|机械臂|手臂))的?(手|夹爪)"),
    ("never", r"^(why|when|who|whose|did|was|were|should|shall|may|might|would|will|has|what (would|if|happen))\b"),
    ("never", r"为什么|为何|什么时候|刚才|该不该|要不要|怎么|怎样|谁"
     r"|(能|可以)够?(不能|不可以)?(放|装|摆|塞|拿|抓|夹|叠|堆|搬|移|推|进)|[放装摆塞]得[下进]"),
    ("never", r"\b(not|no|nothing|none|never|neither|nor|without|except|but|other than|apart from)\b|n't\b"),
    ("never", r"^(?!.*(\bhow far\b|\bdistance\b|多远|距离|相距)).*(\bbetween\b|之间|中间)"),
)  # fmt: skip
_OR_NOT_ZH = re.compile(r"(.)[不没]\1|了没有?(?=[？?]?$)")  # 是不是, 有没有 deny nothing
_DENIED_ZH = re.compile(r"[不没未非无别]|除|以外|之外")
_SIDES = ("in", "on", "beside", "left", "right", "front", "behind")
# Asked about every hand: no hand is named.
_ANY_HAND = re.compile(
    r"^(who|which (robots?|arms?))\b|\bheld\b(?! by (you|it)\b)|谁|哪.?(机器人|机械臂|手臂)|被.{0,8}[拿夹]"
)
_ROBOT_ZH = re.compile("哪.?(机器人|机械臂|手臂)|机器人|机械臂|手臂|被(?=[拿夹])")
_HEAD_EN = re.compile(r"^(can|could|do|would|will) (you|i|we) |^have you( got)? ")
_WHERE = re.compile(r"^where (?:can|could|do|would|will) (?:i|we|you|one) (?:find|see|look for) ")
_SEE: Final = re.compile(
    r"^(?:(?:can|could|do) (?:you|we|i) (?:see|find|spot|have)|have you(?: got)?)(?! (?:to|put|taken|picked|seen)\b)"
)
_I_HAVE: Final = re.compile(r"\b(?:i have|have i got)\b")
_OF_NAME: Final = re.compile("([\ue000-\uf8ff])'s")
# Said around a question, and nothing of what is asked.
_FILL_EN: Final = re.compile(
    r"^(?:(?:please|kindly|hey|hi|hello|ok|okay|robot|and|so|(?:can|could|would|will) you(?: please)?(?= (?:tell|list|"
    r"describe|show|count) )|tell me(?! about)|do you know(?= (?:where|what|how|which))),? )+|\b(?:please|now|currently|"
    r"still|right now|at the moment|in total|altogether|in the scene)\b"
)
_FILL_ZH: Final = re.compile(
    r"^(?:请问|请|麻烦|你?(?:能|可以)?告诉我|你知道|我想知道)+|现在|目前|当前|此刻|总共|一共|共有(?=几|多少)|场景[里中]|这里|这儿|还(?=在)"
)
_END_ZH: Final = frozenset("吗呢啊呀？?。！! ")
_SAME_ZH: Final = (
    (re.compile("有没有|是不是有|是否有|(?:你|您)?(?:能|可以|能够)?(?:看到|看见|看得到|看得见)了?"), "有"),
    (re.compile("是不是|是否"), "是"), (re.compile("在不在"), "在"), (re.compile("夹爪|手爪"), "手"), (re.compile("^[你您]"), ""),
    (re.compile("(?:更|较|比较)([重沉轻大小高矮长近远])$"), r"\1"), (re.compile("几个|几(?=[本只条块把支枝张件根颗片枚台辆顶朵])"), "几个"),
)  # fmt: skip
_SIZE_ZH: Final = {
    "重": "heaviest",
    "沉": "heaviest",
    **lexicon_zh.SIZES_ZH,
    "轻": "lightest",
    "近": "nearest",
    "远": "farthest",
}
_MEASURES: Final = frozenset(lexicon_zh.MEASURES + "样") - frozenset("种双对副串套份层堆")  # of single things
_NO_NOUN: Final = lexicon_en.QUESTIONS - {"a"} | {"it", "them", "they", "there", "here", "each"}
# Words that a noun phrase of an order reads, and a question does not: which others, and how few, it does not tell.
_UNREAD: Final = frozenset(
    ("only", "just", "either", "exactly", "else", "other", "others", "another", "rest", "remaining", "non", "whatever",
     "whichever", "also", "too", "alone", "second", "third")
)  # fmt: skip
_READ_EN: Final = KNOWN | lexicon_en.FUNCTION | _UNREAD | lexicon_en.NUMBERS.keys()
_NO_THING: Final = frozenset(
    ("room", "space", "place", "way", "time", "chance", "reason", "problem", "danger", "risk", "point", "need", "news")
)
_NO_THING_ZH: Final = re.compile("空间|地方|办法|时间|机会|原因|问题|危险|风险|必要|可能|消息|意见|意思")
_UNREAD_ZH: Final = re.compile(
    "只(?=有|在|是)|仅|还有|另|其他|其它|其余|别的|剩|第[一二三四五六七八九十]|正好|恰好|至少|至多|刚好|大部分|多数|又|再"
)


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One noun phrase, and the side said with it (in | on | beside | left …)."""

    noun: NounPhrase
    side: str = ""
    colour: bool = False  # only a colour, that a thing may have
    within: tuple[QuestionPart, ...] = ()  # places that tell which is meant
    some: bool = False  # any, a, something, 有…: asked whether such a thing is there at all

    @property
    def general(self) -> bool:
        """ "anything": no kind of thing is named."""
        return any("*" in senses for _, senses in self.noun.words)

    @property
    def every(self) -> bool:
        return self.noun.quantity == "all"


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """`unread`: a word that no form of a question reads; the topic is "" then."""

    topic: str
    parts: tuple[QuestionPart, ...] = ()
    best: str = ""  # the superlative or comparative that is asked about
    any_hand: bool = False  # asked of every hand: "who holds the cube", "is anything held"
    counted: bool = False
    mild: bool = False  # begins like an order to speak ("tell", "say", "have"), so it is a question only if it is known
    unread: str = ""
    state: str = ""  # open | closed, of a thing that is asked whether it is so

    def subjects(self) -> list[QuestionPart]:
        return [p for p in self.parts if not p.side and not p.colour]

    def place(self) -> QuestionPart | None:
        return next((p for p in self.parts if p.side), None)

    def colour(self) -> QuestionPart | None:
        return next((p for p in self.parts if p.colour), None)


@dataclass(slots=True)
class _Written:
    """A question in symbols, and the parts that they stand for."""

    symbols: list[str] = field(default_factory=list)
    parts: list[QuestionPart] = field(default_factory=list)
    best: str = ""

    def add(self, noun: NounPhrase, side: str = "") -> None:
        colour = not side and bool(noun.words) and all(map(is_colour, noun.words))
        self.parts.append(QuestionPart(noun, side, colour))
        self.symbols.append("P" if side else "C" if colour else "M" if noun.best else "N")


def parse_question(text: str, vocabulary: Vocabulary, language: str) -> ParsedQuestion:
    low = _WHERE.sub("where is ", " ".join(text.lower().split()))
    first = next((name for name, pattern in _FIRST if re.search(pattern, low)), "")
    first = "never" if _DENIED_ZH.search(_OR_NOT_ZH.sub("", low)) else first
    mild = low.split(" ")[0] in lexicon_en.ASK_SPEAK and not _HEAD_EN.match(low)
    if first in ("never", "can"):
        return ParsedQuestion(first, mild=mild)
    written = _chinese(low, vocabulary) if language == "zh" else _english(low, vocabulary)
    topic, how = form_of(" ".join(written.symbols), language)
    if topic == "so" and "都" in written.symbols:
        written.parts = [
            p if p.side or p.colour else replace(p, noun=replace(p.noun, quantity="all")) for p in written.parts
        ]
    if not topic or (first == "held" and topic != "held") or not _fits(written.parts, topic):
        unread = next((s for s in written.symbols if s.isalnum() and not s.isupper() and s not in KNOWN), "")
        return ParsedQuestion("", unread=unread, mild=mild)
    if _I_HAVE.search(low) and not any(not p.side for p in written.parts):  # what do I have?
        return ParsedQuestion("never")
    if _I_HAVE.search(low):
        written.parts = [p if p.side else replace(p, noun=replace(p.noun, owner="my")) for p in written.parts]
    counted = bool(re.search(r"\bhow many\b|几|多少", low))
    any_hand = bool(_ANY_HAND.search(low))
    state = next((one for one in ("open", "closed") if one in how), "")
    return ParsedQuestion(topic, _used(written.parts, topic, how), written.best, any_hand, counted, mild, state=state)


def _fits(parts: list[QuestionPart], topic: str) -> bool:
    """A number is counted only of the one thing that is asked about."""
    counts = [p for p in parts if p.noun.count]
    return not counts or (topic == "so" and len(counts) == 1 and not counts[0].side and len(parts) <= 2)


def _used(parts: list[QuestionPart], topic: str, how: frozenset[str]) -> tuple[QuestionPart, ...]:
    """The parts in the roles that the form gives them."""
    if "some" in how:
        parts = [replace(p, some=not (p.side or p.colour)) for p in parts]
    if "inside" in how:
        at = len(parts) - 1 if topic == "many" else 0
        parts = [replace(p, side="in") if n == at else p for n, p in enumerate(parts)]
    if "of" in how:
        places = tuple(p for p in parts if p.side)
        parts = [p if p.colour else replace(p, within=places) for p in parts if not p.side]
    if "general" in how:  # "is anything red in the basket?"
        thing, colour, place = parts
        noun = replace(thing.noun, words=(*colour.noun.words, *thing.noun.words))
        parts = [replace(thing, noun=noun), place] if thing.general else []
    return tuple(parts)


def _english(low: str, vocabulary: Vocabulary) -> _Written:
    low = re.sub(r"\b(any|some)thing\b", r"\1 thing", low)
    low = re.sub(r"\beverything\b", "all things", low)
    low = re.sub(r"\bcolou?rs?\b", "colour", low)
    low = re.sub(r"\b(?:can|could|do) (?:you|we|i) (?:see|find|have)\b", "do you see", _FILL_EN.sub("", low))
    low = _OF_NAME.sub(r"\1 s", _SEE.sub("is there", low))
    tokens = split_english(low)
    tokens = [t for t in tokens if t not in ("?", ",", ".", "!", '"')]
    for n, t in enumerate(tokens):
        if t == "'s":  # else a robot's
            tokens[n] = "is" if tokens[n - 1] in ("what", "where", "who", "which", "how", "there") else "s"
    reader, written = EnglishNounParser(tokens, vocabulary), _Written()
    while reader.at < len(reader.tokens):
        if colour := _said_colour(reader, written.symbols):
            written.add(colour)
            continue
        mark = reader.at
        prep = reader.phrase(lexicon_en.PREPS)
        side = lexicon_en.PREPS.get(prep, "")
        if noun := _english_noun(reader):
            nearer = prep == "to" and written.symbols[-1:] == ["MORE"]
            if prep and side not in _SIDES:
                written.symbols += prep.split()
            written.add(noun, side if side in _SIDES else "")
            if nearer:
                written.parts[-1] = replace(written.parts[-1], side="to")
            continue
        if written.symbols == ["is", "there"] and (noun := _unknown_noun(reader)):
            written.add(noun)
            continue
        reader.at = mark + 1
        word = {"are": "is", "does": "do"}.get(reader.tokens[mark], reader.tokens[mark])
        if word in lexicon_en.COMPARED:
            written.best, word = lexicon_en.COMPARED[word], "MORE"
        written.symbols.append(word)
    return written


def _english_noun(reader: EnglishNounParser) -> NounPhrase | None:
    """The noun phrase here; None, and nothing consumed, for none that a question reads. A colour after the noun is said
    of it ("is the can red")."""
    mark, tokens = reader.at, reader.tokens
    if reader.ahead() in _NO_NOUN | _UNREAD or not reader.noun_here():
        return None
    try:
        noun = replace(reader.noun(), portion="")  # "is there some bread?" asks for any of it
    except NotUnderstood:
        noun = NounPhrase("", pronoun=True)
    said = reader.tokens[mark : reader.at]
    if not _is_read(noun) or not _UNREAD.isdisjoint(said):
        reader.at, reader.tokens = mark, tokens
        return None
    words, end = list(noun.words), reader.at
    while len(words) > 1 and said[end - mark - 1] == words[-1][0] and _colours(words[-1]):
        if all(map(is_colour, words[:-1])):  # the red orange
            break
        words.pop()
        end -= 1
    if end < reader.at:
        text = " ".join(reader.tokens[mark:end])
        noun, reader.at = replace(noun, words=tuple(words), text=text), end
    return noun


def _unknown_noun(reader: EnglishNounParser) -> NounPhrase | None:
    """ "A hammer" of "is there a hammer?": a noun that no list and no name has, consumed; None for anything else."""
    mark = reader.at
    if reader.phrase(("a", "an", "any")):
        start = reader.at
        while _is_unknown(reader.ahead(), reader):
            reader.at += 1
        said = reader.tokens[start : reader.at]
        if said and not _NO_THING.intersection(said) and reader.vocabulary.english_word(reader.ahead()) is None:
            words = tuple((word, frozenset((f"w:{word}",))) for word in said)
            return NounPhrase(" ".join(said), words, "any", plural=said[-1].endswith("s"))
    reader.at = mark
    return None


def _is_unknown(word: str, reader: EnglishNounParser) -> bool:
    known = reader.vocabulary.english_word(word) is not None or reader.vocabulary.closest_word(word)
    return word.isalpha() and word.isascii() and not known and word not in _READ_EN


def _colours(word: Word) -> frozenset[str]:
    return frozenset(sense for sense in word[1] if sense[:2] == "c:")


def _said_colour(reader: EnglishNounParser, before: list[str]) -> NounPhrase | None:
    """A colour that is said of a thing: right after it, or after "is" without an article ("which is orange")."""
    word = reader.ahead()
    colours = _colours((word, reader.vocabulary.english_word(word) or frozenset()))
    alone = before[-1:] == ["is"] and reader.ahead(1) in ("", "or", "and", *lexicon_en.THE)
    if not colours or not (alone or before[-1:] in (["N"], ["M"], ["P"])):
        return None
    reader.at += 1
    return NounPhrase(word, ((word, colours),))


def _is_read(noun: NounPhrase) -> bool:
    """Whether a question looks at all that the phrase says: it has no pronouns, and leaves nothing out."""
    return noun == NounPhrase(
        noun.text, noun.words, noun.quantity, noun.count, noun.plural, at=noun.at, best=noun.best, best_of=noun.best_of,
        side_word=noun.side_word, size_word=noun.size_word, of_two=noun.of_two, being=noun.being, pair=noun.pair, pack=noun.pack,
        portion=noun.portion, owner=noun.owner,
    )  # fmt: skip


def _chinese(low: str, vocabulary: Vocabulary) -> _Written:
    low = _FILL_ZH.sub("", low)
    while low[-1:] in _END_ZH or (low[-1:] == "么" and low[-2:-1] not in "什怎"):
        low = low[:-1]
    for pattern, same in _SAME_ZH:
        low = pattern.sub(same, low)
    written = _Written()
    if found := _UNREAD_ZH.search(low):
        written.symbols.append(found[0])
        return written
    reader, known = ChineseNounParser(split_chinese(low, vocabulary), vocabulary), True
    while reader.at < len(reader.words):
        word = reader.here()
        if word.text in ("在", "于") and _chinese_noun_ahead(reader, 1):
            reader.at += 1
            word = reader.here()
        mark = reader.at
        noun = _chinese_noun(reader)
        if noun is not None:
            here = reader.at
            reader.take("de")
            side = next((s for s in _SIDES if s in reader.here().kinds), "")
            reader.at = reader.at + 1 if side else here
            written.add(noun, side)
            known = True
            continue
        reader.at = mark + 1
        if word.text in _SIZE_ZH and reader.at >= len(reader.words):
            written.best = _SIZE_ZH[word.text]
            written.symbols.append("MORE")
            continue
        text = {"几个": "几", "哪": "哪个"}.get(word.text, word.text) if reader.at < len(reader.words) else word.text
        if written.symbols[-1:] == ["有"] and (noun := _unknown_noun_zh(reader, mark)):
            written.add(noun)
            continue
        known, before = bool(word.kinds or word.keys or text in KNOWN), known
        if not (known or before):  # 易碎: one word that is not known
            written.symbols[-1] += text
            continue
        written.symbols.append(text)
        reader.at += text in ("几", "多少", "哪个") and reader.here().text in _MEASURES
    return written


def _unknown_noun_zh(reader: ChineseNounParser, at: int) -> NounPhrase | None:
    """锤子 of 有锤子吗: the rest of the question, where its first word is not known, none of it is grammar, and none of
    it names a thing of the scene: 塑杯子, where a 杯子 is."""
    rest = reader.words[at:]
    said = "".join(word.text for word in rest)
    plain = not rest[0].keys and len(said) > 1 and is_chinese(said) and not _NO_THING_ZH.search(said)
    if not plain or any(word.kinds or word.text in KNOWN or word.text in reader.vocabulary.marks for word in rest):
        return None
    reader.at = len(reader.words)
    return NounPhrase(said, ((said, frozenset((f"w:{said}",))),))


def _chinese_noun_ahead(reader: ChineseNounParser, n: int) -> bool:
    reader.at += n
    found = reader.noun_here()
    reader.at -= n
    return found


def _chinese_noun(reader: ChineseNounParser) -> NounPhrase | None:
    mark = reader.at
    if not reader.noun_here() or reader.here().text == "手":  # of the robot, whatever gloves there are
        return None
    try:
        noun = reader.noun()
    except NotUnderstood:  # 托盘上的是什么: what is there has no name
        words: list[Word] = []
        reader.at = mark
        while (word := reader.here()).keys:
            words += reader.vocabulary.said(word.text, word.keys)
            reader.at += 1
        noun = NounPhrase("".join(text for text, _ in words), tuple(words), pronoun=not words)
    if not _is_read(noun):
        reader.at = mark
        return None
    return noun
