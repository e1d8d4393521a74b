"""A parsed question: its topic, and its noun phrases with their sides."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from . import chinese_nouns, lexicon_en, lexicon_zh
from .vocabulary import Vocabulary, Word

# The topic, the first row that fits; "" is a yes or no. A question without row and noun has no answer.
_TOPICS: tuple[tuple[str, str], ...] = (
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
    # what is not so, what lies between, what is more to a side: no answer, rather than one about something else
    ("never", r"\b(not|no|nothing|none|never|neither|nor|without|except|but|other than|apart from)\b|n't\b"),
    ("never", r"^(?!.*(\bhow far\b|\bdistance\b|多远|距离|相距)).*(\bbetween\b|之间|中间)"),
    ("never", r"\b(further|farther|nearer|closer|more) (to (the|your) )?(left|right|forward|front|back|up|down)\b"),
    ("best", r"\b(heaviest|lightest|biggest|largest|smallest|tallest|highest|shortest|longest|nearest|closest|farthest"
     r"|furthest|leftmost|rightmost|topmost|lowest)\b|最"),
    ("compared", r"\b(heavier|lighter|bigger|larger|smaller|taller|shorter|longer|nearer|closer|farther|further)\b"),
    ("compared", r"^(?=.*哪).*(更|较)[重沉轻大小高矮长近远]"),
    ("never", r"更|较"),
    ("far", r"\bhow far\b|\bdistance\b|多远|距离|相距"),
    ("heavy", r"\b(heavy|weighs?|weight|mass)\b|重"),
    ("size", r"\bhow (big|large|tall|high|wide|long|small)\b|\bsizes?\b|多大|多高|多宽|多长|尺寸"),
    ("held", r"\b(holding|carrying|held|in (the )?\S+ (hand|gripper|fingers))\b|拿着|手里|手上|夹爪里|夹着"),
    ("gripper", r"\b(gripper|hand)\b|夹爪|手爪"),
    ("where", r"\bwhere\b|哪里|哪儿|在哪"),
    ("many", r"\bhow many\b|\bcount\b|\bnumber of\b|几|多少"),
    ("colour", r"\b(what|which) colou?rs?\b|\bcolou?r (is|are|has|of)\b|什么颜色|颜色是"),
    ("clear", r"\b(clear|tidy|clean|cleared|tidied|empty)\b|干净|收拾好|整齐|空的|空吗|空着|是空"),
    ("list", r"^(what|which|list|describe|tell|show|what's)\b|\bwhat\b|什么|哪些|哪个"),
)  # fmt: skip
_OR_NOT_ZH = re.compile(r"(.)[不没]\1|了没有?(?=[？?]?$)")  # 是不是, 有没有 deny nothing
_DENIED_ZH = re.compile(r"[不没未非无别]|除|以外|之外")
_PLAIN_ZH = frozenset(
    "是看见到得颜色你您能可以现还在这那里有没否吗呢么什哪儿几个多少谁着了的？?，,。！!请告诉我说中一共总都也很块件只位置处手爪夹拿重大高宽长尺寸干净整齐空收拾好"
    + lexicon_zh.MEASURES
)
_SIDES = ("in", "on", "beside", "left", "right", "front", "behind")
# Asked about every hand: no hand is named.
_ANY_HAND = re.compile(
    r"^(who|which (robots?|arms?))\b|\bheld\b(?! by (you|it)\b)|谁|哪.?(机器人|机械臂|手臂)|被.{0,8}[拿夹]"
)
_ROBOT_ZH = re.compile("哪.?(机器人|机械臂|手臂)|机器人|机械臂|手臂|被(?=[拿夹])")
_SEE = re.compile(r"\b(see|find|spot)\b|看到|看见|看得到|看得见")
_HEAD_EN = re.compile(r"^(can|could|do|would|will) (you|i|we) |^have you( got)? ")
_NEAR = re.compile(r"\b(near|clos|far|further)")
_WHERE = re.compile(r"^where (?:can|could|do|would|will) (?:i|we|you|one) (?:find|see|look for) ")


_CONTAINS = ("contain", "contains", "hold", "holds", "holding", "carrying")


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One noun phrase: its words, the side said with it (in | on | beside), how it was counted."""

    words: tuple[Word, ...]
    side: str = ""
    some: bool = False  # any, a, something, 有…: asked whether such a thing is there at all
    every: bool = False
    text: str = ""
    colour: bool = False  # only a colour, of the thing named before

    @property
    def general(self) -> bool:
        """ "anything": no kind of thing is named."""
        return any("*" in senses for _, senses in self.words)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    topic: str
    parts: tuple[QuestionPart, ...]
    strange: bool = False  # has unknown words
    best: str = ""  # the superlative or comparative that is asked about
    seen: bool = False  # asked whether it can be seen
    any_hand: bool = False  # asked of every hand: "who holds the cube", "is anything held"
    counted: bool = False
    mild: bool = False  # begins like an order to speak ("tell", "say", "have"), so it is a question only if it is known

    def subjects(self) -> list[QuestionPart]:
        return [p for p in self.parts if not p.side and not p.colour]

    def place(self) -> QuestionPart | None:
        return next((p for p in self.parts if p.side), None)

    def colour(self) -> QuestionPart | None:
        return next((p for p in self.parts if p.colour), None)


