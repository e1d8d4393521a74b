"""The sections of memory.md and the headings by which agents call them, in English and in Chinese."""

from __future__ import annotations

from typing import Final

SECTIONS: Final = ("patterns", "dead_ends", "questions", "corrections", "flags")
"""In 003's order."""

HEADINGS: Final = {
    "en": {
        "patterns": "Cross-Session Patterns",
        "dead_ends": "Dead Ends (don't re-investigate)",
        "questions": "Open Questions",
        "corrections": "Corrections",
        "flags": "Cross-Agent Flags Received",
    },
    "zh": {
        "patterns": "跨会话规律",
        "dead_ends": "死胡同（不要再查）",
        "questions": "未决问题",
        "corrections": "更正",
        "flags": "收到的其他智能体提示",
    },
}
TITLES: Final = {"en": "Operational Memory", "zh": "工作记忆"}

_SYNONYMS: Final = {
    "patterns": "patterns, pattern, cross session pattern, cross session learnings, recurring patterns, learnings,"
    "observed patterns, insights, key patterns, lessons, lessons learned, what works,"
    "规律, 模式, 跨会话模式, 跨会话的规律, 跨会话的模式, 经验, 经验教训, 洞察, 发现的规律, 常见模式",
    "dead_ends": "dead ends, dead end, dead ends don't re investigate, do not re investigate, don't re investigate,"
    "don't reinvestigate, do not reinvestigate, ruled out, exhausted, exhausted leads, closed leads, what doesn't work,"
    "死胡同, 死路, 此路不通, 无效方向, 已排除, 已排除的方向, 不要再查, 不要重复调查, 不再调查, 已放弃的方向",
    "questions": "questions, question, open question, unresolved questions, outstanding questions, unknowns,"
    "open issues, unanswered questions,"
    "问题, 开放问题, 待解问题, 待解决问题, 未解问题, 未解决问题, 未解决的问题, 悬而未决的问题, 疑问, 待解答的问题",
    "corrections": "correction, corrected, corrected beliefs, errata, fixes to beliefs, updates to beliefs,"
    "纠正, 修正, 勘误, 订正, 改正, 纠错",
    "flags": "flags, flag, flags received, cross agent flags, flags from other agents, received flags,"
    "messages received, messages from other agents,"
    "收到的标记, 其他智能体的标记, 跨智能体标记, 收到的跨智能体标记, 收到的提示, 收到的提醒, 其他智能体的提示,"
    "来自其他智能体的提示, 收到的其他智能体的提示, 收到的其他智能体标记",
}
_FIRST: Final = "(（[\"'“"  # a heading may begin with these
_LAST: Final = ")）]\"'”?？!！"
_NUMBER: Final = "0123456789一二三四五六七八九十"
_PARTS: Final = ("(", "（", "[", "【", "—", "–", ":", "：", "/", "|", ",", "，", ";", "；", " - ")


def bare(heading: str) -> str:
    """A heading as it is compared: no emphasis, number, sign or case."""
    text, before = heading.strip(), ""
    while text != before:
        before = text
        counted = text.lstrip(_NUMBER)
        if counted != text and counted.startswith((".", ")", "、", "．")):
            text = counted[1:]
        at, end = 0, len(text)
        while at < end and not (text[at].isalnum() or text[at] in _FIRST):
            at += 1
        while end > at and not (text[end - 1].isalnum() or text[end - 1] in _LAST):
            end -= 1
        text = text[at:end]
    return " ".join(text.casefold().replace("’", "'").replace("-", " ").replace("_", " ").split())


def canonical(heading: str) -> str:
    """The section that a heading means, or "" if it is none of the five."""
    whole = bare(heading)
    if found := _KNOWN.get(whole):
        return found
    cut = min((at for part in _PARTS if (at := heading.find(part, 1)) > 0), default=0)
    return _KNOWN.get(bare(heading[:cut]), "") if cut else ""


def remark_preview(text: str, limit: int = 60) -> str:
    """A remark in a message."""
    line = " ".join(text.split())
    return f'"{line if len(line) <= limit else line[: limit - 1].rstrip() + "…"}"'


_KNOWN: Final = {
    **{bare(heading): name for own in HEADINGS.values() for name, heading in own.items()},
    **{word.strip(): name for name, words in _SYNONYMS.items() for word in words.split(",")},
}
