"""Headings of EMBODIED.md, as people write them: what a heading says of the list below it (workspace §3.8).

Default deny: a list of actions counts only below a heading that says that they are supported. Any other heading, label
or bold line ends that list, in whatever words.
"""

from __future__ import annotations

import re

from .embodied_states import withdraws
from .prose import without_brackets

SECTIONS = {
    "identity": ("identity", "robot identity", "overview", "身份", "基本信息", "标识", "机器人信息", "身份信息"),
    "sensors": ("sensors", "sensor", "sensing", "传感器", "感知"),
    "actions": (
        *("supported actions", "actions", "supported action types", "action types", "available actions"),
        *("supported ops", "supported operations", "supported commands", "supported skills", "supported primitives"),
        *("支持的动作", "支持动作", "动作", "可用动作", "动作列表", "已支持的动作", "支持的操作", "支持的动作列表"),
    ),
    "limits": (
        *("physical constraints", "constraints", "physical limits", "limits", "joint limits", "workspace limits"),
        *("物理约束", "物理限制", "约束", "限制", "物理参数"),
    ),
    "other": ("connection", "runtime protocol", "notes", "连接", "运行协议", "备注", "说明"),
}
_SECTION = {word: name for name, spellings in SECTIONS.items() for word in spellings}
_DENIED = re.compile(
    r"\b(?:un|non-?)(?:supported|implemented|available|permitted|authori[sz]ed)\b"
    r"|\b(?:not|no longer|never|cannot|can't|won't|doesn't|don't|without|yet|forbidden|prohibited|disallowed|denied"
    r"|blocked|disabled|deprecated|removed|obsolete|planned|todo|to do|future|roadmap|coming soon|upcoming|later"
    r"|work in progress|wip|experimental|missing|excluded|except|reserved|unsafe)\b"
    r"|不|未|尚|禁|暂|无法|没有|计划|规划|将来|以后|待(?:实现|开发|支持|定|办|完成)|废弃|弃用|停用|缺|预留|实验",
    re.IGNORECASE,
)
_ACTIONS = re.compile(
    r"\b(?:actions?|action types?|ops|operations|commands|primitives|skills|verbs)\b|动作|操作|指令|技能", re.IGNORECASE
)
_OFFERED = re.compile(
    r"\b(?:supported|supports?|available|following|accepts?|offers?)\b|支持|可用|如下|以下", re.IGNORECASE
)
_ABOUT = re.compile(
    r"\b(?:fields?|keys?|config\w*|settings?|parameters?|arguments?|results?|errors?|examples?)\b|字段|配置|参数|示例|结果",
    re.IGNORECASE,
)
_SAID = re.compile(r"support|支持|implemented|实现", re.IGNORECASE)
_BOLD = re.compile(r"(?:\*\*|__)[^*_]+(?:\*\*|__)\s*[:：]?|<(h[1-6]|b|strong)>[^<]*</\1>\s*[:：]?", re.IGNORECASE)

_TAG = re.compile(r"<[^>]*+(>?)")  # one that does not end is read once


def key(text: str) -> str:
    """A heading as it is compared: no bold, no brackets, no numbers before it, lower case, single spaces."""
    bare = without_brackets(_TAG.sub(lambda found: "" if found[1] else found[0], text))
    bare = " ".join(re.sub(r"[*_`:：#]+", " ", bare).split()).casefold()
    return re.sub(r"^(?:\d+[.、)]\s*)+", "", bare)


def section(text: str) -> str:
    """identity, sensors, actions, limits, other, "unsupported" for what says no; "" for an unknown heading."""
    known = _SECTION.get(key(text), "")
    if known in ("", "actions") and (_DENIED.search(text) or withdraws(text)):
        return "unsupported"
    if known:
        return known
    return "actions" if offers(text) and _OFFERED.match(key(text)) else ""


def offers(text: str) -> bool:
    """Whether a line says that the actions below it are supported: "The robot supports these actions:"."""
    said = _ACTIONS.search(text) and _OFFERED.search(text)
    return bool(said) and not (_DENIED.search(text) or withdraws(text) or _ABOUT.search(text))


def names_actions(text: str) -> bool:
    """Whether a heading speaks of actions, or of what is supported."""
    return _ACTIONS.search(text) is not None or _SAID.search(text) is not None


def closes(text: str, section: str) -> bool:
    """Whether a label ends the list of `section`: limits go on, whatever they are called, until actions begin."""
    return section not in ("limits", "identity", "other") or names_actions(text)


def label(line: str) -> str:
    """The text of a line that is over what follows without being a heading: "Not supported yet:", "**Later**"."""
    bare = line.strip()
    if bare.endswith((":", "：", ":**", "：**", ":__", "：__")) or _BOLD.fullmatch(bare):
        return bare
    plain = len(bare) <= 40 and not _sentence(bare) and not re.search("[:：]", bare)
    return bare if plain and _DENIED.search(bare) else ""


def caption(line: str) -> str:
    """The text of a line that is alone over a list: a few words, or a sentence that says no."""
    bare = line.strip()
    return bare if _DENIED.search(bare) or (len(bare) <= 60 and not _sentence(bare)) else ""


def _sentence(text: str) -> bool:
    return text.endswith((".", "。", ";", "；", ",", "，", "!", "！"))
