"""Models over the real client of pydantic-ai, against a scripted API on loopback in both shapes."""

from __future__ import annotations

import base64
import gzip
import json
import threading
from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai", reason="the extra `models`")

from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from worldfs.base.chat_model import ModelMessage, ModelTool, ModelUnavailable, RequestedCall
from worldfs.base.clock import Clock, SystemClock
from worldfs.base.driver import Run
from worldfs.formats.config_models import ModelConfig
from worldfs.models.metered_model import BACKOFF_S, MeteredModel
from worldfs.models.open_model import open_model
from worldfs.models.pydantic_model import LONGEST, PydanticModel
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.model_api import USAGE, RawAnswer, ScriptedApi, ScriptedCall, Step, serving

KEY = "sk-test-0123456789"
PICK = ModelTool("pick", "Pick a thing up.", {"type": "object", "properties": {"id": {"type": "string"}}})
ASKED = (ModelMessage("system", "You command an arm."), ModelMessage("user", "Pick the apple."))


def run_of(cancel: threading.Event | None = None, clock: Clock | None = None) -> Run:
    return Run(clock or SystemClock(), float("inf"), cancel=cancel or threading.Event())


def opened(api: ScriptedApi, kind: str, **settings: object) -> MeteredModel:
    url = api.url + ("/v1" if kind == "openai" else "")
    config = ModelConfig("planner", kind, "tiny", url, "TINY_KEY", **{"retries": 0, **settings})  # type: ignore[arg-type]
    return open_model(config, Path("/no/home"), {"TINY_KEY": KEY}, SystemClock())


def refused(steps: Sequence[Step], kind: str = "openai", **settings: object) -> ModelUnavailable:
    with serving(steps, in_order=True) as api, pytest.raises(ModelUnavailable) as raised:
        opened(api, kind, **settings).reply(ASKED, (PICK,), run_of())
    assert KEY not in str(raised.value)
    return raised.value


@pytest.mark.slice(2)
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_tool_is_offered_by_its_schema_and_called(kind: str) -> None:
    with serving([ScriptedCall("pick", {"id": "apple_01"})]) as api:
        model = opened(api, kind)
        reply = model.reply(ASKED, (PICK,), run_of())
    assert reply.calls == (RequestedCall("pick", {"id": "apple_01"}),)
    path, body = api.requests[0]
    assert len(api.keys) == 1 and api.keys[0].endswith(KEY)
    assert path.endswith("/chat/completions" if kind == "openai" else "/messages")
    assert "You command an arm." in json.dumps(body) and '"id": {"type": "string"}' in json.dumps(body)
    (call,) = model.calls
    assert (call.input_tokens, call.output_tokens, call.error) == (*USAGE, "") and len(call.prompt_sha256) == 64
    assert call.cost_usd is None and "prompt" not in str(call.as_json()).replace("prompt_sha256", "")


@pytest.mark.slice(2)
@pytest.mark.parametrize(("kind", "field"), [("openai", "image_url"), ("anthropic", "source")])
def test_a_picture_goes_with_the_words(kind: str, field: str) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4_000
    with serving([ScriptedCall("pick", {"id": "apple_01"})]) as api:
        model = opened(api, kind)
        model.reply((ModelMessage("user", "Pick what you see.", (picture,)),), (PICK,), run_of())
    content = api.requests[0][1]["messages"][-1]["content"]
    (shown,) = [part for part in content if field in part]
    assert base64.b64encode(picture).decode() in json.dumps(shown) and "image/png" in json.dumps(shown)
    assert "Pick what you see." in json.dumps(content)


def test_prices_of_the_settings_make_the_cost() -> None:
    with serving(["fine"]) as api:
        model = opened(api, "openai", input_price=2.0, output_price=10.0)
        model.reply(ASKED, (PICK,), run_of())
    assert model.cost == pytest.approx((USAGE[0] * 2 + USAGE[1] * 10) / 1e6)


