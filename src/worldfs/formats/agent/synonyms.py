"""Words that people and models write where the specification has one of its own, in English and in Chinese."""

from __future__ import annotations

from typing import Final

_STATUS: Final = {
    "pending": "todo, to do, open, new, queued, waiting, backlog, not started, planned,"
    "待办, 待处理, 未开始, 待定, 等待, 等待中, 待完成",
    "active": "in progress, doing, started, ongoing, working, current, running, wip,"
    "进行中, 处理中, 正在进行, 执行中, 进行, 活跃",
    "completed": "done, complete, finished, closed, resolved, success, succeeded,"
    "完成, 已完成, 完成了, 做完, 结束, 已结束",
    "dropped": "cancelled, canceled, abandoned, skipped, wontfix, won't do, discarded, deleted, removed, rejected,"
    "obsolete,"
    "取消, 已取消, 放弃, 已放弃, 丢弃, 作废",
}
_PRIORITY: Final = {
    "high": "urgent, critical, highest, p0, p1, blocking, blocker, time sensitive, important, 高, 紧急, 重要, 最高",
    "medium": "normal, default, mid, moderate, med, p2, routine, regular, 中, 中等, 普通, 一般, 正常",
    "low": "lowest, minor, p3, p4, trivial, nice to have, 低, 最低",
}
_TASK: Final = {
    "research": "investigate, investigation, explore, study, 研究, 调研, 调查, 探索",
    "extract": "extraction, 提取, 抽取, 摘录",
    "evaluate": "evaluation, review, assess, assessment, 评估, 评审, 审查",
    "follow-up": "followup, todo, task, 跟进, 后续, 待办, 任务",
    "disconfirm": "disconfirmation, disprove, falsify, refute, 证伪, 反驳, 反证",
}
_MESSAGE: Final = {
    "flag": "note, notice, notification, info, fyi, alert, 标记, 提醒, 通知",
    "task": "todo, request, 任务, 请求",
    "question": "ask, query, 问题, 提问, 疑问",
    "cascade": "级联",
}


def _known(table: dict[str, str], word: str) -> str:
    """The specification's word; `word` itself if it is unknown."""
    if word in table:
        return word
    bare = " ".join(word.casefold().replace("_", " ").replace("-", " ").split()).strip(" .。!！✅✓✔️☑")
    for own, others in table.items():
        if bare == own.replace("-", " ") or bare in (other.strip() for other in others.split(",")):
            return own
    return word


def task_status(word: str) -> str:
    return _known(_STATUS, word)


def task_priority(word: str) -> str:
    return _known(_PRIORITY, word)


def task_type(word: str) -> str:
    return _known(_TASK, word)


def message_type(word: str) -> str:
    return _known(_MESSAGE, word)


def message_priority(word: str) -> str:
    """high, normal (medium is normal) or low; `word` itself if it is unknown."""
    if word in ("high", "normal", "low"):
        return word
    known = _known(_PRIORITY, word)
    return "normal" if known == "medium" else known
