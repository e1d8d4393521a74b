"""The SDK's server over the tools, files and prompts of an actor."""

from __future__ import annotations

import logging
import weakref
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TypeAlias

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

import worldfs
from worldfs.base.errors import NotFound, WorldError

from . import file_resources
from .client_asker import asker_of, sealed_rounds
from .prompts import prompts_for
from .resource_subscriptions import ResourceSubscriptions, SubscriptionCount, Told
from .server_identity import INSTRUCTIONS, NAME, TITLE
from .tool_arguments import input_schema
from .tool_service import BROKE, ToolService
from .tool_spec import AnswerPending, ToolSpec

RESOURCE_NOT_FOUND: Final = -32_002  # of the eras with a handshake
_LOG: Final = logging.getLogger("worldfs.mcp")
Services = Callable[[ServerRequestContext], ToolService]
Page: TypeAlias = types.PaginatedRequestParams | None


def protocol_server(service: Services) -> Server:
    """`service` gives the actor's tools for a request: one for a process, over HTTP that of the request's token."""
    handlers = _Handlers(service)
    server = Server(
        NAME,
        version=worldfs.__version__,
        title=TITLE,
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscribe_resource=handlers.subscribe,
        on_unsubscribe_resource=handlers.unsubscribe,
        on_subscriptions_listen=handlers.listen,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
    )
    server.middleware.append(sealed_rounds(lambda ctx: service(ctx).tree.binding))
    return server


class _Handlers:
    def __init__(self, service: Services) -> None:
        self._service = service
        self._subscribed: weakref.WeakKeyDictionary[Connection, ResourceSubscriptions] = weakref.WeakKeyDictionary()
        self._counts: weakref.WeakKeyDictionary[ToolService, SubscriptionCount] = weakref.WeakKeyDictionary()

    # -- tools -----------------------------------------------------------------------------------------------------

    async def list_tools(self, ctx: ServerRequestContext, params: Page) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(one) for one in self._service(ctx).tools.values()])

    async def call_tool(
        self, ctx: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        asker = asker_of(ctx, params)
        try:
            result = await self._service(ctx).call(params.name, params.arguments or {}, asker)
        except AnswerPending as pending:
            return asker.question(pending)
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=result.text)]
        return types.CallToolResult(content=content, structured_content=result.value, is_error=result.error)

    # -- resources -------------------------------------------------------------------------------------------------

    async def list_resources(self, ctx: ServerRequestContext, params: Page) -> types.ListResourcesResult:
        with _refusals():
            found = await file_resources.listed(self._service(ctx).tree)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    name=one.path.lstrip("/"),
                    uri=file_resources.uri_of(one.path),
                    mime_type=file_resources.media_type(one.name),
                )
                for one in found
            ]
        )

    async def list_templates(self, ctx: ServerRequestContext, params: Page) -> types.ListResourceTemplatesResult:
        rows = [
            types.ResourceTemplate(name=one.name, uri_template=one.uri, description=one.about)
            for one in file_resources.TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=rows)

    async def read_resource(
        self, ctx: ServerRequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        with _refusals(uri):
            path, data = await file_resources.content(self._service(ctx).tree, uri)
        kind = file_resources.media_type(path)
        content: types.TextResourceContents | types.BlobResourceContents
        try:
            content = types.TextResourceContents(uri=uri, mime_type=kind, text=data.decode())
        except UnicodeDecodeError:
            content = types.BlobResourceContents(uri=uri, mime_type=kind, blob=b64encode(data).decode("ascii"))
        return types.ReadResourceResult(contents=[content])

    async def subscribe(self, ctx: ServerRequestContext, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Of the eras with a handshake: it lasts as long as the connection."""
        connection = ctx.session._connection  # the context of a request has no public name for it
        subscribed = self._subscribed.get(connection)
        if subscribed is None:
            subscribed = self._subscribed[connection] = self._subscriptions(ctx, ctx.session.send_resource_updated)
            connection.exit_stack.push_async_callback(subscribed.close)
        with _refusals(str(params.uri)):
            await subscribed.add(str(params.uri))
        return types.EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        subscribed = self._subscribed.get(ctx.session._connection)
        if subscribed is not None:
            subscribed.remove(str(params.uri))
        return types.EmptyResult()

    async def listen(
        self, ctx: ServerRequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Of the stateless era: the stream of the request is the subscription."""
        bus = InMemorySubscriptionBus()
        subscribed = self._subscriptions(ctx, lambda uri: bus.publish(ResourceUpdated(uri=uri)))
        try:
            with _refusals():
                for uri in params.notifications.resource_subscriptions or ():
                    await subscribed.add(str(uri))
            return await ListenHandler(bus)(ctx, params)
        finally:
            await subscribed.close()

    def _subscriptions(self, ctx: ServerRequestContext, tell: Told) -> ResourceSubscriptions:
        service = self._service(ctx)
        return ResourceSubscriptions(service.tree, tell, self._counts.setdefault(service, SubscriptionCount()))

    # -- prompts ---------------------------------------------------------------------------------------------------

    async def list_prompts(self, ctx: ServerRequestContext, params: Page) -> types.ListPromptsResult:
        rows = prompts_for(self._service(ctx).tree.binding).values()
        return types.ListPromptsResult(prompts=[types.Prompt(name=one.name, description=one.about) for one in rows])

    async def get_prompt(
        self, ctx: ServerRequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        found = prompts_for(self._service(ctx).tree.binding).get(params.name)
        if found is None:
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name[:60]!r}")
        said = types.PromptMessage(role="user", content=types.TextContent(type="text", text=found.text))
        return types.GetPromptResult(description=found.about, messages=[said])

    async def complete(self, ctx: ServerRequestContext, params: types.CompleteRequestParams) -> types.CompleteResult:
        found: list[str] = []
        with suppress(WorldError):
            given = params.argument
            found = list(await file_resources.completions(self._service(ctx).tree, given.name, given.value))
        shown = types.Completion(values=found[:100], total=len(found), has_more=len(found) > 100)
        return types.CompleteResult(completion=shown)


@contextmanager
def _refusals(uri: str = "") -> Iterator[None]:
    """What the tree refuses becomes the protocol's error, with the sentence and the code."""
    try:
        yield
    except WorldError as error:
        more = {"code": error.code} | ({"uri": uri} if uri else {})
        code = RESOURCE_NOT_FOUND if uri and isinstance(error, NotFound) else types.INVALID_PARAMS
        raise MCPError(code, f"{error.code}: {error}", more) from None
    except Exception:  # the SDK would send its text, which may name paths of this machine
        _LOG.exception("a request of MCP broke")
        raise MCPError(types.INTERNAL_ERROR, BROKE) from None


def _tool(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        title=spec.title,
        description=spec.about,
        input_schema=input_schema(spec.arguments),
        output_schema=spec.output,
        annotations=types.ToolAnnotations(
            title=spec.title,
            read_only_hint=spec.read_only,
            destructive_hint=spec.destructive,
            idempotent_hint=spec.idempotent,
            open_world_hint=spec.open_world,
        ),
    )
