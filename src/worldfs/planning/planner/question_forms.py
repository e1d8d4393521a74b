"""The forms of questions: tables of what may be asked, with symbols for the noun phrases. No other word fits.

`N` is a noun phrase, `M` one with a superlative, `P` a place ("in the basket", 篮子里), `C` a colour alone, `MORE` a
comparative; every other word is itself. A form must fit the whole question, so no word of it is passed over.
"""

from __future__ import annotations

import re
from typing import Final

from . import lexicon_en, lexicon_zh

# a row of a table stays on its line, and a Chinese sign counts for two
# ruff: noqa: E501

_THING: Final = "[NM]"
_LIST: Final = f"{_THING}(?:(?: {_THING})* and {_THING})?"
_LIST_ZH: Final = f"{_THING}(?:(?: 、 {_THING})* (?:和|与|跟|以及|及) {_THING})?"
_NOW: Final = "(?: there| here)?"
_THAT: Final = "(?: (?:that|which) is)?"
_SEE: Final = "do you see"
_INSIDE: Final = "(?: (?:in|inside)(?: (?:it|them))?)?"
_SIZES: Final = "(?:big|large|tall|high|wide|long|small)"
_EMPTY: Final = "(?:clear|clean|tidy|empty|cleared|tidied)"
_WHAT_ZH: Final = "(?:什么|哪些|哪个|啥)"
_WHERE_ZH: Final = "(?:哪里|哪儿|哪个|哪|什么 (?:地方|位置))"
_MANY_ZH: Final = "(?:几|几个|多少)"
_IS_ZH: Final = "(?: 都)?(?: 是)?"

