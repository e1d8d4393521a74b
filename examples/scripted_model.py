"""A language model that follows a script: OpenAI's chat completions on loopback, for trying what a model may do.

    python examples/scripted_model.py 8770 '{"do": "put_in", "object": "apple_01", "container": "basket_01"}' …

Each argument after the port is a step of the plan that it proposes, whatever it is asked; a test call of `ready` is
answered as asked. Needs nothing but Python.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(request: dict, steps: list[dict]) -> dict:
    """The chat completion: one call of a tool that the request offers."""
    offered = [tool["function"]["name"] for tool in request.get("tools", [])]
    name = "plan" if "plan" in offered else offered[0]
    arguments = {"steps": steps} if name == "plan" else {}
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": len(json.dumps(request)) // 4, "completion_tokens": 50, "total_tokens": 0},
    }


def serve(port: int, steps: list[dict]) -> None:
    class Endpoint(BaseHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = json.dumps(answer(request, steps)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", port), Endpoint) as server:
        print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), [json.loads(step) for step in sys.argv[2:]])
