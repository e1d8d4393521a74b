"""A small language model on this CPU behind OpenAI's chat completions, until stdin ends: PACKAGES MODEL.gguf.

Its template has no form for tool calls, so a request's tools become a JSON Schema that bounds its answer: one object
with the name of a tool and that tool's arguments. Prints its address.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

packages, model = sys.argv[1:]
sys.path.insert(0, packages)

import xllamacpp  # noqa: E402 # found below PACKAGES

params = xllamacpp.CommonParams()
params.model.path = model
params.offline, params.warmup, params.use_jinja = True, False, True
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_ctx, params.n_parallel, params.n_predict = 8192, 1, 300
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two threads on shared cores are slower than one
params.sampling.seed, params.sampling.temp = 7, 0.0
llama = xllamacpp.Server(params)
turn = threading.Lock()


def bounded(tools: list[dict]) -> dict:
    """The schema of an answer that calls one of the tools."""
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {"tool": {"const": tool["name"]}, "arguments": tool["parameters"]},
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            }
            for tool in tools
        ]
    }


def described(tools: list[dict]) -> str:
    """The tools in a few words: this model reads twenty tokens a second."""
    lines = ['Answer with one JSON object {"tool": NAME, "arguments": {...}}.']
    for tool in tools:
        names = ", ".join(tool["parameters"].get("properties", {}))
        lines.append(f"{tool['name']}({names}): {tool['description']}")
        for step in tool["parameters"].get("properties", {}).get("steps", {}).get("items", {}).get("anyOf", ()):
            named = {key: value.get("const", "...") for key, value in step["properties"].items()}
            lines.append(f"  step {json.dumps(named)}: {step['description']}")
    return "\n".join(lines)


class Endpoint(BaseHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = [tool["function"] for tool in asked.get("tools", ())]
        messages = [{"role": one["role"], "content": one["content"]} for one in asked["messages"]]
        if tools:
            messages[0]["content"] += "\n\n" + described(tools)
        request = {"messages": messages, "temperature": 0, "max_tokens": 300}
        if tools:
            request["response_format"] = {"type": "json_schema", "json_schema": {"schema": bounded(tools)}}
        with turn:
            answer = llama.handle_chat_completions(request)
        if tools and answer["choices"][0]["finish_reason"] == "stop":
            said = json.loads(answer["choices"][0]["message"]["content"])
            function = {"name": said["tool"], "arguments": json.dumps(said["arguments"])}
            call = {"id": "call_1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
            answer["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


served = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
threading.Thread(target=served.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{served.server_port}/v1", flush=True)
sys.stdin.read()
served.shutdown()
