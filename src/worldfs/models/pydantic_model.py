"""A model of pydantic-ai behind the port: OpenAI chat completions, or Anthropic messages, at any address.

Imported only where such a model is opened: it costs seconds of CPU.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Final

import httpx2
from pydantic_ai import messages as parts
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from worldfs.base.chat_model import ModelMessage, ModelReply, ModelTool, ModelUnavailable, RequestedCall
from worldfs.base.driver import PluginContext, Run
from worldfs.base.json_values import as_text
from worldfs.base.messages import coded

LONGEST: Final = 1 << 20  # bytes of an answer
POLL_S: Final = 0.05
AGAIN: Final = frozenset((408, 409, 425, 429))  # and every 5xx: the request may be repeated

Connect = Callable[[], AbstractAsyncContextManager[Model]]


class PydanticModel:
    """A `ChatModel`. `connect` opens the model for one request, in that request's event loop; `key` is never shown."""

    def __init__(self, connect: Connect, *, max_tokens: int, key: str = "") -> None:
        self._connect, self._max_tokens, self._key = connect, max_tokens, key

    def reply(self, messages: Sequence[ModelMessage], tools: Sequence[ModelTool], run: Run) -> ModelReply:
        try:
            return _reply(asyncio.run(self._request(messages, tools, run)))
        except ModelHTTPError as error:
            raise self._refused(error) from None
        except RefusedAnswer as error:
            raise self._error(str(error), "MODEL_ANSWER") from None
        except ModelConnectionError as error:
            if (refused := _refused_answer(error)) is not None:  # not to be repeated
                raise self._error(str(refused), "MODEL_ANSWER") from None
            raise self._error(str(error), "MODEL_UNREACHABLE", "model.unreachable") from None
        except (ModelAPIError, UnexpectedModelBehavior, ValueError, TypeError, LookupError, AssertionError) as error:
            raise self._error(f"{type(error).__name__}: {error}", "MODEL_ANSWER") from None

    async def _request(
        self, messages: Sequence[ModelMessage], tools: Sequence[ModelTool], run: Run
    ) -> parts.ModelResponse:
        settings = ModelSettings(max_tokens=self._max_tokens, temperature=0.0)
        if tools:
            settings["tool_choice"] = "required"
        offered = [
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.schema))
            for tool in tools
        ]
        wanted = ModelRequestParameters(function_tools=offered)
        async with self._connect() as model:
            call = asyncio.ensure_future(
                model_request(model, _history(messages), model_settings=settings, model_request_parameters=wanted)
            )
            while not (await asyncio.wait({call}, timeout=POLL_S))[0]:
                if run.stop:
                    call.cancel()
                    with suppress(asyncio.CancelledError, Exception):
                        await call
                    raise self._error(run.stop, "MODEL_TIMEOUT")
            return call.result()

    def _refused(self, error: ModelHTTPError) -> ModelUnavailable:
        body = error.body
        found = body.get("error", body) if isinstance(body, Mapping) else body
        words = as_text(found.get("message")) if isinstance(found, Mapping) else as_text(found)
        again = error.status_code in AGAIN or error.status_code >= 500
        said = f"HTTP {error.status_code}{': ' + words if words else ''}"
        refused = self._error(said, "MODEL_UNREACHABLE" if again else "MODEL_REFUSED")
        refused.retry_after_s = error.retry_after
        if error.status_code in (401, 403):
            refused.fix = coded("model.key_right")
        elif error.status_code == 404:
            refused.fix = coded("model.name_right")
        return refused

    def _error(self, found: str, code: str, message: str = "") -> ModelUnavailable:
        """The words of an endpoint are one short line without the key, whatever it answers."""
        said = " ".join(found.split())
        if self._key:
            said = said.replace(self._key, "***")
        said = coded(message, why=said[:280]) if message else said[:300]
        return ModelUnavailable(said, op="ask a model", code=code)


def openai_model(settings: Mapping[str, object], context: PluginContext) -> PydanticModel:
    """OpenAI chat completions. Without a key a placeholder is sent: local servers ask for none."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    key, base_url = as_text(settings.get("key")), as_text(settings.get("base_url")) or None

    @asynccontextmanager
    async def connect() -> AsyncIterator[Model]:
        async with _http_client() as http, AsyncOpenAI(
            api_key=key or "none", base_url=base_url or "https://api.openai.com/v1", max_retries=0, http_client=http
        ) as client:  # fmt: skip
            yield OpenAIChatModel(as_text(settings.get("model")), provider=OpenAIProvider(openai_client=client))

    return PydanticModel(connect, max_tokens=_max_tokens(settings), key=key)


def anthropic_model(settings: Mapping[str, object], context: PluginContext) -> PydanticModel:
    """Anthropic messages."""
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key, base_url = as_text(settings.get("key")), as_text(settings.get("base_url")) or None

    @asynccontextmanager
    async def connect() -> AsyncIterator[Model]:
        async with _http_client() as http, AsyncAnthropic(
            api_key=key or "none", base_url=base_url or "https://api.anthropic.com", max_retries=0, http_client=http
        ) as client:  # fmt: skip
            yield AnthropicModel(as_text(settings.get("model")), provider=AnthropicProvider(anthropic_client=client))

    return PydanticModel(connect, max_tokens=_max_tokens(settings), key=key)


def _max_tokens(settings: Mapping[str, object]) -> int:
    most = settings["max_tokens"]
    assert isinstance(most, int)
    return most


def _history(messages: Sequence[ModelMessage]) -> list[parts.ModelMessage]:
    found: list[parts.ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            found.append(parts.ModelResponse(parts=[parts.TextPart(message.text)]))
        elif message.role == "system":
            found.append(parts.ModelRequest(parts=[parts.SystemPromptPart(message.text)]))
        else:
            images = [parts.BinaryContent(image, media_type="image/png") for image in message.images]
            found.append(
                parts.ModelRequest(parts=[parts.UserPromptPart([message.text, *images] if images else message.text)])
            )
    return found


def _reply(response: parts.ModelResponse) -> ModelReply:
    """Raises `ValueError` for arguments of a call that are no JSON object."""
    calls: list[RequestedCall] = []
    for part in response.parts:
        if isinstance(part, parts.ToolCallPart):
            calls.append(RequestedCall(part.tool_name, part.args_as_dict(raise_if_invalid=True)))
    text = "".join(part.content for part in response.parts if isinstance(part, parts.TextPart))
    cost = None
    with suppress(LookupError, ValueError, AssertionError):  # a model whose price nobody knows
        cost = float(response.cost().total_price)
    return ModelReply(text, tuple(calls), response.usage.input_tokens, response.usage.output_tokens, cost)


class RefusedAnswer(ValueError):
    """Ends the reading of an answer; a client library may take it for a lost connection."""


def _refused_answer(error: BaseException | None) -> RefusedAnswer | None:
    while error is not None and not isinstance(error, RefusedAnswer):
        error = error.__cause__ or error.__context__
    return error


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """No answer is longer than `LONGEST`; a packed one, which would be so only once it is unpacked, is refused."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if (packed := response.headers.get("Content-Encoding", "identity").strip().lower()) != "identity":
            await response.aclose()
            raise RefusedAnswer(f"an answer packed as {packed}, which was not asked for")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LONGEST:
                raise RefusedAnswer(f"an answer of more than {LONGEST} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _http_client() -> httpx2.AsyncClient:
    """A redirect is not followed: the key goes to the configured address and to no other."""
    return httpx2.AsyncClient(
        transport=_BoundedTransport(), follow_redirects=False, timeout=None
    )  # the caller's deadline counts
