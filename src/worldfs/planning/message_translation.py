"""Translation of messages of drivers, kernel and checks into the workspace's language: a table, pattern → Chinese.

Drivers and kernel write English. Messages to people in a Chinese workspace are translated here; ids,
numbers and vectors go through unchanged, and so does a text that no pattern fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

from worldfs.base.model import Finding, Outcome

from . import file_messages_zh
from .runtime_messages_zh import BLANKS, PLAIN

LONGEST = 2000  # signs: no message of ours is longer, so a longer text is data


def localise(finding: Finding, language: str) -> Finding:
    """The finding with expected, found, fix and field in `language` ("zh…"; any other leaves it as it is)."""
    if not language.startswith("zh"):
        return finding
    return replace(
        finding,
        field=to_chinese(finding.field),
        expected=to_chinese(finding.expected),
        found=to_chinese(finding.found),
        fix=to_chinese(finding.fix),
    )


def localise_outcome(outcome: Outcome, language: str) -> Outcome:
    """The outcome with its message and its findings in `language`; cause, code and evidence are for machines."""
    if not language.startswith("zh"):
        return outcome
    message = _message(outcome.message, outcome.findings)
    return replace(outcome, message=message, findings=tuple(localise(f, language) for f in outcome.findings))


def to_chinese(text: str) -> str:
    """The first row that fits the whole text, its `rest…` blanks put into Chinese in turn; else the text itself."""
    for table in (PLAIN, file_messages_zh.PLAIN):
        if text in table:
            return table[text]
    if not text or not text.isprintable() or len(text) > LONGEST:
        return text
    for pattern, template in _rows():
        match = pattern.fullmatch(text)
        if match is not None:
            blanks = {k: v or "" for k, v in match.groupdict().items()}
            # a blank of the whole text would be asked about for ever
            told = {k: to_chinese(v) if k.startswith("rest") and len(v) < len(text) else v for k, v in blanks.items()}
            return template.format_map(told)
    return text


@lru_cache(maxsize=1)
def _rows() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), template) for pattern, template in (*BLANKS, *file_messages_zh.BLANKS))


# A message is often put together from its finding: (as the kernel or a driver writes it, in Chinese).
_JOINED: tuple[tuple[Callable[[Finding], str], Callable[[Finding], str]], ...] = (
    (
        lambda f: f"{f.field}: found {f.found}, expected {f.expected}; {f.fix}",
        lambda f: f"{f.field}：{f.found}；应为 {f.expected}；{f.fix}",
    ),
    (lambda f: f"{f.found}; {f.fix}", lambda f: f"{f.found}；{f.fix}"),
    (lambda f: f"{f.found}; expected {f.expected}", lambda f: f"{f.found}；应为 {f.expected}"),
    (lambda f: f"{f.found}: {f.expected}", lambda f: f"{f.found}；应为 {f.expected}"),
)
_MORE = re.compile(r" \(and (?P<count>\d+) more\)")
_BEFORE = (
    (re.compile(r"step (?P<i>\d+) of (?P<n>\d+), (?P<op>[^:]*): "), "第 {i} 步(共 {n} 步) {op}："),
    (re.compile(r"cancelled; attempt (?P<n>\d+) had ended before: "), "已取消；此前第 {n} 次尝试的结果："),
)


def _message(text: str, findings: Iterable[Finding]) -> str:
    for pattern, template in _BEFORE:
        match = pattern.match(text)
        if match is not None:
            return template.format_map(match.groupdict()) + _message(text[match.end() :], findings)
    for finding in findings:
        for english, told in _JOINED:
            start = english(finding)
            if not text.startswith(start):
                continue
            more = _MORE.fullmatch(text, len(start))
            if more is not None or len(text) == len(start):
                return told(localise(finding, "zh")) + (f"(另有 {more['count']} 项)" if more else "")
    return to_chinese(text)
