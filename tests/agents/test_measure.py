"""What a text costs: never less than real tokenizers count, additive, cut between signs."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.agents.text_cost import estimate_tokens, format_size, prefix, text_cost

# The largest count of three tokenizers (cl100k, o200k, and the one that Anthropic's SDK 0.38 carried).
COUNTED = [
    (
        "Conditional AMMs keep appearing across 3+ independent sources (sessions 03-28, 03-29, 03-31). This is likely a"
        " real trend, not cherry-picking.",
        40,
    ),
    (
        '{"id": "task-001", "type": "research", "status": "pending", "created_at": "2026-03-31T22:00:00Z",'
        ' "completed_at": null}',
        47,
    ),
    (
        '{"ts":"2026-03-31T20:30:00Z","event":"session_start","session_id":"20260331-220000","type":"research",'
        '"seq":12}',
        42,
    ),
    ("先处理高优先级来信，再决定做什么。上次会话因超时被终止，其工作只做了一半，请先查看现状。", 50),
    ("抓取失败：apple_01 超出臂展 (max 0.855 m)，请移动底盘再试 pick_up。", 35),
    (
        "def cost(text: str, unit: Unit) -> int:\n    return tokens(text) if unit == 'tokens' else"
        " len(text.encode())\n",
        34,
    ),
    ("https://example.org/agents/rio/inbox/3f2b8a9c-77d1-4e0b-9a53-0c1d2e3f4a5b.json?x=1&y=2", 56),
    ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 44),
    ("Агент должен помнить, что произошло в прошлой сессии, и продолжить работу.", 36),
    ("에이전트는 지난 세션에서 무슨 일이 있었는지 기억해야 합니다.", 36),
    (
        "| Store | p50 µs | 2 procs lost | 8 procs lost |\n|---|---|---|---|\n| AgentFS kv | 820–1100 | 2nd refused |"
        " **0** |\n",
        49,
    ),
    ("✅ done → next ⚠️ see §5.3 … “quoted” — and 🤖🔥", 26),
]


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_the_estimate_is_never_below_what_tokenizers_count(text: str, counted: int) -> None:
    assert counted <= estimate_tokens(text) <= 2.5 * counted


def test_bytes_are_bytes() -> None:
    assert text_cost("臂展 m", "bytes") == 8
    assert text_cost("", "tokens") == text_cost("", "bytes") == 0
    assert [format_size(n) for n in (0, 999, 1000, 3140, 2_400_000)] == ["0 B", "999 B", "1.0 kB", "3.1 kB", "2.4 MB"]


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(["tokens", "bytes"]))
def test_lines_never_cost_more_together_than_apart(one: str, other: str, unit: str) -> None:
    assert text_cost(f"{one}\n{other}\n", unit) <= text_cost(f"{one}\n", unit) + text_cost(f"{other}\n", unit)  # type: ignore[arg-type]


@example(" 0", 0, "tokens")
@given(st.text(max_size=120), st.integers(-2, 60), st.sampled_from(["tokens", "bytes"]))
def test_a_prefix_fits_and_one_sign_more_would_not(text: str, budget: int, unit: str) -> None:
    part = prefix(text, budget, unit)  # type: ignore[arg-type]
    assert text.startswith(part)
    assert text_cost(part, unit) <= max(budget, 0)  # type: ignore[arg-type]
    if part != text:
        assert text_cost(text[: len(part) + 1], unit) > budget  # type: ignore[arg-type]
