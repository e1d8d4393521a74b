"""A model API on loopback that follows a script: the Anthropic, OpenAI Responses and Gemini shapes, streamed.

A script is a list of steps: tool calls (`Call`), each in one turn, and at the end a text. Which step is next follows
from the conversation itself: the number of tool results that the request carries. Requests without tools (titles,
summaries, routing) get a short text. Nothing here is a model: it is the far end of a command-line agent's tool loop.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]
USAGE = (1000, 50)  # tokens of input and output that every turn reports


class Call(NamedTuple):
    """One tool call of the script, in the words of the tool that it is sent to."""

    name: str
    input: Json


Step = Call | str | Callable[[str], Call]  # a function: of all that the request says


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.steps = list(steps)
        self.foreign: list[str] = []  # what was asked of other hosts, where this is their proxy
        self.requests: list[tuple[str, Json]] = []  # of the main loop: (path, body)
        self.results: list[str] = []  # what the tools answered, in the order of the script

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def step(self, done: int, request: str) -> Call | str:
        step = self.steps[min(done, len(self.steps) - 1)]
        return step(request) if callable(step) and not isinstance(step, Call) else step


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: Any) -> None:
        pass

    def do_CONNECT(self) -> None:
        self.server.foreign.append(self.path)
        self.send_error(403)

    def do_HEAD(self) -> None:
        self._plain({})

    def do_GET(self) -> None:
        self._plain({"data": [], "models": []})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            body = {}
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            self._anthropic(body)
        elif path.endswith("/responses"):
            self._responses(body)
        elif path.endswith((":streamGenerateContent", ":generateContent")):
            self._gemini(body, stream=path.endswith(":streamGenerateContent"))
        elif path.endswith(("count_tokens", ":countTokens")):
            self._plain({"input_tokens": 1, "totalTokens": 1})
        else:
            self._plain({})

    # -- Anthropic messages ------------------------------------------------------------------------------------------

    def _anthropic(self, body: Json) -> None:
        results = [
            part
            for message in body.get("messages", [])
            if isinstance(message.get("content"), list)
            for part in message["content"]
            if part.get("type") == "tool_result"
        ]
        step = self._next(body, bool(body.get("tools")), [_said(part.get("content")) for part in results])
        block: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": step}
        if isinstance(step, Call):
            block = {"type": "tool_use", "id": f"toolu_{len(results):04}", "name": step.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step.input)}
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "m"), "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": USAGE[0], "output_tokens": 1},
        }  # fmt: skip
        why = "tool_use" if isinstance(step, Call) else "end_turn"
        if not body.get("stream"):
            whole = {**block, "input": step.input} if isinstance(step, Call) else {"type": "text", "text": step}
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
        results = [item for item in body.get("input", []) if str(item.get("type", "")).endswith("_call_output")]
        step = self._next(body, bool(body.get("tools")), [_said(item.get("output")) for item in results])
        item: Json
        if isinstance(step, Call):
            item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{len(results):04}", "name": step.name}
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
            part["functionResponse"]
            for content in body.get("contents", [])
            for part in content.get("parts", [])
            if "functionResponse" in part
        ]
        tools = any(tool.get("functionDeclarations") for tool in body.get("tools", []))
        step = self._next(body, tools, [_said(part.get("response")) for part in results])
        part: Json = {"text": step}
        if isinstance(step, Call):
            part = {"functionCall": {"name": step.name, "args": step.input}}
        answer = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": USAGE[0],
                "candidatesTokenCount": USAGE[1],
                "totalTokenCount": sum(USAGE),
            },
            "modelVersion": "scripted",
        }
        self._events([answer]) if stream else self._plain(answer)

    # -- both --------------------------------------------------------------------------------------------------------

    def _next(self, body: Json, tools: bool, results: list[str]) -> Call | str:
        if not tools:
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

    def _events(self, events: list[Json], *, named: bool = False) -> None:
        lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
        data = "".join(lines).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@contextmanager
def serving(steps: Sequence[Step]) -> Iterator[Server]:
    server = Server(steps)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
