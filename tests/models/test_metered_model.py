"""Budgets, deadlines and records hold for any model, also one that obeys nothing."""

from __future__ import annotations

import threading

import pytest

from worldfs.base.chat_model import ModelMessage, ModelReply, ModelUnavailable
from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.formats.config_models import ModelConfig
from worldfs.models.metered_model import IMAGE_TOKENS, LONGEST_WAIT_S, MeteredModel
from worldfs.testing.manual_clock import ManualClock

ASKED = (ModelMessage("user", "hello"),)
CONFIG = ModelConfig("planner", "mine", "tiny", max_tokens=10, retries=0)


class Scripted:
    def __init__(self, *answers: object) -> None:
        self.answers, self.asked = list(answers), 0

    def reply(self, messages, tools, run):
        self.asked += 1
        answer = self.answers[min(self.asked, len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


def run_of() -> Run:
    return Run(SystemClock(), float("inf"))


def test_a_text_with_half_a_surrogate_pair_reaches_the_model_without_it() -> None:
    asked: list[str] = []

    class Listening:
        def reply(self, messages, tools, run):
            asked.append(messages[0].text)
            return ModelReply("x", (), 1, 1)

    MeteredModel(Listening(), CONFIG).reply((ModelMessage("user", "take 苹果 \ud83c now"),), (), run_of())
    assert asked == ["take 苹果 ? now"]


def test_a_budget_of_tokens_is_kept_before_the_call_that_would_break_it() -> None:
    inner = Scripted(ModelReply("x", (), 40, 5))
    model = MeteredModel(inner, CONFIG._replace(token_budget=60))
    model.reply(ASKED, (), run_of())
    with pytest.raises(ModelUnavailable, match="45 of 60 tokens") as raised:
        model.reply(ASKED, (), run_of())
    assert raised.value.code == "MODEL_BUDGET" and inner.asked == 1


def test_a_picture_counts_as_tokens_and_not_by_its_bytes() -> None:
    inner = Scripted(ModelReply("x", (), 0, 0))
    model = MeteredModel(inner, CONFIG._replace(token_budget=IMAGE_TOKENS + 100))
    seen = (ModelMessage("user", "look", (bytes(1_000_000),)),)
    model.reply(seen, (), run_of())
    assert IMAGE_TOKENS < model.tokens < IMAGE_TOKENS + 100
    with pytest.raises(ModelUnavailable, match="tokens used"):
        model.reply(seen, (), run_of())
    other = MeteredModel(inner, CONFIG)
    other.reply((ModelMessage("user", "look", (b"another",)),), (), run_of())
    assert other.calls[0].prompt_sha256 != model.calls[0].prompt_sha256


def test_a_budget_of_money_is_kept() -> None:
    inner = Scripted(ModelReply("x", (), 1, 1, 0.6))
    model = MeteredModel(inner, CONFIG._replace(cost_budget=1.0))
    model.reply(ASKED, (), run_of())
    model.reply(ASKED, (), run_of())
    with pytest.raises(ModelUnavailable, match=r"1\.2000 of 1 US dollars spent"):
        model.reply(ASKED, (), run_of())
    assert inner.asked == 2 and model.cost == pytest.approx(1.2)


def test_a_price_that_nobody_knows_spends_the_whole_budget_of_money() -> None:
    model = MeteredModel(Scripted(ModelReply("x", (), 1, 1)), CONFIG._replace(cost_budget=1.0))
    model.reply(ASKED, (), run_of())
    with pytest.raises(ModelUnavailable, match="set inputPrice and outputPrice"):
        model.reply(ASKED, (), run_of())


def test_a_model_that_counts_nothing_is_counted_by_its_bytes() -> None:
    model = MeteredModel(Scripted(ModelReply("words " * 100)), CONFIG)
    model.reply(ASKED, (), run_of())
    assert model.tokens > 150


def test_a_model_that_looks_at_no_stop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldfs.models.metered_model.LEAVE_S", 0.01)
    never = threading.Event()

    class Deaf:
        def reply(self, messages, tools, run):
            never.wait()
            return ModelReply("late")

    model = MeteredModel(Deaf(), CONFIG._replace(timeout_s=0.05))
    with pytest.raises(ModelUnavailable) as raised:
        model.reply(ASKED, (), run_of())
    never.set()
    assert raised.value.code == "MODEL_TIMEOUT" and [call.error for call in model.calls] == ["MODEL_TIMEOUT"]


def test_what_a_package_raises_is_an_answer_that_cannot_be_used() -> None:
    with pytest.raises(ModelUnavailable, match="ZeroDivisionError") as raised:
        MeteredModel(Scripted(ZeroDivisionError("a bug")), CONFIG._replace(retries=3)).reply(ASKED, (), run_of())
    assert raised.value.code == "MODEL_ANSWER"


@pytest.mark.parametrize(
    ("asked_for", "retries", "left", "waited"),
    [
        (None, 7, float("inf"), 0.5 + 1 + 2 + 4 + 8 + 8 + 8),
        (3_600.0, 1, float("inf"), LONGEST_WAIT_S),  # an endpoint that wants an hour
        (10.0, 1, 3.0, 3.0),  # no longer than the deadline
    ],
)
def test_a_wait_before_a_retry_is_bounded(asked_for: float | None, retries: int, left: float, waited: float) -> None:
    busy = ModelUnavailable("busy", code="MODEL_UNREACHABLE")
    busy.retry_after_s = asked_for
    clock = ManualClock()
    began = clock.monotonic()
    model = MeteredModel(Scripted(busy), CONFIG._replace(retries=retries))
    with pytest.raises(ModelUnavailable):
        model.reply(ASKED, (), Run(clock, began + left))
    assert clock.monotonic() - began == waited
