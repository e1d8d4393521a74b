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
    rest = re.sub("^请?确保(?=把)", "", _AFTER.sub("", rest))
    rest = re.sub("^请?确保", "让", rest)  # 确保苹果在篮子里
    return rest or text
