"""A word that holds back, of either language, as a key and as a value, in each place that no program reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from worldfs.base import field_words
from worldfs.base.restricting_fields import restricting, unread

from .test_fields_of_every_document import refusal

ENGLISH: Final = (
    *sorted(field_words.HELD | field_words.STATED), "not yet", "hold-until-monday", "wait for Bob",
    "do not move", "don't run", "dry run", "DRY-RUN", "onHold", "ON_HOLD", "please wait", "after lunch",
    "until monday", "unless told", "only weekdays", "needs approval", "approval_required",
    "temporarily suspended", "is blocked", "cannot start", "never run", "no-go", "run later",
    "awaiting sign off", "if approved", "when ready", "hold until 2026-12-01 10:00",
)  # fmt: skip
CHINESE: Final = (
    "不要执行", "暂停", "等待批准", "勿动", "搁置", "请勿执行", "不得移动", "暂不执行", "暂缓", "稍后",
    "先别动", "别动", "未批准", "尚未审核", "待审批", "待确认", "手动", "人工操作", "关闭", "停止", "作废",
    "撤销", "草稿", "仅预览", "试运行", "模拟", "仿真", "锁定", "冻结", "挂起", "推迟到周一", "延期", "跳过",
    "忽略", "禁用", "停用", "禁止", "取消", "已取消", "等Bob通知", "等小王确认", "明天再做", "過期", "暫停",
    "勿動", "擱置", "等待批準", "關閉", "稍後", "只读", "需批准", "需要确认", "审批",
)  # fmt: skip
VALUES: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "tags": lambda word: {"tags": [word]},
    "tags beside others": lambda word: {"tags": ["kitchen", word]},
    "labels": lambda word: {"labels": {"queue": word}},
    "metadata": lambda word: {"metadata": {"gate": word}},
    "metadata at depth": lambda word: {"metadata": {"a": [{"b": {"c": [word]}}]}},
    "a field of a tool": lambda word: {"x_gate": word},
    "标签": lambda word: {"标签": [word]},
    "a state": lambda word: {"state": word},
}
KEYS: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "itself": lambda word: {word: True},
    "labels": lambda word: {"labels": {word: "yes"}},
    "metadata": lambda word: {"metadata": {word: True}},
    "metadata at depth": lambda word: {"metadata": {"a": [{"b": {word: 1}}]}},
    "a field of a tool": lambda word: {f"x_{word}": True},
    "inside a field of a tool": lambda word: {"x_tool": {word: True}},
}
ORDERED: Final = ("an entry of ACTION.md", "a session", "a step", "a step of a step", "a mission", "SKILLS.md")
FREE: Final[list[dict[str, Any]]] = [
    *({name: "wait for Bob, then do not hold it"}
      for name in ("note", "comment", "description", "reason", "x_note", "备注", "说明")),
    *({"metadata": {name: said}}
      for name in ("note", "review_comment", "stop_reason", "title", "备注", "原因", "preview_url", "draft_id")
      for said in ("not yet", "hold", "等待批准")),
    {"tags": ["kitchen", "urgent", "now", "asap", "Max", "level 2", "night shift", "todo", "v2"]}, {"tags": "pending"},
    {"labels": {"team": "alpha", "类别": "餐具", "级别": "高", "房间": "厨房", "来源": "识别结果"}},
    {"metadata": {"author": "Bob", "engine": "人工智能", "simulator": "mujoco", "仿真器": "m", "water": 1}},
    {"metadata": {"speed_note": "fast"}},
    {"tags": ["this order was written by the team that holds the kitchen, and is not urgent"]},
    {"x_layer": 2, "x_manual_url": "https://example.org"}, {"metadata": {"later": False, "not": None, "暂停": False}},
]  # fmt: skip


@pytest.mark.parametrize("word", (*ENGLISH, *CHINESE))
def test_a_word_that_holds_back_is_known_in_each_place(word: str) -> None:
    for where, said in (*VALUES.items(), *KEYS.items()):
        fields = said(word)
        assert [*restricting(fields)] == [*fields], where


def wide(word: str) -> str:
    """As an input method in full-width mode writes it."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in word)


@pytest.mark.parametrize("write", [wide, lambda w: wide(w[:3]) + w[3:], "\u200b".join, lambda w: w.replace("o", "ó")])
def test_it_is_known_in_other_letters_of_the_same_word(write: Callable[[str], str]) -> None:
    for word in ("hold", "dry_run", "DRY-RUN", "onHold", "not yet", "wait for Bob", "paused"):
        for where, said in (*VALUES.items(), *KEYS.items()):
            fields = said(write(word))
            assert [*restricting(fields)] == [*fields], (where, fields)


@pytest.mark.parametrize("name", ["é_run", "сухой_run", "_ｈｏｌｄ", "ｄｒｙ_run", "预演_run"])
def test_what_is_left_of_a_name_in_other_letters_does_not_pass_for_it(name: str) -> None:
    assert [*unread({name: True})] == [name]
    assert name in refusal("an entry of ACTION.md", {name: True})


@pytest.mark.parametrize(
    "fields",
    [{"metadata": {"safe_to_run": False}}, {"x_safe": False}, {"x_ok": "no"}, {"metadata": {"what_if": True}},
     {"metadata": {"rehearsal": True}}, {"x_execute": "no"}],
)  # fmt: skip
def test_a_no_to_being_carried_out_holds_back(fields: dict[str, Any]) -> None:
    assert [*restricting(fields)] == [*fields]


@pytest.mark.parametrize("place", ORDERED)
def test_it_refuses_each_kind_of_order_by_name(place: str) -> None:
    for word in (
        "not yet",
        "hold-until-monday",
        "later",
        "manual",
        "closed",
        "暂停",
        "等待批准",
        "勿动",
        "搁置",
        "不要执行",
    ):
        for said in (*VALUES.values(), *KEYS.values()):
            fields = said(word)
            assert next(iter(fields)) in refusal(place, fields), fields


@pytest.mark.parametrize("fields", FREE)
def test_prose_and_words_that_only_tell_are_free(fields: dict[str, Any]) -> None:
    assert [*unread(fields)] == []
    assert refusal("an entry of ACTION.md", fields) == ""