# Topic and form. Before a colon, how the parts are used: `of` a place tells which thing is meant; `some` asks whether
# there is such a thing; `inside` the first noun is the place; `open`, `closed` what it is asked to be.
_EN: Final = (
    ("where", rf"(?:show me )?where is {_LIST}(?: located)?|where {_LIST} is(?: located)?"),
    ("of:where", rf"where is N{_THAT} P|where N P is"),
    ("where", rf"what is {_LIST}(?: (?:standing|lying|resting|sitting))? (?:on|in|inside)"),
    ("some:so", rf"is there {_LIST}{_NOW}|is {_LIST} (?:there|here)"),
    ("some:so", rf"is there {_LIST} P{_NOW}|is there N{_THAT}(?: P| C){_NOW}|is there{_NOW} P N"),
    ("of,some:so", rf"is there N{_THAT} P{_THAT} C"),
    ("so", rf"is {_LIST}(?: (?:located|lying|standing|sitting))? P|is {_LIST} C"),
    ("of:so", rf"is N{_THAT} P C"),
    ("general:so", r"is N C P"),
    ("inside:so", rf"do {_THING} (?:contain|hold|have|have got) {_LIST}{_INSIDE}"),
    ("inside:so", rf"is {_THING} (?:holding|carrying|containing) {_LIST}{_INSIDE}"),
    ("list", r"what is(?: there)? P|(?:what|which)(?: one)?(?: (?:of )?N)? is(?: there)? (?:P|C)|what is C P"),
    ("list", rf"what(?: N)? {_SEE}(?: P)?|(?:what|which) N is(?: there| here)"),
    ("list", r"what is(?: there| here)|what P is there"),
    ("list", rf"(?:which|what)(?: one)? is C {_THING} or {_THING}"),
    ("list", rf"(?:list|describe|show me|show) {_LIST}|(?:list|describe|show me|show) N P|what P is|what is N"),
    ("inside:list", rf"what do {_THING} (?:contain|hold|have|have got){_INSIDE}|what is {_THING} (?:holding|carrying|containing){_INSIDE}"),
    ("inside:holder", rf"(?:which|what) N (?:has|have|holds?|contains?|is holding|is containing) {_LIST}{_INSIDE}"),
    ("inside:holder", rf"(?:which|what) N is {_LIST} in(?:side)?|in which N is {_LIST}"),
    ("many", rf"how many (?:of )?{_LIST}(?: is)?{_NOW}|how many (?:of )?N(?: is)?{_NOW}(?: P| C)|how many N P is there"),
    ("many", rf"how many {_LIST} {_SEE}|how many N {_SEE} P|how many is(?: there)? (?:P|C)"),
    ("many", rf"count {_LIST}|count N P|(?:what is )?(?:the )?number of (?:{_LIST}|N P)"),
    ("inside:many", rf"how many N do {_THING} (?:contain|hold|have|have got){_INSIDE}"),
    ("more", r"is there more N than N(?: P)?"),
    ("fewer", r"is there (?:fewer|less) N than N(?: P)?"),
    ("colour", rf"what colour is {_LIST}|what is the colour of {_LIST}|what colour do {_THING} have"),
    ("of:colour", rf"what colour is N{_THAT} P|what is the colour of N P"),
    ("heavy", rf"how heavy is {_LIST}|(?:how much|what) do {_LIST} weigh|what is the (?:weight|mass) of {_LIST}"),
    ("of:heavy", r"how heavy is N P|(?:how much|what) do N P weigh|what is the (?:weight|mass) of N P"),
    ("size", rf"how {_SIZES} is {_LIST}|what is the size of {_LIST}|what size is {_LIST}"),
    ("of:size", rf"how {_SIZES} is N P|what is the size of N P"),
    ("best", r"(?:which|what)(?: one)?(?: (?:of )?N)? is M(?: P)?|what is M(?: P)?"),
    ("best", r"(?:which|what)(?: one)?(?: (?:of )?N)? is (?:the )?MORE(?: to you| to N)?(?: N or N)?"),
    ("is_best", r"is N M"),
    ("than", r"is N MORE than N"),
    ("far", r"how far(?: away)? is N(?: (?:away )?from (?:N|you)| to N| N)?|how far apart is N and N"),
    ("far", r"(?:what is )?the distance (?:between N and N|from N to N|of N)"),
    ("clear", rf"is {_THING} {_EMPTY}|{_EMPTY} {_THING}"),
    ("gripper", r"is (?:the|your|N s)? ?(?:gripper|hand)(?: of N)? (?:open|closed|shut|empty)|how is (?:the|your) gripper"),
    ("open:state", rf"is {_LIST} (?:open|opened)"),
    ("closed:state", rf"is {_LIST} (?:closed|shut)"),
    ("state", rf"is {_LIST} (?:open or (?:closed|shut)|(?:closed|shut) or open|ajar)"),
    ("held", r"(?!.*\bin(?:side)? it\b)(?=.*\b(?:hold|holds|holding|held|carrying|carries|gripper|hand|fingers|has|have|got)\b)"
     r"(?:(?:what|who|which|how|many|is|do|there|you|the|your|in|by|of|s|it|hold|holds|holding|held|have|has|got|"
     r"carrying|carries|gripper|hand|fingers|robots?|arms?|N|P)(?: |$))+"),
)  # fmt: skip
_ZH: Final = (
    ("where", rf"{_LIST_ZH}(?: 都)? 在 {_WHERE_ZH}|{_WHERE_ZH} 有 N"),
    ("where", rf"{_LIST_ZH}(?: 都)?(?: 是)? (?:在|放在) 什么(?: 东西)? (?:里面|里|上面|上)"),
    ("some:so", rf"(?:P )?有 {_LIST_ZH}|有 {_LIST_ZH}(?: 在)? P"),
    ("so", rf"{_LIST_ZH}{_IS_ZH}(?: 在)? P|{_LIST_ZH}(?: 都)? 是 C(?: 的)?|{_LIST_ZH} 有 C"),
    ("list", rf"P (?:都 )?(?:的 )?(?:有|是) (?:些 )?{_WHAT_ZH}(?: N)?|{_WHAT_ZH}(?: N)?{_IS_ZH}(?: 在)? P"),
    ("list", rf"{_WHAT_ZH}(?: N)? 是 C(?: 的)?|C 的 是 {_WHAT_ZH}|N 是 {_WHAT_ZH}|有 {_WHAT_ZH}(?: N)?"),
    ("holder", rf"{_WHAT_ZH} P (?:都 )?有 {_LIST_ZH}|{_LIST_ZH}(?: 都)? 在 {_WHAT_ZH} P"),
    ("many", rf"(?:P )?有 {_MANY_ZH} N|(?:有 )?{_MANY_ZH} N(?: 在)? P|P {_MANY_ZH} N|(?:N|C 的) 有 {_MANY_ZH}|(?:有 )?{_MANY_ZH} N 是 C(?: 的)?|N 有 {_MANY_ZH} 是 C(?: 的)?"),
    ("more", r"(?:P )?N 比 N 多"),
    ("fewer", r"(?:P )?N 比 N 少"),
    ("colour", rf"{_LIST_ZH}(?: 都)?(?: 是)? 什么 颜色(?: 的)?|{_LIST_ZH}(?: 的)? 颜色 是 什么"),
    ("heavy", rf"{_LIST_ZH}(?: 有)? 多重|{_LIST_ZH}(?: 的)? (?:重 量|质量) 是 多少"),
    ("size", rf"{_LIST_ZH}(?: 有)? (?:多大|多高|多宽|多长)|{_LIST_ZH}(?: 的)? 尺寸 是 多少"),
    ("best", rf"{_WHAT_ZH}(?: N)? (?:是 )?M|M 是 {_WHAT_ZH}|N 和 N {_WHAT_ZH} (?:M|MORE)|{_WHAT_ZH}(?: N)? MORE"),
    ("than", r"N 比 N MORE"),
    ("far", r"N (?:离|距|距 离|到) (?:N )?(?:有 )?多远|N (?:有 )?多远|N (?:和|与|跟) N (?:的 |之间 的 )?距 离 (?:是|有) (?:多远|多少)"),
    ("clear", r"N (?:是 )?(?:空|干净|整齐|收拾好|收拾干净|清空)(?: (?:的|着|了))*|(?:收拾|清理|整理) N|N 收拾好 了"),
    ("gripper", r"(?:N (?:的 )?)?手 (?:是 )?(?:打开|张开|开|空|闭合|关闭|合上)(?: (?:的|着|了))*"),
    ("open:state", rf"{_LIST_ZH}(?: 都)?(?: 是| 有)? (?:打开|拉开|敞开|开)(?: (?:的|着|了))*"),
    ("closed:state", rf"{_LIST_ZH}(?: 都)?(?: 是| 有)? (?:关闭|关上|合上|关好|关|合)(?: (?:的|着|了))*"),
    ("state", rf"{_LIST_ZH} 是 开(?: (?:的|着))* 还 ?是 关(?: (?:的|着))*"),
    ("held", r"(?=.*[拿夹手])(?:(?:谁|哪个|哪|机器人|机械臂|手臂|拿着|拿|夹着|夹|手里|手上|手|里|上|里面|的|着|"
     r"有|没有|什么|几|多少|个|被|在|是|东西|N|P)(?: |$))+"),
)  # fmt: skip


def _table(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[str, frozenset[str], re.Pattern[str]], ...]:
    found = []
    for name, form in rows:
        how, _, topic = name.rpartition(":")
        found.append((topic, frozenset(how.split(",")), re.compile(form)))
    return tuple(found)


FORMS: Final = {"en": _table(_EN), "zh": _table(_ZH)}
# Every word that some form reads, or that is read before: the first other word is named in the refusal.
KNOWN: Final = frozenset(
    re.findall(r"[a-z]+|[\u4e00-\u9fff]+", " ".join(form for _, form in (*_EN, *_ZH)))
) | lexicon_en.THE | lexicon_en.ANY | lexicon_en.DOERS | {"or", "to", "than"} | set(lexicon_zh.MEASURES)  # fmt: skip


def form_of(symbols: str, language: str) -> tuple[str, frozenset[str]]:
    """The topic and the uses of the first form that fits; "" for none."""
    rows = FORMS["zh" if language == "zh" else "en"]
    return next(((topic, how) for topic, how, form in rows if form.fullmatch(symbols)), ("", frozenset()))