def parse_question(text: str, vocabulary: Vocabulary, language: str) -> ParsedQuestion:
    low = _WHERE.sub("where is ", " ".join(text.lower().split()))
    topic = next((name for name, pattern in _TOPICS if re.search(pattern, low)), "")
    topic = "never" if _DENIED_ZH.search(_OR_NOT_ZH.sub("", low)) else topic
    parts, strange = _chinese(low, vocabulary) if language == "zh" else _english(low, vocabulary)
    mild = low.split(" ")[0] in lexicon_en.ASK_SPEAK and not _HEAD_EN.match(low)
    any_hand, counted = bool(_ANY_HAND.search(low)), bool(re.search(r"\bhow many\b|几[个件块只]|多少", low))
    parts, mixed = _bare_colours(parts)
    strange = strange or mixed
    return ParsedQuestion(
        topic, tuple(parts), strange, best(low, language), bool(_SEE.search(low)), any_hand, counted, mild
    )


def best(low: str, language: str) -> str:
    """What of the superlatives a question is about, "" for none."""
    if language == "zh":
        words = lexicon_zh.BEST_ZH | lexicon_zh.COMPARED_ZH
        return next((what for word, what in words.items() if word in low), "")
    tokens = re.findall(r"[a-z]+", low)
    return next(
        (
            lexicon_en.BEST.get(t) or lexicon_en.COMPARED[t]
            for t in tokens
            if t in lexicon_en.COMPARED or t in lexicon_en.BEST
        ),
        "",
    )


def _english(low: str, vocabulary: Vocabulary) -> tuple[list[QuestionPart], bool]:
    low = re.sub(r"\b(any|some)(thing|one|body)\b", r"\1 thing", _HEAD_EN.sub("", low))
    low = re.sub(r"\b(everything|nothing)\b", "all things", low)
    low = re.sub(r"(?<!\bwhat)(?<!\bwhere)(?<!\bwho)'s\b", "", low)  # a name's
    tokens = re.findall(r"[\w'\ue000-\uf8ff]+", low)
    found: list[QuestionPart] = []
    at, side, some, every, strange = 0, "", False, False, False
    while at < len(tokens):
        prep = next((p for n in (3, 2, 1) if (p := " ".join(tokens[at : at + n])) in lexicon_en.PREPS), "")
        if prep:
            if prep in ("to", "from") and _NEAR.search(low) and tokens[at + 1 : at + 2] == ["you"]:
                at += 2  # "nearer to you, the mug or the can"
                continue
            side = lexicon_en.PREPS[prep] if lexicon_en.PREPS[prep] in _SIDES else "in"
            at += len(prep.split())
            continue
        words: list[Word] = []
        headed = False
        while at < len(tokens) and (k := vocabulary.english_word(tokens[at])):
            colour = _colour(k)
            if colour and headed:  # "is the can red": said of the can
                break
            headed = headed or not colour
            words += vocabulary.said(tokens[at], k)
            named = vocabulary.named_with(words[-1], tokens[at + 1]) if at + 1 < len(tokens) else frozenset()
            if named:
                words[-1] = (f"{words[-1][0]} {tokens[at + 1]}", named)
            at += 2 if named else 1
        if words:
            said = " ".join(word for word, _ in words)
            found.append(QuestionPart(tuple(words), side, some, every, said, not headed and bool(found)))
            side, some, every = "", False, False
            continue
        some, every = some or tokens[at] in lexicon_en.ASK_SOME, every or tokens[at] in lexicon_en.ASK_EVERY
        strange = strange or tokens[at] not in lexicon_en.ASK_PLAIN
        if tokens[at] in _CONTAINS and found:  # "does the basket contain a cube"; of a robot it is a hand
            found[-1] = replace(found[-1], side="in")
        at += 1
    return found, strange


def _bare_colours(parts: list[QuestionPart]) -> tuple[list[QuestionPart], bool]:
    """A colour alone is asked of all things ("what is red?"), or said of what follows ("which is red, the mug or the
    can?"); True where it may belong to another colour's noun."""
    first = parts[0] if parts else QuestionPart(())
    if not first.words or first.side or not all(_colour(senses) for _, senses in first.words):
        return parts, False
    rest = [part for part in parts[1:] if not part.side]
    if not rest:
        return [replace(first, words=(*first.words, ("things", frozenset("*")))), *parts[1:]], False
    return [replace(first, colour=True), *parts[1:]], any(_colour(k) for part in rest for _, k in part.words)


def _colour(keys: frozenset[str]) -> bool:
    return any(k[:2] == "c:" for k in keys) and not any(k[:2] in ("k:", "i:") for k in keys)


def _chinese(low: str, vocabulary: Vocabulary) -> tuple[list[QuestionPart], bool]:
    found: list[QuestionPart] = []
    words: list[Word] = []
    strange, every = False, bool(re.search("都|所有|全部|全", low))
    exists = bool(re.search(r"有", low))

    def close(side: str = "") -> None:
        if words:
            headed = not all(_colour(senses) for _, senses in words)
            text = "".join(word for word, _ in words)
            found.append(QuestionPart(tuple(words), side, exists and not side, every, text, not headed and bool(found)))
            words.clear()

    for word in chinese_nouns.split(_ROBOT_ZH.sub("", low), vocabulary):
        if word.keys:
            words.extend(vocabulary.said(word.text, word.keys))
            continue
        strange = strange or not (word.kinds or set(word.text) <= _PLAIN_ZH)
        if "de" not in word.kinds:
            close(next((s for s in _SIDES if s in word.kinds), ""))
    close()
    return found, strange
