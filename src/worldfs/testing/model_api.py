"""A model API on loopback that follows a script: Anthropic messages, OpenAI chat completions and Responses, Gemini.

A script is a list of steps: tool calls (`ScriptedCall`), each in one turn, and at the end a text; a `RawAnswer` is sent
as it is. Which step is next follows from the conversation itself: the number of tool results that the request carries;
with `in_order`, each request gets the next step, and the last one goes on. Requests without tools (titles, summaries,
routing) get a short text. Nothing here is a model: it is the far end of a tool loop.

    python -m worldfs.testing.model_api SCRIPT.json [PORT]      # [{"name": "plan", "input": {…}}, "a text"]
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from worldfs.base.json_values import as_object, as_objects
from worldfs.base.model import Json

USAGE = (1000, 50)  # tokens of input and output that every turn reports


class ScriptedCall(NamedTuple):
    """One tool call of the script, in the words of the tool that it is sent to. `namespace`: of Responses alone."""

    name: str
    input: Json
    namespace: str = ""


class RawAnswer(NamedTuple):
    """An HTTP answer, byte for byte. `hold`: it is sent once that is set."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    hold: threading.Event | None = None


Answer = ScriptedCall | RawAnswer | str
Step = Answer | Callable[[str], Answer]  # a function: of all that the request says


