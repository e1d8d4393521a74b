"""Our MCP server on its served port, with the fixtures that the official conformance suite asks a server for.

Run as a program it prints its URL, and serves the home of its first argument until its input ends. The suite can send
no token: a request without one is the home's owner's. All else (the port, the application, sessions, our own tools and
files beside the fixtures) is the product's.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from base64 import b64encode
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import MCPDeprecationWarning
from mcp.server.lowlevel import Server

from worldfs.access.binding import ADMIN
from worldfs.access.decision import Decision
from worldfs.access.principal import Principal
from worldfs.access.tokens import TokenStore
from worldfs.interfaces.acheron.server import Server as ServedPort
from worldfs.interfaces.mcp.http_application import PATH, HttpApplication
from worldfs.interfaces.mcp.protocol_server import Services, protocol_server
from worldfs.world.served_world import ServedWorld

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0"
).decode()
STEP_S = 0.05  # between two notifications, as the suite describes
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


def text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def embedded(uri: str, said: str, kind: str = "text/plain") -> types.EmbeddedResource:
    content = types.TextResourceContents(uri=uri, mime_type=kind, text=said)
    return types.EmbeddedResource(type="resource", resource=content)


IMAGE = types.ImageContent(type="image", data=PNG, mime_type="image/png")


def one_string(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


def titled(word: str) -> list[dict[str, Any]]:
    return [{"const": f"value{n}", "title": f"{place} {word}"} for n, place in enumerate(("First", "Second"), 1)]


SCHEMAS: dict[str, dict[str, Any]] = {
    "test_simple_text": NOTHING,
    "test_image_content": NOTHING,
    "test_audio_content": NOTHING,
    "test_embedded_resource": NOTHING,
    "test_multiple_content_types": NOTHING,
    "test_tool_with_logging": NOTHING,
    "test_error_handling": NOTHING,
    "test_tool_with_progress": NOTHING,
    "test_reconnection": NOTHING,
    "test_sampling": one_string("prompt"),
    "test_elicitation": one_string("message"),
    "test_elicitation_sep1034_defaults": NOTHING,
    "test_elicitation_sep1330_enums": NOTHING,
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
        },
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    },
}
FORMS: dict[str, dict[str, Any]] = {
    "test_elicitation": {
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    },
    "test_elicitation_sep1034_defaults": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
    },
    "test_elicitation_sep1330_enums": {
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {
                "type": "string",
                "oneOf": titled("Option"),
            },
            "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
            "titledMulti": {
                "type": "array",
                "items": {"anyOf": titled("Choice")},
            },
        },
    },
}  # fmt: skip
UNRECORDED = ("initialize", "tools/list", "resources/list", "prompts/list")  # they name what is the product's, too
PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


async def tool(ctx: Any, name: str, given: dict[str, Any]) -> types.CallToolResult:
    session, request = ctx.session, ctx.request_id
    match name:
        case "test_simple_text":
            content: list[Any] = [text("This is a simple text response for testing.")]
        case "test_image_content":
            content = [IMAGE]
        case "test_audio_content":
            content = [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")]
        case "test_embedded_resource":
            content = [embedded("test://embedded-resource", "This is an embedded resource content.")]
        case "test_multiple_content_types":
            data = json.dumps({"test": "data", "value": 123})
            mixed = embedded("test://mixed-content-resource", data, "application/json")
            content = [text("Multiple content types test:"), IMAGE, mixed]
        case "test_tool_with_logging":
            for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
                await session.send_log_message("info", said, related_request_id=request)
                await asyncio.sleep(STEP_S)
            content = [text("done")]
        case "test_error_handling":
            return types.CallToolResult(
                content=[text("This tool intentionally returns an error for testing")], is_error=True
            )
        case "test_tool_with_progress":
            for done in (0, 50, 100):
                await session.report_progress(done, 100)
                await asyncio.sleep(STEP_S)
            content = [text("done")]
        case "test_sampling":
            message = types.SamplingMessage(role="user", content=text(given["prompt"]))
            made = await session.create_message([message], max_tokens=100, related_request_id=request)
            content = [text(f"LLM response: {made.content.text}")]
        case "test_elicitation" | "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums":
            found = await session.elicit_form(given.get("message", "please"), FORMS[name], related_request_id=request)
            content = [text(f"Elicitation completed: action={found.action}, content={json.dumps(found.content)}")]
        case _:
            content = [text("called")]
    return types.CallToolResult(content=content)


def resource(uri: str) -> Any:
    if uri == "test://static-text":
        said = "This is the content of the static text resource."
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=said)
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    id = uri.removeprefix("test://template/").removesuffix("/data")
    said = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
    return types.TextResourceContents(uri=uri, mime_type="application/json", text=said)


def prompt(name: str, given: dict[str, str]) -> list[Any]:
    if name == "test_prompt_with_arguments":
        return [text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
    if name == "test_prompt_with_embedded_resource":
        content = embedded(given["resourceUri"], "Embedded resource content for testing.")
        return [content, text("Please process the embedded resource above.")]
    if name == "test_prompt_with_image":
        return [IMAGE, text("Please analyze the image above.")]
    return [text("This is a simple prompt for testing.")]


def with_fixtures(service: Services) -> Server:
    """Our server; what the suite's fixtures are asked for is answered here, everything else by the product."""
    server = protocol_server(service)

    def ours(method: str) -> Any:
        entry = server.get_request_handler(method)
        assert entry is not None
        return entry

    def wrap(method: str, handler: Any) -> None:
        entry = ours(method)
        server.add_request_handler(method, entry.params_type, lambda ctx, params: handler(entry.handler, ctx, params))

    async def tools(product: Any, ctx: Any, params: Any) -> Any:
        listed = await product(ctx, params)
        listed.tools += [types.Tool(name=name, description=name, input_schema=one) for name, one in SCHEMAS.items()]
        return listed

    async def call(product: Any, ctx: Any, params: Any) -> Any:
        return await (
            tool(ctx, params.name, params.arguments or {}) if params.name in SCHEMAS else product(ctx, params)
        )

    async def resources(product: Any, ctx: Any, params: Any) -> Any:
        listed = await product(ctx, params)
        listed.resources += [
            types.Resource(name=uri, uri=uri) for uri in ("test://static-text", "test://static-binary")
        ]
        return listed

    async def templates(product: Any, ctx: Any, params: Any) -> Any:
        listed = await product(ctx, params)
        listed.resource_templates.append(types.ResourceTemplate(name="data", uri_template="test://template/{id}/data"))
        return listed

    async def read(product: Any, ctx: Any, params: Any) -> Any:
        uri = str(params.uri)
        return (
            types.ReadResourceResult(contents=[resource(uri)])
            if uri.startswith("test://")
            else await product(ctx, params)
        )

    async def subscribe(product: Any, ctx: Any, params: Any) -> Any:
        if str(params.uri).startswith("test://"):
            params = params.model_copy(update={"uri": "paos:///projects/main/ENVIRONMENT.md"})
        return await product(ctx, params)

    async def prompts(product: Any, ctx: Any, params: Any) -> Any:
        listed = await product(ctx, params)
        for name, arguments in PROMPTS.items():
            given = [types.PromptArgument(name=one, required=True) for one in arguments]
            listed.prompts.append(types.Prompt(name=name, description=name, arguments=given))
        return listed

    async def get(product: Any, ctx: Any, params: Any) -> Any:
        if params.name not in PROMPTS:
            return await product(ctx, params)
        messages = [
            types.PromptMessage(role="user", content=one) for one in prompt(params.name, params.arguments or {})
        ]
        return types.GetPromptResult(messages=messages)

    async def level(ctx: Any, params: Any) -> Any:
        return types.EmptyResult()

    for method, handler in (
        ("tools/list", tools), ("tools/call", call), ("resources/list", resources), ("prompts/get", get),
        ("resources/templates/list", templates), ("resources/read", read), ("resources/subscribe", subscribe),
        ("resources/unsubscribe", subscribe), ("prompts/list", prompts),
    ):  # fmt: skip
        wrap(method, handler)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, level)
    return server


