"""Chinese manners: the polite words before and after an order."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .lexicon_zh import chinese_lexicon

_YOU: Final = "(?:你|您)?"
_FREE: Final = rf"(?:如果|要是|若)?{_YOU}(?:有空|有时间|方便|可以|不介意|不麻烦)的话"
# What an order begins with after thanks, and after an apology.
_ASKED_TOO: Final = r"[,、\s]|请|麻烦|劳驾|拜托|能|可"
_ASKS: Final = rf"{_ASKED_TOO}|帮|打扰|我"
_BEFORE: Final = re.compile(
    rf"(?:(?:不好意思|抱歉|对不起)(?={_ASKS})|打扰(?:一下|了)?|你好|您好|嗨|嘿|{_FREE}|请问"
    rf"|我(?:想|要|得)(?:请|让|麻烦|拜托)(?:你|您)|(?:要|得)?麻烦{_YOU}|劳驾{_YOU}|拜托{_YOU}"
    rf"|(?:你|您)(?:应该|应当|需要|必须)|(?:请)?{_YOU}帮(?:个)?忙|我们来|咱们(?:来)?|帮我一?把手(?=[,，、\s把将]))[,、\s]*"
)
_AFTER: Final = re.compile(
    rf"(?<![,、\s])[,、\s]*+(?:(?:非常)?(?:谢谢|感谢){_YOU}[啦了哦]?|(?:多谢|谢)[啦了]?|拜托了?|麻烦(?:你|您)?了|辛苦了|{_FREE})$"
)


def is_thanks(sentence: str) -> bool:
    """A sentence of politeness alone: 非常感谢"""
    return not _AFTER.sub("", sentence)


_ENOUGH: Final = re.compile(r"(?:就行|就好|就可以|就够)了?$")


_JUST_THAT: Final = re.compile("(?:就行了?|就可以了?|就好)(?=[,，]|$)")  # …放进篮子就行


_DONE: Final = re.compile(
    rf"(?:谢谢|感谢|多谢)(?:{_YOU}们?[了啦哦]?)?+(?!{_ASKED_TOO}|$)|(?:抱歉|对不起|不好意思)[了啦]?+(?!{_ASKS}|$)"
)


def for_what_was_done(sentence: str) -> str:
    """Thanks or an apology that what follows may be the reason of, and no order: 谢谢你把…, 抱歉把…; "" for none."""
    found = _DONE.search(sentence)
    return found[0] if found else ""


_REMINDER: Final = "(?:千万)?(?<!我)(?:(?:别|不要|不能)忘(?:记|掉)?了?|(?<![我你您他她])记(?:得|住|着)?要?)"


@lru_cache(maxsize=1)
def _reminded() -> re.Pattern[str]:
    """别忘了把…, 记得收拾…: the words before an order. 别忘了夹子 names a thing, and no act for it."""
    acts = (word for word, kinds in chinese_lexicon().items() if any(kind[:4] == "act:" for kind in kinds))
    return re.compile(f"{_REMINDER}(?={'|'.join(['[把将]', *(word for word in acts if len(word) > 1)])})")


def without_manners(text: str) -> str:
    """The sentence without its politeness; what denies or supposes anything else stays."""
    text = _reminded().sub("", text)
    rest = re.sub(r"^我(?:想|要|希望)(?=让(?!你|您)|把)|^我们(?=把[^了过]+吧$)", "", text)  # 我们把苹果放进篮子吧
    rest = re.sub("^我(?=不要)", "", rest)  # 我不要苹果，要梨
    if rest.startswith("只要") and _ENOUGH.search(rest):  # 只要把苹果放进篮子就行
        rest = _ENOUGH.sub("", rest.removeprefix("只要"))
    rest = _JUST_THAT.sub("", rest)
    while found := _BEFORE.match(rest):
        rest = rest[found.end() :]
    rest = re.sub(f"{_STARTS}请?确保(?=把)", r"\1", _AFTER.sub("", rest))
    rest = re.sub(f"{_STARTS}请?确保", r"\1让", rest)  # 确保苹果在篮子里
    rest = re.sub(rf"{_STARTS}([^让把，,]+)(?:必须|一定要|务必)在", r"\1让\2在", rest)
    return re.sub(f"{_STARTS}让至少", r"\1让", _THERE_IS.sub(_is_there, rest)) or text


_STARTS: Final = "((?:^|[，,])(?:然后|再|接着|最后|并且?)?)"
# 篮子里应该有两个杯子: what is to be there.
_THERE_IS: Final = re.compile(
    rf"{_STARTS}(让)?(?!让)([^让把，,有没不别]{{1,40}}?(?:[里上中内]面?|里边))"
    "((?:应该|应当|必须|一定要|务必|需要|要|得)?)(至少|只|正好|恰好|刚好)?((?:要|得)?)有"
    "(?!没)((?:[一二两三四五六七八九十]把|所有|[^让把，,有没不几吗呢么？?]){1,60})(?=$|[，,])"
)
_COUNTED: Final = re.compile(r"[一两二三四五六七八九十\d]|所有|全部|[这那每我你]|任|.*[和与跟及、或]")


def _is_there(found: re.Match[str]) -> str:
    """As 让两个杯子在篮子里; without a number one is enough."""
    start, let, place, shall, bound, again, what = (found[n] or "" for n in range(1, 8))
    if not (let or shall or again) or (let and (shall and again)):
        return found[0]
    what = f"一个{what}" if not (bound == "只" or _COUNTED.match(what)) else what
    return f"{start}让{'只有' if bound == '只' else bound}{what}在{place}"


_CONTINUES: Final = re.compile("[^把将，,]+也(?:放|一样|是|同样|放进去)")  # 蓝的也放


def joined(sentences: list[str]) -> list[str]:
    """The sentences; what only continues the one before follows it after a comma."""
    found: list[str] = []
    for sentence in sentences:
        if found and _CONTINUES.fullmatch(sentence) and found[-1][-1] not in "?？":
            found[-1] = f"{found[-1]}，{sentence}"
        else:
            found.append(sentence)
    return found