class ScriptedApi(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self, steps: Sequence[Step], *, in_order: bool = False, without_tools: bool = False, port: int = 0
    ) -> None:
        """`without_tools`: requests without tools follow the script as well."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.steps, self.in_order, self.without_tools = list(steps), in_order, without_tools
        self.foreign: list[str] = []  # what was asked of other hosts, where this is their proxy
        self.requests: list[tuple[str, Json]] = []  # of the main loop: (path, body)
        self.results: list[str] = []  # what the tools answered, in the order of the script
        self.keys: list[str] = []  # what each request showed

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def step(self, done: int, request: str) -> Answer:
        number = len(self.requests) - 1 if self.in_order else done
        step = self.steps[min(number, len(self.steps) - 1)]
        return step if isinstance(step, ScriptedCall | RawAnswer | str) else step(request)


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedApi
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: object) -> None:
        pass

    def do_CONNECT(self) -> None:
        self.server.foreign.append(self.path)
        self.send_error(403)

    def do_HEAD(self) -> None:
        self._plain({})

    def do_GET(self) -> None:
        self._plain({"data": [], "models": []})

    def do_POST(self) -> None:
        self.server.keys.append(self.headers.get("Authorization") or self.headers.get("x-api-key") or "")
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            body = {}
        path = self.path.partition("?")[0]
        if path.endswith("/chat/completions"):
            self._chat(body)
        elif path.endswith("/messages"):
            self._anthropic(body)
        elif path.endswith("/responses"):
            self._responses(body)
        elif path.endswith((":streamGenerateContent", ":generateContent")):
            self._gemini(body, stream=path.endswith(":streamGenerateContent"))
        elif path.endswith(("count_tokens", ":countTokens")):
            self._plain({"input_tokens": 1, "totalTokens": 1})
        else:
            self._plain({})

    # -- OpenAI chat completions -------------------------------------------------------------------------------------

    def _chat(self, body: Json) -> None:
        results = [
            _said(found.get("content")) for found in as_objects(body.get("messages")) if found.get("role") == "tool"
        ]
        step = self._next(body, bool(body.get("tools")), results)
        if isinstance(step, RawAnswer):
            return self._raw(step)
        message: Json = {"role": "assistant", "content": step}
        if isinstance(step, ScriptedCall):
            function = {"name": step.name, "arguments": json.dumps(step.input)}
            call = {"id": f"call_{len(results):04}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        why = "tool_calls" if isinstance(step, ScriptedCall) else "stop"
        usage = {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[1], "total_tokens": sum(USAGE)}
        head: Json = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": body.get("model", "m"), "usage": usage}
        if body.get("stream"):
            piece = {**message, "tool_calls": [{"index": 0, **call} for call in as_objects(message.get("tool_calls"))]}
            choice: Json = {"index": 0, "delta": piece, "finish_reason": why}
            return self._events([{**head, "object": "chat.completion.chunk", "choices": [choice]}], last="[DONE]")
        choice = {"index": 0, "message": message, "finish_reason": why, "logprobs": None}
        return self._plain({**head, "object": "chat.completion", "choices": [choice]})

    # -- Anthropic messages ------------------------------------------------------------------------------------------

    def _anthropic(self, body: Json) -> None:
        results = [
            part
            for message in as_objects(body.get("messages"))
            for part in as_objects(message.get("content"))
            if part.get("type") == "tool_result"
        ]
        step = self._next(body, bool(body.get("tools")), [_said(part.get("content")) for part in results])
        if isinstance(step, RawAnswer):
            return self._raw(step)
        block: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": step}
        if isinstance(step, ScriptedCall):
            block = {"type": "tool_use", "id": f"toolu_{len(results):04}", "name": step.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step.input)}
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "m"), "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": USAGE[0], "output_tokens": 1},
        }  # fmt: skip
        why = "tool_use" if isinstance(step, ScriptedCall) else "end_turn"
        if not body.get("stream"):
            whole = {**block, "input": step.input} if isinstance(step, ScriptedCall) else {"type": "text", "text": step}
            usage = {"input_tokens": USAGE[0], "output_tokens": USAGE[1]}
            return self._plain({**message, "content": [whole], "stop_reason": why, "usage": usage})
        events: list[Json] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": why, "stop_sequence": None},
                "usage": {"output_tokens": USAGE[1]},
            },
            {"type": "message_stop"},
        ]
        return self._events(events, named=True)

    # -- OpenAI Responses --------------------------------------------------------------------------------------------

    def _responses(self, body: Json) -> None:
        results = [item for item in as_objects(body.get("input")) if str(item.get("type", "")).endswith("_call_output")]
        step = self._next(body, bool(body.get("tools")), [_said(item.get("output")) for item in results])
        if isinstance(step, RawAnswer):
            return self._raw(step)
        item: Json
        if isinstance(step, ScriptedCall):
            item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{len(results):04}", "name": step.name}
            item |= {"namespace": step.namespace} if step.namespace else {}
            if "patch" in step.input:
                item |= {"type": "custom_tool_call", "input": step.input["patch"]}
            else:
                item["arguments"] = json.dumps(step.input)
        else:
            item = {"type": "message", "id": "m_1", "role": "assistant"}
            item["content"] = [{"type": "output_text", "text": step, "annotations": []}]
        usage = {
            "input_tokens": USAGE[0], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": USAGE[1],
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": sum(USAGE),
        }  # fmt: skip
        response = {"id": f"resp_{len(results)}", "status": "completed", "output": [item], "usage": usage}
        self._events(
            [
                {"type": "response.created", "response": {"id": response["id"], "status": "in_progress"}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": response},
            ],
            named=True,
        )

    # -- Gemini ------------------------------------------------------------------------------------------------------

    def _gemini(self, body: Json, *, stream: bool) -> None:
        results = [
            as_object(part["functionResponse"])
            for content in as_objects(body.get("contents"))
            for part in as_objects(content.get("parts"))
            if "functionResponse" in part
        ]
        tools = any(tool.get("functionDeclarations") for tool in as_objects(body.get("tools")))
        step = self._next(body, tools, [_said(part.get("response")) for part in results])
        if isinstance(step, RawAnswer):
            return self._raw(step)
        part: Json = {"text": step}
        if isinstance(step, ScriptedCall):
            part = {"functionCall": {"name": step.name, "args": step.input}}
        answer: Json = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": USAGE[0],
                "candidatesTokenCount": USAGE[1],
                "totalTokenCount": sum(USAGE),
            },
            "modelVersion": "scripted",
        }
        self._events([answer]) if stream else self._plain(answer)

    # -- all ---------------------------------------------------------------------------------------------------------

    def _next(self, body: Json, tools: bool, results: list[str]) -> Answer:
        if not tools and not self.server.without_tools:
            return "{}" if "json" in json.dumps(body).casefold() else "A title"
        self.server.requests.append((self.path, body))
        self.server.results = results
        return self.server.step(len(results), json.dumps(body, ensure_ascii=False))

    def _plain(self, value: Json) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _raw(self, answer: RawAnswer) -> None:
        if answer.hold is not None:
            answer.hold.wait()
        with suppress(ConnectionError):  # a client that no longer waits
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

    def _events(self, events: list[Json], *, named: bool = False, last: str = "") -> None:
        lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
        data = "".join([*lines, f"data: {last}\n\n" if last else ""]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@contextmanager
def serving(steps: Sequence[Step], *, in_order: bool = False, without_tools: bool = False) -> Iterator[ScriptedApi]:
    server = ScriptedApi(steps, in_order=in_order, without_tools=without_tools)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main(script: str, port: str = "0") -> None:
    """Serve the script until Ctrl-C; says where on standard output."""
    steps = [ScriptedCall(**step) if isinstance(step, dict) else step for step in json.loads(Path(script).read_text())]
    server = ScriptedApi(steps, in_order=True, port=int(port))
    print(f"{server.url}/v1", flush=True)
    with suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