def recording(service: Services, file: Path) -> Server:
    """As `with_fixtures`; every request that needs nothing of the client is written down with its result."""
    server = with_fixtures(service)

    async def record(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        told = (
            result.model_dump(by_alias=True, mode="json", exclude_none=True)
            if hasattr(result, "model_dump")
            else result
        )
        name = str((ctx.params or {}).get("name", ""))
        if (
            ctx.request_id is not None
            and ctx.method not in UNRECORDED
            and "elicit" not in name
            and "sampling" not in name
        ):
            params = {key: value for key, value in (ctx.params or {}).items() if key != "_meta"}
            with file.open("a") as lines:
                lines.write(json.dumps({"method": ctx.method, "params": params, "result": told}) + "\n")
        return result

    server.middleware.append(record)
    return server


class OpenPort(ServedPort):
    """A request without a token is the owner's."""

    def principal(self, authorization: str) -> Principal | Decision:
        return super().principal(authorization) if authorization else Principal(ADMIN)


async def main(home: Path, record: Path | None) -> None:
    async def application(host: ServedPort) -> HttpApplication:
        made = HttpApplication(host, with_fixtures if record is None else lambda service: recording(service, record))
        await made.start()
        return made

    with ServedWorld.open(home) as realm:
        server = OpenPort(realm, TokenStore.open(home), {PATH: application})
        port = await server.start(port=0)
        print(f"http://127.0.0.1:{port}{PATH}", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        await server.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