@pytest.mark.slice(4)
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again_and_not_for_ever(kind: str, status: int) -> None:
    words = b'{"error": {"message": "later"}}'
    busy, wants_7_s = RawAnswer(status, words), RawAnswer(status, words, (("Retry-After", "7"),))
    clock = ManualClock()
    with serving([busy, wants_7_s, ScriptedCall("pick", {"id": "apple_01"})], in_order=True) as api:
        model = opened(api, kind, retries=2)
        assert model.reply(ASKED, (PICK,), run_of(clock=clock)).calls
    assert [call.error for call in model.calls] == ["MODEL_UNREACHABLE", "MODEL_UNREACHABLE", ""]
    assert clock.monotonic() == BACKOFF_S[0] + 7
    with serving([busy], in_order=True) as api, pytest.raises(ModelUnavailable, match=f"HTTP {status}: later"):
        opened(api, kind, retries=2).reply(ASKED, (PICK,), run_of(clock=clock))
    assert len(api.requests) == 3 and clock.monotonic() == BACKOFF_S[0] + 7 + sum(BACKOFF_S[:2])


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "body",
    [b"", b"\x00\xff\x00garbage", b'{"choices": [{"mess', b"[]", b"null", b'"words"', b"<html>gateway</html>"],
)
def test_an_answer_of_another_shape_is_named(kind: str, body: bytes) -> None:
    error = refused([RawAnswer(200, body, (("Content-Type", "application/json"),))], kind)
    assert error.code in ("MODEL_ANSWER", "MODEL_UNREACHABLE") and len(str(error)) < 500


def test_arguments_that_are_half_json_are_named() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "pick", "arguments": '{"id": "app'}}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [call]}}
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    error = refused([RawAnswer(200, json.dumps(whole).encode(), (("Content-Type", "application/json"),))])
    assert error.code == "MODEL_ANSWER"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_an_answer_of_ten_megabytes_is_not_read(kind: str) -> None:
    """It is right, but for its size; it is not asked for again."""
    error = refused([ScriptedCall("pick", {"id": "x" * (10 * LONGEST)})], kind, retries=3)
    assert error.code == "MODEL_ANSWER" and "an answer of more than 1048576 bytes" in str(error)


@pytest.mark.parametrize(
    ("kind", "packing"),
    [("openai", "gzip"), ("anthropic", "gzip"), ("openai", " DEFLATE"), ("openai", "gzip, identity")],
)
def test_an_answer_that_is_packed_is_not_unpacked(kind: str, packing: str) -> None:
    """A few hundred kilobytes would become gigabytes in memory."""
    body = gzip.compress(b" " * (10 * LONGEST))
    headers = (("Content-Type", "application/json"), ("Content-Encoding", packing))
    with serving([RawAnswer(200, body, headers)], in_order=True) as api, pytest.raises(ModelUnavailable) as raised:
        opened(api, kind, retries=3).reply(ASKED, (PICK,), run_of())
    assert raised.value.code == "MODEL_ANSWER" and raised.value.found.startswith("an answer packed as ")
    assert len(api.requests) == 1


def test_a_key_that_the_endpoint_repeats_is_masked() -> None:
    error = refused([RawAnswer(401, json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())])
    assert error.code == "MODEL_REFUSED" and "bad key ***" in str(error)


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with serving(["never"]) as other:
        away = RawAnswer(307, b"", (("Location", other.url + "/v1/chat/completions"),))
        refused([away])
    assert other.requests == []


def test_an_answer_that_does_not_come_ends_with_the_deadline() -> None:
    never = threading.Event()
    try:
        error = refused([RawAnswer(hold=never)], timeout_s=0.2)
    finally:
        never.set()
    assert error.code == "MODEL_TIMEOUT"


def test_a_stop_ends_the_call() -> None:
    never, stop = threading.Event(), threading.Event()

    def stopped(request: str) -> RawAnswer:
        stop.set()
        return RawAnswer(hold=never)

    with serving([stopped]) as api:
        try:
            with pytest.raises(ModelUnavailable) as raised:
                opened(api, "openai").reply(ASKED, (PICK,), run_of(stop))
        finally:
            never.set()
    assert raised.value.code == "MODEL_STOPPED"


def test_a_function_of_python_is_a_model() -> None:
    made = FunctionModel(lambda messages, info: ModelResponse(parts=[ToolCallPart(info.function_tools[0].name, {})]))

    @asynccontextmanager
    async def connect():
        yield made

    reply = PydanticModel(connect, max_tokens=10).reply(ASKED, (PICK,), run_of())
    assert reply.calls == (RequestedCall("pick", {}),)
